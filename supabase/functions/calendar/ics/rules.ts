/**
 * Reads a recurrence rule (RFC 5545, 3.3.10) and refuses what no calendar of appointments needs or what
 * can never match. A part that is not known is refused, not left out: it could say less, or more.
 */
import { Refusal } from "./refusal.ts";
import { parseTime, type TimeValue } from "./values.ts";

export type Frequency = "DAILY" | "WEEKLY" | "MONTHLY" | "YEARLY";

export interface Rule {
  frequency: Frequency;
  interval: number;
  count: number | null;
  /** Inclusive. */
  until: TimeValue | null;
  /** Monday is 0. */
  weekStart: number;
  by: {
    month?: ReadonlySet<number>;
    weekNo?: ReadonlySet<number>;
    yearDay?: ReadonlySet<number>;
    monthDay?: ReadonlySet<number>;
    /** As `weekdayCode()` makes them. */
    day?: ReadonlySet<number>;
    hour?: ReadonlySet<number>;
    minute?: ReadonlySet<number>;
    second?: ReadonlySet<number>;
    setPos?: ReadonlySet<number>;
  };
}

const WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const DAYS_IN_LONGEST_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A weekday, or the nth one of a month or year; from its end when negative. 0 is each. */
export function weekdayCode(day: number, nth = 0): number {
  return nth * 7 + day;
}

const nthOf = (code: number) => Math.floor(code / 7);

type List = Exclude<keyof Rule["by"], "day">;

/** Lists of numbers: greatest value, and whether they count from 1 and from the end, too. */
const LISTS: Record<string, { key: List; max: number; both?: true; fromZero?: true }> = {
  BYSECOND: { key: "second", max: 59, fromZero: true },
  BYMINUTE: { key: "minute", max: 59, fromZero: true },
  BYHOUR: { key: "hour", max: 23, fromZero: true },
  BYMONTHDAY: { key: "monthDay", max: 31, both: true },
  BYYEARDAY: { key: "yearDay", max: 366, both: true },
  BYWEEKNO: { key: "weekNo", max: 53, both: true },
  BYMONTH: { key: "month", max: 12 },
  BYSETPOS: { key: "setPos", max: 366, both: true },
};

export function parseRule(text: string): Rule {
  const rule = read(text.trim().toUpperCase());
  if (rule === null || !isPossible(rule)) throw new Refusal("rule_refused", text);
  return rule;
}

function read(text: string): Rule | null {
  const parts = new Map<string, string>();
  for (const part of text.replace(/;$/, "").split(";")) {
    const [name = "", value = "", ...rest] = part.split("=");
    if (parts.has(name) || rest.length > 0) return null;
    parts.set(name, value);
  }
  const frequency = parts.get("FREQ");
  if (!isFrequency(frequency)) return null;
  const rule: Rule = {
    frequency,
    interval: 1,
    count: null,
    until: null,
    weekStart: 0,
    by: {},
  };
  for (const [name, value] of parts) {
    const list = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined;
    if (list !== undefined) {
      const numbers = numbersOf(value, list);
      if (numbers === null) return null;
      rule.by[list.key] = numbers;
    } else if (name === "BYDAY") {
      const days = daysOf(value);
      if (days === null) return null;
      rule.by.day = days;
    } else if (name === "INTERVAL" || name === "COUNT") {
      if (!/^0*[1-9]\d{0,8}$/.test(value)) return null;
      rule[name === "INTERVAL" ? "interval" : "count"] = Number(value);
    } else if (name === "UNTIL") {
      rule.until = parseTime(value);
      if (rule.until === null) return null;
    } else if (name === "WKST") {
      rule.weekStart = WEEKDAYS.indexOf(value);
      if (rule.weekStart < 0) return null;
    } else if (name !== "FREQ") return null;
  }
  return rule;
}

function isFrequency(text: string | undefined): text is Frequency {
  return text === "DAILY" || text === "WEEKLY" || text === "MONTHLY" || text === "YEARLY";
}

function numbersOf(
  text: string,
  { max, both, fromZero }: { max: number; both?: true; fromZero?: true },
): ReadonlySet<number> | null {
  const numbers = new Set<number>();
  for (const item of text.split(",")) {
    if (!/^[+-]?\d{1,3}$/.test(item)) return null;
    const number = Number(item);
    const least = both ? -max : fromZero ? 0 : 1;
    if (number < least || number > max || (number === 0 && !fromZero)) return null;
    numbers.add(number);
  }
  return numbers;
}

function daysOf(text: string): ReadonlySet<number> | null {
  const days = new Set<number>();
  for (const item of text.split(",")) {
    const match = /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/.exec(item);
    if (match === null) return null;
    const nth = Number(match[1] ?? 0);
    if (Math.abs(nth) > 53 || (match[1] !== undefined && nth === 0)) return null;
    days.add(weekdayCode(WEEKDAYS.indexOf(match[2] ?? ""), nth));
  }
  return days;
}

/** Which parts may meet: RFC 5545, 3.3.10, and what it leaves to arithmetic. */
function isPossible({ frequency, count, until, by }: Rule): boolean {
  if (count !== null && until !== null) return false;
  if (by.weekNo && frequency !== "YEARLY") return false;
  if (by.yearDay && frequency !== "YEARLY") return false;
  if (by.monthDay && frequency === "WEEKLY") return false;
  if (by.setPos && Object.keys(by).length === 1) return false;
  const nths = [...(by.day ?? [])].map(nthOf).filter((nth) => nth !== 0);
  if (nths.length > 0) {
    if (frequency === "DAILY" || frequency === "WEEKLY" || by.weekNo) return false;
    const inMonth = frequency === "MONTHLY" || by.month !== undefined;
    if (inMonth && nths.some((nth) => Math.abs(nth) > 5)) return false;
  }
  if (by.month && by.monthDay) {
    const days = [...by.monthDay].map(Math.abs);
    const longest = Math.max(
      ...[...by.month].map((month) => DAYS_IN_LONGEST_MONTH[month - 1] ?? 0),
    );
    if (Math.min(...days) > longest) return false;
  }
  return true;
}

/**
 * When a rule happens, by the wall clock. A rule is a filter over the days of each of its periods (day,
 * week, month, year), so a rule that never matches ends like any other: where the window does. Without
 * COUNT the periods before the window are jumped over by whole intervals.
 *
 * Not by ical.js, which reads the lines: its iterator never returns on FREQ=DAILY;BYMONTHDAY=-1 or
 * BYMONTH=2;BYMONTHDAY=30, walks from the start, and has other days for one in seven of the rules in
 * tests/unit/calendar/rule-table.ts (29 February, week numbers, BYSETPOS, the 20th Monday).
 */
import type { Budget } from "./budget.ts";
import {
  civilDate,
  DAY,
  dayNumber,
  dayOf,
  daysInMonth,
  HOUR,
  isLeapYear,
  MINUTE,
  SECOND,
  weekday,
} from "./civil.ts";
import { type Rule, weekdayCode } from "./rules.ts";

export interface Window {
  /** Earliest and latest wall clock time that is wanted. */
  after: number;
  before: number;
  /** Without a time of day. */
  isDate: boolean;
}

/** Ascending. The start is the first, whether the rule matches it or not, and COUNT counts it. */
export function* occurrences(
  rule: Rule,
  start: number,
  { after, before, isDate }: Window,
  budget: Budget,
): Generator<number> {
  if (start > before) return;
  if (start >= after) yield start;
  const times = isDate ? [0] : timesOfDay(rule.by, start, budget);
  const by = completed(rule, dayOf(start));
  const first = periodOf(dayOf(start), rule);
  let intervals = 0;
  if (rule.count === null) {
    // One period early: a week or year may begin before the day that is wanted.
    const wanted = periodOf(dayOf(after), rule) - 1;
    intervals = Math.max(0, Math.floor((wanted - first) / rule.interval));
  }
  let left = rule.count === null ? Number.POSITIVE_INFINITY : rule.count - 1;
  for (; left > 0; intervals++) {
    const period = first + intervals * rule.interval;
    if (firstDay(period, rule) * DAY > before) return;
    const days = matchingDays(period, rule, by, budget);
    budget.spend(1 + days.length * times.length);
    const found = days.flatMap((day) => times.map((time) => day * DAY + time));
    for (const wall of by.setPos ? atPositions(found, by.setPos) : found) {
      if (wall <= start) continue;
      if (wall > before || left === 0) return;
      left--;
      if (wall >= after) yield wall;
    }
  }
}

type By = Rule["by"];

/** What a rule does not say, its start says. */
function completed({ frequency, by }: Rule, startDay: number): By {
  const { month, day } = civilDate(startDay);
  const sameWeekday = { day: new Set([weekdayCode(weekday(startDay))]) };
  const saysDay = by.day || by.monthDay || by.yearDay;
  if (saysDay || frequency === "DAILY") return by;
  if (frequency === "WEEKLY" || by.weekNo) return { ...by, ...sameWeekday };
  if (frequency === "MONTHLY" || by.month) return { ...by, monthDay: new Set([day]) };
  return { ...by, month: new Set([month]), monthDay: new Set([day]) };
}

function timesOfDay(by: By, start: number, budget: Budget): number[] {
  const time = start - dayOf(start) * DAY;
  const hours = [...(by.hour ?? [Math.floor(time / HOUR)])];
  const minutes = [...(by.minute ?? [Math.floor(time / MINUTE) % 60])];
  const seconds = [...(by.second ?? [Math.floor(time / SECOND) % 60])];
  budget.spend(hours.length * minutes.length * seconds.length);
  return hours
    .flatMap((hour) => minutes.map((minute) => hour * HOUR + minute * MINUTE))
    .flatMap((hourAndMinute) => seconds.map((second) => hourAndMinute + second * SECOND))
    .sort((a, b) => a - b);
}

/** Periods are counted, so that intervals are multiples. */
function periodOf(day: number, { frequency, weekStart }: Rule): number {
  if (frequency === "DAILY") return day;
  // Day 0 was a Thursday, which is 3.
  if (frequency === "WEEKLY") return Math.floor((day + 3 - weekStart) / 7);
  const { year, month } = civilDate(day);
  return frequency === "MONTHLY" ? year * 12 + month - 1 : year;
}

function firstDay(period: number, { frequency, weekStart }: Rule): number {
  if (frequency === "DAILY") return period;
  if (frequency === "WEEKLY") return period * 7 - 3 + weekStart;
  if (frequency === "MONTHLY") {
    return dayNumber(Math.floor(period / 12), (((period % 12) + 12) % 12) + 1, 1);
  }
  return dayNumber(period, 1, 1);
}

function matchingDays(period: number, rule: Rule, by: By, budget: Budget): number[] {
  const matching: number[] = [];
  const look = (first: number, length: number) => {
    budget.spend(length);
    for (let day = first; day < first + length; day++) {
      if (matches(day, rule, by)) matching.push(day);
    }
  };
  const first = firstDay(period, rule);
  if (rule.frequency !== "YEARLY") {
    look(first, firstDay(period + 1, rule) - first);
  } else if (by.month) {
    for (const month of [...by.month].sort((a, b) => a - b)) {
      look(dayNumber(period, month, 1), daysInMonth(period, month));
    }
  } else {
    look(first, firstDay(period + 1, rule) - first);
  }
  return matching;
}

/** The cheap questions first: most days fail one. */
function matches(day: number, { frequency, weekStart }: Rule, by: By): boolean {
  const { year, month, day: monthDay } = civilDate(day);
  if (by.month && !by.month.has(month)) return false;
  const monthLength = daysInMonth(year, month);
  if (by.monthDay && !hasPlace(by.monthDay, monthDay, monthLength)) return false;
  const yearDay = day - dayNumber(year, 1, 1) + 1;
  const yearLength = isLeapYear(year) ? 366 : 365;
  if (by.yearDay && !hasPlace(by.yearDay, yearDay, yearLength)) return false;
  if (by.day) {
    const inMonth = frequency === "MONTHLY" || by.month !== undefined;
    const [place, length] = inMonth ? [monthDay, monthLength] : [yearDay, yearLength];
    const name = weekday(day);
    const isNamed =
      by.day.has(weekdayCode(name)) ||
      by.day.has(weekdayCode(name, Math.ceil(place / 7))) ||
      by.day.has(weekdayCode(name, -Math.ceil((length - place + 1) / 7)));
    if (!isNamed) return false;
  }
  if (!by.weekNo) return true;
  const { number, of } = weekOf(day, year, weekStart);
  return hasPlace(by.weekNo, number, of);
}

/** Whether a list names a place, counted from 1 or from the end. */
function hasPlace(list: ReadonlySet<number>, place: number, length: number): boolean {
  return list.has(place) || list.has(place - length - 1);
}

/** The number of a day's week, and of how many in its year. Week 1 has four days in the year. */
function weekOf(day: number, year: number, weekStart: number): { number: number; of: number } {
  const firstWeek = (of: number) => {
    const fourth = dayNumber(of, 1, 4);
    return fourth - ((weekday(fourth) - weekStart + 7) % 7);
  };
  const weekYear = day < firstWeek(year) ? year - 1 : day >= firstWeek(year + 1) ? year + 1 : year;
  const first = firstWeek(weekYear);
  return {
    number: Math.floor((day - first) / 7) + 1,
    of: (firstWeek(weekYear + 1) - first) / 7,
  };
}

function atPositions(found: number[], positions: ReadonlySet<number>): number[] {
  return found.filter((_, index) => hasPlace(positions, index + 1, found.length));
}

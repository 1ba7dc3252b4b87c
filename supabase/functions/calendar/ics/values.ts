/** Times, lengths and periods as RFC 5545, 3.3 writes them. */
import { DAY, dayNumber, daysInMonth, HOUR, MINUTE, SECOND } from "./civil.ts";
import { type Property, param } from "./lines.ts";
import { Refusal } from "./refusal.ts";

export interface TimeValue {
  /** A `local` one without a zone is floating. */
  kind: "date" | "utc" | "local";
  /** As the clock there shows it; a date is its midnight. */
  wall: number;
  zone?: string;
}

/** The days are nominal, by the clock; the rest is exact. */
export interface Length {
  days: number;
  ms: number;
}

export interface Period {
  start: TimeValue;
  end: TimeValue | Length;
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/i;
const DURATION =
  /^([+-]?)P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(T(?:(\d{1,8})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/i;

/** Null for what is no time. */
export function parseTime(text: string, zone?: string): TimeValue | null {
  const match = TIME.exec(text);
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  const midnight = dayNumber(year, month, day) * DAY;
  if (match[4] === undefined) return { kind: "date", wall: midnight };
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])];
  if (hour > 23 || minute > 59 || second > 60) return null;
  const wall = midnight + hour * HOUR + minute * MINUTE + second * SECOND;
  if (match[7] !== "") return { kind: "utc", wall };
  return zone === undefined ? { kind: "local", wall } : { kind: "local", wall, zone };
}

/** Null for what is no length; one that goes backwards is none. */
export function parseDuration(text: string): Length | null {
  const match = DURATION.exec(text);
  if (match === null || /[PT]$/i.test(text)) return null;
  const [weeks, days, hours, minutes, seconds] = [2, 3, 5, 6, 7].map((at) =>
    Number(match[at] ?? 0),
  );
  if (match[1] === "-") return { days: 0, ms: 0 };
  return {
    days: (weeks ?? 0) * 7 + (days ?? 0),
    ms: (hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE + (seconds ?? 0) * SECOND,
  };
}

function invalid({ name }: Property): Refusal {
  return new Refusal("invalid_event", name.toUpperCase());
}

function time(text: string, property: Property): TimeValue {
  const parsed = parseTime(text.trim(), param(property, "tzid")?.trim() || undefined);
  if (parsed === null) throw invalid(property);
  return parsed;
}

export function timeOf(property: Property): TimeValue {
  return time(property.value, property);
}

export function durationOf(property: Property): Length {
  const length = parseDuration(property.value.trim());
  if (length === null) throw invalid(property);
  return length;
}

/** Some programs write a list of none. */
function valuesOf({ value }: Property): string[] {
  return value.split(",").filter((text) => text.trim() !== "");
}

/** The values of EXDATE or RDATE; a lazy list, since a file may hold a million. */
export function* timesOf(property: Property): Generator<TimeValue> {
  for (const text of valuesOf(property)) yield time(text, property);
}

export function* periodsOf(property: Property): Generator<TimeValue | Period> {
  for (const text of valuesOf(property)) {
    const [start = "", end] = text.split("/");
    if (end === undefined) yield time(text, property);
    else if (!/^[+-]?P/i.test(end))
      yield { start: time(start, property), end: time(end, property) };
    else {
      const length = parseDuration(end.trim());
      if (length === null) throw invalid(property);
      yield { start: time(start, property), end: length };
    }
  }
}

const OFFSET = /^([+-])(\d\d)([0-5]\d)([0-5]\d)?$/;

/** How far a zone is ahead of UTC, in milliseconds, by a TZOFFSETFROM or TZOFFSETTO. */
export function offsetOf(property: Property): number {
  const match = OFFSET.exec(property.value.trim());
  const hours = Number(match?.[2]);
  if (match === null || hours > 23) throw invalid(property);
  const ms = hours * HOUR + Number(match[3]) * MINUTE + Number(match[4] ?? 0) * SECOND;
  return match[1] === "-" ? -ms : ms;
}

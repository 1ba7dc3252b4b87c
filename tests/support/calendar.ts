/** Dates and clock times of time zones, by Intl: independent of what the database computes. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const formatters = new Map<string, Intl.DateTimeFormat>();

/** The offset of a zone from UTC at an instant, in milliseconds. */
function offsetAt(instant: number, zone: string): number {
  const second = Math.floor(instant / 1000) * 1000;
  let formatter = formatters.get(zone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    formatters.set(zone, formatter);
  }
  const part = Object.fromEntries(
    formatter.formatToParts(second).map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>;
  const local = Date.UTC(
    part.year ?? 0,
    (part.month ?? 0) - 1,
    part.day,
    part.hour,
    part.minute,
    part.second,
  );
  return local - second;
}

const offsets = new Map<string, number>();

/** The local time of an instant as if it were UTC, in milliseconds. */
function localMilliseconds(instant: number, zone: string): number {
  // Clocks change on a quarter of an hour, and Intl is slow.
  const quarter = Math.floor(instant / (15 * MINUTE));
  const key = `${zone} ${quarter}`;
  let offset = offsets.get(key);
  if (offset === undefined) {
    offset = offsetAt(quarter * 15 * MINUTE, zone);
    offsets.set(key, offset);
  }
  return instant + offset;
}

/** YYYY-MM-DD of an instant in a zone. */
export function localDate(instant: number, zone: string): string {
  return new Date(localMilliseconds(instant, zone)).toISOString().slice(0, 10);
}

/** HH:MM of an instant in a zone. */
export function localTime(instant: number, zone: string): string {
  return new Date(localMilliseconds(instant, zone)).toISOString().slice(11, 16);
}

/** The date `days` after a date. */
export function dateAfter(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);
}

/** Today in a zone, or the date `days` later. */
export function dateIn(days: number, zone = "UTC"): string {
  return dateAfter(localDate(Date.now(), zone), days);
}

/** mon … sun */
export function weekday(date: string): string {
  return ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][
    new Date(`${date}T00:00:00Z`).getUTCDay()
  ] as string;
}

/**
 * The instant of a local date and time (00:00 to 24:00, or beyond: 27:00 is 03:00 of the next day).
 * Of two instants with that clock time the first (RFC 5545, 3.3.5); one that the clocks skip is
 * read with the offset before the change.
 */
export function instantOf(date: string, time: string, zone: string): number {
  const [hours, minutes] = time.split(":").map(Number) as [number, number];
  const local = Date.parse(`${date}T00:00:00Z`) + hours * HOUR + minutes * MINUTE;
  const offsets = [local - DAY, local + DAY].map((near) => localMilliseconds(near, zone) - near);
  const candidates = offsets.map((offset) => local - offset);
  const valid = candidates.filter((instant) => localMilliseconds(instant, zone) === local);
  return valid.length > 0 ? Math.min(...valid) : (candidates[0] as number);
}

/** An instant in the form of every answer: YYYY-MM-DDTHH:MM:SS.mmmZ. */
export function iso(instant: number): string {
  return new Date(instant).toISOString();
}

/** The next date, at least two days ahead, on which the clocks of a zone go forward or back. */
export function nextClockChange(zone: string, direction: "forward" | "back"): string {
  for (let days = 2; days < 400; days++) {
    const date = dateIn(days, zone);
    const length = instantOf(date, "24:00", zone) - instantOf(date, "00:00", zone);
    if (direction === "forward" ? length < DAY : length > DAY) return date;
  }
  throw new Error(`${zone} has no such clock change within a year`);
}

export interface Availability {
  weekly: Record<string, string[][]>;
  overrides?: Record<string, string[][]>;
}

/** The same windows on all seven days. */
export function everyDay(...windows: [string, string][]): Availability {
  const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
  return { weekly: Object.fromEntries(days.map((day) => [day, windows])) };
}

/** Calendars to read, and how the tests read them. */
import {
  type BusyOptions,
  type BusyResult,
  busyRanges,
} from "../../../supabase/functions/calendar/ics.ts";

export const WINDOW: BusyOptions = {
  from: new Date("2026-03-01T00:00:00Z"),
  to: new Date("2026-05-01T00:00:00Z"),
  timeZone: "Europe/Rome",
  ownAddresses: ["Ada@Example.com"],
  isOwnUid: (uid) => uid.endsWith("@ours"),
};

export const calendar = (...lines: string[]) =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n");

let events = 0;

/** With a UID of its own, unless the lines have one. */
export function event(...lines: string[]): string {
  const uid = lines.some((line) => line.startsWith("UID")) ? [] : [`UID:event-${++events}`];
  return ["BEGIN:VEVENT", ...uid, ...lines, "END:VEVENT"].join("\r\n");
}

export function read(text: string, options: Partial<BusyOptions> = {}): BusyResult {
  return busyRanges(text, { ...WINDOW, ...options });
}

/** Ranges as `start/end`, to the minute; or the error. */
export function busy(text: string, options: Partial<BusyOptions> = {}): string[] | string {
  const result = read(text, options);
  if (result.error) return [result.error.code, result.error.detail].filter(Boolean).join(" ");
  return result.ranges.map(({ start, end }) => `${minute(start)}/${minute(end)}`);
}

const minute = (instant: string) => instant.replace(":00.000Z", "Z");

/** Money, dates and times as the visitor's language writes them. */
import { locale } from "./texts/index.ts";

/** `YYYY-MM-DD`, a date on somebody's calendar. */
export type IsoDate = string;
/** A moment, `…Z`. */
export type Instant = string;

export const visitorZone: string = (() => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  try {
    // Where the system names no zone, browsers say `Etc/Unknown`, and do not take it back.
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
})();

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format is dear to make, and a month asks for hundreds. */
function format(zone: string, options: Intl.DateTimeFormatOptions, tag = locale) {
  const key = JSON.stringify([zone, options, tag]);
  const made = formats.get(key) ?? new Intl.DateTimeFormat(tag, { ...options, timeZone: zone });
  formats.set(key, made);
  return made;
}

export const money = (amount: number, currency: string): string =>
  new Intl.NumberFormat(locale, { style: "currency", currency }).format(amount);

/** The date of a moment by the clock of a zone. */
export const dateOf = (instant: Instant | Date, zone: string): IsoDate =>
  format(zone, { dateStyle: "short" }, "sv").format(new Date(instant));

const clock = (time: number, zone: string, name?: "short") =>
  format(zone, {
    hour: "2-digit",
    minute: "2-digit",
    ...(name && { timeZoneName: name }),
  }).format(time);

const HOUR = 3_600_000;

/**
 * The clock time of a moment. Where clocks are put back an hour comes twice: there the zone's name of that
 * moment goes with it, so that 02:30 and 02:30 can be told apart.
 */
export function timeOf(instant: Instant, zone: string): string {
  const time = Date.parse(instant);
  const twice = [-HOUR, -HOUR / 2, HOUR / 2, HOUR].some(
    (shift) => clock(time + shift, zone) === clock(time, zone),
  );
  return clock(time, zone, twice ? "short" : undefined);
}

type DateStyle = "long" | "day" | "month";

const DATE_STYLES: Record<DateStyle, Intl.DateTimeFormatOptions> = {
  long: { weekday: "long", day: "numeric", month: "long", year: "numeric" },
  day: { weekday: "long", day: "numeric", month: "long" },
  month: { month: "long", year: "numeric" },
};

/** A date in words. */
export const dateText = (date: IsoDate, style: DateStyle = "long"): string =>
  format("UTC", DATE_STYLES[style]).format(new Date(`${date}T00:00:00Z`));

/** Date and time of a moment by the clock of a zone. */
export const momentText = (instant: Instant, zone: string, style: DateStyle = "long"): string =>
  `${dateText(dateOf(instant, zone), style)}, ${timeOf(instant, zone)}`;

/** Whether the clocks of two zones differ at a moment. */
export const clocksDiffer = (instant: Instant, zone: string, other: string): boolean =>
  dateOf(instant, zone) !== dateOf(instant, other) ||
  clock(Date.parse(instant), zone) !== clock(Date.parse(instant), other);

/** A zone as people call it: `America/New_York` is New York. */
export const zoneText = (zone: string): string =>
  (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");

/** What an address says may be anything: a date of this century or the next, or null. */
export function dateIn(text: string | null): IsoDate | null {
  if (!text || !/^2[01]\d\d-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text))) return null;
  return addDays(text, 0);
}

/** A moment of those centuries, or null. */
export const instantIn = (text: string | null): Instant | null =>
  text && /^2[01]\d\d-/.test(text) && !Number.isNaN(Date.parse(text)) ? text : null;

export const addDays = (date: IsoDate, days: number): IsoDate => {
  const moved = new Date(`${date}T00:00:00Z`);
  moved.setUTCDate(moved.getUTCDate() + days);
  return moved.toISOString().slice(0, 10);
};

/** The first day of a date's month, or of one after it. */
export const monthOf = (date: IsoDate, months = 0): IsoDate => {
  const [year = 0, month = 1] = date.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10);
};

/** 0 is Monday. */
export const weekdayOf = (date: IsoDate): number =>
  (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7;

const MONDAY = { firstDay: 1 };
/** Browsers have the one or the other. */
type Region = Intl.Locale & { getWeekInfo?(): typeof MONDAY; weekInfo?: typeof MONDAY };
const region: Region = new Intl.Locale(locale);

/** With which weekday the visitor's weeks begin; 0 is Monday. */
export const firstWeekday: number =
  (region.getWeekInfo?.() ?? region.weekInfo ?? MONDAY).firstDay - 1;

/** Names of the weekdays in the order of the visitor's weeks. */
export const weekdays: string[] = Array.from({ length: 7 }, (_, at) =>
  // The first of January 2024 was a Monday.
  format("UTC", { weekday: "short" }).format(Date.UTC(2024, 0, 1 + ((firstWeekday + at) % 7))),
);

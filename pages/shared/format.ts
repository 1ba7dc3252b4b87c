/** Money, dates and times as the visitor's language writes them. */
import { Temporal } from "temporal-polyfill";
import type { Instant, LocalDate } from "../../client/src/database.ts";
import { locale } from "./texts/index.ts";

export type { Instant, LocalDate };

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
/** Where the system names no zone, browsers say `Etc/Unknown`, and do not take it back. */
export const visitorZone: string = timeZone === "Etc/Unknown" ? "UTC" : timeZone;

export const money = (amount: number, currency: string): string =>
  new Intl.NumberFormat(locale, { style: "currency", currency }).format(amount);

const clockOf = (instant: Instant, zone: string) =>
  Temporal.Instant.from(instant).toZonedDateTimeISO(zone);

/** The date of a moment by the clock of a zone. */
export const dateOf = (instant: Instant, zone: string): LocalDate =>
  clockOf(instant, zone).toPlainDate().toString();

/** The date there right now. */
export const todayIn = (zone: string): LocalDate => Temporal.Now.plainDateISO(zone).toString();

/** Where it comes twice, the first; where it is skipped, by the clock before: so the API reads working hours. */
export const instantOf = (date: LocalDate, time: string, zone: string): Instant =>
  Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(zone).toInstant().toString();

/** Clock time; where it comes twice, with the zone's name of that moment, so that 02:30 and 02:30 can be told apart. */
export function timeOf(instant: Instant, zone: string): string {
  const clock = clockOf(instant, zone);
  const [first, second] = (["earlier", "later"] as const).map(
    (disambiguation) =>
      clock.toPlainDateTime().toZonedDateTime(zone, { disambiguation }).epochMilliseconds,
  );
  const name = first !== second && ({ timeZoneName: "short" } as const);
  return clock.toLocaleString(locale, { hour: "2-digit", minute: "2-digit", ...name });
}

const DATE_STYLES = {
  long: { weekday: "long", day: "numeric", month: "long", year: "numeric" },
  day: { weekday: "long", day: "numeric", month: "long" },
  month: { month: "long", year: "numeric" },
} as const;

/** A date in words. */
export const dateText = (date: LocalDate, style: keyof typeof DATE_STYLES = "long"): string =>
  Temporal.PlainDate.from(date).toLocaleString(locale, DATE_STYLES[style]);

/** Date and time of a moment by the clock of a zone. */
export const momentText = (instant: Instant, zone: string, style?: "day"): string =>
  `${dateText(dateOf(instant, zone), style)}, ${timeOf(instant, zone)}`;

/** Whether the clocks of two zones differ at a moment. */
export const clocksDiffer = (instant: Instant, zone: string, other: string): boolean =>
  clockOf(instant, zone).offset !== clockOf(instant, other).offset;

/** A zone as people call it: `America/New_York` is New York. */
export const zoneText = (zone: string): string =>
  (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");

/** What an address says may be anything: of this century or the next, in the calendar of all pages, or null. */
function read(text: string | null, parse: (text: string) => unknown): string | null {
  try {
    return text && /^2[01]\d\d-[^[]*$/.test(text) ? String(parse(text)) : null;
  } catch {
    return null;
  }
}

export const dateIn = (text: string | null): LocalDate | null =>
  read(text, Temporal.PlainDate.from);
export const instantIn = (text: string | null): Instant | null => read(text, Temporal.Instant.from);

export const addDays = (date: LocalDate, days: number): LocalDate =>
  Temporal.PlainDate.from(date).add({ days }).toString();

/** The first day of a date's month, or of one after it. */
export const monthOf = (date: LocalDate, months = 0): LocalDate =>
  Temporal.PlainDate.from(date).with({ day: 1 }).add({ months }).toString();

/** 1 is Monday, 7 is Sunday. */
export const weekdayOf = (date: LocalDate): number => Temporal.PlainDate.from(date).dayOfWeek;

/** With which weekday the visitor's weeks begin, where the browser says so. */
export const firstWeekday: number =
  (new Intl.Locale(locale) as { getWeekInfo?(): { firstDay: number } }).getWeekInfo?.().firstDay ??
  1;

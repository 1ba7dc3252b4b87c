/** The professional's days: by their clock, wherever the browser is. */
import { addDays, type Instant, type IsoDate } from "../shared/format.ts";

const DAY = 86_400_000;

/** What the clock of a zone shows, as if it were UTC. */
function wall(time: number, timeZone: string): number {
  const options = { dateStyle: "short", timeStyle: "medium", timeZone } as const;
  const shown = new Intl.DateTimeFormat("sv", options).format(time);
  return Date.parse(`${shown.replace(" ", "T")}Z`);
}

/**
 * The moment at which the clock shows a date and time. Where it comes twice, the first; where it is skipped, by the
 * clock before the change: so the API reads working hours.
 */
export function instantOf(date: IsoDate, time: string, zone: string): Instant {
  const shown = Date.parse(`${date}T${time}:00Z`);
  const offset = (at: number) => wall(at, zone) - at;
  const first = shown - offset(shown - DAY);
  const second = shown - offset(shown + DAY);
  const isSecond = wall(first, zone) !== shown && wall(second, zone) === shown;
  return new Date(isSecond ? second : first).toISOString();
}

/** From midnight to midnight: a day has 23 or 25 hours where clocks change. */
export const boundsOf = (from: IsoDate, to: IsoDate, zone: string): [Instant, Instant] => [
  instantOf(from, "00:00", zone),
  instantOf(addDays(to, 1), "00:00", zone),
];

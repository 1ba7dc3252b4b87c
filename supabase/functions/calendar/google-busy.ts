/** When somebody is busy by their Google calendar: the rules of busy calendars, on Google's events. */
import { GoogleError, type ListedEvent } from "../_shared/google.ts";
import { Budget } from "./ics/budget.ts";
import { DAY, dayNumber } from "./ics/civil.ts";
import { ianaZone } from "./ics/iana.ts";
import { merged } from "./ics/ranges.ts";
import type { BusyRange } from "./ics.ts";

export interface GoogleBusyOptions {
  from: string;
  to: string;
  /** The professional's: a date is their local day. */
  timeZone: string;
  isOwn(event: ListedEvent): boolean;
}

/** Where somebody works and whose birthday it is takes no time. */
const IDLE_TYPES = ["workingLocation", "birthday"];

function blocks(event: ListedEvent, { isOwn }: GoogleBusyOptions): boolean {
  const declined = event.attendees?.some(
    ({ self, responseStatus }) => self === true && responseStatus === "declined",
  );
  return !(
    event.status === "cancelled" ||
    event.transparency === "transparent" ||
    IDLE_TYPES.includes(event.eventType ?? "default") ||
    declined ||
    isOwn(event)
  );
}

/** What cannot be read is an error for all of it, never free time. */
export function googleBusy(events: ListedEvent[], options: GoogleBusyOptions): BusyRange[] {
  const zone = ianaZone(options.timeZone, new Budget(1_000_000));
  const malformed = () => new GoogleError("refused", "malformed_calendar");
  if (zone === null) throw malformed();
  const instantOf = ({ date, dateTime }: ListedEvent["start"]): number => {
    if (dateTime !== undefined) return Date.parse(dateTime);
    if (date === undefined) return Number.NaN;
    const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
    return zone.toUtc(dayNumber(year, month, day) * DAY);
  };
  const ranges = events
    .filter((event) => blocks(event, options))
    .map((event) => {
      const range = { start: instantOf(event.start), end: instantOf(event.end) };
      if (Number.isNaN(range.start) || Number.isNaN(range.end)) throw malformed();
      return range;
    });
  return merged(ranges, Date.parse(options.from), Date.parse(options.to)).map(({ start, end }) => ({
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
  }));
}

/**
 * When somebody is busy by their calendar (RFC 5545), within a window. Pure: the same text and options
 * are the same ranges, and no title, place or person of the file is in what comes out.
 *
 * An event blocks unless it is transparent, cancelled, declined by the professional, or the
 * professional's own booking. A date is the professional's local day; a floating time is theirs, too.
 * What cannot be read is an error for the whole calendar, never free time.
 */
import { Budget } from "./ics/budget.ts";
import {
  type CalendarEvent,
  plainAddress,
  readEvent,
  type Skip,
  type Whose,
} from "./ics/events.ts";
import { type Calendar, readCalendars } from "./ics/lines.ts";
import { merged, type Range } from "./ics/ranges.ts";
import { Refusal, type RefusalCode } from "./ics/refusal.ts";
import { eventRange, isRecurring, seriesRanges } from "./ics/series.ts";
import { createZones } from "./ics/zones.ts";

export interface BusyOptions {
  from: Date;
  /** Not part of the window. */
  to: Date;
  /** The professional's, an IANA name. */
  timeZone: string;
  /** Under which the professional may be invited. */
  ownAddresses: readonly string[];
  /** Whether a UID is that of one of the professional's own bookings. */
  isOwnUid: (uid: string) => boolean;
  /** How much recurrence is worked out at most: in days looked at, roughly. */
  maxSteps?: number;
}

export interface BusyRange {
  /** ISO 8601, UTC. */
  start: string;
  end: string;
}

export type BusyResult =
  | {
      /** In order; they neither meet nor touch. */
      ranges: BusyRange[];
      /** How many events of the file do not block, by why. */
      skipped: Record<Skip, number>;
      error?: undefined;
    }
  | {
      /** The detail is for the professional: the zone's name, the rule, the property. */
      error: { code: RefusalCode; detail: string | null };
    };

/** About a second at worst. A daily event takes some ten for each day of the window. */
const MAX_STEPS = 2_000_000;

export function busyRanges(text: string, options: BusyOptions): BusyResult {
  const [from, to] = [options.from.getTime(), options.to.getTime()];
  const whose = {
    ownAddresses: new Set(options.ownAddresses.map(plainAddress)),
    isOwnUid: options.isOwnUid,
  };
  const budget = new Budget(options.maxSteps ?? MAX_STEPS);
  const skipped = { own: 0, cancelled: 0, transparent: 0, declined: 0 };
  const found: Range[] = [];
  try {
    for (const calendar of readCalendars(text)) {
      const events = readEvents(calendar, whose, skipped);
      const end = to + 366 * 86_400_000;
      const zones = createZones(calendar.zones, { timeZone: options.timeZone, end, budget });
      for (const range of rangesOf(events, { from, to, zones, budget })) found.push(range);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { error: { code: error.code, detail: error.detail } };
  }
  const ranges = merged(found, from, to).map(({ start, end }) => ({
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
  }));
  return { ranges, skipped };
}

function readEvents(
  { events }: Calendar,
  whose: Whose,
  skipped: Record<Skip, number>,
): CalendarEvent[] {
  return events.flatMap((component) => {
    const event = readEvent(component, whose);
    const skip = event === null ? "own" : event.skip;
    if (skip !== null) skipped[skip]++;
    return event ?? [];
  });
}

function* rangesOf(
  events: readonly CalendarEvent[],
  reading: Parameters<typeof eventRange>[1],
): Generator<Range> {
  const overrides = new Map<string, CalendarEvent[]>();
  for (const event of events) {
    if (event.replaces === null || event.uid === null) continue;
    const others = overrides.get(event.uid);
    if (others === undefined) overrides.set(event.uid, [event]);
    else others.push(event);
  }
  for (const event of events) {
    const stands = event.skip === null || event.andFuture;
    if (event.replaces !== null && isRecurring(event) && stands) {
      throw new Refusal("rule_refused", "RECURRENCE-ID");
    }
    const replaced = (event.uid !== null && overrides.get(event.uid)) || [];
    if (event.replaces === null && (isRecurring(event) || replaced.length > 0)) {
      yield* seriesRanges(event, replaced, reading);
    } else if (event.skip === null) yield* eventRange(event, reading);
  }
}

/**
 * What available_slots, explain_slot and create_booking must say, written a second time: in
 * TypeScript, by Intl, over single instants. It shares nothing with the SQL but the rules.
 */
import { type Availability, dateAfter, instantOf, localDate, weekday } from "./calendar.ts";

const MINUTE = 60_000;

/** Milliseconds since 1970. */
interface Range {
  start: number;
  end: number;
}

export interface Shop {
  zone: string;
  availability: Required<Availability>;
  acceptsBookings: boolean;
  active: boolean;
  /** Minutes, as all that follows. */
  duration: number;
  step: number | null;
  bufferBefore: number;
  bufferAfter: number;
  minNotice: number;
  maxAdvanceDays: number;
  /** What live bookings block, their buffers included. */
  busy: Range[];
  /** What the professional's calendars elsewhere say. */
  elsewhere: Range[];
}

/** Working hours that begin on a local date. */
function windowsOf(shop: Shop, date: string): Range[] {
  const { weekly, overrides } = shop.availability;
  const next = dateAfter(date, 1);
  const windows = overrides[date] ?? weekly[weekday(date)] ?? [];
  return windows
    .map(([from, to]) => {
      const [start, end] = [from as string, to as string];
      const endOfWindow =
        end > start
          ? instantOf(date, end, shop.zone)
          : instantOf(next, next in overrides ? "00:00" : end, shop.zone);
      return { start: instantOf(date, start, shop.zone), end: endOfWindow };
    })
    .filter(({ start, end }) => start < end);
}

const touching = new WeakMap<Shop, Map<string, Range[]>>();

/** Windows that have a part in a local date. */
function windowsTouching(shop: Shop, date: string): Range[] {
  const known = touching.get(shop) ?? new Map<string, Range[]>();
  touching.set(shop, known);
  let windows = known.get(date);
  if (!windows) {
    const midnight = instantOf(date, "00:00", shop.zone);
    windows = [...windowsOf(shop, dateAfter(date, -1)), ...windowsOf(shop, date)].filter(
      ({ end }) => end > midnight,
    );
    known.set(date, windows);
  }
  return windows;
}

const opened = new WeakMap<Shop, Map<string, Range[]>>();

/** When there is work around a date and the next ones: windows that touch are one. */
function openAround(shop: Shop, date: string, last: string): Range[] {
  const known = opened.get(shop) ?? new Map<string, Range[]>();
  opened.set(shop, known);
  const key = `${date} ${last}`;
  let open = known.get(key);
  if (!open) {
    open = [];
    const windows: Range[] = [];
    for (let day = dateAfter(date, -1); day <= last; day = dateAfter(day, 1)) {
      windows.push(...windowsOf(shop, day));
    }
    for (const window of windows.sort((a, b) => a.start - b.start)) {
      const before = open.at(-1);
      if (before && window.start <= before.end) before.end = Math.max(before.end, window.end);
      else open.push({ ...window });
    }
    known.set(key, open);
  }
  return open;
}

/** Why a start can or cannot be booked at `now`, as the public is told or the professional. */
export function reasonFor(
  shop: Shop,
  start: number,
  now: number,
  teller: "public" | "professional" = "public",
): string {
  const { zone, duration, busy, elsewhere } = shop;
  const date = localDate(start, zone);
  const end = start + duration * MINUTE;
  const windows = windowsTouching(shop, date);
  const within = windows.filter((window) => window.start <= start && start < window.end);
  const fits = openAround(shop, date, localDate(end, zone)).some(
    (open) => open.start <= start && end <= open.end,
  );
  const step = (shop.step ?? duration) * MINUTE;
  const blocked = {
    start: start - shop.bufferBefore * MINUTE,
    end: end + shop.bufferAfter * MINUTE,
  };

  if (!shop.acceptsBookings) return "not_accepting";
  if (!shop.active) return "inactive";
  if (start < now) return "past";
  if (start < now + shop.minNotice * MINUTE) return "too_soon";
  if (date > dateAfter(localDate(now, zone), shop.maxAdvanceDays)) return "too_far";
  if (windows.length === 0) return "closed_date";
  if (within.length === 0 || !fits) return "outside_hours";
  if (within.every((window) => (start - window.start) % step !== 0)) return "not_on_grid";
  const meets = (other: Range) => other.start < blocked.end && blocked.start < other.end;
  if (busy.some(meets)) return "slot_taken";
  if (elsewhere.some(meets)) return teller === "professional" ? "busy" : "slot_taken";
  return "available";
}

/** Free starts of a local date, in order. */
export function startsOn(shop: Shop, date: string, now: number): number[] {
  const step = (shop.step ?? shop.duration) * MINUTE;
  const starts = new Set<number>();
  for (const window of windowsTouching(shop, date)) {
    for (let start = window.start; start < window.end; start += step) {
      if (localDate(start, shop.zone) === date && reasonFor(shop, start, now) === "available") {
        starts.add(start);
      }
    }
  }
  return [...starts].sort((a, b) => a - b);
}

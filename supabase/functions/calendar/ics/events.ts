/** What an event says about being busy, before anybody asks when. */
import { DAY, dayOf } from "./civil.ts";
import { all, type Component, one, param } from "./lines.ts";
import { Refusal } from "./refusal.ts";
import { durationOf, type Length, type TimeValue, timeOf } from "./values.ts";

/** Why an event does not block. */
export type Skip = "own" | "cancelled" | "transparent" | "declined";

export interface CalendarEvent {
  uid: string | null;
  component: Component;
  skip: Skip | null;
  start: TimeValue;
  /** Where it ends, or how long it takes. */
  end: TimeValue | Length;
  /** Which instance of a series it stands for. */
  replaces: TimeValue | null;
  /** Whether it stands for those after it, too. */
  andFuture: boolean;
}

export interface Whose {
  ownAddresses: ReadonlySet<string>;
  isOwnUid(uid: string): boolean;
}

/** Null for the professional's own booking: its times may be anything, since they are not read. */
export function readEvent(component: Component, whose: Whose): CalendarEvent | null {
  const uid = one(component, "uid")?.value.trim() || null;
  if (uid !== null && whose.isOwnUid(uid)) return null;
  const start = one(component, "dtstart");
  if (start === undefined) throw new Refusal("invalid_event", "DTSTART");
  const replaces = one(component, "recurrence-id");
  const startsAt = timeOf(start);
  return {
    uid,
    component,
    skip: skipOf(component, whose),
    start: startsAt,
    end: endOf(component, startsAt),
    replaces: replaces === undefined ? null : timeOf(replaces),
    andFuture:
      replaces !== undefined && param(replaces, "range")?.toUpperCase() === "THISANDFUTURE",
  };
}

function skipOf(component: Component, { ownAddresses }: Whose): Skip | null {
  const text = (name: string) => one(component, name)?.value.trim().toUpperCase();
  if (text("status") === "CANCELLED") return "cancelled";
  if (text("transp") === "TRANSPARENT") return "transparent";
  const declined = all(component, "attendee").some((attendee) => {
    if (param(attendee, "partstat")?.toUpperCase() !== "DECLINED") return false;
    return [attendee.value, param(attendee, "email") ?? ""].some((address) =>
      ownAddresses.has(plainAddress(address)),
    );
  });
  return declined ? "declined" : null;
}

export function plainAddress(text: string): string {
  return text
    .trim()
    .replace(/^mailto:/i, "")
    .toLowerCase();
}

function endOf(component: Component, start: TimeValue): TimeValue | Length {
  const end = one(component, "dtend");
  const duration = one(component, "duration");
  if (start.kind !== "date") {
    if (end !== undefined) return timeOf(end);
    return duration === undefined ? { days: 0, ms: 0 } : durationOf(duration);
  }
  // A day is a whole one at least, also where the end is the day itself, as some write it.
  if (end !== undefined) {
    const last = timeOf(end);
    return { days: Math.max(1, Math.ceil((last.wall - start.wall) / DAY)), ms: 0 };
  }
  const { days, ms } = duration === undefined ? { days: 1, ms: 0 } : durationOf(duration);
  return { days: Math.max(1, days + dayOf(ms + DAY - 1)), ms: 0 };
}

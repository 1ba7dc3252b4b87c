/** A zone as the file itself defines it (RFC 5545, 3.6.5). */
import type { Budget } from "./budget.ts";
import { DAY } from "./civil.ts";
import { all, type Component, one } from "./lines.ts";
import { occurrences } from "./occurrences.ts";
import { parseRule } from "./rules.ts";
import { type Change, Timeline, type Zone } from "./timeline.ts";
import { offsetOf, type TimeValue, timeOf, timesOf } from "./values.ts";

interface Observance {
  start: number;
  from: number;
  to: number;
  component: Component;
}

/** Null for a definition that says nothing. `end` is the last instant that is asked for. */
export function definedZone(zone: Component, end: number, budget: Budget): Zone | null {
  const observances = zone.parts
    .flatMap((component): Observance[] => {
      const start = one(component, "dtstart");
      const from = one(component, "tzoffsetfrom");
      const to = one(component, "tzoffsetto");
      if (!start || !from || !to) return [];
      return [{ start: timeOf(start).wall, from: offsetOf(from), to: offsetOf(to), component }];
    })
    .sort((a, b) => a.start - b.start);
  const [earliest] = observances;
  if (earliest === undefined) return null;
  const changes = observances
    .flatMap((observance) => [...changesOf(observance, end, budget)])
    .sort((a, b) => a.at - b.at);
  return new Timeline(earliest.from, changes);
}

function* changesOf(
  { start, from, to, component }: Observance,
  end: number,
  budget: Budget,
): Generator<Change> {
  const at = (wall: number): Change => ({ at: wall - from, offset: to });
  const rules = all(component, "rrule").map(({ value }) => parseRule(value));
  if (rules.length === 0) yield at(start);
  for (const rule of rules) {
    const before = Math.min(end + DAY, lastBy(rule.until, from));
    const window = { after: start, before, isDate: false };
    for (const wall of occurrences(rule, start, window, budget)) yield at(wall);
  }
  for (const property of all(component, "rdate")) {
    for (const { kind, wall } of timesOf(property)) {
      budget.spend(1);
      // A date means the time of day of the start.
      if (kind === "date") yield at(wall + (start - Math.floor(start / DAY) * DAY));
      else yield kind === "utc" ? { at: wall, offset: to } : at(wall);
    }
  }
}

/** An UNTIL, by the clock before the change. */
function lastBy(until: TimeValue | null, from: number): number {
  if (until === null) return Number.POSITIVE_INFINITY;
  if (until.kind === "date") return until.wall + DAY - 1;
  return until.kind === "utc" ? until.wall + from : until.wall;
}

/** From an event, or a series with the instances that stand apart, to ranges. */
import type { Budget } from "./budget.ts";
import { DAY, dayOf } from "./civil.ts";
import type { CalendarEvent } from "./events.ts";
import { all } from "./lines.ts";
import { occurrences } from "./occurrences.ts";
import type { Range } from "./ranges.ts";
import { Refusal } from "./refusal.ts";
import { parseRule, type Rule } from "./rules.ts";
import { type Length, periodsOf, type TimeValue, timesOf } from "./values.ts";
import type { Zones } from "./zones.ts";

/** No clock on earth is further from UTC: beyond it, a wall clock time needs no zone. */
const MARGIN = 2 * DAY;

/** What an instance costs that is near the window, in steps of the budget. */
const INSTANCE_COST = 5;

export interface Reading {
  from: number;
  to: number;
  zones: Zones;
  budget: Budget;
}

export function isRecurring({ component }: CalendarEvent): boolean {
  return component.properties.some(({ name }) => name === "rrule" || name === "rdate");
}

export function* eventRange(event: CalendarEvent, reading: Reading): Generator<Range> {
  const { start } = event;
  const { from, to, zones } = reading;
  // Old events may have zones that nobody knows any more.
  if (start.wall > to + MARGIN || start.wall + roughLength(event) < from - MARGIN) return;
  yield { start: zones.instant(start), end: endOf(start, event.end, zones) };
}

function endOf(start: TimeValue, end: TimeValue | Length, zones: Zones): number {
  if ("wall" in end) return zones.instant(end);
  return zones.of(start).toUtc(start.wall + end.days * DAY) + end.ms;
}

/** By the wall clocks, which may be in two zones. */
function roughLength({ start, end }: CalendarEvent): number {
  const ms = "wall" in end ? end.wall - start.wall : end.days * DAY + end.ms;
  return Math.max(0, ms) + MARGIN;
}

/** What an instance is, of the series or of an override that changes all that follow. */
interface Shape {
  /** The first instant it counts for. */
  since: number;
  blocks: boolean;
  /** Added to the wall clock time. */
  shift: number;
  length: Length;
}

/**
 * The instances of a series but for those that are replaced: `overrides` stand for themselves, as
 * events of their own.
 */
export function* seriesRanges(
  event: CalendarEvent,
  overrides: readonly CalendarEvent[],
  reading: Reading,
): Generator<Range> {
  const { component, start } = event;
  const { from, to, zones, budget } = reading;
  budget.spend(1 + overrides.length);
  const [excluded] = all(component, "exrule");
  if (excluded !== undefined) throw new Refusal("rule_refused", `EXRULE:${excluded.value}`);
  const rules = all(component, "rrule").map(({ value }) => parseRule(value));

  const future = overrides.filter(({ andFuture }) => andFuture);
  if (event.skip !== null && future.every(({ skip }) => skip !== null)) return;
  const longest = future.map(roughLength).reduce(larger, roughLength(event));
  const shift = future.map(roughShift).reduce(larger, 0);
  const window = { after: from - MARGIN - longest - shift, before: to + MARGIN + shift };
  const isNear = ({ wall }: TimeValue) => wall >= window.after && wall <= window.before;
  if (start.wall > window.before) return;
  if (
    rules.length > 0 &&
    rules.every((rule) => lastBy(rule, start) < window.after) &&
    !hasDates(event)
  ) {
    return;
  }

  const zone = zones.of(start);
  const shapes = [
    {
      since: Number.NEGATIVE_INFINITY,
      blocks: event.skip === null,
      shift: 0,
      length: exactLength(event, zones),
    },
    ...future.map((override) => shapeOf(override, event, zones)),
  ].sort((a, b) => a.since - b.since);
  const isExcluded = exclusions(event, overrides, { isNear, zones, budget });

  const place = function* (wall: number, instant: number, length?: Length): Generator<Range> {
    budget.spend(INSTANCE_COST + shapes.length);
    if (isExcluded(wall, instant)) return;
    const shape = shapes.findLast(({ since }) => since <= instant);
    if (!shape?.blocks) return;
    const placed: TimeValue = { ...start, wall: wall + shape.shift };
    const begin = shape.shift === 0 ? instant : zones.instant(placed);
    yield { start: begin, end: endOf(placed, length ?? shape.length, zones) };
  };

  if (rules.length === 0 && start.wall >= window.after) {
    yield* place(start.wall, zones.instant(start));
  }
  for (const rule of rules) {
    const before = Math.min(window.before, lastBy(rule, start));
    const span = { after: window.after, before, isDate: start.kind === "date" };
    for (const wall of occurrences(rule, start.wall, span, budget)) {
      const instant = zone.toUtc(wall);
      if (start.kind === "local" && rule.until?.kind === "utc" && instant > rule.until.wall)
        continue;
      yield* place(wall, instant);
    }
  }
  for (const property of all(component, "rdate")) {
    for (const added of periodsOf(property)) {
      budget.spend(1);
      const [begin, end] = "wall" in added ? [added] : [added.start, added.end];
      if ((begin.kind === "date") !== (start.kind === "date")) {
        throw new Refusal("invalid_event", "RDATE");
      }
      // A period has a length of its own, of any size.
      if (end === undefined ? !isNear(begin) : begin.wall > window.before) continue;
      const instant = zones.instant(begin);
      const length =
        end !== undefined && "wall" in end ? { days: 0, ms: zones.instant(end) - instant } : end;
      yield* place(zone.toWall(instant), instant, length);
    }
  }
}

function larger(a: number, b: number): number {
  return Math.max(a, b);
}

function hasDates({ component }: CalendarEvent): boolean {
  return all(component, "rdate").length > 0;
}

/** The last wall clock time by UNTIL; where that is an instant of another clock, not earlier. */
function lastBy({ until }: Rule, start: TimeValue): number {
  if (until === null) return Number.POSITIVE_INFINITY;
  if (until.kind === "date") return until.wall + DAY - 1;
  return until.kind === "utc" && start.kind === "local" ? until.wall + MARGIN : until.wall;
}

/** RFC 5545, 3.8.5.3: with DTEND, all instances are as long as the first, exactly. */
function exactLength({ start, end }: CalendarEvent, zones: Zones): Length {
  if (!("wall" in end)) return end;
  return { days: 0, ms: Math.max(0, zones.instant(end) - zones.instant(start)) };
}

function roughShift({ start, replaces }: CalendarEvent): number {
  return Math.abs(start.wall - (replaces?.wall ?? start.wall)) + MARGIN;
}

/** RFC 5545, 3.2.13: what follows is moved by as much as the instance is. */
function shapeOf(override: CalendarEvent, series: CalendarEvent, zones: Zones): Shape {
  const { start, replaces, skip } = override;
  if (replaces === null || (start.kind === "date") !== (series.start.kind === "date")) {
    throw new Refusal("rule_refused", "RANGE=THISANDFUTURE");
  }
  const since = zones.instant(replaces);
  const zone = zones.of(series.start);
  return {
    since,
    blocks: skip === null,
    shift: zone.toWall(zones.instant(start)) - zone.toWall(since),
    length: exactLength(override, zones),
  };
}

/** By EXDATE, or because an override stands for it. */
function exclusions(
  { component, start }: CalendarEvent,
  overrides: readonly CalendarEvent[],
  { isNear, zones, budget }: { isNear: (time: TimeValue) => boolean; zones: Zones; budget: Budget },
): (wall: number, instant: number) => boolean {
  const instants = new Set<number>();
  const days = new Set<number>();
  const exclude = (time: TimeValue) => {
    budget.spend(1);
    if (!isNear(time)) return;
    // A date excludes its day, whatever the time; of a day, a time excludes the day it is written on.
    if (time.kind === "date" || start.kind === "date") days.add(dayOf(time.wall));
    else instants.add(zones.instant(time));
  };
  for (const property of all(component, "exdate")) {
    for (const time of timesOf(property)) exclude(time);
  }
  for (const { replaces } of overrides) if (replaces !== null) exclude(replaces);
  return (wall, instant) => instants.has(instant) || days.has(dayOf(wall));
}

/** Zones that this runtime knows, a year at a time: asking it is slow, and few years are asked for. */
import type { Budget } from "./budget.ts";
import { civilDate, DAY, dayNumber, dayOf, HOUR, MINUTE, SECOND } from "./civil.ts";
import { type Change, Timeline, type Zone } from "./timeline.ts";

/** Clocks that change twice in a month do so for Ramadan, weeks apart. */
const STEP = 7 * DAY;

/** What asking the runtime once costs, in steps of the budget. */
const COST = 20;

/** Null when the runtime knows no such zone. */
export function ianaZone(name: string, budget: Budget): Zone | null {
  let format: Intl.DateTimeFormat;
  budget.spend(COST);
  try {
    format = new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" });
  } catch {
    return null;
  }
  const years = new Map<number, Timeline>();
  const yearOf = (time: number) => {
    const { year } = civilDate(dayOf(time));
    const timeline = years.get(year) ?? timelineOf(year, format, budget);
    years.set(year, timeline);
    return timeline;
  };
  return {
    toUtc: (wall) => yearOf(wall).toUtc(wall),
    toWall: (instant) => yearOf(instant).toWall(instant),
  };
}

/** A year and two days around it: the clock may show another one than UTC. */
function timelineOf(year: number, format: Intl.DateTimeFormat, budget: Budget): Timeline {
  const ask = (instant: number) => {
    budget.spend(COST);
    return offsetAt(instant, format);
  };
  const start = (dayNumber(year, 1, 1) - 2) * DAY;
  const end = (dayNumber(year + 1, 1, 1) + 2) * DAY;
  const first = ask(start);
  const changes: Change[] = [];
  let [from, before] = [start, first];
  while (from < end) {
    const to = Math.min(from + STEP, end);
    const after = ask(to);
    if (after !== before) {
      let [low, high] = [from, to];
      while (high - low > SECOND) {
        const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND;
        if (ask(middle) === before) low = middle;
        else high = middle;
      }
      changes.push({ at: high, offset: after });
    }
    [from, before] = [to, after];
  }
  return new Timeline(first, changes);
}

function offsetAt(instant: number, format: Intl.DateTimeFormat): number {
  const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(instant));
  if (match === null) return 0;
  const ms = Number(match[2]) * HOUR + Number(match[3]) * MINUTE + Number(match[4] ?? 0) * SECOND;
  return match[1] === "-" ? -ms : ms;
}

/**
 * Which zone a name means: the one that the file defines, else the IANA zone, else the one that Windows
 * calls so. Anything else is refused: taken for UTC or floating it would block the wrong hours.
 */
import type { Budget } from "./budget.ts";
import { ianaZone } from "./iana.ts";
import { type Component, one } from "./lines.ts";
import { Refusal } from "./refusal.ts";
import { UTC, type Zone } from "./timeline.ts";
import type { TimeValue } from "./values.ts";
import { definedZone } from "./vtimezone.ts";
import { WINDOWS_ZONES } from "./windows-zones.ts";

export interface Zones {
  /** Where a date or floating time is the professional's. */
  of(time: TimeValue): Zone;
  instant(time: TimeValue): number;
}

/** `end` is the last instant that is asked for. */
export function createZones(
  definitions: readonly Component[],
  { timeZone, end, budget }: { timeZone: string; end: number; budget: Budget },
): Zones {
  const defined = new Map<string, Component>();
  for (const definition of definitions) {
    // A value is escaped where the parameter that names it is quoted.
    const name = one(definition, "tzid")
      ?.value.trim()
      .replace(/\\([\\;,])/g, "$1");
    if (name !== undefined && !defined.has(name)) defined.set(name, definition);
  }
  const known = new Map<string, Zone>();

  const find = (name: string): Zone => {
    const definition = defined.get(name);
    const zone = (definition && definedZone(definition, end, budget)) ?? namedZone(name, budget);
    if (zone === null) throw new Refusal("unknown_zone", name);
    return zone;
  };
  const named = (name: string): Zone => {
    const zone = known.get(name) ?? find(name);
    known.set(name, zone);
    return zone;
  };
  // Not by name: a file may define the professional's own zone as it likes.
  let own: Zone | null = null;
  const professionals = (): Zone => {
    own ??= ianaZone(timeZone, budget);
    if (own === null) throw new Refusal("unknown_zone", timeZone);
    return own;
  };

  const of = ({ kind, zone }: TimeValue): Zone => {
    if (kind === "utc") return UTC;
    return zone === undefined ? professionals() : named(zone);
  };
  return { of, instant: (time) => of(time).toUtc(time.wall) };
}

/** An IANA name may stand behind the name of who published it: "/example.org/20260101/Europe/Rome". */
function namedZone(name: string, budget: Budget): Zone | null {
  const segments = name.startsWith("/") ? name.split("/").slice(-3) : [];
  const names = [name, ...segments.map((_, at) => segments.slice(at).join("/"))];
  for (const candidate of names) {
    const zone = ianaZone(candidate, budget);
    if (zone !== null) return zone;
  }
  const place = WINDOWS_ZONES.get(name);
  return place === undefined ? null : ianaZone(place, budget);
}

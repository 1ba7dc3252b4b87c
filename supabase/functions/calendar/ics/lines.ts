/**
 * From text to the few properties that say when somebody is busy. All else (titles, places, notes,
 * alarms) is dropped here, line by line, so that nothing in it can do harm or be kept.
 */
import ICAL from "ical.js";
import { Refusal } from "./refusal.ts";

export interface Property {
  /** In lower case, as its parameters' names. */
  name: string;
  params: Record<string, string | string[] | undefined>;
  /** The text as it stands. */
  value: string;
}

export interface Component {
  name: string;
  properties: Property[];
  /** A zone's STANDARD and DAYLIGHT. */
  parts: Component[];
}

export interface Calendar {
  zones: Component[];
  events: Component[];
}

/** What is read, by where it stands. */
const READ: Record<string, RegExp> = {
  "VCALENDAR/VEVENT":
    /^(?:UID|DTSTART|DTEND|DURATION|RRULE|EXRULE|RDATE|EXDATE|RECURRENCE-ID|STATUS|TRANSP)[;:]/i,
  "VCALENDAR/VTIMEZONE": /^TZID[;:]/i,
  "VCALENDAR/VTIMEZONE/STANDARD": /^(?:DTSTART|TZOFFSETFROM|TZOFFSETTO|RRULE|RDATE)[;:]/i,
  "VCALENDAR/VTIMEZONE/DAYLIGHT": /^(?:DTSTART|TZOFFSETFROM|TZOFFSETTO|RRULE|RDATE)[;:]/i,
};

/** Of the attendees only who declined: a meeting may have hundreds of others. */
const DECLINED = /^ATTENDEE;.*\bDECLINED\b/i;

const BOUND = /^(BEGIN|END):(.*)$/i;

/** Values stay text: what they may be is decided where they are used, and more strictly. */
const AS_TEXT = {
  property: {},
  value: {},
  param: ICAL.design.icalendar.param,
  propertyGroups: false,
};

interface Open {
  name: string;
  path: string;
  component?: Component;
}

export function readCalendars(text: string): Calendar[] {
  // NULs come with some exports and would hide a name; a line folded is a line.
  const lines = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\0", "")
    .replace(/\r\n?/g, "\n")
    .replace(/\n[ \t]/g, "")
    .split("\n");
  const calendars: Calendar[] = [];
  const open: Open[] = [];
  for (const line of lines) {
    if (line === "") continue;
    const bound = BOUND.exec(line);
    if (bound === null) {
      const { path, component } = open.at(-1) ?? { path: "" };
      if (component === undefined) continue;
      if (READ[path]?.test(line)) component.properties.push(property(line));
      else if (DECLINED.test(line)) {
        component.properties.push(...attendee(line));
      }
      continue;
    }
    const name = (bound[2] ?? "").trim().toUpperCase();
    if ((bound[1] ?? "").toUpperCase() === "BEGIN") begin(name, open, calendars);
    else if (open.pop()?.name !== name) throw new Refusal("malformed_calendar");
  }
  if (open.length > 0) throw new Refusal("malformed_calendar");
  if (calendars.length === 0) throw new Refusal("not_a_calendar");
  return calendars;
}

function begin(name: string, open: Open[], calendars: Calendar[]): void {
  const parent = open.at(-1);
  // The path of what is read stays short; below anything else there is nothing to read.
  const path = parent === undefined ? name : parent.path === "" ? "" : `${parent.path}/${name}`;
  if (path === "VCALENDAR") {
    calendars.push({ zones: [], events: [] });
    open.push({ name, path });
    return;
  }
  if (READ[path] === undefined) {
    open.push({ name, path: "" });
    return;
  }
  const component: Component = { name, properties: [], parts: [] };
  const calendar = calendars.at(-1);
  if (name === "VEVENT") calendar?.events.push(component);
  else if (name === "VTIMEZONE") calendar?.zones.push(component);
  else parent?.component?.parts.push(component);
  open.push({ name, path, component });
}

/** A line up to its value. What stands in quotes may hold anything. */
const HEAD = /^(?:[^":]|"[^"]*")*:/;

/** The parser takes the square of a head's length. */
const HEAD_LENGTH = 2000;

function property(line: string): Property {
  const [head] = HEAD.exec(line.slice(0, HEAD_LENGTH)) ?? [];
  try {
    if (head === undefined) throw new Error("no value");
    const [name, params, type] = ICAL.parse.property(head, AS_TEXT) as [
      string,
      Property["params"],
      string,
    ];
    const value = line.slice(head.length);
    // The parser takes VALUE out of the parameters.
    return { name, params: type === "unknown" ? params : { ...params, value: type }, value };
  } catch {
    throw new Refusal("invalid_event", line.split(/[;:]/, 1)[0]);
  }
}

/** An attendee that cannot be read has not declined. */
function attendee(line: string): Property[] {
  try {
    return [property(line)];
  } catch {
    return [];
  }
}

export function all(component: Component, name: string): Property[] {
  return component.properties.filter((property) => property.name === name);
}

/** The one property of a name. Of two nobody can say which is meant. */
export function one(component: Component, name: string): Property | undefined {
  const found = all(component, name);
  if (found.length > 1) throw new Refusal("invalid_event", name.toUpperCase());
  return found[0];
}

export function param(property: Property, name: string): string | undefined {
  const value = property.params[name];
  return Array.isArray(value) ? value[0] : value;
}

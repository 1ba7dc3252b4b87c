/** Feeds as a calendar program reads them, by a parser that did not write them. */
import ICAL from "ical.js";

export interface FeedEvent {
  uid: string;
  sequence: number;
  stamp: string;
  start: string;
  end: string;
  status: string | null;
  summary: string;
  description: string | null;
  location: string | null;
}

export interface ReadCalendar {
  component: ICAL.Component;
  events: FeedEvent[];
}

export function readCalendar(body: string): ReadCalendar {
  const component = new ICAL.Component(ICAL.parse(body));
  const events = component.getAllSubcomponents("vevent").map((event) => {
    const value = (name: string) => event.getFirstPropertyValue(name);
    const text = (name: string) => value(name)?.toString() ?? null;
    const instant = (name: string) => (value(name) as ICAL.Time).toJSDate().toISOString();
    return {
      uid: text("uid") ?? "",
      sequence: Number(value("sequence")),
      stamp: instant("dtstamp"),
      start: instant("dtstart"),
      end: instant("dtend"),
      status: text("status"),
      summary: text("summary") ?? "",
      description: text("description"),
      location: text("location"),
    };
  });
  return { component, events };
}

/** Entries for calendars, read back by a parser that is not the generator's. */
import ICAL from "ical.js";
import { describe, expect, test } from "vitest";
import {
  ALL_MAILS,
  booking,
  type Changes,
  client,
  mailOf,
  sender,
} from "../../support/mail-facts.ts";

function entryOf(kind: string, changes: Changes = {}) {
  const [attachment, ...more] = mailOf("client", kind, changes).attachments;
  expect(more).toEqual([]);
  if (!attachment) throw new Error("no entry");
  const calendar = new ICAL.Component(ICAL.parse(attachment.content));
  const events = calendar.getAllSubcomponents("vevent");
  expect(events).toHaveLength(1);
  const event = events[0] as ICAL.Component;
  const text = (name: string) => event.getFirstPropertyValue(name)?.toString() ?? null;
  return { attachment, calendar, event, text };
}

const CANCELLED: Changes = { booking: { status: "cancelled" } };

describe("an entry", () => {
  test("of a confirmed booking is an invitation that needs no answer", () => {
    const { attachment, calendar, event, text } = entryOf("booking_confirmed");
    expect(attachment.filename).toBe("invite.ics");
    expect(attachment.content_type).toBe("text/calendar; charset=utf-8; method=REQUEST");
    expect(calendar.getFirstPropertyValue("method")).toBe("REQUEST");
    expect(text("uid")).toBe(booking.id);
    expect(event.getFirstPropertyValue("sequence")).toBe(booking.version);
    expect(text("dtstamp")).toBe("2026-11-20T08:15:30Z");
    expect(text("status")).toBe("CONFIRMED");
    expect(text("summary")).toBe("Massage with Ana Bianchi");
    expect(text("description")).toBe("Bring a towel");
    expect(text("organizer")).toBe(`mailto:${sender.email}`);
    expect(event.getFirstProperty("organizer")?.getParameter("cn")).toBe("Ana Bianchi");
    const attendees = event.getAllProperties("attendee");
    expect(attendees).toHaveLength(1);
    const [attendee] = attendees as [ICAL.Property];
    expect(String(attendee.getFirstValue()).toLowerCase()).toBe(`mailto:${client.email}`);
    expect(attendee.getParameter("cn")).toBe("Marta Rossi");
    expect(attendee.getParameter("rsvp")).toBe("FALSE");
    expect(attendee.getParameter("partstat")).toBe("ACCEPTED");
  });

  test("has the instants of the booking in UTC, whatever the zone", () => {
    const { attachment, text } = entryOf("booking_confirmed", {
      professional: { time_zone: "Asia/Kathmandu" },
    });
    expect(text("dtstart")).toBe("2026-11-27T09:00:00Z");
    expect(text("dtend")).toBe("2026-11-27T10:30:00Z");
    expect(attachment.content).not.toContain("TZID");
  });

  test.each([
    ["the first", "2026-10-25T00:30:00.000Z"],
    ["the second", "2026-10-25T01:30:00.000Z"],
  ])("of %s 02:30 on the night clocks go back is at its own instant", (_, starts_at) => {
    const ends_at = new Date(Date.parse(starts_at) + 900_000).toISOString();
    const { event } = entryOf("booking_confirmed", { booking: { starts_at, ends_at } });
    const start = event.getFirstPropertyValue("dtstart") as ICAL.Time;
    expect(start.toJSDate().toISOString()).toBe(starts_at);
    expect(start.zone.tzid).toBe("UTC");
  });

  test("of a moved booking is the same entry in a later version", () => {
    const moved = {
      version: 5,
      starts_at: "2026-11-28T09:00:00.000Z",
      ends_at: "2026-11-28T10:00:00.000Z",
    };
    const { event, text, calendar } = entryOf("booking_moved", { booking: moved });
    expect(calendar.getFirstPropertyValue("method")).toBe("REQUEST");
    expect(text("uid")).toBe(booking.id);
    expect(event.getFirstPropertyValue("sequence")).toBe(5);
    expect(text("dtstart")).toBe("2026-11-28T09:00:00Z");
  });

  test("of a cancelled booking takes it out of the calendar", () => {
    const { attachment, calendar, event, text } = entryOf("booking_cancelled", CANCELLED);
    expect(attachment.content_type).toContain("method=CANCEL");
    expect(calendar.getFirstPropertyValue("method")).toBe("CANCEL");
    expect(text("status")).toBe("CANCELLED");
    expect(text("uid")).toBe(booking.id);
    expect(event.getAllProperties("attendee")).toHaveLength(1);
  });

  test.each([
    ["booking_confirmed", {}, "CONFIRMED"],
    ["booking_moved", {}, "CONFIRMED"],
    ["booking_cancelled", CANCELLED, "CANCELLED"],
  ])("to an address that has not proved itself is a file to open (%s)", (kind, changes, status) => {
    const { attachment, calendar, event, text } = entryOf(kind, {
      ...changes,
      client: { proven: false },
    });
    expect(attachment.filename).toBe("booking.ics");
    expect(attachment.content_type).toBe("text/calendar; charset=utf-8; method=PUBLISH");
    expect(calendar.getFirstPropertyValue("method")).toBe("PUBLISH");
    expect(event.getAllProperties("attendee")).toEqual([]);
    expect(text("status")).toBe(status);
  });

  test("comes with what is confirmed, moved and cancelled, to clients, and with nothing else", () => {
    const withEntry = ALL_MAILS.filter(
      ([audience, kind, changes]) => mailOf(audience, kind, changes).attachments.length > 0,
    ).map(([audience, kind]) => `${audience} ${kind}`);
    expect([...new Set(withEntry)].sort()).toEqual([
      "client booking_cancelled",
      "client booking_confirmed",
      "client booking_moved",
    ]);
  });

  test("comes with no time that still has to be confirmed", () => {
    const pending: Changes = { booking: { status: "pending" } };
    expect(mailOf("client", "booking_moved", pending).attachments).toEqual([]);
  });

  test("has no link that changes the booking: calendars are shared", () => {
    expect(entryOf("booking_confirmed").attachment.content).not.toContain("portal.example");
  });

  test("has only what the booker typed if the mail may have it", () => {
    const { attachment, event } = entryOf("booking_confirmed", {
      may_quote: false,
      client: { name: "TYPED" },
      booking: { notes: "TYPED" },
    });
    expect(attachment.content).not.toContain("TYPED");
    expect(event.getFirstProperty("attendee")?.getParameter("cn")).toBeUndefined();
  });

  test.each([
    ["a line break", "Eve\r\nEND:VEVENT\r\nBEGIN:VEVENT"],
    ["syntax", `Eve;X=1:"a",b\\n^n`],
    ["a long text of emoji", "👨‍👩‍👧".repeat(25)],
    ["letters from the right", "אנה ביאנקי"],
  ])("%s in what is typed stays a text", (_, typed) => {
    const { event, text, attachment } = entryOf("booking_confirmed", {
      professional: { full_name: typed },
      client: { name: typed },
      booking: { service_name: typed, location: typed, instructions: typed },
    });
    const oneLine = typed.replace(/\s+/g, " ");
    expect(text("summary")?.startsWith(`${oneLine} with `)).toBe(true);
    expect(text("description")).toBe(typed.replaceAll("\r\n", "\n"));
    for (const property of ["organizer", "attendee"]) {
      expect(event.getFirstProperty(property)?.getParameter("cn")).not.toMatch(/["\r\n^\\]/);
    }
    for (const line of attachment.content.split("\r\n")) {
      expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(75);
    }
    expect(attachment.content.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  test("is in the client's language, and the same bytes each time", () => {
    const entry = () => entryOf("booking_confirmed", { language: "it" });
    expect(entry().text("summary")).toBe("Massage con Ana Bianchi");
    expect(entry().attachment.content).toBe(entry().attachment.content);
  });
});

/** Feeds as text: read back by a parser that is not ours, and by the rules of the format. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Feed,
  type FeedEntry,
  feedCalendar,
} from "../../../supabase/functions/calendar/feed-calendar.ts";
import { LANGUAGES } from "../../../supabase/functions/mail/texts/index.ts";
import { readCalendar } from "../../support/feeds.ts";
import { booking as mailed, mailOf } from "../../support/mail-facts.ts";

const entry: FeedEntry = {
  id: "a0000000-0000-4000-8000-000000000001",
  version: 3,
  updated_at: "2027-02-20T08:15:30.250Z",
  starts_at: "2027-03-01T09:00:00.000Z",
  ends_at: "2027-03-01T10:30:00.000Z",
  status: "confirmed",
  service_name: "Massage",
  location: "Via Roma 1\nMilano",
  client_name: "Marta Rossi",
  client_email: "marta@example.com",
  client_phone: "+39 333 1234567",
  notes: "Please ring twice",
};

const blocked: FeedEntry = {
  ...entry,
  service_name: null,
  location: null,
  client_name: null,
  client_email: null,
  client_phone: null,
  notes: null,
};

const full = (...entries: FeedEntry[]): Feed => ({
  name: "My phone",
  detail: "full",
  language: "en",
  time_zone: "Europe/Rome",
  entries,
});

const eventOf = (values: Partial<FeedEntry>) => {
  const { events } = readCalendar(feedCalendar(full({ ...entry, ...values })));
  expect(events).toHaveLength(1);
  return events[0];
};

describe("a feed", () => {
  test("says whose it is, in which zone, and how often to ask again", () => {
    const { component } = readCalendar(feedCalendar(full()));
    const value = (name: string) => component.getFirstPropertyValue(name)?.toString();
    expect(value("version")).toBe("2.0");
    expect(value("prodid")).toBe("-//scheduling-and-commerce//calendar//EN");
    expect(value("name")).toBe("My phone");
    expect(value("x-wr-calname")).toBe("My phone");
    expect(value("x-wr-timezone")).toBe("Europe/Rome");
    expect(value("refresh-interval")).toBe("PT15M");
    expect(value("x-published-ttl")).toBe("PT15M");
    // RFC 5546 would want an organizer of what is published.
    expect(component.getFirstProperty("method")).toBeNull();
    expect(component.getAllSubcomponents("vevent")).toEqual([]);
  });

  test("has a booking with its service, client, contact and notes", () => {
    expect(eventOf({})).toEqual({
      uid: entry.id,
      sequence: 3,
      stamp: "2027-02-20T08:15:30.000Z",
      start: "2027-03-01T09:00:00.000Z",
      end: "2027-03-01T10:30:00.000Z",
      status: "CONFIRMED",
      summary: "Massage – Marta Rossi",
      description:
        "Client: Marta Rossi\nPhone: +39 333 1234567\nE-mail: marta@example.com\n\nPlease ring twice",
      location: "Via Roma 1, Milano",
    });
  });

  test("leaves out what is not known", () => {
    expect(
      eventOf({ client_email: null, client_phone: null, notes: null, location: null }),
    ).toMatchObject({ description: "Client: Marta Rossi", location: null });
  });

  test.each([
    ["pending", "TENTATIVE"],
    ["confirmed", "CONFIRMED"],
    ["completed", "CONFIRMED"],
    ["no_show", "CONFIRMED"],
  ] as const)("shows what is %s as %s", (status, shown) => {
    expect(eventOf({ status })?.status).toBe(shown);
  });

  test("has blocked time without anybody", () => {
    const { events } = readCalendar(
      feedCalendar(full(blocked, { ...blocked, notes: "Dentist\nTake the bus" })),
    );
    expect(events).toMatchObject([
      { summary: "Blocked", description: null, location: null },
      { summary: "Blocked", description: "Dentist\nTake the bus", location: null },
    ]);
  });

  test("of busy times says when, and nothing else", () => {
    const { id, version, updated_at, starts_at, ends_at } = entry;
    const { events } = readCalendar(
      feedCalendar({
        ...full(),
        detail: "busy",
        entries: [{ id, version, updated_at, starts_at, ends_at }],
      } as Feed),
    );
    expect(events).toEqual([
      {
        uid: id,
        sequence: 3,
        stamp: "2027-02-20T08:15:30.000Z",
        start: starts_at,
        end: ends_at,
        status: null,
        summary: "Busy",
        description: null,
        location: null,
      },
    ]);
  });

  test("shows nobody in busy times, whatever it is given", () => {
    const body = feedCalendar({ ...full(entry), detail: "busy" } as Feed);
    expect(body).not.toMatch(/Massage|Marta|Roma|333|ring/);
    expect(body).toContain("SUMMARY:Busy\r\n");
  });

  test.each(LANGUAGES)("has words of its own in %s", (language) => {
    const { events } = readCalendar(feedCalendar({ ...full(entry, blocked), language } as Feed));
    expect(events[0]?.description).toMatch(
      language === "en" ? /^Client: Marta/ : /^Cliente: Marta/,
    );
    expect(events[1]?.summary).toBe(language === "en" ? "Blocked" : "Bloccato");
  });

  test("in a language that the database knows and this function does not is in English", () => {
    const feed = { ...full(blocked), language: "xx" } as unknown as Feed;
    expect(readCalendar(feedCalendar(feed)).events[0]?.summary).toBe("Blocked");
  });

  test("gives a booking the identity that the mail to its client gives it", () => {
    const mail = mailOf("client", "booking_confirmed", {}).attachments[0]?.content ?? "";
    const [sent] = readCalendar(mail).events;
    const [shown] = readCalendar(
      feedCalendar(
        full({ ...entry, id: mailed.id, version: mailed.version, updated_at: mailed.updated_at }),
      ),
    ).events;
    expect([shown?.uid, shown?.sequence, shown?.stamp]).toEqual([
      sent?.uid,
      sent?.sequence,
      sent?.stamp,
    ]);
  });
});

describe("what somebody typed", () => {
  test("ends no property and begins none", () => {
    const attack = "x\r\nEND:VEVENT\nBEGIN:VALARM\rATTACH:https://evil.example\u2028X:1;Y,Z\\n";
    const body = feedCalendar(
      full({
        ...entry,
        service_name: attack,
        client_name: attack,
        client_phone: attack,
        client_email: attack,
        location: attack,
        notes: attack,
      }),
    );
    const { component, events } = readCalendar(feedCalendar({ ...full(), name: attack }));
    expect(component.getAllProperties().map(({ name }) => name)).toHaveLength(8);
    expect(events).toEqual([]);
    const [event] = readCalendar(body).component.getAllSubcomponents("vevent");
    expect(event?.getAllProperties().map(({ name }) => name)).toEqual([
      "uid",
      "sequence",
      "dtstamp",
      "dtstart",
      "dtend",
      "status",
      "summary",
      "description",
      "location",
    ]);
    expect(event?.getAllSubcomponents()).toEqual([]);
    const one = "x END:VEVENT BEGIN:VALARM ATTACH:https://evil.example X:1;Y,Z\\n";
    const lines = ["x", "END:VEVENT", "BEGIN:VALARM", "ATTACH:https://evil.example", "X:1;Y,Z\\n"];
    expect(readCalendar(body).events[0]).toMatchObject({
      summary: `${one} – ${one}`,
      location: lines.join(", "),
      description: [`Client: ${one}`, `Phone: ${one}`, `E-mail: ${one}`, "", ...lines].join("\n"),
    });
  });

  test("neither turns a line around nor ends it in half a character", () => {
    const event = eventOf({ client_name: "A\u202Eb\u0000c\uD83D", notes: null });
    expect(event?.summary).toBe("Massage – A b c\uFFFD");
  });

  const typed = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.string({ unit: "binary", maxLength: 300 }),
    fc
      .array(fc.constantFrom("💆", "👩‍👩‍👧", "è", "a", "\\", ";", ",", "\n", "\r", "漢"), {
        maxLength: 200,
      })
      .map((parts) => parts.join("")),
  );

  test("is read back as it was, on lines of at most 75 octets", () => {
    fc.assert(
      fc.property(typed, typed, (notes, name) => {
        const body = feedCalendar(full({ ...blocked, notes }, { ...entry, client_name: name }));
        expect(body.endsWith("END:VCALENDAR\r\n")).toBe(true);
        for (const line of body.split("\r\n")) {
          expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
          // A character that was cut would come back as another one.
          expect(Buffer.from(line).toString()).toBe(line);
          expect(line).not.toMatch(/[\r\n]/);
        }
        const bare = (text: string) => text.replace(/[\s\p{Cc}\p{Bidi_Control}]+/gu, "");
        const [first, second] = readCalendar(body).events;
        expect(bare(first?.description ?? "")).toBe(bare(notes).replace(/\p{Cs}/gu, "\uFFFD"));
        const client = bare(name).replace(/\p{Cs}/gu, "\uFFFD") || "?";
        expect(bare(second?.summary ?? "")).toBe(`Massage–${client}`);
      }),
      { seed: Number(process.env.FUZZ_SEED ?? 1), numRuns: 300 },
    );
  });

  test.each([-2, -1, 0, 1, 2, 3])(
    "is folded beside an emoji, never in it: %i octets further",
    (before) => {
      const notes = `${"a".repeat(60 + before)}💆${"b".repeat(80)}`;
      const body = feedCalendar(full({ ...blocked, notes }));
      // DESCRIPTION: and its text.
      const [first = "", second = ""] = body.slice(body.indexOf("DESCRIPTION:")).split("\r\n");
      const fits = before <= -1;
      expect(Buffer.byteLength(first)).toBe(fits ? 75 : 72 + before);
      expect(second.startsWith(fits ? " b" : " 💆b")).toBe(true);
      expect(Buffer.byteLength(second)).toBe(75);
      expect(readCalendar(body).events[0]?.description).toBe(notes);
    },
  );
});

/** The least of several runs: the tests beside it make the machine slow, not what is measured. */
function leastTime(...works: (() => unknown)[]): number[] {
  const least = works.map(() => Number.POSITIVE_INFINITY);
  for (let run = 0; run < 6; run++) {
    for (const [at, work] of works.entries()) {
      const begun = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(begun);
      least[at] = Math.min(least[at] as number, user + system);
    }
  }
  return least;
}

// Reading that JSON takes about 30 ms of processor time, and the platform allows a call 2 s: at 30 times
// as long, half of that is left. It is about 10 times; the generator of mails' entries takes hundreds.
test("5 000 bookings with all that they may say are written within the platform's limits", () => {
  const notes = "Please ring twice 🔔, wait; è ".repeat(40).slice(0, 1000);
  const entries = Array.from({ length: 5000 }, (_, i) => ({ ...entry, version: i, notes }));
  const json = JSON.stringify(full(...entries));
  const feed = JSON.parse(json) as Feed;
  expect(feedCalendar(feed).length).toBeGreaterThan(5_000_000);

  const [reading = 0, writing = 0] = leastTime(
    () => JSON.parse(json),
    () => feedCalendar(feed),
  );
  expect(writing / reading).toBeLessThan(30);
});

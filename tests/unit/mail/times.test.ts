import { describe, expect, test } from "vitest";
import { times } from "../../../supabase/functions/mail/times.ts";
import { mailOf } from "../../support/mail-facts.ts";

const FIRST = { starts_at: "2026-10-25T00:30:00.000Z", ends_at: "2026-10-25T00:45:00.000Z" };
const SECOND = { starts_at: "2026-10-25T01:30:00.000Z", ends_at: "2026-10-25T01:45:00.000Z" };

describe("times in a mail", () => {
  test.each([
    ["en", /Friday,? 27 November 2026, 10:00–11:30 \(Central European Standard Time, GMT\+1\)/],
    ["it", /venerdì 27 novembre 2026, 10:00–11:30 \(Ora standard dell’Europa centrale, GMT\+1\)/],
  ])("are in the professional's zone with its name (%s)", (language, expected) => {
    const { text, html, subject } = mailOf("client", "booking_confirmed", { language });
    expect(text).toMatch(expected);
    expect(html).toMatch(expected);
    expect(subject).toMatch(/27 nov, 10:00$/i);
  });

  test("02:30 on the night clocks go back is told apart, in subject, text and HTML", () => {
    const first = mailOf("client", "booking_confirmed", { booking: FIRST });
    const second = mailOf("client", "booking_confirmed", { booking: SECOND });
    expect(first.subject).toMatch(/25 Oct, 02:30 \(GMT\+2\)$/);
    expect(second.subject).toMatch(/25 Oct, 02:30 \(GMT\+1\)$/);
    for (const part of ["text", "html"] as const) {
      expect(first[part]).toContain("02:30–02:45 (Central European Summer Time, GMT+2)");
      expect(second[part]).toContain("02:30–02:45 (Central European Standard Time, GMT+1)");
    }
  });

  test("a booking over the change says both", () => {
    const { text } = mailOf("client", "booking_confirmed", {
      booking: { starts_at: FIRST.starts_at, ends_at: SECOND.starts_at },
    });
    expect(text).toContain(
      "02:30 (Central European Summer Time, GMT+2) – 02:30 (Central European Standard Time, GMT+1)",
    );
  });

  test("a booking past midnight says both days", () => {
    const { text } = mailOf("client", "booking_confirmed", {
      booking: { starts_at: "2026-11-27T21:00:00.000Z", ends_at: "2026-11-28T00:00:00.000Z" },
    });
    expect(text).toMatch(/27 November 2026, 22:00 – Saturday,? 28 November 2026, 01:00 \(/);
  });

  test("Kathmandu is three quarters of an hour off", () => {
    const changes = { professional: { time_zone: "Asia/Kathmandu" } };
    expect(mailOf("client", "booking_confirmed", changes).text).toContain(
      "14:45–16:15 (Nepal Time, GMT+5:45)",
    );
  });

  test("a zone that the runtime does not know is told in UTC", () => {
    const changes = { professional: { time_zone: "Mars/Olympus" } };
    expect(mailOf("client", "booking_confirmed", changes).text).toMatch(
      /09:00–10:30 \(Coordinated Universal Time, GMT\+0\)/,
    );
  });

  test("the time until which it can be changed has its zone, and is left out where it is the start", () => {
    expect(mailOf("client", "booking_confirmed").text).toMatch(
      /until Thursday,? 26 November 2026, 10:00 \(Central European Standard Time, GMT\+1\)\./,
    );
    const changes = { booking: { cancel_until: "2026-11-27T09:00:00.000Z" } };
    expect(mailOf("client", "booking_confirmed", changes).text).not.toContain("until");
  });
});

const HALF_HOUR = 1_800_000;
const WEEK = 7 * 24 * 2 * HALF_HOUR;
const YEAR = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)] as const;

/** Instants of 2026 at which a zone's clocks change, to half an hour. */
function clockChanges(zone: string): number[] {
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  const offset = (at: number) =>
    format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value;
  const found: number[] = [];
  for (let week = YEAR[0]; week < YEAR[1]; week += WEEK) {
    let [before, after] = [week, week + WEEK];
    if (offset(before) === offset(after)) continue;
    while (after - before > HALF_HOUR) {
      const middle = before + Math.floor((after - before) / HALF_HOUR / 2) * HALF_HOUR;
      if (offset(middle) === offset(before)) before = middle;
      else after = middle;
    }
    found.push(after);
  }
  return found;
}

test("around no change of clocks in the world do two instants read the same", () => {
  const same: string[] = [];
  let changes = 0;
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    const { brief, moment } = times("en-GB", zone);
    for (const change of clockChanges(zone)) {
      changes++;
      const instants = Array.from({ length: 13 }, (_, n) => change + (n - 6) * HALF_HOUR);
      for (const read of [brief, moment]) {
        const texts = new Set(instants.map((at) => read(new Date(at).toISOString())));
        if (texts.size !== instants.length) same.push(zone);
      }
    }
  }
  expect(same).toEqual([]);
  expect(changes).toBeGreaterThan(50);
});

/** Which events block, and when: kinds of time, series and their exceptions. */
import { describe, expect, test } from "vitest";
import { busy, calendar, event, read } from "./ics.ts";

const NINE = ["DTSTART:20260310T090000Z", "DTEND:20260310T100000Z"];
const NINE_IS_BUSY = ["2026-03-10T09:00Z/2026-03-10T10:00Z"];

describe("an event", () => {
  test("blocks its time", () => {
    expect(busy(calendar(event(...NINE)))).toEqual(NINE_IS_BUSY);
  });

  test.each<[string, string]>([
    ["STATUS:CANCELLED", "cancelled"],
    ["status:cancelled", "cancelled"],
    ["TRANSP:TRANSPARENT", "transparent"],
    ["ATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.com", "declined"],
    ['ATTENDEE;CN="Love, A: lace";PARTSTAT=declined:MAILTO:ADA@example.COM', "declined"],
    ["ATTENDEE;PARTSTAT=DECLINED;EMAIL=ada@example.com:urn:uuid:1", "declined"],
    [
      'ATTENDEE;MEMBER="mailto:a@b.c","mailto:d@e.f";PARTSTAT=DECLINED:mailto:ada@example.com',
      "declined",
    ],
    ["UID:a-booking@ours", "own"],
    ["UID: a-booking@ours ", "own"],
  ])("does not with %s", (line, why) => {
    const none = { own: 0, cancelled: 0, transparent: 0, declined: 0 };
    expect(read(calendar(event(line, ...NINE)))).toEqual({
      ranges: [],
      skipped: { ...none, [why]: 1 },
    });
  });

  test.each([
    "STATUS:TENTATIVE",
    "STATUS:CONFIRMED",
    "TRANSP:OPAQUE",
    "ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com",
    "ATTENDEE;PARTSTAT=ACCEPTED:mailto:ada@example.com",
    "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ada@example.com",
    "ATTENDEE;CN=DECLINED:mailto:ada@example.com",
    "ATTENDEE;PARTSTAT=DECLINED;=:mailto:ada@example.com",
    "X-STATUS:CANCELLED",
    "UID:a-booking@ours.example.com",
    "CLASS:PRIVATE",
  ])("does with %s", (line) => {
    expect(busy(calendar(event(line, ...NINE)))).toEqual(NINE_IS_BUSY);
  });

  test("of the professional's own is not even read", () => {
    expect(busy(calendar(event("UID:1@ours", "DTSTART:never", "RRULE:FREQ=SECONDLY")))).toEqual([]);
  });

  test("that does not block needs no zone that is known, nor has an old one", () => {
    const text = calendar(
      event("DTSTART;TZID=Nowhere:20260310T090000", "DURATION:PT1H", "TRANSP:TRANSPARENT"),
      event("DTSTART;TZID=Nowhere:20090310T090000", "DTEND;TZID=Nowhere:20090310T100000"),
      event(
        "DTSTART;TZID=Nowhere:20090310T090000",
        "DURATION:PT1H",
        "RRULE:FREQ=DAILY;UNTIL=20100101T000000Z",
      ),
    );
    expect(busy(text)).toEqual([]);
  });

  test.each<[string, string[], string[]]>([
    [
      "a length in hours",
      ["DTSTART:20260310T090000Z", "DURATION:PT1H30M"],
      ["2026-03-10T09:00Z/2026-03-10T10:30Z"],
    ],
    [
      "a length in weeks",
      ["DTSTART:20260310T090000Z", "DURATION:P1W"],
      ["2026-03-10T09:00Z/2026-03-17T09:00Z"],
    ],
    [
      "a nominal day, which is 23 hours",
      ["DTSTART;TZID=Europe/Rome:20260328T120000", "DURATION:P1D"],
      ["2026-03-28T11:00Z/2026-03-29T10:00Z"],
    ],
    [
      "24 exact hours over the same night",
      ["DTSTART;TZID=Europe/Rome:20260328T120000", "DURATION:PT24H"],
      ["2026-03-28T11:00Z/2026-03-29T11:00Z"],
    ],
    ["no end", ["DTSTART:20260310T090000Z"], []],
    ["a length below nothing", ["DTSTART:20260310T090000Z", "DURATION:-PT1H"], []],
    ["an end before its start", ["DTSTART:20260310T090000Z", "DTEND:20260310T080000Z"], []],
    [
      "several days",
      ["DTSTART:20260310T220000Z", "DTEND:20260312T060000Z"],
      ["2026-03-10T22:00Z/2026-03-12T06:00Z"],
    ],
    [
      "a start before the window",
      ["DTSTART:20200101T000000Z", "DTEND:20260301T010000Z"],
      ["2026-03-01T00:00Z/2026-03-01T01:00Z"],
    ],
    [
      "an end after the window",
      ["DTSTART:20260430T230000Z", "DURATION:P300D"],
      ["2026-04-30T23:00Z/2026-05-01T00:00Z"],
    ],
    [
      "the whole window",
      ["DTSTART:00010101T000000Z", "DTEND:99991231T235959Z"],
      ["2026-03-01T00:00Z/2026-05-01T00:00Z"],
    ],
    ["an end where the window begins", ["DTSTART:20260228T230000Z", "DTEND:20260301T000000Z"], []],
    ["a start where the window ends", ["DTSTART:20260501T000000Z", "DURATION:PT1H"], []],
    [
      "two zones",
      ["DTSTART;TZID=Europe/Rome:20260310T090000", "DTEND;TZID=America/New_York:20260310T090000"],
      ["2026-03-10T08:00Z/2026-03-10T13:00Z"],
    ],
    [
      "a floating time",
      ["DTSTART:20260310T090000", "DURATION:PT1H"],
      ["2026-03-10T08:00Z/2026-03-10T09:00Z"],
    ],
    ["a leap second", ["DTSTART:20260310T085960Z", "DURATION:PT1H"], NINE_IS_BUSY],
  ])("with %s", (_, lines, ranges) => {
    expect(busy(calendar(event(...lines)))).toEqual(ranges);
  });

  test.each<[string, string[], string[]]>([
    ["one", ["DTSTART;VALUE=DATE:20260310"], ["2026-03-09T23:00Z/2026-03-10T23:00Z"]],
    ["one without VALUE", ["DTSTART:20260310"], ["2026-03-09T23:00Z/2026-03-10T23:00Z"]],
    [
      "two",
      ["DTSTART;VALUE=DATE:20260310", "DTEND;VALUE=DATE:20260312"],
      ["2026-03-09T23:00Z/2026-03-11T23:00Z"],
    ],
    [
      "two by length",
      ["DTSTART;VALUE=DATE:20260310", "DURATION:P2D"],
      ["2026-03-09T23:00Z/2026-03-11T23:00Z"],
    ],
    [
      "one by an end on the same day",
      ["DTSTART;VALUE=DATE:20260310", "DTEND;VALUE=DATE:20260310"],
      ["2026-03-09T23:00Z/2026-03-10T23:00Z"],
    ],
    ["one of 23 hours", ["DTSTART;VALUE=DATE:20260329"], ["2026-03-28T23:00Z/2026-03-29T22:00Z"]],
    [
      "each of a week",
      ["DTSTART;VALUE=DATE:20260327", "RRULE:FREQ=WEEKLY;COUNT=2"],
      ["2026-03-26T23:00Z/2026-03-27T23:00Z", "2026-04-02T22:00Z/2026-04-03T22:00Z"],
    ],
    [
      "until a date",
      ["DTSTART;VALUE=DATE:20260310", "RRULE:FREQ=DAILY;UNTIL=20260311"],
      ["2026-03-09T23:00Z/2026-03-11T23:00Z"],
    ],
    [
      "until an instant",
      ["DTSTART;VALUE=DATE:20260310", "RRULE:FREQ=DAILY;UNTIL=20260311T000000Z"],
      ["2026-03-09T23:00Z/2026-03-11T23:00Z"],
    ],
    [
      "at hours, which a day does not have",
      ["DTSTART;VALUE=DATE:20260310", "RRULE:FREQ=DAILY;COUNT=1;BYHOUR=9,17"],
      ["2026-03-09T23:00Z/2026-03-10T23:00Z"],
    ],
  ])("of days blocks the local ones: %s", (_, lines, ranges) => {
    expect(busy(calendar(event(...lines)))).toEqual(ranges);
  });

  test("of a day that begins an hour late begins then", () => {
    const options = {
      timeZone: "America/Santiago",
      from: new Date("2026-09-05"),
      to: new Date("2026-09-08"),
    };
    expect(busy(calendar(event("DTSTART;VALUE=DATE:20260906")), options)).toEqual([
      "2026-09-06T04:00Z/2026-09-07T03:00Z",
    ]);
  });

  const START = "DTSTART:20260310T090000Z";
  test.each<[string, string[]]>([
    ["DTSTART", ["SUMMARY:without a start"]],
    ["DTSTART", ["DTSTART:20260310T0900Z"]],
    ["DTSTART", ["DTSTART:2026-03-10T09:00:00Z"]],
    ["DTSTART", ["DTSTART:20260230T090000Z"]],
    ["DTSTART", ["DTSTART:20261301T090000Z"]],
    ["DTSTART", ["DTSTART:00000101T090000Z"]],
    ["DTSTART", ["DTSTART:20260310T240000Z"]],
    ["DTSTART", ["DTSTART:"]],
    ["DTSTART", ['DTSTART;TZID="Europe/Rome:20260310T090000']],
    ["DTSTART", ["DTSTART;=x:20260310T090000Z"]],
    ["DTSTART", [START, "DTSTART:20260311T090000Z"]],
    ["DTEND", [START, "DTEND:later"]],
    ["DURATION", [START, "DURATION:P"]],
    ["DURATION", [START, "DURATION:PT"]],
    ["DURATION", [START, "DURATION:P1H"]],
    ["DURATION", [START, "DURATION:1 hour"]],
    ["EXDATE", [START, "RRULE:FREQ=DAILY", "EXDATE:x"]],
    ["RDATE", [START, "RDATE;VALUE=DATE:20260311"]],
    ["RDATE", [START, "RDATE;VALUE=PERIOD:20260311T090000Z/x"]],
    ["RDATE", [START, "RDATE;VALUE=PERIOD:20260311T090000Z/Px"]],
    ["RECURRENCE-ID", [START, "RECURRENCE-ID:yesterday"]],
  ])("that cannot be read is an error that names %s, never free: %j", (name, lines) => {
    expect(busy(calendar(event(...NINE), event(...lines)))).toBe(`invalid_event ${name}`);
  });

  test("keeps to its calendar: nothing it says comes out", () => {
    const text = calendar(
      event(...NINE, "SUMMARY:secret", "LOCATION:secret", "ATTENDEE:mailto:secret"),
    );
    expect(JSON.stringify(read(text))).not.toContain("secret");
  });
});

test("ranges are in order, joined where they touch, and instants in UTC", () => {
  const text = calendar(
    event("DTSTART:20260312T090000Z", "DURATION:PT1H"),
    event("DTSTART:20260310T093000Z", "DURATION:PT1H"),
    event("DTSTART:20260310T090000Z", "DURATION:PT2H"),
    event("DTSTART:20260310T110000Z", "DURATION:PT1H"),
    event("DTSTART:20260310T120001Z", "DURATION:PT1H"),
  );
  expect(read(text)).toMatchObject({
    ranges: [
      { start: "2026-03-10T09:00:00.000Z", end: "2026-03-10T12:00:00.000Z" },
      { start: "2026-03-10T12:00:01.000Z", end: "2026-03-10T13:00:01.000Z" },
      { start: "2026-03-12T09:00:00.000Z", end: "2026-03-12T10:00:00.000Z" },
    ],
  });
});

/** Mondays at nine in Rome, an hour: 9, 16, 23, 30 March, 6, 13 April 2026 and on. */
const MONDAYS = ["UID:series", "DTSTART;TZID=Europe/Rome:20260309T090000", "DURATION:PT1H"];
const SIX = [...MONDAYS, "RRULE:FREQ=WEEKLY;COUNT=6"];
const starts = (text: string) => {
  const found = busy(text);
  return typeof found === "string" ? found : found.map((range) => range.slice(5, 16));
};
const ALL_SIX = [
  "03-09T08:00",
  "03-16T08:00",
  "03-23T08:00",
  "03-30T07:00",
  "04-06T07:00",
  "04-13T07:00",
];
const without = (...at: number[]) => ALL_SIX.filter((_, index) => !at.includes(index));

describe("a series", () => {
  test("happens", () => {
    expect(starts(calendar(event(...SIX)))).toEqual(ALL_SIX);
  });

  test.each<[string, string[], string[]]>([
    ["a time in the zone", ["EXDATE;TZID=Europe/Rome:20260316T090000"], without(1)],
    ["a time in UTC", ["EXDATE:20260316T080000Z"], without(1)],
    ["a time in another zone", ["EXDATE;TZID=Europe/London:20260316T080000"], without(1)],
    [
      "a list, and another line",
      ["EXDATE;TZID=Europe/Rome:20260316T090000,20260330T090000", "EXDATE:20260323T080000Z"],
      without(1, 2, 3),
    ],
    ["its first instance, which COUNT counts", ["EXDATE:20260309T080000Z"], without(0)],
    ["a date", ["EXDATE;VALUE=DATE:20260316"], without(1)],
    ["another time of the day: nothing", ["EXDATE:20260316T090000Z"], ALL_SIX],
    ["nothing at all", ["EXDATE:", "RDATE:"], ALL_SIX],
  ])("is without EXDATE: %s", (_, lines, expected) => {
    expect(starts(calendar(event(...SIX, ...lines)))).toEqual(expected);
  });

  test("of days is without EXDATE as a date or a time on it", () => {
    const text = calendar(
      event(
        "DTSTART;VALUE=DATE:20260310",
        "RRULE:FREQ=DAILY;COUNT=5",
        "EXDATE;VALUE=DATE:20260311",
        "EXDATE:20260313T000000Z",
      ),
    );
    expect(busy(text)).toEqual([
      "2026-03-09T23:00Z/2026-03-10T23:00Z",
      "2026-03-11T23:00Z/2026-03-12T23:00Z",
      "2026-03-13T23:00Z/2026-03-14T23:00Z",
    ]);
  });

  test("has RDATE, too: times, and periods with an end or a length of their own", () => {
    const text = calendar(
      event(
        ...MONDAYS,
        "RDATE;TZID=Europe/Rome:20260310T090000,20260311T090000",
        "RDATE;VALUE=PERIOD:20260312T080000Z/20260312T103000Z,20260313T080000Z/PT15M",
        "RDATE;VALUE=PERIOD:20251231T000000Z/20260301T003000Z",
        "EXDATE:20260311T080000Z",
      ),
    );
    expect(busy(text)).toEqual([
      "2026-03-01T00:00Z/2026-03-01T00:30Z",
      "2026-03-09T08:00Z/2026-03-09T09:00Z",
      "2026-03-10T08:00Z/2026-03-10T09:00Z",
      "2026-03-12T08:00Z/2026-03-12T10:30Z",
      "2026-03-13T08:00Z/2026-03-13T08:15Z",
    ]);
  });

  test("has RDATE after its rule has ended, and from a start before the window", () => {
    const text = calendar(
      event(
        "DTSTART:20200106T090000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;UNTIL=20200201T000000Z",
        "RDATE:20260310T090000Z",
      ),
    );
    expect(busy(text)).toEqual(NINE_IS_BUSY);
  });

  test("may leave out or add what is years away in a zone that nobody knows", () => {
    const far = ";TZID=Nowhere:20160316T090000";
    expect(starts(calendar(event(...SIX, `EXDATE${far}`, `RDATE${far}`)))).toEqual(ALL_SIX);
  });

  test("of long events reaches into the window from before it", () => {
    const text = calendar(
      event("DTSTART:20250101T000000Z", "DURATION:P40D", "RRULE:FREQ=YEARLY;BYMONTH=2"),
    );
    expect(busy(text)).toEqual(["2026-03-01T00:00Z/2026-03-13T00:00Z"]);
  });

  test("with an end keeps its exact length over a change of clocks", () => {
    const text = calendar(
      event(
        "DTSTART;TZID=Europe/Rome:20260321T220000",
        "DTEND;TZID=Europe/Rome:20260322T060000",
        "RRULE:FREQ=WEEKLY;COUNT=2",
      ),
    );
    expect(busy(text)).toEqual([
      "2026-03-21T21:00Z/2026-03-22T05:00Z",
      "2026-03-28T21:00Z/2026-03-29T05:00Z",
    ]);
  });

  test("with an end in another zone keeps its exact length, too", () => {
    const text = calendar(
      event(
        "DTSTART;TZID=Europe/Rome:20260320T090000",
        "DTEND;TZID=America/New_York:20260320T090000",
        "RRULE:FREQ=WEEKLY;COUNT=2",
      ),
    );
    // The first is in the weeks in which only New York has summer time.
    expect(busy(text)).toEqual([
      "2026-03-20T08:00Z/2026-03-20T13:00Z",
      "2026-03-27T08:00Z/2026-03-27T13:00Z",
    ]);
  });

  test("does not block when it is cancelled or transparent, but an instance that stands apart does", () => {
    const apart = event(
      "UID:series",
      "RECURRENCE-ID:20260316T080000Z",
      "DTSTART:20260316T120000Z",
      "DURATION:PT1H",
    );
    for (const line of ["STATUS:CANCELLED", "TRANSP:TRANSPARENT"]) {
      expect(starts(calendar(event(...SIX, line), apart))).toEqual(["03-16T12:00"]);
    }
  });

  test.each([
    "EXRULE:FREQ=WEEKLY",
    "RRULE:FREQ=HOURLY",
    "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
  ])("is refused, not free, with %s", (line) => {
    const detail = line.startsWith("EX") ? line : line.replace("RRULE:", "");
    expect(starts(calendar(event(...SIX, line)))).toBe(`rule_refused ${detail}`);
  });
});

describe("an instance that stands apart", () => {
  const apart = (replaces: string, ...lines: string[]) =>
    event("UID:series", `RECURRENCE-ID${replaces}`, ...lines);
  const ROME = ";TZID=Europe/Rome:20260316T090000";

  test.each<[string, string, string[], string[]]>([
    [
      "moved within the window",
      ROME,
      ["DTSTART:20260317T120000Z", "DURATION:PT1H"],
      ["03-17T12:00"],
    ],
    [
      "named in UTC",
      ":20260316T080000Z",
      ["DTSTART:20260317T120000Z", "DURATION:PT1H"],
      ["03-17T12:00"],
    ],
    [
      "named by its date",
      ";VALUE=DATE:20260316",
      ["DTSTART:20260317T120000Z", "DURATION:PT1H"],
      ["03-17T12:00"],
    ],
    ["moved out of the window", ROME, ["DTSTART:20260617T120000Z", "DURATION:PT1H"], []],
    [
      "cancelled",
      ROME,
      ["DTSTART;TZID=Europe/Rome:20260316T090000", "DURATION:PT1H", "STATUS:CANCELLED"],
      [],
    ],
    [
      "cancelled, with the rule of its series",
      ROME,
      ["DTSTART:20260316T080000Z", "RRULE:FREQ=WEEKLY", "STATUS:CANCELLED"],
      [],
    ],
    [
      "made transparent",
      ROME,
      ["DTSTART:20260316T080000Z", "DURATION:PT1H", "TRANSP:TRANSPARENT"],
      [],
    ],
    [
      "declined",
      ROME,
      [
        "DTSTART:20260316T080000Z",
        "DURATION:PT1H",
        "ATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.com",
      ],
      [],
    ],
    ["with a date", ROME, ["DTSTART;VALUE=DATE:20260317"], ["03-16T23:00"]],
  ])("replaces its own: %s", (_, replaces, lines, own) => {
    expect(starts(calendar(event(...SIX), apart(replaces, ...lines)))).toEqual(
      [...without(1), ...own].sort(),
    );
    expect(starts(calendar(apart(replaces, ...lines), event(...SIX)))).toEqual(
      [...without(1), ...own].sort(),
    );
  });

  test("is moved into the window from before and after it", () => {
    const text = calendar(
      event("UID:series", "DTSTART:20250101T090000Z", "DURATION:PT1H", "RRULE:FREQ=YEARLY"),
      apart(":20250101T090000Z", "DTSTART:20260310T090000Z", "DURATION:PT1H"),
      apart(":20300101T090000Z", "DTSTART:20260311T090000Z", "DURATION:PT1H"),
    );
    expect(starts(text)).toEqual(["03-10T09:00", "03-11T09:00"]);
  });

  test("blocks without its series, and leaves another series alone", () => {
    const alone = event(
      "UID:other",
      "RECURRENCE-ID:20260316T080000Z",
      "DTSTART:20260310T090000Z",
      "DURATION:PT1H",
    );
    expect(starts(calendar(alone))).toEqual(["03-10T09:00"]);
    expect(starts(calendar(alone, event(...SIX)))).toEqual([...ALL_SIX, "03-10T09:00"].sort());
  });

  test("replaces an event without a rule", () => {
    const moved = apart(":20260310T090000Z", "DTSTART:20260311T090000Z", "DURATION:PT1H");
    expect(starts(calendar(event("UID:series", ...NINE), moved))).toEqual(["03-11T09:00"]);
  });

  test("of a booking of ours is ours", () => {
    const text = calendar(event("UID:1@ours", "RECURRENCE-ID:20260316T080000Z", ...NINE));
    expect(starts(text)).toEqual([]);
  });

  test("with a rule is refused", () => {
    const text = calendar(event(...SIX), apart(ROME, ...NINE, "RRULE:FREQ=DAILY"));
    expect(starts(text)).toBe("rule_refused RECURRENCE-ID");
  });
});

describe("an instance that stands for those after it", () => {
  const from = (at: string, ...lines: string[]) =>
    event("UID:series", `RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Rome:${at}`, ...lines);

  test("moves them by the clock, and gives them its length", () => {
    const text = calendar(
      event(...SIX),
      from("20260323T090000", "DTSTART;TZID=Europe/Rome:20260324T113000", "DURATION:PT2H"),
    );
    expect(busy(text)).toEqual([
      "2026-03-09T08:00Z/2026-03-09T09:00Z",
      "2026-03-16T08:00Z/2026-03-16T09:00Z",
      "2026-03-24T10:30Z/2026-03-24T12:30Z",
      "2026-03-31T09:30Z/2026-03-31T11:30Z",
      "2026-04-07T09:30Z/2026-04-07T11:30Z",
      "2026-04-14T09:30Z/2026-04-14T11:30Z",
    ]);
  });

  test("counts until the next one", () => {
    const text = calendar(
      event(...SIX),
      from("20260406T090000", "DTSTART;TZID=Europe/Rome:20260406T150000", "DURATION:PT1H"),
      from("20260316T090000", "DTSTART;TZID=Europe/Rome:20260316T120000", "DURATION:PT1H"),
    );
    expect(starts(text)).toEqual([
      "03-09T08:00",
      "03-16T11:00",
      "03-23T11:00",
      "03-30T10:00",
      "04-06T13:00",
      "04-13T13:00",
    ]);
  });

  test("is replaced itself by one that stands for one day only", () => {
    const text = calendar(
      event(...SIX),
      from("20260323T090000", "DTSTART;TZID=Europe/Rome:20260323T120000", "DURATION:PT1H"),
      event(
        "UID:series",
        "RECURRENCE-ID;TZID=Europe/Rome:20260330T090000",
        "DTSTART:20260331T060000Z",
        "DURATION:PT1H",
      ),
    );
    expect(starts(text)).toEqual([
      "03-09T08:00",
      "03-16T08:00",
      "03-23T11:00",
      "03-31T06:00",
      "04-06T10:00",
      "04-13T10:00",
    ]);
  });

  test("ends them when it is cancelled, and opens them when it is transparent", () => {
    for (const line of ["STATUS:CANCELLED", "TRANSP:TRANSPARENT"]) {
      const last = from(
        "20260323T090000",
        "DTSTART;TZID=Europe/Rome:20260323T090000",
        "DURATION:PT1H",
        line,
      );
      expect(starts(calendar(event(...SIX), last))).toEqual(ALL_SIX.slice(0, 2));
    }
  });

  test("blocks them when the series was transparent", () => {
    const text = calendar(
      event(...SIX, "TRANSP:TRANSPARENT"),
      from("20260406T090000", "DTSTART;TZID=Europe/Rome:20260406T090000", "DURATION:PT1H"),
    );
    expect(starts(text)).toEqual(ALL_SIX.slice(4));
  });

  test("moves them far, into the window", () => {
    const text = calendar(
      event("UID:series", "DTSTART:20251101T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=3"),
      event(
        "UID:series",
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20251102T090000Z",
        "DTSTART:20260310T090000Z",
        "DURATION:PT1H",
      ),
    );
    expect(starts(text)).toEqual(["03-10T09:00", "03-11T09:00"]);
  });

  test.each([
    ["with a rule of its own", "DTSTART:20260323T080000Z", "RRULE:FREQ=DAILY"],
    ["as a day in a series of hours", "DTSTART;VALUE=DATE:20260323"],
  ])("is refused %s", (_, ...lines) => {
    expect(starts(calendar(event(...SIX), from("20260323T090000", ...lines)))).toMatch(
      /^rule_refused/,
    );
  });
});

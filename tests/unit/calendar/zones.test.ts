/** Which zone a TZID means. */
import { describe, expect, test } from "vitest";
import { Budget } from "../../../supabase/functions/calendar/ics/budget.ts";
import { ianaZone } from "../../../supabase/functions/calendar/ics/iana.ts";
import { WINDOWS_ZONES } from "../../../supabase/functions/calendar/ics/windows-zones.ts";
import { busy, calendar, event } from "./ics.ts";

const at = (zone: string, start = "20260310T090000") =>
  event(`DTSTART;TZID=${zone}:${start}`, "DURATION:PT1H");

const observance = (
  kind: "STANDARD" | "DAYLIGHT",
  start: string,
  from: string,
  to: string,
  ...lines: string[]
) =>
  [
    `BEGIN:${kind}`,
    `DTSTART:${start}`,
    `TZOFFSETFROM:${from}`,
    `TZOFFSETTO:${to}`,
    ...lines,
    `END:${kind}`,
  ].join("\r\n");

const zone = (name: string, ...parts: string[]) =>
  ["BEGIN:VTIMEZONE", `TZID:${name}`, ...parts, "END:VTIMEZONE"].join("\r\n");

/** As Outlook writes it: rules from 1601 on. */
const OUTLOOK = (name: string) =>
  zone(
    name,
    observance(
      "STANDARD",
      "16010101T030000",
      "+0200",
      "+0100",
      "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10",
    ),
    observance(
      "DAYLIGHT",
      "16010101T020000",
      "+0100",
      "+0200",
      "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3",
    ),
  );

describe("a name", () => {
  test.each([
    ["Europe/Rome", "08:00"],
    ['"Europe/Rome"', "08:00"],
    ["America/New_York", "13:00"],
    ["Asia/Kolkata", "03:30"],
    ["Asia/Calcutta", "03:30"],
    ["Etc/UTC", "09:00"],
    ["UTC", "09:00"],
    ["/freeassociation.sourceforge.net/Europe/Rome", "08:00"],
    ["/mozilla.org/20050126_1/America/Argentina/Buenos_Aires", "12:00"],
    ["W. Europe Standard Time", "08:00"],
    ["Romance Standard Time", "08:00"],
    ["Eastern Standard Time", "13:00"],
    ["India Standard Time", "03:30"],
    ["AUS Eastern Standard Time", "22:00"],
  ])("%s is known", (name, clock) => {
    const found = busy(calendar(at(name)));
    expect(Array.isArray(found) && found[0]?.slice(11, 16)).toBe(clock);
  });

  test.each([
    ["Nowhere/Land"],
    ["Customized Time Zone"],
    ["/example.org/Nowhere"],
    ["W. Europe Standard Time (2)"],
    ["__proto__"],
    ["constructor"],
  ])("%s is an error with that name, though Rome is known", (name) => {
    expect(busy(calendar(at("Europe/Rome"), at(name)))).toBe(`unknown_zone ${name}`);
  });

  test("is told in one line, cut", () => {
    const found = busy(calendar(at(`A\u202e\u0007${"b".repeat(300)}`)));
    expect(found).toMatch(/^unknown_zone A b{100,200}$/);
  });

  test("of the professional that is not known is an error, too", () => {
    expect(busy(calendar(event("DTSTART;VALUE=DATE:20260310")), { timeZone: "Mars/Base" })).toBe(
      "unknown_zone Mars/Base",
    );
  });

  test("Windows has is one that this runtime knows", () => {
    expect(WINDOWS_ZONES.size).toBe(139);
    for (const name of WINDOWS_ZONES.values()) {
      expect(() => new Intl.DateTimeFormat("en", { timeZone: name })).not.toThrow();
    }
  });

  test("with a time in UTC does not matter", () => {
    const text = calendar(event("DTSTART;TZID=Nowhere:20260310T090000Z", "DURATION:PT1H"));
    expect(busy(text)).toEqual(["2026-03-10T09:00Z/2026-03-10T10:00Z"]);
  });
});

describe("a zone that the file defines", () => {
  const clock = (text: string) => {
    const found = busy(text);
    return typeof found === "string" ? found : found.map((range) => range.slice(0, 16));
  };

  test("counts under any name, with rules since 1601", () => {
    const text = calendar(
      OUTLOOK("Customized Time Zone"),
      ...["20260328T120000", "20260329T023000", "20260329T120000"].map((start) =>
        at("Customized Time Zone", start),
      ),
    );
    expect(clock(text)).toEqual(["2026-03-28T11:00", "2026-03-29T01:30", "2026-03-29T10:00"]);
  });

  test("counts under a name with commas, which are escaped there and quoted here", () => {
    const name = "(UTC+01:00) Amsterdam, Berlin; Rome";
    const text = calendar(OUTLOOK(name.replace(/[,;]/g, "\\$&")), at(`"${name}"`));
    expect(clock(text)).toEqual(["2026-03-10T08:00"]);
  });

  test("counts at its change back, of whose hour the first is meant", () => {
    const text = calendar(
      OUTLOOK("Here"),
      ...["20261025T015959", "20261025T023000", "20261025T030000"].map((start) =>
        event(`DTSTART;TZID=Here:${start}`, "DURATION:PT1M"),
      ),
    );
    const found = busy(text, { from: new Date("2026-10-24"), to: new Date("2026-10-27") });
    expect(found).toEqual([
      "2026-10-24T23:59:59.000Z/2026-10-25T00:00:59.000Z",
      "2026-10-25T00:30Z/2026-10-25T00:31Z",
      "2026-10-25T02:00Z/2026-10-25T02:01Z",
    ]);
  });

  test("counts before the zone of the same name, in its own calendar only", () => {
    const text = calendar(
      zone("Europe/Rome", observance("STANDARD", "19700101T000000", "+0500", "+0500")),
      at("Europe/Rome"),
    );
    expect(clock(text)).toEqual(["2026-03-10T04:00"]);
    expect(clock(text + calendar(at("Europe/Rome")))).toEqual([
      "2026-03-10T04:00",
      "2026-03-10T08:00",
    ]);
  });

  test("does not become the professional's, whose days and floating times keep theirs", () => {
    const text = calendar(
      zone("Europe/Rome", observance("STANDARD", "19700101T000000", "+0500", "+0500")),
      event("DTSTART:20260310T090000", "DURATION:PT1H"),
      event("DTSTART;VALUE=DATE:20260312"),
    );
    expect(clock(text)).toEqual(["2026-03-10T08:00", "2026-03-11T23:00"]);
  });

  test("is by name when it says nothing", () => {
    expect(clock(calendar(zone("Europe/Rome"), at("Europe/Rome")))).toEqual(["2026-03-10T08:00"]);
    expect(clock(calendar(zone("Nowhere"), at("Nowhere")))).toBe("unknown_zone Nowhere");
  });

  test("has dates of change, rules that end, and seconds", () => {
    const text = calendar(
      zone(
        "Here",
        observance(
          "STANDARD",
          "20000101T000000",
          "+0000",
          "+0100",
          "RDATE:20260311T000000",
          "RRULE:FREQ=YEARLY;UNTIL=20060101T000000Z",
        ),
        observance("DAYLIGHT", "20260310T000000", "+0100", "+020030"),
      ),
      at("Here", "20260309T090000"),
      event("DTSTART;TZID=Here:20260310T090030", "DURATION:PT1H"),
      at("Here", "20260312T090000"),
    );
    expect(clock(text)).toEqual(["2026-03-09T08:00", "2026-03-10T07:00", "2026-03-12T08:00"]);
  });

  test.each([
    ["20260329T010000Z", "07:00"],
    ["20260329T005959Z", "08:00"],
    ["20260329T020000", "07:00"],
    ["20260329T015959", "08:00"],
    ["20260329", "07:00"],
    ["20260328", "08:00"],
  ])("has a rule until %s, which may be the last change", (until, start) => {
    const text = calendar(
      zone(
        "Here",
        observance(
          "STANDARD",
          "20001029T030000",
          "+0200",
          "+0100",
          "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
        ),
        observance(
          "DAYLIGHT",
          "20000326T020000",
          "+0100",
          "+0200",
          `RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;UNTIL=${until}`,
        ),
      ),
      at("Here", "20260401T090000"),
    );
    expect(clock(text)).toEqual([`2026-04-01T${start}`]);
  });

  test("is before its first change what that changes from", () => {
    const text = calendar(
      zone("Here", observance("DAYLIGHT", "20260401T000000", "-0330", "-0230")),
      at("Here"),
      at("Here", "20260402T090000"),
    );
    expect(clock(text)).toEqual(["2026-03-10T12:30", "2026-04-02T11:30"]);
  });

  test("may be written with its later part first", () => {
    const text = calendar(
      zone(
        "Here",
        observance("DAYLIGHT", "20260401T000000", "+0200", "+0300"),
        observance("STANDARD", "20260315T000000", "-0500", "+0200"),
      ),
      ...["20260310T090000", "20260320T090000", "20260420T090000"].map((start) =>
        at("Here", start),
      ),
    );
    expect(clock(text)).toEqual(["2026-03-10T14:00", "2026-03-20T07:00", "2026-04-20T06:00"]);
  });

  test.each([
    ["rule_refused FREQ=HOURLY", "RRULE:FREQ=HOURLY"],
    ["invalid_event RDATE", "RDATE:x"],
    ["invalid_event DTSTART", "DTSTART:20250101T000000"],
  ])("is an error that cannot be read: %s", (error, line) => {
    const text = calendar(
      zone("Here", observance("STANDARD", "20260101T000000", "+0000", "+0100", line)),
      at("Here"),
    );
    expect(busy(text)).toBe(error);
  });

  test.each(["+2400", "+01", "0100", "+0160", "PT1H"])("has no offset %s", (offset) => {
    const text = calendar(
      zone("Here", observance("STANDARD", "20260101T000000", "+0000", offset)),
      at("Here"),
    );
    expect(busy(text)).toBe("invalid_event TZOFFSETTO");
  });

  test("may have any fault when nobody is in it", () => {
    const text = calendar(zone("Here", observance("STANDARD", "x", "y", "z")), at("Europe/Rome"));
    expect(busy(text)).toHaveLength(1);
  });
});

test("clocks of this runtime's zones agree with it at every half hour of a year", () => {
  for (const timeZone of [
    "Europe/Rome",
    "America/New_York",
    "Africa/Casablanca",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
  ]) {
    const zone = ianaZone(timeZone, new Budget(100_000));
    const format = new Intl.DateTimeFormat("sv", {
      timeZone,
      dateStyle: "short",
      timeStyle: "medium",
    });
    const seen = new Set<number>();
    const wrong: string[] = [];
    for (let at = Date.UTC(2025, 11, 30); at < Date.UTC(2027, 0, 3); at += 1_800_000) {
      const wall = Date.parse(`${format.format(at).replace(" ", "T")}Z`);
      // What is shown twice means the first.
      const isFirst = !seen.has(wall);
      seen.add(wall);
      if (zone?.toWall(at) !== wall || (isFirst && zone.toUtc(wall) !== at)) {
        wrong.push(new Date(at).toISOString());
      }
    }
    expect(wrong, timeZone).toEqual([]);
  }
});

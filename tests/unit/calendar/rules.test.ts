/** Recurrence rules: when they happen, which are refused, and that none takes long. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../supabase/functions/calendar/ics/budget.ts";
import { DAY, dayNumber } from "../../../supabase/functions/calendar/ics/civil.ts";
import { occurrences } from "../../../supabase/functions/calendar/ics/occurrences.ts";
import { parseRule } from "../../../supabase/functions/calendar/ics/rules.ts";
import { busy, calendar, event } from "./ics.ts";
import { naiveOccurrences } from "./naive.ts";
import { RULES } from "./rule-table.ts";

/** A half-hour event of a rule. */
function recurring(start: string, zone: string, rule: string): string {
  const begin = zone === "UTC" ? `DTSTART:${start}Z` : `DTSTART;TZID=${zone}:${start}`;
  return calendar(event(begin, "DURATION:PT30M", `RRULE:${rule}`));
}

describe("a rule happens", () => {
  test.each(RULES)("$title: $rule", ({ start, zone, rule, window: [from, to], starts }) => {
    const found = busy(recurring(start, zone, rule), { from: new Date(from), to: new Date(to) });
    const halfAnHour = (at: string) =>
      new Date(Date.parse(at) + 30 * 60_000).toISOString().replace(":00.000Z", "Z");
    expect(found).toEqual(starts.map((at) => `${at}/${halfAnHour(at)}`));
  });

  test("at its start, too, when the rule does not match it, and COUNT counts it", () => {
    const text = recurring("20260302T090000", "UTC", "FREQ=WEEKLY;BYDAY=TU;COUNT=3");
    expect(busy(text)).toEqual([
      "2026-03-02T09:00Z/2026-03-02T09:30Z",
      "2026-03-03T09:00Z/2026-03-03T09:30Z",
      "2026-03-10T09:00Z/2026-03-10T09:30Z",
    ]);
  });

  test("by week number alone on the weekday of its start", () => {
    const text = recurring("20250107T090000", "UTC", "FREQ=YEARLY;BYWEEKNO=10,12");
    expect(busy(text)).toEqual([
      "2026-03-03T09:00Z/2026-03-03T09:30Z",
      "2026-03-17T09:00Z/2026-03-17T09:30Z",
    ]);
  });

  test("by each of several rules", () => {
    const text = calendar(
      event(
        "DTSTART:20260302T090000Z",
        "DURATION:PT30M",
        "RRULE:FREQ=DAILY;COUNT=2",
        "RRULE:FREQ=MONTHLY;COUNT=2",
      ),
    );
    expect(busy(text)).toEqual([
      "2026-03-02T09:00Z/2026-03-02T09:30Z",
      "2026-03-03T09:00Z/2026-03-03T09:30Z",
      "2026-04-02T09:00Z/2026-04-02T09:30Z",
    ]);
  });

  test("never, when it ended before it began", () => {
    expect(busy(recurring("20260310T090000", "UTC", "FREQ=DAILY;UNTIL=20260309T080000Z"))).toEqual(
      [],
    );
  });

  test("until an instant of the hour that the clock shows twice", () => {
    const rule = (until: string) =>
      recurring("20261024T024500", "Europe/Rome", `FREQ=DAILY;UNTIL=${until}`);
    const window = { from: new Date("2026-10-24"), to: new Date("2026-10-27") };
    // 02:45 is the first of the two, 00:45 UTC; 02:15 the second time is 01:15 UTC.
    expect(busy(rule("20261025T011500Z"), window)).toHaveLength(2);
    expect(busy(rule("20261025T004400Z"), window)).toHaveLength(1);
  });
});

describe("a rule is refused", () => {
  test.each([
    "FREQ=SECONDLY",
    "FREQ=MINUTELY;INTERVAL=1440",
    "FREQ=HOURLY;COUNT=1",
    "FREQ=FORTNIGHTLY",
    "INTERVAL=2",
    "",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=YEARLY;BYMONTH=4,6;BYMONTHDAY=31,-31",
    "FREQ=MONTHLY;BYDAY=6MO",
    "FREQ=YEARLY;BYMONTH=3;BYDAY=-6MO",
    "FREQ=YEARLY;BYDAY=54MO",
    "FREQ=MONTHLY;BYDAY=0MO",
    "FREQ=WEEKLY;BYDAY=1MO",
    "FREQ=DAILY;BYDAY=-1FR",
    "FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO",
    "FREQ=WEEKLY;BYDAY=XX",
    "FREQ=WEEKLY;BYDAY=",
    "FREQ=WEEKLY;BYMONTHDAY=1",
    "FREQ=MONTHLY;BYYEARDAY=1",
    "FREQ=MONTHLY;BYWEEKNO=1",
    "FREQ=MONTHLY;BYMONTHDAY=0",
    "FREQ=MONTHLY;BYMONTHDAY=32",
    "FREQ=YEARLY;BYMONTH=13",
    "FREQ=YEARLY;BYMONTH=5L",
    "FREQ=YEARLY;BYYEARDAY=367",
    "FREQ=YEARLY;BYWEEKNO=54",
    "FREQ=DAILY;BYHOUR=24",
    "FREQ=DAILY;BYHOUR=-1",
    "FREQ=DAILY;BYSECOND=60",
    "FREQ=MONTHLY;BYSETPOS=1",
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=0",
    "FREQ=DAILY;INTERVAL=0",
    "FREQ=DAILY;INTERVAL=1.5",
    "FREQ=DAILY;INTERVAL=10000000000",
    "FREQ=DAILY;COUNT=0",
    "FREQ=DAILY;COUNT=-1",
    "FREQ=DAILY;COUNT=2;UNTIL=20270101",
    "FREQ=DAILY;UNTIL=20260230",
    "FREQ=DAILY;UNTIL=soon",
    "FREQ=DAILY;WKST=1",
    "FREQ=DAILY;FREQ=WEEKLY",
    "RSCALE=CHINESE;FREQ=YEARLY",
    "FREQ=YEARLY;SKIP=BACKWARD;RSCALE=GREGORIAN",
    "FREQ=DAILY;CONSTRUCTOR=1",
    "FREQ=DAILY;BYMONTH=1=2",
  ])("and says so: %s", (rule) => {
    expect(busy(recurring("20260302T090000", "UTC", rule))).toBe(
      ["rule_refused", rule].filter(Boolean).join(" "),
    );
  });

  test("also in small letters, and a long one is cut", () => {
    const text = recurring("20260302T090000", "UTC", `freq=secondly;bysecond=${"1,".repeat(500)}1`);
    expect(busy(text)).toHaveLength("rule_refused ".length + 200);
  });

  test("but not for small letters, a plus, a zero in front or a semicolon at its end", () => {
    const rule = "freq=monthly;byday=+1mo;interval=01;";
    expect(busy(recurring("20260302T090000", "UTC", rule))).toEqual([
      "2026-03-02T09:00Z/2026-03-02T09:30Z",
      "2026-04-06T09:00Z/2026-04-06T09:30Z",
    ]);
  });
});

const range = (length: number) => Array.from({ length }, (_, at) => at).join(",");

describe("a rule takes few steps", () => {
  const after = dayNumber(2026, 3, 1) * DAY;
  const before = after + 400 * DAY;
  const spent = (text: string, year: number, start = dayNumber(year, 1, 31) * DAY) => {
    const budget = new Budget(1_000_000);
    const window = { after, before, isDate: false };
    const found = [...occurrences(parseRule(text), start, window, budget)];
    return { steps: budget.spent, found: found.length };
  };

  test.each([
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=7",
    "FREQ=WEEKLY;BYDAY=MO,WE",
    "FREQ=MONTHLY",
    "FREQ=MONTHLY;INTERVAL=5;BYDAY=-1FR",
    "FREQ=YEARLY",
    "FREQ=YEARLY;BYDAY=20MO",
  ])("from a start of long ago as from one of last year: %s", (rule) => {
    const [ago, recent] = [spent(rule, 1601), spent(rule, 2025)];
    expect(ago.steps).toBeLessThan(recent.steps * 1.5 + 500);
    expect(recent.steps).toBeLessThan(3000);
  });

  test.each([
    "FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=2MO",
    "FREQ=YEARLY;BYMONTH=2;BYYEARDAY=200",
    "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=15,16,17,18,19,20,21;BYDAY=1MO",
    "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
    "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
    "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
  ])("when it never happens: %s", (rule) => {
    const { steps, found } = spent(rule, 2025, dayNumber(2025, 1, 31) * DAY);
    expect(found).toBe(0);
    expect(steps).toBeLessThan(3000);
  });

  test.each<[string, number, string, number]>([
    ["each day", 2000, "FREQ=YEARLY;BYMONTH=2;BYYEARDAY=200;COUNT=2", 26 * 28],
    [
      "each time of a day",
      2000,
      `FREQ=DAILY;COUNT=100000;BYHOUR=${range(24)};BYMINUTE=${range(60)}`,
      100_000,
    ],
    [
      "the times themselves",
      2027,
      `FREQ=YEARLY;COUNT=1;BYHOUR=${range(24)};BYMINUTE=${range(60)}`,
      24 * 60,
    ],
  ])("which are all counted, where they take long: %s", (_, year, rule, least) => {
    expect(spent(rule, year).steps).toBeGreaterThanOrEqual(least);
  });

  test("when only its count would end it: the reading ends with an error", () => {
    const text = recurring("00010101T000000", "UTC", "FREQ=DAILY;COUNT=999999999");
    const many = calendar(
      ...Array.from({ length: 5 }, () => text.split("\r\n").slice(2, -2)).flat(),
    );
    expect(busy(many)).toBe("too_complex");
  });

  test("when it names every second of the day", () => {
    const rule = `FREQ=DAILY;BYHOUR=${range(24)};BYMINUTE=${range(60)};BYSECOND=${range(60)}`;
    expect(busy(recurring("20260302T090000", "UTC", rule))).toBe("too_complex");
  });
});

describe("any rule", () => {
  const numbers = (min: number, max: number, maxLength: number) =>
    fc.uniqueArray(
      fc.integer({ min, max }).filter((number) => number !== 0),
      { minLength: 1, maxLength },
    );
  const weekdays = fc.constantFrom("MO", "TU", "WE", "TH", "FR", "SA", "SU");
  const rules = fc.record(
    {
      FREQ: fc.constantFrom("DAILY", "WEEKLY", "MONTHLY", "YEARLY"),
      INTERVAL: fc.integer({ min: 1, max: 5 }),
      COUNT: fc.integer({ min: 1, max: 30 }),
      BYMONTH: numbers(1, 12, 4),
      BYWEEKNO: numbers(-53, 53, 4),
      BYYEARDAY: numbers(-366, 366, 6),
      BYMONTHDAY: numbers(-31, 31, 6),
      BYDAY: fc.uniqueArray(
        fc
          .tuple(fc.option(fc.integer({ min: -5, max: 5 }), { freq: 1 }), weekdays)
          .map(([nth, day]) => (nth ? `${nth}${day}` : day)),
        { minLength: 1, maxLength: 4 },
      ),
      BYHOUR: numbers(1, 23, 2),
      BYSETPOS: numbers(-4, 4, 2),
      WKST: weekdays,
    },
    { requiredKeys: ["FREQ"] },
  );

  test("happens as a naive reading of the standard says, wherever the window begins", () => {
    let accepted = 0;
    fc.assert(
      fc.property(
        rules,
        fc.integer({ min: dayNumber(2019, 1, 1), max: dayNumber(2024, 12, 31) }),
        fc.integer({ min: 0, max: 2000 }),
        (parts, startDay, later) => {
          const text = Object.entries(parts)
            .map(([name, value]) => `${name}=${value}`)
            .join(";");
          let rule: ReturnType<typeof parseRule>;
          try {
            rule = parseRule(text);
          } catch {
            return;
          }
          accepted++;
          const start = startDay * DAY + 9.5 * 3_600_000;
          const after = start + later * DAY;
          const before = after + 800 * DAY;
          const window = { after, before, isDate: false };
          const found = [...occurrences(rule, start, window, new Budget(10_000_000))];
          const expected = naiveOccurrences(text, start, before).filter((wall) => wall >= after);
          expect(found, text).toEqual(expected);
        },
      ),
      { numRuns: 1000 },
    );
    expect(accepted).toBeGreaterThan(200);
  });
});

/** Files as they come: other line ends, cut off, or made to hurt. */
import { describe, expect, test } from "vitest";
import { busy, calendar, event, read } from "./ics.ts";

const NINE = ["DTSTART:20260310T090000Z", "DTEND:20260310T100000Z"];
const NINE_IS_BUSY = ["2026-03-10T09:00Z/2026-03-10T10:00Z"];
const FIVE_MB = 5 * 1024 * 1024;

/** As many copies of a text as make five megabytes. */
const filled = (text: string) => text.repeat(Math.floor(FIVE_MB / text.length));

describe("a file is read", () => {
  const text = calendar(event(...NINE));

  test.each<[string, string]>([
    ["with lines that end in CRLF", text],
    ["in LF", text.replaceAll("\r\n", "\n")],
    ["in CR", text.replaceAll("\r\n", "\r")],
    ["without one at its end", text.trimEnd()],
    ["after a byte order mark", `\uFEFF${text}`],
    ["with NULs, also within names", text.replaceAll("V", "V\0")],
    ["folded at every character", text.replace(/[A-Z0-9](?=[A-Z0-9])/g, "$&\r\n ")],
    ["folded by tabs", text.replaceAll("T0", "T\r\n\t0")],
    ["in small letters", text.toLowerCase()],
    ["with spaces after its components' names", text.replaceAll("VEVENT", "VEVENT  ")],
    [
      "with notes that were not folded",
      text.replace("END:VEVENT", "DESCRIPTION:one\r\ntwo: three\r\n\r\nEND:VEVENT"),
    ],
    [
      "with notes that look like a property",
      text.replace("END:VEVENT", "DESCRIPTION:\\nDTSTART:19990101\r\nEND:VEVENT"),
    ],
    [
      "with names of things that objects have",
      text.replace("END:VEVENT", "CONSTRUCTOR:1\r\n__PROTO__;A=b:1\r\nTOSTRING:1\r\nEND:VEVENT"),
    ],
    [
      "with parameters of such names",
      text.replace("DTSTART", "DTSTART;__PROTO__=x;CONSTRUCTOR=y;VALUE=CONSTRUCTOR"),
    ],
    [
      "with an alarm, whose times are not the event's",
      text.replace(
        "END:VEVENT",
        "BEGIN:VALARM\r\nDURATION:PT99H\r\nDTSTART:x\r\nSTATUS:CANCELLED\r\nEND:VALARM\r\nEND:VEVENT",
      ),
    ],
    [
      "with tasks and free time, which are no events",
      text.replace("BEGIN:VEVENT", "BEGIN:VTODO\r\nDTSTART:x\r\nEND:VTODO\r\nBEGIN:VEVENT"),
    ],
    ["with another calendar after it", text + calendar(event(...NINE))],
    ["with the same event twice", calendar(event("UID:1", ...NINE), event("UID:1", ...NINE))],
  ])("%s", (_, file) => {
    expect(busy(file)).toEqual(NINE_IS_BUSY);
  });

  test("with two events of one UID, as busy as both", () => {
    const other = event("UID:1", "DTSTART:20260312T090000Z", "DURATION:PT1H", "SEQUENCE:9");
    expect(busy(calendar(event("UID:1", ...NINE), other))).toHaveLength(2);
  });

  test("when it is empty", () => {
    expect(read(calendar())).toMatchObject({ ranges: [] });
  });
});

describe("a file is refused", () => {
  const text = calendar(event(...NINE), event(...NINE));

  test.each<[string, string]>([
    ["not_a_calendar", ""],
    ["not_a_calendar", "<!doctype html><title>Sign in</title>"],
    ["not_a_calendar", "\0".repeat(1000)],
    ["not_a_calendar", "BEGIN:VCARD\r\nEND:VCARD"],
    ["not_a_calendar", event(...NINE)],
    ["malformed_calendar", text.replace("END:VCALENDAR", "")],
    ["malformed_calendar", text.slice(0, text.lastIndexOf("BEGIN:VEVENT"))],
    ["malformed_calendar", text.slice(0, text.length / 2)],
    ["malformed_calendar", text.replace("END:VEVENT", "")],
    ["malformed_calendar", text.replace("BEGIN:VEVENT", "")],
    ["malformed_calendar", text.replace("BEGIN:VEVENT", "BEGIN:VEVENT;X=1")],
    ["malformed_calendar", text.replace("END:VEVENT", "END:VTODO")],
    ["malformed_calendar", `${text}END:VCALENDAR`],
    ["malformed_calendar", `${text}BEGIN:VCALENDAR`],
  ])("as %s: %j", (error, file) => {
    expect(busy(file)).toBe(error);
  });

  test("for its own faults only: one of the caller's is thrown", () => {
    const isOwnUid = () => {
      throw new TypeError("not ready");
    };
    expect(() => read(text, { isOwnUid })).toThrow(TypeError);
  });

  test("at any place where it may have been cut off", () => {
    const whole = text.trimEnd();
    for (let length = 0; length < whole.length; length++) {
      expect(read(whole.slice(0, length)).error, String(length)).toBeDefined();
    }
  });
});

describe("five megabytes end, within the steps that are allowed", () => {
  const start = "DTSTART:20260310T090000Z";

  test.each<[string, string[] | string, () => string]>([
    [
      "of components within components",
      NINE_IS_BUSY,
      () => {
        const depth = 180_000;
        return calendar(
          "BEGIN:VTODO\r\n".repeat(depth) + "END:VTODO\r\n".repeat(depth).trimEnd(),
          event(...NINE),
        );
      },
    ],
    ["of components that are never closed", "malformed_calendar", () => filled("BEGIN:VEVENT\r\n")],
    ["of folds", NINE_IS_BUSY, () => calendar(event(...NINE, `SUMMARY:${filled("\r\n ")}x`))],
    ["of one line", NINE_IS_BUSY, () => calendar(event(...NINE, `SUMMARY:${filled("x")}`))],
    ["of empty lines", "not_a_calendar", () => filled("\n")],
    ["of NULs", NINE_IS_BUSY, () => calendar(event(...NINE, `SUMMARY:${filled("\0")}`))],
    [
      "of quotes",
      "invalid_event DTSTART",
      () => calendar(event(`DTSTART;TZID=${filled('"')}x:20260310T090000`)),
    ],
    [
      "of parameters",
      "invalid_event DTSTART",
      () => calendar(event(`DTSTART${filled(";a=b")}:20260310T090000`)),
    ],
    [
      "of a zone's name",
      "invalid_event DTSTART",
      () => calendar(event(`DTSTART;TZID=${filled("x")}:20260310T090000`)),
    ],
    ["of a start", "invalid_event DTSTART", () => calendar(event(`DTSTART:${filled("2")}`))],
    [
      "of a length",
      "invalid_event DURATION",
      () => calendar(event(start, `DURATION:P${filled("9")}D`)),
    ],
    [
      "of a rule",
      `rule_refused ${`FREQ=DAILY;BYMONTHDAY=${"1,".repeat(100)}`.slice(0, 200)}`,
      () => calendar(event(start, `RRULE:FREQ=DAILY;BYMONTHDAY=${filled("1,")}0`)),
    ],
    [
      "of attendees who declined",
      NINE_IS_BUSY,
      () =>
        calendar(event(...NINE, filled("ATTENDEE;PARTSTAT=DECLINED:mailto:x@y.z\r\n").trimEnd())),
    ],
    [
      "of dates that are left out",
      ["2026-03-10T09:00Z/2026-03-10T10:00Z"],
      () =>
        calendar(
          event(...NINE, "RRULE:FREQ=DAILY;COUNT=2", `EXDATE:${filled("20260311T090000Z,")}`),
        ),
    ],
    [
      "of lines of such dates",
      ["2026-03-10T09:00Z/2026-03-10T10:00Z"],
      () =>
        calendar(
          event(
            ...NINE,
            "RRULE:FREQ=DAILY;COUNT=2",
            filled("EXDATE:20260311T090000Z\r\n").trimEnd(),
          ),
        ),
    ],
    [
      "of dates that are added",
      "too_complex",
      () => calendar(event(...NINE, `RDATE:${filled("20260310T090000Z,")}`)),
    ],
    ["of UIDs", NINE_IS_BUSY, () => calendar(event(`UID:${filled("x")}`, ...NINE))],
    [
      "of a zone that changes every day since the year 1",
      "too_complex",
      () =>
        calendar(
          ...Array.from(
            { length: 10 },
            (_, at) =>
              `BEGIN:VTIMEZONE\r\nTZID:${at}\r\nBEGIN:STANDARD\r\nDTSTART:00010101T000000\r\nTZOFFSETFROM:+0000\r\nTZOFFSETTO:+0100\r\nRRULE:FREQ=DAILY\r\nEND:STANDARD\r\nEND:VTIMEZONE`,
          ),
          ...Array.from({ length: 10 }, (_, at) =>
            event(`DTSTART;TZID=${at}:20260310T090000`, "DURATION:PT1H"),
          ),
        ),
    ],
    [
      "of one zone in ever other letters",
      "too_complex",
      () =>
        calendar(
          ...Array.from({ length: 3000 }, (_, at) => {
            let bit = 0;
            const name = "america/new_york".replace(/[a-z]/g, (letter) =>
              (at >> bit++) & 1 ? letter.toUpperCase() : letter,
            );
            return event(`DTSTART;TZID=${name}:20260310T090000`, "DURATION:PT1H");
          }),
        ),
    ],
    [
      "of long events of every year, in many zones",
      "too_complex",
      () =>
        calendar(
          ...Array.from({ length: 3000 }, (_, at) =>
            event(
              `DTSTART;TZID=Europe/Rome:${(1000 + at / 3) | 0}0310T090000`,
              "DURATION:P9999W",
              "RRULE:FREQ=YEARLY",
            ),
          ),
        ),
    ],
    [
      "of series of one UID, and instances that stand apart",
      "too_complex",
      () =>
        calendar(
          ...Array.from({ length: 3000 }, () => [
            event("UID:1", start, "DURATION:PT1H", "RRULE:FREQ=YEARLY"),
            event("UID:1", "RECURRENCE-ID:20270310T090000Z", start, "DURATION:PT1H"),
          ]).flat(),
        ),
    ],
    [
      "of cancelled series of one UID, and instances that stand apart",
      "too_complex",
      () =>
        calendar(
          ...Array.from({ length: 3000 }, () => [
            event("UID:1", start, "STATUS:CANCELLED", "RRULE:FREQ=YEARLY"),
            event("UID:1", "RECURRENCE-ID:20270310T090000Z", start, "STATUS:CANCELLED"),
          ]).flat(),
        ),
    ],
    [
      "of instances that stand for those after them",
      "too_complex",
      () =>
        calendar(
          event("UID:1", start, "DURATION:PT1H", "RRULE:FREQ=DAILY"),
          ...Array.from({ length: 40_000 }, () =>
            event(
              "UID:1",
              "RECURRENCE-ID;RANGE=THISANDFUTURE:20260310T090000Z",
              start,
              "DURATION:PT1H",
            ),
          ),
        ),
    ],
    [
      "of long events of every day",
      "too_complex",
      () =>
        calendar(
          ...Array.from({ length: 100 }, () =>
            event("DTSTART:19000101T000000Z", "DURATION:P9999W", "RRULE:FREQ=DAILY"),
          ),
        ),
    ],
  ])("%s", (_, expected, make) => {
    expect(busy(make())).toEqual(expected);
  });
});

describe("2 000 single and 200 recurring events", () => {
  const day = (at: number) =>
    new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10).replaceAll("-", "");
  const RULES = [
    "FREQ=WEEKLY",
    "FREQ=DAILY;UNTIL=20271231T000000Z",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=YEARLY",
    "FREQ=WEEKLY;COUNT=200",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
  ];
  const zones = ["Europe/Rome", "America/New_York", "W. Europe Standard Time", "Asia/Tokyo"];
  const text = calendar(
    ...Array.from({ length: 2000 }, (_, at) => {
      const zone = zones[at % 4];
      return event(
        `DTSTART;TZID=${zone}:${day(at % 1400)}T090000`,
        `DTEND;TZID=${zone}:${day(at % 1400)}T100000`,
        `DESCRIPTION:${"Words ".repeat(50)}`,
      );
    }),
    ...Array.from({ length: 200 }, (_, at) =>
      event(
        `DTSTART;TZID=${zones[at % 4]}:${day(at - 3000)}T110000`,
        "DURATION:PT45M",
        `RRULE:${RULES[at % RULES.length]}`,
        `EXDATE;TZID=${zones[at % 4]}:20260311T110000`,
      ),
    ),
  );
  const window = { from: new Date("2026-03-01"), to: new Date("2027-04-05") };

  test("take a fifth of the steps that are allowed", () => {
    const found = busy(text, { ...window, maxSteps: 400_000 });
    expect(found).not.toBeTypeOf("string");
    expect(found.length).toBeGreaterThan(400);
  });

  test("take no more when they began 400 years earlier", () => {
    const older = text
      .replaceAll(/DTSTART(.*:)(2015|2016)(\d{4}T110000)/g, "DTSTART$11616$3")
      .replaceAll("COUNT=200", "WKST=SU");
    expect(older).not.toBe(text);
    expect(busy(older, { ...window, maxSteps: 400_000 })).not.toBeTypeOf("string");
  });
});

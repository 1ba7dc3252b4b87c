import { describe, expect, it } from "vitest";
import {
  dateAfter,
  dateIn,
  everyDay,
  instantOf,
  iso,
  localDate,
  localTime,
  nextClockChange,
  weekday,
} from "../support/calendar.ts";
import { anonymous, request } from "../support/callers.ts";
import { asCaller, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  createProfessional,
  createService,
} from "../support/factories.ts";
import {
  availableSlots,
  freeStarts,
  openProfessional,
  openService,
  refusal,
  type Slots,
} from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const anon = anonymous();
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

/** A service of somebody who works these hours in this zone. */
async function serviceWith(
  availability: ReturnType<typeof everyDay>,
  values: Parameters<typeof openService>[1] = {},
  zone = ROME,
) {
  const professional = await openProfessional({
    time_zone: zone,
    availability: availability as never,
  });
  return { professional, service: await openService(professional, values) };
}

/** Clock times of the free starts of one date. */
async function freeTimes(service: { id: string }, date: string, zone = ROME): Promise<string[]> {
  const starts = await freeStarts(anon, service, date);
  return starts.map((start) => localTime(Date.parse(start), zone));
}

describe("the answer", () => {
  it("has every date of the range, inclusive, with the slots of that local date", async () => {
    const from = dateIn(7, ROME);
    const to = dateAfter(from, 8);
    const closed = weekday(dateAfter(from, 3));
    const availability = everyDay(["09:00", "12:00"]);
    availability.weekly[closed] = [];
    const { service } = await serviceWith(availability, { slot_step: null });

    const answer = await availableSlots(anon, service, from, to);

    expect(answer.time_zone).toBe(ROME);
    expect(answer.duration).toBe(60);
    expect(answer.days.map((day) => day.date)).toEqual(
      Array.from({ length: 9 }, (_, n) => dateAfter(from, n)),
    );
    for (const { date, slots } of answer.days) {
      const starts = weekday(date) === closed ? [] : ["09:00", "10:00", "11:00"];
      expect(slots).toEqual(
        starts.map((time) => ({
          starts_at: iso(instantOf(date, time, ROME)),
          ends_at: iso(instantOf(date, time, ROME) + HOUR),
        })),
      );
    }
  });

  it("is complete for 62 days at step 5, beyond what a page of rows holds", async () => {
    const { service } = await serviceWith(everyDay(["00:00", "24:00"]), {
      duration: 5,
      slot_step: 5,
    });
    const from = dateIn(1, ROME);
    const to = dateAfter(from, 61);

    const starts = await freeStarts(anon, service, from, to);

    const first = instantOf(from, "00:00", ROME);
    const count = (instantOf(to, "24:00", ROME) - first) / (5 * MINUTE);
    expect(starts).toEqual(Array.from({ length: count }, (_, n) => iso(first + n * 5 * MINUTE)));
  });

  it("answers GET too, in a transaction that cannot write", async () => {
    const { service } = await serviceWith(everyDay(["09:00", "10:00"]));
    const date = dateIn(7, ROME);

    const response = await request(
      `/rest/v1/rpc/available_slots?service_id=${service.id}&from_date=${date}&to_date=${date}`,
    );

    expect(response.status).toBe(200);
    const answer = (await response.json()) as Slots;
    expect(answer.days[0]?.slots.map((slot) => slot.starts_at)).toEqual([
      iso(instantOf(date, "09:00", ROME)),
    ]);
  });

  it("does not depend on the time zone of the session", async () => {
    const professional = await openProfessional();
    const service = await openService(professional);
    const date = nextClockChange(ROME, "back");

    const answers = await Promise.all(
      ["UTC", "Pacific/Kiritimati", "America/Santiago"].map((zone) =>
        asCaller({ role: "anon" }, async (tx) => {
          await tx`select set_config('timezone', ${zone}, true)`;
          const [row] = await tx<{ answer: Slots }[]>`
            select public.available_slots(
              ${service.id}, ${dateAfter(date, -2)}, ${dateAfter(date, 2)}
            ) as answer`;
          return row?.answer;
        }),
      ),
    );

    expect(answers[0]?.days.every((day) => day.slots.length === 33)).toBe(true);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });
});

describe("the grid", () => {
  it("starts at each window and steps by slot_step, and the whole appointment fits", async () => {
    const { service } = await serviceWith(everyDay(["09:00", "10:50"], ["13:10", "14:30"]), {
      slot_step: 20,
    });

    expect(await freeTimes(service, dateIn(7, ROME))).toEqual([
      "09:00",
      "09:20",
      "09:40",
      "13:10",
      "13:30",
    ]);
  });

  it("steps by the duration when slot_step is null", async () => {
    const { service } = await serviceWith(everyDay(["09:00", "11:15"]), {
      duration: 45,
      slot_step: null,
    });

    expect(await freeTimes(service, dateIn(7, ROME))).toEqual(["09:00", "09:45", "10:30"]);
  });

  it("holds nothing when the appointment is longer than each window", async () => {
    const { service } = await serviceWith(everyDay(["09:00", "09:59"], ["10:00", "10:59"]));

    expect(await freeTimes(service, dateIn(7, ROME))).toEqual([]);
  });
});

describe("windows that touch", () => {
  it("are one: 09–12 and 12–15 have an 11:00 start of two hours", async () => {
    const { service } = await serviceWith(everyDay(["09:00", "12:00"], ["12:00", "15:00"]), {
      duration: 120,
      slot_step: 60,
    });

    expect(await freeTimes(service, dateIn(7, ROME))).toEqual([
      "09:00",
      "10:00",
      "11:00",
      "12:00",
      "13:00",
    ]);
  });

  it("are two with a minute between them", async () => {
    const { service } = await serviceWith(everyDay(["09:00", "12:00"], ["12:01", "15:00"]), {
      duration: 120,
      slot_step: 60,
    });

    expect(await freeTimes(service, dateIn(7, ROME))).toEqual(["09:00", "10:00", "12:01"]);
  });

  it("each keep the steps that count from their own start", async () => {
    const { service } = await serviceWith(everyDay(["09:00", "10:50"], ["10:50", "12:30"]), {
      slot_step: 30,
    });

    expect(await freeTimes(service, dateIn(7, ROME))).toEqual([
      "09:00",
      "09:30",
      "10:00",
      "10:30",
      "10:50",
      "11:20",
    ]);
  });

  it("are one across midnight: whole days have a start at 23:00 of two hours", async () => {
    const { professional, service } = await serviceWith(everyDay(["00:00", "24:00"]), {
      duration: 120,
      slot_step: 60,
    });
    const date = dateIn(7, ROME);
    const hours = (instantOf(date, "24:00", ROME) - instantOf(date, "00:00", ROME)) / HOUR;
    expect(await freeTimes(service, date)).toHaveLength(hours);
    expect((await freeTimes(service, date)).at(-1)).toBe("23:00");

    // The next day's booking stands in its way, and the last day before a closed one ends it.
    await createBooking(professional, {
      starts_at: iso(instantOf(date, "24:30", ROME)),
      ends_at: iso(instantOf(date, "25:00", ROME)),
    });
    expect((await freeTimes(service, date)).at(-1)).toBe("22:00");
    const { error } = await professional.api
      .from("profiles")
      .update({
        availability: {
          ...everyDay(["00:00", "24:00"]),
          overrides: { [dateAfter(date, 3)]: [] },
        } as never,
      })
      .eq("id", professional.id);
    expect(error).toBeNull();
    expect((await freeTimes(service, dateAfter(date, 2))).at(-1)).toBe("22:00");
  });

  it("are one where a window of the evening before ends as the next begins", async () => {
    const { service } = await serviceWith(everyDay(["02:00", "05:00"], ["22:00", "02:00"]), {
      duration: 240,
      slot_step: 60,
    });
    const date = dateAfter(nextClockChange(ROME, "back"), 7);

    expect(await freeTimes(service, date)).toEqual(["00:00", "01:00", "22:00", "23:00"]);
  });

  it("are one with an override that begins at midnight, for what an override cuts off too", async () => {
    const date = dateAfter(nextClockChange(ROME, "back"), 7);
    const { service } = await serviceWith(
      {
        ...everyDay(["20:00", "03:00"]),
        overrides: { [dateAfter(date, 1)]: [["00:00", "01:00"]] },
      },
      { duration: 120, slot_step: 60 },
    );

    expect((await freeTimes(service, date)).at(-1)).toBe("23:00");
    expect(await freeTimes(service, dateAfter(date, 1))).toEqual([]);
  });

  it("are one for as many days as they touch: a booking of 50 hours can move within them", async () => {
    const professional = await openProfessional({
      availability: everyDay(["00:00", "24:00"]) as never,
    });
    const service = await openService(professional, { duration: 60, slot_step: 60 });
    const client = await createClientRow(professional);
    const date = dateAfter(nextClockChange(ROME, "back"), 7);
    const booking = await createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at: iso(instantOf(date, "08:00", ROME)),
      ends_at: iso(instantOf(date, "58:00", ROME)),
    });

    expect(await freeStarts(professional.api, service, date, date, booking.id)).toHaveLength(24);
  });

  it.each([
    // 01:00 and 03:00 are an hour apart.
    ["forward", ["01:00", "01:30", "03:00", "03:30"]],
    // And three hours here: 02:00 to 03:00 comes twice.
    ["back", ["01:00", "01:30", "03:00", "03:30"]],
  ] as const)("are compared in real time when clocks go %s", async (direction, starts) => {
    const sunday = nextClockChange(ROME, direction);
    const { service } = await serviceWith(everyDay(["01:00", "02:00"], ["03:00", "05:00"]), {
      duration: 90,
      slot_step: 30,
    });

    expect(await freeTimes(service, sunday)).toEqual(
      direction === "forward" ? starts : starts.slice(2),
    );
    expect(await freeTimes(service, dateAfter(sunday, 7))).toEqual(starts.slice(2));
  });
});

describe("notice and horizon", () => {
  it("offers nothing before now and nothing before min_notice has passed", async () => {
    const { professional, service } = await serviceWith(
      everyDay(["00:00", "24:00"]),
      { duration: 5, slot_step: 5 },
      "UTC",
    );
    const later = await openService(professional, { duration: 5, slot_step: 5, min_notice: 1517 });

    // One transaction has one now().
    const { now, starts } = await asCaller({ role: "anon" }, async (tx) => {
      const [row] = await tx<{ now: number; soon: Slots; later: Slots }[]>`
        select
          extract(epoch from now())::float8 * 1000 as now,
          public.available_slots(
            ${service.id},
            to_char(now() - interval '1 day', 'YYYY-MM-DD'),
            to_char(now() + interval '2 days', 'YYYY-MM-DD')
          ) as soon,
          public.available_slots(
            ${later.id},
            to_char(now() - interval '1 day', 'YYYY-MM-DD'),
            to_char(now() + interval '2 days', 'YYYY-MM-DD')
          ) as later`;
      const first = (slots: Slots | undefined) =>
        slots?.days.flatMap((day) => day.slots)[0]?.starts_at;
      return { now: row?.now ?? 0, starts: [first(row?.soon), first(row?.later)] };
    });

    const nextStep = (instant: number) => Math.ceil(instant / (5 * MINUTE)) * 5 * MINUTE;
    expect(starts).toEqual([iso(nextStep(now)), iso(nextStep(now + 1517 * MINUTE))]);
  });

  it("has empty days where the notice reaches beyond the range, or the horizon ends before it", async () => {
    const { professional, service } = await serviceWith(everyDay(["09:00", "18:00"]), {
      min_notice: 5 * 24 * 60,
    });
    const near = await openService(professional, { max_advance_days: 5 });
    const [today, later] = [dateIn(0, ROME), dateIn(7, ROME)];

    expect((await availableSlots(anon, service, today)).days).toEqual([{ date: today, slots: [] }]);
    expect((await availableSlots(anon, near, later)).days).toEqual([{ date: later, slots: [] }]);
    expect(await freeStarts(anon, service, later)).toHaveLength(33);
  });

  it("ends with the local day max_advance_days ahead", async () => {
    // Far from UTC, so that a date of the server would be seen.
    const zone = "Pacific/Kiritimati";
    const { professional, service } = await serviceWith(
      everyDay(["00:00", "24:00"]),
      { duration: 5, slot_step: 5, max_advance_days: 2 },
      zone,
    );
    const today = await openService(professional, {
      duration: 1,
      slot_step: 5,
      max_advance_days: 0,
    });

    const last = await asCaller({ role: "anon" }, async (tx) => {
      const [row] = await tx<{ today: string; ahead: Slots; same: Slots }[]>`
        select
          (now() at time zone ${zone})::date::text as today,
          public.available_slots(
            ${service.id}, (current_date - 1)::text, (current_date + 8)::text
          ) as ahead,
          public.available_slots(
            ${today.id}, (current_date - 1)::text, (current_date + 8)::text
          ) as same`;
      const dates = (slots: Slots | undefined) =>
        slots?.days.filter((day) => day.slots.length > 0).map((day) => day.date);
      return { today: row?.today ?? "", ahead: dates(row?.ahead), same: dates(row?.same) };
    });

    // In the last minutes of a day there may be no start left on it.
    expect(last.ahead?.at(-1)).toBe(dateAfter(last.today, 2));
    expect([last.today]).toEqual(expect.arrayContaining(last.same ?? []));
  });
});

describe("bookings and buffers", () => {
  const day = dateIn(10, ROME);
  const at = (time: string) => iso(instantOf(day, time, ROME));

  it("leaves out what overlaps a booking, half-open, and keeps the rest", async () => {
    const { professional, service } = await serviceWith(everyDay(["09:00", "13:00"]));
    await createBooking(professional, { starts_at: at("10:00"), ends_at: at("11:00") });

    expect(await freeTimes(service, day)).toEqual([
      "09:00",
      "11:00",
      "11:15",
      "11:30",
      "11:45",
      "12:00",
    ]);
  });

  it("keeps the buffers of the new appointment free, and those of the old one", async () => {
    const { professional, service } = await serviceWith(everyDay(["09:00", "14:00"]), {
      buffer_before: 15,
      buffer_after: 20,
    });
    await createBooking(professional, {
      starts_at: at("11:00"),
      ends_at: at("11:30"),
      buffer_before: 30,
      buffer_after: 5,
    });

    // Before: end + 20 ≤ 10:30. After: start − 15 ≥ 11:35.
    expect(await freeTimes(service, day)).toEqual([
      "09:00",
      "12:00",
      "12:15",
      "12:30",
      "12:45",
      "13:00",
    ]);
  });

  it("lets a buffer after reach into later hours: 09:30 respects a booking that blocks to 09:45", async () => {
    const { professional, service } = await serviceWith(everyDay(["09:30", "12:00"]), {
      buffer_after: 15,
    });
    const client = await createClientRow(professional);
    await createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at("08:30"),
    });

    expect((await freeTimes(service, day))[0]).toBe("09:45");
  });

  it("respects bookings that begin before the range and end after it", async () => {
    const { professional, service } = await serviceWith(everyDay(["09:00", "12:00"]));
    await createBooking(professional, {
      starts_at: iso(instantOf(dateAfter(day, -3), "12:00", ROME)),
      ends_at: iso(instantOf(dateAfter(day, 3), "12:00", ROME)),
    });

    expect(await freeStarts(anon, service, dateAfter(day, -3), dateAfter(day, 3))).toEqual(
      [...["09:00", "09:15", "09:30", "09:45", "10:00", "10:15", "10:30", "10:45", "11:00"]].map(
        (time) => iso(instantOf(dateAfter(day, -3), time, ROME)),
      ),
    );
  });

  it("lets pending bookings block, and cancelled ones not", async () => {
    const { professional, service } = await serviceWith(everyDay(["09:00", "11:00"]), {
      slot_step: null,
    });
    const client = await createClientRow(professional);
    const booking = await createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at("09:00"),
      status: "pending",
    });
    expect(await freeTimes(service, day)).toEqual(["10:00"]);

    const { error } = await professional.api.rpc("cancel_booking", { booking_id: booking.id });
    expect(error).toBeNull();
    expect(await freeTimes(service, day)).toEqual(["09:00", "10:00"]);
  });

  it("is not touched by the bookings of another professional", async () => {
    const [mine, other] = await Promise.all([
      serviceWith(everyDay(["09:00", "10:00"])),
      serviceWith(everyDay(["09:00", "10:00"])),
    ]);
    await createBooking(other.professional, { starts_at: at("09:00"), ends_at: at("10:00") });

    expect(await freeTimes(mine.service, day)).toEqual(["09:00"]);
    expect(await freeTimes(other.service, day)).toEqual([]);
  });
});

describe("clock changes", () => {
  it("New York 09–17 begins at 13:00Z the day before clocks go back and at 14:00Z that day", async () => {
    const zone = "America/New_York";
    const sunday = nextClockChange(zone, "back");
    const { service } = await serviceWith(everyDay(["09:00", "17:00"]), {}, zone);

    const { days } = await availableSlots(anon, service, dateAfter(sunday, -1), sunday);

    expect(days.map((day) => day.slots[0]?.starts_at)).toEqual([
      `${dateAfter(sunday, -1)}T13:00:00.000Z`,
      `${sunday}T14:00:00.000Z`,
    ]);
  });

  it("New York 13–18 is 17:00Z to 21:00Z the day clocks go forward", async () => {
    const zone = "America/New_York";
    const sunday = nextClockChange(zone, "forward");
    const { service } = await serviceWith(everyDay(["13:00", "18:00"]), {}, zone);

    const starts = await freeStarts(anon, service, sunday);

    expect(starts[0]).toBe(`${sunday}T17:00:00.000Z`);
    expect(starts.at(-1)).toBe(`${sunday}T21:00:00.000Z`);
  });

  it("Rome 00–06 has five real hours when clocks go forward, and 02:30 is never offered", async () => {
    const sunday = nextClockChange(ROME, "forward");
    const { service } = await serviceWith(everyDay(["00:00", "06:00"]), {
      duration: 30,
      slot_step: 30,
    });

    const starts = await freeStarts(anon, service, sunday);

    expect(starts).toHaveLength(10);
    expect(starts.map((start) => localTime(Date.parse(start), ROME))).not.toContain("02:30");
    expect(await freeStarts(anon, service, dateAfter(sunday, 1))).toHaveLength(12);
  });

  it("Rome 00–06 has seven real hours when clocks go back", async () => {
    const sunday = nextClockChange(ROME, "back");
    const { service } = await serviceWith(everyDay(["00:00", "06:00"]), { slot_step: 60 });

    const starts = await freeStarts(anon, service, sunday);

    const first = instantOf(sunday, "00:00", ROME);
    expect(starts).toEqual(Array.from({ length: 7 }, (_, n) => iso(first + n * HOUR)));
  });

  it("opens at the first of two equal clock times and closes at the first", async () => {
    const sunday = nextClockChange(ROME, "back");
    const [from, until] = await Promise.all([
      serviceWith(everyDay(["02:30", "04:00"]), { duration: 30, slot_step: 30 }),
      serviceWith(everyDay(["01:00", "02:30"]), { duration: 30, slot_step: 30 }),
    ]);

    expect(await freeTimes(from.service, sunday)).toEqual([
      "02:30",
      "02:00",
      "02:30",
      "03:00",
      "03:30",
    ]);
    expect(await freeTimes(until.service, sunday)).toEqual(["01:00", "01:30", "02:00"]);
  });

  it.each(["Atlantic/Azores", "America/Havana"])(
    "lists the same starts for any range around the date with two midnights in %s",
    async (zone) => {
      const sunday = nextClockChange(zone, "back");
      const { service } = await serviceWith(
        everyDay(["00:00", "06:00"]),
        { duration: 30, slot_step: 30 },
        zone,
      );

      const alone = await freeStarts(anon, service, sunday);
      const { days } = await availableSlots(
        anon,
        service,
        dateAfter(sunday, -1),
        dateAfter(sunday, 1),
      );

      expect(alone).toHaveLength(14);
      expect(days[1]?.slots.map((slot) => slot.starts_at)).toEqual(alone);
      for (const start of alone) expect(localDate(Date.parse(start), zone)).toBe(sunday);
    },
  );

  it("begins the day after the gap where clocks skip midnight", async () => {
    const zone = "America/Santiago";
    const sunday = nextClockChange(zone, "forward");
    const { service } = await serviceWith(everyDay(["00:00", "03:00"]), {}, zone);

    expect((await freeTimes(service, sunday, zone))[0]).toBe("01:00");
    expect(await freeStarts(anon, service, sunday)).toHaveLength(5);
  });
});

describe("midnight and overrides", () => {
  it("20:00–24:00 ends with 23:00", async () => {
    const { service } = await serviceWith(everyDay(["20:00", "24:00"]));
    expect((await freeTimes(service, dateIn(7, ROME))).at(-1)).toBe("23:00");
  });

  it("20:00–03:00 offers 23:30 and goes on to 02:00 of the next date", async () => {
    const date = nextMonday();
    const { service } = await serviceWith({ weekly: { mon: [["20:00", "03:00"]] } });

    const { days } = await availableSlots(anon, service, date, dateAfter(date, 1));
    const times = days.map((day) =>
      day.slots.map((slot) => localTime(Date.parse(slot.starts_at), ROME)),
    );

    expect(times[0]).toContain("23:30");
    expect(times[0]?.at(-1)).toBe("23:45");
    expect(times[1]?.[0]).toBe("00:00");
    expect(times[1]?.at(-1)).toBe("02:00");
  });

  it("shows the early hours of a window of the evening before when only their date is asked for", async () => {
    const monday = nextMonday();
    const { service } = await serviceWith({ weekly: { mon: [["21:00", "03:00"]] } });

    expect((await freeTimes(service, dateAfter(monday, 1)))[0]).toBe("00:00");
    expect(await freeTimes(service, dateAfter(monday, 2))).toEqual([]);
  });

  it("an override that closes Wednesday also closes its early hours of Tuesday's window", async () => {
    const wednesday = dateAfter(nextMonday(), 2);
    const weekly = { tue: [["21:00", "03:00"]] };
    const [open, closed] = await Promise.all([
      serviceWith({ weekly }),
      serviceWith({ weekly, overrides: { [wednesday]: [] } }),
    ]);

    expect(await freeTimes(open.service, wednesday)).toContain("00:00");
    expect(await freeTimes(closed.service, wednesday)).toEqual([]);
    // What begins on Tuesday must end on Tuesday.
    expect((await freeTimes(closed.service, dateAfter(wednesday, -1))).at(-1)).toBe("23:00");
    expect((await freeTimes(open.service, dateAfter(wednesday, -1))).at(-1)).toBe("23:45");
  });

  it("an override replaces the hours of its date only, and may itself pass midnight", async () => {
    const monday = nextMonday();
    const { service } = await serviceWith({
      weekly: everyDay(["09:00", "10:00"]).weekly,
      overrides: { [monday]: [["22:00", "01:00"]] },
    });

    expect(await freeTimes(service, dateAfter(monday, -1))).toEqual(["09:00"]);
    expect((await freeTimes(service, monday))[0]).toBe("22:00");
    expect(await freeTimes(service, dateAfter(monday, 1))).toEqual(["00:00", "09:00"]);
  });

  it("a window from 00:00 to 00:00 is the whole day", async () => {
    const { service } = await serviceWith(everyDay(["00:00", "00:00"]), { slot_step: 60 });
    const date = nextMonday();
    const hours = (instantOf(date, "24:00", ROME) - instantOf(date, "00:00", ROME)) / HOUR;

    expect(await freeTimes(service, date)).toHaveLength(hours);
  });

  function nextMonday(): string {
    let date = dateIn(7, ROME);
    while (weekday(date) !== "mon") date = dateAfter(date, 1);
    return date;
  }
});

describe("who is closed", () => {
  const date = dateIn(7, ROME);

  it("an inactive service has empty days", async () => {
    const professional = await openProfessional();
    const [active, inactive] = await Promise.all([
      openService(professional),
      openService(professional, { active: false }),
    ]);

    const answer = await availableSlots(anon, inactive, date, dateAfter(date, 1));

    expect(answer.days).toEqual([
      { date, slots: [] },
      { date: dateAfter(date, 1), slots: [] },
    ]);
    expect(await freeStarts(anon, active, date)).toHaveLength(33);
  });

  it("a professional who does not accept bookings has empty days, also when orders are accepted", async () => {
    const professional = await openProfessional({ accepts_bookings: false, accepts_orders: true });
    const service = await openService(professional);

    expect((await availableSlots(anon, service, date)).days).toEqual([{ date, slots: [] }]);
  });

  it("the hours of a new professional are closed until bookings are accepted", async () => {
    const professional = await createProfessional();
    const service = await createService(professional);

    expect(await freeStarts(anon, service, date, dateAfter(date, 6))).toEqual([]);
    const { error } = await professional.api
      .from("profiles")
      .update({ accepts_bookings: true })
      .eq("id", professional.id);
    expect(error).toBeNull();
    expect(await freeStarts(anon, service, date, dateAfter(date, 6))).toHaveLength(5 * 8);
  });

  it("an unknown service is 404 PGRST301", async () => {
    const answer = await anon.rpc("available_slots", {
      service_id: UNKNOWN,
      from_date: date,
      to_date: date,
    });
    expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
  });
});

describe("the range", () => {
  const from = dateIn(7);

  it.each([
    ["63 days", from, dateAfter(from, 62), "range_too_long"],
    ["two centuries", "2000-01-01", "2199-12-31", "range_too_long"],
    ["from after to", from, dateAfter(from, -1), "invalid_range"],
    ["a date before 2000", "1999-12-31", "2000-01-01", "invalid_range"],
    ["a date after 2199", "2199-12-31", "2200-01-01", "invalid_range"],
    ["infinity as its end", from, "infinity", "invalid_date"],
    ["-infinity as its start", "-infinity", from, "invalid_date"],
    ["the last date Postgres knows", "5874897-12-31", "5874897-12-31", "invalid_date"],
    ["a date before Christ", "0044-03-15 BC", from, "invalid_date"],
    ["a day first or a month first", "01/02/2027", from, "invalid_date"],
    ["today", "today", from, "invalid_date"],
    ["a date without hyphens", "20270301", from, "invalid_date"],
    ["an instant", `${from}T00:00:00+01:00`, from, "invalid_date"],
    ["an instant as its end", from, `${from}T00:00:00Z`, "invalid_date"],
    ["a date with space around it", ` ${from}`, from, "invalid_date"],
    ["a date that is none", "2027-02-30", from, "invalid_date"],
    ["the year 0", "0000-01-01", from, "invalid_date"],
    ["nothing as its end", from, "", "invalid_date"],
    ["null as its end", from, null, "invalid_date"],
    ["null as its start", null, from, "invalid_date"],
  ])("%s is refused", async (_, from_date, to_date, code) => {
    const service = await openService(await openProfessional());
    const answer = await anon.rpc("available_slots", {
      service_id: service.id,
      from_date: from_date as string,
      to_date: to_date as string,
    });
    expect(refusal(answer)).toEqual({ status: 422, code });
  });

  it("is looked at before the service: a wrong date of an unknown one is 422", async () => {
    const answer = await anon.rpc("available_slots", {
      service_id: UNKNOWN,
      from_date: "today",
      to_date: from,
    });
    expect(refusal(answer)).toEqual({ status: 422, code: "invalid_date" });
  });

  it("and the service must be given: null is 422, an argument that is left out 404 PGRST202", async () => {
    const none = await anon.rpc("available_slots", {
      service_id: null as never,
      from_date: from,
      to_date: from,
    });
    expect(refusal(none)).toEqual({ status: 422, code: "validation_failed" });
    expect(JSON.parse(none.error?.details ?? "")).toEqual({ fields: ["service_id"] });

    const service = await openService(await openProfessional());
    const call = { service_id: service.id, from_date: from, to_date: from };
    for (const left of Object.keys(call)) {
      const answer = await anon.rpc("available_slots", { ...call, [left]: undefined } as never);
      expect(refusal(answer)).toEqual({ status: 404, code: "PGRST202" });
    }
  });

  it("of 62 days is answered, in the past with empty days", async () => {
    const service = await openService(await openProfessional());

    const { days } = await availableSlots(
      anon,
      service,
      dateAfter(from, -100),
      dateAfter(from, -39),
    );

    expect(days).toHaveLength(62);
    expect(days.every((day) => day.slots.length === 0)).toBe(true);
  });

  it("at the end of time is answered", async () => {
    const service = await openService(await openProfessional());
    expect((await availableSlots(anon, service, "2199-12-31")).days).toEqual([
      { date: "2199-12-31", slots: [] },
    ]);
  });
});

describe("reschedule_of", () => {
  const day = dateIn(10, ROME);
  const at = (time: string) => iso(instantOf(day, time, ROME));

  async function bookedService() {
    const professional = await openProfessional({
      availability: everyDay(["09:00", "11:00"]) as never,
    });
    const service = await openService(professional, { duration: 30, slot_step: 30 });
    const client = await createClientRow(professional);
    const booking = await createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at("09:30"),
    });
    return { professional, service, client, booking };
  }

  it("frees the time of that booking, for its owner and its client", async () => {
    const { professional, service, client, booking } = await bookedService();
    const portal = await createPortalSession(client);
    const all = ["09:00", "09:30", "10:00", "10:30"].map(at);

    expect(await freeStarts(professional.api, service, day, day, booking.id)).toEqual(all);
    expect(await freeStarts(portal.api, service, day, day, booking.id)).toEqual(all);
    expect(await freeStarts(anon, service, day)).toEqual(["09:00", "10:00", "10:30"].map(at));
  });

  it("uses the length and the buffers the booking has, not those the service has now", async () => {
    const { professional, service, booking } = await bookedService();
    const { error } = await professional.api
      .from("services")
      .update({ duration: 60, buffer_after: 30 })
      .eq("id", service.id);
    expect(error).toBeNull();
    await createBooking(professional, { starts_at: at("10:30"), ends_at: at("11:00") });

    const answer = await availableSlots(professional.api, service, day, day, booking.id);

    expect(answer.duration).toBe(30);
    expect(answer.days[0]?.slots).toEqual(
      ["09:00", "09:30", "10:00"].map((time) => ({
        starts_at: at(time),
        ends_at: iso(instantOf(day, time, ROME) + 30 * MINUTE),
      })),
    );
  });

  it("knows lengths that are no whole minutes, and lengths of days", async () => {
    const { professional, service, booking } = await bookedService();
    await sql`update public.bookings set ends_at = starts_at + interval '30.5 minutes' where id = ${booking.id}`;
    const odd = await availableSlots(professional.api, service, day, day, booking.id);
    expect(odd.duration).toBe(30.5);
    expect(odd.days[0]?.slots.at(-1)).toEqual({
      starts_at: at("10:00"),
      ends_at: iso(instantOf(day, "10:00", ROME) + 30.5 * MINUTE),
    });

    await sql`update public.bookings set ends_at = starts_at + interval '50 hours' where id = ${booking.id}`;
    const long = await availableSlots(professional.api, service, day, day, booking.id);
    expect(long.duration).toBe(3000);
    expect(long.days[0]?.slots).toEqual([]);
  });

  it("of anybody else's booking is 404 PGRST301, as for one that does not exist", async () => {
    const [mine, other] = await Promise.all([bookedService(), bookedService()]);
    const stranger = await createPortalSession(await createClientRow(mine.professional));
    const call = (api: typeof anon, rescheduleOf: string) =>
      api.rpc("available_slots", {
        service_id: mine.service.id,
        from_date: day,
        to_date: day,
        reschedule_of: rescheduleOf,
      });

    const refused = await Promise.all([
      call(anon, mine.booking.id),
      call(other.professional.api, mine.booking.id),
      call(mine.professional.api, other.booking.id),
      call(stranger.api, mine.booking.id),
      call(mine.professional.api, UNKNOWN),
    ]);

    for (const answer of refused) {
      expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
      expect(answer.error).toEqual(refused[0]?.error);
    }
  });

  it("of a booking of another service, or of blocked time, is 404 PGRST301", async () => {
    const { professional, booking } = await bookedService();
    const service = await openService(professional);
    const blocked = await createBooking(professional, {
      starts_at: at("10:30"),
      ends_at: at("11:00"),
    });

    for (const id of [booking.id, blocked.id]) {
      const answer = await professional.api.rpc("available_slots", {
        service_id: service.id,
        from_date: day,
        to_date: day,
        reschedule_of: id,
      });
      expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
    }
  });
});

import { describe, expect, it } from "vitest";
import { dateAfter, dateIn, everyDay, instantOf, iso } from "../support/calendar.ts";
import { type Api, anonymous, request } from "../support/callers.ts";
import { createBooking, createClientRow, createPortalSession } from "../support/factories.ts";
import {
  book,
  type Explanation,
  freeStarts,
  nextStarts,
  openProfessional,
  openService,
  refusal,
} from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string, date = day) => iso(instantOf(date, time, ROME));

async function explain(
  service: { id: string },
  startsAt: string,
  api: Api = anon,
): Promise<Explanation> {
  const { data, error } = await api.rpc("explain_slot", {
    service_id: service.id,
    starts_at: startsAt,
  });
  if (error) throw new Error(JSON.stringify(error));
  return data as unknown as Explanation;
}

/** The reason, after checking that booking is refused with the same code and proposals. */
async function reasonOf(service: { id: string }, startsAt: string): Promise<string> {
  const explanation = await explain(service, startsAt);
  const refused = await book(anon, service, startsAt);
  expect(refusal(refused)).toEqual({
    status: explanation.reason === "slot_taken" ? 409 : 422,
    code: explanation.reason,
  });
  expect(nextStarts(refused)).toEqual(explanation.next_starts);
  return explanation.reason;
}

describe("the reason", () => {
  it("is available for a free start, which then books", async () => {
    const service = await openService(await openProfessional());

    expect(await explain(service, at("10:00"))).toEqual({
      reason: "available",
      next_starts: [at("10:15"), at("10:30"), at("10:45")],
    });
    expect((await book(anon, service, at("10:00"))).error).toBeNull();
  });

  it("is not_accepting before anything else", async () => {
    const professional = await openProfessional({ accepts_bookings: false });
    const service = await openService(professional, { active: false });

    for (const start of [at("10:00"), at("08:00"), iso(Date.now() - HOUR)]) {
      expect(await reasonOf(service, start)).toBe("not_accepting");
    }
    expect((await explain(service, at("10:00"))).next_starts).toEqual([]);
  });

  it("is inactive next, whatever the time", async () => {
    const service = await openService(await openProfessional(), { active: false });

    for (const start of [at("10:00"), at("08:00"), iso(Date.now() - HOUR)]) {
      expect(await reasonOf(service, start)).toBe("inactive");
    }
    expect((await explain(service, at("10:00"))).next_starts).toEqual([]);
  });

  it("is past, then too_soon, on open and closed dates alike", async () => {
    for (const windows of [[["00:00", "24:00"]], []] as [string, string][][]) {
      const professional = await openProfessional({ availability: everyDay(...windows) as never });
      const service = await openService(professional, { min_notice: 120 });

      expect(await reasonOf(service, iso(Date.now() - MINUTE))).toBe("past");
      expect(await reasonOf(service, iso(Date.now() + HOUR))).toBe("too_soon");
      expect(await reasonOf(service, "2000-01-01T00:00:00Z")).toBe("past");
    }
  });

  it("is too_soon also when the notice is days", async () => {
    const service = await openService(await openProfessional(), { min_notice: 12 * 24 * 60 });

    expect(await reasonOf(service, at("10:00"))).toBe("too_soon");
    expect(await reasonOf(service, iso(Date.now() + HOUR))).toBe("too_soon");
    expect((await explain(service, at("10:00", dateIn(13, ROME)))).reason).toBe("available");
  });

  it("is too_far after the last local day, on open and closed dates alike", async () => {
    const professional = await openProfessional({
      availability: {
        ...everyDay(["09:00", "18:00"]),
        overrides: { [dateIn(12, ROME)]: [] },
      } as never,
    });
    const service = await openService(professional, { max_advance_days: 10 });

    expect((await explain(service, at("17:00"))).reason).toBe("available");
    expect(await reasonOf(service, at("09:00", dateIn(11, ROME)))).toBe("too_far");
    expect(await reasonOf(service, at("09:00", dateIn(12, ROME)))).toBe("too_far");
    expect(await reasonOf(service, "2199-12-31T23:00:00Z")).toBe("too_far");
    expect((await explain(service, "2199-12-31T23:00:00Z")).next_starts).toEqual([]);
  });

  it("is closed_date without a window, by the week or by an override", async () => {
    const availability = { ...everyDay(["09:00", "18:00"]), overrides: { [day]: [] } };
    const professional = await openProfessional({ availability: availability as never });
    const service = await openService(professional);

    expect(await reasonOf(service, at("10:00"))).toBe("closed_date");
    expect(await reasonOf(service, at("10:07"))).toBe("closed_date");
    expect((await explain(service, at("10:00"))).next_starts[0]).toBe(
      at("09:00", dateAfter(day, 1)),
    );
  });

  it("is outside_hours around the windows, between them, and when it does not fit", async () => {
    const professional = await openProfessional({
      availability: everyDay(["09:00", "12:00"], ["14:00", "18:00"]) as never,
    });
    const service = await openService(professional);
    await createBooking(professional, { starts_at: at("11:00"), ends_at: at("14:30") });

    for (const time of ["08:45", "11:15", "12:30", "13:45", "17:15", "18:00"]) {
      expect(await reasonOf(service, at(time))).toBe("outside_hours");
    }
    expect((await explain(service, at("17:00"))).reason).toBe("available");
  });

  it("is not_on_grid between two steps, taken or not", async () => {
    const professional = await openProfessional({
      availability: everyDay(["09:10", "18:00"]) as never,
    });
    const service = await openService(professional);
    await createBooking(professional, { starts_at: at("12:00"), ends_at: at("13:00") });

    for (const time of ["09:15", "10:00", "12:15"]) {
      expect(await reasonOf(service, at(time))).toBe("not_on_grid");
    }
    expect(await reasonOf(service, at("10:10").replace(".000Z", ".001Z"))).toBe("not_on_grid");
    expect((await explain(service, at("10:10"))).reason).toBe("available");
  });

  it("is slot_taken for bookings and their buffers, pending ones and blocked time too", async () => {
    const professional = await openProfessional();
    const [service, client] = await Promise.all([
      openService(professional, { buffer_before: 15, buffer_after: 20 }),
      createClientRow(professional),
    ]);
    await createBooking(professional, { starts_at: at("10:00"), ends_at: at("11:00") });
    await createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at("15:00"),
      status: "pending",
      buffer_after: 30,
    });

    for (const time of ["09:15", "10:00", "10:45", "11:00", "13:30", "14:00", "15:00", "16:30"]) {
      expect(await reasonOf(service, at(time))).toBe("slot_taken");
    }
    expect((await explain(service, at("16:45"))).reason).toBe("available");
    expect((await explain(service, at("13:15"))).reason).toBe("available");
  });

  it("is the same for everybody who asks", async () => {
    const professional = await openProfessional();
    const [service, client] = await Promise.all([
      openService(professional),
      createClientRow(professional),
    ]);
    const portal = await createPortalSession(client);
    const expected = await explain(service, at("08:00"));

    expect(expected.reason).toBe("outside_hours");
    for (const api of [professional.api, portal.api, (await openProfessional()).api]) {
      expect(await explain(service, at("08:00"), api)).toEqual(expected);
    }
  });
});

describe("of several reasons the first is named, by explain_slot and create_booking alike", () => {
  const ORDER = [
    "not_accepting",
    "inactive",
    "past",
    "too_soon",
    "too_far",
    "closed_date",
    "outside_hours",
    "not_on_grid",
    "slot_taken",
  ];
  const [closed, beyond, beyondAndClosed] = [11, 31, 32].map((days) => dateIn(days, ROME)) as [
    string,
    string,
    string,
  ];
  const long = "2000-01-03";
  /** Starts with all that speaks against them; a closed date has no hours and no grid. */
  const STARTS: [string, ...string[]][] = [
    [at("16:00")],
    [at("10:00"), "slot_taken"],
    [at("10:07"), "not_on_grid", "slot_taken"],
    [at("16:07"), "not_on_grid"],
    [at("08:00"), "outside_hours"],
    [at("08:07"), "outside_hours", "not_on_grid"],
    [at("18:07"), "outside_hours", "not_on_grid", "slot_taken"],
    [at("16:00", closed), "closed_date"],
    [at("10:00", closed), "closed_date", "slot_taken"],
    [at("16:00", beyond), "too_far"],
    [at("10:07", beyond), "too_far", "not_on_grid", "slot_taken"],
    [at("08:00", beyond), "too_far", "outside_hours"],
    [at("10:00", beyondAndClosed), "too_far", "closed_date"],
    [iso(Date.now() + HOUR), "too_soon"],
    [at("10:00", dateIn(1, ROME)), "too_soon", "closed_date", "slot_taken"],
    [at("16:00", long), "past", "too_soon"],
    [at("10:07", long), "past", "too_soon", "not_on_grid", "slot_taken"],
  ];

  it.each([
    ["nothing else", {}, {}, []],
    ["an inactive service", {}, { active: false }, ["inactive"]],
    ["a closed shop", { accepts_bookings: false }, {}, ["not_accepting"]],
    ["both", { accepts_bookings: false }, { active: false }, ["not_accepting", "inactive"]],
  ])("with %s", async (_, profile, values, everywhere) => {
    const professional = await openProfessional({
      ...profile,
      availability: {
        ...everyDay(["09:00", "18:00"]),
        overrides: { [closed]: [], [beyondAndClosed]: [], [dateIn(1, ROME)]: [] },
      } as never,
    });
    const service = await openService(professional, {
      min_notice: 3 * 24 * 60,
      max_advance_days: 30,
      ...values,
    });
    for (const date of [day, closed, beyond, dateIn(1, ROME), long]) {
      await createBooking(professional, {
        starts_at: at("10:00", date),
        ends_at: at("12:00", date),
      });
    }
    await createBooking(professional, { starts_at: at("18:00"), ends_at: at("19:00") });

    for (const [start, ...reasons] of STARTS) {
      const all = [...everywhere, ...reasons];
      const first = ORDER.find((reason) => all.includes(reason)) ?? "available";
      if (first === "available") {
        expect((await explain(service, start)).reason).toBe(first);
        expect((await book(anon, service, start)).error).toBeNull();
      } else {
        expect([start, await reasonOf(service, start)]).toEqual([start, first]);
      }
    }
  });

  it("an instant is looked at before the service, and the service before its times", async () => {
    const unknown = { id: crypto.randomUUID() };
    const service = await openService(await openProfessional(), { active: false });
    const cases: [{ id: string }, string, number, string][] = [
      [unknown, "tomorrow", 422, "invalid_time"],
      [service, "tomorrow", 422, "invalid_time"],
      [unknown, "2000-01-01T00:00:00Z", 404, "PGRST301"],
    ];

    for (const [{ id }, starts_at, status, code] of cases) {
      const explained = await anon.rpc("explain_slot", { service_id: id, starts_at });
      expect(refusal(explained)).toEqual({ status, code });
      expect(refusal(await book(anon, { id }, starts_at))).toEqual({ status, code });
    }
  });
});

describe("next_starts", () => {
  it("are the next three in the list, across booked times and nights", async () => {
    const professional = await openProfessional();
    const service = await openService(professional);
    await createBooking(professional, { starts_at: at("09:30"), ends_at: at("16:45") });
    const listed = await freeStarts(anon, service, day, dateAfter(day, 1));

    const { reason, next_starts } = await explain(service, at("12:00"));

    expect(reason).toBe("slot_taken");
    expect(next_starts).toEqual([at("16:45"), at("17:00"), at("09:00", dateAfter(day, 1))]);
    expect(next_starts).toEqual(listed.slice(0, 3));
  });

  it("are after now when the time asked for is long ago", async () => {
    const service = await openService(await openProfessional());
    const { next_starts } = await explain(service, "2001-01-01T10:00:00Z");

    expect(next_starts).toHaveLength(3);
    for (const start of next_starts) expect(Date.parse(start)).toBeGreaterThan(Date.now() - MINUTE);
  });

  it("are searched for 62 local days, the day asked for included", async () => {
    const withOnly = async (date: string) => {
      const professional = await openProfessional({
        availability: { weekly: {}, overrides: { [date]: [["09:00", "10:00"]] } } as never,
      });
      return openService(professional);
    };

    const [last, never] = [await withOnly(dateAfter(day, 61)), await withOnly(dateAfter(day, 62))];

    expect(await explain(last, at("10:00"))).toEqual({
      reason: "closed_date",
      next_starts: [at("09:00", dateAfter(day, 61))],
    });
    expect(await explain(never, at("10:00"))).toEqual({ reason: "closed_date", next_starts: [] });
  });
});

describe("the call", () => {
  it("answers GET too", async () => {
    const service = await openService(await openProfessional());
    const query = new URLSearchParams({ service_id: service.id, starts_at: at("10:00") });
    const response = await request(`/rest/v1/rpc/explain_slot?${query}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ reason: "available" });
  });

  it("without a service is 422 validation_failed, whatever the time; left out 404 PGRST202", async () => {
    for (const starts_at of [at("10:00"), "tomorrow"]) {
      const answer = await anon.rpc("explain_slot", { service_id: null as never, starts_at });
      expect(refusal(answer)).toEqual({ status: 422, code: "validation_failed" });
      expect(JSON.parse(answer.error?.details ?? "")).toEqual({ fields: ["service_id"] });
    }
    const left = await anon.rpc("explain_slot", { starts_at: at("10:00") } as never);
    expect(refusal(left)).toEqual({ status: 404, code: "PGRST202" });
  });

  it("with an unknown service is 404 PGRST301", async () => {
    const answer = await anon.rpc("explain_slot", {
      service_id: crypto.randomUUID(),
      starts_at: at("10:00"),
    });
    expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
  });

  it.each([
    null as never,
    "tomorrow",
    "infinity",
    "10:00",
    "2027-02-30T08:00:00Z",
    "2027-03-01T08:00:00",
  ])("with %j is 422 invalid_time", async (startsAt) => {
    const service = await openService(await openProfessional());
    const answer = await anon.rpc("explain_slot", {
      service_id: service.id,
      starts_at: startsAt,
    });
    expect(refusal(answer)).toEqual({ status: 422, code: "invalid_time" });
  });
});

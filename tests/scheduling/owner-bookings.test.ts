import { describe, expect, it } from "vitest";
import {
  dateAfter,
  dateIn,
  instantOf,
  iso,
  localTime,
  nextClockChange,
} from "../support/calendar.ts";
import { server } from "../support/callers.ts";
import { asCaller, raised, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createProfessional,
  createService,
  type Insert,
  type Professional,
} from "../support/factories.ts";
import { book, openProfessional, refusal } from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const HOUR = 3_600_000;
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));
const later = (instant: string, milliseconds: number) => iso(Date.parse(instant) + milliseconds);

async function shop(service: Parameters<typeof createService>[1] = {}) {
  const professional = await openProfessional();
  const [row, client] = await Promise.all([
    createService(professional, service),
    createClientRow(professional),
  ]);
  return { professional, service: row, client, ids: { client_id: client.id, service_id: row.id } };
}

function post(professional: Professional, values: Insert<"bookings"> | Insert<"bookings">[]) {
  return professional.api
    .from("bookings")
    .insert(values as never)
    .select("*");
}

function patch(professional: Professional, id: string, values: object) {
  return professional.api
    .from("bookings")
    .update(values as never)
    .eq("id", id)
    .select("*");
}

async function rowsOf(professional: Professional) {
  const { data } = await professional.api.from("bookings").select("*").order("starts_at");
  return data ?? [];
}

describe("POST by the owner", () => {
  it("takes name, price, currency, end, buffers and notice from the service and the profile", async () => {
    const { professional, client, service, ids } = await shop({
      name: "Colour",
      price: 80.5,
      duration: 90,
      buffer_before: 5,
      buffer_after: 10,
      cancellation_notice: 120,
    });

    const { data, error, status } = await post(professional, { ...ids, starts_at: at("10:00") });

    expect(error).toBeNull();
    expect(status).toBe(201);
    expect(data?.[0]).toMatchObject({
      professional_id: professional.id,
      client_id: client.id,
      service_id: service.id,
      service_name: "Colour",
      starts_at: at("10:00"),
      ends_at: at("11:30"),
      buffer_before: 5,
      buffer_after: 10,
      cancellation_notice: 120,
      price: 80.5,
      currency: "EUR",
      status: "confirmed",
      source: "owner",
      version: 1,
      notes: null,
      cancelled_at: null,
      metadata: {},
    });
  });

  it("keeps what is given instead", async () => {
    const { professional, ids } = await shop({ price: 80, duration: 90, buffer_after: 10 });

    const booking = await createBooking(professional, {
      ...ids,
      id: "00000000-0000-4000-8000-".concat(crypto.randomUUID().slice(-12)),
      starts_at: at("10:00"),
      ends_at: at("10:20"),
      price: 0,
      buffer_before: 0,
      buffer_after: 0,
      status: "pending",
      notes: "n",
      internal_notes: "i",
      metadata: { a: 1 },
    });

    expect(booking).toMatchObject({
      ends_at: at("10:20"),
      price: 0,
      buffer_before: 0,
      buffer_after: 0,
      status: "pending",
      notes: "n",
      internal_notes: "i",
      metadata: { a: 1 },
    });
  });

  it("is a copy: the service may change, the booking does not", async () => {
    const { professional, service, ids } = await shop({ name: "Cut", price: 30, duration: 30 });
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });

    const { error } = await professional.api
      .from("services")
      .update({ name: "Long cut", price: 60, duration: 60, buffer_after: 15 })
      .eq("id", service.id);

    expect(error).toBeNull();
    expect(await rowsOf(professional)).toEqual([booking]);
  });

  it("is not bound by working hours, grid, notice, horizon or what the public may book", async () => {
    const professional = await createProfessional({ accepts_bookings: false });
    const [service, client] = await Promise.all([
      createService(professional, {
        active: false,
        min_notice: 525_600,
        max_advance_days: 0,
      }),
      createClientRow(professional),
    ]);

    for (const startsAt of ["2001-02-03T04:05:06.789Z", iso(Date.now() - HOUR), at("03:07")]) {
      const { error } = await post(professional, {
        client_id: client.id,
        service_id: service.id,
        starts_at: startsAt,
      });
      expect(error).toBeNull();
    }
    expect((await rowsOf(professional))[0]).toMatchObject({
      starts_at: "2001-02-03T04:05:06.789Z",
      ends_at: "2001-02-03T05:05:06.789Z",
    });
  });

  it("without client and service is blocked time, which needs its end", async () => {
    const { professional, service } = await shop();

    const refused = await post(professional, { starts_at: at("10:00") });
    expect(refusal(refused)).toEqual({ status: 422, code: "ends_at_required" });

    const blocked = await createBooking(professional, {
      starts_at: at("10:00"),
      ends_at: at("12:00"),
    });
    expect(blocked).toMatchObject({
      client_id: null,
      service_id: null,
      service_name: null,
      price: 0,
      currency: "EUR",
      buffer_before: 0,
      buffer_after: 0,
    });
    expect(refusal(await book(professional.api, service, at("11:00"))).code).toBe("slot_taken");
  });

  it("needs client and service together", async () => {
    const { professional, ids } = await shop();
    for (const half of [{ client_id: ids.client_id }, { service_id: ids.service_id }]) {
      const answer = await post(professional, {
        ...half,
        starts_at: at("10:00"),
        ends_at: at("11:00"),
      });
      expect(refusal(answer)).toEqual({ status: 400, code: "23514" });
      expect(answer.error?.message).toContain("bookings_have_client_and_service_or_neither");
    }
  });

  it("of a service or client that is not one's own is 409 23503", async () => {
    const [mine, other] = await Promise.all([shop(), shop()]);
    for (const ids of [
      { ...mine.ids, service_id: other.service.id },
      { ...mine.ids, client_id: other.client.id },
      { ...mine.ids, service_id: crypto.randomUUID() },
    ]) {
      const answer = await post(mine.professional, { ...ids, starts_at: at("10:00") });
      expect(refusal(answer)).toEqual({ status: 409, code: "23503" });
    }
    expect(
      (await post(mine.professional, { ...mine.ids, starts_at: at("10:00") })).error,
    ).toBeNull();
  });

  it("for another professional is 403 42501, and tells nothing of their calendar", async () => {
    const [mine, other] = await Promise.all([shop(), shop()]);
    await createBooking(other.professional, { ...other.ids, starts_at: at("10:00") });

    for (const values of [
      { ...other.ids, starts_at: at("10:00") },
      { ...other.ids, starts_at: at("10:00"), ends_at: at("11:00"), price: 0.001 },
      { ...other.ids, starts_at: at("15:00"), service_id: crypto.randomUUID() },
      { ...other.ids, starts_at: at("15:00"), status: "cancelled" },
      { starts_at: at("10:00"), ends_at: at("11:00") },
      { starts_at: at("15:00") },
    ]) {
      const answer = await post(mine.professional, {
        ...values,
        professional_id: other.professional.id,
      });
      expect(refusal(answer)).toEqual({ status: 403, code: "42501" });
    }
    // Complete, so that no rule has to fill it, and without asking for the row back.
    const complete = await mine.professional.api.from("bookings").insert({
      professional_id: other.professional.id,
      starts_at: at("15:00"),
      ends_at: at("16:00"),
      buffer_before: 0,
      buffer_after: 0,
      price: 0,
    });
    expect(refusal(complete)).toEqual({ status: 403, code: "42501" });
    expect(await rowsOf(other.professional)).toHaveLength(1);
  });

  it.each(["cancelled", "completed", "no_show"])(
    "as %s is 409 invalid_transition",
    async (status) => {
      const { professional, ids } = await shop();
      const answer = await post(professional, { ...ids, starts_at: at("10:00"), status });
      expect(refusal(answer)).toEqual({ status: 409, code: "invalid_transition" });
      expect(JSON.parse(answer.error?.details ?? "")).toEqual({ from: null, to: status });
    },
  );

  it.each([
    ["source", { source: "public" }],
    ["version", { version: 7 }],
    ["currency", { currency: "USD" }],
    ["service_name", { service_name: "x" }],
    ["cancelled_at", { cancelled_at: at("10:00") }],
    ["created_at", { created_at: at("10:00") }],
  ])("cannot set %s", async (_, values) => {
    const { professional, ids } = await shop();
    const answer = await post(professional, { ...ids, starts_at: at("10:00"), ...values });
    expect(refusal(answer)).toEqual({ status: 403, code: "42501" });
  });

  it("of a taken time is 409 slot_taken, buffers included; the touching time is not taken", async () => {
    const { professional, ids } = await shop({ buffer_before: 10, buffer_after: 15 });
    await createBooking(professional, { ...ids, starts_at: at("10:00") });

    for (const time of ["09:00", "09:36", "10:00", "10:59", "11:24"]) {
      const answer = await post(professional, { ...ids, starts_at: at(time) });
      expect(refusal(answer)).toEqual({ status: 409, code: "slot_taken" });
    }
    for (const time of ["08:35", "11:25"]) {
      expect((await post(professional, { ...ids, starts_at: at(time) })).error).toBeNull();
    }
  });

  it("of two that overlap, in one body, saves neither", async () => {
    const { professional, ids } = await shop();

    const answer = await post(professional, [
      { ...ids, starts_at: at("10:00") },
      { ...ids, starts_at: at("10:30") },
    ]);

    expect(refusal(answer)).toEqual({ status: 409, code: "slot_taken" });
    expect(await rowsOf(professional)).toEqual([]);
    const apart = await post(professional, [
      { ...ids, starts_at: at("10:00") },
      { ...ids, starts_at: at("11:00") },
    ]);
    expect(apart.error).toBeNull();
  });

  it.each([
    ["no start", { starts_at: null }, "23502"],
    ["a state that is none", { status: "done" }, "23514"],
    ["no state", { status: null }, "23502"],
    ["an end before the start", { ends_at: at("09:00") }, "23514"],
    ["an end at the start", { ends_at: at("10:00") }, "23514"],
    ["an end a year and two days later", { ends_at: later(at("10:00"), 367 * 24 * HOUR) }, "23514"],
    ["an end after 2199", { starts_at: "2199-12-31T23:30:00Z" }, "23514"],
    ["a negative price", { price: -1 }, "23514"],
    ["a price of NaN", { price: "NaN" }, "23514"],
    ["a buffer below 0", { buffer_before: -1 }, "23514"],
    ["a buffer above a day", { buffer_after: 1441 }, "23514"],
    ["notes of 4001 characters", { notes: "x".repeat(4001) }, "23514"],
    ["internal notes of 10001 characters", { internal_notes: "x".repeat(10_001) }, "23514"],
    ["metadata that is no object", { metadata: [] }, "23514"],
    ["metadata of more than 8 kB", { metadata: { a: "x".repeat(8200) } }, "23514"],
  ])("with %s is 400, also when the calendar is not empty", async (_, values, code) => {
    const { professional, ids } = await shop();
    await createBooking(professional, { ...ids, starts_at: at("05:00") });

    const answer = await post(professional, {
      ...ids,
      starts_at: at("10:00"),
      ...values,
    } as never);

    expect(refusal(answer)).toEqual({ status: 400, code });
    expect(await rowsOf(professional)).toHaveLength(1);
  });

  it("with a price finer than the currency is 422 too_many_decimals", async () => {
    const professional = await openProfessional({ currency: "JPY" });
    const [service, client] = await Promise.all([
      createService(professional, { price: 3000 }),
      createClientRow(professional),
    ]);
    const ids = { client_id: client.id, service_id: service.id };

    const answer = await post(professional, { ...ids, starts_at: at("10:00"), price: 500.5 });
    expect(refusal(answer)).toEqual({ status: 422, code: "too_many_decimals" });

    const booking = await createBooking(professional, {
      ...ids,
      starts_at: at("10:00"),
      price: 500,
    });
    expect(booking).toMatchObject({ price: 500, currency: "JPY" });
  });
});

describe("PATCH by the owner", () => {
  it("of starts_at alone keeps the length", async () => {
    const { professional, ids } = await shop({ duration: 45 });
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });

    const { data } = await patch(professional, booking.id, { starts_at: at("14:10") });

    expect(data?.[0]).toMatchObject({
      id: booking.id,
      starts_at: at("14:10"),
      ends_at: at("14:55"),
      price: booking.price,
      version: 2,
    });
  });

  it("keeps the length of days over a clock change, whatever the session's time zone", async () => {
    const { professional, ids } = await shop();
    const change = nextClockChange(ROME, "forward");
    const start = iso(instantOf(dateAfter(change, -20), "12:00", ROME));
    const booking = await createBooking(professional, {
      ...ids,
      starts_at: start,
      ends_at: later(start, 50 * HOUR + 1),
    });
    const moved = iso(instantOf(dateAfter(change, -1), "12:00", ROME));

    const [row] = await asCaller(professional.claims, async (tx) => {
      await tx`select set_config('timezone', ${ROME}, true)`;
      return tx<{ starts_at: Date; ends_at: Date }[]>`
        update public.bookings set starts_at = ${moved} where id = ${booking.id}
        returning starts_at, ends_at`;
    });

    expect(row?.starts_at.toISOString()).toBe(moved);
    expect(row?.ends_at.toISOString()).toBe(later(moved, 50 * HOUR + 1));
  });

  it("of starts_at and ends_at sets both, also when the end is the one it had", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });

    const shorter = await patch(professional, booking.id, {
      starts_at: at("10:30"),
      ends_at: at("11:00"),
    });
    expect(shorter.data?.[0]).toMatchObject({ starts_at: at("10:30"), ends_at: at("11:00") });

    const longer = await patch(professional, booking.id, { ends_at: at("11:15") });
    expect(longer.data?.[0]).toMatchObject({ starts_at: at("10:30"), ends_at: at("11:15") });
  });

  it("moves over the old time of the same booking, and the old time is free at once", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });

    expect((await patch(professional, booking.id, { starts_at: at("10:15") })).error).toBeNull();
    expect((await post(professional, { ...ids, starts_at: at("09:15") })).error).toBeNull();
  });

  it("onto another booking is 409 slot_taken, and nothing moves", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    const other = await createBooking(professional, { ...ids, starts_at: at("12:00") });

    for (const values of [
      { starts_at: at("11:30") },
      { ends_at: at("12:01") },
      { starts_at: at("09:00"), ends_at: at("14:00") },
    ]) {
      expect(refusal(await patch(professional, booking.id, values))).toEqual({
        status: 409,
        code: "slot_taken",
      });
    }
    expect(await rowsOf(professional)).toEqual([booking, other]);
    expect((await patch(professional, booking.id, { ends_at: at("12:00") })).error).toBeNull();
  });

  it("of notes and the like raises the version by one, and dates the change", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    const values = {
      notes: "n",
      internal_notes: "i",
      cancel_reason: "r",
      metadata: { a: [1, { b: null }] },
    };

    const { data } = await patch(professional, booking.id, values);

    expect(data?.[0]).toMatchObject({ ...values, version: 2, status: "confirmed" });
    expect(Date.parse(data?.[0]?.updated_at ?? "")).toBeGreaterThan(Date.parse(booking.updated_at));
  });

  it("that changes nothing changes nothing: no version, no updated_at", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, {
      ...ids,
      starts_at: at("10:00"),
      notes: "n",
    });

    const { data } = await patch(professional, booking.id, {
      starts_at: booking.starts_at,
      ends_at: booking.ends_at,
      status: "confirmed",
      notes: "n",
      internal_notes: null,
      metadata: {},
    });

    expect(data).toEqual([booking]);
  });

  it("with &version=eq.n is compare-and-set: of two, one finds nothing", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    const set = (notes: string) =>
      patch(professional, booking.id, { notes }).eq("version", booking.version);

    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => set(`${n}`)));

    expect(answers.map(({ error }) => error)).toEqual(Array(8).fill(null));
    expect(answers.filter(({ data }) => data?.length === 1)).toHaveLength(1);
    expect((await rowsOf(professional))[0]?.version).toBe(2);
  });

  it.each([
    ["id", { id: crypto.randomUUID() }],
    ["professional_id", { professional_id: crypto.randomUUID() }],
    ["client_id", { client_id: null, service_id: null }],
    ["price", { price: 1 }],
    ["version", { version: 9 }],
    ["source", { source: "owner" }],
    ["cancelled_by", { cancelled_by: "client" }],
    ["buffer_after", { buffer_after: 0 }],
    ["cancellation_notice", { cancellation_notice: 0 }],
  ])("cannot set %s", async (_, values) => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    expect(refusal(await patch(professional, booking.id, values))).toEqual({
      status: 403,
      code: "42501",
    });
    expect(await rowsOf(professional)).toEqual([booking]);
  });

  it.each([
    ["no start", { starts_at: null }, "23502"],
    ["no end", { ends_at: null }, "23502"],
    ["no state", { status: null }, "23502"],
    ["a state that is none", { status: "done" }, "23514"],
    ["an end before the start", { ends_at: at("09:00") }, "23514"],
    ["a cancel_reason of 1001 characters", { cancel_reason: "x".repeat(1001) }, "23514"],
  ])("with %s is 400, also when the calendar is not empty", async (_, values, code) => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    const other = await createBooking(professional, { ...ids, starts_at: at("15:00") });

    expect(refusal(await patch(professional, booking.id, values))).toEqual({ status: 400, code });
    expect(await rowsOf(professional)).toEqual([booking, other]);
  });

  it("of another professional's booking finds no row", async () => {
    const [mine, other] = await Promise.all([shop(), shop()]);
    const booking = await createBooking(other.professional, {
      ...other.ids,
      starts_at: at("10:00"),
    });

    const answer = await patch(mine.professional, booking.id, { notes: "x" });

    expect(answer).toMatchObject({ status: 200, data: [], error: null });
    expect(await rowsOf(other.professional)).toEqual([booking]);
    expect((await patch(other.professional, booking.id, { notes: "x" })).data).toHaveLength(1);
  });

  it("DELETE is not granted: a booking is cancelled", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });

    const answer = await professional.api.from("bookings").delete().eq("id", booking.id);

    expect(refusal(answer)).toEqual({ status: 403, code: "42501" });
    expect(await rowsOf(professional)).toEqual([booking]);
  });
});

describe("cancelled by PATCH", () => {
  it("keeps who, when and why, and frees the time", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    const before = Date.now();

    const { data } = await patch(professional, booking.id, {
      status: "cancelled",
      cancel_reason: "ill",
    });

    expect(data?.[0]).toMatchObject({
      status: "cancelled",
      cancelled_by: "owner",
      cancel_reason: "ill",
      version: 2,
    });
    const cancelledAt = Date.parse(data?.[0]?.cancelled_at ?? "");
    expect(cancelledAt).toBeGreaterThan(before - 60_000);
    expect(cancelledAt).toBeLessThan(Date.now() + 60_000);
    expect((await post(professional, { ...ids, starts_at: at("10:00") })).error).toBeNull();
  });

  it("comes back as confirmed if its time is still free, and forgets the cancellation", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    await patch(professional, booking.id, { status: "cancelled", cancel_reason: "ill" });

    const { data } = await patch(professional, booking.id, { status: "confirmed" });

    expect(data?.[0]).toMatchObject({
      status: "confirmed",
      cancelled_at: null,
      cancelled_by: null,
      cancel_reason: null,
      version: 3,
    });
  });

  it("cannot come back into a taken time: 409 slot_taken; with a free one it can", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    await patch(professional, booking.id, { status: "cancelled" });
    await createBooking(professional, { ...ids, starts_at: at("10:30") });

    expect(refusal(await patch(professional, booking.id, { status: "confirmed" }))).toEqual({
      status: 409,
      code: "slot_taken",
    });
    const elsewhere = await patch(professional, booking.id, {
      status: "confirmed",
      starts_at: at("12:00"),
    });
    expect(elsewhere.data?.[0]).toMatchObject({ status: "confirmed", starts_at: at("12:00") });
  });

  it("cannot be moved while cancelled: 409 invalid_transition", async () => {
    const { professional, ids } = await shop();
    const booking = await createBooking(professional, { ...ids, starts_at: at("10:00") });
    await patch(professional, booking.id, { status: "cancelled" });

    const answer = await patch(professional, booking.id, { starts_at: at("12:00") });
    expect(refusal(answer)).toEqual({ status: 409, code: "invalid_transition" });
    expect(answer.error?.hint).toBeTruthy();
    expect((await patch(professional, booking.id, { notes: "moved?" })).error).toBeNull();
  });
});

describe("behind the rules", () => {
  it("the constraint itself refuses an overlap that no trigger saw", async () => {
    const { professional, ids } = await shop({ buffer_after: 15 });
    await createBooking(professional, { ...ids, starts_at: at("10:00") });
    const other = await createBooking(professional, { ...ids, starts_at: at("12:00") });

    // A writer whose lock is another professional's: the rules look away, the constraint does not.
    const move = (time: string) =>
      sql.begin(async (tx) => {
        const claims = { role: "authenticated", sub: crypto.randomUUID() };
        await tx`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
        await tx`update public.bookings set starts_at = ${at(time)} where id = ${other.id}`;
      });

    expect((await raised(move("11:14"))).code).toBe("23P01");
    await move("11:15");
    expect((await rowsOf(professional))[1]?.starts_at).toBe(at("11:15"));
  });

  it("a server's booking names the professional and follows the same rules", async () => {
    const { professional, ids } = await shop();
    const values = { ...ids, professional_id: professional.id, starts_at: at("10:00") };

    const first = await server().from("bookings").insert(values).select("*").single();
    const second = await server().from("bookings").insert(values).select("*").single();

    expect(first.data).toMatchObject({ ends_at: at("11:00"), currency: "EUR", version: 1 });
    expect(refusal(second)).toEqual({ status: 409, code: "slot_taken" });
  });

  it("times are shown to the millisecond in UTC", async () => {
    const { professional, ids } = await shop();
    const start = `${day}T12:00:00.123456+02:00`;
    const booking = await createBooking(professional, { ...ids, starts_at: start });
    expect(booking.starts_at).toBe(`${day}T10:00:00.123Z`);
    expect(localTime(Date.parse(booking.ends_at), "UTC")).toBe("11:00");
  });
});

import { describe, expect, it } from "vitest";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { type Api, anonymous, server } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  createService,
  type Insert,
} from "../support/factories.ts";
import { book, freeStarts, nextStarts, openProfessional, refusal } from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const HOUR = 3_600_000;
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));

/** A client's booking at 10:00, with everybody who may or may not touch it. */
async function booked(
  service: Partial<Insert<"services">> = {},
  values: Partial<Insert<"bookings">> = {},
) {
  const professional = await openProfessional();
  const [row, client] = await Promise.all([
    createService(professional, { duration: 60, slot_step: 15, ...service }),
    createClientRow(professional),
  ]);
  const [booking, portal] = await Promise.all([
    createBooking(professional, {
      client_id: client.id,
      service_id: row.id,
      starts_at: at("10:00"),
      ...values,
    }),
    createPortalSession(client),
  ]);
  return { professional, service: row, client, booking, portal };
}

const cancel = (api: Api, booking_id: string, reason?: string) =>
  api.rpc("cancel_booking", { booking_id, ...(reason !== undefined && { reason }) });

const move = (api: Api, booking_id: string, starts_at: string) =>
  api.rpc("reschedule_booking", { booking_id, starts_at });

/** The row as it is, by a caller who bypasses everything. */
async function stored(id: string) {
  const { data } = await server().from("bookings").select("*").eq("id", id).single();
  return data;
}

/** Minutes of notice that are just kept, and just missed, by a booking that starts then. */
const noticeBefore = (startsAt: string) => Math.floor((Date.parse(startsAt) - Date.now()) / 60_000);

describe("cancel_booking", () => {
  it("by the owner keeps who, when and why, and answers the receipt", async () => {
    const { professional, booking } = await booked();

    const { data, error } = await cancel(professional.api, booking.id, "closed that day");

    expect(error).toBeNull();
    expect(data).toEqual({
      id: booking.id,
      professional_id: professional.id,
      service_id: booking.service_id,
      service_name: booking.service_name,
      status: "cancelled",
      starts_at: booking.starts_at,
      ends_at: booking.ends_at,
      cancel_until: booking.starts_at,
      price: booking.price,
      currency: "EUR",
      notes: null,
      version: 2,
      expires_at: null,
      order_id: null,
      checkout_token: null,
      amount_due: null,
    });
    const row = await stored(booking.id);
    expect(row).toMatchObject({ cancelled_by: "owner", cancel_reason: "closed that day" });
    expect(row?.cancelled_at).toBe(row?.updated_at);
  });

  it("by the client is recorded as the client's", async () => {
    const { portal, booking } = await booked();

    const { data } = await cancel(portal.api, booking.id, "ill");

    expect(data).toMatchObject({ id: booking.id, status: "cancelled", version: 2 });
    expect(await stored(booking.id)).toMatchObject({
      cancelled_by: "client",
      cancel_reason: "ill",
    });
  });

  it("by a server counts as the owner's", async () => {
    const { booking } = await booked();
    expect((await cancel(server(), booking.id)).data?.status).toBe("cancelled");
    expect((await stored(booking.id))?.cancelled_by).toBe("owner");
  });

  it("twice returns the same row and does nothing, whoever asks", async () => {
    const { professional, portal, booking } = await booked();
    const first = await cancel(portal.api, booking.id, "ill");
    const row = await stored(booking.id);

    const again = [
      await cancel(portal.api, booking.id, "another reason"),
      await cancel(professional.api, booking.id, "another reason"),
    ];

    for (const { data } of again) expect(data).toEqual(first.data);
    expect(await stored(booking.id)).toEqual(row);
  });

  it("frees the time at once", async () => {
    const { portal, service, booking } = await booked();
    expect(await freeStarts(anon, service, day)).not.toContain(at("10:00"));

    await cancel(portal.api, booking.id);

    expect(await freeStarts(anon, service, day)).toContain(at("10:00"));
    expect((await book(anon, service, at("10:00"))).error).toBeNull();
  });

  it("by the client ends with the notice it was booked with: 422 too_late; the owner still may", async () => {
    const { professional, portal, booking } = await booked({
      cancellation_notice: noticeBefore(at("10:00")) + 1,
    });

    expect(refusal(await cancel(portal.api, booking.id))).toEqual({
      status: 422,
      code: "too_late",
    });
    expect(refusal(await move(portal.api, booking.id, at("12:00")))).toEqual({
      status: 422,
      code: "too_late",
    });
    expect(await stored(booking.id)).toEqual(booking);

    // Later by the hours that it starts later.
    expect((await move(professional.api, booking.id, at("12:00"))).error).toBeNull();
    expect((await move(portal.api, booking.id, at("13:00"))).error).toBeNull();
    expect((await move(professional.api, booking.id, at("10:00"))).error).toBeNull();
    expect((await cancel(professional.api, booking.id)).error).toBeNull();
    // Nothing is left to be too late for.
    expect((await cancel(portal.api, booking.id)).data?.status).toBe("cancelled");
  });

  it("is not bound by a notice that the service has been given since, nor freed by one that is gone", async () => {
    const [free, bound] = await Promise.all([
      booked(),
      booked({ cancellation_notice: noticeBefore(at("10:00")) + 1 }),
    ]);
    for (const [{ professional, service }, minutes] of [
      [free, 525_600],
      [bound, 0],
    ] as const) {
      const { error } = await professional.api
        .from("services")
        .update({ cancellation_notice: minutes })
        .eq("id", service.id);
      expect(error).toBeNull();
    }

    expect((await move(free.portal.api, free.booking.id, at("12:00"))).error).toBeNull();
    expect((await cancel(free.portal.api, free.booking.id)).data?.status).toBe("cancelled");
    expect(refusal(await cancel(bound.portal.api, bound.booking.id)).code).toBe("too_late");
  });

  it("tells the client until when: cancel_until in the receipt, the notice in the row", async () => {
    const { portal, booking } = await booked({ cancellation_notice: 90 });

    const { data } = await move(portal.api, booking.id, at("12:00"));

    expect(data?.cancel_until).toBe(at("10:30"));
    const { data: row } = await portal.api
      .from("bookings")
      .select("starts_at, cancellation_notice")
      .single();
    expect(row).toEqual({ starts_at: at("12:00"), cancellation_notice: 90 });
  });

  it("by the client ends with the start when there is no notice; the owner still may", async () => {
    const { professional, portal, booking } = await booked();
    await sql`update public.bookings set starts_at = now() - interval '1 minute' where id = ${booking.id}`;

    expect(refusal(await cancel(portal.api, booking.id))).toEqual({
      status: 422,
      code: "too_late",
    });
    expect((await cancel(professional.api, booking.id)).data?.status).toBe("cancelled");
  });

  it("of blocked time is the owner's, and nobody else's", async () => {
    const { professional, portal } = await booked();
    const blocked = await createBooking(professional, {
      starts_at: at("13:00"),
      ends_at: at("14:00"),
    });

    expect(refusal(await cancel(portal.api, blocked.id))).toEqual({
      status: 404,
      code: "PGRST301",
    });
    expect((await cancel(professional.api, blocked.id)).data).toMatchObject({
      status: "cancelled",
      cancel_until: null,
      service_id: null,
      service_name: null,
    });
  });

  it("with a reason of 1001 characters is 422 validation_failed", async () => {
    const { professional, booking } = await booked();
    expect(refusal(await cancel(professional.api, booking.id, "x".repeat(1001)))).toEqual({
      status: 422,
      code: "validation_failed",
    });
    expect((await cancel(professional.api, booking.id, "x".repeat(1000))).error).toBeNull();
  });
});

describe("reschedule_booking", () => {
  it("by the owner keeps id, price and length, raises the version and frees the old time", async () => {
    const { professional, service, booking } = await booked({ duration: 30, price: 25.5 });
    await professional.api
      .from("services")
      .update({ duration: 60, price: 99 })
      .eq("id", service.id);

    const { data, error } = await move(professional.api, booking.id, at("14:00"));

    expect(error).toBeNull();
    expect(data).toMatchObject({
      id: booking.id,
      starts_at: at("14:00"),
      ends_at: at("14:30"),
      price: 25.5,
      status: "confirmed",
      version: 2,
    });
    expect(await freeStarts(anon, service, day)).toContain(at("10:00"));
    expect((await book(anon, service, at("10:00"))).error).toBeNull();
  });

  it("by the client keeps the 30 minutes when the service is 60 by now", async () => {
    const { professional, portal, service, booking } = await booked({ duration: 30 });
    await professional.api.from("services").update({ duration: 60 }).eq("id", service.id);

    // The last 30 minutes of the day, where 60 would not fit.
    const { data } = await move(portal.api, booking.id, at("17:30"));

    expect(data).toMatchObject({ starts_at: at("17:30"), ends_at: at("18:00"), version: 2 });
  });

  it("moves by 15 minutes over its own old time, for owner and client", async () => {
    const { professional, portal, booking } = await booked({ buffer_before: 5, buffer_after: 10 });

    expect((await move(professional.api, booking.id, at("10:15"))).data?.starts_at).toBe(
      at("10:15"),
    );
    expect((await move(portal.api, booking.id, at("10:30"))).data?.starts_at).toBe(at("10:30"));
  });

  it("to the time it has does nothing, even when it is too late to move", async () => {
    const { professional, portal, booking } = await booked({ cancellation_notice: 525_600 });

    for (const api of [professional.api, portal.api]) {
      expect((await move(api, booking.id, booking.starts_at)).data?.version).toBe(1);
    }
    expect(await stored(booking.id)).toEqual(booking);
  });

  it("binds the client to what is free, with the same codes and proposals as booking", async () => {
    const { professional, portal, booking } = await booked({ min_notice: 60 });
    await createBooking(professional, { starts_at: at("12:00"), ends_at: at("13:00") });
    const cases: [string, number, string, string[]][] = [
      [at("08:00"), 422, "outside_hours", [at("09:00"), at("09:15"), at("09:30")]],
      [at("09:05"), 422, "not_on_grid", [at("09:15"), at("09:30"), at("09:45")]],
      [at("12:00"), 409, "slot_taken", [at("13:00"), at("13:15"), at("13:30")]],
    ];

    for (const [start, status, code, proposals] of cases) {
      const answer = await move(portal.api, booking.id, start);
      expect(refusal(answer)).toEqual({ status, code });
      expect(nextStarts(answer)).toEqual(proposals);
    }
    expect(refusal(await move(portal.api, booking.id, iso(Date.now() - HOUR))).code).toBe("past");
    expect(refusal(await move(portal.api, booking.id, iso(Date.now() + HOUR / 2))).code).toBe(
      "too_soon",
    );
    expect(await stored(booking.id)).toEqual(booking);
  });

  it("does not bind the owner to hours, grid or the present, but to overlap", async () => {
    const { professional, booking } = await booked();
    await createBooking(professional, { starts_at: at("12:00"), ends_at: at("13:00") });

    expect(refusal(await move(professional.api, booking.id, at("11:30")))).toEqual({
      status: 409,
      code: "slot_taken",
    });
    for (const start of [at("05:07"), iso(Date.now() - 48 * HOUR)]) {
      expect((await move(professional.api, booking.id, start)).data?.starts_at).toBe(start);
    }
  });

  it("by the client returns to pending when the service requires confirmation; by the owner not", async () => {
    const { professional, portal, booking } = await booked({ requires_confirmation: true });
    expect(booking.status).toBe("confirmed");

    expect((await move(professional.api, booking.id, at("11:00"))).data?.status).toBe("confirmed");
    expect((await move(portal.api, booking.id, at("12:00"))).data?.status).toBe("pending");
    // And does not confirm itself by moving again.
    expect((await move(portal.api, booking.id, at("13:00"))).data).toMatchObject({
      status: "pending",
      version: 4,
    });
  });

  it("by the client of a service without confirmation stays as it is", async () => {
    const { professional, portal, booking } = await booked();
    expect((await move(portal.api, booking.id, at("11:00"))).data?.status).toBe("confirmed");

    await professional.api.rpc("cancel_booking", { booking_id: booking.id });
    const { booking: pending, portal: other } = await booked({}, { status: "pending" });
    expect((await move(other.api, pending.id, at("11:00"))).data?.status).toBe("pending");
  });

  it("of a booking that is not live is 409 invalid_transition", async () => {
    const { professional, portal, booking } = await booked();
    await cancel(professional.api, booking.id);
    for (const api of [professional.api, portal.api, server()]) {
      for (const start of [at("11:00"), booking.starts_at]) {
        const answer = await move(api, booking.id, start);
        expect(refusal(answer)).toEqual({ status: 409, code: "invalid_transition" });
        // From a state to itself would explain nothing.
        expect(answer.error?.hint).toBeTruthy();
      }
    }
  });

  it.each(["tomorrow", "infinity", "10:00", "2027-02-30T08:00:00Z", ""])(
    "to %j is 422 invalid_time",
    async (start) => {
      const { professional, booking } = await booked();
      expect(refusal(await move(professional.api, booking.id, start))).toEqual({
        status: 422,
        code: "invalid_time",
      });
    },
  );

  it("to a time the table cannot hold is 400 23514", async () => {
    const { professional, booking } = await booked();
    expect(refusal(await move(professional.api, booking.id, "2199-12-31T23:30:00Z"))).toEqual({
      status: 400,
      code: "23514",
    });
  });
});

describe("somebody else's booking", () => {
  it("cannot be cancelled or moved: 404 PGRST301, the same as for an id that does not exist", async () => {
    const [mine, other] = await Promise.all([booked(), booked()]);
    const neighbour = await createPortalSession(await createClientRow(mine.professional));
    const unknown = crypto.randomUUID();
    const calls = (api: Api, id: string) => [
      cancel(api, id),
      move(api, id, at("12:00")),
      move(api, id, mine.booking.starts_at),
    ];

    const refused = await Promise.all([
      // Another professional, their client, and another client of the same professional.
      ...calls(other.professional.api, mine.booking.id),
      ...calls(other.portal.api, mine.booking.id),
      ...calls(neighbour.api, mine.booking.id),
      ...calls(mine.professional.api, unknown),
      ...calls(mine.portal.api, unknown),
      ...calls(server(), unknown),
    ]);

    for (const answer of refused) {
      expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
      expect(answer.error).toEqual(refused[0]?.error);
    }
    expect(await stored(mine.booking.id)).toEqual(mine.booking);
    expect((await cancel(mine.professional.api, mine.booking.id)).error).toBeNull();
  });

  it("cannot be seen", async () => {
    const [mine, other] = await Promise.all([booked(), booked()]);
    const neighbour = await createPortalSession(await createClientRow(mine.professional));

    for (const api of [other.professional.api, other.portal.api, neighbour.api]) {
      const { data } = await api.from("bookings").select("id").eq("id", mine.booking.id);
      expect(data).toEqual([]);
    }
    for (const api of [mine.professional.api, mine.portal.api]) {
      const { data } = await api.from("bookings").select("id").eq("id", mine.booking.id);
      expect(data).toEqual([{ id: mine.booking.id }]);
    }
  });

  it("cannot be touched by the public at all: 401 42501", async () => {
    const { booking } = await booked();
    for (const answer of await Promise.all([
      cancel(anon, booking.id),
      move(anon, booking.id, at("12:00")),
    ])) {
      expect(refusal(answer)).toEqual({ status: 401, code: "42501" });
    }
  });
});

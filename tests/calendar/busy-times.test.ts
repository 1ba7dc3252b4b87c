/** Which starts are offered when the professional is busy elsewhere, and who is told why not. */
import { beforeAll, describe, expect, it, test } from "vitest";
import { busyTimesOf, makeBusy } from "../support/busy.ts";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { anonymous, bearer, server } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createPortalSession,
  createProfessional,
  type Professional,
} from "../support/factories.ts";
import {
  book,
  type Explanation,
  freeStarts,
  nextStarts,
  openProfessional,
  openService,
  refusal,
} from "../support/scheduling.ts";

const anon = anonymous();
const date = dateIn(30);
const at = (time: string, day = date) => iso(instantOf(day, time, "UTC"));

let ana: Professional;
let service: { id: string };

/** Open from 09:00 to 18:00 UTC, an hour each hour; busy from 11:00 to 12:30. */
beforeAll(async () => {
  ana = await openProfessional({ time_zone: "UTC" });
  service = await openService(ana, { slot_step: 60, buffer_after: 0 });
  await makeBusy(ana, [at("11:00"), at("12:30")]);
});

const explain = async (api: ReturnType<typeof anonymous>, start: string, of = service) => {
  const { data, error } = await api.rpc("explain_slot", { service_id: of.id, starts_at: start });
  if (error) throw new Error(JSON.stringify(error));
  return data as unknown as Explanation;
};

const OTHERS = ["09:00", "10:00", "13:00", "14:00", "15:00", "16:00", "17:00"].map((t) => at(t));

describe("a start in busy time", () => {
  it("is offered to nobody", async () => {
    const ivo = await createProfessional();
    for (const api of [anon, ana.api, ivo.api, server()]) {
      expect(await freeStarts(api, service, date)).toEqual(OTHERS);
    }
  });

  it("touches what is before and after it without being in its way", async () => {
    expect((await explain(anon, at("10:00"))).reason).toBe("available");
    expect((await explain(anon, at("12:00"))).reason).toBe("slot_taken");
    const half = await openService(ana, { slot_step: 30 });
    expect((await explain(anon, at("12:30"), half)).reason).toBe("available");
    expect((await explain(anon, at("10:30"), half)).reason).toBe("slot_taken");
    expect(await freeStarts(anon, half, date)).toContain(at("12:30"));
  });

  it("needs its buffers free, too", async () => {
    const buffered = await openService(ana, {
      slot_step: 60,
      buffer_before: 45,
      buffer_after: 15,
    });
    expect(await freeStarts(anon, buffered, date)).toEqual(
      OTHERS.filter((start) => start !== at("10:00") && start !== at("13:00")),
    );
  });

  it("is explained as busy to the professional alone, with what is free instead", async () => {
    const next_starts = [at("13:00"), at("14:00"), at("15:00")];
    const ivo = await createProfessional();
    const client = await createClientRow(ana);
    const portal = await createPortalSession(client);
    const link = await createBookingSession(
      await createBooking(ana, {
        client_id: client.id,
        service_id: service.id,
        starts_at: at("09:00", dateIn(40)),
      }),
    );
    for (const api of [anon, ivo.api, server(), bearer(portal.token), bearer(link.token)]) {
      expect(await explain(api, at("11:00"))).toEqual({ reason: "slot_taken", next_starts });
    }
    expect(await explain(ana.api, at("11:00"))).toEqual({ reason: "busy", next_starts });
  });

  it("is slot_taken for the professional as well where a booking is in the way", async () => {
    const eva = await openProfessional({ time_zone: "UTC" });
    const hers = await openService(eva, { slot_step: 60 });
    await makeBusy(eva, [at("11:00"), at("12:30")]);
    await createBooking(eva, {
      client_id: (await createClientRow(eva)).id,
      service_id: hers.id,
      starts_at: at("11:00"),
    });
    expect((await explain(eva.api, at("11:00"), hers)).reason).toBe("slot_taken");
    expect((await explain(eva.api, at("12:00"), hers)).reason).toBe("busy");
  });

  it("cannot be booked by the public, nor by an RPC of the professional", async () => {
    const mine = await book(ana.api, service, at("11:00"));
    expect(refusal(mine)).toEqual({ status: 409, code: "busy" });
    const theirs = await book(anon, service, at("11:00"));
    expect(refusal(theirs)).toEqual({ status: 409, code: "slot_taken" });
    expect(nextStarts(theirs)).toEqual([at("13:00"), at("14:00"), at("15:00")]);
    expect(JSON.stringify(theirs)).not.toContain("busy");
    expect(refusal(await book(server(), service, at("11:00"))).code).toBe("slot_taken");
    // What is beside it can.
    const eva = await openProfessional({ time_zone: "UTC" });
    const hers = await openService(eva, { slot_step: 60 });
    await makeBusy(eva, [at("11:00"), at("12:30")]);
    expect((await book(anon, hers, at("10:00"))).error).toBeNull();
    expect((await book(anon, hers, at("13:00"))).error).toBeNull();
  });

  it("cannot be booked in the portal", async () => {
    const client = await createClientRow(ana);
    const api = bearer((await createPortalSession(client)).token);
    const inPortal = (start: string) =>
      api.rpc("create_booking", { service_id: service.id, starts_at: start });
    expect(refusal(await inPortal(at("12:00")))).toEqual({ status: 409, code: "slot_taken" });
    const free = dateIn(33);
    expect((await inPortal(at("12:00", free))).data?.starts_at).toBe(at("12:00", free));
  });

  it("is none that a client can move to, in the portal or by a link", async () => {
    const client = await createClientRow(ana);
    const day = dateIn(34);
    await makeBusy(ana, [at("11:00", day), at("12:30", day)]);
    const booking = await createBooking(ana, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at("09:00", day),
    });
    const move = (api: ReturnType<typeof anonymous>, start: string) =>
      api.rpc("reschedule_booking", { booking_id: booking.id, starts_at: start });
    for (const token of [
      (await createPortalSession(client)).token,
      (await createBookingSession(booking)).token,
    ]) {
      const api = bearer(token);
      expect(refusal(await move(api, at("12:00", day)))).toEqual({
        status: 409,
        code: "slot_taken",
      });
      expect(await freeStarts(api, service, day, day, booking.id)).toContain(at("09:00", day));
      expect(await freeStarts(api, service, day, day, booking.id)).not.toContain(at("12:00", day));
    }
    expect(
      (await move(bearer((await createPortalSession(client)).token), at("13:00", day))).data,
    ).toMatchObject({ starts_at: at("13:00", day) });
  });
});

describe("the professional", () => {
  const day = dateIn(35);
  beforeAll(() => makeBusy(ana, [at("00:00", day), at("24:00", day)]));

  it("writes and moves bookings where the calendar says busy", async () => {
    const booking = await createBooking(ana, {
      client_id: (await createClientRow(ana)).id,
      service_id: service.id,
      starts_at: at("11:00", day),
    });
    expect(booking.status).toBe("confirmed");
    const { data, error } = await ana.api.rpc("reschedule_booking", {
      booking_id: booking.id,
      starts_at: at("12:00", day),
    });
    expect([data?.starts_at, error]).toEqual([at("12:00", day), null]);
    const update = await ana.api
      .from("bookings")
      .update({ starts_at: at("13:00", day) })
      .eq("id", booking.id);
    expect(update.error).toBeNull();
    const blocked = await ana.api
      .from("bookings")
      .insert({ starts_at: at("16:00", day), ends_at: at("17:00", day) });
    expect(blocked.error).toBeNull();
  });

  it("keeps, confirms and takes back bookings that stand in it", async () => {
    const eva = await openProfessional({ time_zone: "UTC" });
    const hers = await openService(eva, { slot_step: 60, requires_confirmation: true });
    const made = await book(anon, hers, at("11:00"));
    await makeBusy(eva, [at("00:00"), at("24:00")]);
    const id = made.data?.id as string;
    for (const status of ["confirmed", "cancelled", "confirmed"]) {
      const { error } = await eva.api.from("bookings").update({ status }).eq("id", id);
      expect(error).toBeNull();
    }
  });

  it("has a hold confirmed by its link in it", async () => {
    const eva = await openProfessional({ time_zone: "UTC", verify_public_email: true });
    const hers = await openService(eva, { slot_step: 60 });
    const { data } = await book(anon, hers, at("11:00"));
    await makeBusy(eva, [at("00:00"), at("24:00")]);
    const [row] = await sql<{ link_epoch: number }[]>`
      select c.link_epoch from public.clients c
      join public.bookings b on b.client_id = c.id where b.id = ${data?.id as string}`;
    const { error } = await server().rpc("confirm_hold", {
      kind: "booking",
      id: data?.id as string,
      link_epoch: row?.link_epoch as number,
    });
    expect(error).toBeNull();
    const { data: booking } = await eva.api
      .from("bookings")
      .select("status, expires_at")
      .eq("id", data?.id as string)
      .single();
    expect(booking).toEqual({ status: "confirmed", expires_at: null });
  });
});

test("a time of somebody else blocks nothing", async () => {
  const [eva, ivo] = await Promise.all([
    openProfessional({ time_zone: "UTC" }),
    openProfessional({ time_zone: "UTC" }),
  ]);
  const hers = await openService(eva, { slot_step: 60 });
  await makeBusy(ivo, [at("00:00"), at("24:00")]);
  expect(await freeStarts(anon, hers, date)).toHaveLength(9);
});

test("times of several calendars add up, also where they overlap", async () => {
  const eva = await openProfessional({ time_zone: "UTC" });
  const hers = await openService(eva, { slot_step: 60 });
  await makeBusy(eva, [at("09:00"), at("11:00")], [at("16:30"), at("16:40")]);
  await makeBusy(eva, [at("10:00"), at("14:00")], [at("17:00"), at("19:00")]);
  expect(await freeStarts(anon, hers, date)).toEqual([at("14:00"), at("15:00")]);
});

test("no role of the API reads or writes them", async () => {
  const rows = await sql`
    select grantee, privilege_type from information_schema.role_table_grants
    where table_schema = 'private' and table_name in ('busy_times', 'busy_calendars')
      and grantee in ('anon', 'authenticated', 'portal_client', 'portal_booking', 'service_role')`;
  expect(rows).toEqual([]);
});

test.each([
  ["that is empty", "{}"],
  ["without an end", "{[2027-01-01,)}"],
  ["without a beginning", "{(,2027-01-01)}"],
  ["that never ends", "{[2027-01-01,infinity)}"],
  ["with its end in it", "{[2027-01-01 10:00Z,2027-01-01 11:00Z]}"],
  ["of another week", "{[2027-01-07 10:00Z,2027-01-07 11:00Z)}"],
])("a time %s is refused", async (_, during) => {
  // A Thursday, as 1 January 1970 was.
  const call = sql`
    insert into private.busy_times (professional_id, source_id, week, during)
    values (${ana.id}, ${crypto.randomUUID()}, '2026-12-31T00:00:00Z', ${during})`;
  await expect(call).rejects.toMatchObject({
    code: "23514",
    constraint_name: "busy_times_during_is_in_its_week",
  });
});

test("a week that begins elsewhere is refused", async () => {
  const call = sql`
    insert into private.busy_times (professional_id, source_id, week, during)
    values (
      ${ana.id}, ${crypto.randomUUID()}, '2027-01-01T00:00:00Z',
      '{[2027-01-01 10:00Z,2027-01-01 11:00Z)}'
    )`;
  await expect(call).rejects.toMatchObject({
    constraint_name: "busy_times_week_is_seven_days_after_another",
  });
});

test("times over weeks, at their edges and across all of them, are the same times", async () => {
  const ranges: [string, string][] = [
    ["2027-01-06T23:30:00.000Z", "2027-01-07T00:00:00.000Z"],
    ["2027-01-14T00:00:00.000Z", "2027-01-14T00:30:00.000Z"],
    ["2027-01-20T22:00:00.000Z", "2027-02-11T01:00:00.000Z"],
    ["2027-02-12T10:00:00.000Z", "2027-02-12T10:00:00.001Z"],
  ];
  const eva = await createProfessional();
  const source = await makeBusy(eva, ...ranges);
  expect(await busyTimesOf({ id: source })).toEqual(ranges.map((range) => range.join("/")));
  const [rows] = await sql`
    select count(*)::integer as weeks from private.busy_times where source_id = ${source}`;
  expect(rows?.weeks).toBe(6);
});

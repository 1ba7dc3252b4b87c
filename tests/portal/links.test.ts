import { randomBytes, randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import type { Link } from "../../supabase/functions/_shared/links.ts";
import { dateIn, iso } from "../support/calendar.ts";
import { request, signToken } from "../support/callers.ts";
import { parallelConnections, rolledBack, sql, tryAsCaller } from "../support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createOrder,
  createPortalSession,
  createProfessional,
  type PortalSession,
  type Professional,
  type Row,
} from "../support/factories.ts";
import {
  INVALID_LINK,
  manageLink,
  manageToken,
  openLink,
  previousKey,
  signLink,
} from "../support/links.ts";
import { COMMANDS, TABLES } from "../support/permissions.ts";
import { callFunction, outcome, type PortalAnswer } from "../support/portal.ts";
import { freeStarts, openProfessional, openService, refusal } from "../support/scheduling.ts";
import { stack } from "../support/stack.ts";

const HOUR = 3_600_000;
const DAY = dateIn(30, "Europe/Rome");
const VOUCHER = [{ name: "Voucher", unit_price: 20, quantity: 1 }];
const OPENED = { status: 200 };
const ENDED = { status: 401, code: "session_not_found" };

let professional: Professional;
let service: Row<"services">;
let hours = 48;

beforeAll(async () => {
  professional = await openProfessional({ accepts_orders: true });
  service = await openService(professional);
});

interface Booked {
  client: Row<"clients">;
  booking: Row<"bookings">;
}

/** A booking of a client of its own, at a time of its own. */
async function booked(values: Partial<Row<"bookings">> = {}): Promise<Booked> {
  const client = await createClientRow(professional, { phone: "+39 1", notes: "secret" });
  hours += 2;
  const booking = await createBooking(professional, {
    client_id: client.id,
    service_id: service.id,
    starts_at: iso(Date.now() + hours * HOUR),
    internal_notes: "secret",
    ...values,
  } as Parameters<typeof createBooking>[1]);
  return { client, booking };
}

const open = async (link: Link, key?: string) => outcome(await openLink(await signLink(link, key)));

async function openedBy(token: string): Promise<PortalAnswer> {
  const response = await openLink(token);
  expect(response.status).toBe(200);
  return (await response.json()) as PortalAnswer;
}

const seenWith = async (token: string) =>
  outcome(await request("/rest/v1/bookings?select=id", { token }));

describe("the link of a booking", () => {
  test("opens a session like a code's, without an address, for an hour", async () => {
    const { client, booking } = await booked();
    const response = await openLink(await manageToken(booking));
    expect(response.headers.get("cache-control")).toBe("no-store");
    const text = await response.text();
    expect(text).not.toContain(client.email);
    const answer = JSON.parse(text) as PortalAnswer;
    const [profile] = await sql`
      select id, full_name, username, time_zone, currency from public.profiles
      where id = ${professional.id}`;
    expect(answer).toEqual({
      access_token: expect.any(String),
      token_type: "bearer",
      expires_in: 3600,
      expires_at: expect.any(Number),
      client: { id: client.id, name: client.name },
      professional: profile,
    });
    const claims = decodeJwt(answer.access_token);
    expect(claims).toEqual({
      role: "portal_booking",
      sub: client.id,
      professional_id: professional.id,
      booking_id: booking.id,
      session_id: expect.any(String),
      aud: "portal",
      iat: answer.expires_at - 3600,
      exp: answer.expires_at,
    });
    expect(await seenWith(answer.access_token)).toEqual(OPENED);
  });

  test("opens as often as it is asked, each time a session of its own", async () => {
    const { booking } = await booked();
    const token = await manageToken(booking);
    const [first, second] = [await openedBy(token), await openedBy(token)];
    await fetch(`${stack.apiUrl}/functions/v1/verify-portal-otp/sign-out`, {
      method: "POST",
      headers: { authorization: `Bearer ${first.access_token}` },
    });
    expect(await seenWith(first.access_token)).toEqual(ENDED);
    expect(await seenWith(second.access_token)).toEqual(OPENED);
  });

  test("opens under the previous key, and under no other", async () => {
    const link = await manageLink((await booked()).booking);
    expect(await open(link, previousKey)).toEqual(OPENED);
    expect(await open(link, "a-key-that-nobody-has-of-32-characters")).toEqual(INVALID_LINK);
  });

  test("opens nothing with another booking's id, or anything else changed", async () => {
    const { booking } = await booked();
    const { booking: theirs } = await booked();
    const token = await manageToken(booking);
    const [header, payload = "", signature] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    for (const changed of [{ sub: theirs.id }, { epoch: 2 }, { aud: "confirm" }]) {
      const forged = Buffer.from(JSON.stringify({ ...claims, ...changed })).toString("base64url");
      expect(await outcome(await openLink([header, forged, signature].join(".")))).toEqual(
        INVALID_LINK,
      );
    }
    for (const nonsense of ["", "x", `${header}.${payload}.`, `${token}x`]) {
      expect(await outcome(await openLink(nonsense))).toEqual(INVALID_LINK);
    }
    expect(await outcome(await openLink(token))).toEqual(OPENED);
  });

  test("opens that booking, whoever else is a client", async () => {
    const [mine, theirs] = [await booked(), await booked()];
    const answer = await openedBy(await manageToken(theirs.booking));
    expect(answer.client.id).toBe(theirs.client.id);
    // The epoch of one client is no good at another's.
    const { client, booking } = mine;
    for (const email of ["b@example.com", client.email]) {
      await professional.api.from("clients").update({ email }).eq("id", client.id);
    }
    const { epoch } = await manageLink(booking);
    expect(epoch).toBe(3);
    expect(await open({ ...(await manageLink(theirs.booking)), epoch })).toEqual(INVALID_LINK);
    expect(await open({ ...(await manageLink(booking)), epoch: 1 })).toEqual(INVALID_LINK);
  });

  test("opens nothing for another purpose, for an order, or for a row that is not there", async () => {
    const { client, booking } = await booked();
    const order = await createOrder(professional, { client_id: client.id, items: VOUCHER });
    const link = await manageLink(booking);
    for (const purpose of ["confirm", "unsubscribe", "confirm_address"] as const) {
      expect(await open({ ...link, purpose })).toEqual(INVALID_LINK);
    }
    expect(await open({ ...link, kind: "order" })).toEqual(INVALID_LINK);
    for (const row of [order.id, client.id, professional.id, randomUUID()]) {
      expect(await open({ ...link, row })).toEqual(INVALID_LINK);
    }
    const { kind: _, ...unsaid } = link;
    expect(await open(unsaid)).toEqual(OPENED);
  });

  test("opens nothing at the second it expires", async () => {
    const link = await manageLink((await booked()).booking);
    const now = Math.floor(Date.now() / 1000);
    expect(await open({ ...link, expires: now })).toEqual(INVALID_LINK);
    expect(await open({ ...link, expires: now + 60 })).toEqual(OPENED);
  });

  test("of blocked time opens nothing", async () => {
    const { booking } = await booked();
    const blocked = await createBooking(professional, {
      starts_at: "2111-01-01T09:00:00Z",
      ends_at: "2111-01-01T10:00:00Z",
    });
    const link = await manageLink(booking);
    expect(await open({ ...link, row: blocked.id })).toEqual(INVALID_LINK);
  });

  type End = [how: string, end: (booked: Booked) => PromiseLike<unknown>];
  const clients = () => professional.api.from("clients");
  const changed = async ({ client }: Booked, ...changes: object[]) => {
    for (const change of changes) await clients().update(change).eq("id", client.id);
  };
  const ends: End[] = [
    ["another address", (own) => changed(own, { email: `${own.client.id}@example.com` })],
    [
      "another address and the old one again",
      (own) => changed(own, { email: `${own.client.id}@example.com` }, { email: own.client.email }),
    ],
    ["no address", (own) => changed(own, { email: null })],
    ["archiving", (own) => changed(own, { archived: true })],
    ["archiving and restoring", (own) => changed(own, { archived: true }, { archived: false })],
    ["erasure", ({ client }) => professional.api.rpc("erase_client", { client_id: client.id })],
    [
      "the booking's end",
      ({ booking }) => sql`
        update public.bookings
        set starts_at = now() - interval '3 hours', ends_at = now() - interval '2 hours'
        where id = ${booking.id}`,
    ],
    [
      "the booking's deletion",
      ({ booking }) => sql`delete from public.bookings where id = ${booking.id}`,
    ],
    [
      "another client in the booking",
      async ({ booking }) => {
        const other = await createClientRow(professional);
        // Under another epoch, or the link would be as good as the new client's.
        await changed({ client: other, booking }, { email: `${other.id}@example.com` });
        await sql`update public.bookings set client_id = ${other.id} where id = ${booking.id}`;
      },
    ],
  ];
  test.each(ends)("is over after %s, and so is its session", async (_, end) => {
    const own = await booked();
    const token = await manageToken(own.booking);
    const { access_token } = await openedBy(token);
    expect(await seenWith(access_token)).toEqual(OPENED);
    await end(own);
    expect(await outcome(await openLink(token))).toEqual(INVALID_LINK);
    expect(await seenWith(access_token)).toEqual(ENDED);
  });

  test("made after archiving opens nothing until the client is restored", async () => {
    const own = await booked();
    await changed(own, { archived: true });
    const link = await manageLink(own.booking);
    expect(await open(link)).toEqual(INVALID_LINK);
    await changed(own, { archived: false });
    expect(await open(link)).toEqual(OPENED);
  });

  test("still opens when something else about client or booking changes", async () => {
    const { client, booking } = await booked();
    const token = await manageToken(booking);
    const { access_token } = await openedBy(token);
    await changed({ client, booking }, { email: client.email?.toUpperCase(), phone: "+39 2" });
    const { error } = await professional.api
      .from("bookings")
      .update({ starts_at: "2111-02-01T09:00:00Z", notes: "moved" })
      .eq("id", booking.id);
    expect(error).toBeNull();
    expect(await outcome(await openLink(token))).toEqual(OPENED);
    expect(await seenWith(access_token)).toEqual(OPENED);
  });

  test("of a cancelled booking shows it", async () => {
    const { booking } = await booked();
    const token = await manageToken(booking);
    await professional.api.rpc("cancel_booking", { booking_id: booking.id, reason: "ill" });
    const { access_token } = await openedBy(token);
    const response = await request("/rest/v1/bookings?select=id,status,cancel_reason", {
      token: access_token,
    });
    expect(await response.json()).toEqual([
      { id: booking.id, status: "cancelled", cancel_reason: "ill" },
    ]);
  });

  test("of a booking that ends in the hour opens until then", async () => {
    const { booking } = await booked();
    await sql`
      update public.bookings
      set starts_at = now() - interval '50 minutes', ends_at = now() + interval '10 minutes'
      where id = ${booking.id}`;
    const answer = await openedBy(await manageToken(booking));
    expect(answer.expires_in).toBeGreaterThan(590);
    expect(answer.expires_in).toBeLessThanOrEqual(600);
    expect(decodeJwt(answer.access_token).exp).toBe(answer.expires_at);
  });
});

describe("its address", () => {
  test.each(["link", "confirm"])("/%s does nothing on GET and other methods", async (route) => {
    const { booking } = await booked();
    const token = await manageToken(booking);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await fetch(
        `${stack.apiUrl}/functions/v1/verify-portal-otp/${route}?token=${token}`,
        { method },
      );
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
      expect(await outcome(response)).toEqual({ status: 405, code: "method_not_allowed" });
    }
    const sessions = await sql`
      select from private.booking_sessions where booking_id = ${booking.id}`;
    expect(sessions).toHaveLength(0);
  });

  test("is told to browsers as the others are", async () => {
    const preflight = await fetch(`${stack.apiUrl}/functions/v1/verify-portal-otp/link`, {
      method: "OPTIONS",
      headers: { origin: "https://portal.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect((await openLink("x")).headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("a caller's network", () => {
  const byte = () => String(randomBytes(1)[0]);
  const ipv4 = () => ["0", byte(), byte(), byte()].join(".");
  const LIMIT = 3;

  async function use(ip: string, connection = sql): Promise<number> {
    const [row] = await connection`select private.count_link_use(${ip}, ${LIMIT}) as seconds`;
    return row?.seconds;
  }

  test("uses so many links an hour", async () => {
    const ip = ipv4();
    for (let used = 0; used < LIMIT; used += 1) expect(await use(ip)).toBe(0);
    const wait = await use(ip);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(3600 / LIMIT);
    expect(await use(ipv4())).toBe(0);
  });

  test("cannot use more at once", async () => {
    const ip = ipv4();
    const waits = await Promise.all(parallelConnections(8).map((one) => use(ip, one)));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(LIMIT);
  });

  test.each(["link", "confirm"])("is counted at /%s, whatever the token", async (route) => {
    const latest = async () => {
      const [row] = await sql`
        select max(full_at)::text as full_at from private.request_counters
        where key like 'link %' and key not like 'link 0.%'`;
      return String(row?.full_at);
    };
    await openLink("x");
    const before = await latest();
    expect(await outcome(await callFunction(`verify-portal-otp/${route}`, { token: "x" }))).toEqual(
      INVALID_LINK,
    );
    expect((await latest()) > before).toBe(true);
  });
});

describe("whoever opened the link of a booking", () => {
  let own: Booked;
  let sibling: Row<"bookings">;
  let order: Row<"orders">;
  let link: PortalSession;

  beforeAll(async () => {
    own = await booked();
    hours += 2;
    // Of the same client, and an order for the booking itself.
    sibling = await createBooking(professional, {
      client_id: own.client.id,
      service_id: service.id,
      starts_at: iso(Date.now() + hours * HOUR),
    });
    order = await createOrder(professional, {
      client_id: own.client.id,
      booking_id: own.booking.id,
      items: VOUCHER,
    });
    link = await createBookingSession(own.booking);
  });

  async function send(method: string, path: string, body?: object, token = link.token) {
    const response = await request(`/rest/v1/${path}`, {
      method,
      token,
      headers: { prefer: "return=representation" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  }
  const rpc = (name: string, body: object) => send("POST", `rpc/${name}`, body);

  const REFUSED = { status: 403, body: expect.objectContaining({ code: "42501" }) };
  const NOT_FOUND = { status: 404, body: expect.objectContaining({ code: "PGRST301" }) };

  describe("reads", () => {
    test("that booking, without internal notes, and no other of the client", async () => {
      const columns =
        "id,created_at,updated_at,professional_id,client_id,service_id,service_name,starts_at," +
        "ends_at,cancellation_notice,status,price,currency,notes,source,cancel_reason," +
        "cancelled_at,cancelled_by,version";
      const { status, body } = await send("GET", `bookings?select=${columns}`);
      expect(status).toBe(200);
      expect(body.map(({ id }: { id: string }) => id)).toEqual([own.booking.id]);
      expect(Object.keys(body[0]).sort()).toEqual(columns.split(",").sort());
      expect((await send("GET", `bookings?select=id&id=eq.${sibling.id}`)).body).toEqual([]);
      const counted = await request("/rest/v1/bookings?select=id", {
        token: link.token,
        headers: { prefer: "count=exact" },
      });
      expect(counted.headers.get("content-range")).toBe("0-0/1");
      // A client who signed in sees both.
      const signedIn = await createPortalSession(own.client);
      const both = await send("GET", "bookings?select=id", undefined, signedIn.token);
      expect(both.body).toHaveLength(2);
    });

    test.each([
      "bookings?select=*",
      "bookings?select=internal_notes",
      "bookings?select=id&internal_notes=like.s*",
      "bookings?select=id&order=metadata",
      "bookings?select=id,orders(id)",
      "bookings?select=id,clients(name)",
      "bookings?select=id,services(price)",
      "orders?select=id",
      "clients?select=id",
      "services?select=id",
      "products?select=id",
      "profiles?select=id",
    ])("not %s", async (path) => {
      expect(await send("GET", path)).toEqual(REFUSED);
      expect((await send("GET", "bookings?select=id")).status).toBe(200);
    });
  });

  test.each(TABLES)("writes nothing into %s", async (table) => {
    const values = {
      profiles: { bio: "x" },
      services: { name: "x" },
      clients: { name: "x" },
      products: { name: "x" },
      bookings: { notes: "x" },
      orders: { notes: "x" },
    }[table];
    const rows = { bookings: own.booking.id, orders: order.id, clients: own.client.id };
    const id = (rows as Record<string, string>)[table] ?? randomUUID();
    for (const command of COMMANDS.filter((name) => name !== "select")) {
      const answer = await {
        insert: () => send("POST", `${table}?select=id`, values),
        update: () => send("PATCH", `${table}?id=eq.${id}&select=id`, values),
        delete: () => send("DELETE", `${table}?id=eq.${id}&select=id`),
      }[command as "insert" | "update" | "delete"]();
      expect([command, answer]).toEqual([command, REFUSED]);
    }
  });

  test("asks every RPC of the catalogue and is refused all but six", async () => {
    const rpcs = await sql<{ call: string; name: string }[]>`
      select p.proname as name, format('select public.%I(%s)', p.proname, coalesce(
        (
          select string_agg(format('null::%s', format_type(t.type, null)), ', ' order by t.place)
          from unnest(p.proargtypes::oid[]) with ordinality as t (type, place)
        ), ''
      )) as call
      from pg_proc p where p.pronamespace = 'public'::regnamespace`;
    expect(rpcs.length).toBeGreaterThan(30);
    const permitted: string[] = [];
    for (const { name, call } of rpcs) {
      const code = await tryAsCaller(link.claims, (tx) => tx.unsafe(call)).then(
        () => "none",
        (error: { code: string }) => error.code,
      );
      if (code !== "42501") permitted.push(name);
    }
    expect(permitted.sort()).toEqual([
      // Of the order of that booking.
      "authorize_checkout",
      "available_slots",
      "booking_page",
      "cancel_booking",
      "explain_slot",
      "reschedule_booking",
    ]);
  });

  test("reaches no table of private, and no row of public, in SQL either", async () => {
    const tables = await sql<{ name: string }[]>`
      select oid::regclass::text as name from pg_class
      where relnamespace in ('public'::regnamespace, 'private'::regnamespace) and relkind = 'r'`;
    for (const { name } of tables) {
      const table = name.includes(".") ? name : `public.${name}`;
      const rows = await tryAsCaller(link.claims, (tx) =>
        tx.unsafe(`select ${table === "public.bookings" ? "id" : "1"} from ${table}`),
      ).catch((error: { code: string }) => error.code);
      expect([table, rows]).toEqual([
        table,
        table === "public.bookings" ? [{ id: own.booking.id }] : "42501",
      ]);
    }
  });

  test("cannot take the claims of another for its own", async () => {
    const { booking: theirs } = await booked();
    const strange = await createProfessional();
    for (const changed of [
      { booking_id: sibling.id },
      { booking_id: theirs.id },
      { booking_id: undefined },
      { sub: theirs.client_id },
      { sub: undefined },
      { professional_id: strange.id },
      { session_id: undefined },
      { session_id: randomUUID() },
      // The session of one booking is none of the client's, and the other way round.
      { role: "portal_client" },
      { role: "portal_client", booking_id: undefined },
      { role: "authenticated" },
      { session_id: (await createPortalSession(own.client)).sessionId },
      { session_id: (await createBookingSession(sibling)).sessionId },
    ]) {
      const token = await signToken({ ...link.claims, ...changed });
      expect([changed, await seenWith(token)]).toEqual([changed, ENDED]);
    }
    expect(await seenWith(link.token)).toEqual(OPENED);
  });

  test("is nobody to what asks for a client, whatever it asks", async () => {
    const [row] = await rolledBack(async (tx) => {
      await tx`select set_config('request.jwt.claims', ${JSON.stringify(link.claims)}, true)`;
      return tx`
        select private.portal_client_id(${professional.id}) as client,
          private.portal_booking_id(${professional.id}) as booking,
          private.portal_booking_id(${randomUUID()}) as elsewhere,
          private.caller_manages(${professional.id}) as manages,
          private.caller_is_server() as server,
          private.caller_is_client() as is_client`;
    });
    expect(row).toEqual({
      client: null,
      booking: own.booking.id,
      elsewhere: null,
      manages: false,
      server: false,
      is_client: true,
    });
  });

  test("changes no other booking, not even one of the same client", async () => {
    const { booking: theirs } = await booked();
    const [starts_at] = await freeStarts(professional.api, service, DAY);
    const slots = { service_id: service.id, from_date: DAY, to_date: DAY };
    for (const booking_id of [sibling.id, theirs.id, randomUUID()]) {
      expect(await rpc("cancel_booking", { booking_id })).toEqual(NOT_FOUND);
      expect(await rpc("reschedule_booking", { booking_id, starts_at })).toEqual(NOT_FOUND);
      expect(await rpc("available_slots", { ...slots, reschedule_of: booking_id })).toEqual(
        NOT_FOUND,
      );
    }
    const untouched = await sql`
      select status from public.bookings where id in ${sql([sibling.id, theirs.id])}`;
    expect(untouched.map(({ status }) => status)).toEqual(["confirmed", "confirmed"]);
    expect((await rpc("available_slots", { ...slots, reschedule_of: own.booking.id })).status).toBe(
      200,
    );
  });

  test("finds what a page needs to move it", async () => {
    const [profile] = await sql`
      select username from public.profiles where id = ${professional.id}`;
    const [starts_at] = await freeStarts(link.api, service, DAY, DAY, own.booking.id);
    expect((await rpc("booking_page", { username: profile?.username })).status).toBe(200);
    expect(await rpc("explain_slot", { service_id: service.id, starts_at })).toMatchObject({
      status: 200,
      body: { reason: "available" },
    });
  });

  test("moves it, as a client: to a free start, which may have to be confirmed again", async () => {
    const offer = await openService(professional, { requires_confirmation: true });
    const { booking } = await booked({ service_id: offer.id });
    const { api } = await createBookingSession(booking);
    const [, , , , , starts_at = ""] = await freeStarts(api, offer, dateIn(40), dateIn(40));
    const move = (to: string) =>
      api.rpc("reschedule_booking", { booking_id: booking.id, starts_at: to });
    expect(refusal(await move(`${dateIn(40)}T01:00:00Z`))).toEqual({
      status: 422,
      code: "outside_hours",
    });
    const { data, error } = await move(starts_at);
    expect(error).toBeNull();
    expect(data).toMatchObject({ id: booking.id, starts_at, status: "pending" });
  });

  test("cancels it, as the client, once and for all", async () => {
    const { booking } = await booked();
    const { api } = await createBookingSession(booking);
    const call = { booking_id: booking.id, reason: "ill" };
    expect((await api.rpc("cancel_booking", call)).data).toMatchObject({ status: "cancelled" });
    expect((await api.rpc("cancel_booking", call)).data).toMatchObject({ status: "cancelled" });
    const [row] = await sql`
      select cancelled_by, cancel_reason, version from public.bookings where id = ${booking.id}`;
    expect(row).toEqual({ cancelled_by: "client", cancel_reason: "ill", version: 2 });
    const [starts_at = ""] = await freeStarts(professional.api, service, DAY);
    expect(
      refusal(await api.rpc("reschedule_booking", { booking_id: booking.id, starts_at })),
    ).toEqual({ status: 409, code: "invalid_transition" });
  });

  test("does neither without notice, which the owner can", async () => {
    const offer = await openService(professional, { cancellation_notice: 365 * 24 * 60 });
    const { booking } = await booked({ service_id: offer.id });
    const { api } = await createBookingSession(booking);
    const [starts_at = ""] = await freeStarts(professional.api, offer, DAY);
    const tooLate = { status: 422, code: "too_late" };
    const call = { booking_id: booking.id };
    expect(refusal(await api.rpc("cancel_booking", call))).toEqual(tooLate);
    expect(refusal(await api.rpc("reschedule_booking", { ...call, starts_at }))).toEqual(tooLate);
    expect((await professional.api.rpc("cancel_booking", call)).error).toBeNull();
  });

  test("may have had only that: nothing is left once it is over", async () => {
    const { booking } = await booked();
    const { token } = await createBookingSession(booking);
    await sql`
      update public.bookings
      set starts_at = now() - interval '5 hours', ends_at = now() - interval '4 hours'
      where id = ${booking.id}`;
    for (const [name, body] of [
      ["cancel_booking", { booking_id: booking.id }],
      ["booking_page", { username: "x" }],
    ] as const) {
      const answer = await send("POST", `rpc/${name}`, body, token);
      expect(answer).toMatchObject({ status: 401, body: { code: "session_not_found" } });
    }
  });

  test("has an hour, whatever the token says", async () => {
    const { token, sessionId } = await createBookingSession(own.booking);
    await sql`update private.booking_sessions set expires_at = now() where id = ${sessionId}`;
    expect(await seenWith(token)).toEqual(ENDED);
  });

  test("leaves no session behind when the client is erased", async () => {
    const { client, booking } = await booked();
    await createBookingSession(booking);
    const sessions = () => sql`
      select from private.booking_sessions where booking_id = ${booking.id}`;
    expect(await sessions()).toHaveLength(1);
    await professional.api.rpc("erase_client", { client_id: client.id });
    expect(await sessions()).toHaveLength(0);
  });

  test("signs out", async () => {
    const { token } = await createBookingSession(own.booking);
    const signOut = await fetch(`${stack.apiUrl}/functions/v1/verify-portal-otp/sign-out`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    expect(signOut.status).toBe(204);
    expect(await seenWith(token)).toEqual(ENDED);
  });

  test("is no professional to the functions", async () => {
    const answer = await request("/functions/v1/webhooks/endpoints", { token: link.token });
    expect(await outcome(answer)).toEqual({ status: 403, code: "forbidden" });
  });
});

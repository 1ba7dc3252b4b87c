import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { dateIn, iso } from "../support/calendar.ts";
import { bearer, request, signToken } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type PortalSession,
  type Professional,
  type Row,
} from "../support/factories.ts";
import { COMMANDS, isPermitted, PERMISSIONS, TABLES } from "../support/permissions.ts";
import { addressOf, callFunction, outcome, signIn } from "../support/portal.ts";
import { freeStarts, openProfessional, openService, refusal } from "../support/scheduling.ts";
import { stack } from "../support/stack.ts";

const HOUR = 3_600_000;
const VOUCHER = [{ name: "Voucher", unit_price: 20, quantity: 1 }];

/** A day far enough ahead for every notice and near enough for every service. */
const DAY = dateIn(30, "Europe/Rome");

let professional: Professional;
let service: Row<"services">;
let client: Row<"clients">;
let neighbour: Row<"clients">;
/** Of the client, then of the neighbour. */
let bookings: Row<"bookings">[];
let orders: Row<"orders">[];
/** What a real sign-in gave. */
let token: string;

beforeAll(async () => {
  professional = await openProfessional({ accepts_orders: true });
  [service, client, neighbour] = await Promise.all([
    openService(professional),
    createClientRow(professional, { phone: "+39 1", notes: "secret", tags: ["vip"] }),
    createClientRow(professional),
  ]);
  const owners = [client, neighbour];
  bookings = await Promise.all(
    owners.map(({ id }, n) =>
      createBooking(professional, {
        client_id: id,
        service_id: service.id,
        starts_at: iso(Date.UTC(2100, 0, 1 + n)),
        internal_notes: "secret",
      }),
    ),
  );
  orders = await Promise.all(
    owners.map(({ id }) =>
      createOrder(professional, { client_id: id, items: VOUCHER, internal_notes: "secret" }),
    ),
  );
  token = (await signIn(addressOf(client))).access_token;
});

async function send(method: string, path: string, body?: object, as = token) {
  const response = await request(`/rest/v1/${path}`, {
    method,
    token: as,
    headers: { prefer: "return=representation" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null };
}

const rpc = (name: string, body: object, as?: string) => send("POST", `rpc/${name}`, body, as);

const REFUSED = { status: 403, body: expect.objectContaining({ code: "42501" }) };
const NOT_FOUND = { status: 404, body: expect.objectContaining({ code: "PGRST301" }) };
const ENDED = { status: 401, code: "session_not_found" };

describe("a signed-in client reads", () => {
  test("own bookings, without internal notes", async () => {
    const columns =
      "id,created_at,updated_at,professional_id,client_id,service_id,service_name,starts_at," +
      "ends_at,status,price,currency,notes,source,cancel_reason,cancelled_at,cancelled_by,version";
    const { status, body } = await send("GET", `bookings?select=${columns}`);
    expect(status).toBe(200);
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({ id: bookings[0]?.id, client_id: client.id });
    expect(Object.keys(body[0]).sort()).toEqual(columns.split(",").sort());
  });

  test("own orders, without internal notes", async () => {
    const columns =
      "id,created_at,updated_at,professional_id,client_id,number,kind,booking_id,items,subtotal," +
      "discount,tax,total,currency,status,payment_status,amount_paid,amount_refunded," +
      "shipping_address,notes,version";
    const { status, body } = await send("GET", `orders?select=${columns}`);
    expect(status).toBe(200);
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({ id: orders[0]?.id, total: 20 });
  });

  test("the own contact data", async () => {
    expect(await send("GET", "clients?select=id,name,email,phone")).toEqual({
      status: 200,
      body: [{ id: client.id, name: client.name, email: client.email, phone: "+39 1" }],
    });
  });

  test.each([
    "bookings?select=*",
    "bookings?select=internal_notes",
    "bookings?select=id&internal_notes=like.s*",
    "bookings?select=id&order=internal_notes",
    "bookings?select=id&metadata=not.is.null",
    "orders?select=*",
    "orders?select=internal_notes",
    "orders?select=id&internal_notes=eq.secret",
    "clients?select=*",
    "clients?select=notes",
    "clients?select=id&notes=like.s*",
    "clients?select=id&tags=cs.{vip}",
    "clients?select=id,bookings(internal_notes)",
    "bookings?select=id,clients(notes)",
    "bookings?select=id,services(price)",
    "orders?select=id,profiles!orders_professional_id_fkey(tier)",
  ])("not %s: neither shown nor used to ask", async (path) => {
    expect(await send("GET", path)).toEqual(REFUSED);
    const allowed = path.replace(/\?.*/, "?select=id");
    expect(await send("GET", allowed)).toMatchObject({ status: 200, body: [{}] });
  });

  test("what is embedded is the own, too", async () => {
    const order = {
      client_id: neighbour.id,
      booking_id: bookings[0]?.id as string,
      items: VOUCHER,
    };
    await sql`
      insert into public.orders ${sql({ ...order, items: sql.json(VOUCHER), professional_id: professional.id })}`;
    const { body } = await send("GET", "bookings?select=id,orders(id)");
    expect(body).toEqual([{ id: bookings[0]?.id, orders: [] }]);
    const own = await createPortalSession(neighbour);
    const { body: theirs } = await send(
      "GET",
      "orders?select=id,bookings(id)",
      undefined,
      own.token,
    );
    expect(theirs).toHaveLength(2);
    expect(theirs.every(({ bookings: booking }: { bookings: unknown }) => booking === null)).toBe(
      true,
    );
  });

  test("nothing of another client, by id or by count", async () => {
    for (const [table, row] of [
      ["clients", neighbour],
      ["bookings", bookings[1]],
      ["orders", orders[1]],
    ] as const) {
      expect((await send("GET", `${table}?select=id&id=eq.${row?.id}`)).body).toEqual([]);
      const counted = await request(`/rest/v1/${table}?select=id`, {
        token,
        headers: { prefer: "count=exact" },
      });
      expect(counted.headers.get("content-range")).toBe("0-0/1");
    }
  });

  test("nothing of the same address at another professional", async () => {
    const other = await createProfessional();
    const same = await createClientRow(other, { email: client.email });
    await createOrder(other, { client_id: same.id, items: VOUCHER });
    for (const table of ["clients", "orders"]) {
      const { body } = await send("GET", `${table}?select=id`);
      expect(body).toHaveLength(1);
      expect(body[0].id).toBe(table === "clients" ? client.id : orders[0]?.id);
    }
    const there = await createPortalSession(same);
    expect((await send("GET", "clients?select=id", undefined, there.token)).body).toEqual([
      { id: same.id },
    ]);
  });
});

describe("a signed-in client writes", () => {
  test("name and phone of the own row, and reads them back", async () => {
    const changed = await send("PATCH", `clients?id=eq.${client.id}&select=id,name,phone`, {
      name: "Marta Verdi",
      phone: " +39 2 ",
    });
    expect(changed).toEqual({
      status: 200,
      body: [{ id: client.id, name: "Marta Verdi", phone: "+39 2" }],
    });
  });

  test.each([
    ["email", "eve@example.com"],
    ["notes", "nice"],
    ["archived", true],
    ["tags", ["vip"]],
    ["metadata", {}],
    ["id", randomUUID()],
    ["professional_id", randomUUID()],
    ["created_at", "2020-01-01T00:00:00Z"],
  ])("not %s", async (column, value) => {
    const path = `clients?id=eq.${client.id}&select=id`;
    expect(await send("PATCH", path, { [column]: value })).toEqual(REFUSED);
    expect(await send("PATCH", path, { name: "Marta", [column]: value })).toEqual(REFUSED);
  });

  test("within the rules of the table", async () => {
    const path = `clients?id=eq.${client.id}&select=id`;
    expect(await send("PATCH", path, { name: " " })).toMatchObject({
      status: 400,
      body: { code: "23514" },
    });
    expect((await send("PATCH", path, { name: "Marta" })).status).toBe(200);
  });

  test("no row of another client, named or not", async () => {
    const named = await send("PATCH", `clients?id=eq.${neighbour.id}&select=id`, { name: "Mine" });
    expect(named).toEqual({ status: 200, body: [] });
    const all = await send("PATCH", "clients?id=not.is.null&select=id", { phone: "+39 3" });
    expect(all.body).toEqual([{ id: client.id }]);
    const [row] = await sql`select name, phone from public.clients where id = ${neighbour.id}`;
    expect(row).toEqual({ name: neighbour.name, phone: null });
  });

  test.each(TABLES)("nothing else in %s", async (table) => {
    const values: Record<string, object> = {
      profiles: { bio: "x" },
      services: { name: "x" },
      clients: { name: "x" },
      products: { name: "x" },
      bookings: { notes: "x" },
      orders: { notes: "x" },
    };
    for (const command of COMMANDS) {
      if (isPermitted(PERMISSIONS[table].portal[command])) continue;
      const filter = `${table}?id=eq.${randomUUID()}&select=id`;
      const answer = await {
        select: () => send("GET", `${table}?select=id`),
        insert: () => send("POST", `${table}?select=id`, values[table]),
        update: () => send("PATCH", filter, values[table]),
        delete: () => send("DELETE", filter),
      }[command]();
      expect(answer).toEqual(REFUSED);
    }
  });

  test("no upsert either", async () => {
    const response = await request("/rest/v1/clients?on_conflict=id&select=id", {
      method: "POST",
      token,
      headers: { prefer: "resolution=merge-duplicates" },
      body: JSON.stringify({ id: client.id, name: "Marta" }),
    });
    expect(response.status).toBe(403);
  });
});

describe("RPCs", () => {
  test("the public ones answer a portal client", async () => {
    const product = await createProduct(professional);
    const [username] =
      await sql`select username from public.profiles where id = ${professional.id}`;
    const starts_at = (await freeStarts(professional.api, service, DAY))[0];
    const slots = { service_id: service.id, from_date: DAY, to_date: DAY };
    const items = [{ product_id: product.id, quantity: 1 }];
    for (const [name, body] of [
      ["booking_page", { username: username?.username }],
      ["available_slots", slots],
      ["explain_slot", { service_id: service.id, starts_at }],
      ["quote_order", { professional_id: professional.id, items }],
    ] as const) {
      expect([name, (await rpc(name, body)).status]).toEqual([name, 200]);
    }
  });

  test("booking and ordering need no name and address, and are the client's own", async () => {
    const own = await createPortalSession(await createClientRow(professional));
    const product = await createProduct(professional);
    const starts_at = (await freeStarts(professional.api, service, DAY)).at(-1);
    const booked = await rpc("create_booking", { service_id: service.id, starts_at }, own.token);
    const items = [{ product_id: product.id, quantity: 1 }];
    const order = { professional_id: professional.id, items };
    const ordered = await rpc("place_order", order, own.token);
    expect([booked.status, ordered.status]).toEqual([200, 200]);
    expect((await send("GET", "bookings?select=id,source", undefined, own.token)).body).toEqual([
      { id: booked.body.id, source: "portal" },
    ]);
    expect((await send("GET", "orders?select=id", undefined, own.token)).body).toEqual([
      { id: ordered.body.id },
    ]);
    const [kept] = await sql`select source from public.orders where id = ${ordered.body.id}`;
    expect(kept?.source).toBe("portal");
  });

  test.each<[name: string, body: () => object]>([
    ["erase_client", () => ({ client_id: client.id })],
    ["adjust_stock", () => ({ product_id: randomUUID(), delta: 1, reason: "x" })],
    ["record_payment", () => ({ order_id: orders[0]?.id, amount: 1, method: "cash" })],
    ["refund_payment", () => ({ order_id: orders[0]?.id, amount: 1 })],
    ["order_payments", () => ({ order_id: orders[0]?.id })],
    ["audit", () => ({})],
    [
      "start_portal_code",
      () => ({ professional_id: professional.id, email: client.email, ip: "", ip_limit: 9 }),
    ],
    [
      "set_portal_code",
      () => ({
        professional_id: professional.id,
        client_id: client.id,
        generation: 1,
        code_hmac: "x",
      }),
    ],
    [
      "start_portal_verification",
      () => ({
        professional_id: professional.id,
        email: client.email,
        ip: "192.0.2.1",
        ip_limit: 100,
      }),
    ],
    [
      "finish_portal_verification",
      () => ({
        professional_id: professional.id,
        client_id: client.id,
        generation: 1,
        code_hmac: "x",
      }),
    ],
    ["count_link_use", () => ({ ip: "192.0.2.1", ip_limit: 100 })],
    ["start_booking_session", () => ({ booking_id: bookings[0]?.id, link_epoch: 1 })],
    ["end_portal_session", () => ({ session_id: randomUUID() })],
  ])("%s is refused, to the public as well", async (name, body) => {
    expect(await rpc(name, body())).toEqual(REFUSED);
    const anon = await request(`/rest/v1/rpc/${name}`, {
      method: "POST",
      body: JSON.stringify(body()),
    });
    expect(await outcome(anon)).toEqual({ status: 401, code: "42501" });
  });

  test("nothing of schema private is a path", async () => {
    for (const name of ["portal_client_id", "jwt_claims", "check_request", "raise_error"]) {
      expect((await rpc(name, {})).status).toBe(404);
      const response = await request(`/rest/v1/rpc/${name}`, {
        method: "POST",
        token,
        headers: { "content-profile": "private" },
        body: "{}",
      });
      expect(response.status).toBe(406);
    }
  });
});

describe("own bookings", () => {
  interface Case {
    owner: Professional;
    offer: Row<"services">;
    portal: PortalSession;
    /** A booking of the portal client. */
    book(startsAt: string): Promise<Row<"bookings">>;
  }

  async function setUp(values: Parameters<typeof openService>[1] = {}): Promise<Case> {
    const owner = await openProfessional();
    const [offer, row] = await Promise.all([openService(owner, values), createClientRow(owner)]);
    return {
      owner,
      offer,
      portal: await createPortalSession(row),
      book: (starts_at) =>
        createBooking(owner, { client_id: row.id, service_id: offer.id, starts_at }),
    };
  }

  const inHours = (hours: number) => iso(Date.now() + hours * HOUR);

  test("can be cancelled with notice, and it is kept who did it and why", async () => {
    const { portal, owner, book } = await setUp({ cancellation_notice: 24 * 60 });
    const booking = await book(inHours(25));
    const { data, error } = await portal.api.rpc("cancel_booking", {
      booking_id: booking.id,
      reason: "ill",
    });
    expect(error).toBeNull();
    expect(data).toMatchObject({ id: booking.id, status: "cancelled" });
    const { data: row } = await owner.api.from("bookings").select().eq("id", booking.id).single();
    expect(row).toMatchObject({ cancelled_by: "client", cancel_reason: "ill" });
  });

  test("cannot be cancelled or moved without notice, which the owner can", async () => {
    const { portal, owner, offer, book } = await setUp({ cancellation_notice: 24 * 60 });
    const booking = await book(inHours(23));
    const [starts_at = ""] = await freeStarts(owner.api, offer, DAY);
    const call = { booking_id: booking.id };
    const tooLate = { status: 422, code: "too_late" };
    expect(refusal(await portal.api.rpc("cancel_booking", call))).toEqual(tooLate);
    expect(refusal(await portal.api.rpc("reschedule_booking", { ...call, starts_at }))).toEqual(
      tooLate,
    );
    expect((await owner.api.rpc("cancel_booking", call)).error).toBeNull();
  });

  test("cannot be cancelled once they began", async () => {
    const { portal, book } = await setUp();
    const booking = await book(inHours(-0.1));
    expect(refusal(await portal.api.rpc("cancel_booking", { booking_id: booking.id }))).toEqual({
      status: 422,
      code: "too_late",
    });
  });

  test("can be moved to a free start, and keep id, price and length", async () => {
    const { portal, owner, offer, book } = await setUp();
    const booking = await book(inHours(48));
    await owner.api.from("services").update({ price: 99, duration: 30 }).eq("id", offer.id);
    const [starts_at = ""] = await freeStarts(portal.api, offer, DAY, DAY, booking.id);
    const { data, error } = await portal.api.rpc("reschedule_booking", {
      booking_id: booking.id,
      starts_at,
    });
    expect(error).toBeNull();
    expect(data).toMatchObject({
      id: booking.id,
      starts_at,
      ends_at: iso(Date.parse(starts_at) + HOUR),
      price: booking.price,
      status: "confirmed",
      version: booking.version + 1,
    });
  });

  test("are pending again after a move where the service requires confirmation", async () => {
    const { portal, owner, offer, book } = await setUp({ requires_confirmation: true });
    const booking = await book(inHours(48));
    expect(booking.status).toBe("confirmed");
    const [first = "", second = ""] = await freeStarts(owner.api, offer, DAY);
    const move = (starts_at: string, api = portal.api) =>
      api.rpc("reschedule_booking", { booking_id: booking.id, starts_at });
    expect((await move(first)).data?.status).toBe("pending");
    await owner.api.from("bookings").update({ status: "confirmed" }).eq("id", booking.id);
    expect((await move(second, owner.api)).data?.status).toBe("confirmed");
  });

  test("cannot be moved to where somebody else is, outside the hours or while cancelled", async () => {
    const { portal, owner, offer, book } = await setUp();
    const booking = await book(inHours(48));
    const [taken = "", , , , free = ""] = await freeStarts(owner.api, offer, DAY);
    const other = await createClientRow(owner);
    await createBooking(owner, { client_id: other.id, service_id: offer.id, starts_at: taken });
    const move = async (starts_at: string) =>
      refusal(await portal.api.rpc("reschedule_booking", { booking_id: booking.id, starts_at }));
    expect(await move(taken)).toEqual({ status: 409, code: "slot_taken" });
    expect(await move(`${DAY}T01:00:00Z`)).toEqual({ status: 422, code: "outside_hours" });
    expect(await move(free)).toEqual({ status: 200, code: undefined });
    await portal.api.rpc("cancel_booking", { booking_id: booking.id });
    expect(await move(taken)).toEqual({ status: 409, code: "invalid_transition" });
  });

  test("are no other client's to change or to look around", async () => {
    const theirs = bookings[1]?.id;
    const starts_at = (await freeStarts(professional.api, service, DAY))[0];
    expect(await rpc("cancel_booking", { booking_id: theirs })).toEqual(NOT_FOUND);
    expect(await rpc("reschedule_booking", { booking_id: theirs, starts_at })).toEqual(NOT_FOUND);
    const slots = { service_id: service.id, from_date: DAY, to_date: DAY };
    expect(await rpc("available_slots", { ...slots, reschedule_of: theirs })).toEqual(NOT_FOUND);
    // The same answer as for one that does not exist; and the own one works.
    const missing = { ...slots, reschedule_of: randomUUID() };
    expect(await rpc("available_slots", missing)).toEqual(NOT_FOUND);
    const own = await rpc("available_slots", { ...slots, reschedule_of: bookings[0]?.id });
    expect(own.status).toBe(200);
    const [untouched] =
      await sql`select status from public.bookings where id = ${theirs as string}`;
    expect(untouched?.status).toBe("confirmed");
  });
});

describe("a session ends", () => {
  const isLive = async ({ token: as }: PortalSession) =>
    outcome(await request("/rest/v1/clients?select=id", { token: as }));
  const signOut = (as: string) =>
    fetch(`${stack.apiUrl}/functions/v1/verify-portal-otp/sign-out`, {
      method: "POST",
      headers: { authorization: `Bearer ${as}` },
    });

  async function session(): Promise<PortalSession & { row: Row<"clients"> }> {
    const row = await createClientRow(professional);
    return { ...(await createPortalSession(row)), row };
  }

  test("at once by signing out, for reads, writes and RPCs, and no other session with it", async () => {
    const own = await session();
    const elsewhere = await createPortalSession(own.row);
    expect(await isLive(own)).toEqual({ status: 200 });
    const answer = await signOut(own.token);
    expect([answer.status, await answer.text()]).toEqual([204, ""]);

    const read = await request("/rest/v1/clients?select=id", { token: own.token });
    expect(read.headers.get("www-authenticate")).toBe("Bearer");
    expect(await outcome(read)).toEqual(ENDED);
    const write = await send("PATCH", `clients?id=eq.${own.clientId}`, { name: "x" }, own.token);
    expect(write).toMatchObject({ status: 401, body: { code: "session_not_found" } });
    const call = await rpc("booking_page", { username: "x" }, own.token);
    expect(call).toMatchObject({ status: 401, body: { code: "session_not_found" } });

    expect(await isLive(elsewhere)).toEqual({ status: 200 });
    // Twice is as good as once.
    expect((await signOut(own.token)).status).toBe(204);
  });

  test("a token of a real sign-in signs out as well", async () => {
    const row = await createClientRow(professional);
    const { access_token } = await signIn(addressOf(row));
    expect((await signOut(access_token)).status).toBe(204);
    expect(
      await outcome(await request("/rest/v1/clients?select=id", { token: access_token })),
    ).toEqual(ENDED);
  });

  const owner = () => professional.api.from("clients");
  test.each<[how: string, end: (own: PortalSession) => PromiseLike<unknown>]>([
    [
      "the client is archived",
      ({ clientId }) => owner().update({ archived: true }).eq("id", clientId),
    ],
    [
      "the client is erased",
      ({ clientId }) => professional.api.rpc("erase_client", { client_id: clientId }),
    ],
    ["the client is deleted", ({ clientId }) => owner().delete().eq("id", clientId)],
    [
      "the client has another address",
      ({ clientId }) =>
        owner()
          .update({ email: `${clientId}@example.com` })
          .eq("id", clientId),
    ],
    [
      "the client has no address",
      ({ clientId }) => owner().update({ email: null }).eq("id", clientId),
    ],
    [
      "its time is over, whatever the token says",
      ({ sessionId }) =>
        sql`update private.portal_sessions set expires_at = now() where id = ${sessionId}`,
    ],
    [
      "the professional's account is deleted",
      async ({ sessionId, professionalId, clientId }) => {
        // Another professional's, since this one is needed; the token's claims stay as they were.
        const gone = await createProfessional();
        const row = await createClientRow(gone, { id: randomUUID() });
        const theirs = await createPortalSession(row);
        await sql`delete from auth.users where id = ${gone.id}`;
        expect(await isLive(theirs)).toEqual(ENDED);
        await sql`delete from private.portal_sessions
          where id = ${sessionId} and professional_id = ${professionalId} and client_id = ${clientId}`;
      },
    ],
  ])("when %s", async (_, end) => {
    const own = await session();
    expect(await isLive(own)).toEqual({ status: 200 });
    await end(own);
    expect(await isLive(own)).toEqual(ENDED);
  });

  test("not when something else about the client changes", async () => {
    const own = await session();
    const shouted = own.row.email?.toUpperCase() as string;
    await owner().update({ email: shouted, phone: "+39 5", notes: "x" }).eq("id", own.clientId);
    expect(await isLive(own)).toEqual({ status: 200 });
  });
});

describe("a token that was not issued", () => {
  let claims: Record<string, unknown>;

  beforeAll(() => {
    claims = JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString());
  });

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const rest = async (forged: string) =>
    (await request("/rest/v1/clients?select=id", { token: forged })).status;
  const signOut = async (forged: string) =>
    (
      await fetch(`${stack.apiUrl}/functions/v1/verify-portal-otp/sign-out`, {
        method: "POST",
        headers: { authorization: `Bearer ${forged}` },
      })
    ).status;

  test.each<[how: string, forge: () => string | Promise<string>]>([
    ["a changed client", () => withPayload({ sub: neighbour.id })],
    ["a changed professional", () => withPayload({ professional_id: randomUUID() })],
    ["another role", () => withPayload({ role: "service_role" })],
    ["a later end", () => withPayload({ exp: 4_102_444_800 })],
    ["alg none", () => `${encode({ alg: "none", typ: "JWT" })}.${token.split(".")[1]}.`],
    [
      "alg none and the old signature",
      () => [encode({ alg: "none" }), ...token.split(".").slice(1)].join("."),
    ],
    ["no signature", () => `${token.split(".").slice(0, 2).join(".")}.`],
    ["another key", () => signToken(claims, "another-secret-of-at-least-32-characters!")],
    ["a kid that nobody has", () => withHeader({ kid: "../../etc/passwd" })],
    ["its time over", () => signToken({ ...claims, exp: Math.floor(Date.now() / 1000) - 60 })],
  ])("with %s is refused", async (_, forge) => {
    const forged = await forge();
    expect([await rest(forged), await signOut(forged)]).toEqual([401, 401]);
    // The token itself is good; signing it out is another test's.
    expect(await rest(token)).toBe(200);
  });

  function withPayload(changed: object): string {
    const [header, , signature] = token.split(".");
    return [header, encode({ ...claims, ...changed }), signature].join(".");
  }

  function withHeader(changed: object): string {
    const [header = "", payload, signature] = token.split(".");
    const plain = JSON.parse(Buffer.from(header, "base64url").toString());
    return [encode({ ...plain, ...changed }), payload, signature].join(".");
  }

  test.each<[what: string, changed: () => Record<string, unknown>]>([
    ["without a session", () => ({ session_id: undefined })],
    ["with a session that is not there", () => ({ session_id: randomUUID() })],
    ["with the session of another client", () => ({ sub: neighbour.id })],
    ["with the session of another professional", () => ({ professional_id: randomUUID() })],
    ["without a client", () => ({ sub: undefined })],
    ["without a professional", () => ({ professional_id: undefined })],
  ])("even with the right key, %s, opens nothing", async (_, changed) => {
    const forged = await signToken({ ...claims, ...changed() });
    expect(await outcome(await request("/rest/v1/clients?select=id", { token: forged }))).toEqual(
      ENDED,
    );
  });

  test("a portal token is no user of the auth service, not even of one with the client's id", async () => {
    const user = await createProfessional();
    const row = await createClientRow(professional, { id: user.id });
    const { token: theirs } = await createPortalSession(row);
    for (const [method, path, body] of [
      ["GET", "/auth/v1/user", undefined],
      ["PUT", "/auth/v1/user", { password: "changed-by-a-client" }],
      ["POST", "/auth/v1/logout", undefined],
    ] as const) {
      const response = await request(path, {
        method,
        token: theirs,
        ...(body && { body: JSON.stringify(body) }),
      });
      expect(response.status).toBe(403);
    }
    expect(await rest(user.token)).toBe(200);
    const { data } = await bearer(theirs).from("clients").select("id");
    expect(data).toEqual([{ id: user.id }]);
  });

  test("a user's token does not sign a portal client out", async () => {
    expect(await signOut(professional.token)).toBe(401);
  });
});

test("a code in a URL is not looked at", async () => {
  const response = await callFunction(
    `verify-portal-otp?email=${encodeURIComponent(client.email as string)}&code=012345`,
    {},
  );
  expect(response.status).toBe(422);
});

test("a service that is gone leaves a portal client's booking readable", async () => {
  const own = await createClientRow(professional);
  const old = await createService(professional, { active: false });
  const booking = await createBooking(professional, {
    client_id: own.id,
    service_id: old.id,
    starts_at: iso(Date.UTC(2100, 5, 1)),
  });
  const { api } = await createPortalSession(own);
  const { data } = await api.from("bookings").select("id,service_name");
  expect(data).toEqual([{ id: booking.id, service_name: "Haircut" }]);
});

/**
 * What the public may try and do at one professional. Alone, because all of it comes from one address
 * here and the limits are settings of the whole stack.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dateIn, everyDay, instantOf, iso } from "../support/calendar.ts";
import { anonymous, server } from "../support/callers.ts";
import { type Claims, parallelConnections, raised, sql, tryAsCaller } from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
} from "../support/factories.ts";
import { changeSettings } from "../support/settings.ts";

let putBack: () => Promise<void>;

beforeAll(async () => {
  putBack = await changeSettings(sql, {
    public_tries_per_address_hour: 10,
    public_tries_per_network_hour: 30,
  });
});
afterAll(() => putBack());

const at = (days: number, time = "10:00") => iso(instantOf(dateIn(days, "UTC"), time, "UTC"));
const stranger = () => `ann-${randomUUID()}@example.com`;

async function open() {
  const professional = await createProfessional({
    accepts_bookings: true,
    accepts_orders: true,
    availability: everyDay(["00:00", "24:00"]) as never,
  });
  return {
    professional,
    service: await createService(professional),
    product: await createProduct(professional),
    client: await createClientRow(professional),
  };
}
type Shop = Awaited<ReturnType<typeof open>>;

/** A booking that was made and taken back, as when the answer fails after it: nothing stays of it. */
function undone(
  shop: Shop,
  email: string | null,
  { claims = { role: "anon" } as Claims, ip = "192.0.2.7" } = {},
) {
  return tryAsCaller(claims, async (tx) => {
    const headers = JSON.stringify({ "x-forwarded-for": ip });
    await tx`select set_config('request.headers', ${headers}, true)`;
    return tx`select public.create_booking(
      ${shop.service.id}, ${at(20)}, client_name => 'Ann', client_email => ${email})`;
  });
}

const REFUSED = { status: 429, code: "rate_limit_exceeded" };

describe("tries of the public", () => {
  test("are ten an hour for an address, known or not, though nothing stays of them", async () => {
    const shop = await open();
    for (const email of [shop.client.email as string, stranger()]) {
      const ip = `198.51.100.${email === shop.client.email ? 1 : 2}`;
      for (let count = 0; count < 10; count++) await undone(shop, email, { ip });
      expect(await raised(undone(shop, ` ${email.toUpperCase()} `, { ip }))).toMatchObject(REFUSED);
      // The address is what counts, wherever its tries come from; another one is free.
      expect(await raised(undone(shop, email, { ip: "203.0.113.9" }))).toMatchObject(REFUSED);
      expect(await undone(shop, stranger(), { ip })).toHaveLength(1);
    }
  });

  test("are thirty an hour from one network at one professional", async () => {
    const [shop, next] = await Promise.all([open(), open()]);
    for (let count = 0; count < 30; count++) await undone(shop, stranger(), { ip: "2001:db8::1" });
    expect(await raised(undone(shop, stranger(), { ip: "2001:db8::2" }))).toMatchObject(REFUSED);
    expect(await undone(next, stranger(), { ip: "2001:db8::1" })).toHaveLength(1);
    expect(await undone(shop, stranger(), { ip: "2001:db8:0:1::1" })).toHaveLength(1);
  });

  test("that are refused say when the next one passes, over HTTP and for orders as for bookings", async () => {
    const shop = await open();
    const client_email = stranger();
    const book = () =>
      anonymous().rpc("create_booking", {
        service_id: shop.service.id,
        starts_at: at(30),
        client_name: "Ann",
        client_email,
      });
    expect((await book()).status).toBe(200);
    for (let count = 1; count < 10; count++) expect((await book()).status).toBe(409);

    const order = anonymous().rpc("place_order", {
      professional_id: shop.professional.id,
      items: [{ product_id: shop.product.id, quantity: 1 }] as never,
      client_name: "Ann",
      client_email,
    });
    for (const { status, error } of [await book(), await order]) {
      expect(status).toBe(429);
      expect(error?.code).toBe("rate_limit_exceeded");
      const { retry_after } = JSON.parse(error?.details ?? "{}");
      expect(retry_after).toBeGreaterThan(300);
      expect(retry_after).toBeLessThanOrEqual(360);
    }

    await sql`
      update private.request_counters set full_at = full_at - interval '6 minutes'
      where key like 'try %'`;
    expect((await book()).status).toBe(409);
  });

  test("count for somebody signed in at another professional, and for a client who types an address", async () => {
    const [shop, other] = await Promise.all([open(), open()]);
    const portal = await createPortalSession(shop.client);
    for (const { claims } of [other.professional, portal]) {
      const email = stranger();
      for (let count = 0; count < 10; count++) await undone(shop, email, { claims });
      expect(await raised(undone(shop, email, { claims }))).toMatchObject(REFUSED);
    }
  });

  test("do not count for a client of the portal who books for herself, nor for servers", async () => {
    const shop = await open();
    const { claims } = await createPortalSession(shop.client);
    for (let count = 0; count < 12; count++) await undone(shop, null, { claims });
    expect(await undone(shop, null, { claims })).toHaveLength(1);

    for (let count = 0; count < 12; count++) {
      const { error } = await server().rpc("create_booking", {
        service_id: shop.service.id,
        starts_at: at(40, `${String(count).padStart(2, "0")}:00`),
        client_name: "Ann",
        client_email: shop.client.email as string,
      });
      expect(error).toBeNull();
    }
  });

  test("are counted on cold connections too", async () => {
    const shop = await open();
    const email = stranger();
    let passed = 0;
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        parallelConnections(6).map((connection) =>
          connection
            .begin(async (tx) => {
              await tx`select set_config('request.jwt.claims', '{"role": "anon"}', true)`;
              await tx`select private.count_public_try(${shop.professional.id}, ${email})`;
            })
            .then(
              () => true,
              () => false,
            ),
        ),
      );
      passed += answers.filter(Boolean).length;
    }
    expect(passed).toBe(10);
  });

  test("are counted by digests: no address is kept", async () => {
    const shop = await open();
    const email = stranger();
    await undone(shop, email);
    const keys = await sql<{ key: string }[]>`
      select key from private.request_counters where key like 'try %'`;
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter(({ key }) => key.includes(email) || key.includes("@"))).toEqual([]);
  });
});

describe("bookings and orders of the public", () => {
  let putBackWrites: () => Promise<void>;
  beforeAll(async () => {
    putBackWrites = await changeSettings(sql, {
      public_writes_per_network_hour: 10,
      public_tries_per_address_hour: 1000,
      public_tries_per_network_hour: 1000,
    });
  });
  afterAll(() => putBackWrites());

  const hour = (n: number) => `${String(n).padStart(2, "0")}:00`;
  const book = (shop: Shop, n: number) =>
    anonymous().rpc("create_booking", {
      service_id: shop.service.id,
      starts_at: at(50, hour(n)),
      client_name: "Ann",
      client_email: `one+${n}-${randomUUID()}@example.com`,
    });
  const order = (shop: Shop) =>
    anonymous().rpc("place_order", {
      professional_id: shop.professional.id,
      items: [{ product_id: shop.product.id, quantity: 1 }] as never,
      client_name: "Ann",
      client_email: stranger(),
    });

  test("are ten an hour from one network at one professional, whatever the addresses", async () => {
    const [shop, next] = await Promise.all([open(), open()]);
    for (let n = 0; n < 7; n++) expect((await book(shop, n)).error).toBeNull();
    // What fails is not counted.
    expect((await book(shop, 0)).error?.code).toBe("slot_taken");
    for (let n = 0; n < 3; n++) expect((await order(shop)).error).toBeNull();

    for (const refused of [await book(shop, 10), await order(shop)]) {
      expect(refused.status).toBe(429);
      expect(refused.error?.code).toBe("rate_limit_exceeded");
      expect(JSON.parse(refused.error?.details ?? "{}").retry_after).toBeGreaterThan(300);
    }
    expect((await book(next, 0)).error).toBeNull();
    const rows = await sql`
      select from public.bookings where professional_id = ${shop.professional.id}`;
    expect(rows).toHaveLength(7);
  });

  test("do not count for the professional, a client of the portal and servers", async () => {
    const shop = await open();
    for (let n = 0; n < 10; n++) await book(shop, n);
    const portal = await createPortalSession(shop.client);
    const own = await portal.api.rpc("create_booking", {
      service_id: shop.service.id,
      starts_at: at(50, hour(11)),
    });
    expect(own.error).toBeNull();
    const served = await server().rpc("create_booking", {
      service_id: shop.service.id,
      starts_at: at(50, hour(12)),
      client_name: "Ann",
      client_email: stranger(),
    });
    expect(served.error).toBeNull();
  });

  test("take at most a hundred pieces of a product in all lines together", async () => {
    const shop = await open();
    const lines = (...quantities: number[]) =>
      quantities.map((quantity) => ({ product_id: shop.product.id, quantity }));
    const quote = (items: object[]) =>
      anonymous().rpc("quote_order", {
        professional_id: shop.professional.id,
        items: items as never,
      });
    expect((await quote(lines(60, 41))).error?.code).toBe("invalid_items");
    expect((await quote(lines(60, 40))).error).toBeNull();
    const shouted = lines(60, 60).map((line, n) =>
      n === 0 ? line : { ...line, product_id: line.product_id.toUpperCase() },
    );
    expect((await quote(shouted)).error?.code).toBe("invalid_items");
  });

  test("take at most a hundred pieces a line, the owner more", async () => {
    const shop = await open();
    const items = (quantity: number) => [{ product_id: shop.product.id, quantity }] as never;
    const { error } = await anonymous().rpc("place_order", {
      professional_id: shop.professional.id,
      items: items(101),
      client_name: "Ann",
      client_email: stranger(),
    });
    expect([error?.code, JSON.parse(error?.details ?? "{}").index]).toEqual(["invalid_items", 0]);
    const quote = (quantity: number) =>
      anonymous().rpc("quote_order", {
        professional_id: shop.professional.id,
        items: items(quantity),
      });
    expect((await quote(101)).error?.code).toBe("invalid_items");
    expect((await quote(100)).error).toBeNull();
    const own = await shop.professional.api
      .from("orders")
      .insert({ client_id: shop.client.id, items: items(101) });
    expect(own.error).toBeNull();
  });
});

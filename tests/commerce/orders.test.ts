/** Orders of the owner: what may be in one, what it costs, and what stays when it is placed. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { request, server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  numbersOf,
  openShop,
  place,
  type Receipt,
  stockOf,
  upTo,
} from "../support/commerce.ts";
import { raised, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createProduct,
  createService,
  type Professional,
  type Row,
} from "../support/factories.ts";

auditAfterEachTest();

/** Tries to order `items`, for a client of the shop's own. */
async function tryOrder(shop: Professional, items: unknown, values: object = {}) {
  const client = await createClientRow(shop);
  return shop.api.from("orders").insert({
    client_id: client.id,
    items: items as never,
    ...values,
  });
}

describe("lines", () => {
  test("are named and priced from the catalogue and kept with the order", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, {
      name: "Shampoo 250 ml",
      price: 12.5,
      sku: "SH-250",
      options: { size: "250 ml" },
    });
    const order = await place(shop, [
      { product_id: product.id, quantity: 3 },
      { name: "Gift wrap", unit_price: 2.25, quantity: 2 },
    ]);
    expect(order.items).toEqual([
      {
        product_id: product.id,
        name: "Shampoo 250 ml",
        sku: "SH-250",
        options: { size: "250 ml" },
        unit_price: 12.5,
        quantity: 3,
        total: 37.5,
      },
      {
        name: "Gift wrap",
        sku: null,
        options: {},
        unit_price: 2.25,
        quantity: 2,
        total: 4.5,
      },
    ]);
    expect(order).toMatchObject({
      number: 1,
      kind: "product",
      status: "pending",
      payment_status: "unpaid",
      subtotal: 42,
      discount: 0,
      tax: 0,
      total: 42,
      amount_paid: 0,
      amount_refunded: 0,
      currency: "EUR",
      source: "owner",
      version: 1,
    });
  });

  test("of a service order are services and custom ones", async () => {
    const shop = await openShop();
    const service = await createService(shop, { name: "Haircut", price: 30 });
    const order = await place(
      shop,
      [
        { service_id: service.id, quantity: 1 },
        { name: "Travel", unit_price: 10, quantity: 1 },
      ],
      { kind: "service" },
    );
    expect(order.items).toEqual([
      {
        service_id: service.id,
        name: "Haircut",
        sku: null,
        options: {},
        unit_price: 30,
        quantity: 1,
        total: 30,
      },
      { name: "Travel", sku: null, options: {}, unit_price: 10, quantity: 1, total: 10 },
    ]);
    expect(order).toMatchObject({ kind: "service", total: 40 });
  });

  test("may name one product twice, and stay two lines", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 4 });
    const line = { product_id: product.id, quantity: 2 };
    const order = await place(shop, [line, line]);
    expect(order.items.map(({ quantity }) => quantity)).toEqual([2, 2]);
    expect(await stockOf(product)).toEqual({
      stock: 0,
      ledger: [
        { delta: 4, reason: "created" },
        { delta: -4, reason: "ordered" },
      ],
    });
  });

  test("are at most 200", async () => {
    const shop = await openShop();
    const lines = (count: number) =>
      upTo(count).map((n) => ({ name: `Line ${n}`, unit_price: 1, quantity: 1 }));
    expect((await place(shop, lines(200))).total).toBe(200);
    expect(await failure(await tryOrder(shop, lines(201)))).toMatchObject({
      status: 422,
      code: "invalid_items",
    });
  });

  const id = randomUUID();
  test.each<[string, unknown, string]>([
    ["no list", { product_id: id, quantity: 1 }, "invalid_items"],
    ["no lines", [], "invalid_items"],
    ["a line that is no object", ["shampoo"], "invalid_items"],
    ["a line that is null", [null], "invalid_items"],
    ["an empty line", [{}], "invalid_items"],
    ["a product without quantity", [{ product_id: id }], "invalid_items"],
    ["a product that is no UUID", [{ product_id: "shampoo", quantity: 1 }], "invalid_items"],
    ["a product that is null", [{ product_id: null, quantity: 1 }], "invalid_items"],
    ["quantity -1", [{ product_id: id, quantity: -1 }], "invalid_items"],
    ["quantity 0", [{ product_id: id, quantity: 0 }], "invalid_items"],
    ["quantity 1.5", [{ product_id: id, quantity: 1.5 }], "invalid_items"],
    ["quantity 10^10", [{ product_id: id, quantity: 1e10 }], "invalid_items"],
    ["quantity 100001", [{ product_id: id, quantity: 100001 }], "invalid_items"],
    ['quantity "2"', [{ product_id: id, quantity: "2" }], "invalid_items"],
    ["quantity null", [{ product_id: id, quantity: null }], "invalid_items"],
    ["quantity true", [{ product_id: id, quantity: true }], "invalid_items"],
    ["a price of a product", [{ product_id: id, quantity: 1, unit_price: 1 }], "unexpected_field"],
    ["a total", [{ product_id: id, quantity: 1, total: 1 }], "unexpected_field"],
    ["a name of a product", [{ product_id: id, quantity: 1, name: "x" }], "unexpected_field"],
    [
      "a product and a service",
      [{ product_id: id, service_id: id, quantity: 1 }],
      "unexpected_field",
    ],
    [
      "a custom line with a total",
      [{ name: "x", unit_price: 1, quantity: 1, total: 1 }],
      "unexpected_field",
    ],
    ["a custom line without price", [{ name: "x", quantity: 1 }], "invalid_items"],
    ["a custom line without name", [{ unit_price: 1, quantity: 1 }], "invalid_items"],
    ["a blank name", [{ name: "  ", unit_price: 1, quantity: 1 }], "invalid_items"],
    ["a long name", [{ name: "x".repeat(201), unit_price: 1, quantity: 1 }], "invalid_items"],
    ["a name that is a number", [{ name: 1, unit_price: 1, quantity: 1 }], "invalid_items"],
    ["a price below zero", [{ name: "x", unit_price: -1, quantity: 1 }], "invalid_items"],
    ['a price "1"', [{ name: "x", unit_price: "1", quantity: 1 }], "invalid_items"],
    ["a price of 10^13", [{ name: "x", unit_price: 1e13, quantity: 1 }], "invalid_items"],
    ["a price of 1.005", [{ name: "x", unit_price: 1.005, quantity: 1 }], "too_many_decimals"],
    ["a service in a product order", [{ service_id: id, quantity: 1 }], "invalid_items"],
    [
      "more than can be kept",
      [{ name: "x", unit_price: 999999999999, quantity: 2 }],
      "total_too_large",
    ],
  ])("%s: 422", async (_name, items, code) => {
    const shop = await openShop();
    expect(await failure(await tryOrder(shop, items))).toMatchObject({ status: 422, code });
    expect(await numbersOf(shop)).toEqual([]);
  });

  test("that are wrong are named by their index, with the fields that are not taken", async () => {
    const shop = await openShop();
    const good = { name: "Soap", unit_price: 1, quantity: 1 };
    const bad = { ...good, price: 1, sum: 1 };
    expect((await failure(await tryOrder(shop, [good, bad]))).details).toEqual({
      index: 1,
      fields: ["sum", "price"],
    });
    expect(
      (await failure(await tryOrder(shop, [good, good, { ...good, quantity: 0 }]))).details,
    ).toMatchObject({ index: 2 });
  });

  test("with a product in a service order: 422", async () => {
    const shop = await openShop();
    const product = await createProduct(shop);
    const order = await tryOrder(shop, [{ product_id: product.id, quantity: 1 }], {
      kind: "service",
    });
    expect(await failure(order)).toMatchObject({ status: 422, code: "invalid_items" });
  });

  test("with an unknown, foreign or archived product or a parent get one answer", async () => {
    const shop = await openShop();
    const foreign = await createProduct(await openShop());
    const archived = await createProduct(shop, { active: false });
    const parent = await createProduct(shop);
    await createProduct(shop, { parent_id: parent.id });

    for (const id of [randomUUID(), foreign.id, archived.id, parent.id]) {
      expect(await failure(await tryOrder(shop, [{ product_id: id, quantity: 1 }]))).toEqual({
        status: 422,
        code: "product_unavailable",
        details: { product_ids: [id] },
      });
    }
  });

  test("with an unknown, foreign or archived service get one answer", async () => {
    const shop = await openShop();
    const foreign = await createService(await openShop());
    const archived = await createService(shop, { active: false });

    for (const id of [randomUUID(), foreign.id, archived.id]) {
      const order = await tryOrder(shop, [{ service_id: id, quantity: 1 }], { kind: "service" });
      expect(await failure(order)).toEqual({
        status: 422,
        code: "service_unavailable",
        details: { service_ids: [id] },
      });
    }
  });
});

describe("totals", () => {
  const custom = (unit_price: number, quantity = 1) => [{ name: "Chair", unit_price, quantity }];

  test.each<[string, object, number, object, object]>([
    [
      "tax is added and rounded half up",
      { tax_rate: 10.75 },
      2499,
      {},
      { subtotal: 2499, tax: 268.64, total: 2767.64 },
    ],
    [
      "tax is contained in prices that include it",
      { tax_rate: 10.75, prices_include_tax: true },
      2499,
      {},
      { subtotal: 2499, tax: 242.57, total: 2499 },
    ],
    [
      "tax is on the subtotal less the discount",
      { tax_rate: 22 },
      100,
      { discount: 10 },
      { subtotal: 100, discount: 10, tax: 19.8, total: 109.8 },
    ],
    [
      "a discount is capped at the subtotal",
      { tax_rate: 22 },
      3000,
      { discount: 5000 },
      { subtotal: 3000, discount: 3000, tax: 0, total: 0, payment_status: "paid" },
    ],
    ["a discount of null is none", {}, 30, { discount: null }, { discount: 0, total: 30 }],
    ["JPY has no decimals", { currency: "JPY", tax_rate: 10 }, 505, {}, { tax: 51, total: 556 }],
    ["JPY 500 stays 500", { currency: "JPY" }, 500, {}, { total: 500, currency: "JPY" }],
    [
      "KWD has three",
      { currency: "KWD", tax_rate: 5 },
      1.234,
      {},
      { subtotal: 1.234, tax: 0.062, total: 1.296, currency: "KWD" },
    ],
    [
      "a half is rounded away from zero",
      { tax_rate: 50 },
      0.01,
      {},
      { subtotal: 0.01, tax: 0.01, total: 0.02 },
    ],
    [
      "a quotient just below a half is not rounded twice",
      { tax_rate: 99.9999, prices_include_tax: true },
      499999750.01,
      {},
      { tax: 249999750.0 },
    ],
    [
      "100 % tax contained is half",
      { tax_rate: 100, prices_include_tax: true },
      9,
      {},
      { tax: 4.5 },
    ],
  ])("%s", async (_name, profile, price, values, expected) => {
    const shop = await openShop(profile);
    expect(await place(shop, custom(price), values)).toMatchObject(expected);
  });

  test("500.5 JPY, a discount of 0.5 JPY and one below zero are refused", async () => {
    const shop = await openShop({ currency: "JPY" });
    expect(await failure(await tryOrder(shop, custom(500.5)))).toEqual({
      status: 422,
      code: "too_many_decimals",
      details: { amount: 500.5, decimals: 0 },
    });
    expect(await failure(await tryOrder(shop, custom(500), { discount: 0.5 }))).toMatchObject({
      status: 422,
      code: "too_many_decimals",
    });
    expect(await failure(await tryOrder(shop, custom(500), { discount: -1 }))).toMatchObject({
      status: 400,
      code: "23514",
    });
    expect((await tryOrder(shop, custom(500), { discount: 1 })).status).toBe(201);
  });

  test.each([
    ["number", 7],
    ["status", "confirmed"],
    ["subtotal", 1],
    ["tax", 1],
    ["total", 1],
    ["currency", "USD"],
    ["amount_paid", 1],
    ["amount_refunded", 1],
    ["source", "public"],
    ["version", 7],
  ])("%s cannot be sent: 403 42501", async (column, value) => {
    const shop = await openShop();
    expect(await failure(await tryOrder(shop, custom(1), { [column]: value }))).toMatchObject({
      status: 403,
      code: "42501",
    });
    expect((await tryOrder(shop, custom(1), { notes: "sent" })).status).toBe(201);
  });

  test("are computed for servers too, whatever these send", async () => {
    const shop = await openShop();
    const client = await createClientRow(shop);
    const order = await answer(
      server()
        .from("orders")
        .insert({
          professional_id: shop.id,
          client_id: client.id,
          items: custom(5),
          number: 40,
          subtotal: 1,
          total: 1,
          currency: "USD",
          amount_paid: 1,
          version: 9,
        })
        .select("*")
        .single(),
    );
    expect(order).toMatchObject({
      number: 1,
      subtotal: 5,
      total: 5,
      currency: "EUR",
      amount_paid: 0,
      payment_status: "unpaid",
      version: 1,
    });
    const confirmed = server()
      .from("orders")
      .insert({
        professional_id: shop.id,
        client_id: client.id,
        items: custom(5),
        status: "confirmed",
      });
    expect(await failure(confirmed)).toEqual({
      status: 409,
      code: "invalid_transition",
      details: { from: null, to: "confirmed" },
    });
  });

  test("of a server's order for nobody are refused by the foreign key", async () => {
    const order = server()
      .from("orders")
      .insert({
        professional_id: randomUUID(),
        client_id: randomUUID(),
        items: custom(5),
      });
    expect(await failure(order)).toMatchObject({ status: 409, code: "23503" });
  });
});

describe("client", () => {
  const items = [{ name: "Soap", unit_price: 1, quantity: 1 }];

  test("must be there and be the professional's own", async () => {
    const shop = await openShop();
    const foreign = await createClientRow(await openShop());
    expect(await failure(await tryOrder(shop, items, { client_id: foreign.id }))).toMatchObject({
      status: 409,
      code: "23503",
    });
    expect(await failure(shop.api.from("orders").insert({ items }))).toMatchObject({
      status: 400,
      code: "23502",
    });
    expect(await numbersOf(shop)).toEqual([]);
  });

  test("erased: the lines of an old order read the same", async () => {
    const shop = await openShop();
    const order = await place(shop, items, { notes: "for Marta" });
    await answer(shop.api.rpc("erase_client", { client_id: order.client_id }));
    const now = await answer<Row<"orders">>(
      shop.api.from("orders").select("*").eq("id", order.id).single(),
    );
    expect(now).toMatchObject({ items: order.items, total: order.total, number: 1, notes: null });
  });

  test("with orders cannot be deleted", async () => {
    const shop = await openShop();
    const order = await place(shop, items);
    const remove = (id: string) => shop.api.from("clients").delete().eq("id", id);
    expect(await failure(remove(order.client_id))).toMatchObject({ status: 409, code: "23503" });
    expect((await remove((await createClientRow(shop)).id)).status).toBe(204);
  });
});

describe("orders of a booking", () => {
  async function booked(price?: number) {
    const shop = await openShop({ tax_rate: 22 });
    const client = await createClientRow(shop);
    const service = await createService(shop, { name: "Haircut", price: 30 });
    const booking = await createBooking(shop, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2027-03-01T09:00:00Z",
      ...(price !== undefined && { price }),
    });
    return { shop, client, service, booking };
  }

  test("take client, service and price from it", async () => {
    const { shop, client, service, booking } = await booked(25);
    await answer(shop.api.from("services").update({ name: "Cut", price: 99 }).eq("id", service.id));
    const order = await answer<Receipt>(
      shop.api.from("orders").insert({ booking_id: booking.id }).select("*").single(),
    );
    expect(order).toMatchObject({
      client_id: client.id,
      booking_id: booking.id,
      kind: "service",
      items: [
        {
          service_id: service.id,
          name: "Haircut",
          sku: null,
          options: {},
          unit_price: 25,
          quantity: 1,
          total: 25,
        },
      ],
      subtotal: 25,
      tax: 5.5,
      total: 30.5,
    });
  });

  test("may bring lines and a payer of their own", async () => {
    const { shop, booking } = await booked();
    const payer = await createClientRow(shop);
    const product = await createProduct(shop, { stock: 1 });
    const order = await place(shop, [{ product_id: product.id, quantity: 1 }], {
      booking_id: booking.id,
      client_id: payer.id,
    });
    expect(order).toMatchObject({ kind: "product", client_id: payer.id, subtotal: 12.5 });
    expect((await stockOf(product)).stock).toBe(0);
  });

  test("are one at a time, and again after a cancelled one", async () => {
    const { shop, booking } = await booked();
    const order = () =>
      shop.api.from("orders").insert({ booking_id: booking.id }).select("id").single();
    const first = await answer<{ id: string }>(order());
    expect(await failure(order())).toMatchObject({ status: 409, code: "23505" });
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", first.id));
    expect((await order()).status).toBe(201);
    expect(await numbersOf(shop)).toEqual([1, 2]);
  });

  test("refuse a cancelled one, for every writer; a missed one can be charged", async () => {
    const { shop, client, booking } = await booked();
    const { error } = await shop.api.rpc("cancel_booking", { booking_id: booking.id });
    expect(error).toBeNull();
    const refused = { status: 422, code: "booking_is_cancelled" };
    const row = { booking_id: booking.id };
    const lines = [{ name: "Fee", unit_price: 10, quantity: 1 }];

    expect(await failure(shop.api.from("orders").insert(row))).toMatchObject(refused);
    expect(await failure(shop.api.from("orders").insert({ ...row, items: lines }))).toMatchObject(
      refused,
    );
    expect(
      await failure(
        server()
          .from("orders")
          .insert({ ...row, professional_id: shop.id }),
      ),
    ).toMatchObject(refused);
    expect(
      await raised(
        sql`insert into public.orders (professional_id, client_id, booking_id)
          values (${shop.id}, ${client.id}, ${booking.id})`,
      ),
    ).toMatchObject(refused);

    await sql`update public.bookings set status = 'confirmed' where id = ${booking.id}`;
    await sql`update public.bookings set starts_at = now() - interval '1 day' where id = ${booking.id}`;
    await sql`update public.bookings set status = 'no_show' where id = ${booking.id}`;
    await answer(shop.api.from("orders").insert(row).select("id").single());
  });

  test("refuse blocked time, and somebody else's booking as one that is not there", async () => {
    const { shop } = await booked();
    const blocked = await createBooking(shop, {
      starts_at: "2027-03-02T09:00:00Z",
      ends_at: "2027-03-02T10:00:00Z",
    });
    const foreign = (await booked()).booking;
    const order = (booking_id: string) => shop.api.from("orders").insert({ booking_id });
    expect(await failure(order(blocked.id))).toMatchObject({
      status: 422,
      code: "booking_is_blocked_time",
    });
    const unknown = await failure(order(randomUUID()));
    expect(unknown).toMatchObject({ status: 409, code: "23503" });
    expect(await failure(order(foreign.id))).toEqual(unknown);
  });
});

describe("an insert that places nothing", () => {
  test("takes no stock and no number when it conflicts", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    const items = [{ product_id: product.id, quantity: 1 }];
    const order = await place(shop, items);

    const again = await request("/rest/v1/orders?on_conflict=id", {
      method: "POST",
      token: shop.token,
      headers: { prefer: "resolution=ignore-duplicates,return=representation" },
      body: JSON.stringify({ id: order.id, client_id: order.client_id, items }),
    });
    expect(again.ok).toBe(true);
    expect(await again.json()).toEqual([]);
    expect((await stockOf(product)).stock).toBe(4);
    expect((await place(shop, items)).number).toBe(2);
  });

  test("takes none when stock is short, lines of one product summed", async () => {
    const shop = await openShop();
    const scarce = await createProduct(shop, { stock: 3 });
    const plenty = await createProduct(shop, { stock: 9 });
    const line = { product_id: scarce.id, quantity: 2 };
    const order = await tryOrder(shop, [{ product_id: plenty.id, quantity: 1 }, line, line]);
    expect(await failure(order)).toEqual({
      status: 409,
      code: "insufficient_stock",
      details: [{ product_id: scarce.id, requested: 4, available: 3 }],
    });
    expect((await stockOf(scarce)).stock).toBe(3);
    expect((await stockOf(plenty)).stock).toBe(9);
    expect(await numbersOf(shop)).toEqual([]);
    const held = await sql`select from private.order_products where professional_id = ${shop.id}`;
    expect(held).toHaveLength(0);
  });

  test("takes none when another order of the same request fails", async () => {
    const shop = await openShop();
    const client = await createClientRow(shop);
    const product = await createProduct(shop, { stock: 3 });
    const order = { client_id: client.id, items: [{ product_id: product.id, quantity: 2 }] };

    expect(await failure(shop.api.from("orders").insert([order, order]))).toMatchObject({
      status: 409,
      code: "insufficient_stock",
    });
    expect((await stockOf(product)).stock).toBe(3);

    const one = { client_id: client.id, items: [{ product_id: product.id, quantity: 1 }] };
    const placed = await answer<{ number: number }[]>(
      shop.api.from("orders").insert([one, one, one]).select("number"),
    );
    expect(placed.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect((await stockOf(product)).stock).toBe(0);
  });
});

test("stock that is not tracked never runs out", async () => {
  const shop = await openShop();
  const product = await createProduct(shop);
  expect(await place(shop, [{ product_id: product.id, quantity: 100000 }])).toMatchObject({
    total: 1250000,
  });
});

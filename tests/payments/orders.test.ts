/** Orders that are held until they are paid, and what cancelling does to money. */
import { describe, expect, test } from "vitest";
import { anonymous, request, server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  type Receipt as OrderReceipt,
  openShop,
  place,
  placeOrder,
  stockOf,
} from "../support/commerce.ts";
import { asCaller, raised, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  createProduct,
  createService,
} from "../support/factories.ts";
import { confirmHold, isOver, reportPortalAddress, rowOf, sweep } from "../support/holds.ts";
import { newsOf } from "../support/mail.ts";
import {
  canCharge,
  closeCheckout,
  collect,
  endUnpaidHold,
  openCheckout,
  refundsOf,
} from "../support/payments.ts";
import { stack } from "../support/stack.ts";
import { eventsOf, record } from "../support/webhooks.ts";

const anon = anonymous();
auditAfterEachTest();

type Receipt = OrderReceipt & { checkout_token: string | null; amount_due: number | null };

/** A shop whose orders have to be paid, with five pieces of a product for 20. */
async function shopOf(profile: Parameters<typeof openShop>[0] = {}) {
  const shop = await openShop({ orders_need_payment: true, ...profile });
  await canCharge(shop);
  const [product, client] = await Promise.all([
    createProduct(shop, { price: 20, stock: 5 }),
    createClientRow(shop),
  ]);
  const hold = (quantity = 2, values: Parameters<typeof placeOrder>[3] = {}): Promise<Receipt> =>
    answer(placeOrder(anon, shop, [{ product_id: product.id, quantity }], values));
  return { shop, product, client, hold };
}

const statusOf = async (row: { id: string }) => (await rowOf("orders", row)).status as string;

async function ends(order: { id: string }) {
  await isOver("orders", order);
  await sweep("orders", order);
}

describe("where orders need payment", () => {
  test("an order of the public holds its stock, and has a token that pays it", async () => {
    const { shop, product, hold } = await shopOf({ tax_rate: 10, payment_minutes: 60 });
    const receipt = await hold();
    expect(receipt).toMatchObject({ status: "pending", payment_status: "unpaid", amount_due: 44 });
    expect(receipt.checkout_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const row = await rowOf("orders", receipt);
    expect(row.expires_at - row.created_at).toBe(60 * 60_000);
    expect((receipt as unknown as { expires_at: string }).expires_at).toBe(
      row.expires_at.toISOString(),
    );
    expect(row).toMatchObject({ deposit: null, checkout_open: false, source: "public" });
    expect((await stockOf(product)).stock).toBe(3);
    expect(await newsOf(shop)).toEqual([]);
  });

  test("one of a portal client does too; the owner's is an order at once", async () => {
    const { shop, product, client } = await shopOf();
    const portal = await createPortalSession(client);
    const items = [{ product_id: product.id, quantity: 1 }];
    const own = { professional_id: shop.id, items };
    expect(await answer(portal.api.rpc("place_order", own))).toMatchObject({ amount_due: 20 });
    const atOnce = { expires_at: null, checkout_token: null, amount_due: null };
    expect(await answer(placeOrder(shop.api, shop, items))).toMatchObject(atOnce);
    expect(await place(shop, items)).toMatchObject({ expires_at: null });
  });

  test("one that costs nothing is none; where they need none, nothing changed", async () => {
    const { shop, hold } = await shopOf();
    const gift = await createProduct(shop, { price: 0 });
    const free = await answer<Receipt>(
      placeOrder(anon, shop, [{ product_id: gift.id, quantity: 1 }]),
    );
    expect(free).toMatchObject({ expires_at: null, checkout_token: null, amount_due: null });
    await answer(
      shop.api.from("profiles").update({ orders_need_payment: false }).eq("id", shop.id),
    );
    expect(await hold()).toMatchObject({
      expires_at: null,
      checkout_token: null,
      amount_due: null,
    });
  });

  test.each([
    ["payments_unavailable", false, 20],
    ["amount_not_payable", true, 0.01],
  ])("is 422 %s where nobody could pay it, and nothing is kept", async (code, can, price) => {
    const shop = await openShop({ orders_need_payment: true });
    if (can) await canCharge(shop);
    const product = await createProduct(shop, { price, stock: 5 });
    const call = placeOrder(anon, shop, [{ product_id: product.id, quantity: 1 }]);
    expect(await failure(call)).toMatchObject({ status: 422, code });
    expect((await stockOf(product)).stock).toBe(5);
    const kept = await sql`
      select id from public.orders where professional_id = ${shop.id}
      union all select id from public.clients where professional_id = ${shop.id}`;
    expect(kept).toHaveLength(0);
  });

  test("what is wrong with the order is said as before", async () => {
    const { product, hold, shop } = await shopOf();
    expect(await failure(placeOrder(anon, shop, []))).toMatchObject({ code: "invalid_items" });
    const other = [{ product_id: crypto.randomUUID(), quantity: 1 }];
    expect(await failure(placeOrder(anon, shop, other))).toMatchObject({
      code: "product_unavailable",
    });
    const line = [{ product_id: product.id, quantity: 1 }];
    const expected = placeOrder(anon, shop, line, { expected_total: 1 });
    expect(await failure(expected)).toMatchObject({ status: 409, code: "total_changed" });
    await hold(5);
    expect(await failure(placeOrder(anon, shop, line))).toMatchObject({
      status: 409,
      code: "insufficient_stock",
    });
  });

  test.each([false, true])(
    "it is an order once it is paid, and no link is needed, verify_public_email: %s",
    async (verify_public_email) => {
      if (verify_public_email) await reportPortalAddress();
      const { shop, product, hold } = await shopOf({ verify_public_email });
      await record(shop);
      const before = (await eventsOf(shop)).at(-1)?.sequence ?? 0;
      const receipt = await hold(2, { client_email: "new@example.com" });
      expect(await newsOf(shop)).toEqual([]);
      expect(await failure(confirmHold("order", receipt))).toMatchObject({ status: 404 });
      await openCheckout(receipt);
      await closeCheckout(receipt);
      await collect(receipt, 40);

      expect(await rowOf("orders", receipt)).toMatchObject({
        status: "pending",
        payment_status: "paid",
        expires_at: null,
      });
      expect((await stockOf(product)).stock).toBe(3);
      expect(await newsOf(shop)).toEqual([
        "client order_received",
        "client payment_received",
        "professional new_order",
        "professional payment_received",
      ]);
      const types = (await eventsOf(shop, before)).map(({ type }) => type);
      expect(types.filter((type) => !type.startsWith("product."))).toEqual([
        "client.created",
        "order.created",
        "payment.succeeded",
      ]);
    },
  );

  test("a replay has the same token", async () => {
    const { shop, hold } = await shopOf();
    const receipt = await hold(1, { idempotency_key: shop.id });
    expect(await hold(1, { idempotency_key: shop.id })).toEqual(receipt);
  });

  test("two wait at a time, for a portal client and for a network, bookings among them", async () => {
    const { shop, product, client } = await shopOf();
    const portal = await createPortalSession(client);
    const items = [{ product_id: product.id, quantity: 1 }];
    const own = () => portal.api.rpc("place_order", { professional_id: shop.id, items });
    const [first] = [await answer<Receipt>(own()), await answer<Receipt>(own())];
    expect(await failure(own())).toMatchObject({ status: 422, code: "too_many_open" });
    await collect(first, 20);
    await answer(own());

    const inSql = () =>
      asCaller({ role: "anon" }, async (tx) => {
        await tx`select set_config('request.headers', '{"x-forwarded-for": "198.51.100.9"}', true)`;
        await tx`
          select public.place_order(
            ${shop.id}, ${sql.json(items)}, 'Ann', ${`${crypto.randomUUID()}@example.com`}
          )`;
      });
    await inSql();
    await inSql();
    expect(await raised(inSql())).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  });
});

describe("when the hold of an order is over", () => {
  test("its stock comes back, but not while a payment page may be open", async () => {
    const { shop, product, hold } = await shopOf();
    const receipt = await hold(4);
    await openCheckout(receipt);
    await isOver("orders", receipt);
    const line = [{ product_id: product.id, quantity: 2 }];
    const short = { status: 409, code: "insufficient_stock" };
    expect(await failure(placeOrder(anon, shop, line))).toMatchObject(short);
    const quote = anon.rpc("quote_order", { professional_id: shop.id, items: line });
    expect(await failure(quote)).toMatchObject(short);
    const insert = shop.api
      .from("orders")
      .insert({ client_id: (await createClientRow(shop)).id, items: line as never });
    expect(await failure(insert)).toMatchObject(short);
    for (let runs = 0; runs < 5; runs++) await sql`select private.sweep_holds()`;
    expect(await statusOf(receipt)).toBe("pending");

    await endUnpaidHold(receipt);
    expect(await statusOf(receipt)).toBe("cancelled");
    expect((await stockOf(product)).stock).toBe(5);
    expect(await newsOf(shop)).toEqual([]);
  });

  test("an order that is short of stock ends those that are over, and not one that may be paid", async () => {
    const { shop, product, hold } = await shopOf();
    const [open, over] = [await hold(2), await hold(2, { client_email: "other@example.com" })];
    await openCheckout(open);
    for (const row of [open, over]) await isOver("orders", row);
    await place(shop, [{ product_id: product.id, quantity: 3 }]);
    expect([await statusOf(open), await statusOf(over)]).toEqual(["pending", "cancelled"]);
    expect((await stockOf(product)).stock).toBe(0);
  });

  test("one that a server enters when it is over already does not end itself", async () => {
    const { shop, product, client, hold } = await shopOf();
    const over = await hold(5);
    await isOver("orders", over);
    const entered = await answer<{ id: string }>(
      server()
        .from("orders")
        .insert({
          professional_id: shop.id,
          client_id: client.id,
          items: [{ product_id: product.id, quantity: 4 }],
          expires_at: "2020-01-01T00:00:00Z",
        } as never)
        .select("id")
        .single(),
    );
    await sweep("orders", entered);
    expect((await stockOf(product)).stock).toBe(5);
  });

  test.each(["swept", "met by the owner's own order"])(
    "and it was %s, a payment brings it back with its stock",
    async (how) => {
      const { shop, product, hold } = await shopOf();
      const receipt = await hold(3);
      await isOver("orders", receipt);
      if (how === "swept") await sweep("orders", receipt);
      else {
        const other = await place(shop, [{ product_id: product.id, quantity: 3 }]);
        await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", other.id));
      }
      expect(await statusOf(receipt)).toBe("cancelled");
      await collect(receipt, 60);

      expect(await rowOf("orders", receipt)).toMatchObject({
        status: "pending",
        payment_status: "paid",
        expires_at: null,
      });
      expect((await stockOf(product)).stock).toBe(2);
      expect(await refundsOf(receipt)).toEqual([]);
      expect(await newsOf(shop)).toContain("client order_received");
      // And it is cancelled like any other: the stock comes back once more.
      await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", receipt.id));
      expect((await stockOf(product)).stock).toBe(5);
      expect(await refundsOf(receipt)).toEqual(["cancelled 60"]);
      // Not by the clock, so another payment does not bring it back.
      await collect(receipt, 60);
      expect(await statusOf(receipt)).toBe("cancelled");
      expect(await refundsOf(receipt)).toEqual(["cancelled 60", "late 60"]);
    },
  );

  test("and its stock is gone, the money goes back, and both are told", async () => {
    const { shop, product, hold } = await shopOf();
    const receipt = await hold(3);
    await ends(receipt);
    await answer(
      shop.api.rpc("adjust_stock", { product_id: product.id, delta: -3, reason: "sold" }),
    );
    await collect(receipt, 60);
    expect(await statusOf(receipt)).toBe("cancelled");
    expect((await stockOf(product)).stock).toBe(2);
    expect(await refundsOf(receipt)).toEqual(["late 60"]);
    expect(await newsOf(shop)).toEqual([
      "client payment_returned",
      "professional payment_returned",
    ]);
  });

  test("but the stock that others' ended holds give back is there", async () => {
    const { product, hold } = await shopOf();
    const [one, other] = [await hold(2), await hold(3)];
    await ends(one);
    const third = await hold(2);
    await isOver("orders", other);
    await collect(one, 40);
    expect(await statusOf(one)).toBe("pending");
    expect(await statusOf(other)).toBe("cancelled");
    expect(await statusOf(third)).toBe("pending");
    expect((await stockOf(product)).stock).toBe(1);
    await collect(other, 60);
    expect(await refundsOf(other)).toEqual(["late 60"]);
  });

  test("and orders are not accepted any more, the money goes back", async () => {
    const { shop, hold } = await shopOf();
    const receipt = await hold();
    await ends(receipt);
    await answer(shop.api.from("profiles").update({ accepts_orders: false }).eq("id", shop.id));
    await collect(receipt, 40);
    expect(await refundsOf(receipt)).toEqual(["late 40"]);
  });

  test("because the owner cancelled it, it does not come back", async () => {
    const { shop, hold } = await shopOf();
    const receipt = await hold();
    await openCheckout(receipt);
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", receipt.id));
    expect((await rowOf("orders", receipt)).checkout_open).toBe(false);
    await isOver("orders", receipt);
    await collect(receipt, 40);
    expect(await statusOf(receipt)).toBe("cancelled");
    expect(await refundsOf(receipt)).toEqual(["late 40"]);
  });
});

describe("an order that is cancelled", () => {
  test("sends back what a provider collected, unless its owner or a server says not", async () => {
    const { shop, hold } = await shopOf();
    const modes = ["none", undefined] as const;
    for (const token of [shop.token, undefined]) {
      for (const mode of modes) {
        const receipt = await hold(1);
        await collect(receipt, 20);
        const headers: Record<string, string> = mode ? { "x-refund": mode } : {};
        const { status } = await request(`/rest/v1/orders?id=eq.${receipt.id}`, {
          method: "PATCH",
          body: JSON.stringify({ status: "cancelled" }),
          headers: token ? headers : { ...headers, apikey: stack.secretKey },
          token,
        });
        expect(status).toBe(204);
        expect(await refundsOf(receipt)).toEqual(mode ? [] : ["cancelled 20"]);
      }
    }
  });

  test("leaves alone what was paid by hand", async () => {
    const { shop, hold } = await shopOf();
    const receipt = await hold(1);
    await answer(
      shop.api.rpc("record_payment", { order_id: receipt.id, amount: 20, method: "cash" }),
    );
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", receipt.id));
    expect(await refundsOf(receipt)).toEqual([]);
  });
});

describe("the job that cancels unpaid orders", () => {
  /** Placed by the public three days ago, and no hold. */
  async function oldOrder(
    shop: { id: string },
    client: { id: string },
    values: Record<string, unknown>,
  ): Promise<{ id: string }> {
    const [order] = await sql<{ id: string }[]>`
      insert into public.orders ${sql({
        professional_id: shop.id,
        client_id: client.id,
        source: "public",
        created_at: new Date(Date.now() - 72 * 3_600_000),
        ...values,
      } as never)}
      returning id`;
    return order as { id: string };
  }

  test("leaves one whose payment page may be open, and what was booked", async () => {
    const { shop, product, client } = await shopOf();
    const service = await createService(shop);
    const booking = await createBooking(shop, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2030-01-01T09:00:00Z",
    });
    const items = sql.json([{ product_id: product.id, quantity: 1 }]);
    const [plain, open, booked] = [
      await oldOrder(shop, client, { items }),
      await oldOrder(shop, client, { items }),
      await oldOrder(shop, client, { booking_id: booking.id }),
    ];
    expect(await openCheckout(open)).toBe(null);
    // The scheduler's own run may have the lock.
    const runUntilCancelled = async (order: { id: string }) => {
      for (let tries = 0; tries < 1000 && (await statusOf(order)) !== "cancelled"; tries++) {
        await sql`select private.cancel_unpaid_orders()`;
      }
    };
    await runUntilCancelled(plain);
    const statuses = () => Promise.all([plain, open, booked].map(statusOf));
    expect(await statuses()).toEqual(["cancelled", "pending", "pending"]);
    expect(await closeCheckout(open)).toBe(null);
    await runUntilCancelled(open);
    expect(await statuses()).toEqual(["cancelled", "cancelled", "pending"]);
  });
});

describe("servers", () => {
  test("cannot place a deposit that is more than the total, nor change it", async () => {
    const { shop, product, client } = await shopOf();
    const insert = (deposit: number) =>
      server()
        .from("orders")
        .insert({
          professional_id: shop.id,
          client_id: client.id,
          items: [{ product_id: product.id, quantity: 1 }],
          deposit,
        } as never)
        .select("id")
        .single();
    for (const deposit of [0, 20.01]) {
      expect(await failure(insert(deposit))).toMatchObject({ status: 400, code: "23514" });
    }
    const order = await answer<{ id: string }>(insert(20));
    const update = server()
      .from("orders")
      .update({ deposit: 10 } as never);
    expect(await failure(update.eq("id", order.id))).toMatchObject({ status: 400, code: "23514" });
  });
});

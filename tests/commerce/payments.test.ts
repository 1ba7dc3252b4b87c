import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Api, anonymous, server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  openShop,
  outcome,
  type PaymentReceipt,
  place,
} from "../support/commerce.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import { createPortalSession, type Professional } from "../support/factories.ts";

auditAfterEachTest();

const connections = parallelConnections(20);

async function orderOf(total: number, profile: object = {}) {
  const shop = await openShop(profile);
  const order = await place(shop, [{ name: "Chair", unit_price: total, quantity: 1 }]);
  return { shop, order };
}

const pay = (api: Api, order_id: string, amount: number, values: object = {}) =>
  api.rpc("record_payment", { order_id, amount, method: "cash", ...values });

const refund = (api: Api, order_id: string, amount: number, values: object = {}) =>
  api.rpc("refund_payment", { order_id, amount, ...values });

/** What the order says after a call. */
const figures = async (call: ReturnType<typeof pay>) => {
  const { order } = await answer<PaymentReceipt>(call);
  return [order.payment_status, order.amount_paid, order.amount_refunded];
};

describe("record_payment", () => {
  test("answers with the payment and the order as it is now", async () => {
    const { shop, order } = await orderOf(100);
    const receipt = await answer<PaymentReceipt>(
      pay(shop.api, order.id, 40, { method: "card", reference: "ch_1" }),
    );
    expect(receipt).toEqual({
      payment: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: "payment",
        amount: 40,
        method: "card",
        reference: "ch_1",
        reason: null,
        provider: "manual",
        flag: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      order: {
        id: order.id,
        professional_id: shop.id,
        number: 1,
        kind: "product",
        status: "pending",
        payment_status: "partially_paid",
        items: order.items,
        subtotal: 100,
        discount: 0,
        tax: 0,
        total: 100,
        amount_paid: 40,
        amount_refunded: 0,
        currency: "EUR",
        version: 2,
        created_at: order.created_at,
        expires_at: null,
        checkout_token: null,
        amount_due: null,
      },
    });
  });

  test("payment_status follows what was paid and refunded", async () => {
    const { shop, order } = await orderOf(100);
    expect(order.payment_status).toBe("unpaid");
    expect(await figures(pay(shop.api, order.id, 99.99))).toEqual(["partially_paid", 99.99, 0]);
    expect(await figures(pay(shop.api, order.id, 0.01))).toEqual(["paid", 100, 0]);
    expect(await figures(refund(shop.api, order.id, 60))).toEqual(["partially_refunded", 100, 60]);
    expect(await figures(refund(shop.api, order.id, 40))).toEqual(["refunded", 100, 100]);
  });

  test("an order of 0 is paid from the start", async () => {
    const { shop, order } = await orderOf(0);
    expect(order.payment_status).toBe("paid");
    expect(await failure(pay(shop.api, order.id, 1))).toEqual({
      status: 409,
      code: "exceeds_total",
      details: { due: 0 },
    });
  });

  test("more than is due is refused; what was refunded is due again", async () => {
    const { shop, order } = await orderOf(100);
    expect(await failure(pay(shop.api, order.id, 100.01))).toEqual({
      status: 409,
      code: "exceeds_total",
      details: { due: 100 },
    });
    await answer(pay(shop.api, order.id, 70));
    expect((await failure(pay(shop.api, order.id, 30.01))).details).toEqual({ due: 30 });
    await answer(refund(shop.api, order.id, 50));
    expect((await failure(pay(shop.api, order.id, 80.01))).details).toEqual({ due: 80 });
    expect(await figures(pay(shop.api, order.id, 80))).toEqual(["paid", 150, 50]);
  });

  test("paid, refunded in full and paid again is paid", async () => {
    const { shop, order } = await orderOf(100);
    expect(await figures(pay(shop.api, order.id, 100))).toEqual(["paid", 100, 0]);
    expect(await figures(refund(shop.api, order.id, 100))).toEqual(["refunded", 100, 100]);
    expect(await figures(pay(shop.api, order.id, 99))).toEqual(["partially_refunded", 199, 100]);
    expect(await figures(pay(shop.api, order.id, 1))).toEqual(["paid", 200, 100]);
    expect(await failure(pay(shop.api, order.id, 0.01))).toMatchObject({ details: { due: 0 } });
  });

  test.each([0, -1, null, 1e13])("an amount of %s is refused", async (amount) => {
    const { shop, order } = await orderOf(100);
    for (const call of [pay, refund]) {
      expect(await failure(call(shop.api, order.id, amount as number))).toMatchObject({
        status: 422,
        code: "invalid_amount",
      });
    }
  });

  test("an amount finer than the currency is refused", async () => {
    const { shop, order } = await orderOf(500, { currency: "JPY" });
    expect(await failure(pay(shop.api, order.id, 0.5))).toMatchObject({
      status: 422,
      code: "too_many_decimals",
    });
    expect(await figures(pay(shop.api, order.id, 500))).toEqual(["paid", 500, 0]);
    expect((await failure(refund(shop.api, order.id, 0.5))).code).toBe("too_many_decimals");
  });

  test("wants a method, and texts that are neither too long nor blank", async () => {
    const { shop, order } = await orderOf(100);
    for (const method of [null, "", "  "]) {
      expect(await failure(pay(shop.api, order.id, 1, { method }))).toMatchObject({
        status: 422,
        code: "method_required",
      });
    }
    for (const values of [
      { method: "x".repeat(51) },
      { reference: " " },
      { reference: "x".repeat(201) },
    ]) {
      expect(await failure(pay(shop.api, order.id, 1, values))).toEqual({
        status: 422,
        code: "validation_failed",
        details: { fields: Object.keys(values) },
      });
    }
  });

  test("for a cancelled order is recorded, and the order stays cancelled", async () => {
    const { shop, order } = await orderOf(100);
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", order.id));
    const receipt = await answer<PaymentReceipt>(pay(server(), order.id, 100));
    expect(receipt.order).toMatchObject({ status: "cancelled", payment_status: "paid" });
    expect(await figures(refund(shop.api, order.id, 100))).toEqual(["refunded", 100, 100]);
  });

  test("is one change of the order", async () => {
    const { shop, order } = await orderOf(100);
    const paid = await answer<PaymentReceipt>(pay(shop.api, order.id, 100));
    expect(paid.order.version).toBe(order.version + 1);
    const refunded = await answer<PaymentReceipt>(refund(shop.api, order.id, 1));
    expect(refunded.order.version).toBe(order.version + 2);
  });
});

describe("reference", () => {
  test("again is the same payment", async () => {
    const { shop, order } = await orderOf(100);
    const first = await answer<PaymentReceipt>(pay(shop.api, order.id, 100, { reference: "r" }));
    // Nothing is due any more: it is the same payment all the same.
    expect(await answer(pay(shop.api, order.id, 100, { reference: "r" }))).toEqual(first);

    const back = await answer<PaymentReceipt>(refund(shop.api, order.id, 100, { reference: "b" }));
    expect(await answer(refund(shop.api, order.id, 100, { reference: "b" }))).toEqual(back);
  });

  test("20 times at once is one payment", async () => {
    const { shop, order } = await orderOf(100);
    const ids = await Promise.all(
      connections.map((connection) =>
        asCaller(
          shop.claims,
          async (tx) => {
            const [row] = await tx<{ id: string }[]>`
              select payment ->> 'id' as id from public.record_payment(${order.id}, 10, 'card', 'r')`;
            return row?.id;
          },
          connection,
        ),
      ),
    );
    expect(new Set(ids).size).toBe(1);
    const [now] = await answer<{ amount_paid: number }[]>(
      shop.api.from("orders").select("amount_paid").eq("id", order.id),
    );
    expect(now).toEqual({ amount_paid: 10 });
  });

  test("with another amount, order or kind is refused", async () => {
    const { shop, order } = await orderOf(100);
    const second = await place(shop, [{ name: "Table", unit_price: 100, quantity: 1 }]);
    await answer(pay(shop.api, order.id, 50, { reference: "r" }));
    for (const call of [
      pay(shop.api, order.id, 51, { reference: "r" }),
      pay(shop.api, second.id, 50, { reference: "r" }),
      refund(shop.api, order.id, 50, { reference: "r" }),
    ]) {
      expect(await failure(call)).toMatchObject({ status: 409, code: "reference_reused" });
    }
    expect((await pay(shop.api, second.id, 50, { reference: "s" })).status).toBe(200);
  });

  test("is each professional's own, and none is none", async () => {
    const a = await orderOf(100);
    const b = await orderOf(100);
    await answer(pay(a.shop.api, a.order.id, 50, { reference: "r" }));
    expect(await figures(pay(b.shop.api, b.order.id, 60, { reference: "r" }))).toEqual([
      "partially_paid",
      60,
      0,
    ]);
    await answer(pay(a.shop.api, a.order.id, 10));
    expect(await figures(pay(a.shop.api, a.order.id, 10))).toEqual(["partially_paid", 70, 0]);
  });
});

describe("a double charge", () => {
  async function chargedTwice() {
    const { shop, order } = await orderOf(100);
    await answer(pay(shop.api, order.id, 100, { method: "card", reference: "ch_1" }));
    return { shop, order };
  }
  const second = { method: "card", reference: "ch_2" };

  test("is refused to the professional, and recorded for a server, once", async () => {
    const { shop, order } = await chargedTwice();
    expect(await failure(pay(shop.api, order.id, 100, second))).toEqual({
      status: 409,
      code: "exceeds_total",
      details: { due: 0 },
    });
    for (const _delivery of [1, 2]) {
      expect(await figures(pay(server(), order.id, 100, second))).toEqual(["paid", 200, 0]);
    }
    // Overpaid by more than any payment could make good.
    expect(await failure(pay(shop.api, order.id, 0.01))).toEqual({
      status: 409,
      code: "exceeds_total",
      details: { due: 0 },
    });
  });

  test("refunded leaves the order paid with nothing due, refunded once more it is due again", async () => {
    const { shop, order } = await chargedTwice();
    await answer(pay(server(), order.id, 100, second));
    expect(await figures(refund(shop.api, order.id, 100))).toEqual(["paid", 200, 100]);
    expect(await failure(pay(shop.api, order.id, 0.01))).toMatchObject({ details: { due: 0 } });
    expect(await figures(refund(shop.api, order.id, 30))).toEqual(["partially_refunded", 200, 130]);
    expect(await failure(refund(shop.api, order.id, 70.01))).toMatchObject({
      details: { refundable: 70 },
    });
    expect(await figures(refund(shop.api, order.id, 70))).toEqual(["refunded", 200, 200]);
    expect(await failure(pay(shop.api, order.id, 100.01))).toMatchObject({ details: { due: 100 } });
  });

  test("of an order of 0 is refunded in full", async () => {
    const { shop, order } = await orderOf(0);
    expect(await figures(pay(server(), order.id, 5))).toEqual(["paid", 5, 0]);
    expect(await figures(refund(shop.api, order.id, 2))).toEqual(["paid", 5, 2]);
    expect(await figures(refund(shop.api, order.id, 3))).toEqual(["refunded", 5, 5]);
  });

  test("is recorded in SQL as well", async () => {
    const { order } = await chargedTwice();
    const [row] = await sql`
      select "order" ->> 'payment_status' as status, ("order" -> 'amount_paid')::numeric as paid
      from public.record_payment(${order.id}, 100, 'card', 'ch_2')`;
    expect([row?.status, Number(row?.paid)]).toEqual(["paid", 200]);
  });

  test("is one payment.succeeded of each charge", async () => {
    const { shop, order } = await orderOf(100);
    await answer(
      shop.api.rpc("create_webhook_endpoint", { url: "https://example.com/hook", events: ["*"] }),
    );
    for (const reference of ["ch_1", "ch_2"]) {
      await answer(pay(server(), order.id, 100, { reference }));
    }
    const events = await sql`
      select type, body::jsonb #>> '{data,order,payment_status}' as status
      from private.webhook_events
      where professional_id = ${shop.id} and type like 'payment.%'
      order by sequence`;
    expect([...events]).toEqual(Array(2).fill({ type: "payment.succeeded", status: "paid" }));
  });
});

describe("refund_payment", () => {
  test("answers with the refund", async () => {
    const { shop, order } = await orderOf(100);
    await answer(pay(shop.api, order.id, 100));
    const receipt = await answer<PaymentReceipt>(
      refund(shop.api, order.id, 30, { reason: "damaged", reference: "re_1" }),
    );
    expect(receipt.payment).toMatchObject({
      kind: "refund",
      amount: 30,
      method: null,
      reference: "re_1",
      reason: "damaged",
    });
  });

  test("of more than was paid is refused", async () => {
    const { shop, order } = await orderOf(100);
    expect(await failure(refund(shop.api, order.id, 1))).toEqual({
      status: 409,
      code: "refund_exceeds_paid",
      details: { refundable: 0 },
    });
    await answer(pay(shop.api, order.id, 40));
    await answer(refund(shop.api, order.id, 15));
    expect((await failure(refund(shop.api, order.id, 25.01))).details).toEqual({ refundable: 25 });
    expect(await figures(refund(shop.api, order.id, 25))).toEqual(["refunded", 40, 40]);
  });

  test("600 and 600 of 1000 at once: one wins", async () => {
    const { shop, order } = await orderOf(1000);
    await answer(pay(shop.api, order.id, 1000));
    const results = await Promise.all(
      connections
        .slice(0, 2)
        .map((connection) =>
          outcome(
            asCaller(
              shop.claims,
              (tx) => tx`select public.refund_payment(${order.id}, 600)`,
              connection,
            ),
          ),
        ),
    );
    expect(results.sort()).toEqual(["done", "refund_exceeds_paid"]);
  });
});

describe("order_payments", () => {
  test("lists payments and refunds, oldest first", async () => {
    const { shop, order } = await orderOf(100);
    expect(await answer(shop.api.rpc("order_payments", { order_id: order.id }))).toEqual([]);
    const first = await answer<PaymentReceipt>(pay(shop.api, order.id, 100, { reference: "r" }));
    const second = await answer<PaymentReceipt>(refund(shop.api, order.id, 5, { reason: "late" }));
    for (const api of [shop.api, server()]) {
      expect(await answer(api.rpc("order_payments", { order_id: order.id }))).toEqual([
        first.payment,
        second.payment,
      ]);
    }
  });
});

describe("who may", () => {
  const calls = (api: Api, order_id: string) => [
    pay(api, order_id, 1),
    refund(api, order_id, 1),
    api.rpc("order_payments", { order_id }),
  ];

  test("the owner and servers", async () => {
    const { shop, order } = await orderOf(100);
    for (const api of [shop.api, server()]) {
      for (const call of calls(api, order.id)) expect((await call).status).toBe(200);
    }
  });

  test("somebody else's order is as one that is not there", async () => {
    const { order } = await orderOf(100);
    const other = await openShop();
    for (const id of [order.id, randomUUID()]) {
      for (const call of calls(other.api, id)) {
        expect(await failure(call)).toEqual({ status: 404, code: "PGRST301", details: null });
      }
    }
    for (const call of calls(server(), randomUUID())) {
      expect(await failure(call)).toEqual({ status: 404, code: "PGRST301", details: null });
    }
  });

  test("neither the public nor the client", async () => {
    const { order } = await orderOf(100);
    const client = { id: order.client_id, professional_id: order.professional_id };
    const portal = await createPortalSession(client);
    for (const call of calls(anonymous(), order.id)) {
      expect(await failure(call)).toMatchObject({ status: 401, code: "42501" });
    }
    for (const call of calls(portal.api, order.id)) {
      expect(await failure(call)).toMatchObject({ status: 403, code: "42501" });
    }
  });

  test("an order with payments cannot be deleted, not even by a server", async () => {
    const { shop, order } = await orderOf(100);
    await answer(pay(shop.api, order.id, 1));
    const remove = server().from("orders").delete().eq("id", order.id);
    expect(await failure(remove)).toMatchObject({ status: 409, code: "23503" });
  });
});

test("concurrent payments of one order never exceed its total", async () => {
  const { shop, order } = await orderOf(100);
  const results = await Promise.all(
    connections.map((connection) =>
      outcome(
        asCaller(
          shop.claims as Professional["claims"],
          (tx) => tx`select public.record_payment(${order.id}, 7, 'card')`,
          connection,
        ),
      ),
    ),
  );
  expect(results.sort()).toEqual([...Array(14).fill("done"), ...Array(6).fill("exceeds_total")]);
});

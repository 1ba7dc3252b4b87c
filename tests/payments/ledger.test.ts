/** What goes back of what a provider collected: refunds, disputes, and what is taken back of them. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EVENT_SCHEMAS } from "../../reference/webhook-events.ts";
import { request, server } from "../support/callers.ts";
import { answer, auditAfterEachTest, failure, outcome, SERVER } from "../support/commerce.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import { newsOf } from "../support/mail.ts";
import {
  askRefund,
  beginCheckout,
  beginRefund,
  claim,
  disputeOf,
  type Entry,
  failCheckout,
  failRefund,
  finish,
  ledger,
  lookIn,
  movements,
  openPage,
  openSeller,
  orderFor,
  paidAs,
  paidOrder,
  recordDispute,
  recordRefund,
  recordSession,
  refundOf,
  standing,
} from "../support/payment-rpcs.ts";
import { refundsOf } from "../support/payments.ts";
import { eventsOf, record } from "../support/webhooks.ts";

auditAfterEachTest();

const connections = parallelConnections(10);

const refundRow = async (id: string) => {
  const [row] = await sql`
    select status, provider_id, amount::float8 as amount, minor::integer as minor, cause, reason,
      failure
    from private.provider_refunds where id = ${id}`;
  return row;
};

describe("a refund by the professional", () => {
  test("is to the cent, and not one cent more", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    const first = await beginRefund(seller, payment.id, { amount: 20.25, reason: "came late" });
    expect(first).toEqual({ refund_id: expect.any(String), status: "due", amount: 20.25 });
    expect(await failure(askRefund(seller, payment.id, { amount: 40.26 }))).toMatchObject({
      status: 422,
      code: "refund_exceeds_payment",
      details: { refundable: 40.25 },
    });
    const second = await beginRefund(seller, payment.id, { amount: 40.25 });
    for (const values of [{}, { amount: 0.01 }]) {
      expect(await failure(askRefund(seller, payment.id, values))).toMatchObject({
        code: "refund_exceeds_payment",
        details: { refundable: 0 },
      });
    }
    // Nothing has gone back yet.
    expect(await standing(order)).toBe("paid 60.5 -0");
    for (const [{ refund_id }, minor] of [
      [first, 2025],
      [second, 4025],
    ] as const) {
      await recordRefund(seller.account, refundOf(intent, minor, { attempt_id: refund_id }));
    }
    expect(await movements(order)).toEqual(["payment 60.5", "refund 20.25", "refund 40.25"]);
    expect((await ledger(order)).map(({ reason }) => reason)).toEqual([null, "came late", null]);
    expect(await standing(order)).toBe("refunded 60.5 -60.5");
  });

  test("of all that is left needs no amount", async () => {
    const { seller, payment } = await paidOrder();
    await beginRefund(seller, payment.id, { amount: 0.5 });
    expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 60 });
  });

  test("one by one at one moment, never gives more than there is", async () => {
    const { seller, payment } = await paidOrder({}, 50);
    const tries = await Promise.all(
      connections.map((connection) =>
        outcome(
          asCaller(
            seller.claims,
            (tx) => tx`select public.begin_refund(${payment.id}, 10)`,
            connection,
          ),
        ),
      ),
    );
    expect(tries.sort()).toEqual([
      ...Array(5).fill("done"),
      ...Array(5).fill("refund_exceeds_payment"),
    ]);
  });

  test("is of what was collected online, of the professional's own", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    const other = await openSeller();
    for (const id of [payment.id, randomUUID()]) {
      expect(await failure(askRefund(other, id))).toMatchObject({ status: 404, code: "PGRST301" });
    }
    const cash = await orderFor(seller);
    await answer(
      seller.api.rpc("record_payment", { order_id: cash.id, amount: 5, method: "cash" }),
    );
    await recordRefund(seller.account, refundOf(intent, 100));
    const [typed] = await ledger(cash);
    const [, gone] = await ledger(order);
    for (const entry of [typed, gone]) {
      expect(await failure(askRefund(seller, entry?.id as string))).toMatchObject({
        status: 422,
        code: "not_a_provider_payment",
      });
    }
    const nobody = server().rpc("begin_refund", { payment_id: payment.id });
    expect(await failure(nobody)).toMatchObject({ status: 403, code: "42501" });
  });

  test.each<[string, string, object]>([
    ["nothing", "invalid_amount", { amount: 0 }],
    ["less than nothing", "invalid_amount", { amount: -1 }],
    ["half a cent", "too_many_decimals", { amount: 0.005 }],
    ["a long reason", "validation_failed", { reason: "x".repeat(1001) }],
  ])("is refused for %s", async (_, code, values) => {
    const { seller, payment } = await paidOrder();
    expect(await failure(askRefund(seller, payment.id, values))).toMatchObject({
      status: 422,
      code,
    });
  });

  test("finer than Stripe counts is refused, not rounded", async () => {
    const { seller, payment } = await paidOrder({ currency: "KWD" }, 1.23);
    expect(await failure(askRefund(seller, payment.id, { amount: 1.001 }))).toMatchObject({
      status: 422,
      code: "amount_not_payable",
    });
    expect(await beginRefund(seller, payment.id, { amount: 0.01 })).toMatchObject({ amount: 0.01 });
  });

  test.each(["refunded", "lost to a bank"])("is of that payment, not of cash: %s", async (way) => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    await answer(
      seller.api.rpc("record_payment", { order_id: order.id, amount: 40, method: "cash" }),
    );
    const { session } = await openPage(order);
    const paid = paidAs(session);
    await recordSession(seller.account, paid);
    const online = (await ledger(order)).find(({ provider }) => provider === "stripe");
    const id = online?.id as string;
    if (way === "refunded") {
      expect(await beginRefund(seller, id)).toMatchObject({ amount: 20.5 });
    } else {
      const dispute = disputeOf(paid.payment_intent, [-2050], { status: "lost" });
      await recordDispute(seller.account, dispute);
    }
    expect(await failure(askRefund(seller, id, { amount: 0.01 }))).toMatchObject({
      details: { refundable: 0 },
    });
  });

  test("is bounded by what is left after what was given back in cash", async () => {
    const { seller, order, payment } = await paidOrder();
    await answer(seller.api.rpc("refund_payment", { order_id: order.id, amount: 50 }));
    expect(await failure(askRefund(seller, payment.id, { amount: 10.51 }))).toMatchObject({
      details: { refundable: 10.5 },
    });
    expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 10.5 });
  });
});

test("what is about to go back at Stripe is not given back by hand too", async () => {
  const { seller, order, payment } = await paidOrder();
  const { refund_id } = await beginRefund(seller, payment.id, { amount: 50 });
  const byHand = (amount: number) =>
    seller.api.rpc("refund_payment", { order_id: order.id, amount, reason: "cash" });
  expect(await failure(byHand(10.51))).toMatchObject({
    code: "refund_exceeds_paid",
    details: { refundable: 10.5 },
  });
  await answer(byHand(10.5));
  await failRefund(refund_id);
  await answer(byHand(50));
  expect(await movements(order)).toEqual(["payment 60.5", "refund 10.5", "refund 50"]);
});

describe("a refund that Stripe has", () => {
  test("is one entry, by route and webhook at one moment and however often it is told", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id, { amount: 10, reason: "late" });
    const byRoute = refundOf(intent, 1000, { attempt_id: refund_id });
    const reports = Array.from({ length: 10 }, (_, n) => ({
      ...byRoute,
      status: n % 2 ? "pending" : "succeeded",
    }));
    await Promise.all(
      reports.map((refund, n) =>
        asCaller(
          SERVER,
          (tx) => tx`select public.record_refund(${seller.account}, ${tx.json(refund)})`,
          connections[n],
        ),
      ),
    );
    expect(await movements(order)).toEqual(["payment 60.5", "refund 10"]);
    expect(await refundRow(refund_id)).toEqual({
      status: "succeeded",
      provider_id: byRoute.id,
      amount: 10,
      minor: 1000,
      cause: "route",
      reason: "late",
      failure: null,
    });
    expect(await lookIn(refund_id)).not.toBe(24 * 60);
  });

  test("made in Stripe's dashboard is in the ledger, and marked when it is too much", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    await recordRefund(seller.account, refundOf(intent, 1234));
    await answer(seller.api.rpc("refund_payment", { order_id: order.id, amount: 48.16 }));
    await recordRefund(seller.account, refundOf(intent, 4816));
    expect((await ledger(order)).map(({ kind, flag }) => [kind, flag])).toEqual([
      ["payment", null],
      ["refund", null],
      ["refund", null],
      ["refund", "refund_exceeds_paid"],
    ]);
    expect(await standing(order)).toBe("refunded 60.5 -108.66");
    expect(await failure(askRefund(seller, payment.id))).toMatchObject({
      details: { refundable: 0 },
    });
  });

  test.each(["failed", "canceled"])(
    "and that is %s then is taken back, and can be given again",
    async (end) => {
      const { seller, order, payment, intent } = await paidOrder();
      const { refund_id } = await beginRefund(seller, payment.id);
      const refund = refundOf(intent, 6050, { attempt_id: refund_id, status: "pending" });
      await recordRefund(seller.account, refund);
      expect(await standing(order)).toBe("refunded 60.5 -60.5");
      const failed = { ...refund, status: end, reason: "expired_or_canceled_card" };
      await Promise.all([1, 2, 3].map(() => recordRefund(seller.account, failed)));
      expect(await movements(order)).toEqual([
        "payment 60.5",
        "refund 60.5",
        "refund_reversal 60.5",
      ]);
      expect((await ledger(order)).at(-1)).toMatchObject({
        reference: refund.id,
        reason: "expired_or_canceled_card",
        flag: null,
      });
      expect(await standing(order)).toBe("paid 60.5 -0");
      // What is told late changes nothing.
      await recordRefund(seller.account, { ...refund, status: "succeeded" });
      expect(await standing(order)).toBe("paid 60.5 -0");
      expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 60.5 });
    },
  );

  test("and that succeeded may fail after all", async () => {
    const { seller, order, intent } = await paidOrder();
    const refund = refundOf(intent, 6050);
    await recordRefund(seller.account, refund);
    await recordRefund(seller.account, { ...refund, status: "pending" });
    await recordRefund(seller.account, { ...refund, status: "failed" });
    expect(await standing(order)).toBe("paid 60.5 -0");
  });

  test("that failed before anybody heard of it was none", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    await recordRefund(
      seller.account,
      refundOf(intent, 6050, { attempt_id: refund_id, status: "failed", reason: "lost_card" }),
    );
    expect(await movements(order)).toEqual(["payment 60.5"]);
    expect(await refundRow(refund_id)).toMatchObject({ status: "failed", failure: "lost_card" });
    expect(await lookIn(refund_id)).toBe(0);
  });

  test("that needs something of the payer is pending, and asked for daily", async () => {
    const { seller, payment, order, intent } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    const task = await claim(refund_id);
    expect(task).toMatchObject({
      kind: "refund",
      account_id: seller.account,
      attempts: 0,
      refund: { id: refund_id, payment_intent: intent, minor: 6050, provider_id: null },
    });
    const refund = refundOf(intent, 6050, { attempt_id: refund_id, status: "requires_action" });
    await recordRefund(seller.account, refund);
    if (task) await finish(task);
    expect(await refundRow(refund_id)).toMatchObject({ status: "pending" });
    expect(await movements(order)).toEqual(["payment 60.5", "refund 60.5"]);
    expect(await lookIn(refund_id)).toBe(24 * 60);
  });

  test("of another amount than was asked for is what Stripe says", async () => {
    const { seller, payment, order, intent } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    await recordRefund(seller.account, refundOf(intent, 50, { attempt_id: refund_id }));
    expect(await movements(order)).toEqual(["payment 60.5", "refund 0.5"]);
    expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 60 });
  });

  test("is of this account's payments alone", async () => {
    const [one, other] = await Promise.all([paidOrder(), paidOrder()]);
    await recordRefund(other.seller.account, refundOf(one.intent, 100));
    // Another's try cannot be taken for one's own.
    const { refund_id } = await beginRefund(one.seller, one.payment.id);
    await recordRefund(
      other.seller.account,
      refundOf(other.intent, 100, { attempt_id: refund_id }),
    );
    expect(await movements(one.order)).toEqual(["payment 60.5"]);
    expect(await movements(other.order)).toEqual(["payment 60.5", "refund 1"]);
    expect(await refundRow(refund_id)).toMatchObject({ status: "due", provider_id: null });
  });
});

describe("a refund that Stripe refuses", () => {
  test("is not made by anybody any more, and the money can be given another time", async () => {
    const { seller, payment } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    const task = await claim(refund_id);
    await failRefund(refund_id, "insufficient_funds");
    expect(await refundRow(refund_id)).toMatchObject({
      status: "failed",
      failure: "insufficient_funds",
    });
    // Its dispatcher dies here: nobody comes for it again.
    expect(await lookIn(refund_id)).toBeNull();
    if (task) await finish(task, 60);
    expect(await claim(refund_id)).toBeUndefined();
    expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 60.5 });
  });

  test("but has made all the same is what Stripe says", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    await failRefund(refund_id);
    await recordRefund(seller.account, refundOf(intent, 6050, { attempt_id: refund_id }));
    expect(await refundRow(refund_id)).toMatchObject({ status: "succeeded", failure: null });
    expect(await standing(order)).toBe("refunded 60.5 -60.5");
    // Refused once more is told too late.
    await failRefund(refund_id);
    expect(await refundRow(refund_id)).toMatchObject({ status: "succeeded" });
  });
});

describe("a dispute", () => {
  test("takes what it says, and gives back what it says", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    await record(seller);
    const before = (await newsOf(seller)).length;
    const dispute = disputeOf(intent, [-6050]);
    await Promise.all(Array.from({ length: 10 }, () => recordDispute(seller.account, dispute)));
    expect(await movements(order)).toEqual(["payment 60.5", "dispute 60.5"]);
    expect(await standing(order)).toBe("refunded 60.5 -60.5");
    expect(await failure(askRefund(seller, payment.id, { amount: 1 }))).toMatchObject({
      status: 409,
      code: "payment_disputed",
    });
    const won = { ...dispute, status: "won" };
    won.entries = [...dispute.entries, { id: "txn_back", amount: 6050 }];
    await Promise.all(Array.from({ length: 10 }, () => recordDispute(seller.account, won)));
    expect(await movements(order)).toEqual([
      "payment 60.5",
      "dispute 60.5",
      "dispute_reversal 60.5",
    ]);
    expect((await ledger(order)).map(({ reference }) => reference)).toEqual([
      intent,
      dispute.id,
      dispute.id,
    ]);
    expect(await standing(order)).toBe("paid 60.5 -0");
    expect((await eventsOf(seller)).map(({ type }) => type)).toEqual([
      "payment.disputed",
      "payment.dispute_reversed",
    ]);
    // Nobody is told that money went back: the payer's bank has it.
    expect((await newsOf(seller)).length).toBe(before);
    expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 60.5 });
  });

  test("that is lost keeps what it took; the rest can still be given back", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    const dispute = disputeOf(intent, [-2000]);
    await recordDispute(seller.account, dispute);
    await recordDispute(seller.account, { ...dispute, status: "lost" });
    expect(await standing(order)).toBe("partially_refunded 60.5 -20");
    expect(await lookIn(dispute.id)).toBe(24 * 60);
    expect(await failure(askRefund(seller, payment.id, { amount: 40.51 }))).toMatchObject({
      details: { refundable: 40.5 },
    });
    expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 40.5 });
  });

  test("that only asks takes nothing, and is answered by a refund", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    await recordDispute(
      seller.account,
      disputeOf(intent, [], { status: "warning_needs_response" }),
    );
    expect(await movements(order)).toEqual(["payment 60.5"]);
    expect(await beginRefund(seller, payment.id)).toMatchObject({ amount: 60.5 });
  });

  test("that takes it a second time is entered a second time", async () => {
    const { seller, order, intent } = await paidOrder();
    const dispute = disputeOf(intent, [-6050, 6050]);
    await recordDispute(seller.account, dispute);
    const again = { ...dispute };
    again.entries = [...dispute.entries, { id: "txn_again", amount: -6050 }];
    await recordDispute(seller.account, again);
    await recordDispute(seller.account, again);
    expect((await movements(order)).sort()).toEqual([
      "dispute 60.5",
      "dispute 60.5",
      "dispute_reversal 60.5",
      "payment 60.5",
    ]);
    expect(await standing(order)).toBe("refunded 60.5 -60.5");
  });

  test("of what was refunded already is recorded, and marked", async () => {
    const { seller, order, intent } = await paidOrder();
    await recordRefund(seller.account, refundOf(intent, 6050));
    await recordDispute(seller.account, disputeOf(intent, [-6050]));
    expect((await ledger(order)).at(-1)).toMatchObject({
      kind: "dispute",
      flag: "refund_exceeds_paid",
    });
    expect(await standing(order)).toBe("refunded 60.5 -121");
  });

  test("of what was refunded already asks nobody for more than the total", async () => {
    const { seller, order, intent } = await paidOrder();
    await recordRefund(seller.account, refundOf(intent, 6050));
    await recordDispute(seller.account, disputeOf(intent, [-6050]));
    expect((await beginCheckout(order)).checkout.amount).toBe(60.5);
  });

  test("is looked at daily until it is closed, and what it took is back if it was won", async () => {
    const { seller, intent } = await paidOrder();
    const dispute = disputeOf(intent, [-6050]);
    const states: [object, number | null][] = [
      [{ status: "under_review" }, 24 * 60],
      [{ status: "won" }, 24 * 60],
      [{ status: "won", entries: [...dispute.entries, { id: "b", amount: 6050 }] }, null],
      [{ status: "lost" }, null],
    ];
    for (const [values, minutes] of states) {
      await recordDispute(seller.account, { ...dispute, ...values });
      await sql`update private.payment_tasks set due_at = now() where object_id = ${dispute.id}`;
      const task = await claim(dispute.id);
      if (task) await finish(task);
      expect([values, await lookIn(dispute.id)]).toEqual([values, minutes]);
    }
  });

  test("of what was not sold here is nothing", async () => {
    const { seller } = await paidOrder();
    await recordDispute(seller.account, disputeOf("pi_elsewhere", [-100]));
    await recordRefund(seller.account, refundOf("pi_elsewhere", 100));
    const rows = await sql`select from private.disputes where professional_id = ${seller.id}`;
    expect(rows).toHaveLength(0);
  });
});

describe("what a server reports", () => {
  test("is recorded by hand as well, and marked, never refused", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller, 10);
    const pay = (amount: number) =>
      server().rpc("record_payment", { order_id: order.id, amount, method: "cash" });
    const refund = (amount: number) =>
      server().rpc("refund_payment", { order_id: order.id, amount });
    await answer(pay(10));
    await answer(pay(5));
    await answer(refund(12));
    await answer(refund(4));
    expect((await ledger(order)).map(({ kind, flag }) => [kind, flag])).toEqual([
      ["payment", null],
      ["payment", "exceeds_total"],
      ["refund", null],
      ["refund", "refund_exceeds_paid"],
    ]);
    expect(await standing(order)).toBe("refunded 15 -16");
    const more = seller.api.rpc("refund_payment", { order_id: order.id, amount: 1 });
    expect(await failure(more)).toMatchObject({
      code: "refund_exceeds_paid",
      details: { refundable: 0 },
    });
  });

  test("by the professional is refused where it does not fit, as before", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller, 10);
    const pay = seller.api.rpc("record_payment", {
      order_id: order.id,
      amount: 10.01,
      method: "cash",
    });
    expect(await failure(pay)).toMatchObject({ code: "exceeds_total", details: { due: 10 } });
    const refund = seller.api.rpc("refund_payment", { order_id: order.id, amount: 0.01 });
    expect(await failure(refund)).toMatchObject({
      code: "refund_exceeds_paid",
      details: { refundable: 0 },
    });
  });
});

describe("events", () => {
  test("tell of each movement, and of the order as it then is", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    await record(seller);
    const { session } = await openPage(order);
    const paid = paidAs(session);
    await recordSession(seller.account, paid);
    const refund = refundOf(paid.payment_intent, 6050, { status: "pending" });
    await recordRefund(seller.account, refund);
    await recordRefund(seller.account, { ...refund, status: "failed" });
    await recordDispute(seller.account, disputeOf(paid.payment_intent, [-6050]));
    const events = await eventsOf(seller);
    expect(
      events.map(({ type, data }) => {
        const { provider, order: of } = data as {
          provider: string;
          order: { payment_status: string };
        };
        return [type, provider, of.payment_status];
      }),
    ).toEqual([
      ["payment.succeeded", "stripe", "paid"],
      ["payment.refunded", "stripe", "refunded"],
      ["payment.refund_reversed", "stripe", "paid"],
      ["payment.disputed", "stripe", "refunded"],
    ]);
    const news = await newsOf(seller);
    expect(news.filter((mail) => mail.includes("payment")).sort()).toEqual([
      "client payment_received",
      "client payment_refunded",
      "professional payment_received",
    ]);
  });
});

describe("what should have gone back by itself", () => {
  /** A paid order that its owner cancels; without `refund`, the money is kept. */
  async function cancelled(order: { id: string }, seller: { token: string }, keep = false) {
    const response = await request(`/rest/v1/orders?id=eq.${order.id}`, {
      method: "PATCH",
      token: seller.token,
      headers: { "content-type": "application/json", ...(keep && { "x-refund": "none" }) },
      body: JSON.stringify({ status: "cancelled" }),
    });
    expect(response.status).toBe(204);
  }
  const latestRefund = async (payment: { id: string }) => {
    const [row] = await sql<{ id: string }[]>`
      select id from private.provider_refunds
      where payment_id = ${payment.id} order by created_at desc limit 1`;
    return row?.id as string;
  };
  const news = async (seller: { id: string }) =>
    (await newsOf(seller)).filter((mail) => mail.endsWith("payment_refund_failed"));

  test.each(["refused", "failed", "canceled"])(
    "and was %s is told once, and seen until it has gone back",
    async (end) => {
      const { seller, order, payment, intent } = await paidOrder();
      await record(seller);
      await cancelled(order, seller);
      const refund_id = await latestRefund(payment);
      const refund = refundOf(intent, 6050, { attempt_id: refund_id, status: "pending" });
      const status = end === "refused" ? "failed" : end;
      const tell = async () => {
        if (end === "refused") await failRefund(refund_id, "insufficient_funds");
        else await recordRefund(seller.account, refund);
        await recordRefund(seller.account, { ...refund, status, reason: "lost_card" });
      };
      await tell();
      await tell();

      const failure = end === "refused" ? "insufficient_funds" : "lost_card";
      const events = (await eventsOf(seller)).filter(
        ({ type }) => type === "payment.refund_failed",
      );
      expect(events.map(({ data }) => data)).toEqual([
        expect.objectContaining({
          id: payment.id,
          flag: "refund_failed",
          order: expect.objectContaining({ id: order.id, payment_status: "paid" }),
          refund: { amount: 60.5, cause: "cancelled", failure },
        }),
      ]);
      expect(EVENT_SCHEMAS["payment.refund_failed"].safeParse(events[0]).error).toBeUndefined();
      expect(await news(seller)).toEqual(["professional payment_refund_failed"]);
      const [shown] = await answer<object[]>(
        seller.api.rpc("order_payments", { order_id: order.id }),
      );
      expect(shown).toMatchObject({ kind: "payment", flag: "refund_failed" });
      // No dispute stood in the way, so none that ends sends it back.
      await recordDispute(seller.account, disputeOf(intent, [], { status: "warning_closed" }));
      expect(await refundsOf(order)).toEqual(["cancelled 60.5"]);

      const { refund_id: again } = await beginRefund(seller, payment.id);
      await recordRefund(seller.account, refundOf(intent, 6050, { attempt_id: again }));
      expect((await ledger(order))[0]).toMatchObject({ flag: null });
    },
  );

  test("is seen until it was given back by hand", async () => {
    const { seller, order, payment } = await paidOrder();
    await cancelled(order, seller);
    await failRefund(await latestRefund(payment), "insufficient_funds");
    await answer(seller.api.rpc("refund_payment", { order_id: order.id, amount: 60.5 }));
    expect((await ledger(order))[0]).toMatchObject({ flag: null });
  });

  test("is nobody's news where somebody asked for it", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    await record(seller);
    const { refund_id } = await beginRefund(seller, payment.id);
    await failRefund(refund_id, "insufficient_funds");
    await recordRefund(seller.account, refundOf(intent, 100, { status: "failed" }));
    expect(await eventsOf(seller)).toEqual([]);
    expect(await news(seller)).toEqual([]);
    expect((await ledger(order))[0]).toMatchObject({ flag: null });
  });

  test.each<[string, number[], string[]]>([
    ["won", [-2000, 2000], ["cancelled 60.5"]],
    ["lost", [-2000], ["cancelled 40.5"]],
  ])("waits for the end of a dispute, and goes back when it is %s", async (status, moved, back) => {
    const { seller, order, intent } = await paidOrder();
    const dispute = disputeOf(intent, [-2000]);
    await recordDispute(seller.account, dispute);
    await cancelled(order, seller);
    await recordDispute(seller.account, { ...dispute, status: "under_review" });
    // Stripe would refuse it.
    expect(await refundsOf(order)).toEqual([]);
    const closed = { ...disputeOf(intent, moved, { status }), id: dispute.id };
    await Promise.all(
      connections.map((connection) =>
        asCaller(
          SERVER,
          (tx) => tx`select public.record_dispute(${seller.account}, ${tx.json(closed)})`,
          connection,
        ),
      ),
    );
    expect(await refundsOf(order)).toEqual(back);
  });

  test("goes back as the bank gives it back", async () => {
    const { seller, order, intent } = await paidOrder();
    const dispute = disputeOf(intent, [-2000]);
    await recordDispute(seller.account, dispute);
    await cancelled(order, seller);
    await recordDispute(seller.account, { ...dispute, status: "won" });
    expect(await refundsOf(order)).toEqual(["cancelled 40.5"]);
    const entries = [...dispute.entries, { id: "txn_back", amount: 2000 }];
    await recordDispute(seller.account, { ...dispute, status: "won", entries });
    expect(await refundsOf(order)).toEqual(["cancelled 40.5", "cancelled 20"]);
  });

  test("and was refused for a dispute that nobody here knew of yet is told, and goes back", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    await cancelled(order, seller);
    await failRefund(await latestRefund(payment), "charge_disputed");
    expect(await news(seller)).toEqual(["professional payment_refund_failed"]);
    const dispute = disputeOf(intent, [-6050]);
    await recordDispute(seller.account, dispute);
    expect(await refundsOf(order)).toEqual(["cancelled 60.5"]);
    const entries = [...dispute.entries, { id: "txn_back", amount: 6050 }];
    const won = { ...dispute, status: "won", entries };
    await recordDispute(seller.account, won);
    expect(await refundsOf(order)).toEqual(["cancelled 60.5", "cancelled 60.5"]);
    // Refused for something else, it is told, and not tried for ever.
    await failRefund(await latestRefund(payment), "insufficient_funds");
    await recordDispute(seller.account, won);
    expect(await refundsOf(order)).toHaveLength(2);
  });

  test("is no more than what is left after what was given back in cash meanwhile", async () => {
    const { seller, order, intent } = await paidOrder();
    const dispute = disputeOf(intent, [-2000]);
    await recordDispute(seller.account, dispute);
    await cancelled(order, seller);
    await answer(seller.api.rpc("refund_payment", { order_id: order.id, amount: 30 }));
    await recordDispute(seller.account, { ...dispute, status: "lost" });
    expect(await refundsOf(order)).toEqual(["cancelled 10.5"]);
  });

  test("of what was paid twice is what is more than the total then", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const first = await openPage(order);
    await failCheckout(first.checkout.id);
    const second = await openPage(order);
    await recordSession(seller.account, paidAs(first.session));
    const paid = paidAs(second.session);
    await recordSession(seller.account, paid);
    const entry = (await ledger(order)).find(({ reference }) => reference === paid.payment_intent);
    expect(await refundsOf(order)).toEqual(["overpaid 60.5"]);
    await failRefund(await latestRefund(entry as Entry), "charge_disputed");
    await answer(seller.api.rpc("refund_payment", { order_id: order.id, amount: 20 }));
    await recordDispute(seller.account, disputeOf(paid.payment_intent, [], { status: "lost" }));
    expect(await refundsOf(order)).toEqual(["overpaid 60.5", "overpaid 40.5"]);
  });

  test("is nothing where the money was kept", async () => {
    const { seller, order, intent } = await paidOrder();
    const dispute = disputeOf(intent, [-2000]);
    await recordDispute(seller.account, dispute);
    await cancelled(order, seller, true);
    await recordDispute(seller.account, { ...dispute, status: "lost" });
    expect(await refundsOf(order)).toEqual([]);
  });
});

describe("what is recorded", () => {
  test.each<[string, string, object]>([
    ["a refund without an id", "record_refund", { id: null }],
    ["of half a cent", "record_refund", { amount: 0.5 }],
    ["of less than nothing", "record_refund", { amount: -1 }],
    ["in an unknown state", "record_refund", { status: "half" }],
    ["a dispute without an id", "record_dispute", { id: "" }],
    ["without a state", "record_dispute", { status: null }],
    ["without entries", "record_dispute", { entries: null }],
    ["with an entry without amount", "record_dispute", { entries: [{ id: "x" }] }],
    ["with an entry of half a cent", "record_dispute", { entries: [{ amount: 0.5 }] }],
  ])("has its form: %s is refused", async (_, rpc, values) => {
    const whole = rpc === "record_refund" ? refundOf("pi_1", 100) : disputeOf("pi_1", [-100]);
    const argument = rpc.replace("record_", "");
    const call = server().rpc(
      rpc as "record_refund",
      {
        account_id: "acct_1",
        [argument]: { ...whole, ...values },
      } as never,
    );
    expect(await failure(call)).toMatchObject({ status: 422, details: { fields: [argument] } });
  });

  test("by a provider has its reference, and kinds that nobody types", async () => {
    const { order, seller } = await paidOrder();
    const insert = (kind: string, provider: string, reference: string | null) =>
      outcome(sql`
        insert into private.payments (professional_id, order_id, kind, amount, provider, reference)
        values (${seller.id}, ${order.id}, ${kind}, 1, ${provider}, ${reference})`);
    expect(await insert("payment", "stripe", null)).toBe("23514");
    expect(await insert("dispute", "manual", "x")).toBe("23514");
    expect(await insert("gift", "stripe", "x")).toBe("23514");
    expect(await insert("payment", "bank", "x")).toBe("23514");
  });
});

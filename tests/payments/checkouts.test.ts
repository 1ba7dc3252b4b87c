/** Payment pages: which one is open for what is due now, and what the states of its session do. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { anonymous, server } from "../support/callers.ts";
import { answer, auditAfterEachTest, failure, place, placeOrder } from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createPortalSession,
  createProduct,
  createService,
} from "../support/factories.ts";
import { isOver, rowOf, sweep } from "../support/holds.ts";
import {
  askCheckout,
  beginCheckout,
  type Checkout,
  claim,
  failCheckout,
  isRung,
  ledger,
  lookIn,
  movements,
  openPage,
  openSeller,
  orderFor,
  paidAs,
  recordSession,
  type Seller,
  sessionOf,
  standing,
  URLS,
} from "../support/payment-rpcs.ts";
import { providerId, refundsOf } from "../support/payments.ts";

auditAfterEachTest();

const NOT_FOUND = { status: 404, code: "PGRST301" };
const statusOf = async ({ id }: Checkout) => {
  const [row] = await sql<
    { status: string }[]
  >`select status from private.checkouts where id = ${id}`;
  return row?.status;
};
const sizeOf = async ({ id }: { id: string }) =>
  (await sql`select from private.checkouts where order_id = ${id}`).length;

/** An order of the public that has to be paid first: 2 of what costs 12.50. */
async function held(seller?: Seller) {
  const shop = seller ?? (await openSeller({ orders_need_payment: true }));
  const product = await createProduct(shop, { price: 12.5, stock: 10 });
  const receipt = await answer<{ id: string; checkout_token: string; amount_due: number }>(
    placeOrder(anonymous(), shop, [{ product_id: product.id, quantity: 2 }], {
      client_email: `${randomUUID()}@example.com`,
    }),
  );
  return { seller: shop, order: receipt, token: receipt.checkout_token };
}

describe("what Stripe is asked for", () => {
  test("is all from the order, but for the way back", async () => {
    const seller = await openSeller();
    const order = await place(seller, [
      { name: "Wax", unit_price: 10.25, quantity: 2 },
      { name: "Comb", unit_price: 5, quantity: 1 },
    ]);
    const { state, checkout } = await beginCheckout(order);
    expect(state).toBe("create");
    expect(checkout).toMatchObject({
      account_id: seller.account,
      session_id: null,
      url: null,
      amount: 25.5,
      currency: "EUR",
      minor: 2550,
    });
    const line = (name: string, unit_amount: number, quantity: number) => ({
      quantity,
      price_data: { currency: "eur", unit_amount, product_data: { name } },
    });
    const metadata = { attempt_id: checkout.id, order_id: order.id };
    expect(checkout.params).toEqual({
      mode: "payment",
      client_reference_id: checkout.id,
      line_items: [line("Wax", 1025, 2), line("Comb", 500, 1)],
      ...URLS,
      expires_at: new Date(checkout.expires_at).getTime() / 1000,
      adaptive_pricing: { enabled: false },
      excluded_payment_method_types: expect.arrayContaining(["sepa_debit", "us_bank_account"]),
      metadata,
      payment_intent_data: { metadata },
    });
  });

  test.each<[string, object, object, string, number]>([
    ["less a discount", {}, { discount: 10 }, "Wax", 5050],
    ["with tax on top", { tax_rate: 22 }, {}, "Wax", 7381],
    ["with tax in it", { tax_rate: 22, prices_include_tax: true }, {}, "Wax", 6050],
  ])("is one line where the lines are not the sum: %s", async (_, profile, values, name, minor) => {
    const seller = await openSeller(profile);
    const order = await place(seller, [{ name: "Wax", unit_price: 60.5, quantity: 1 }], values);
    const { checkout } = await beginCheckout(order);
    expect(checkout.params.line_items).toEqual([
      { quantity: 1, price_data: { currency: "eur", unit_amount: minor, product_data: { name } } },
    ]);
  });

  test("is named by the order's number where it has many lines", async () => {
    const seller = await openSeller();
    const lines = ["Wax", "Comb"].map((name) => ({ name, unit_price: 5, quantity: 1 }));
    const order = await place(seller, lines, { discount: 1 });
    const { checkout } = await beginCheckout(order);
    expect(checkout.params.line_items[0]?.price_data.product_data.name).toBe(`#${order.number}`);
    const many = Array.from({ length: 101 }, () => ({ name: "x", unit_price: 1, quantity: 1 }));
    const long = await beginCheckout(await place(seller, many));
    expect(long.checkout.params.line_items).toHaveLength(1);
    expect(long.checkout.minor).toBe(10_100);
  });

  test.each([
    ["JPY", 500, 500],
    ["KWD", 1.23, 1230],
    ["ISK", 500, 50_000],
  ])("is in %s as Stripe counts it", async (currency, price, minor) => {
    const order = await orderFor(await openSeller({ currency }), price);
    const { checkout } = await beginCheckout(order);
    expect([checkout.minor, checkout.params.line_items[0]?.price_data.unit_amount]).toEqual([
      minor,
      minor,
    ]);
  });

  test("is the deposit, then the rest", async () => {
    const { seller, order } = await held();
    const { checkout } = await beginCheckout(order);
    expect(checkout.amount).toBe(25);
    await answer(
      seller.api.rpc("record_payment", { order_id: order.id, amount: 5, method: "cash" }),
    );
    // The page is for another amount now.
    expect((await beginCheckout(order)).state).toBe("expire");
    await recordSession(seller.account, sessionOf(checkout, { status: "expired", url: null }));
    const next = await beginCheckout(order);
    expect([next.state, next.checkout.amount]).toEqual(["create", 20]);
    expect(next.checkout.id).not.toBe(checkout.id);
  });
});

describe("the page of an order", () => {
  test("is made by one try, whoever asks how often, until it is clear what became of that", async () => {
    const order = await orderFor(await openSeller());
    const tries = await Promise.all(Array.from({ length: 10 }, () => beginCheckout(order)));
    expect(new Set(tries.map(({ state }) => state))).toEqual(new Set(["create"]));
    expect(new Set(tries.map(({ checkout }) => checkout.id)).size).toBe(1);
    const [first] = tries;
    // With all that it asks for, whoever asks: Stripe refuses changed parameters under one key.
    const other = await beginCheckout(order, { success_url: "https://app.example/other" });
    expect(other).toEqual(first);
    expect(await sizeOf(order)).toBe(1);
  });

  test("is the same while it is open, and another one when it has ended", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { checkout, session } = await openPage(order);
    const again = await beginCheckout(order);
    expect(again).toMatchObject({ state: "open", checkout: { id: checkout.id, url: session.url } });
    await recordSession(seller.account, { ...session, status: "expired", url: null });
    expect(await statusOf(checkout)).toBe("expired");
    const next = await beginCheckout(order);
    expect(next.state).toBe("create");
    expect(next.checkout.id).not.toBe(checkout.id);
  });

  test("is looked at once its time is over, before there is another", async () => {
    const order = await orderFor(await openSeller());
    const { checkout } = await openPage(order);
    await sql`
      update private.checkouts set expires_at = now() - interval '1 second'
      where id = ${checkout.id}`;
    expect(await beginCheckout(order)).toMatchObject({
      state: "check",
      checkout: { id: checkout.id },
    });
  });

  test("that Stripe would not make any more is looked for first", async () => {
    const order = await orderFor(await openSeller());
    const { checkout } = await beginCheckout(order);
    await sql`
      update private.checkouts set expires_at = now() + interval '30 minutes'
      where id = ${checkout.id}`;
    expect((await beginCheckout(order)).state).toBe("check");
    await failCheckout(checkout.id);
    expect(await statusOf(checkout)).toBe("failed");
    expect((await beginCheckout(order)).state).toBe("create");
  });

  test("lives for half an hour at least, and closes five minutes before its hold", async () => {
    const { order } = await held();
    const { checkout } = await beginCheckout(order);
    const { expires_at } = await rowOf("orders", order);
    const ends = new Date(expires_at as unknown as string).getTime() / 1000;
    expect(ends - checkout.params.expires_at).toBeGreaterThanOrEqual(300);
    expect(ends - checkout.params.expires_at).toBeLessThan(302);
    await failCheckout(checkout.id);
    await sql`
      update public.orders set expires_at = now() + interval '2 minutes' where id = ${order.id}`;
    const short = await beginCheckout(order);
    expect(short.checkout.params.expires_at - Date.now() / 1000).toBeGreaterThan(31 * 60);
  });

  test("lives for a day at most, however long the hold is", async () => {
    const { order } = await held(
      await openSeller({ orders_need_payment: true, payment_minutes: 1440 }),
    );
    const { checkout } = await beginCheckout(order);
    const hours = (checkout.params.expires_at - Date.now() / 1000) / 3600;
    expect(hours).toBeGreaterThan(23);
    expect(hours).toBeLessThan(23.99);
  });

  test.each(["pending", "confirmed", "fulfilled"])(
    "is there for one that is %s and no hold",
    async (status) => {
      const seller = await openSeller();
      const order = await orderFor(seller);
      for (const next of ["confirmed", "fulfilled"].slice(
        0,
        ["pending", "confirmed", "fulfilled"].indexOf(status),
      )) {
        await answer(seller.api.from("orders").update({ status: next }).eq("id", order.id));
      }
      const { session } = await openPage(order);
      await recordSession(seller.account, paidAs(session));
      expect(await standing(order)).toBe("paid 60.5 -0");
      expect((await rowOf("orders", order)).checkout_open).toBe(false);
    },
  );

  test("is not there where nothing is due, or for what was cancelled", async () => {
    const seller = await openSeller();
    const [paid, cancelled, free] = await Promise.all([
      orderFor(seller),
      orderFor(seller),
      orderFor(seller, 0),
    ]);
    await answer(
      seller.api.rpc("record_payment", { order_id: paid.id, amount: 60.5, method: "cash" }),
    );
    await answer(seller.api.from("orders").update({ status: "cancelled" }).eq("id", cancelled.id));
    for (const order of [paid, cancelled, free]) {
      expect(await failure(askCheckout(order))).toMatchObject({ status: 422, code: "nothing_due" });
    }
    const small = await orderFor(seller, 0.3);
    expect(await failure(askCheckout(small))).toMatchObject({
      status: 422,
      code: "amount_not_payable",
    });
    expect(await sizeOf(small)).toBe(0);
  });

  test("is not there for a hold that is over", async () => {
    const { order, token } = await held();
    await isOver("orders", order);
    expect(await failure(askCheckout(order, { token }))).toMatchObject({
      status: 409,
      code: "hold_expired",
    });
    const { order: open } = await held();
    const { checkout, session } = await openPage(open);
    await isOver("orders", open);
    expect((await beginCheckout(open)).state).toBe("expire");
    await recordSession(checkout.account_id, { ...session, status: "expired", url: null });
    expect((await rowOf("orders", open)).status).toBe("cancelled");
    expect(await failure(askCheckout(open))).toMatchObject({ status: 409, code: "hold_expired" });
  });
});

describe("who may pay", () => {
  test("whoever has the token of this order, and of no other", async () => {
    const one = await held();
    const other = await held(one.seller);
    expect((await beginCheckout(one.order, { token: one.token })).state).toBe("create");
    const tokens = [other.token, "", one.token.slice(1), `${one.token} `];
    for (const token of tokens) {
      expect(await failure(askCheckout(one.order, { token }))).toMatchObject(NOT_FOUND);
    }
    // An order that no hold was made for has none.
    const plain = await orderFor(one.seller);
    expect(await failure(askCheckout(plain, { token: one.token }))).toMatchObject(NOT_FOUND);
    expect(await failure(askCheckout({ id: randomUUID() }))).toMatchObject(NOT_FOUND);
    expect(await failure(askCheckout(one.order, { token: "x".repeat(201) }))).toMatchObject({
      status: 422,
      details: { fields: ["token"] },
    });
  });

  test("a wrong token does not wait for others' work", async () => {
    const { order, seller } = await held();
    const waited = await sql.begin(async (tx) => {
      await tx`select private.lock_professional(${seller.id})`;
      return failure(askCheckout(order, { token: "wrong" }));
    });
    expect(waited).toMatchObject(NOT_FOUND);
  });

  test("its owner and its client, but no other", async () => {
    const seller = await openSeller();
    const [client, stranger] = await Promise.all([
      createClientRow(seller),
      createClientRow(seller),
    ]);
    const service = await createService(seller);
    const booking = await createBooking(seller, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2100-01-01T09:00:00Z",
    });
    const order = await answer<{ id: string }>(
      seller.api
        .from("orders")
        .insert({ booking_id: booking.id, client_id: client.id })
        .select("id")
        .single(),
    );
    const elsewhere = await openSeller();
    const [own, others, link] = await Promise.all([
      createPortalSession(client),
      createPortalSession(stranger),
      createBookingSession(booking),
    ]);
    const second = await createBooking(seller, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2100-01-02T09:00:00Z",
    });
    const otherLink = await createBookingSession(second);
    for (const { api } of [seller, own, link]) {
      expect((await api.rpc("authorize_checkout", { order_id: order.id })).error).toBeNull();
    }
    for (const { api } of [elsewhere, others, otherLink]) {
      expect(await failure(api.rpc("authorize_checkout", { order_id: order.id }))).toMatchObject(
        NOT_FOUND,
      );
    }
    const nobody = anonymous().rpc("authorize_checkout", { order_id: order.id });
    expect(await failure(nobody)).toMatchObject({ status: 401, code: "42501" });
  });
});

describe("a session that was paid", () => {
  test("is in the ledger once, whoever reports it how often at one moment", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { session, checkout } = await openPage(order);
    const paid = paidAs(session);
    await Promise.all(Array.from({ length: 10 }, () => recordSession(seller.account, paid)));
    expect(await ledger(order)).toEqual([
      {
        id: expect.any(String),
        kind: "payment",
        amount: 60.5,
        method: "Stripe",
        provider: "stripe",
        reference: paid.payment_intent,
        reason: null,
        flag: null,
      },
    ]);
    expect(await standing(order)).toBe("paid 60.5 -0");
    expect(await statusOf(checkout)).toBe("complete");
    expect(await lookIn(checkout.id)).not.toBeNull();
  });

  test("stays paid, whatever is told of it late", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { session, checkout } = await openPage(order);
    const paid = paidAs(session);
    await recordSession(seller.account, { ...session, status: "expired", url: null });
    expect(await statusOf(checkout)).toBe("expired");
    // An answer from before.
    await recordSession(seller.account, session);
    expect(await statusOf(checkout)).toBe("expired");
    await recordSession(seller.account, paid);
    for (const late of [session, { ...session, status: "expired" }]) {
      await recordSession(seller.account, late);
      await failCheckout(checkout.id, "late");
      expect(await statusOf(checkout)).toBe("complete");
    }
    expect(await movements(order)).toEqual(["payment 60.5"]);
  });

  test("before its own answer came, is that try's", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { checkout } = await beginCheckout(order);
    const session = sessionOf(checkout);
    await recordSession(seller.account, paidAs(session));
    await recordSession(seller.account, session);
    expect(await statusOf(checkout)).toBe("complete");
    expect(await movements(order)).toEqual(["payment 60.5"]);
    expect(await failure(askCheckout(order))).toMatchObject({ code: "nothing_due" });
  });

  test.each<[string, object, string, string | null]>([
    ["less than was asked for", { amount_total: 1050 }, "payment 10.5", "amount_differs"],
    ["more", { amount_total: 7000 }, "payment 70", "amount_differs"],
    ["in another currency", { currency: "usd" }, "payment 60.5", "amount_differs"],
    ["in one that we do not know", { currency: "xxx" }, "payment 60.5", "amount_differs"],
    ["as asked for", {}, "payment 60.5", null],
  ])("is recorded as it was, and marked: %s", async (_, values, movement, flag) => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { session } = await openPage(order);
    await recordSession(seller.account, paidAs(session, values));
    const [entry] = await ledger(order);
    expect([`${entry?.kind} ${entry?.amount}`, entry?.flag]).toEqual([movement, flag]);
    const shown = await answer<{ flag: string | null; provider: string }[]>(
      seller.api.rpc("order_payments", { order_id: order.id }),
    );
    expect(shown).toMatchObject([{ flag, provider: "stripe" }]);
  });

  test.each<[string, object]>([
    ["less than was asked for", { amount_total: 2499 }],
    ["another currency", { currency: "huf" }],
  ])("of %s makes no order of a hold, and goes back when that is over", async (_, values) => {
    const { seller, order, token } = await held();
    const { session } = await openPage(order, { token });
    await recordSession(seller.account, paidAs(session, values));
    const [entry] = await ledger(order);
    expect(entry?.flag).toBe("amount_differs");
    expect((await rowOf("orders", order)).expires_at).not.toBeNull();
    await isOver("orders", order);
    await sweep("orders", order);
    expect((await rowOf("orders", order)).status).toBe("cancelled");
    expect(await refundsOf(order)).toEqual([`cancelled ${entry?.amount}`]);
  });

  test("of less than was asked for brings nothing back", async () => {
    const { seller, order, token } = await held();
    const { session } = await openPage(order, { token });
    await recordSession(seller.account, { ...session, status: "expired" });
    await isOver("orders", order);
    await sweep("orders", order);
    await recordSession(seller.account, paidAs(session, { amount_total: 100 }));
    expect((await rowOf("orders", order)).status).toBe("cancelled");
    expect(await refundsOf(order)).toEqual(["late 1"]);
  });

  test("although it was paid meanwhile is marked", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { session } = await openPage(order);
    await answer(
      seller.api.rpc("record_payment", { order_id: order.id, amount: 60.5, method: "cash" }),
    );
    await recordSession(seller.account, paidAs(session));
    expect((await ledger(order)).map(({ flag }) => flag)).toEqual([null, "exceeds_total"]);
  });

  test("cannot be kept out by a reference that somebody typed", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { session } = await openPage(order);
    const paid = paidAs(session);
    const typed = { order_id: order.id, amount: 1, method: "cash", reference: paid.payment_intent };
    await answer(seller.api.rpc("record_payment", typed));
    await recordSession(seller.account, paid);
    expect((await movements(order)).sort()).toEqual(["payment 1", "payment 60.5"]);
    // Nor the other way round.
    await answer(
      seller.api.rpc("refund_payment", { order_id: order.id, amount: 1, reference: "re_1" }),
    );
  });

  test("two of them, in two tabs, are two payments", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const first = await openPage(order);
    await failCheckout(first.checkout.id, "resource_missing");
    const second = await openPage(order);
    // The first is there after all: of two open pages, somebody may pay on the newest alone.
    await recordSession(seller.account, first.session);
    expect(await statusOf(first.checkout)).toBe("open");
    expect(await isRung(first.checkout.id)).toBe(false);
    expect(await beginCheckout(order)).toMatchObject({
      state: "expire",
      checkout: { id: first.checkout.id },
    });
    await recordSession(seller.account, paidAs(first.session));
    await recordSession(seller.account, paidAs(second.session));
    expect((await ledger(order)).map(({ kind, flag }) => [kind, flag])).toEqual([
      ["payment", null],
      ["payment", "exceeds_total"],
    ]);
    const [refund] = await sql<{ cause: string; minor: number }[]>`
      select r.cause, r.minor::integer as minor from private.provider_refunds r
      join private.payments p on p.id = r.payment_id where p.order_id = ${order.id}`;
    expect(refund).toEqual({ cause: "overpaid", minor: 6050 });
  });

  test("with our reference, but made by the professional, is money all the same", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { checkout, session } = await openPage(order);
    const other = sessionOf(checkout, { id: providerId("cs"), amount_total: 100 });
    await recordSession(seller.account, { ...other, status: "expired" });
    expect(await statusOf(checkout)).toBe("open");
    await recordSession(seller.account, paidAs(other));
    expect(await statusOf(checkout)).toBe("open");
    const [row] = await sql`select session_id from private.checkouts where id = ${checkout.id}`;
    expect(row).toEqual({ session_id: session.id });
    expect(await movements(order)).toEqual(["payment 1"]);
  });

  test("is of the try that made it, whatever reference it has by now", async () => {
    const seller = await openSeller();
    const [order, other] = await Promise.all([orderFor(seller), orderFor(seller)]);
    const [page, next] = [await openPage(order), await openPage(other)];
    for (const { session, attempt } of [
      { session: page.session, attempt: next.checkout.id },
      { session: next.session, attempt: page.checkout.id },
    ]) {
      await recordSession(seller.account, { ...paidAs(session), attempt_id: attempt });
    }
    for (const { checkout } of [page, next]) expect(await statusOf(checkout)).toBe("complete");
    expect([await movements(order), await movements(other)]).toEqual([
      ["payment 60.5"],
      ["payment 60.5"],
    ]);
  });

  test("is of the account that made it, and of none else", async () => {
    const [seller, other] = await Promise.all([openSeller(), openSeller()]);
    const order = await orderFor(seller);
    const { session } = await openPage(order);
    await recordSession(other.account, paidAs(session));
    await recordSession(seller.account, { ...paidAs(session), id: "cs_other", attempt_id: null });
    await recordSession(seller.account, { ...paidAs(session), id: "cs_o", attempt_id: "order 7" });
    expect(await ledger(order)).toEqual([]);
    expect(await sizeOf(order)).toBe(1);
  });

  test("of nothing, or on its way, is none yet; the hold does not wait for it", async () => {
    const { seller, order } = await held();
    const { checkout, session } = await openPage(order);
    const complete = { ...paidAs(session), payment_status: "unpaid" };
    await recordSession(seller.account, complete);
    expect(await ledger(order)).toEqual([]);
    expect(await rowOf("orders", order)).toMatchObject({ status: "pending", checkout_open: false });
    expect(await isRung(checkout.id)).toBe(false);
    await recordSession(seller.account, { ...complete, payment_status: "no_payment_required" });
    expect(await ledger(order)).toEqual([]);
    await recordSession(seller.account, paidAs(session));
    expect(await rowOf("orders", order)).toMatchObject({ status: "pending", expires_at: null });
    expect(await standing(order)).toBe("paid 25 -0");
  });
});

describe("the ledger's change", () => {
  test("rings for the open page, which is for another amount now", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { checkout } = await openPage(order);
    expect(await isRung(checkout.id)).toBe(false);
    await answer(
      seller.api.rpc("record_payment", { order_id: order.id, amount: 10, method: "cash" }),
    );
    expect(await isRung(checkout.id)).toBe(true);
    expect(await claim(checkout.id)).toMatchObject({
      kind: "checkout",
      checkout: { id: checkout.id, expire: true },
    });
  });
});

describe("an order that somebody may be paying", () => {
  test("is not deleted by a server that cleans up", async () => {
    const order = await orderFor(await openSeller());
    await openPage(order);
    const { error } = await server().from("orders").delete().eq("id", order.id);
    expect(error?.code).toBe("23503");
  });
});

describe("what is recorded of a session", () => {
  const whole = {
    id: "cs_1",
    status: "open",
    payment_status: "unpaid",
    amount_total: 1,
    expires_at: 1,
  };
  test.each<[string, object]>([
    ["no id", { id: null }],
    ["an id of something else", { id: "pi_1" }],
    ["no state", { status: null }],
    ["an unknown state", { status: "half" }],
    ["no end", { expires_at: null }],
    ["an end that is text", { expires_at: "soon" }],
    ["half a cent", { amount_total: 0.5 }],
    ["less than nothing", { amount_total: -1 }],
  ])("has its form: %s is refused", async (_, values) => {
    const session = { ...whole, ...values } as never;
    const call = server().rpc("record_session", { account_id: "acct_1", session });
    expect(await failure(call)).toMatchObject({
      status: 422,
      details: { fields: ["session"] },
    });
  });

  test("of an account or a try that there is not is nothing", async () => {
    await recordSession("acct_nobody", whole);
    const gone = server().rpc("fail_checkout", { checkout_id: randomUUID(), code: "x" });
    expect(await failure(gone)).toMatchObject(NOT_FOUND);
  });
});

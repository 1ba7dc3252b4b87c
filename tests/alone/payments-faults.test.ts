/** Payments before a Stripe that fails, a function that is killed, and webhooks that never come. */
import { afterEach, describe, expect, test } from "vitest";
import { startPaymentsStack } from "../support/payments-stack.ts";
import type { Call } from "../support/stripe.ts";

const { fake, webhook } = await startPaymentsStack();
fake.webhook = webhook;

const {
  askToPay,
  hasEnded,
  hold,
  isQuiet,
  ledger,
  lookNow,
  merchant,
  movements,
  openPage,
  orderOf,
  paidService,
  refund,
  statusOf,
  untilMovements,
  untilStatus,
} = await import("../support/payments-over-http.ts");
const { answer, findings } = await import("../support/commerce.ts");
const { sql } = await import("../support/database.ts");
const { killFunction } = await import("../support/function-processes.ts");
const { refusalOf, until } = await import("../support/webhooks.ts");

afterEach(() => {
  fake.fault = () => undefined;
  fake.webhook = webhook;
  fake.refundsAre = "succeeded";
});

const isCreate = ({ method, path }: Call) => method === "POST" && path === "/v1/checkout/sessions";
const isRefund = ({ method, path }: Call) => method === "POST" && path === "/v1/refunds";
const sessionsOf = (account: string) =>
  fake.sessions().filter(({ id }) => fake.accountOf(id) === account);
const refundsOf = (account: string) =>
  fake.refunds().filter(({ id }) => fake.accountOf(id) === account);
/** Calls that make something, of one account. */
const callsOf = (account: string, matches: (call: Call) => boolean) =>
  fake.calls.filter((call) => call.account === account && matches(call));

async function held() {
  const ana = await merchant(fake);
  const service = await paidService(ana);
  return { ana, service, held: await hold(service) };
}

async function paid() {
  const of = await held();
  const page = await openPage(of.held);
  fake.pay(page.session);
  await untilStatus(of.held, "confirmed");
  const [payment] = await ledger(of.held);
  return { ...of, page, payment: payment as { id: string; reference: string } };
}

/** A claim of a dispatcher that was killed would last a minute; whoever waits looks now. */
const leaseEnds = () =>
  sql`update private.payment_tasks set due_at = now(), claim_token = null where claim_token is not null`;

describe("a page for payment", () => {
  test.each([
    ["was never made", "cut", 0],
    ["was made, but the answer was lost", "lose", 1],
  ] as const)(
    "that %s is asked for again under the same key: one session",
    async (_, fault, made) => {
      const { ana, held: of } = await held();
      fake.fault = (call) => (isCreate(call) ? fault : undefined);
      const response = await askToPay(of);
      // The package asks once more by itself, and is given what was made.
      expect([response.status, sessionsOf(ana.account).length]).toEqual([made ? 200 : 502, made]);
      fake.fault = () => undefined;
      const page = await openPage(of);
      expect(sessionsOf(ana.account).map(({ id }) => id)).toEqual([page.session]);
      expect(new Set(callsOf(ana.account, isCreate).map(({ key }) => key)).size).toBe(1);
      fake.pay(page.session);
      await untilStatus(of, "confirmed");
    },
  );

  test("whose 500 Stripe replays is looked for, and made anew when there is none", async () => {
    const { ana, held: of } = await held();
    fake.failNext({ status: 500 }, 1, isCreate);
    await askToPay(of);
    const page = await openPage(of);
    expect(sessionsOf(ana.account).map(({ id }) => id)).toEqual([page.session]);
    fake.pay(page.session);
    await untilMovements(of, ["payment 60.5"]);
  });

  test("whose 500 hides that it was made is found, not made twice", async () => {
    const { ana, held: of } = await held();
    fake.failNext("broken", 1, isCreate);
    await askToPay(of);
    const page = await openPage(of);
    expect(sessionsOf(ana.account).map(({ id }) => id)).toEqual([page.session]);
  });

  test("asked for by many at once is one session", async () => {
    const { ana, held: of } = await held();
    const answers = await Promise.all(Array.from({ length: 8 }, () => askToPay(of)));
    // While the first is under way the others are told to come again.
    const statuses = new Set(answers.map(({ status }) => status));
    for (const again of [429, 502]) statuses.delete(again);
    expect([...statuses]).toEqual([200]);
    const page = await openPage(of);
    const open = sessionsOf(ana.account).filter(({ status }) => status === "open");
    expect(open.map(({ id }) => id)).toEqual([page.session]);
  });

  test("that Stripe refuses says so, and the account is asked again", async () => {
    const { ana, held: of } = await held();
    fake.restrict(ana.account, ["external_account"]);
    expect(await refusalOf(askToPay(of))).toMatchObject({
      status: 422,
      code: "payments_unavailable",
    });
    const [account] = await sql<{ can_charge: boolean }[]>`
      select can_charge from private.payment_accounts where id = ${ana.account}`;
    expect(account?.can_charge).toBe(false);
    const other = await held();
    fake.failNext(
      { status: 400, type: "invalid_request_error", code: "amount_too_small" },
      1,
      isCreate,
    );
    expect(await refusalOf(askToPay(other.held))).toMatchObject({
      status: 422,
      code: "amount_not_payable",
    });
    expect((await askToPay(other.held)).status).toBe(200);
  });

  test.each([
    ["before", "hang"],
    ["after", "stall"],
  ] as const)(
    "whose function is killed %s Stripe has made it is one page, and one payment",
    async (_, fault) => {
      const { ana, held: of } = await held();
      fake.fault = (call) => (isCreate(call) ? fault : undefined);
      const asked = askToPay(of);
      await until(
        () => callsOf(ana.account, isCreate),
        ({ length }) => length === 1,
      );
      killFunction("payments");
      expect((await asked).status).toBeGreaterThanOrEqual(500);
      fake.fault = () => undefined;
      const page = await openPage(of);
      expect(sessionsOf(ana.account).map(({ id }) => id)).toEqual([page.session]);
      fake.pay(page.session);
      await untilMovements(of, ["payment 60.5"]);
      expect(Object.keys(fake.books(ana.account))).toHaveLength(1);
    },
  );

  test("that nobody could open is no reason to keep the time", async () => {
    const { held: of, service } = await held();
    fake.fault = (call) => (isCreate(call) ? "cut" : undefined);
    expect((await askToPay(of)).status).toBe(502);
    fake.fault = () => undefined;
    await hasEnded(of);
    await lookNow();
    await untilStatus(of, "cancelled by system");
    expect((await hold(service)).status).toBe("pending");
  });
});

describe("a payment", () => {
  test("that no webhook told of is found at the end of its hold", async () => {
    const { ana, held: of } = await held();
    const page = await openPage(of);
    fake.webhook = undefined;
    fake.pay(page.session);
    await hasEnded(of);
    await untilStatus(of, "confirmed");
    expect(await movements(of)).toEqual(["payment 60.5"]);
    expect(await findings(ana)).toEqual([]);
  });

  test("whose dispatcher is killed while it asks is recorded once", async () => {
    const { held: of } = await held();
    const page = await openPage(of);
    let isAsked = false;
    fake.fault = ({ method, path }) => {
      if (method !== "GET" || !path.endsWith(page.session)) return undefined;
      isAsked = true;
      return "stall";
    };
    fake.pay(page.session);
    await until(() => isAsked, Boolean);
    killFunction("payments");
    fake.fault = () => undefined;
    await leaseEnds();
    await untilStatus(of, "confirmed");
    expect(await movements(of)).toEqual(["payment 60.5"]);
  });
});

describe("a refund", () => {
  test.each([
    ["before", "hang"],
    ["after", "stall"],
  ] as const)(
    "whose dispatcher is killed %s Stripe has made it is made once, and is one entry",
    async (_, fault) => {
      const { ana, held: of } = await paid();
      fake.fault = (call) => (isRefund(call) ? fault : undefined);
      await answer(ana.api.rpc("cancel_booking", { booking_id: of.id }));
      await until(
        () => callsOf(ana.account, isRefund),
        ({ length }) => length === 1,
      );
      fake.webhook = undefined;
      killFunction("payments");
      fake.fault = () => undefined;
      await leaseEnds();
      await untilMovements(of, ["payment 60.5", "refund 60.5"]);
      expect(refundsOf(ana.account)).toHaveLength(1);
      await isQuiet();
      expect(await movements(of)).toHaveLength(2);
      expect(await orderOf(of)).toMatchObject({ payment_status: "refunded" });
    },
  );

  test.each([
    ["a 500 that Stripe replays, though nothing was done", { status: 500 }, 0],
    ["a 500 that hides that it was made", "broken", 1],
    ["an answer that was lost", "lose", 1],
    ["a connection that was cut", "cut", 0],
  ] as const)("after %s is given once", async (_, fault, made) => {
    const { ana, held: of, payment } = await paid();
    fake.webhook = undefined;
    fake.fault = (call) => (isRefund(call) ? fault : undefined);
    const response = await refund(ana, { payment_id: payment.id });
    expect(response.status).toBe(fault === "lose" ? 200 : 202);
    expect(refundsOf(ana.account)).toHaveLength(made);
    fake.fault = () => undefined;
    // A day later the key is forgotten: what was made must be found, and what was not can be made.
    fake.forgetKeys();
    await lookNow();
    await untilMovements(of, ["payment 60.5", "refund 60.5"]);
    expect(refundsOf(ana.account)).toHaveLength(1);
    expect(fake.books(ana.account)[payment.reference]?.refunded).toBe(6050);
  });

  test("that Stripe refuses for good is given up, and the money is still to be seen", async () => {
    const { ana, held: of, payment } = await paid();
    fake.failNext(
      { status: 400, type: "invalid_request_error", code: "insufficient_funds" },
      1,
      isRefund,
    );
    const response = await refund(ana, { payment_id: payment.id });
    expect(response.status).toBe(422);
    await isQuiet();
    expect(await movements(of)).toEqual(["payment 60.5"]);
    expect((await refund(ana, { payment_id: payment.id })).status).toBe(200);
    await untilMovements(of, ["payment 60.5", "refund 60.5"]);
  });
});

describe("two who want one time", () => {
  test("and both pay: one booking, and the other's money goes back", async () => {
    const { ana, service, held: first } = await held();
    const page = await openPage(first);
    // The page of the first cannot be closed: Stripe is not there when the booking is cancelled.
    fake.fault = ({ path }) =>
      path.endsWith("/expire") ? { status: 503, stored: false } : undefined;
    const { error } = await ana.api.rpc("cancel_booking", { booking_id: first.id });
    expect(error).toBeNull();
    const second = await hold(service);
    const other = await openPage(second);
    fake.pay(page.session);
    fake.pay(other.session);
    fake.fault = () => undefined;
    await lookNow();
    await untilStatus(second, "confirmed");
    await untilMovements(first, ["payment 60.5", "refund 60.5"]);
    expect(await statusOf(first)).toBe("cancelled by owner");
    expect(await movements(second)).toEqual(["payment 60.5"]);
    const refunded = Object.values(fake.books(ana.account)).map((book) => book.refunded);
    expect(refunded.sort()).toEqual([0, 6050]);
    expect(await findings(ana)).toEqual([]);
  });

  test("in two tabs of one buyer is one page, and two payments on two pages are one: the other goes back", async () => {
    const { ana, held: of } = await held();
    const first = await openPage(of);
    expect((await openPage(of)).session).toBe(first.session);
    await answer(
      ana.api.rpc("record_payment", { order_id: of.order_id, amount: 10, method: "cash" }),
    );
    const second = await openPage(of);
    expect([second.amount, fake.session(first.session).status]).toEqual([50.5, "expired"]);
    fake.reopen(first.session);
    fake.pay(second.session);
    fake.pay(first.session);
    await until(
      () => Object.values(fake.books(ana.account)).reduce((sum, book) => sum + book.refunded, 0),
      (refunded) => refunded === 6050,
      20,
    );
    await isQuiet();
    expect(await orderOf(of)).toMatchObject({
      payment_status: "paid",
      amount_paid: 121,
      amount_refunded: 60.5,
    });
    expect((await ledger(of)).map(({ flag }) => flag)).toContain("exceeds_total");
    expect(await findings(ana)).toEqual([]);
  });
});

/** The fake Stripe of the tests of payments, driven by Stripe's own package as the function does. */
import { Stripe } from "stripe";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type FakeStripe,
  STRIPE_KEY,
  STRIPE_LIVE_KEY,
  STRIPE_VERSION,
  startStripe,
} from "../../support/stripe.ts";

let fake: FakeStripe;
let stripe: Stripe;
let account: string;

/** The package as the function uses it, but that it tries once only. */
function client(key = STRIPE_KEY, version: string = STRIPE_VERSION): Stripe {
  const { hostname, port } = new URL(fake.url);
  return new Stripe(key, {
    apiVersion: version as never,
    host: hostname,
    port,
    protocol: "http",
    maxNetworkRetries: 0,
    timeout: 2000,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(),
  });
}

beforeAll(async () => {
  fake = await startStripe();
  stripe = client();
});

afterAll(() => fake.close());

beforeEach(async () => {
  fake.fault = () => undefined;
  fake.refundsAre = "succeeded";
  const { id } = await stripe.v2.core.accounts.create({
    contact_email: "ana@example.com",
    dashboard: "full",
    configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
    defaults: { responsibilities: { fees_collector: "stripe", losses_collector: "stripe" } },
  });
  account = id;
  fake.onboard(id);
});

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

function params(
  amount = 3050,
  currency = "eur",
  values: Partial<Stripe.Checkout.SessionCreateParams> = {},
): Stripe.Checkout.SessionCreateParams {
  return {
    mode: "payment",
    success_url: "https://app.example/paid",
    client_reference_id: "attempt",
    adaptive_pricing: { enabled: false },
    excluded_payment_method_types: ["sepa_debit"],
    line_items: [
      {
        quantity: 1,
        price_data: { currency, unit_amount: amount, product_data: { name: "Order 1" } },
      },
    ],
    ...values,
  };
}

const create = (of = params(), options: Stripe.RequestOptions = {}) =>
  stripe.checkout.sessions.create(of, { stripeAccount: account, ...options });

/** How the package reports a refusal. */
async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(Stripe.errors.StripeError);
  const { type, statusCode, code } = error as Stripe.errors.StripeError;
  return [type, statusCode, code];
}

/** A session that is paid; its payment intent. */
async function paid(amount?: number): Promise<string> {
  const { id } = await create(params(amount));
  fake.pay(id);
  return String(fake.session(id).payment_intent);
}

const refund = (payment_intent: string, amount?: number, idempotencyKey?: string) =>
  stripe.refunds.create(
    { payment_intent, ...(amount && { amount }) },
    { stripeAccount: account, ...(idempotencyKey && { idempotencyKey }) },
  );

test("an account tells what was asked for, and whether it can charge", async () => {
  const { id } = await stripe.v2.core.accounts.create({ display_name: "Ana" });
  expect((await stripe.v2.core.accounts.retrieve(id)).configuration).toBeUndefined();
  const include = ["configuration.merchant", "requirements"] as never;
  const before = await stripe.v2.core.accounts.retrieve(id, { include });
  expect(before.configuration?.merchant?.capabilities?.card_payments?.status).toBe("restricted");
  expect(before.requirements?.entries?.map(({ description }) => description)).toContain(
    "identity.individual.given_name",
  );
  fake.onboard(id);
  const after = await stripe.v2.core.accounts.retrieve(id, { include });
  expect(after.configuration?.merchant?.capabilities?.card_payments?.status).toBe("active");
  expect(after.requirements?.entries).toEqual([]);
  const link = await stripe.v2.core.accountLinks.create({
    account: id,
    use_case: {
      type: "account_onboarding",
      account_onboarding: { refresh_url: "https://app.example/a" },
    },
  });
  expect(link.url).toContain(id);
});

test("a session is open, then paid, and what happened is told", async () => {
  const session = await create(params(3050, "eur", { expires_at: inSeconds(1900) }));
  expect(session).toMatchObject({
    object: "checkout.session",
    status: "open",
    payment_status: "unpaid",
    amount_total: 3050,
    currency: "eur",
    client_reference_id: "attempt",
    livemode: false,
    payment_intent: null,
  });
  const event = fake.pay(session.id);
  expect(event).toMatchObject({ type: "checkout.session.completed", account, livemode: false });
  const after = await stripe.checkout.sessions.retrieve(
    session.id,
    { expand: ["payment_intent.latest_charge"] },
    { stripeAccount: account },
  );
  expect(after).toMatchObject({
    status: "complete",
    payment_status: "paid",
    url: null,
    payment_intent: { status: "succeeded", amount_received: 3050, latest_charge: { paid: true } },
  });
  expect(() => fake.pay(session.id)).toThrow("complete");
  expect(fake.books(account)).toEqual({
    [String(fake.session(session.id).payment_intent)]: { received: 3050, refunded: 0, disputed: 0 },
  });
});

test("a session ends when it is told to or its time is over, and not once it is complete", async () => {
  const [told, late, done] = await Promise.all([create(), create(), create()]);
  const expire = (id: string) =>
    stripe.checkout.sessions.expire(id, {}, { stripeAccount: account });
  expect((await expire(told.id)).status).toBe("expired");
  expect(() => fake.pay(told.id)).toThrow("expired");
  fake.expire(late.id);
  fake.pay(done.id);
  for (const { id } of [told, late, done]) {
    expect(await refusal(expire(id))).toEqual(["StripeInvalidRequestError", 400, undefined]);
  }
  const open = await stripe.checkout.sessions.list({ status: "open" }, { stripeAccount: account });
  expect(open.data).toEqual([]);
  const all = await stripe.checkout.sessions.list({ limit: 2 }, { stripeAccount: account });
  expect([all.data.length, all.has_more]).toEqual([2, true]);
});

test.each([
  ["29 minutes", params(3050, "eur", { expires_at: inSeconds(29 * 60) }), undefined],
  ["25 hours", params(3050, "eur", { expires_at: inSeconds(25 * 3600) }), undefined],
  ["49 cents", params(49), "amount_too_small"],
  ["a thousandth of a dinar", params(1234, "kwd"), undefined],
  ["half a krona", params(50_050, "isk"), undefined],
  ["no name", params(3050, "eur", { line_items: [] }), undefined],
  ["an old parameter", { ...params(), payment_method_types: ["card"] }, "parameter_unknown"],
  ["no such method", params(3050, "eur", { excluded_payment_method_types: ["link"] }), undefined],
])("a session of %s is refused", async (_, of, code) => {
  expect(await refusal(create(of as never))).toEqual(["StripeInvalidRequestError", 400, code]);
});

test("who may not charge is told so; another mode, version or account finds nothing", async () => {
  const { id } = await create();
  fake.restrict(account, ["external_account"]);
  expect(await refusal(create())).toEqual(["StripeCardError", 402, undefined]);
  const retrieve = (by: Stripe, stripeAccount = account) =>
    refusal(by.checkout.sessions.retrieve(id, {}, { stripeAccount }));
  expect(await retrieve(client(STRIPE_KEY, "2024-06-20"))).toEqual([
    "StripeInvalidRequestError",
    400,
    undefined,
  ]);
  expect(await retrieve(client("sk_test_other"))).toEqual([
    "StripeAuthenticationError",
    401,
    undefined,
  ]);
  expect(await retrieve(client(STRIPE_LIVE_KEY))).toEqual([
    "StripePermissionError",
    403,
    "account_invalid",
  ]);
  const other = await stripe.v2.core.accounts.create({});
  expect(await retrieve(stripe, other.id)).toEqual([
    "StripeInvalidRequestError",
    404,
    "resource_missing",
  ]);
  expect(await refusal(stripe.checkout.sessions.create(params()))).toEqual([
    "StripeInvalidRequestError",
    400,
    undefined,
  ]);
  fake.deauthorize(account);
  expect(await retrieve(stripe)).toEqual(["StripePermissionError", 403, "account_invalid"]);
});

test("the same key is the same session, refuses other parameters, and is forgotten", async () => {
  const options = { idempotencyKey: crypto.randomUUID() };
  const first = await create(params(), options);
  expect((await create(params(), options)).id).toBe(first.id);
  expect(await refusal(create(params(3051), options))).toEqual([
    "StripeIdempotencyError",
    400,
    undefined,
  ]);
  fake.forgetKeys();
  expect((await create(params(), options)).id).not.toBe(first.id);
});

test("what a key was answered with is stored, a 500 and a refusal too, but no wrong parameter", async () => {
  const options = { idempotencyKey: crypto.randomUUID() };
  fake.failNext({ status: 500 });
  expect(await refusal(create(params(), options))).toEqual(["StripeAPIError", 500, undefined]);
  expect(await refusal(create(params(), options))).toEqual(["StripeAPIError", 500, undefined]);
  const small = { idempotencyKey: crypto.randomUUID() };
  await refusal(create(params(3050, "eur", { success_url: "no" }), small));
  expect((await create(params(), small)).status).toBe("open");
  fake.restrict(account, []);
  const barred = { idempotencyKey: crypto.randomUUID() };
  await refusal(create(params(), barred));
  fake.onboard(account);
  expect(await refusal(create(params(), barred))).toEqual(["StripeCardError", 402, undefined]);
});

test.each([
  ["cut", 0],
  ["hang", 0],
  ["lose", 1],
  ["stall", 1],
] as const)(
  "a call that is answered by %s is unclear, and has made %i sessions",
  async (fault, made) => {
    const options = { idempotencyKey: crypto.randomUUID(), timeout: 300 };
    fake.fault = () => fault;
    expect(await refusal(create(params(), options))).toEqual([
      "StripeConnectionError",
      undefined,
      undefined,
    ]);
    const mine = () => fake.sessions().filter(({ id }) => fake.accountOf(id) === account);
    expect(mine()).toHaveLength(made);
    fake.fault = () => undefined;
    await create(params(), options);
    expect(mine()).toHaveLength(1);
  },
);

test("a 500 after the session was made is replayed, and the session is found by looking", async () => {
  const options = { idempotencyKey: crypto.randomUUID() };
  fake.failNext("broken");
  for (let n = 0; n < 2; n++) {
    expect(await refusal(create(params(), options))).toEqual(["StripeAPIError", 500, undefined]);
  }
  const { data } = await stripe.checkout.sessions.list({}, { stripeAccount: account });
  expect(data.map(({ client_reference_id }) => client_reference_id)).toEqual(["attempt"]);
});

test("of two calls with one key at a time the second is told that the first goes on", async () => {
  const options = { idempotencyKey: crypto.randomUUID() };
  let open = () => {};
  const gate = new Promise<undefined>((resolve) => {
    open = () => resolve(undefined);
  });
  let first: ReturnType<typeof create> | undefined;
  await new Promise<void>((entered) => {
    fake.fault = () => {
      entered();
      return gate;
    };
    first = create(params(), options);
  });
  expect(await refusal(create(params(), options))).toEqual([
    "StripeAPIError",
    409,
    "idempotency_key_in_use",
  ]);
  open();
  expect((await first)?.status).toBe("open");
});

test("refunds go to the cent and no further, once a key, and not while disputed", async () => {
  const intent = await paid();
  const key = crypto.randomUUID();
  const first = await refund(intent, 1000, key);
  expect(first).toMatchObject({ status: "succeeded", amount: 1000, payment_intent: intent });
  expect((await refund(intent, 1000, key)).id).toBe(first.id);
  expect(await refusal(refund(intent, 2051))).toEqual([
    "StripeInvalidRequestError",
    400,
    undefined,
  ]);
  await refund(intent, 2050);
  expect(await refusal(refund(intent))).toEqual([
    "StripeInvalidRequestError",
    400,
    "charge_already_refunded",
  ]);
  expect(fake.books()[intent]).toEqual({ received: 3050, refunded: 3050, disputed: 0 });
  const { data } = await stripe.refunds.list(
    { payment_intent: intent },
    { stripeAccount: account },
  );
  expect(data.map(({ amount }) => amount)).toEqual([2050, 1000]);

  const other = await paid();
  fake.dispute(other);
  expect(await refusal(refund(other))).toEqual([
    "StripeInvalidRequestError",
    400,
    "charge_disputed",
  ]);
});

test("a refund may be pending, fail, and then be tried again", async () => {
  const intent = await paid();
  fake.refundsAre = "pending";
  const { id, status } = await refund(intent);
  expect(status).toBe("pending");
  expect(fake.books()[intent]?.refunded).toBe(3050);
  expect(fake.settleRefund(id, "failed").type).toBe("refund.failed");
  const after = await stripe.refunds.retrieve(id, {}, { stripeAccount: account });
  expect(after).toMatchObject({ status: "failed", failure_reason: "expired_or_canceled_card" });
  expect(fake.books()[intent]?.refunded).toBe(0);
  const again = await refund(intent);
  fake.settleRefund(again.id, "succeeded");
  expect(fake.books()[intent]?.refunded).toBe(3050);
});

test("a dispute takes the money and gives it back when it is won", async () => {
  const intent = await paid();
  const { dispute } = fake.dispute(intent, 2000);
  const retrieve = () => stripe.disputes.retrieve(dispute, {}, { stripeAccount: account });
  const before = await retrieve();
  expect(before).toMatchObject({ status: "needs_response", payment_intent: intent, amount: 2000 });
  expect(before.balance_transactions.map(({ amount }) => amount)).toEqual([-2000]);
  expect(fake.books()[intent]?.disputed).toBe(2000);
  fake.closeDispute(dispute, "won");
  expect((await retrieve()).balance_transactions.map(({ amount }) => amount)).toEqual([
    -2000, 2000,
  ]);
  expect(fake.books()[intent]?.disputed).toBe(0);
});

test("a method that settles later is complete and unpaid until it does", async () => {
  const { id } = await create();
  fake.pay(id, { later: true });
  expect(fake.session(id)).toMatchObject({ status: "complete", payment_status: "unpaid" });
  expect(fake.books(account)).toEqual({});
  expect(fake.settle(id, true).type).toBe("checkout.session.async_payment_succeeded");
  expect(Object.values(fake.books(account))).toEqual([
    { received: 3050, refunded: 0, disputed: 0 },
  ]);
});

test("events are signed as the package verifies them, and sent until they are taken", async () => {
  const { createServer } = await import("node:http");
  const secret = "whsec_test";
  const seen: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray());
    const signature = incoming.headers["stripe-signature"] ?? "";
    const event = await stripe.webhooks.constructEventAsync(body, signature, secret);
    seen.push(`${event.type} ${event.account}`);
    outgoing.writeHead(seen.length === 1 ? 500 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  fake.webhook = { url: `http://127.0.0.1:${port}/`, secret };
  const { id } = await create();
  fake.expire(id);
  await fake.delivered();
  fake.webhook = undefined;
  server.close();
  expect(seen).toEqual(Array(2).fill(`checkout.session.expired ${account}`));
});

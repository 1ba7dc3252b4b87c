/** What is sent to Stripe, what is made of its answers, and what of a failure may be seen. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import {
  type PaymentProvider,
  ProviderError,
  paymentProvider,
} from "../../../supabase/functions/payments/stripe.ts";

const KEY = "sk_test_51abcdefghijklmnopWXYZ";

interface Sent {
  method: string;
  url: string;
  headers: Headers;
  body: string;
}

/** The provider, and what it sends; each request is answered by the next answer, the last one again and again. */
function setUp(
  answers: (object | { status: number; error: object } | Error)[],
  env: Record<string, string> = {},
) {
  const sent: Sent[] = [];
  const fetcher = async (url: string | URL | Request, init: RequestInit = {}) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)] as object;
    sent.push({
      method: init.method ?? "GET",
      url: String(url),
      headers: new Headers(init.headers),
      body: String(init.body ?? ""),
    });
    if (answer instanceof Error) throw answer;
    // Objects of Stripe have a status too, which is no number.
    const { status } = answer as { status?: unknown };
    return Response.json(answer, {
      status: typeof status === "number" ? status : 200,
      headers: { "request-id": "req_123", "stripe-should-retry": "false" },
    });
  };
  const values: Record<string, string> = { STRIPE_SECRET_KEY: KEY, ...env };
  const provider = paymentProvider((name) => values[name], fetcher) as PaymentProvider;
  return { provider, sent };
}

const error = (status: number, fault: object) => ({
  status,
  error: { type: "invalid_request_error", message: `No: ${KEY.slice(-4)}`, ...fault },
});

/** How a call of a session ended. */
async function failureOf(provider: PaymentProvider): Promise<ProviderError> {
  const failure = await provider.createSession("acct_1", "attempt-1", {}).catch((e: unknown) => e);
  if (!(failure instanceof ProviderError)) throw failure;
  return failure;
}

const CLOSED = { id: "cs_1", payment_intent: { id: "pi_1" }, metadata: {} };

describe("a request", () => {
  test("is of one version and for the professional's account, and tells nothing of its own", async () => {
    const { provider, sent } = setUp([{ id: "cs_1", payment_intent: null }]);
    await provider.createSession("acct_1", "attempt-1", { mode: "payment", expires_at: 5 });
    await provider.session("acct_1", "cs_1");
    const [request, next] = sent as [Sent, Sent];
    expect(request.method).toBe("POST");
    expect(request.url).toBe("https://api.stripe.com/v1/checkout/sessions");
    expect(request.body).toBe("mode=payment&expires_at=5");
    expect(Object.fromEntries(request.headers)).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "stripe-account": "acct_1",
      "stripe-version": "2026-10-28.endive",
      "idempotency-key": "attempt-1",
    });
    // It would be about the request before.
    expect(next.headers.has("x-stripe-client-telemetry")).toBe(false);
    expect(next.headers.get("x-stripe-client-user-agent")).not.toContain("platform");
  });

  test("is tried again once after a failure that says nothing, with the same key", async () => {
    const { provider, sent } = setUp([new Error("connection lost"), CLOSED]);
    expect((await provider.createSession("acct_1", "attempt-1", {})).payment_intent).toBe("pi_1");
    expect(sent.map(({ headers }) => headers.get("idempotency-key"))).toEqual([
      "attempt-1",
      "attempt-1",
    ]);
    const lost = setUp([new Error("connection lost")]);
    expect((await failureOf(lost.provider)).outcome).toBe("unclear");
    expect(lost.sent).toHaveLength(2);
  });

  test("goes where STRIPE_API_URL says", async () => {
    const { provider, sent } = setUp([CLOSED], { STRIPE_API_URL: "http://127.0.0.1:4242" });
    await provider.session("acct_1", "cs_1");
    expect(sent[0]?.url).toBe("http://127.0.0.1:4242/v1/checkout/sessions/cs_1");
  });

  test("for an account has a key of its own for other particulars", async () => {
    const { provider, sent } = setUp([{ id: "acct_9", object: "v2.core.account" }]);
    const ana = { email: "ana@example.com", name: "Ana", country: undefined };
    expect(await provider.createAccount("attempt-1", ana)).toBe("acct_9");
    await provider.createAccount("attempt-1", ana);
    await provider.createAccount("attempt-1", { ...ana, country: "pt" });
    const [first, again, other] = sent.map(({ headers }) => headers.get("idempotency-key"));
    expect(first).toMatch(/^attempt-1-[0-9a-f]{32}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(JSON.parse((sent[2] as Sent).body)).toEqual({
      contact_email: "ana@example.com",
      display_name: "Ana",
      dashboard: "full",
      identity: { country: "pt" },
      defaults: { responsibilities: { fees_collector: "stripe", losses_collector: "stripe" } },
      configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
      metadata: { attempt_id: "attempt-1" },
    });
  });

  test("for a refund carries the attempt, by which a later look-up finds it", async () => {
    const made = { id: "re_1", payment_intent: "pi_1", metadata: { attempt_id: "attempt-1" } };
    const { provider, sent } = setUp([
      made,
      { data: [{ ...made, id: "re_0", metadata: {} }, made], has_more: false },
    ]);
    await provider.createRefund("acct_1", "attempt-1", { payment_intent: "pi_1", amount: 1000 });
    expect(sent[0]?.body).toBe("payment_intent=pi_1&amount=1000&metadata[attempt_id]=attempt-1");
    expect(sent[0]?.headers.get("idempotency-key")).toBe("attempt-1");
    expect((await provider.findRefund("acct_1", "attempt-1", "pi_1"))?.id).toBe("re_1");
    expect(await provider.findRefund("acct_1", "attempt-2", "pi_1")).toBeNull();
  });
});

describe("a failure", () => {
  test.each([
    ["refused", error(400, { code: "amount_too_small" }), "amount_too_small"],
    ["refused", error(402, { type: "card_error", code: "card_declined" }), "card_declined"],
    ["refused", error(402, {}), "none"],
    ["refused", error(404, { code: "resource_missing" }), "resource_missing"],
    ["refused", error(403, { code: "account_invalid" }), "account_invalid"],
    ["unclear", error(401, {}), "none"],
    ["unclear", error(403, { code: "more_permissions_required" }), "more_permissions_required"],
    [
      "unclear",
      error(409, { type: "idempotency_error", code: "idempotency_key_in_use" }),
      "idempotency_key_in_use",
    ],
    ["unclear", error(429, { code: "rate_limit" }), "rate_limit"],
    ["answered", error(400, { type: "idempotency_error" }), "none"],
    ["answered", error(500, { type: "api_error" }), "none"],
    ["answered", error(503, { type: "api_error" }), "none"],
  ] as const)("is %s: %j", async (outcome, answer, code) => {
    const failure = await failureOf(setUp([answer]).provider);
    expect([failure.outcome, failure.code]).toEqual([outcome, code]);
  });

  test("without an answer, or with one that is not Stripe's, is unclear", async () => {
    const timeout = Object.assign(new Error("aborted"), { name: "AbortError" });
    expect((await failureOf(setUp([timeout]).provider)).outcome).toBe("unclear");
    const page = async () => new Response("<h1>Bad gateway</h1>", { status: 200 });
    const provider = paymentProvider(
      (name) => (name === "STRIPE_SECRET_KEY" ? KEY : undefined),
      page,
    ) as PaymentProvider;
    expect((await failureOf(provider)).outcome).toBe("unclear");
  });

  test("shows neither the key, of which Stripe quotes the end, nor what Stripe wrote", async () => {
    const quoting = error(401, {
      message: `Invalid API Key provided: sk_test_****************${KEY.slice(-4)}`,
      code: `is_it_${KEY}`,
      request_log_url: `https://dashboard.stripe.com/logs/${KEY}`,
    });
    const failure = await failureOf(setUp([quoting]).provider);
    expect(failure.message).toBe(
      "Stripe checkout.sessions.create: status 401, type invalid_request_error, code none, request req_123",
    );
    const seen = [inspect(failure, { depth: 9 }), JSON.stringify(failure), failure.stack].join();
    expect(seen).toContain("ProviderError");
    expect(seen).not.toContain(KEY.slice(-4));
    expect(seen).not.toContain("Invalid API Key");
  });

  test("of a connection that quotes what was sent shows nothing of it either", async () => {
    const failure = await failureOf(setUp([new Error(`Bearer ${KEY}`)]).provider);
    expect(inspect(failure, { depth: 9 })).not.toContain(KEY.slice(-4));
  });
});

describe("an account", () => {
  const account = (status: string, entries: object[] = [], more: object = {}) => ({
    id: "acct_1",
    configuration: { merchant: { capabilities: { card_payments: { status } } } },
    requirements: { entries },
    ...more,
  });
  const entry = (description: string, from = "user", status = "currently_due") => ({
    description,
    awaiting_action_from: from,
    minimum_deadline: { status },
  });

  test("is asked with what it can do and what is missing", async () => {
    const { provider, sent } = setUp([account("active")]);
    expect(await provider.accountFacts("acct_1")).toEqual({
      can_charge: true,
      missing: [],
      deauthorized: false,
    });
    expect(sent[0]?.url).toBe(
      "https://api.stripe.com/v2/core/accounts/acct_1?include[0]=configuration.merchant&include[1]=requirements",
    );
    expect(sent[0]?.headers.get("stripe-version")).toBe("2026-10-28.endive");
  });

  test.each(["pending", "restricted", "rejected", "unsupported"])(
    "whose card payments are %s cannot charge",
    async (status) => {
      const { provider } = setUp([account(status)]);
      expect((await provider.accountFacts("acct_1")).can_charge).toBe(false);
    },
  );

  test("that is closed, or no merchant, cannot charge", async () => {
    const closed = setUp([account("active", [], { closed: true })]);
    expect((await closed.provider.accountFacts("acct_1")).can_charge).toBe(false);
    const bare = setUp([{ id: "acct_1" }]);
    expect((await bare.provider.accountFacts("acct_1")).can_charge).toBe(false);
  });

  test("says what the professional has to give now, once each", async () => {
    const { provider } = setUp([
      account("restricted", [
        entry("identity.individual.email"),
        entry("identity.individual.email"),
        entry("bank account", "user", "past_due"),
        entry("later", "user", "eventually_due"),
        entry("in review", "stripe"),
      ]),
    ]);
    expect((await provider.accountFacts("acct_1")).missing).toEqual([
      "identity.individual.email",
      "bank account",
    ]);
  });

  test("says no more than fifty things, in two hundred characters each", async () => {
    const entries = Array.from({ length: 60 }, (_, i) => entry(`${i} ${"x".repeat(300)}`));
    const { missing } = await setUp([account("restricted", entries)]).provider.accountFacts(
      "acct_1",
    );
    expect(missing).toHaveLength(50);
    expect(missing.every((text) => text.length === 200)).toBe(true);
  });

  test.each([
    error(403, { code: "account_invalid" }),
    error(404, { code: "not_found" }),
    error(400, { code: "account_wrong_mode" }),
  ])("that lets nobody act for it is deauthorized: %j", async (answer) => {
    const { provider } = setUp([answer]);
    expect(await provider.accountFacts("acct_1")).toEqual({
      can_charge: false,
      missing: [],
      deauthorized: true,
    });
  });

  test.each([error(401, {}), error(403, {}), error(500, {})])(
    "is not given up for a fault of the key or of Stripe: %j",
    async (answer) => {
      await expect(setUp([answer]).provider.accountFacts("acct_1")).rejects.toThrow(ProviderError);
    },
  );
});

test("a refund of which Stripe does not say how it is, is pending", async () => {
  const { provider } = setUp([
    { id: "re_1", payment_intent: "pi_1", metadata: null, status: null },
  ]);
  expect(await provider.refund("acct_1", "re_1")).toMatchObject({
    status: "pending",
    attempt_id: null,
  });
});

describe("a session", () => {
  test("that cannot be expired is asked for", async () => {
    const { provider, sent } = setUp([
      error(400, {}),
      { id: "cs_1", status: "complete", payment_intent: "pi_1" },
    ]);
    expect((await provider.expireSession("acct_1", "cs_1")).status).toBe("complete");
    expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
      "POST /v1/checkout/sessions/cs_1/expire",
      "GET /v1/checkout/sessions/cs_1",
    ]);
    expect(sent.map(({ headers }) => headers.get("stripe-account"))).toEqual(["acct_1", "acct_1"]);
  });

  test("is found by its attempt, on the second page too", async () => {
    const page = (ids: string[], has_more: boolean) => ({
      object: "list",
      has_more,
      data: ids.map((id) => ({
        id,
        // Whoever pays may write this one.
        client_reference_id: "of cs_1",
        metadata: { attempt_id: `of ${id}` },
        payment_intent: null,
      })),
    });
    const { provider, sent } = setUp([page(["cs_1", "cs_2"], true), page(["cs_3"], false)]);
    expect(await provider.findSession("acct_1", "of cs_3", { since: 17, until: 99 })).toMatchObject(
      {
        id: "cs_3",
        attempt_id: "of cs_3",
      },
    );
    expect(sent[0]?.url).toContain("created[gte]=17");
    expect(sent[0]?.url).toContain("created[lte]=99");
    expect(sent[1]?.url).toContain("starting_after=cs_2");
    const none = setUp([page(["cs_1"], false)]);
    expect(
      await none.provider.findSession("acct_1", "of cs_9", { since: 17, until: 99 }),
    ).toBeNull();
    // Not to have looked everywhere is not to have found nothing.
    const endless = setUp([page(["cs_1", "cs_2"], true)]);
    await expect(
      endless.provider.findSession("acct_1", "of cs_9", { since: 17, until: 99 }),
    ).rejects.toMatchObject({
      outcome: "unclear",
    });
  });
});

test("a dispute's entries are in its own currency, whatever the account is paid in", async () => {
  const { provider } = setUp([
    {
      id: "dp_1",
      payment_intent: "pi_1",
      status: "lost",
      reason: "fraudulent",
      amount: 3050,
      currency: "eur",
      balance_transactions: [
        { id: "txn_1", amount: -3050, currency: "eur", fee: 2000 },
        { id: "txn_2", amount: 2900, currency: "chf" },
      ],
    },
  ]);
  expect((await provider.dispute("acct_1", "dp_1")).entries).toEqual([
    { id: "txn_1", amount: -3050 },
    { id: "txn_2", amount: 3050 },
  ]);
});

describe("the key", () => {
  const withKey = (key: string) =>
    paymentProvider((name) => (name === "STRIPE_SECRET_KEY" ? key : undefined));

  test.each([
    ["sk_test_1", false],
    ["rk_test_1", false],
    ["sk_live_1", true],
    ["rk_live_1", true],
  ])("%s says the mode", (key, livemode) => {
    expect(withKey(key)?.livemode).toBe(livemode);
  });

  test.each(["pk_live_1", "whsec_1", "sk_1", "sk_live_", "sk_prod_1"])(
    "%s is none: the function does not start, and does not quote it",
    (key) => {
      expect(() => withKey(key)).toThrow(EnvError);
      expect(() => withKey(key)).not.toThrow(key);
    },
  );

  test("may be absent", () => {
    expect(paymentProvider(() => undefined)).toBeUndefined();
  });
});

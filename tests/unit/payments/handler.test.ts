/** The routes of the function: who may call them, what each asks of Stripe and the database, and in which order. */
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { ServerRpcError } from "../../../supabase/functions/_shared/data-api.ts";
import { ApiError, notFound } from "../../../supabase/functions/_shared/errors.ts";
import {
  type CheckoutState,
  type PaymentStore,
  paymentStore,
} from "../../../supabase/functions/payments/store.ts";
import {
  ACCOUNT,
  ANA,
  ATTEMPT,
  attempt,
  errorOf,
  facts,
  failure,
  named,
  ORDER,
  PAYMENT,
  REFUND,
  refund,
  session,
  setUp,
  task,
} from "../../support/payment-function.ts";

const PAGES = {
  success_url: "https://app.example/pay/done",
  cancel_url: "https://app.example/pay/back",
};
const checkout = { order_id: ORDER, token: "the-receipts-token", ...PAGES };
const onboarding = { return_url: "https://app.example/pay/account" };

const token = await new SignJWT({ role: "authenticated" })
  .setProtectedHeader({ alg: "HS256" })
  .setSubject(ANA)
  .sign(new TextEncoder().encode("a-key-of-the-auth-service-with-32-characters"));
const asAna = { authorization: `Bearer ${token}` };

/** Answers one state after another; the last again and again. */
function states(...wanted: CheckoutState["state"][]) {
  const left = [...wanted];
  return async (): Promise<CheckoutState> => ({
    state: (left.length > 1 ? left.shift() : left[0]) as CheckoutState["state"],
    checkout: attempt,
  });
}

describe("without Stripe's key", () => {
  const without = () => setUp({ deps: { payments: undefined } });

  test.each([
    ["POST", "account", onboarding],
    ["GET", "account", undefined],
    ["DELETE", "account", undefined],
    ["POST", "checkout", checkout],
    ["POST", "refunds", { payment_id: PAYMENT }],
    ["POST", "stripe", {}],
  ])("%s /%s says that payments are not set up", async (method, path, body) => {
    const payments = without();
    const response = await payments.call(method, path, body, asAna);
    expect(await errorOf(response)).toEqual([503, "payments_not_configured"]);
    expect(payments.calls).toEqual([]);
    expect(payments.logged).toEqual([]);
  });

  test("the dispatcher has nothing to do", async () => {
    const payments = without();
    const response = await payments.call("POST", "dispatch", undefined, { apikey: "right" });
    expect(response.status).toBe(202);
    await Promise.all(payments.tasks);
    expect(payments.calls).toEqual([]);
    expect(payments.logged).toEqual([]);
  });
});

describe("the mode of the key", () => {
  const dispatched = async (payments: ReturnType<typeof setUp>) => {
    await payments.call("POST", "dispatch", undefined, { apikey: "right" });
    await Promise.all(payments.tasks);
  };

  test("is reported by the first call, once", async () => {
    const payments = setUp({ provider: { livemode: true } });
    await payments.call("GET", "account", undefined, asAna);
    await payments.call("GET", "account", undefined, asAna);
    await dispatched(payments);
    expect(payments.modes).toEqual([true]);
  });

  test("is reported by the dispatcher too", async () => {
    const payments = setUp();
    await dispatched(payments);
    expect(payments.modes).toEqual([false]);
  });

  test("that could not be reported is in nobody's way, and reported by the next", async () => {
    const cause = new Error("down");
    const payments = setUp({ store: { reportMode: () => Promise.reject(cause) } });
    expect((await payments.call("GET", "account", undefined, asAna)).status).toBe(200);
    await dispatched(payments);
    expect(payments.modes).toEqual([false, false]);
    expect(payments.logged).toEqual([cause, cause]);
  });
});

describe("the routes", () => {
  test.each([
    ["PUT", "account"],
    ["GET", "checkout"],
    ["DELETE", "refunds"],
    ["GET", "stripe"],
    ["GET", "dispatch"],
  ])("%s /%s is none", async (method, path) => {
    expect(await errorOf(await setUp().call(method, path))).toEqual([405, "method_not_allowed"]);
  });

  test.each(["", "accounts", "account/1", "events", "refunds/1"])(
    "/%s is nothing",
    async (path) => {
      expect(await errorOf(await setUp().call("POST", path))).toEqual([404, "not_found"]);
    },
  );

  test.each([
    ["POST", "account"],
    ["GET", "account"],
    ["DELETE", "account"],
    ["POST", "refunds"],
  ])("%s /%s is for professionals", async (method, path) => {
    const refused = new ApiError(403, "forbidden", "no");
    const payments = setUp({ deps: { userToken: () => Promise.reject(refused) } });
    const body = method === "POST" ? { ...onboarding, payment_id: PAYMENT } : undefined;
    expect(await errorOf(await payments.call(method, path, body))).toEqual([403, "forbidden"]);
    expect(payments.calls).toEqual([]);
  });

  test.each<[string, object, string]>([
    ["account", {}, "return_url"],
    ["account", { ...onboarding, country: "Portugal" }, "country"],
    ["account", { ...onboarding, account_id: "acct_2" }, "account_id"],
    ["checkout", { ...checkout, order_id: "1" }, "order_id"],
    ["checkout", { ...checkout, token: "" }, "token"],
    ["checkout", { ...checkout, token: null }, "token"],
    ["checkout", { ...checkout, amount: 1 }, "amount"],
    ["checkout", { ...checkout, currency: "JPY" }, "currency"],
    ["checkout", { ...checkout, success_url: undefined }, "success_url"],
    ["checkout", { ...checkout, cancel_url: "x".repeat(2001) }, "cancel_url"],
    ["refunds", { payment_id: "1" }, "payment_id"],
    ["refunds", { payment_id: PAYMENT, amount: 0 }, "amount"],
    ["refunds", { payment_id: PAYMENT, amount: -1 }, "amount"],
    ["refunds", { payment_id: PAYMENT, amount: "1" }, "amount"],
    ["refunds", { payment_id: PAYMENT, reason: "x".repeat(501) }, "reason"],
    ["refunds", { payment_id: PAYMENT, currency: "JPY" }, "currency"],
  ])("/%s takes no %j", async (path, body, field) => {
    const payments = setUp();
    const response = await payments.call("POST", path, body, asAna);
    expect(response.status).toBe(422);
    const { code, details } = (await response.json()) as { code: string; details: string };
    expect([code, Object.keys(JSON.parse(details).fields)]).toEqual(["validation_failed", [field]]);
    expect(payments.calls).toEqual([]);
  });

  test.each([
    ["account", { return_url: "https://evil.example/", refresh_url: onboarding.return_url }],
    ["account", { ...onboarding, refresh_url: "https://evil.example/" }],
    ["checkout", { ...checkout, success_url: "https://app.example/other" }],
    ["checkout", { ...checkout, cancel_url: "http://app.example/pay" }],
  ])("/%s sends nobody elsewhere: %j", async (path, body) => {
    const payments = setUp();
    const response = await payments.call("POST", path, body, asAna);
    expect(await errorOf(response)).toEqual([422, "return_url_not_allowed"]);
    expect(payments.calls).toEqual([]);
  });

  test("the scheduler has a secret of its own", async () => {
    const payments = setUp();
    const response = await payments.call("POST", "dispatch", undefined, { apikey: "wrong" });
    expect(await errorOf(response)).toEqual([401, "invalid_api_key"]);
    expect(payments.tasks).toEqual([]);
  });
});

describe("POST /account", () => {
  const fresh = { account_id: null, attempt_id: ATTEMPT, email: "ana@example.com", name: "Ana" };

  test("gives a link of the account that is connected", async () => {
    const payments = setUp();
    const response = await payments.call("POST", "account", onboarding, asAna);
    expect([response.status, await response.json()]).toEqual([
      200,
      { url: "https://connect.stripe.example/1", expires_at: "2027-02-01T09:05:00.000Z" },
    ]);
    const { return_url } = onboarding;
    expect(payments.calls).toEqual([
      ["connect", token],
      ["onboardingLink", ACCOUNT, return_url, return_url],
    ]);
  });

  test("makes an account, and notes whose it is before anybody can use it", async () => {
    const payments = setUp({
      store: { connect: async () => fresh },
      provider: { createAccount: async () => "acct_9", livemode: true },
    });
    const body = { ...onboarding, refresh_url: "https://app.example/pay/again", country: "PT" };
    expect((await payments.call("POST", "account", body, asAna)).status).toBe(200);
    expect(payments.calls).toEqual([
      ["connect", token],
      ["createAccount", ATTEMPT, { email: "ana@example.com", name: "Ana", country: "pt" }],
      ["attach", ANA, ATTEMPT, "acct_9", true],
      ["onboardingLink", "acct_9", onboarding.return_url, "https://app.example/pay/again"],
    ]);
  });

  test("replaces an account that lets nobody act for it, such as one of the other mode", async () => {
    const known = [ACCOUNT, null];
    const payments = setUp({
      store: { connect: async () => ({ ...fresh, account_id: known.shift() ?? null }) },
      provider: {
        createAccount: async () => "acct_9",
        onboardingLink: (id) =>
          id === ACCOUNT
            ? Promise.reject(failure(403, "account_invalid"))
            : Promise.resolve({ url: "https://connect.stripe.example/9", expires_at: "later" }),
        accountFacts: async () => ({ can_charge: false, missing: [], deauthorized: true }),
      },
    });
    const response = await payments.call("POST", "account", onboarding, asAna);
    expect(((await response.json()) as { url: string }).url).toContain("/9");
    expect(named(payments.calls, "recordAccount", "attach")).toEqual([
      ["recordAccount", ACCOUNT, { can_charge: false, missing: [], deauthorized: true }],
      ["attach", ANA, ATTEMPT, "acct_9", false],
    ]);
  });

  test("keeps an account of which only the link is refused", async () => {
    const refused = failure(400, "url_invalid");
    const payments = setUp({ provider: { onboardingLink: () => Promise.reject(refused) } });
    const response = await payments.call("POST", "account", onboarding, asAna);
    expect(await errorOf(response)).toEqual([502, "payment_provider_unavailable"]);
    expect(payments.logged).toEqual([refused]);
    expect(named(payments.calls, "createAccount")).toEqual([]);
  });

  test("attaches nothing when it is unclear whether there is an account", async () => {
    const unclear = failure(undefined);
    const payments = setUp({
      store: { connect: async () => fresh },
      provider: { createAccount: () => Promise.reject(unclear) },
    });
    const response = await payments.call("POST", "account", onboarding, asAna);
    expect(await errorOf(response)).toEqual([502, "payment_provider_unavailable"]);
    expect(named(payments.calls, "attach", "recordAccount")).toEqual([]);
    expect(payments.logged).toEqual([unclear]);
  });
});

describe("GET and DELETE /account", () => {
  test("asks Stripe, notes the answer, and shows what is noted", async () => {
    const payments = setUp();
    const response = await payments.call("GET", "account", undefined, asAna);
    expect([response.status, await response.json()]).toEqual([
      200,
      { account_id: ACCOUNT, can_charge: true },
    ]);
    expect(payments.calls).toEqual([
      ["account", token],
      ["accountFacts", ACCOUNT],
      ["recordAccount", ACCOUNT, facts],
      ["account", token],
    ]);
  });

  test("is 404 without an account, and asks Stripe nothing", async () => {
    const payments = setUp({ store: { account: async () => null } });
    const response = await payments.call("GET", "account", undefined, asAna);
    expect(await errorOf(response)).toEqual([404, "PGRST301"]);
    expect(named(payments.calls, "accountFacts")).toEqual([]);
  });

  test("shows an account of the other mode as it was, for the key may not ask", async () => {
    const payments = setUp({ provider: { livemode: true } });
    const response = await payments.call("GET", "account", undefined, asAna);
    expect(response.status).toBe(200);
    expect(named(payments.calls, "accountFacts", "recordAccount")).toEqual([]);
  });

  test("changes nothing when Stripe does not say", async () => {
    const unclear = failure(500);
    const payments = setUp({ provider: { accountFacts: () => Promise.reject(unclear) } });
    const response = await payments.call("GET", "account", undefined, asAna);
    expect(await errorOf(response)).toEqual([502, "payment_provider_unavailable"]);
    expect(named(payments.calls, "recordAccount")).toEqual([]);
  });

  test("detaches here, and asks nothing of Stripe", async () => {
    const payments = setUp();
    const response = await payments.call("DELETE", "account", undefined, asAna);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(payments.calls).toEqual([["detach", token]]);
  });
});

describe("POST /checkout: who", () => {
  const wanted = { order_id: ORDER, ...PAGES, livemode: false };

  test("the receipt's token is enough, whatever else the browser sends", async () => {
    for (const headers of [{}, { authorization: "Bearer the-public-key" }, asAna]) {
      const payments = setUp();
      expect((await payments.call("POST", "checkout", checkout, headers)).status).toBe(200);
      expect(payments.calls).toEqual([["beginCheckout", { ...wanted, token: checkout.token }]]);
    }
  });

  test("a session is asked first whether the order is its own", async () => {
    const payments = setUp();
    const { token: _, ...body } = checkout;
    const headers = { authorization: "bearer of-a-portal-client" };
    expect((await payments.call("POST", "checkout", body, headers)).status).toBe(200);
    expect(payments.calls).toEqual([
      ["authorizeCheckout", "of-a-portal-client", ORDER],
      ["beginCheckout", { ...wanted, token: null }],
    ]);
  });

  test("nobody goes on whose order it is not", async () => {
    const payments = setUp({ store: { authorizeCheckout: () => Promise.reject(notFound()) } });
    const { token: _, ...body } = checkout;
    const response = await payments.call("POST", "checkout", body, asAna);
    expect(await errorOf(response)).toEqual([404, "PGRST301"]);
    expect(named(payments.calls, "beginCheckout")).toEqual([]);
  });

  test.each(["", "Basic x", "Bearer", "Bearer a b"])(
    "with neither a token nor a session it is 401: %j",
    async (authorization) => {
      const payments = setUp();
      const { token: _, ...body } = checkout;
      const response = await payments.call("POST", "checkout", body, { authorization });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await errorOf(response)).toEqual([401, "invalid_token"]);
      expect(payments.calls).toEqual([]);
    },
  );
});

describe("POST /checkout: the page", () => {
  const post = (payments: ReturnType<typeof setUp>) => payments.call("POST", "checkout", checkout);
  const steps = (payments: ReturnType<typeof setUp>) =>
    payments.calls.map(([name]) => name).filter((name) => name !== "beginCheckout");

  test("is the open one", async () => {
    const payments = setUp();
    const response = await post(payments);
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        url: "https://checkout.stripe.example/cs_1",
        amount: 30.5,
        currency: "EUR",
        expires_at: "2027-02-01T09:40:00.000Z",
      },
    ]);
    expect(steps(payments)).toEqual([]);
  });

  test("is made with what the database says, to the parameter, and recorded", async () => {
    const payments = setUp({ store: { beginCheckout: states("create", "open") } });
    expect((await post(payments)).status).toBe(200);
    expect(named(payments.calls, "createSession", "recordSession")).toEqual([
      ["createSession", ACCOUNT, ATTEMPT, attempt.params],
      ["recordSession", ACCOUNT, session],
    ]);
  });

  test("replaces one of another amount after that has been ended at Stripe", async () => {
    const payments = setUp({ store: { beginCheckout: states("expire", "create", "open") } });
    expect((await post(payments)).status).toBe(200);
    expect(steps(payments)).toEqual([
      "expireSession",
      "recordSession",
      "createSession",
      "recordSession",
    ]);
    expect(named(payments.calls, "recordSession")[0]).toEqual([
      "recordSession",
      ACCOUNT,
      { ...session, status: "expired" },
    ]);
  });

  test("that was paid on meanwhile is recorded as paid; then nothing is due", async () => {
    const paid = { ...session, status: "complete", payment_status: "paid" };
    let round = 0;
    const payments = setUp({
      store: {
        beginCheckout: async () => {
          if (++round > 1) throw new ApiError(422, "validation_failed", "nothing is due");
          return { state: "expire", checkout: attempt };
        },
      },
      provider: { expireSession: async () => paid },
    });
    expect((await post(payments)).status).toBe(422);
    expect(steps(payments)).toEqual(["expireSession", "recordSession"]);
    expect(named(payments.calls, "recordSession")).toEqual([["recordSession", ACCOUNT, paid]]);
  });

  test("is looked at where the database wants to know", async () => {
    const payments = setUp({ store: { beginCheckout: states("check", "open") } });
    expect((await post(payments)).status).toBe(200);
    expect(steps(payments)).toEqual(["session", "recordSession"]);
  });

  test.each([404, 422, 409, 429])("is not made where the database says %s", async (status) => {
    const refused = new ApiError(status, "some_code", "no");
    const payments = setUp({ store: { beginCheckout: () => Promise.reject(refused) } });
    expect(await errorOf(await post(payments))).toEqual([status, "some_code"]);
    expect(steps(payments)).toEqual([]);
  });

  test.each([undefined, 401, 403, 409, 429])(
    "is left to the same key where it is unclear whether it was made: status %s",
    async (status) => {
      const unclear = failure(status);
      const payments = setUp({
        store: { beginCheckout: states("create") },
        provider: { createSession: () => Promise.reject(unclear) },
      });
      expect(await errorOf(await post(payments))).toEqual([502, "payment_provider_unavailable"]);
      expect(steps(payments)).toEqual(["createSession"]);
      expect(payments.logged).toEqual([unclear]);
    },
  );

  test("that was made although the answer was a failure is found, and used", async () => {
    const payments = setUp({
      store: { beginCheckout: states("create", "open") },
      provider: {
        createSession: () => Promise.reject(failure(500)),
        findSession: async () => session,
      },
    });
    expect((await post(payments)).status).toBe(200);
    expect(steps(payments)).toEqual(["createSession", "findSession", "recordSession"]);
    expect(named(payments.calls, "findSession")).toEqual([
      [
        "findSession",
        ACCOUNT,
        ATTEMPT,
        {
          since: attempt.created_at - 60,
          until: Date.parse(attempt.expires_at) / 1000 - 29 * 60,
        },
      ],
    ]);
  });

  test("is tried under a new key only once the failed one has surely made nothing", async () => {
    let tries = 0;
    const payments = setUp({
      store: { beginCheckout: states("create", "create", "open") },
      provider: {
        createSession: () =>
          ++tries === 1 ? Promise.reject(failure(500)) : Promise.resolve(session),
      },
    });
    expect((await post(payments)).status).toBe(200);
    expect(steps(payments)).toEqual([
      "createSession",
      "findSession",
      "failCheckout",
      "createSession",
      "recordSession",
    ]);
    expect(payments.logged).toEqual([]);
  });

  test("is not given up where the look-up fails too", async () => {
    const payments = setUp({
      store: { beginCheckout: states("create") },
      provider: {
        createSession: () => Promise.reject(failure(500)),
        findSession: () => Promise.reject(failure(undefined)),
      },
    });
    expect(await errorOf(await post(payments))).toEqual([502, "payment_provider_unavailable"]);
    expect(steps(payments)).toEqual(["createSession", "findSession"]);
  });

  test("is given up after a few failures; the caller may come again", async () => {
    const payments = setUp({
      store: { beginCheckout: states("create") },
      provider: { createSession: () => Promise.reject(failure(500)) },
    });
    expect(await errorOf(await post(payments))).toEqual([502, "payment_provider_unavailable"]);
    expect(named(payments.calls, "beginCheckout").length).toBeLessThan(10);
    expect(payments.logged).toEqual([expect.objectContaining({ outcome: "answered" })]);
  });

  test("for too little is refused as the database would, and the attempt ends", async () => {
    const payments = setUp({
      store: { beginCheckout: states("create") },
      provider: { createSession: () => Promise.reject(failure(400, "amount_too_small")) },
    });
    expect(await errorOf(await post(payments))).toEqual([422, "amount_not_payable"]);
    expect(steps(payments)).toEqual(["createSession", "findSession", "failCheckout"]);
    expect(named(payments.calls, "failCheckout")).toEqual([
      ["failCheckout", ATTEMPT, "amount_too_small"],
    ]);
    expect(payments.logged).toEqual([]);
  });

  test("of an account that cannot charge is refused, and Stripe asked what it lacks", async () => {
    const lost = { can_charge: false, missing: ["bank account"], deauthorized: false };
    const payments = setUp({
      store: { beginCheckout: states("create") },
      provider: {
        createSession: () => Promise.reject(failure(402)),
        accountFacts: async () => lost,
      },
    });
    expect(await errorOf(await post(payments))).toEqual([422, "payments_unavailable"]);
    expect(named(payments.calls, "failCheckout", "recordAccount")).toEqual([
      ["failCheckout", ATTEMPT, "none"],
      ["recordAccount", ACCOUNT, lost],
    ]);
    expect(payments.logged).toEqual([]);
  });

  test("that Stripe refuses for another reason is in the log, with the reason alone", async () => {
    const refused = failure(400, "currency_not_supported");
    const payments = setUp({
      store: { beginCheckout: states("create") },
      provider: { createSession: () => Promise.reject(refused) },
    });
    expect(await errorOf(await post(payments))).toEqual([422, "payments_unavailable"]);
    expect(payments.logged).toEqual([refused]);
  });

  test("is not told to the caller before it is recorded", async () => {
    const down = new ServerRpcError("record_session", 503, "", new Headers());
    const payments = setUp({
      store: {
        beginCheckout: states("create", "open"),
        recordSession: () => Promise.reject(down),
      },
    });
    expect(await errorOf(await post(payments))).toEqual([500, "internal_error"]);
    expect(named(payments.calls, "failCheckout")).toEqual([]);
  });
});

describe("POST /refunds", () => {
  const due = task({
    kind: "refund",
    object_id: REFUND,
    refund: { id: REFUND, payment_intent: "pi_1", minor: 1000, provider_id: null },
  });
  const post = (payments: ReturnType<typeof setUp>, body: object = { payment_id: PAYMENT }) =>
    payments.call("POST", "refunds", body, asAna);
  const withTask = (changed: Parameters<typeof setUp>[0] = {}) =>
    setUp({ ...changed, store: { claim: async () => [due], ...changed.store } });

  test("is begun by the database, made at Stripe under its id, recorded and finished", async () => {
    const payments = withTask();
    const body = { payment_id: PAYMENT, amount: 10.5, reason: "too late" };
    const response = await post(payments, body);
    expect([response.status, await response.json()]).toEqual([
      200,
      { refund_id: REFUND, status: "succeeded" },
    ]);
    expect(payments.calls).toEqual([
      ["beginRefund", token, body],
      ["claim", 1, REFUND],
      ["findRefund", ACCOUNT, REFUND, "pi_1"],
      ["createRefund", ACCOUNT, REFUND, { payment_intent: "pi_1", amount: 1000 }],
      ["recordRefund", ACCOUNT, refund],
      ["finish", due, null],
    ]);
  });

  test("says that it is on its way", async () => {
    const payments = withTask({
      provider: { createRefund: async () => ({ ...refund, status: "pending" }) },
    });
    const response = await post(payments);
    expect([response.status, await response.json()]).toEqual([
      202,
      { refund_id: REFUND, status: "pending" },
    ]);
  });

  test("is left to the dispatcher where that was faster", async () => {
    const payments = setUp();
    const response = await post(payments);
    expect([response.status, await response.json()]).toEqual([
      202,
      { refund_id: REFUND, status: "due" },
    ]);
    expect(named(payments.calls, "createRefund")).toEqual([]);
  });

  test.each([undefined, 401, 429, 500])(
    "is no failure where it is unclear, or the caller would begin another: status %s",
    async (status) => {
      const unclear = failure(status);
      const payments = withTask({ provider: { createRefund: () => Promise.reject(unclear) } });
      const response = await post(payments);
      expect([response.status, await response.json()]).toEqual([
        202,
        { refund_id: REFUND, status: "due" },
      ]);
      expect(named(payments.calls, "failRefund")).toEqual([]);
      expect(named(payments.calls, "finish")).toEqual([["finish", due, 60]]);
      expect(payments.logged).toEqual([unclear]);
    },
  );

  test("is no failure either where the database does not answer any more", async () => {
    const down = new ServerRpcError("claim_payment_tasks", 503, "", new Headers());
    for (const store of [
      { claim: () => Promise.reject(down) },
      { recordRefund: () => Promise.reject(down) },
      { finish: () => Promise.reject(down) },
    ] satisfies Partial<PaymentStore>[]) {
      const payments = withTask({ store });
      expect((await post(payments)).status).toBe(202);
      expect(payments.logged).toEqual([down]);
    }
  });

  test.each([
    ["charge_disputed", 409, "payment_disputed"],
    ["charge_already_refunded", 422, "refund_exceeds_payment"],
    ["some_other_code", 422, "refund_refused"],
  ])("that Stripe refuses with %s is %s %s, and ends", async (reason, status, code) => {
    const refused = failure(400, reason);
    const payments = withTask({ provider: { createRefund: () => Promise.reject(refused) } });
    expect(await errorOf(await post(payments))).toEqual([status, code]);
    expect(named(payments.calls, "failRefund", "finish", "recordRefund")).toEqual([
      ["failRefund", REFUND, reason],
      ["finish", due, null],
    ]);
  });

  test("that the database refuses is not asked of Stripe", async () => {
    const refused = new ApiError(422, "refund_exceeds_payment", "no");
    const payments = withTask({ store: { beginRefund: () => Promise.reject(refused) } });
    expect(await errorOf(await post(payments))).toEqual([422, "refund_exceeds_payment"]);
    expect(named(payments.calls, "claim", "createRefund")).toEqual([]);
  });
});

describe("what the database is asked", () => {
  const asked: unknown[] = [];
  const store = paymentStore(
    async (...call) => {
      asked.push(call);
      return '{"account_id": "acct_1", "livemode": true, "checked_at": "1.10"}';
    },
    async (...call) => {
      asked.push(call);
      return [] as never;
    },
  );

  test("as the user: an account is shown as it came", async () => {
    expect(await store.account("token")).toEqual({
      id: "acct_1",
      livemode: true,
      body: '{"account_id": "acct_1", "livemode": true, "checked_at": "1.10"}',
    });
    await store.authorizeCheckout("token", ORDER);
    await store.beginRefund("token", { payment_id: PAYMENT, amount: 1.5 });
    expect(asked.splice(0)).toEqual([
      ["token", "payment_account", {}],
      ["token", "authorize_checkout", { order_id: ORDER }],
      ["token", "begin_refund", { payment_id: PAYMENT, amount: 1.5 }],
    ]);
    const none = paymentStore(
      async () => "null",
      () => Promise.reject(new Error("not used here")),
    );
    expect(await none.account("token")).toBeNull();
  });

  test("with the secret key: the names are those of the RPCs", async () => {
    const done = task();
    await store.attach(ANA, ATTEMPT, ACCOUNT, false);
    await store.recordAccount(ACCOUNT, facts);
    await store.recordSession(ACCOUNT, session);
    await store.failCheckout(ATTEMPT, "amount_too_small");
    await store.recordRefund(ACCOUNT, refund);
    await store.failRefund(REFUND, "charge_disputed");
    await store.ring(ACCOUNT, "refund", "re_1", false);
    await store.claim(10);
    await store.claim(1, REFUND);
    await store.finish(done, 60);
    expect(asked.splice(0)).toEqual([
      [
        "attach_payment_account",
        { professional_id: ANA, attempt_id: ATTEMPT, account_id: ACCOUNT, livemode: false },
      ],
      ["record_payment_account", { account_id: ACCOUNT, facts }],
      ["record_session", { account_id: ACCOUNT, session }],
      ["fail_checkout", { checkout_id: ATTEMPT, code: "amount_too_small" }],
      ["record_refund", { account_id: ACCOUNT, refund }],
      ["fail_refund", { refund_id: REFUND, code: "charge_disputed" }],
      ["ring_payment", { account_id: ACCOUNT, kind: "refund", object_id: "re_1", livemode: false }],
      ["claim_payment_tasks", { max_count: 10, object_id: null }],
      ["claim_payment_tasks", { max_count: 1, object_id: REFUND }],
      [
        "finish_payment_task",
        { task_id: done.task_id, claim_token: done.claim_token, retry_after: 60 },
      ],
    ]);
  });
});

describe("what the database refuses", () => {
  const answering = (status: number, code: string) =>
    paymentStore(
      () => Promise.reject(new Error("not used here")),
      (name) => {
        const body = JSON.stringify({ code, message: "no" });
        return Promise.reject(new ServerRpcError(name, status, body, new Headers()));
      },
    );
  const wanted = { order_id: ORDER, token: null, ...PAGES, livemode: false };
  const outcome = (call: Promise<unknown>) =>
    call.catch((error) => [error.name, error.status, error.code]);

  test.each([
    [404, "PGRST301"],
    [409, "hold_expired"],
    [422, "nothing_due"],
    [429, "busy"],
  ])("of a checkout is told: %s %s", async (status, code) => {
    const told = await outcome(answering(status, code).beginCheckout(wanted));
    expect(told).toEqual(["ApiError", status, code]);
  });

  test.each([
    [404, "PGRST202"],
    [400, "22P02"],
    [401, "PGRST301"],
    [503, "PGRST002"],
  ])("for a fault of ours is not: %s %s", async (status, code) => {
    const told = await outcome(answering(status, code).beginCheckout(wanted));
    expect(told).toEqual(["ServerRpcError", undefined, undefined]);
  });

  test("of a record is told only where somebody is in the way", async () => {
    const record = (status: number, code: string) =>
      outcome(answering(status, code).recordSession(ACCOUNT, session));
    expect(await record(429, "busy")).toEqual(["ApiError", 429, "busy"]);
    expect(await record(422, "nothing_due")).toEqual(["ServerRpcError", undefined, undefined]);
    expect(await record(404, "PGRST301")).toEqual(["ServerRpcError", undefined, undefined]);
  });
});

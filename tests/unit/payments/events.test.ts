/** Stripe's webhooks: only what Stripe has signed rings, and what it says beyond that is not believed. */
import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import { ServerRpcError } from "../../../supabase/functions/_shared/data-api.ts";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import { eventVerifier } from "../../../supabase/functions/payments/stripe.ts";
import { ACCOUNT, errorOf, NOW, named, SECRETS, setUp } from "../../support/payment-function.ts";

const SECOND = NOW.getTime() / 1000;

const event = (type: string, changed: object = {}) => ({
  id: "evt_1",
  object: "event",
  type,
  livemode: false,
  account: ACCOUNT,
  data: {
    object: { id: "cs_1", status: "complete", payment_status: "paid", amount_total: 999999 },
  },
  ...changed,
});

const sign = (payload: string, secret: string, timestamp = SECOND) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });

/** Posts bytes as Stripe does; signs them unless a header is given. */
async function send(
  { handle }: Pick<ReturnType<typeof setUp>, "handle">,
  body: string | Uint8Array<ArrayBuffer>,
  signature: string | null = sign(String(body), SECRETS[0] as string),
) {
  return handle(
    new Request("https://api.example/payments/stripe", {
      method: "POST",
      headers: signature === null ? {} : { "stripe-signature": signature },
      body,
    }),
  );
}

const completed = JSON.stringify(event("checkout.session.completed"));

describe("an event", () => {
  test.each(SECRETS)("signed with a secret of ours rings: %s", async (secret) => {
    const payments = setUp();
    expect((await send(payments, completed, sign(completed, secret))).status).toBe(200);
    expect(payments.calls).toEqual([["ring", ACCOUNT, "checkout", "cs_1", false]]);
  });

  test.each([
    ["of another secret", completed, sign(completed, "whsec_of_somebody_else_entirely")],
    ["of an old timestamp", completed, sign(completed, SECRETS[0] as string, SECOND - 301)],
    [
      "with a changed byte",
      completed.replace("cs_1", "cs_2"),
      sign(completed, SECRETS[0] as string),
    ],
    ["with a byte more", `${completed}\n`, sign(completed, SECRETS[0] as string)],
    ["with a mark before it", `\uFEFF${completed}`, sign(completed, SECRETS[0] as string)],
    ["with nothing in it", "", sign("", SECRETS[0] as string)],
    ["without a signature", completed, null],
    ["with an empty signature", completed, ""],
    ["with a timestamp that is none", completed, `t=now,v1=${"0".repeat(64)}`],
    [
      "of the scheme before",
      completed,
      sign(completed, SECRETS[0] as string).replace("v1=", "v0="),
    ],
  ])("%s is 400, and nothing is written", async (_, body, signature) => {
    const payments = setUp();
    const response = await send(payments, body, signature);
    expect(await errorOf(response)).toEqual([400, "invalid_signature"]);
    expect(payments.calls).toEqual([]);
    expect(payments.logged).toEqual([]);
  });

  test("of bytes that are no text is 400, although replaced they would be the signed ones", async () => {
    const signed = completed.replace("evt_1", "\uFFFD");
    const [before = "", after = ""] = signed.split("\uFFFD");
    const bytes = new TextEncoder();
    const changed = Uint8Array.from([...bytes.encode(before), 0xff, ...bytes.encode(after)]);
    const payments = setUp();
    const response = await send(payments, changed, sign(signed, SECRETS[0] as string));
    expect(await errorOf(response)).toEqual([400, "invalid_signature"]);
    expect(payments.calls).toEqual([]);
  });

  test("is good for five minutes, to the second", async () => {
    const payments = setUp();
    const old = sign(completed, SECRETS[0] as string, SECOND - 300);
    expect((await send(payments, completed, old)).status).toBe(200);
  });

  test("of a megabyte is 413 before its signature is looked at", async () => {
    const payments = setUp();
    const body = JSON.stringify(event("checkout.session.completed", { x: "x".repeat(1_000_000) }));
    expect(await errorOf(await send(payments, body))).toEqual([413, "payload_too_large"]);
    expect(payments.calls).toEqual([]);
  });

  test.each([
    ["checkout.session.completed", "checkout", "cs_1"],
    ["checkout.session.async_payment_succeeded", "checkout", "cs_1"],
    ["checkout.session.async_payment_failed", "checkout", "cs_1"],
    ["checkout.session.expired", "checkout", "cs_1"],
    ["refund.created", "refund", "cs_1"],
    ["refund.updated", "refund", "cs_1"],
    ["refund.failed", "refund", "cs_1"],
    ["charge.dispute.created", "dispute", "cs_1"],
    ["charge.dispute.closed", "dispute", "cs_1"],
    ["charge.dispute.funds_withdrawn", "dispute", "cs_1"],
    ["charge.dispute.funds_reinstated", "dispute", "cs_1"],
    ["account.application.deauthorized", "account", ACCOUNT],
  ])("%s rings for its %s", async (type, kind, objectId) => {
    const payments = setUp();
    expect((await send(payments, JSON.stringify(event(type)))).status).toBe(200);
    expect(payments.calls).toEqual([["ring", ACCOUNT, kind, objectId, false]]);
  });

  test.each([
    event("payment_intent.succeeded"),
    event("charge.refunded"),
    event("checkout.session.completed", { account: undefined }),
    event("checkout.session.completed", { account: "../../other" }),
    event("checkout.session.completed", { data: { object: {} } }),
    event("checkout.session.completed", { data: null }),
    { object: "v2.core.event", id: "evt_1", type: "v2.core.account.updated" },
    [],
    "event",
    null,
  ])("that is no business of ours is 200 and no more: %j", async (body) => {
    const payments = setUp();
    expect((await send(payments, JSON.stringify(body))).status).toBe(200);
    expect(payments.calls).toEqual([]);
    expect(payments.logged).toEqual([]);
  });

  test("that is signed and no JSON is 200 and no more", async () => {
    const payments = setUp();
    expect((await send(payments, "{")).status).toBe(200);
    expect(payments.calls).toEqual([]);
  });

  test("of the other mode is 200 and one line, and rings for nothing", async () => {
    const payments = setUp();
    const live = event("checkout.session.completed", { livemode: true });
    expect((await send(payments, JSON.stringify(live))).status).toBe(200);
    expect(payments.calls).toEqual([]);
    expect(payments.debugged).toEqual([
      { ignored: "other mode", event: "evt_1", type: "checkout.session.completed" },
    ]);

    const inLive = setUp({ provider: { livemode: true } });
    expect((await send(inLive, completed)).status).toBe(200);
    expect(inLive.calls).toEqual([]);
    expect(inLive.debugged).toHaveLength(1);
    await send(inLive, JSON.stringify(live));
    expect(inLive.calls).toEqual([["ring", ACCOUNT, "checkout", "cs_1", true]]);
  });

  test("of an account that nobody has connected is 200 and one line", async () => {
    const payments = setUp({ store: { ring: async () => false } });
    expect((await send(payments, completed)).status).toBe(200);
    expect(payments.debugged).toEqual([
      { ignored: "unknown account", event: "evt_1", type: "checkout.session.completed" },
    ]);
    expect(payments.logged).toEqual([]);
  });

  test("is sent again by Stripe when our database is down", async () => {
    const down = new ServerRpcError("ring_payment", 503, "", new Headers());
    const payments = setUp({ store: { ring: () => Promise.reject(down) } });
    expect(await errorOf(await send(payments, completed))).toEqual([500, "internal_error"]);
    expect(payments.logged).toEqual([down]);
  });

  test("only rings: what it says of the payment goes nowhere", async () => {
    const payments = setUp();
    await send(payments, completed);
    expect(named(payments.calls, "recordSession", "session", "claim")).toEqual([]);
  });
});

describe("the secrets", () => {
  const verifier = (secrets: string | undefined) =>
    eventVerifier(
      () => secrets,
      () => NOW,
    );

  test.each(["whsec_", "whsec_short", "sk_test_0123456789abcdef", `${SECRETS[0]},`, ","])(
    "%s are none: the function does not start, and does not quote them",
    (secrets) => {
      expect(() => verifier(secrets)).toThrow(EnvError);
      expect(() => verifier(secrets)).not.toThrow(SECRETS[0]);
    },
  );

  test("may be absent: then no event is taken", async () => {
    expect(verifier(undefined)).toBeUndefined();
    const payments = setUp();
    const { payments: configured } = setUpWithoutEvents();
    expect(await errorOf(await send(configured, completed))).toEqual([
      503,
      "payments_not_configured",
    ]);
    expect((await send(payments, completed)).status).toBe(200);
  });
});

function setUpWithoutEvents() {
  const whole = setUp();
  const payments = setUp({
    deps: {
      payments: { provider: whole.provider, checkReturnUrl: () => {}, verifyEvent: undefined },
    },
  });
  return { payments };
}

/** The dispatcher: each task ends in recording what Stripe says now, once, whatever went wrong in between. */
import { describe, expect, test } from "vitest";
import { ServerRpcError } from "../../../supabase/functions/_shared/data-api.ts";
import type { Task } from "../../../supabase/functions/payments/store.ts";
import {
  ACCOUNT,
  ATTEMPT,
  attempt,
  facts,
  failure,
  NOW,
  named,
  REFUND,
  refund,
  session,
  setUp,
  task,
} from "../../support/payment-function.ts";

type Changed = Parameters<typeof setUp>[0];

/** Rings the dispatcher with these tasks due, and waits for its work. */
async function run(due: Task[], changed: Changed = {}) {
  const left = [...due];
  const payments = setUp({
    ...changed,
    store: { claim: async (count) => left.splice(0, count), ...changed?.store },
  });
  const response = await payments.call("POST", "dispatch", undefined, { apikey: "right" });
  expect(response.status).toBe(202);
  await Promise.all(payments.tasks);
  return { ...payments, steps: payments.calls.filter(([name]) => name !== "claim") };
}

const fails = (status: number | undefined, code?: string) => () =>
  Promise.reject(failure(status, code));

describe("a session", () => {
  const due = task({ checkout: attempt });

  test("is asked for and recorded", async () => {
    const { steps } = await run([due]);
    expect(steps).toEqual([
      ["session", ACCOUNT, "cs_1"],
      ["recordSession", ACCOUNT, session],
      ["finish", due, null],
    ]);
  });

  test("on which nobody may pay any more is ended first; paid on before, it is recorded as paid", async () => {
    for (const state of [
      { ...session, status: "expired" },
      { ...session, status: "complete", payment_status: "paid", payment_intent: "pi_1" },
    ]) {
      const over = task({ checkout: { ...attempt, expire: true } });
      const { steps } = await run([over], { provider: { expireSession: async () => state } });
      expect(steps).toEqual([
        ["expireSession", ACCOUNT, "cs_1"],
        ["recordSession", ACCOUNT, state],
        ["finish", over, null],
      ]);
    }
  });

  test("that an event knows before its attempt does is asked for by the event's id", async () => {
    const early = task({ checkout: { ...attempt, session_id: null }, object_id: "cs_7" });
    expect((await run([early])).steps[0]).toEqual(["session", ACCOUNT, "cs_7"]);
    const unknown = task({ object_id: "cs_8" });
    expect((await run([unknown])).steps.slice(0, 2)).toEqual([
      ["session", ACCOUNT, "cs_8"],
      ["recordSession", ACCOUNT, session],
    ]);
  });

  const unclear = task({ checkout: { ...attempt, session_id: null }, object_id: ATTEMPT });

  test("whose making was unclear is looked up by its attempt", async () => {
    const { steps } = await run([unclear], { provider: { findSession: async () => session } });
    expect(steps.map(([name]) => name)).toEqual(["findSession", "recordSession", "finish"]);
  });

  test("that was never made ends its attempt, and none is made for it", async () => {
    const { steps } = await run([unclear]);
    expect(steps.slice(1)).toEqual([
      ["failCheckout", ATTEMPT, "not_found"],
      ["finish", unclear, null],
    ]);
  });

  test("that is found open although nobody may pay on it is ended", async () => {
    const over = { ...unclear, checkout: { ...attempt, session_id: null, expire: true } };
    const { steps } = await run([over], { provider: { findSession: async () => session } });
    expect(steps.slice(1, 3)).toEqual([
      ["expireSession", ACCOUNT, "cs_1"],
      ["recordSession", ACCOUNT, { ...session, status: "expired" }],
    ]);
  });

  test("of an account that was taken away from us ends its attempt", async () => {
    const gone = { can_charge: false, missing: [], deauthorized: true };
    const { steps, logged } = await run([due], {
      provider: { session: fails(403, "account_invalid"), accountFacts: async () => gone },
    });
    expect(steps.slice(1)).toEqual([
      ["accountFacts", ACCOUNT],
      ["recordAccount", ACCOUNT, gone],
      ["failCheckout", ATTEMPT, "account_invalid"],
      ["finish", due, null],
    ]);
    expect(logged).toHaveLength(1);
  });
});

describe("a refund", () => {
  const own = { id: REFUND, payment_intent: "pi_1", minor: 1000, provider_id: null };
  const due = task({ kind: "refund", object_id: REFUND, refund: own });

  test("that is due is made once: what an earlier try has made is found", async () => {
    const { steps } = await run([due], { provider: { findRefund: async () => refund } });
    expect(steps).toEqual([
      ["findRefund", ACCOUNT, REFUND, "pi_1"],
      ["recordRefund", ACCOUNT, refund],
      ["finish", due, null],
    ]);
  });

  test.each([
    ["by its own id", { ...due, refund: { ...own, provider_id: "re_7" } }],
    ["by the event's", { ...due, object_id: "re_7" }],
    ["made in Stripe's dashboard", { ...due, object_id: "re_7", refund: null }],
  ])("that is there is looked at and not made: %s", async (_, there) => {
    const { steps } = await run([there]);
    expect(steps).toEqual([
      ["refund", ACCOUNT, "re_7"],
      ["recordRefund", ACCOUNT, refund],
      ["finish", there, null],
    ]);
  });

  test("that Stripe refuses ends as failed", async () => {
    const { steps, logged } = await run([due], {
      provider: { createRefund: fails(400, "charge_already_refunded") },
    });
    expect(steps.slice(2)).toEqual([
      ["failRefund", REFUND, "charge_already_refunded"],
      ["finish", due, null],
    ]);
    expect(logged).toHaveLength(1);
  });

  test("is not made before it is known whether it is there", async () => {
    const { steps } = await run([due], { provider: { findRefund: fails(undefined) } });
    expect(named(steps, "createRefund", "failRefund")).toEqual([]);
    expect(named(steps, "finish")).toEqual([["finish", due, 60]]);
  });

  test("is never given up for a failure that may have had its effect", async () => {
    for (const status of [undefined, 409, 500]) {
      const { steps } = await run([due], { provider: { createRefund: fails(status) } });
      expect(named(steps, "failRefund", "recordRefund")).toEqual([]);
      expect(named(steps, "finish")).toEqual([["finish", due, 60]]);
    }
  });
});

test("a dispute is asked for, with what it moved", async () => {
  const due = task({ kind: "dispute", object_id: "dp_1" });
  const { steps } = await run([due]);
  expect(steps.map(([name]) => name)).toEqual(["dispute", "recordDispute", "finish"]);
  expect(steps[1]?.[2]).toMatchObject({ id: "dp_1", payment_intent: "pi_1" });
});

test("an account is asked what it can do", async () => {
  const due = task({ kind: "account", object_id: ACCOUNT });
  const { steps } = await run([due]);
  expect(steps).toEqual([
    ["accountFacts", ACCOUNT],
    ["recordAccount", ACCOUNT, facts],
    ["finish", due, null],
  ]);
});

describe("a task", () => {
  const due = task({ checkout: attempt });

  test("of the other mode is left for a day: a wrong key takes no account away", async () => {
    const live = task({ kind: "account", object_id: ACCOUNT, livemode: true });
    expect((await run([live])).steps).toEqual([["finish", live, 86_400]]);
    const { steps } = await run([live], { provider: { livemode: true } });
    expect(steps.map(([name]) => name)).toEqual(["accountFacts", "recordAccount", "finish"]);
  });

  test("of the other mode keeps no time for a page that has ended by the clock", async () => {
    const page = (seconds: number) => {
      const expires_at = new Date(NOW.getTime() + seconds * 1000).toISOString();
      return task({ checkout: { ...attempt, expires_at }, livemode: true });
    };
    const open = page(90);
    expect((await run([open])).steps).toEqual([["finish", open, 90]]);
    const ended = page(0);
    expect((await run([ended])).steps).toEqual([
      ["failCheckout", attempt.id, "other_mode"],
      ["finish", ended, 86_400],
    ]);
  });

  test.each([
    [0, 60],
    [1, 120],
    [3, 480],
    [6, 3600],
    [2000, 3600],
  ])("that failed %i times before waits %i seconds", async (attempts, seconds) => {
    const { steps, logged } = await run([{ ...due, attempts }], {
      provider: { session: fails(500) },
    });
    expect(named(steps, "finish")[0]?.[2]).toBe(seconds);
    expect(logged).toHaveLength(1);
  });

  test.each([
    ["900", 900],
    ["5", 60],
    ["soon", 60],
  ])("waits as long as Stripe asks, but not less: Retry-After %s", async (wait, seconds) => {
    const limited = failure(429, "rate_limit", { "retry-after": wait });
    const { steps } = await run([due], { provider: { session: () => Promise.reject(limited) } });
    expect(named(steps, "finish")[0]?.[2]).toBe(seconds);
  });

  test("is left to its lease where the database fails, and holds up no other", async () => {
    const down = new ServerRpcError("record_session", 503, "", new Headers());
    const other = task({ kind: "account", object_id: ACCOUNT });
    const { steps, logged } = await run([due, other], {
      store: { recordSession: () => Promise.reject(down) },
    });
    expect(named(steps, "finish")).toEqual([["finish", other, null]]);
    expect(logged).toEqual([down]);
  });

  test("is one of a hundred of a run: the platform limits the time of a call", async () => {
    const many = Array.from({ length: 1000 }, () => task({ kind: "account", object_id: ACCOUNT }));
    const { steps } = await run(many);
    expect(named(steps, "finish")).toHaveLength(100);
  });
});

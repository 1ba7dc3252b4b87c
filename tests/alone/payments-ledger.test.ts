/** Refunds, disputes, accounts and events of Stripe, and what the ledger makes of them. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { OLD_WEBHOOK_SECRET, startPaymentsStack } from "../support/payments-stack.ts";
import type { Event } from "../support/stripe.ts";

const { fake, output, secrets, webhook } = await startPaymentsStack();
fake.webhook = webhook;

const {
  accountOf,
  askToPay,
  hold,
  isQuiet,
  ledger,
  lookNow,
  merchant,
  movements,
  openPage,
  orderOf,
  paidService,
  payments,
  refund,
  statusOf,
  untilMovements,
  untilStatus,
} = await import("../support/payments-over-http.ts");
const { findings } = await import("../support/commerce.ts");
const { sql } = await import("../support/database.ts");
const { answerOf, eventsOf, record, refusalOf, until } = await import("../support/webhooks.ts");

afterEach(() => {
  fake.webhook = webhook;
  fake.refundsAre = "succeeded";
});

/** A booking that is paid: 60.50 in one payment. */
async function paid(values: Parameters<typeof paidService>[1] = {}) {
  const ana = await merchant(fake);
  const service = await paidService(ana, values);
  const held = await hold(service);
  const page = await openPage(held);
  fake.pay(page.session);
  await untilStatus(held, "confirmed");
  const [payment] = await ledger(held);
  if (!payment?.reference) throw new Error("nothing was paid");
  return { ana, service, held, page, payment, intent: payment.reference };
}

/** A connection of its own, since the function ends it before it has read everything. */
async function statusOfLongBody(): Promise<number | undefined> {
  const outgoing = request(webhook.url, { method: "POST", agent: false });
  outgoing.on("error", () => {});
  outgoing.end(" ".repeat(1_000_000));
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  incoming.resume();
  return incoming.statusCode;
}

/** Rows of everything that an event may write. */
async function everything(): Promise<unknown> {
  const [row] = await sql`
    select
      (select jsonb_agg(p order by id) from private.payments p) as payments,
      (select jsonb_agg(t order by object_id) from private.payment_tasks t) as tasks,
      (select jsonb_agg(c order by id) from private.checkouts c) as checkouts`;
  return row;
}

describe("a refund", () => {
  test("goes to the cent and no further, and is in the ledger once", async () => {
    const { ana, held, payment, intent } = await paid();
    const first = await refund(ana, { payment_id: payment.id, amount: 20.25, reason: "late" });
    expect([first.status, await first.json()]).toEqual([
      200,
      expect.objectContaining({ status: "succeeded" }),
    ]);
    await untilMovements(held, ["payment 60.5", "refund 20.25"]);
    expect(await refusalOf(refund(ana, { payment_id: payment.id, amount: 40.26 }))).toMatchObject({
      status: 422,
      code: "refund_exceeds_payment",
      details: { refundable: 40.25 },
    });
    await refund(ana, { payment_id: payment.id });
    await untilMovements(held, ["payment 60.5", "refund 20.25", "refund 40.25"]);
    expect(fake.books()[intent]).toEqual({ received: 6050, refunded: 6050, disputed: 0 });
    expect(await orderOf(held)).toMatchObject({ payment_status: "refunded" });
    const { status } = await refund(ana, { payment_id: payment.id });
    expect(status).toBe(422);
    await isQuiet();
    expect(await movements(held)).toHaveLength(3);
    expect(await findings(ana)).toEqual([]);
  });

  test("is the professional's own to give", async () => {
    const { payment } = await paid();
    const bob = await merchant(fake);
    expect(await refusalOf(refund(bob, { payment_id: payment.id }))).toMatchObject({ status: 404 });
    const cash = await paid({ payment: "deposit", deposit: 20 } as never);
    await cash.ana.api.rpc("record_payment", {
      order_id: cash.held.order_id,
      amount: 1,
      method: "cash",
    });
    const typed = (await ledger(cash.held)).find(({ provider }) => provider === "manual");
    expect(await refusalOf(refund(cash.ana, { payment_id: typed?.id as string }))).toMatchObject({
      status: 422,
      code: "not_a_provider_payment",
    });
  });

  test("by the route and by a webhook at one moment is one entry", async () => {
    const { ana, held, payment, intent } = await paid();
    await Promise.all([
      refund(ana, { payment_id: payment.id, amount: 10 }),
      ...fake.events
        .filter(({ account }) => account === ana.account)
        .map(async (event) => (await fake.deliver(event, webhook)).arrayBuffer()),
    ]);
    const event = fake.events.findLast(({ type }) => type === "refund.created") as Event;
    await Promise.all(
      Array.from({ length: 10 }, async () => (await fake.deliver(event, webhook)).arrayBuffer()),
    );
    await untilMovements(held, ["payment 60.5", "refund 10"]);
    await isQuiet();
    expect(await movements(held)).toHaveLength(2);
    expect(fake.books()[intent]?.refunded).toBe(1000);
  });

  test("made in Stripe's dashboard is in the ledger too", async () => {
    const { ana, held, intent } = await paid();
    fake.refundAtStripe(intent, 1234);
    const entries = await untilMovements(held, ["payment 60.5", "refund 12.34"]);
    expect(entries[1]).toMatchObject({
      provider: "stripe",
      reference: expect.stringMatching(/^re_/),
    });
    expect(await findings(ana)).toEqual([]);
  });

  test.each(["failed", "canceled"] as const)(
    "that is %s at Stripe is taken back, and may be given again",
    async (end) => {
      const { ana, held, payment, intent } = await paid();
      fake.refundsAre = "pending";
      const response = await refund(ana, { payment_id: payment.id });
      fake.refundsAre = "succeeded";
      expect([response.status, await response.json()]).toEqual([
        202,
        // The dispatcher may have been faster.
        expect.objectContaining({ status: expect.stringMatching(/^(due|pending)$/) }),
      ]);
      await untilMovements(held, ["payment 60.5", "refund 60.5"]);
      fake.settleRefund(fake.refunds().at(-1)?.id as string, end);
      await until(
        () => orderOf(held),
        ({ payment_status }) => payment_status === "paid",
        20,
      );
      const back = (await movements(held)).filter((line) => line.startsWith("refund"));
      expect([[], ["refund 60.5", "refund_reversal 60.5"]]).toContainEqual(back);
      expect(fake.books()[intent]?.refunded).toBe(0);
      expect((await refund(ana, { payment_id: payment.id })).status).toBe(200);
      await until(
        () => orderOf(held),
        ({ payment_status }) => payment_status === "refunded",
        20,
      );
      expect(await findings(ana)).toEqual([]);
    },
  );

  test("that is pending is asked for daily, so a lost webhook loses nothing", async () => {
    const { ana, held, payment } = await paid();
    // What rings late would find it as it is then.
    fake.webhook = undefined;
    fake.refundsAre = "pending";
    await refund(ana, { payment_id: payment.id, amount: 5 });
    fake.refundsAre = "succeeded";
    const { id } = fake.refunds().at(-1) ?? { id: "" };
    fake.settleRefund(id, "succeeded");
    await isQuiet();
    const [task] = await sql<{ hours: number }[]>`
      select (extract(epoch from due_at - now()) / 3600)::float8 as hours
      from private.payment_tasks where object_id = ${id} or object_id = (
        select r.id::text from private.provider_refunds r where r.provider_id = ${id})`;
    expect(task?.hours).toBeGreaterThan(0);
    expect(task?.hours).toBeLessThanOrEqual(24);
    await lookNow();
    await until(
      () => sql<{ status: string }[]>`
        select status from private.provider_refunds where provider_id = ${id}`,
      ([row]) => row?.status === "succeeded",
      20,
    );
    fake.webhook = webhook;
    expect(await movements(held)).toEqual(["payment 60.5", "refund 5"]);
  });
});

describe("a dispute", () => {
  test("takes the money, and gives it back when it is won; meanwhile nothing is refunded", async () => {
    const { ana, held, payment, intent } = await paid();
    await record(ana);
    const { dispute } = fake.dispute(intent);
    await untilMovements(held, ["payment 60.5", "dispute 60.5"]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "refunded" });
    expect((await eventsOf(ana)).map(({ type }) => type)).toContain("payment.disputed");
    expect(await refusalOf(refund(ana, { payment_id: payment.id }))).toMatchObject({
      status: 409,
      code: "payment_disputed",
    });
    fake.closeDispute(dispute, "won");
    await untilMovements(held, ["payment 60.5", "dispute 60.5", "dispute_reversal 60.5"]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "paid" });
    expect(await findings(ana)).toEqual([]);
  });

  test("that is lost stays taken; one of a part takes a part", async () => {
    const { ana, held, intent } = await paid();
    const { dispute } = fake.dispute(intent, 2000);
    await untilMovements(held, ["payment 60.5", "dispute 20"]);
    fake.closeDispute(dispute, "lost");
    await fake.delivered();
    await isQuiet();
    expect(await movements(held)).toEqual(["dispute 20", "payment 60.5"]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "partially_refunded" });
    expect(await findings(ana)).toEqual([]);
  });
});

describe("an account that is let go", () => {
  test("closes what is open; what comes later is still known", async () => {
    const { ana, service, held, payment } = await paid();
    const open = await hold(service, "14:00");
    const page = await openPage(open);
    const response = await payments("/account", { method: "DELETE", token: ana.token });
    expect(response.status).toBe(204);
    await until(
      () => fake.session(page.session).status,
      (status) => status === "expired",
      20,
    );
    expect((await payments("/account", { method: "GET", token: ana.token })).status).toBe(404);
    expect(await refusalOf(askToPay(open))).toMatchObject({ status: 422 });
    fake.refundAtStripe(payment.reference as string, 1000);
    await untilMovements(held, ["payment 60.5", "refund 10"]);
    expect(await findings(ana)).toEqual([]);
  });

  test("at Stripe, by its owner, can charge no more", async () => {
    const { ana, service } = await paid();
    fake.deauthorize(ana.account);
    await until(
      () => accountOf(ana),
      (account) => account?.can_charge !== true,
      20,
    );
    await expect(hold(service, "15:00")).rejects.toThrow("payments_unavailable");
  });
});

describe("an event", () => {
  test("ten times at one moment is one entry", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    const page = await openPage(held);
    fake.webhook = undefined;
    const event = fake.pay(page.session);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fake.deliver(event, webhook)),
    );
    fake.webhook = webhook;
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    await untilStatus(held, "confirmed");
    await isQuiet();
    expect(await movements(held)).toEqual(["payment 60.5"]);
    expect(await orderOf(held)).toMatchObject({ amount_paid: 60.5 });
  });

  test("says what to look at, not what is so: an expired one after the payment confirms it", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    const page = await openPage(held);
    fake.webhook = undefined;
    const completed = fake.pay(page.session);
    const expired = {
      ...completed,
      id: "evt_expired",
      type: "checkout.session.expired",
      data: { object: { ...completed.data.object, status: "expired", payment_status: "unpaid" } },
    };
    await fake.deliver(expired, webhook);
    fake.webhook = webhook;
    await untilStatus(held, "confirmed");
    await fake.deliver(completed, webhook);
    await isQuiet();
    expect(await movements(held)).toEqual(["payment 60.5"]);
  });

  test("of a method that settles days later is a payment when it has settled, not before", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    const page = await openPage(held);
    fake.pay(page.session, { later: true });
    await fake.delivered();
    await isQuiet();
    expect(await movements(held)).toEqual([]);
    expect(await statusOf(held)).toBe("pending");
    fake.settle(page.session, true);
    await untilStatus(held, "confirmed");
    expect(await movements(held)).toEqual(["payment 60.5"]);
  });

  test("of another amount than was asked for is recorded, and marked", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    const page = await openPage(held);
    fake.pay(page.session, { amount: 1050 });
    const [entry] = await untilMovements(held, ["payment 10.5"]);
    expect(entry?.flag).toBe("amount_differs");
    expect(await orderOf(held)).toMatchObject({ payment_status: "partially_paid" });
  });

  test("cannot be kept out by a reference that somebody typed", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    const page = await openPage(held);
    fake.webhook = undefined;
    const event = fake.pay(page.session);
    const reference = String(fake.session(page.session).payment_intent);
    const { error } = await ana.api.rpc("record_payment", {
      order_id: held.order_id,
      amount: 1,
      method: "cash",
      reference,
    });
    expect(error).toBeNull();
    fake.webhook = webhook;
    await fake.deliver(event, webhook);
    // What is too much goes back.
    await untilMovements(held, ["payment 1", "payment 60.5", "refund 1"]);
  });

  test("of the other mode, an unknown account or another type is taken, and writes nothing", async () => {
    const { ana, page } = await paid();
    await isQuiet();
    const before = await everything();
    const event = fake.events.find(
      ({ type, account }) => type === "checkout.session.completed" && account === ana.account,
    ) as Event;
    for (const change of [
      { livemode: true },
      { account: "acct_unknown" },
      { type: "customer.created" },
      { account: undefined as never },
    ]) {
      const response = await fake.deliver({ ...event, ...change }, webhook);
      expect(response.status).toBe(200);
    }
    await isQuiet();
    expect(await everything()).toEqual(before);
    expect(fake.session(page.session).status).toBe("complete");
  });

  test("is refused unless Stripe has signed it, lately and to the byte", async () => {
    const { ana } = await paid();
    await isQuiet();
    const event = fake.events.find(
      ({ type, account }) => type === "checkout.session.completed" && account === ana.account,
    ) as Event;
    const before = await everything();
    const now = Math.floor(Date.now() / 1000);
    const text = JSON.stringify({ object: "event", ...event });
    const tries = {
      "another secret": { ...webhook, secret: "whsec_of_somebody_else_entirely" },
      "an old signature": { ...webhook, timestamp: now - 301 },
      "a changed byte": { ...webhook, body: text.replace("evt_", "evt-") },
      "an empty body": { ...webhook, body: "" },
    };
    for (const [name, delivery] of Object.entries(tries)) {
      const response = await fake.deliver(event, delivery);
      expect([name, response.status]).toEqual([name, 400]);
    }
    const unsigned = await fetch(webhook.url, { method: "POST", body: text });
    expect(unsigned.status).toBe(400);
    expect(await statusOfLongBody()).toBe(413);
    expect(await everything()).toEqual(before);
    const older = await fake.deliver(event, { ...webhook, secret: OLD_WEBHOOK_SECRET });
    expect(older.status).toBe(200);
  });

  test("is one of a thousand at once, and each payment is there once", async () => {
    const sellers = await Promise.all(Array.from({ length: 5 }, () => merchant(fake)));
    const sales = (
      await Promise.all(
        sellers.map(async (ana) => {
          const service = await paidService(ana);
          const held = [];
          for (const time of ["09:00", "11:00"]) held.push(await hold(service, time));
          return Promise.all(held.map(async (of) => ({ of, page: await openPage(of) })));
        }),
      )
    ).flat();
    fake.webhook = undefined;
    const events = sales.map(({ page }) => fake.pay(page.session));
    const all = Array.from({ length: 1000 }, (_, n) => events[n % events.length] as Event);
    // Whoever is told to come again, or not heard at all, comes again, as Stripe does.
    const deliver = async (event: Event) => {
      for (let tries = 0; tries < 50; tries++) {
        const response = await fake.deliver(event, webhook).catch(() => undefined);
        await response?.arrayBuffer().catch(() => {});
        if (response?.ok) return "taken";
        if (response && response.status < 500 && response.status !== 429) return response.status;
      }
      return "lost";
    };
    const ends = await Promise.all(all.map(deliver));
    fake.webhook = webhook;
    expect(new Set(ends)).toEqual(new Set(["taken"]));
    for (const { of } of sales) await untilStatus(of, "confirmed");
    await isQuiet();
    for (const { of } of sales) expect(await movements(of)).toEqual(["payment 60.5"]);
  }, 120_000);
});

test("no key is in a row, a log or an answer", async () => {
  const texts = [...output];
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('public', 'private', 'cron', 'net')`;
  for (const { name } of tables) {
    const rows = await sql.unsafe(`select t::text as row from ${name} t`).catch(() => []);
    texts.push(...rows.map(({ row }) => String(row)));
  }
  expect(texts.length).toBeGreaterThan(100);
  const [key, ...others] = secrets as [string, ...string[]];
  // The scheduler's own secret is stored where the platform keeps it, and is looked for in logs only.
  for (const secret of [key, ...others.slice(0, 2)]) {
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  }
  expect(output.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
});

test("an account's answer shows nothing of the key", async () => {
  const ana = await merchant(fake);
  const body = await answerOf<object>(payments("/account", { method: "GET", token: ana.token }));
  expect(Object.keys(body).sort()).toEqual([
    "account_id",
    "can_charge",
    "checked_at",
    "livemode",
    "missing",
  ]);
});

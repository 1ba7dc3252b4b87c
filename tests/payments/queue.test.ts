/** The queue of payments: a bell is not a message, a claim is a lease, and what is recorded says when to look. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { server } from "../support/callers.ts";
import { answer, auditAfterEachTest, failure, outcome, SERVER } from "../support/commerce.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import {
  beginCheckout,
  beginRefund,
  claim,
  disputeOf,
  failCheckout,
  finish,
  isRung,
  ledger,
  lookIn,
  lookNow,
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
  ring,
  type Seller,
} from "../support/payment-rpcs.ts";
import { providerId } from "../support/payments.ts";

auditAfterEachTest();

const connections = parallelConnections(10);

const tasksOf = ({ id }: Seller) => sql<{ kind: string; object_id: string }[]>`
  select kind, object_id from private.payment_tasks
  where professional_id = ${id} and kind <> 'account' order by created_at`;

/** Claims a task that must be there. */
async function claimed(object_id: string) {
  const task = await claim(object_id);
  if (!task) throw new Error(`nothing is due of ${object_id}`);
  return task;
}

describe("a bell", () => {
  test("is for the account that is known, of its mode", async () => {
    const seller = await openSeller();
    const session = providerId("cs");
    expect(await ring("acct_nobody", "checkout", session)).toBe(false);
    expect(await ring(seller.account, "checkout", session, true)).toBe(false);
    expect(await tasksOf(seller)).toEqual([]);
    expect(await ring(seller.account, "checkout", session)).toBe(true);
    expect(await tasksOf(seller)).toEqual([{ kind: "checkout", object_id: session }]);
    expect(await claimed(session)).toMatchObject({
      kind: "checkout",
      account_id: seller.account,
      livemode: false,
      object_id: session,
      attempts: 0,
      // Nobody knows it here.
      checkout: null,
      refund: null,
    });
  });

  test("a thousand times at once is one look at each object", async () => {
    const sellers = await Promise.all([1, 2, 3, 4, 5].map(() => openSeller()));
    const objects = sellers.flatMap(({ account }) =>
      [1, 2].map(() => ({ account, id: providerId("cs") })),
    );
    await Promise.all(
      connections.map(async (connection, n) => {
        for (let i = 0; i < 100; i++) {
          const { account, id } = objects[(n + i) % objects.length] as (typeof objects)[number];
          await asCaller(
            SERVER,
            (tx) => tx`select public.ring_payment(${account}, 'checkout', ${id}, false)`,
            connection,
          );
        }
      }),
    );
    const rows = await sql<{ rang: number }[]>`
      select rang::integer as rang from private.payment_tasks
      where object_id in ${sql(objects.map(({ id }) => id))}`;
    expect(rows.map(({ rang }) => rang)).toEqual(Array(10).fill(100));
    for (const seller of sellers) expect(await tasksOf(seller)).toHaveLength(2);
  });

  test("for what we have made ourselves is for our own row of it", async () => {
    const { seller, checkout, paid, payment, intent } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    const refund = refundOf(intent, 6050, { attempt_id: refund_id });
    await recordRefund(seller.account, refund);
    await sql`delete from private.payment_tasks where professional_id = ${seller.id}`;
    await ring(seller.account, "checkout", paid.id);
    await ring(seller.account, "refund", refund.id);
    expect((await tasksOf(seller)).map(({ object_id }) => object_id)).toEqual([
      checkout.id,
      refund_id,
    ]);
  });

  test("while somebody looks is a second look", async () => {
    const seller = await openSeller();
    const object = providerId("du");
    await ring(seller.account, "dispute", object);
    const task = await claimed(object);
    await ring(seller.account, "dispute", object);
    // It is in hand.
    expect(await claim(object)).toBeUndefined();
    await finish(task);
    const second = await claimed(object);
    await finish(second);
    expect(await lookIn(object)).toBeNull();
  });

  test("is not put off by a plan", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { checkout, session } = await openPage(order);
    await ring(seller.account, "checkout", session.id);
    // Somebody else asks for the page, and has it recorded that it is open.
    await recordSession(seller.account, session);
    expect(await isRung(checkout.id)).toBe(true);
  });

  test.each<[string, object]>([
    ["account_id", { account_id: null }],
    ["kind", { kind: "customer" }],
    ["object_id", { object_id: "" }],
    ["object_id", { object_id: "x".repeat(256) }],
    ["livemode", { livemode: null }],
  ])("has a form: %s", async (field, values) => {
    const whole = { account_id: "acct_1", kind: "refund", object_id: "re_1", livemode: false };
    const call = server().rpc("ring_payment", { ...whole, ...values } as never);
    expect(await failure(call)).toMatchObject({ status: 422, details: { fields: [field] } });
  });
});

describe("a claim", () => {
  test("is one dispatcher's", async () => {
    const seller = await openSeller();
    const object = providerId("du");
    await ring(seller.account, "dispute", object);
    const claims = await Promise.all(
      connections.map((connection) =>
        asCaller(
          SERVER,
          (tx) => tx`select public.claim_payment_tasks(1, ${object}) as tasks`,
          connection,
        ),
      ),
    );
    expect(claims.filter(([row]) => row?.tasks.length > 0)).toHaveLength(1);
  });

  test("waits for nobody who is changing what it is about", async () => {
    const seller = await openSeller();
    const [order, other] = await Promise.all([orderFor(seller), orderFor(seller)]);
    const [page, free] = [await openPage(order), await openPage(other)];
    await ring(seller.account, "checkout", page.session.id);
    await ring(seller.account, "checkout", free.session.id);
    await sql.begin(async (tx) => {
      await tx`select from private.payment_tasks where object_id = ${page.checkout.id} for update`;
      expect(await claim(page.checkout.id)).toBeUndefined();
      expect(await claim(free.checkout.id)).toBeDefined();
    });
    expect(await claim(page.checkout.id)).toBeDefined();
  });

  test("of a dispatcher that died is another's after a minute, who counts it", async () => {
    const seller = await openSeller();
    const object = providerId("du");
    await ring(seller.account, "dispute", object);
    const dead = await claimed(object);
    expect(await lookIn(object)).toBe(1);
    await lookNow(object);
    const next = await claimed(object);
    expect([dead.attempts, next.attempts]).toEqual([0, 1]);
    expect(next.claim_token).not.toBe(dead.claim_token);
    // Whoever comes back from the dead has nothing to finish.
    await finish(dead);
    expect(await lookIn(object)).toBe(1);
    await finish(next);
    expect(await lookIn(object)).toBeNull();
  });

  test("that Stripe did not answer comes again when told, and bells do not change that", async () => {
    const seller = await openSeller();
    const object = providerId("du");
    await ring(seller.account, "dispute", object);
    const task = await claimed(object);
    await ring(seller.account, "dispute", object);
    await finish(task, 600);
    expect(await lookIn(object)).toBe(10);
    await lookNow(object);
    const again = await claimed(object);
    expect(again.attempts).toBe(1);
    await finish(again);
    await ring(seller.account, "dispute", object);
    expect((await claimed(object)).attempts).toBe(0);
  });

  test.each<[string, string, object]>([
    ["claim_payment_tasks", "max_count", { max_count: 0 }],
    ["claim_payment_tasks", "max_count", { max_count: 1001 }],
    ["claim_payment_tasks", "object_id", { max_count: 1, object_id: "x".repeat(256) }],
    ["finish_payment_task", "task_id", { task_id: null }],
    ["finish_payment_task", "claim_token", { claim_token: null }],
    ["finish_payment_task", "retry_after", { retry_after: -1 }],
    ["finish_payment_task", "retry_after", { retry_after: 604_801 }],
  ])("%s has a form: %s", async (rpc, field, values) => {
    const whole =
      rpc === "finish_payment_task" ? { task_id: randomUUID(), claim_token: randomUUID() } : {};
    const call = server().rpc(rpc as "finish_payment_task", { ...whole, ...values } as never);
    expect(await failure(call)).toMatchObject({ status: 422, details: { fields: [field] } });
  });
});

describe("what is asked for although nothing rang", () => {
  test("a session, when it ends", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { checkout, session } = await openPage(order);
    const minutes = Math.round((session.expires_at - Date.now() / 1000) / 60);
    expect(Math.abs(((await lookIn(checkout.id)) ?? 0) - minutes - 1)).toBeLessThanOrEqual(1);
    await ring(seller.account, "checkout", session.id);
    await finish(await claimed(checkout.id), 0);
    const second = await claimed(checkout.id);
    expect(second.attempts).toBe(1);
    await finish(second);
    expect(await lookIn(checkout.id)).toBeGreaterThan(30);
    const later = await claimed(checkout.id);
    // What failed before is over.
    expect(later.attempts).toBe(0);
    await finish(later);
    await recordSession(seller.account, { ...session, status: "expired", url: null });
    await lookNow(checkout.id);
    await finish(await claimed(checkout.id));
    expect(await lookIn(checkout.id)).toBeNull();
  });

  test("a session whose time is over and that is still open, every minute", async () => {
    const seller = await openSeller();
    const { checkout, session } = await openPage(await orderFor(seller));
    const over = { ...session, expires_at: Math.floor(Date.now() / 1000) - 60 };
    await recordSession(seller.account, over);
    await lookNow(checkout.id);
    await finish(await claimed(checkout.id));
    expect(await lookIn(checkout.id)).toBe(1);
  });

  test("a try that nobody heard of again, when Stripe would not make it any more", async () => {
    const seller = await openSeller();
    const { checkout } = await beginCheckout(await orderFor(seller));
    await lookNow(checkout.id);
    const task = await claimed(checkout.id);
    expect(task.checkout).toMatchObject({ id: checkout.id, session_id: null, expire: false });
    expect(task.checkout?.created_at).toBeGreaterThan(Date.now() / 1000 - 60);
    await failCheckout(checkout.id);
    await finish(task);
    expect(await lookIn(checkout.id)).toBeNull();
  });

  test("money that is on its way, daily for a month", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const { checkout, session } = await openPage(order);
    const complete = paidAs(session, { payment_status: "unpaid" });
    await recordSession(seller.account, complete);
    await lookNow(checkout.id);
    await finish(await claimed(checkout.id));
    expect(await lookIn(checkout.id)).toBe(24 * 60);
    await recordSession(seller.account, { ...complete, payment_status: "paid" });
    await lookNow(checkout.id);
    await finish(await claimed(checkout.id));
    expect(await lookIn(checkout.id)).toBeNull();
    expect(await movements(order)).toEqual(["payment 60.5"]);

    const lost = await openPage(await orderFor(seller));
    await recordSession(seller.account, paidAs(lost.session, { payment_status: "unpaid" }));
    await sql`
      update private.checkouts set created_at = now() - interval '31 days'
      where id = ${lost.checkout.id}`;
    await lookNow(lost.checkout.id);
    await finish(await claimed(lost.checkout.id));
    expect(await lookIn(lost.checkout.id)).toBeNull();
  });

  test("a refund that is due, at once by who asked for it, else ten seconds later", async () => {
    const { seller, payment } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    expect([await isRung(refund_id), await lookIn(refund_id)]).toEqual([false, 0]);
    await finish(await claimed(refund_id));
    expect(await lookIn(refund_id)).toBe(1);
  });

  test.each(["refund", "dispute"] as const)(
    "a %s of a payment whose event was lost, while its page may still be found",
    async (kind) => {
      const seller = await openSeller();
      const order = await orderFor(seller);
      const { checkout, session } = await openPage(order);
      const paid = paidAs(session);
      const object =
        kind === "refund"
          ? refundOf(paid.payment_intent, 1000)
          : disputeOf(paid.payment_intent, [-1000]);
      const report = () =>
        kind === "refund"
          ? recordRefund(seller.account, object)
          : recordDispute(seller.account, object);
      await ring(seller.account, kind, object.id);
      const task = await claimed(object.id);
      await report();
      await finish(task);
      expect(await ledger(order)).toEqual([]);
      expect(await lookIn(object.id)).toBe(60);
      // The page is looked at when it ends.
      await lookNow(checkout.id);
      await finish(await claimed(checkout.id));
      await recordSession(seller.account, paid);
      await lookNow(object.id);
      await claimed(object.id);
      await report();
      expect(await movements(order)).toEqual(["payment 60.5", `${kind} 10`]);
    },
  );

  test("but not what was not sold here, once no page is open or a day has gone", async () => {
    const seller = await openSeller();
    const [gone, old] = [providerId("re"), providerId("re")];
    const { session } = await openPage(await orderFor(seller));
    await recordSession(seller.account, { ...session, status: "expired", url: null });
    await ring(seller.account, "refund", gone);
    await finish(await claimed(gone));
    expect(await lookIn(gone)).toBeNull();
    await openPage(await orderFor(seller));
    await ring(seller.account, "refund", old);
    await sql`
      update private.payment_tasks set created_at = now() - interval '26 hours'
      where object_id = ${old}`;
    await finish(await claimed(old));
    expect(await lookIn(old)).toBeNull();
  });
});

describe("a dispatcher killed between Stripe's answer and our commit", () => {
  test("of a page asks with the same try", async () => {
    const seller = await openSeller();
    const order = await orderFor(seller);
    const first = await beginCheckout(order);
    // Stripe has it, nobody here knows.
    const second = await beginCheckout(order);
    expect(second).toEqual(first);
    const { checkout } = second;
    const session = { ...paidAs({} as never), id: providerId("cs"), attempt_id: checkout.id };
    const facts = {
      amount_total: checkout.minor,
      currency: "eur",
      expires_at: checkout.params.expires_at,
    };
    await recordSession(seller.account, { ...session, ...facts });
    expect(await movements(order)).toEqual(["payment 60.5"]);
  });

  test("of a refund is another's, with the same try", async () => {
    const { seller, order, payment, intent } = await paidOrder();
    const { refund_id } = await beginRefund(seller, payment.id);
    const dead = await claimed(refund_id);
    await lookNow(refund_id);
    const next = await claimed(refund_id);
    expect(next.refund).toEqual(dead.refund);
    expect(next.attempts).toBe(1);
    const refund = refundOf(intent, 6050, { attempt_id: refund_id });
    await recordRefund(seller.account, refund);
    await recordRefund(seller.account, refund);
    await finish(next);
    expect(await movements(order)).toEqual(["payment 60.5", "refund 60.5"]);
  });
});

describe("nobody but a server", () => {
  test.each([
    "claim_payment_tasks",
    "record_session",
    "begin_checkout",
    "record_refund",
    "attach_payment_account",
  ])("calls %s", async (rpc) => {
    const seller = await openSeller();
    const argument = {
      claim_payment_tasks: "max_count => 1",
      record_session: "account_id => 'acct_1', session => '{}'",
      begin_checkout: `order_id => '${randomUUID()}', success_url => '', cancel_url => '', livemode => false`,
      record_refund: "account_id => 'acct_1', refund => '{}'",
      attach_payment_account: `professional_id => '${seller.id}', attempt_id => '${randomUUID()}', account_id => 'acct_1', livemode => false`,
    }[rpc];
    const call = asCaller(seller.claims, (tx) => tx.unsafe(`select public.${rpc}(${argument})`));
    expect(await outcome(call)).toBe("42501");
    await answer(seller.api.rpc("payment_account"));
  });
});

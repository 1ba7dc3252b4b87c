/**
 * Webhooks when things go wrong. Alone, because these tests take the dispatcher's place and look at
 * the whole queue.
 */
import { afterAll, describe, expect, test } from "vitest";
import { server } from "../support/callers.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import {
  createClientRow,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import {
  answerOf,
  cancelPending,
  deliveriesOf,
  type Event,
  eventsOf,
  makeDue,
  type Page,
  type Received,
  record,
  startReceiver,
  subscribe,
  subscribed,
  until,
  untilDelivery,
  verified,
  webhooks,
} from "../support/webhooks.ts";

const [dispatcher, writer, other] = parallelConnections(3) as [typeof sql, typeof sql, typeof sql];

// What was claimed here and never sent is nobody's to try again.
afterAll(cancelPending);

interface Claimed {
  delivery_id: string;
  claim_token: string;
  event_id: string;
  body: string;
}

/** Makes a change and claims what it queues, before any dispatcher can. */
async function claimed(professional: Professional, change: () => Promise<unknown>) {
  await dispatcher`select pg_advisory_lock(7304, 0)`;
  try {
    await change();
    const [row] = await dispatcher<{ claims: Claimed[] }[]>`
      select private.claim_webhook_deliveries(1000) as claims`;
    const own = (await deliveriesOf(professional)).map(({ id }) => id);
    return row?.claims.filter(({ delivery_id }) => own.includes(delivery_id)) ?? [];
  } finally {
    await dispatcher`select pg_advisory_unlock(7304, 0)`;
  }
}

const finish = ({ delivery_id, claim_token }: Claimed, status: number) =>
  server().rpc("finish_webhook_delivery", { delivery_id, claim_token, duration_ms: 1, status });

describe("a dispatcher that dies between claim and send", () => {
  test("leaves the delivery to the next one after its lease, with the same id", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    const [claim, ...rest] = await claimed(ana, () => createService(ana));
    if (!claim) throw new Error("nothing was claimed");
    expect(rest).toEqual([]);

    const [lease] = await sql`
      select extract(epoch from d.next_attempt_at - a.started_at)::float8 as seconds, d.attempts
      from private.webhook_deliveries d
      join private.webhook_attempts a on a.id = d.claim_token
      where d.id = ${claim.delivery_id}`;
    expect(lease).toEqual({ seconds: 60, attempts: 1 });
    // While the lease lasts nobody takes it: later deliveries of the endpoint come first.
    await createService(ana);
    await receiver.count(1);
    expect(receiver.received[0]?.id).not.toBe(claim.event_id);

    await makeDue(ana);
    const [, received] = (await receiver.count(2)) as [Received, Received];
    expect(received.id).toBe(claim.event_id);
    expect(received.body).toBe(claim.body);
    verified(received, endpoint.secret);
    const delivery = await untilDelivery(
      ana,
      claim.delivery_id,
      ({ status }) => status === "succeeded",
    );
    expect(delivery.attempts).toBe(2);

    // The dead one comes back to life: its claim is not its any more.
    expect((await finish(claim, 500)).error).toBeNull();
    expect(await untilDelivery(ana, claim.delivery_id, () => true)).toEqual(delivery);
    const { data } = await answerOf<Page<{ status: number | null }>>(
      webhooks(ana, `/deliveries/${claim.delivery_id}/attempts`),
    );
    expect(data.map(({ status }) => status)).toEqual([200, null]);
  });

  test("at the tenth try leaves it failed: ten are ten", async () => {
    const { ana, receiver } = await subscribed();
    const [claim] = await claimed(ana, () => createService(ana));
    await sql`
      update private.webhook_deliveries set attempts = 10, next_attempt_at = now()
      where id = ${claim?.delivery_id ?? ""}`;
    const delivery = await untilDelivery(
      ana,
      claim?.delivery_id ?? "",
      ({ status }) => status !== "pending",
    );
    expect(delivery).toMatchObject({ status: "failed", attempts: 10, next_attempt_at: null });
    expect(receiver.received).toEqual([]);
  });

  test("after the owner has disabled the endpoint: a success still counts, a failure is no retry", async () => {
    for (const [status, outcome] of [
      [200, "succeeded"],
      [500, "cancelled"],
    ] as const) {
      const ana = await createProfessional();
      const endpoint = await subscribe(ana, { url: "http://127.0.0.1:9/" });
      const [claim] = (await claimed(ana, () => createService(ana))) as [Claimed];
      const body = { enabled: false };
      await answerOf(webhooks(ana, `/endpoints/${endpoint.id}`, { method: "PATCH", body }));
      expect(await deliveriesOf(ana)).toMatchObject([{ status: "cancelled" }]);
      expect((await finish(claim, status)).error).toBeNull();
      expect(await deliveriesOf(ana)).toMatchObject([{ status: outcome, last_status: status }]);
    }
  });

  test("after the endpoint was deleted: nothing is left, nothing fails", async () => {
    const ana = await createProfessional();
    const endpoint = await subscribe(ana, { url: "http://127.0.0.1:9/" });
    const [claim] = (await claimed(ana, () => createService(ana))) as [Claimed];
    const removed = await webhooks(ana, `/endpoints/${endpoint.id}`, { method: "DELETE" });
    expect(removed.status).toBe(204);
    expect(await finish(claim, 200)).toMatchObject({ error: null, data: null });
  });
});

describe("many at once", () => {
  test("two dispatchers send 100 deliveries 100 times", async () => {
    const ana = await createProfessional();
    const receiver = await startReceiver();
    for (let i = 0; i < 10; i++) await subscribe(ana, { url: `${receiver.url}/${i}` });
    // Both claim from the same queue at the same time, beside the scheduler's; what they get is sent
    // by them, as the function would.
    const claims: Claimed[] = [];
    const work = async (connection: typeof sql) => {
      for (let idle = 0; idle < 3; ) {
        const [row] = await connection<{ claims: (Claimed & { url: string })[] }[]>`
          select private.claim_webhook_deliveries(16) as claims`;
        const batch = row?.claims ?? [];
        claims.push(...batch);
        idle = batch.length === 0 ? idle + 1 : 0;
        await Promise.all(
          batch.map(async (claim) => {
            const headers = { "webhook-id": claim.event_id };
            const { status } = await fetch(claim.url, {
              method: "POST",
              headers,
              body: claim.body,
            });
            await finish(claim, status);
          }),
        );
      }
    };
    const values = Array.from({ length: 10 }, (_, i) => ({ name: `Client ${i}` }));
    const { error } = await ana.api.from("clients").insert(values);
    expect(error).toBeNull();
    await Promise.all([work(writer), work(other)]);
    const deliveries = await until(
      () => deliveriesOf(ana),
      (all) => all.every(({ status }) => status === "succeeded"),
    );
    expect(deliveries).toHaveLength(100);
    expect(deliveries.every(({ attempts }) => attempts === 1)).toBe(true);
    expect(receiver.received).toHaveLength(100);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(10);
    expect(new Set(claims.map(({ claim_token }) => claim_token)).size).toBe(claims.length);
  });

  test("500 orders in one statement are 500 deliveries, each received once", async () => {
    const { ana, receiver, endpoint } = await subscribed(undefined, { events: ["order.*"] });
    const client = await createClientRow(ana);
    const product = await createProduct(ana, { stock: 1000 });
    const order = { client_id: client.id, items: [{ product_id: product.id, quantity: 1 }] };
    const { error } = await ana.api
      .from("orders")
      .insert(Array.from({ length: 500 }, () => order as never));
    expect(error).toBeNull();
    const [row] = await sql`
      select count(*)::int as count from private.webhook_deliveries
      where professional_id = ${ana.id}`;
    expect(row?.count).toBe(500);

    await until(
      () => receiver.received.length,
      (count) => count >= 500,
      25,
    );
    const events = receiver.received.map((received) => verified(received, endpoint.secret));
    const numbers = events.map(({ data }) => data.number as number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
    const bySequence = [...events].sort((a, b) => a.sequence - b.sequence);
    expect(bySequence.map(({ data }) => data.number)).toEqual(numbers);
    await until(
      () => sql`
        select from private.webhook_deliveries
        where professional_id = ${ana.id} and status <> 'succeeded'`,
      (left) => left.length === 0,
    );
  });

  test("a slow receiver has four tries at a time, and the others are not held up", async () => {
    const [slow, quick] = await Promise.all([createProfessional(), createProfessional()]);
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let open = 0;
    let most = 0;
    const hanging = await startReceiver(async () => {
      most = Math.max(most, ++open);
      await answered;
      open--;
      return {};
    });
    await subscribe(slow, { url: hanging.url });
    const values = Array.from({ length: 30 }, (_, i) => ({ name: `Client ${i}` }));
    await slow.api.from("clients").insert(values);
    await hanging.count(4);

    const receiver = await startReceiver();
    await subscribe(quick, { url: receiver.url });
    await quick.api.from("clients").insert(values);
    await receiver.count(30);
    // All of that while the slow one has answered nothing, and no more than four times.
    expect([open, most]).toEqual([4, 4]);
    answer();
    await hanging.count(30);
    expect(most).toBe(4);
  });
});

describe("the order of events", () => {
  test("a poller between a slow writer and a fast one sees both, once", async () => {
    const ana = await createProfessional();
    await record(ana);
    const polled: Event[] = [];
    const poll = async () => {
      const news = await eventsOf(ana, polled.at(-1)?.sequence ?? 0);
      polled.push(...news);
      return polled.map(({ data }) => data.name);
    };

    let commit = () => {};
    const committed = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let wrote = () => {};
    const written = new Promise<void>((resolve) => {
      wrote = resolve;
    });
    const slow = asCaller(
      ana.claims,
      async (tx) => {
        await tx`insert into public.clients (name) values ('slow')`;
        wrote();
        await committed;
      },
      writer,
    );
    await written;
    const fast = createClientRow(ana, { name: "fast" });
    const waiting = () => sql`
      select from pg_locks where locktype = 'advisory' and classid <> 7304 and not granted`;
    await until(waiting, (locks) => locks.length > 0);
    expect(await poll()).toEqual([]);
    commit();
    await Promise.all([slow, fast]);
    expect(await poll()).toEqual(["slow", "fast"]);
    expect(await poll()).toEqual(["slow", "fast"]);
  });

  test("is kept when many write at once: no poller misses or repeats one", async () => {
    const ana = await createProfessional();
    await record(ana);
    const polled: Event[] = [];
    let writing = true;
    const poller = (async () => {
      for (let last = false; !last; ) {
        last = !writing;
        polled.push(...(await eventsOf(ana, polled.at(-1)?.sequence ?? 0)));
      }
    })();
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => createClientRow(ana, { name: `Client ${i}` })),
    );
    writing = false;
    await poller;
    expect(polled.map(({ data }) => data.name).sort()).toEqual(
      Array.from({ length: 60 }, (_, i) => `Client ${i}`).sort(),
    );
    expect(polled).toEqual(await eventsOf(ana));
  });
});

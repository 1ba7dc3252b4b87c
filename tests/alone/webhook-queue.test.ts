/**
 * Whose turn it is at the queue of webhooks, and who rings the dispatcher. Alone, because the whole
 * queue is looked at.
 */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { server } from "../support/callers.ts";
import { parallelConnections, sql } from "../support/database.ts";
import { createProfessional, createService, type Professional } from "../support/factories.ts";
import {
  cancelPending,
  type Delivery,
  deliveriesOf,
  type Endpoint,
  type Received,
  startReceiver,
  subscribe,
  subscribed,
} from "../support/webhooks.ts";

const [dispatcher, writer] = parallelConnections(2) as [typeof sql, typeof sql];
type Tx = typeof sql;

// What was queued here for nobody is nobody's to try again.
afterAll(cancelPending);

/**
 * Runs `work` in a transaction that leaves nothing, with no dispatcher beside it, on a queue where
 * nothing is due or under way.
 */
async function inVain<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  let result: T | undefined;
  const undo = new Error("undo");
  await dispatcher
    .begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7304, 0)`;
      await tx`
        update private.webhook_deliveries set next_attempt_at = now() + interval '1 minute'
        where status = 'pending'`;
      await tx`delete from private.webhook_leases`;
      await tx`delete from private.dispatches where queue = 'webhooks'`;
      result = await work(tx as unknown as Tx);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return result as T;
}

const NOWHERE = { url: "http://127.0.0.1:9/" };

/** So many deliveries to each endpoint of a professional. */
const queue = (tx: Tx, { id }: Professional, count: number) => tx`
  insert into public.clients (professional_id, name)
  select ${id}, 'Ann' from generate_series(1, ${count})`;

interface Claim {
  delivery_id: string;
  claim_token: string;
  endpoint_id: string;
  professional_id: string;
}

async function claim(tx: Tx, count: number): Promise<Claim[]> {
  const [row] = await tx<{ claims: { claim_token: string }[] }[]>`
    select private.claim_webhook_deliveries(${count}) as claims`;
  const tokens = row?.claims.map(({ claim_token }) => claim_token) ?? [];
  return tx<Claim[]>`
    select id as delivery_id, claim_token, endpoint_id, professional_id
    from private.webhook_deliveries where claim_token = any (${tokens})`;
}

const finish = (tx: Tx, { delivery_id, claim_token }: Claim, duration = 1) => tx`
  select private.finish_webhook_delivery(
    ${delivery_id}, ${claim_token}, ${duration}, 200, null, null, null)`;

const of = (claims: Claim[], { id }: { id: string }) =>
  claims.filter(({ professional_id, endpoint_id }) => [professional_id, endpoint_id].includes(id))
    .length;

const isDue = async (tx: Tx) => (await tx`select private.webhooks_due() as due`)[0]?.due;

describe("a turn", () => {
  let many: Professional;
  let one: Professional;
  let endpoints: Endpoint[];
  beforeEach(async () => {
    [many, one] = await Promise.all([createProfessional(), createProfessional()]);
    endpoints = await Promise.all(Array.from({ length: 10 }, () => subscribe(many, NOWHERE)));
    await subscribe(one, NOWHERE);
  });

  test("goes round by professional, and by endpoint within: four at a time each", async () => {
    const claims = await inVain(async (tx) => {
      await queue(tx, many, 10);
      await queue(tx, one, 10);
      return [await claim(tx, 2), await claim(tx, 14), await claim(tx, 16)];
    });
    expect(claims.map((some) => [of(some, many), of(some, one)])).toEqual([
      [1, 1],
      [3, 3],
      [0, 0],
    ]);
    const used = claims.flat().filter(({ professional_id }) => professional_id === many.id);
    expect(new Set(used.map(({ endpoint_id }) => endpoint_id)).size).toBe(4);
  });

  test("goes to who has less under way, whichever dispatcher asks", async () => {
    const claims = await inVain(async (tx) => {
      await queue(tx, many, 10);
      const first = await claim(tx, 3);
      await queue(tx, one, 10);
      return [first, await claim(tx, 3), await claim(tx, 2)];
    });
    expect(claims.map((some) => [of(some, many), of(some, one)])).toEqual([
      [3, 0],
      [0, 3],
      [1, 1],
    ]);
  });

  test("comes again when a try has ended, or its minute is over", async () => {
    const counts = await inVain(async (tx) => {
      await queue(tx, one, 20);
      const first = await claim(tx, 16);
      const before = await claim(tx, 16);
      await finish(tx, first[0] as Claim);
      const finished = await claim(tx, 16);
      await tx`update private.webhook_leases set ends_at = now() where id = ${first[1]?.claim_token ?? ""}`;
      return [first, before, finished, await claim(tx, 16)].map(({ length }) => length);
    });
    expect(counts).toEqual([4, 0, 1, 1]);
  });

  test("is not won by cancelling, asking anew or deleting while a try is under way", async () => {
    const counts = await inVain(async (tx) => {
      const [endpoint] = await tx<{ id: string }[]>`
        select id from private.webhook_endpoints where professional_id = ${one.id}`;
      const id = endpoint?.id ?? "";
      await queue(tx, one, 8);
      const first = await claim(tx, 16);
      await tx`select private.disable_webhook_endpoint(${id}, 'owner')`;
      await tx`
        update private.webhook_endpoints set enabled = true, disabled_reason = null
        where id = ${id}`;
      await queue(tx, one, 8);
      const cancelled = await claim(tx, 16);
      await tx`delete from private.webhook_endpoints where id = ${id}`;
      await tx`
        insert into private.webhook_endpoints (professional_id, url, events, secret)
        values (${one.id}, 'https://example.com/', '{*}', 'whsec_dGVzdA==')`;
      await queue(tx, one, 8);
      const deleted = await claim(tx, 16);
      for (const ended of first) await finish(tx, ended);
      return [first, cancelled, deleted, await claim(tx, 16)].map(({ length }) => length);
    });
    expect(counts).toEqual([4, 0, 0, 4]);
  });

  test("is one at a time at an endpoint whose last three tries took a second, until one is quick", async () => {
    const counts = await inVain(async (tx) => {
      const [slow, ...others] = endpoints as [Endpoint, ...Endpoint[]];
      await tx`
        delete from private.webhook_endpoints where id in ${tx(others.map(({ id }) => id))}`;
      await queue(tx, many, 30);
      const seen: number[] = [];
      const claimAndFinish = async (durations: number[]) => {
        const claims = await claim(tx, 16);
        seen.push(of(claims, slow));
        for (const [index, one] of claims.entries()) await finish(tx, one, durations[index] ?? 0);
      };
      await claimAndFinish([0, 0, 1000, 1000]);
      await claimAndFinish([999, 1000, 1000, 1000]);
      await claimAndFinish([1000]);
      await claimAndFinish([999]);
      await claimAndFinish([]);
      return seen;
    });
    expect(counts).toEqual([4, 4, 1, 1, 4]);
  });

  test("waits once an hour's tries, ten times the tier's requests a minute, are used up", async () => {
    await sql`update public.profiles set tier = 'free' where id = ${many.id}`;
    const seen = await inVain(async (tx) => {
      // 600 an hour: one in six seconds.
      const left = (tries: number) => tx`
        insert into private.webhook_budgets (professional_id, full_at)
        values (${many.id}, now() + make_interval(secs => 3600 - 6 * ${tries}::integer))
        on conflict (professional_id) do update set full_at = excluded.full_at`;
      const take = async () => {
        const claims = await claim(tx, 16);
        for (const ended of claims) await finish(tx, ended);
        return claims.length;
      };
      await queue(tx, many, 10);
      await left(3);
      const three = [await isDue(tx), await take(), await take(), await isDue(tx)];
      await left(1);
      const another = [await isDue(tx), await take()];
      await tx`delete from private.webhook_budgets`;
      await take();
      const [budget] = await tx`
        select extract(epoch from full_at - now())::float8 as seconds
        from private.webhook_budgets where professional_id = ${many.id}`;
      await left(0);
      await tx`update public.profiles set tier = 'plus' where id = ${many.id}`;
      const stillFull = await take();
      await left(1);
      return { three, another, spent: budget?.seconds, stillFull, wider: await take() };
    });
    expect(seen).toEqual({
      three: [true, 3, 0, false],
      another: [true, 1],
      spent: 24,
      stillFull: 0,
      // The same six seconds are five tries of this tier, and four go at a time.
      wider: 4,
    });
  });
});

describe("the queue", () => {
  test("is claimed by its partial indexes, however much history there is", async () => {
    const ana = await createProfessional();
    const endpoint = await subscribe(ana, { url: "http://127.0.0.1:9/" });
    const scans = await inVain(async (tx) => {
      await tx`
        insert into private.webhook_events
          (professional_id, sequence, created_at, type, body)
        select ${ana.id}, number, now(), 'client.created', '{}'
        from generate_series(1, 20000) as number`;
      await tx`
        insert into private.webhook_deliveries
          (professional_id, endpoint_id, event_id, status, next_attempt_at)
        select
          professional_id,
          ${endpoint.id},
          id,
          case when sequence % 1000 = 0 then 'pending' else 'succeeded' end,
          case when sequence % 1000 = 0 then now() end
        from private.webhook_events
        where professional_id = ${ana.id}`;
      await tx`analyze private.webhook_deliveries`;
      await tx`analyze private.webhook_events`;
      const count = async () => {
        const rows = await tx<{ name: string; scans: number }[]>`
          select relname as name, pg_stat_get_xact_numscans(oid)::int as scans
          from pg_class
          where relname in (
            'webhook_deliveries', 'webhook_deliveries_due_idx', 'webhook_deliveries_endpoint_due_idx'
          )`;
        return Object.fromEntries(rows.map(({ name, scans: number }) => [name, number]));
      };
      const before = await count();
      await tx`select private.claim_webhook_deliveries(16)`;
      await tx`select private.webhooks_due()`;
      const after = await count();
      return Object.fromEntries(
        Object.entries(after).map(([name, number]) => [name, number - (before[name] ?? 0)]),
      );
    });
    // Of the table itself: whole scans.
    expect(scans.webhook_deliveries).toBe(0);
    expect(scans.webhook_deliveries_due_idx).toBeGreaterThan(0);
    expect(scans.webhook_deliveries_endpoint_due_idx).toBeGreaterThan(0);
  });

  test("notes when it was last asked", async () => {
    const begin = Date.now() - 1000;
    const { error } = await server().rpc("claim_webhook_deliveries", { max_count: 1 });
    expect(error).toBeNull();
    const [row] = await sql`
      select last_at from private.dispatches where queue = 'webhooks'`;
    expect(row?.last_at.getTime()).toBeGreaterThanOrEqual(begin);
  });

  test("holds no try back when others hold a row: the claim skips it", async () => {
    const { ana, receiver } = await subscribed();
    let held: Delivery | undefined;
    await writer.begin(async (tx) => {
      await dispatcher.begin(async (block) => {
        await block`select pg_advisory_xact_lock(7304, 0)`;
        await createService(ana, { name: "held" });
        [held] = await deliveriesOf(ana);
        await tx`select from private.webhook_deliveries where id = ${held?.id ?? ""} for update`;
        await createService(ana, { name: "free" });
      });
      const [received] = (await receiver.count(1)) as [Received];
      expect(received.id).not.toBe(held?.event_id);
    });
    expect((await receiver.count(2))[1]?.id).toBe(held?.event_id);
  });
});

describe("the scheduler", () => {
  test("rings when a delivery may be tried, and only then", async () => {
    const ana = await createProfessional();
    await subscribe(ana, NOWHERE);
    const due = await inVain(async (tx) => {
      const before = await isDue(tx);
      await queue(tx, ana, 10);
      const queued = await isDue(tx);
      await claim(tx, 16);
      await tx`delete from private.dispatches where queue = 'webhooks'`;
      return [before, queued, await isDue(tx)];
    });
    // All four of the professional's turns are taken.
    expect(due).toEqual([false, true, false]);
  });

  test("rings for no second dispatcher while one is at work that has just asked", async () => {
    const ana = await createProfessional();
    await subscribe(ana, NOWHERE);
    const due = await inVain(async (tx) => {
      await queue(tx, ana, 2);
      const [working] = await claim(tx, 1);
      const asked = (ago: string) => tx`
        update private.dispatches set last_at = now() - ${ago}::interval
        where queue = 'webhooks'`;
      const atWork = await isDue(tx);
      // Its slots are full, or it has died.
      await asked("1 second");
      const silent = await isDue(tx);
      await asked("0 seconds");
      await finish(tx, working as Claim);
      return [atWork, silent, await isDue(tx)];
    });
    expect(due).toEqual([false, true, true]);
  });

  test("calls the function with the address and the secret of the vault, when there is work", async () => {
    const ana = await createProfessional();
    await subscribe(ana, NOWHERE);
    const calls = await inVain(async (tx) => {
      // What the platform has, as far as it is used.
      await tx`create schema vault`;
      await tx`create table vault.decrypted_secrets (name text, decrypted_secret text)`;
      await tx`create schema net`;
      await tx`create table net.calls (url text, headers jsonb, body jsonb, time_out integer)`;
      await tx`
        create function net.http_post(
          url text,
          body jsonb default '{}',
          params jsonb default '{}',
          headers jsonb default '{}',
          timeout_milliseconds integer default 2000
        )
        returns bigint
        language sql
        as $$ insert into net.calls values ($1, $4, $2, $5) returning 1::bigint $$`;
      const ring = () => tx`select private.ring_dispatcher('webhooks')`;
      await ring();
      await queue(tx, ana, 1);
      await ring();
      await tx`
        insert into vault.decrypted_secrets
        values ('project_url', 'https://project.test'), ('dispatch_secret', 'the secret')`;
      const before = await tx`select from net.calls`;
      await ring();
      return [before.length, ...(await tx`select * from net.calls`)];
    });
    expect(calls).toEqual([
      0,
      {
        url: "https://project.test/functions/v1/webhooks/dispatch",
        headers: { "Content-Type": "application/json", apikey: "the secret" },
        body: {},
        time_out: 5000,
      },
    ]);
  });
});

describe("receivers that let their answers drip", () => {
  test("hold up nobody: four tries an account at a time, and others arrive", async () => {
    const dripping = await Promise.all(
      Array.from({ length: 2 }, () => startReceiver(() => ({ drips: true }))),
    );
    let most = 0;
    for (const receiver of dripping) {
      const { answer } = receiver;
      receiver.answer = (received) => {
        most = Math.max(most, receiver.open);
        return answer(received);
      };
      const attacker = await createProfessional();
      for (let i = 0; i < 10; i++) await subscribe(attacker, { url: `${receiver.url}/${i}` });
      await queue(sql, attacker, 60);
    }
    const { ana, receiver } = await subscribed();
    await Promise.all(dripping.map((one) => one.count(4)));
    for (let i = 1; i <= 3; i++) {
      await createService(ana);
      await receiver.count(i);
    }
    // Nearly all of it still waits.
    const [waiting] = await sql`
      select count(*)::integer as count from private.webhook_deliveries
      where status = 'pending' and professional_id <> ${ana.id}`;
    expect(waiting?.count).toBeGreaterThan(1000);
    expect(most).toBeLessThanOrEqual(4);
  });
});

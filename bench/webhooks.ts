/** Webhooks: how fast events reach a receiver through the running stack. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import type { ChildStack } from "./child-stack.ts";
import { median, quantile, type Timing } from "./measure.ts";
import { createProfessional, type Professional, request } from "./people.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Row } from "./table.ts";

const SECTION = "Webhooks, from commit to receipt";
const PATIENCE_MS = 120_000;

async function subscribe(
  stack: ChildStack,
  professional: Professional,
  receiver: Receiver,
  endpoints: number,
): Promise<string[]> {
  const paths = Array.from({ length: endpoints }, () => randomUUID());
  for (const path of paths) {
    const answer = await request(stack.env, "POST", "/functions/v1/webhooks/endpoints", {
      token: professional.token,
      body: { url: receiver.url(path), events: ["*"] },
    });
    if (!answer.ok) throw new Error(`no endpoint: ${await answer.text()}`);
  }
  return paths;
}

/** Commits so many changes and waits until each has come to every path. */
async function deliver(
  sql: Sql,
  professional: Professional,
  receiver: Receiver,
  paths: string[],
  events: number,
): Promise<Timing> {
  for (const path of paths) receiver.received.set(path, new Map());
  await sql`
    insert into public.clients (professional_id, name, email)
    select ${professional.id}, 'Marta Rossi', gen_random_uuid() || '@example.com'
    from generate_series(1, ${events})`;
  const committed = performance.now();
  const count = () =>
    paths.reduce((sum, path) => sum + (receiver.received.get(path)?.size ?? 0), 0);
  while (count() < events * paths.length) {
    if (performance.now() - committed > PATIENCE_MS)
      throw new Error(`only ${count()} deliveries came`);
    await sleep(5);
  }
  const times = paths.flatMap((path) =>
    [...(receiver.received.get(path)?.values() ?? [])].map((at) => at - committed),
  );
  return {
    p50: median(times),
    p95: quantile(times, 0.95),
    perSecond: (times.length / Math.max(...times)) * 1000,
  };
}

function dispatchRow(name: string, dividedBy: string, at1: Timing, ratio: number | null): Row {
  return {
    section: SECTION,
    name,
    dividedBy,
    at1,
    at16: null,
    ratioOf: "throughput",
    ratio,
    ratioAt16: null,
    milliseconds: at1.p50,
    goals: [],
  };
}

/** One event of somebody while two accounts' endpoints let every answer drip and have much queued. */
async function besideDrips(
  sql: Sql,
  stack: ChildStack,
  receiver: Receiver,
  turns: number,
): Promise<Row> {
  const dripping: string[] = [];
  const attackers: string[] = [];
  receiver.drips = (path) => dripping.includes(path);
  for (let account = 0; account < 2; account++) {
    const attacker = await createProfessional(sql, stack.env);
    attackers.push(attacker.id);
    dripping.push(...(await subscribe(stack, attacker, receiver, 10)));
    await sql`
      insert into public.clients (professional_id, name)
      select ${attacker.id}, 'Marta Rossi' from generate_series(1, 60)`;
  }
  const other = await createProfessional(sql, stack.env);
  const path = await subscribe(stack, other, receiver, 1);
  const delays: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    await sleep(1000 * Math.random());
    delays.push((await deliver(sql, other, receiver, path, 1)).p50);
  }
  const [waiting] = await sql`
    select count(*)::integer as count from private.webhook_deliveries where status = 'pending'`;
  if (waiting?.count === 0) throw new Error("nothing dripped any more");
  await sql`delete from private.webhook_endpoints where professional_id = any (${attackers})`;
  // Until the tries under way have ended.
  await sleep(2000);
  const timing = {
    p50: median(delays),
    p95: quantile(delays, 0.95),
    perSecond: 1000 / median(delays),
  };
  return {
    ...dispatchRow("one event beside 20 dripping endpoints, the slowest", "", timing, null),
    milliseconds: Math.max(...delays),
    goals: [{ of: "milliseconds", atMost: 3000 }],
  };
}

export async function measureWebhooks(stack: ChildStack, quick: boolean): Promise<Row[]> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} });
  const receiver = await startReceiver();
  try {
    const [one, ten] = [
      await createProfessional(sql, stack.env),
      await createProfessional(sql, stack.env),
    ];
    const onePath = await subscribe(stack, one, receiver, 1);
    const tenPaths = await subscribe(stack, ten, receiver, 10);
    // The first delivery waits for the function to be loaded.
    await deliver(sql, one, receiver, onePath, 1);

    const idle: number[] = [];
    for (let turn = 0; turn < (quick ? 2 : 20); turn++) {
      // At any point of the scheduler's second.
      await sleep(500 + 1000 * Math.random());
      idle.push((await deliver(sql, one, receiver, onePath, 1)).p50);
    }
    const burst = await deliver(sql, one, receiver, onePath, quick ? 40 : 1000);
    const wide = await deliver(sql, ten, receiver, tenPaths, quick ? 8 : 200);
    const waits = { p50: median(idle), p95: quantile(idle, 0.95), perSecond: 1000 / median(idle) };
    const besideOthers = await besideDrips(sql, stack, receiver, quick ? 5 : 40);
    return [
      dispatchRow(
        "one event when idle",
        "a tick of the local scheduler, 1 s",
        waits,
        waits.p50 / 1000,
      ),
      dispatchRow("a burst at one endpoint", "", burst, null),
      dispatchRow(
        "deliveries to ten endpoints",
        "to one endpoint",
        wide,
        wide.perSecond / burst.perSecond,
      ),
      besideOthers,
    ];
  } finally {
    await receiver.close();
    await sql.end();
  }
}

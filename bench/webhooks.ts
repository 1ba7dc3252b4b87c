/** How fast events reach a receiver through the running stack. */
import { setTimeout as sleep } from "node:timers/promises";
import { median, quantile } from "simple-statistics";
import { sql } from "../tests/support/database.ts";
import { createProfessional, type Professional } from "../tests/support/factories.ts";
import { startReceiver, subscribe, until } from "../tests/support/webhooks.ts";
import type { Result } from "./measure.ts";

/** When events came. */
const arrivals: number[] = [];

/** A professional with so many endpoints. */
async function subscribed(endpoints: number, drips = false): Promise<Professional> {
  const professional = await createProfessional();
  for (let n = 0; n < endpoints; n++) {
    const { url } = await startReceiver(() => {
      if (!drips) arrivals.push(performance.now());
      return { drips };
    });
    await subscribe(professional, { url });
  }
  return professional;
}

const addClients = ({ id }: Professional, count: number) => sql`
  insert into public.clients (professional_id, name)
  select ${id}, 'Marta Rossi' from generate_series(1, ${count})`;

/** Commits so many changes and waits until each has come; milliseconds of each. */
async function deliver(to: Professional, events: number): Promise<number[]> {
  arrivals.length = 0;
  await addClients(to, events);
  const committed = performance.now();
  const haveCome = () => arrivals.length >= events;
  await until(haveCome, Boolean, 120);
  return arrivals.map((at) => at - committed);
}

/** One event after the other, each at some point of the scheduler's second. */
async function deliverEach(to: Professional, turns: number): Promise<number[]> {
  const delays: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    await sleep(500 + 1000 * Math.random());
    delays.push(...(await deliver(to, 1)));
  }
  return delays;
}

const timing = (times: number[]) => ({ p50: median(times), p95: quantile(times, 0.95) });

export async function webhooks(quick: boolean): Promise<Result[]> {
  const one = await subscribed(1);
  // The first delivery waits for the function to be loaded.
  await deliver(one, 1);
  const idle = await deliverEach(one, quick ? 2 : 20);
  const burst = await deliver(one, quick ? 40 : 1000);
  const perSecond = (1000 * burst.length) / Math.max(...burst);

  for (let account = 0; account < 2; account++) {
    await addClients(await subscribed(10, true), 60);
  }
  const beside = await deliverEach(one, quick ? 5 : 40);
  const [waiting] = await sql`
    select count(*)::integer as count from private.webhook_deliveries where status = 'pending'`;
  if (waiting?.count === 0) throw new Error("nothing dripped any more");
  return [
    { name: "webhook: one event when idle", ...timing(idle) },
    { name: "webhooks: a burst at one endpoint", ...timing(burst), perSecond },
    { name: "webhook: one event beside 20 dripping endpoints", ...timing(beside) },
    { name: "the slowest of them", p50: Math.max(...beside), goals: ["≤ 3000 ms"] },
  ];
}

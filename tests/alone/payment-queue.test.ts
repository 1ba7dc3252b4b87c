/** Whose turn it is in the queue of payments. Alone, because it claims whatever is due. */
import { beforeEach, expect, test } from "vitest";
import { server } from "../support/callers.ts";
import { answer } from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import {
  claim,
  claimMany,
  finish,
  lookIn,
  lookNow,
  openSeller,
  ring,
  type Seller,
  type Task,
} from "../support/payment-rpcs.ts";
import { providerId } from "../support/payments.ts";

/** What others have left waits. */
beforeEach(async () => {
  await sql`
    update private.payment_tasks set due_at = now() + interval '1 hour', claim_token = null
    where due_at <= now() or claim_token is not null`;
  await sql`delete from private.dispatches where queue = 'payments'`;
});

/** Objects of a seller that rang, in their order. */
async function rang({ account }: Seller, count: number): Promise<string[]> {
  const objects = Array.from({ length: count }, () => providerId("du"));
  for (const object of objects) await ring(account, "dispute", object);
  return objects;
}

/** What was claimed, in no order. */
const objectsOf = (tasks: Task[]) => tasks.map(({ object_id }) => object_id).sort();

const isDue = async () => {
  const [row] = await sql<{ due: boolean }[]>`select private.payments_due() as due`;
  return row?.due;
};

test("a long queue of one professional keeps nobody else waiting", async () => {
  const [long, short, other] = await Promise.all([openSeller(), openSeller(), openSeller()]);
  const many = await rang(long, 20);
  const [mine] = await rang(short, 1);
  const [theirs] = await rang(other, 1);
  const first = await claimMany(3);
  expect(objectsOf(first)).toEqual([many[0], mine, theirs].sort());
  // Four at a time; those of another dispatcher count.
  const second = await claimMany(1000);
  expect(objectsOf(second)).toEqual(many.slice(1, 4).sort());
  expect(await claimMany(1000)).toEqual([]);
  await finish(second.find(({ object_id }) => object_id === many[1]) as Task);
  expect(objectsOf(await claimMany(1000))).toEqual([many[4]]);
  // Whoever waits for one of them has it at once.
  expect(await claim(many[9] as string)).toMatchObject({ object_id: many[9] });
  // A lease that is over is under way no more.
  expect(await claimMany(1000)).toEqual([]);
  for (const object of many.slice(2, 4)) await lookNow(object);
  expect(objectsOf(await claimMany(1000))).toEqual([many[5]]);
});

test("the dispatcher is rung while something is due that nobody has just asked for", async () => {
  expect(await isDue()).toBe(false);
  const [object] = await rang(await openSeller(), 1);
  expect(await isDue()).toBe(true);
  // A look at one object says nothing of the others.
  await claim(providerId("du"));
  expect(await isDue()).toBe(true);
  const [task] = await claimMany(1);
  expect(await isDue()).toBe(false);
  if (task) await finish(task, 0);
  expect(await isDue()).toBe(false);
  await sql`
    update private.dispatches set last_at = now() - interval '2 seconds' where queue = 'payments'`;
  expect(await isDue()).toBe(true);
  expect(await lookIn(object as string)).toBe(0);
});

test("health says when nobody looks", async () => {
  const status = async () =>
    (await answer<Record<string, string>>(server().rpc("health"))).payments;
  expect(await status()).toBe("ok");
  const [object] = await rang(await openSeller(), 1);
  expect(await status()).toBe("ok");
  await sql`
    update private.payment_tasks set due_at = now() - interval '6 minutes'
    where object_id = ${object as string}`;
  expect(await status()).toMatch(/since \S+Z, last dispatch: never$/);
  await claimMany(1);
  expect(await status()).toBe("ok");
});

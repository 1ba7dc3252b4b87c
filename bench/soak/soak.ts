/**
 * For half of the time functions are killed, connections dropped and the database is killed and started
 * again; then all parts are left alone for a quarter, and in the last one somebody attacks. Then things
 * settle, and it is looked whether anything was lost and how the others fared beside the attacker. Limits
 * are those of production.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "../../tests/support/database.ts";
import { until } from "../../tests/support/webhooks.ts";
import { attack, answers as attackersAnswers } from "./attacker.ts";
import { breakThings, broken, type Target } from "./chaos.ts";
import { CHECKS, percentiles } from "./checks.ts";
import { googleThrottles } from "./google.ts";
import {
  afterTheEnd,
  buy,
  runProgram,
  signUp,
  usePortal,
  visit,
  workAsProfessional,
} from "./people.ts";
import { int } from "./random.ts";
import { fares, now, told, totals, windows } from "./recorder.ts";
import { comesToRest, fake } from "./stripe.ts";
import { openShop, shops } from "./world.ts";

/** Makes what is still on its way due, again and again, until nothing is. */
async function settle(): Promise<void> {
  const pending = async () => {
    // A claim of a dispatcher that was killed would last a minute.
    await sql`
      update private.webhook_deliveries set next_attempt_at = now()
      where status = 'pending' and next_attempt_at > now()
        and (claim_token is null or next_attempt_at < now() + interval '40 s')`;
    await sleep(500);
    const [waiting] = await sql`
      select count(*)::integer as count from private.webhook_deliveries where status = 'pending'`;
    return waiting?.count;
  };
  // What does not arrive is found by the checks.
  await until(pending, (count) => count === 0, 180).catch(() => {});
}

/** The same for what Stripe knows and we may not: every event has come, and every object was looked at. */
async function settlePayments(): Promise<void> {
  comesToRest();
  await fake.delivered();
  // Failed tries wait longer and longer, and what is claimed by the dead for a minute.
  await sql`update private.payment_tasks set due_at = now()`;
  const pending = async () => {
    await sql`
      update private.payment_tasks set due_at = now()
      where due_at > now() and claim_token is not null`;
    await sleep(500);
    const [waiting] = await sql`
      select count(*)::integer as count from private.payment_tasks
      where claim_token is not null or due_at <= now()`;
    return waiting?.count;
  };
  await until(pending, (count) => count === 0, 120).catch(() => {});
}

/** Once more and without faults: the calendars elsewhere are read, and Google's learn of every booking. */
async function settleCalendars(): Promise<void> {
  await sql`update private.busy_calendars set due_at = now(), claim_token = null`;
  await sql`update private.calendar_connections set busy_due_at = now(), leased_until = now()`;
  const pending = async () => {
    // What failed waits longer and longer.
    await sql`update private.calendar_connections set paused_until = now() where paused_until > now()`;
    await sql`update private.calendar_pushes set due_at = now() where due_at > now()`;
    await sleep(500);
    const [waiting] = await sql`
      select
        (select count(*) from private.busy_calendars where due_at <= now() or claim_token is not null)
        + (select count(*) from private.calendar_connections where busy_due_at <= now())
        + (select count(*) from private.calendar_pushes where due_at is not null) as count`;
    return Number(waiting?.count);
  };
  await until(pending, (count) => count === 0, 180).catch(() => {});
}

function printSummary(): void {
  const down = windows.reduce((sum, { from, to }) => sum + to - from, 0) / 1000;
  console.log("answers (0: none):", totals);
  console.log("killed:", broken, `some part was down for ${down.toFixed(0)} s`);
  console.log(`told of ${told.rows.size} bookings and orders, ${told.payments.size} payments`);
  for (const { text } of percentiles()) console.log(text);
  console.log(`${fares.attacked.refused} of ${fares.attacked.answered} were refused then`);
  console.log(`${afterTheEnd.count} calls began after their key had ended`);
  console.log("the attacker:", attackersAnswers);
}

/** What is wrong, by what should hold. */
export async function soak(target: Target, minutes: number): Promise<Record<string, string[]>> {
  for (let n = 0; n < 8; n++) await openShop();
  googleThrottles();
  console.log(`${shops.length} professionals are open; ${minutes} minutes begin`);
  const begin = performance.now();
  const isOver = (share = 1) => performance.now() > begin + share * minutes * 60_000;

  /** At a pace that leaves the machine some air. */
  const live = async (act: () => Promise<unknown>) => {
    while (!isOver()) {
      await act();
      await sleep(int(150));
    }
  };
  const many = (count: number, act: () => Promise<unknown>) =>
    Array.from({ length: count }, () => live(act));
  const lives = [
    ...shops.map((shop) => live(() => workAsProfessional(shop))),
    ...many(8, visit),
    ...many(6, () => usePortal(isOver)),
    ...many(2, () => runProgram(isOver)),
    ...many(1, signUp),
    ...many(4, buy),
  ];
  await breakThings(target, () => isOver(0.5));
  // Whoever was looking for a connection has found one.
  await sleep(2_000);
  now.phase = "quiet";
  while (!isOver(0.75)) await sleep(100);
  now.phase = "attacked";
  await attack(isOver);
  now.phase = "settling";
  await Promise.all(lives);
  printSummary();

  await settlePayments();
  await settleCalendars();
  await settle();
  const results: Record<string, string[]> = {};
  for (const [name, check] of Object.entries(CHECKS)) results[name] = await check();
  return results;
}

/**
 * `npm run soak -- --minutes N`: many users at once do everything there is, rightly and wrongly. For half
 * of the time functions are killed, connections dropped and the database is killed and started again; then
 * all parts are left alone for a quarter, and in the last one somebody attacks. Then it lets things settle
 * and looks whether anything was lost, and how the others fared beside the attacker. Limits are at the
 * values they have in production.
 */
import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import postgres, { type Sql } from "postgres";
import { startStack } from "../../local/stack.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { freePorts } from "../../scripts/free-ports.ts";
import { processTree } from "../child-stack.ts";
import { startReceiver } from "../receiver.ts";
import { Attacker } from "./attacker.ts";
import { Chaos } from "./chaos.ts";
import { CHECKS } from "./checks.ts";
import { calendarsAreFilled, othersAreRefused, othersWait, printFairness } from "./fairness.ts";
import { workAsProfessional } from "./professional.ts";
import { chance, int, pick } from "./random.ts";
import { Recorder } from "./recorder.ts";
import { signUp, usePortal, visit } from "./visitors.ts";
import { openShops, type World } from "./world.ts";

const SHOPS = 8;
const PEOPLE = { visitors: 8, clients: 6, newcomers: 1 };
const SETTLE_MS = 180_000;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "2" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error("--minutes takes a number");

/** Repeats until the world closes, at a pace that leaves the machine some air. */
async function live(world: World, act: () => Promise<unknown>): Promise<void> {
  while (world.open) {
    await act();
    await sleep(int(150));
  }
}

/** Makes what is still on its way due, again and again, until nothing is. */
async function settle(world: World, sql: Sql): Promise<void> {
  world.receiver.answer = () => 200;
  const end = performance.now() + SETTLE_MS;
  while (performance.now() < end) {
    const [waiting] = await sql`
      select count(*)::integer as count from private.webhook_deliveries where status = 'pending'`;
    if (waiting?.count === 0) return;
    await sql`
      update private.webhook_deliveries set next_attempt_at = now()
      where status = 'pending' and claim_token is null and next_attempt_at > now()`;
    // A claim of a dispatcher that was killed would last a minute.
    await sql`
      update private.webhook_deliveries d set next_attempt_at = now()
      where status = 'pending' and claim_token is not null and next_attempt_at < now() + interval '40 s'`;
    await sleep(500);
  }
}

/** Processes of the stack that are there although it was stopped. */
function leaked(dataDir: string, before: number[]): string[] {
  const children = processTree(process.pid).filter((pid) => !before.includes(pid));
  const inDataDir = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readlinkSync(`/proc/${name}/cwd`).startsWith(dataDir);
      } catch {
        return false;
      }
    });
  return [...children.map(String), ...inDataDir].map((pid) => `process ${pid}`);
}

function summary(world: World, chaos: Chaos, seconds: number): void {
  const { recorder, receiver } = world;
  const totals = [...recorder.totals()].sort(([a], [b]) => a - b);
  const requests = totals.reduce((sum, [, count]) => sum + count, 0);
  const kinds = totals.map(
    ([status, count]) => `${status === 0 ? "none" : `${status / 100}xx`} ${count}`,
  );
  const { functions, connections, backends, servers } = chaos.counts;
  console.log(
    `${requests} requests of ${recorder.answers.size} kinds in ${seconds.toFixed(0)} s: ${kinds.join(", ")}`,
  );
  console.log(
    `killed: ${functions} functions, ${connections} connections, ${backends} backends, ${servers} servers; ` +
      `some part was down for ${recorder.secondsDown().toFixed(0)} s`,
  );
  console.log(
    `told of ${recorder.acknowledged.bookings.size} bookings, ${recorder.acknowledged.orders.size} orders, ` +
      `${recorder.payments.size} payments; ${receiver.requests} webhook requests received`,
  );
}

const dataDir = realpathSync(mkdtempSync(join(tmpdir(), "soak-")));
// What functions log while they are killed is expected.
const log = console.log;
console.error = () => {};
console.log = (...texts: unknown[]) => {
  if (!String(texts[0]).startsWith("[")) log(...texts);
};

const before = processTree(process.pid);
const ports = await freePorts();
const stack = await startStack({
  ...ports,
  projectDir: PROJECT_DIR,
  dataDir,
  seed: false,
});
const adminUrl = `postgresql://supabase_admin:postgres@127.0.0.1:${ports.dbPort}/postgres`;
const receiver = await startReceiver();
receiver.answer = (path) =>
  path.startsWith("flaky") && chance(0.3) ? pick([500, 503, 429, null]) : 200;
const world: World = { env: stack.env, recorder: new Recorder(), receiver, shops: [], open: true };
const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
const attacker = new Attacker(world, sql);
const chaos = new Chaos(world, { dataDir, dbPort: ports.dbPort, adminUrl });
const results: [name: string, wrong: string[]][] = [];
// The stack runs in this process; alone, it would have ended of it.
const unhandled: string[] = [];
process.on("unhandledRejection", (reason) => {
  unhandled.push(reason instanceof Error ? (reason.stack ?? reason.message) : String(reason));
});
const goHome = () => {
  world.open = false;
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, goHome);
try {
  await openShops(world, sql, SHOPS);
  log(`${SHOPS} professionals are open; ${minutes} minutes begin`);

  const begin = performance.now();
  const lives = [
    ...world.shops.map((shop) => live(world, () => workAsProfessional(world, shop))),
    ...Array.from({ length: PEOPLE.visitors }, () => live(world, () => visit(world))),
    ...Array.from({ length: PEOPLE.clients }, () => live(world, () => usePortal(world))),
    ...Array.from({ length: PEOPLE.newcomers }, () => live(world, () => signUp(world))),
  ];
  await chaos.run(begin + minutes * 30_000);
  const isOver = (share: number) =>
    !world.open || performance.now() > begin + share * minutes * 60_000;
  // Whoever was looking for a connection has found one.
  await sleep(2_000);
  world.recorder.phase = "quiet";
  while (!isOver(0.75)) await sleep(100);
  world.recorder.phase = "attacked";
  await attacker.run(() => isOver(1));
  world.recorder.phase = null;
  goHome();
  await Promise.all(lives);
  summary(world, chaos, (performance.now() - begin) / 1000);
  printFairness(world.recorder, attacker);

  await settle(world, sql);
  for (const [name, check] of CHECKS) results.push([name, await check(world, sql)]);
  results.push(
    [
      "the others waited at most three times as long beside the attacker",
      othersWait(world.recorder),
    ],
    ["nearly nobody was refused because of it", othersAreRefused(world.recorder)],
    ["it filled no calendar", await calendarsAreFilled(attacker, sql)],
  );
} finally {
  await sql.end({ timeout: 1 });
  await stack.stop();
  await chaos.stop();
  await receiver.close();
}
await sleep(1000);
results.push(["no rejection was left unhandled", unhandled]);
results.push(["no process is left", leaked(dataDir, before)]);
rmSync(dataDir, { recursive: true, force: true });

for (const [name, wrong] of results) {
  log(`${wrong.length === 0 ? "ok    " : "FAILED"} ${name}`);
  for (const line of wrong.slice(0, 10)) log(`         ${line}`);
  if (wrong.length > 10) log(`         and ${wrong.length - 10} more`);
}
const failed = results.filter(([, wrong]) => wrong.length > 0).length;
log(`\n${results.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/**
 * `npm run bench`: what the rules cost and how the cost grows, on a stack of its own. Prints one table,
 * writes bench/results.json (not with --quick), and fails when a goal is missed. Section names after
 * the options (`npm run bench -- orders`) run only those.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { measureBookings } from "./bookings.ts";
import { startChildStack } from "./child-stack.ts";
import { measureClaims } from "./claims.ts";
import { measureCold } from "./cold.ts";
import type { Context } from "./context.ts";
import { MEASURED, professionalId } from "./data.ts";
import { EARLIER_COMMIT, prepareDatabases } from "./databases.ts";
import { measureHook } from "./hook.ts";
import { measureLists } from "./lists.ts";
import { type MemoryReport, measureMemory } from "./memory.ts";
import { measureOrders } from "./orders.ts";
import { measureSlots } from "./slots.ts";
import { holds, printTable, type Row } from "./table.ts";
import { measureWebhooks } from "./webhooks.ts";

/** What runs now, to be stopped when this is interrupted. */
let running: { stop(): Promise<void> } | undefined;

const quick = process.argv.includes("--quick");
const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const isChosen = (name: string) => chosen.length === 0 || chosen.includes(name);

const SECTIONS: [name: string, measure: (context: Context) => Promise<Row[]>][] = [
  ["lists", measureLists],
  ["slots", measureSlots],
  ["bookings", measureBookings],
  ["orders", measureOrders],
  ["hook", measureHook],
  ["cold", measureCold],
  ["claims", measureClaims],
];

/** The sections in SQL, on a database server alone. */
async function inDatabase(dataDir: string): Promise<Row[]> {
  const levels = quick ? [5_000, 20_000] : [10_000, 100_000, 1_000_000];
  const withEarlier = isChosen("hook") || isChosen("cold");
  const databases = await prepareDatabases(dataDir, levels, withEarlier);
  running = databases;
  if (withEarlier && !databases.earlier) {
    console.log(`SKIPPED: the rows divided by commit ${EARLIER_COMMIT}, which this clone lacks.`);
  }
  const professionals = Array.from({ length: MEASURED }, (_, index) => professionalId(index + 1));
  const rows: Row[] = [];
  try {
    for (const [name, measure] of SECTIONS.filter(([section]) => isChosen(section))) {
      const begin = performance.now();
      rows.push(...(await measure({ ...databases, quick, professionals })));
      console.log(`${name}: ${((performance.now() - begin) / 1000).toFixed(0)} s`);
    }
  } finally {
    await databases.stop();
  }
  return rows;
}

/** The sections through the whole stack, in a process of its own. */
async function inStack(dataDir: string): Promise<{ rows: Row[]; memory: MemoryReport }> {
  const stack = await startChildStack(dataDir);
  running = stack;
  try {
    const memory = await measureMemory(stack, quick);
    return { rows: await measureWebhooks(stack, quick), memory };
  } finally {
    await stack.stop();
  }
}

function printMemory(name: string, kinds: MemoryReport["idle"]): void {
  const total = Object.values(kinds).reduce((sum, { megabytes }) => sum + megabytes, 0);
  const parts = Object.entries(kinds).map(
    ([kind, { processes, megabytes }]) => `${kind} ${megabytes.toFixed(0)} (${processes})`,
  );
  console.log(`memory ${name}: ${total.toFixed(0)} MB: ${parts.join(", ")}`);
}

const begin = performance.now();
const dataDir = mkdtempSync(join(tmpdir(), "bench-"));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, async () => {
    await running?.stop();
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(1);
  });
}
const rows: Row[] = [];
let memory: MemoryReport | undefined;
try {
  rows.push(...(await inDatabase(dataDir)));
  if (isChosen("stack")) {
    const found = await inStack(dataDir);
    rows.push(...found.rows);
    memory = found.memory;
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}

console.log("\nTimes are milliseconds; 1 connection, then 16.\n");
printTable(rows);
if (memory) {
  console.log();
  printMemory("idle", memory.idle);
  printMemory(`at ${memory.requestsPerSecond.toFixed(0)} requests a second`, memory.loaded);
}
const seconds = Math.round((performance.now() - begin) / 1000);
if (!quick && chosen.length === 0) {
  const machine = { cores: cpus().length, node: process.version, postgres: "17" };
  const results = {
    machine,
    seconds,
    rows: rows.map((row) => ({ ...row, holds: holds(row) })),
    memory,
  };
  writeFileSync(
    new URL("./results.json", import.meta.url),
    `${JSON.stringify(results, null, 2)}\n`,
  );
}
const verdicts = rows.map(holds);
const failed = verdicts.filter((verdict) => verdict === false).length;
console.log(`\n${seconds} s`);
console.log(`${verdicts.filter((verdict) => verdict === true).length} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

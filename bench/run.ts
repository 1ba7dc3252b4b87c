/**
 * `npm run bench`: what the rules cost and how the cost grows, on servers of its own. Prints one table, and
 * fails when a goal is missed. Names of groups (`npm run bench -- orders`) run only those.
 */
import { cpus } from "node:os";
import { join } from "node:path";
import { type Databases, prepareDatabases } from "./databases.ts";
import { cold, hook } from "./hook.ts";
import { lists, slots } from "./lists.ts";
import { measure, type Result, type Row } from "./measure.ts";
import { runInFolder, startMeasuredStack } from "./program.ts";
import { holds, printTable } from "./report.ts";
import { bookings, claims, orders } from "./writes.ts";

/** In SQL, on a database server alone. */
const IN_DATABASE: Record<string, (databases: Databases) => Promise<Row[]>> = {
  lists,
  slots,
  bookings,
  orders,
  hook,
  cold,
  claims,
};
/** Through the whole stack. */
const IN_STACK = "stack";

const quick = process.argv.includes("--quick");
const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const groups = [...Object.keys(IN_DATABASE), IN_STACK];
const unknown = names.filter((name) => !groups.includes(name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}: the groups are ${groups.join(", ")}.`);
  process.exit(2);
}
const chosen = groups.filter((name) => names.length === 0 || names.includes(name));

async function measureInDatabase(dataDir: string, names: string[]): Promise<Result[]> {
  const withEarlier = names.includes("hook") || names.includes("cold");
  const databases = await prepareDatabases(dataDir, quick, withEarlier);
  const results: Result[] = [];
  for (const name of names) {
    const begin = performance.now();
    for (const row of (await IN_DATABASE[name]?.(databases)) ?? []) {
      results.push(await measure(row, quick));
    }
    console.log(`${name}: ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  }
  return results;
}

async function measureInStack(dataDir: string): Promise<Result[]> {
  await startMeasuredStack(join(dataDir, "stack"));
  const { webhooks } = await import("./webhooks.ts");
  const { mails } = await import("./mail.ts");
  return [...(await webhooks(quick)), ...(await mails(quick))];
}

await runInFolder(async (dataDir) => {
  const begin = performance.now();
  const inDatabase = chosen.filter((name) => name !== IN_STACK);
  const results = [
    ...(inDatabase.length > 0 ? await measureInDatabase(dataDir, inDatabase) : []),
    ...(chosen.includes(IN_STACK) ? await measureInStack(dataDir) : []),
  ];
  const machine = `${cpus().length} cores, Node ${process.version}, PostgreSQL 17`;
  const date = new Date().toISOString().slice(0, 10);
  const seconds = Math.round((performance.now() - begin) / 1000);
  console.log(`\n${date}, ${machine}. Times are milliseconds.\n`);
  printTable(results);
  const count = (verdict: boolean) => results.filter((row) => holds(row) === verdict).length;
  console.log(`\n${seconds} s\n${count(true)} passed, ${count(false)} failed`);
  return count(false) > 0 ? 1 : 0;
});

/** Breaks one part of the running stack after the other, and notes when which was down. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { startPostgres, withDatabase } from "../../local/postgres.ts";
import { closeAtTheEnd } from "../../tests/support/closing.ts";
import { children } from "../program.ts";
import { chance, int, pick } from "./random.ts";
import { type Window, windows } from "./recorder.ts";
import { type Ask, send } from "./world.ts";

export type Target = { dbPort: number; dataDir: string };

export const broken = { functions: 0, connections: 0, servers: 0 };

/** Notes that a component is down until all of these requests are answered. */
async function during(
  component: Window["component"],
  act: () => Promise<unknown>,
  requests: Ask[],
): Promise<void> {
  const window: Window = { component, from: performance.now(), to: Number.POSITIVE_INFINITY };
  windows.push(window);
  await act();
  const isUp = async (what: Ask) => {
    const answer = await send(what).catch(() => Response.error());
    await answer.arrayBuffer();
    return answer.status > 0 && answer.status < 500;
  };
  while (!(await Promise.all(requests.map(isUp))).every(Boolean)) await sleep(50);
  window.to = performance.now();
}

/** Until all connections of the API's pool have noticed. */
const withoutDatabase = (act: () => Promise<unknown>) =>
  during("database", act, Array(10).fill(["GET", "/rest/v1/services?select=id&limit=1"]));

async function killFunction(): Promise<void> {
  const portal = ["send-portal-otp", "verify-portal-otp"];
  const slug = pick([...portal, "webhooks", "payments", "payments", "calendar"]);
  const [found] = children(`supabase/functions/${slug}/index.ts`);
  if (!found) return;
  broken.functions++;
  const kill = async () => {
    process.kill(Number.parseInt(found, 10), pick(["SIGKILL", "SIGTERM"]));
    while (children(`supabase/functions/${slug}/index.ts`).includes(found)) await sleep(20);
  };
  await during("functions", kill, [["OPTIONS", `/functions/v1/${slug}`]]);
}

/** Ends some or all connections of the services, whatever they are doing. */
async function dropConnections({ dbPort }: Target): Promise<void> {
  const share = chance(0.5) ? 1 : 0.4;
  const url = `postgresql://supabase_admin:postgres@127.0.0.1:${dbPort}/postgres`;
  const drop = async (sql: Sql) => {
    const dropped = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend' and random() < ${share}`;
    broken.connections += dropped.length;
  };
  await withoutDatabase(() => withDatabase(url, drop));
}

/** The whole server dies without warning and is started again on its files. */
async function killServer({ dbPort, dataDir }: Target): Promise<void> {
  const folder = join(dataDir, "postgres");
  const pid = Number(readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n")[0]);
  broken.servers++;
  await withoutDatabase(async () => {
    process.kill(pid, "SIGKILL");
    // What it left behind ends by itself, and is waited for by failing to start.
    for (let tries = 0; ; tries++) {
      await sleep(100);
      try {
        const { stop } = await startPostgres({ dataDir: folder, port: dbPort });
        return closeAtTheEnd(stop);
      } catch (error) {
        if (tries > 100) throw error;
      }
    }
  });
}

/** Goes on until `isOver`; then everything is up. */
export async function breakThings(target: Target, isOver: () => boolean): Promise<void> {
  const acts = [killServer, dropConnections, killFunction];
  for (let turn = 0; ; turn++) {
    const pause = 3_000 + int(7_000);
    for (let wait = 0; wait < pause && !isOver(); wait += 100) await sleep(100);
    if (isOver()) return;
    // Each of them early, then by chance.
    await (acts[turn] ?? pick(acts))(target);
  }
}

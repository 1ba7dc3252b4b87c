/** The databases of one run, filled alike: levels side by side in one server, and an earlier commit in another. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { developmentEnv, readConfig } from "../local/config.ts";
import { type PostgresServer, startPostgres, withDatabase } from "../local/postgres.ts";
import { configureRequestCounter } from "../local/request-counter.ts";
import { startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { freePorts } from "../scripts/free-ports.ts";
import { closeAtTheEnd } from "../tests/support/closing.ts";
import { WIDE } from "../tests/support/limits.ts";
import { changeSettings } from "../tests/support/settings.ts";
import type { Row, Side } from "./measure.ts";

/** The last commit whose hook waited for its counter and asked for each thing by itself. */
export const EARLIER_COMMIT = "7deec1c";

export interface Level {
  /** Bookings of all professionals but the measured. */
  bookings: number;
  /** Connects as the superuser. */
  url: string;
}

export interface Databases {
  small: Level;
  middle: Level;
  large: Level;
  /** As `middle`, but without any trigger of ours. */
  bare: Level;
  /** As `small`, with the migrations of EARLIER_COMMIT; null where the clone does not reach that far. */
  earlier: Level | null;
}

/** What nothing but the others' history should make slower. */
export const growth = (
  { small, large }: Databases,
  name: string,
  side: (level: Level) => Side,
): Row => ({
  name: `${name}, ${large.bookings} bookings`,
  measured: side(large),
  dividedBy: `${small.bookings} bookings`,
  by: side(small),
  goals: ["≤ 1.2×"],
});

/** The id that data.sql gives to the k-th row of a kind of professional p, or to p itself. */
export const id = (kind: string, ...numbers: number[]) =>
  createHash("md5")
    .update([kind, ...numbers].join(" "))
    .digest("hex")
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");

/** A professional's token says no more; one without a session id is not looked up. */
export const professional = (p: number) =>
  ({
    role: "authenticated",
    claims: { sub: id("professional", p), aud: "authenticated" },
  }) as const;

const databaseUrl = (url: string, name: string) => new URL(`/${name}`, url).href;

/**
 * Migrates a database by starting a stack once. The rest of the stack is stopped again: it would take
 * part in every measurement.
 */
async function startMigrated(projectDir: string, dataDir: string): Promise<PostgresServer> {
  const ports = await freePorts();
  // This commit's, also for the migrations of an earlier one: it could not be read today.
  const config = readConfig(PROJECT_DIR, developmentEnv(PROJECT_DIR));
  const options = { ...ports, projectDir, dataDir, config, seed: false, warn: () => {} };
  await (await startStack(options)).stop();
  const server = await startPostgres({ dataDir: join(dataDir, "postgres"), port: ports.dbPort });
  closeAtTheEnd(server.stop);
  return server;
}

/** From another database: one that is copied may have no connection. */
async function copy(server: PostgresServer, from: string, to: string): Promise<string> {
  await withDatabase(databaseUrl(server.adminUrl, "template1"), (sql) =>
    sql.unsafe(`create database ${to} template ${from}`),
  );
  return databaseUrl(server.adminUrl, to);
}

/** Copies the migrated database and fills the copy. */
async function makeLevel(
  server: PostgresServer,
  bookings: number,
  isEarlier = false,
): Promise<Level> {
  const begin = performance.now();
  const name = `level_${bookings}`;
  const url = await copy(server, "postgres", name);
  await withDatabase(url, async (sql) => {
    await sql`set session_replication_role = replica`;
    await sql`set synchronous_commit = off`;
    await sql`select set_config('bench.bookings', ${`${bookings}`}, false)`;
    await sql.unsafe(readFileSync(new URL("./data.sql", import.meta.url), "utf8"));
    await sql`vacuum analyze`;
    await (isEarlier
      ? sql`update private.settings set value = '1000' where name ~ '(pool_size|_hour)$'`
      : changeSettings(sql, WIDE));
  });
  await configureRequestCounter(databaseUrl(server.url, name), server.port);
  console.log(`loaded ${bookings} bookings in ${Math.round((performance.now() - begin) / 1000)} s`);
  return { bookings, url };
}

/** The same rows, columns, constraints and indexes, and no rules. */
async function makeBare(server: PostgresServer, { bookings }: Level): Promise<Level> {
  const url = await copy(server, `level_${bookings}`, "bare");
  await withDatabase(url, async (sql) => {
    await sql`grant usage on schema private to service_role`;
    await sql`grant select, insert on all tables in schema private to service_role`;
    const tables = await sql<{ name: string }[]>`
      select schemaname || '.' || tablename as name from pg_tables
      where schemaname in ('public', 'private')`;
    for (const { name } of tables) await sql`alter table ${sql(name)} disable trigger user`;
  });
  return { bookings, url };
}

/** The project as it was; false when the clone does not hold it. */
function checkOut(commit: string, folder: string): boolean {
  mkdirSync(folder);
  const command = `git -C "$0" archive ${commit} supabase | tar -x -C "$1"`;
  spawnSync("sh", ["-c", command, PROJECT_DIR, folder]);
  return existsSync(join(folder, "supabase"));
}

export async function prepareDatabases(
  dataDir: string,
  quick: boolean,
  withEarlier: boolean,
): Promise<Databases> {
  const server = await startMigrated(PROJECT_DIR, join(dataDir, "databases"));
  const small = await makeLevel(server, quick ? 5_000 : 10_000);
  const middle = await makeLevel(server, quick ? 10_000 : 100_000);
  const large = await makeLevel(server, quick ? 20_000 : 1_000_000);
  const bare = await makeBare(server, middle);
  await withDatabase(server.adminUrl, (sql) => sql`checkpoint`);

  const folder = join(dataDir, "earlier");
  let earlier: Level | null = null;
  if (withEarlier && checkOut(EARLIER_COMMIT, folder)) {
    const earlierServer = await startMigrated(folder, join(folder, "data"));
    earlier = await makeLevel(earlierServer, small.bookings, true);
  }
  return { small, middle, large, bare, earlier };
}

/** The databases of one run, filled alike: levels side by side in one server, and an earlier commit in another. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { developmentEnv, readConfig } from "../local/config.ts";
import { type PostgresServer, startPostgres } from "../local/postgres.ts";
import { configureRequestCounter } from "../local/request-counter.ts";
import { startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { freePorts } from "../scripts/free-ports.ts";
import { load } from "./data.ts";

/** The last commit whose hook waited for its counter and asked for each thing by itself. */
export const EARLIER_COMMIT = "7deec1c";

/** Stands in the rows that would be divided by it, where the clone does not reach that far. */
export const SKIPPED = `SKIPPED: no commit ${EARLIER_COMMIT}`;

export interface Level {
  /** Bookings of all professionals but the measured. */
  bookings: number;
  /** Connects as the superuser. */
  url: string;
}

export interface Databases {
  small: Level;
  /** Where rules are compared with bare writes; the same as `small` in a quick run. */
  middle: Level;
  large: Level;
  /** As `small`, with the migrations of EARLIER_COMMIT; null where the clone does not reach that far. */
  earlier: Level | null;
  stop(): Promise<void>;
}

const databaseUrl = (url: string, name: string) => {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
};

/**
 * Migrates a database by starting a stack once. The rest of the stack is stopped again: it would take
 * part in every measurement.
 */
async function startMigrated(projectDir: string, dataDir: string): Promise<PostgresServer> {
  const ports = await freePorts();
  const stack = await startStack({
    ...ports,
    projectDir,
    dataDir,
    // This commit's, also for the migrations of an earlier one: it could not be read today.
    config: readConfig(PROJECT_DIR, developmentEnv(PROJECT_DIR)),
    seed: false,
    warn: () => {},
  });
  await stack.stop();
  return startPostgres({ dataDir: join(dataDir, "postgres"), port: ports.dbPort });
}

/** From another database: one that is copied may have no connection. */
async function asAdmin(server: PostgresServer, run: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(databaseUrl(server.adminUrl, "template1"), { max: 1, onnotice: () => {} });
  try {
    await run(sql);
  } finally {
    await sql.end();
  }
}

/** Copies the migrated database and fills the copy. */
async function makeLevel(server: PostgresServer, bookings: number): Promise<Level> {
  const name = `level_${bookings}`;
  await asAdmin(server, (sql) => sql.unsafe(`create database ${name} template postgres`));
  const url = databaseUrl(server.adminUrl, name);
  const begin = performance.now();
  await load(url, bookings);
  await configureRequestCounter(databaseUrl(server.url, name), server.port);
  console.log(`loaded ${bookings} bookings in ${Math.round((performance.now() - begin) / 1000)} s`);
  return { bookings, url };
}

/** The project as it was; null when the clone does not hold it. */
function checkOut(commit: string, folder: string): string | null {
  let archive: Buffer;
  try {
    archive = execFileSync("git", ["-C", PROJECT_DIR, "archive", commit, "supabase"], {
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch {
    return null;
  }
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  return folder;
}

export async function prepareDatabases(
  dataDir: string,
  levels: number[],
  withEarlier: boolean,
): Promise<Databases> {
  const servers: PostgresServer[] = [];
  const stop = async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  };
  try {
    const server = await startMigrated(PROJECT_DIR, dataDir);
    servers.push(server);
    await asAdmin(server, async (sql) => {
      // Loading a million rows would otherwise be interrupted by a checkpoint every few seconds.
      await sql`alter system set max_wal_size = '8GB'`;
      await sql`alter system set checkpoint_timeout = '30min'`;
      await sql`select pg_reload_conf()`;
    });
    const made: Level[] = [];
    for (const bookings of levels) made.push(await makeLevel(server, bookings));
    await asAdmin(server, (sql) => sql`checkpoint`);
    const [small, second, large = second] = made;
    if (!small || !second || !large) throw new Error("a run needs two levels");

    let earlier: Level | null = null;
    const folder = withEarlier ? checkOut(EARLIER_COMMIT, join(dataDir, "earlier")) : null;
    if (folder) {
      const earlierServer = await startMigrated(folder, join(folder, "data"));
      servers.push(earlierServer);
      earlier = await makeLevel(earlierServer, small.bookings);
    }
    return { small, middle: made.length > 2 ? second : small, large, earlier, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

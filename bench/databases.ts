/** The databases of one run: one a level, in one server, so that levels can be timed side by side. */
import { join } from "node:path";
import postgres from "postgres";
import { freePorts } from "../local/ports.ts";
import { type PostgresServer, startPostgres } from "../local/postgres.ts";
import { configureRequestCounter } from "../local/request-counter.ts";
import { startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { load } from "./data.ts";

export interface Level {
  /** Bookings of all professionals but the measured. */
  bookings: number;
  /** Connects as the superuser. */
  url: string;
}

export interface Databases {
  server: PostgresServer;
  small: Level;
  /** Where rules are compared with bare writes; the same as `small` in a quick run. */
  middle: Level;
  large: Level;
}

const databaseUrl = (url: string, name: string) => {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
};

/**
 * Migrates a database by starting a stack once, then copies it once a level and fills the copies. The
 * rest of the stack is stopped meanwhile: it would take part in every measurement.
 */
export async function prepareDatabases(dataDir: string, levels: number[]): Promise<Databases> {
  const ports = await freePorts();
  const stack = await startStack({ ...ports, projectDir: PROJECT_DIR, dataDir, seed: false });
  await stack.stop();
  const server = await startPostgres({ dataDir: join(dataDir, "postgres"), port: ports.dbPort });
  try {
    const admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} });
    // Loading a million rows would otherwise be interrupted by a checkpoint every few seconds.
    await admin`alter system set max_wal_size = '8GB'`;
    await admin`alter system set checkpoint_timeout = '30min'`;
    await admin`select pg_reload_conf()`;
    const made: Level[] = [];
    for (const bookings of levels) {
      const name = `level_${bookings}`;
      await admin.unsafe(`create database ${name} template postgres`);
      const url = databaseUrl(server.adminUrl, name);
      const begin = performance.now();
      await load(url, bookings);
      await configureRequestCounter(databaseUrl(server.url, name), server.port);
      const seconds = ((performance.now() - begin) / 1000).toFixed(0);
      console.log(`loaded ${bookings} bookings in ${seconds} s`);
      made.push({ bookings, url });
    }
    await admin`checkpoint`;
    await admin.end();
    const [small, second, large = second] = made;
    if (!small || !second || !large) throw new Error("a run needs two levels");
    return { server, small, middle: made.length > 2 ? second : small, large };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

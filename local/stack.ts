/**
 * The platform on one machine without containers: database, REST and auth API, edge functions,
 * mail catcher, scheduler, and a gateway in front. Everything listens on 127.0.0.1.
 */
import { chmodSync, existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Config, developmentEnv, readConfig } from "./config.ts";
import { startFunctions } from "./functions.ts";
import { startGateway } from "./gateway.ts";
import { type Keys, localKeys } from "./keys.ts";
import { startMail } from "./mail.ts";
import { migrate } from "./migrate.ts";
import { buildPages, servePages } from "./pages.ts";
import type { Ports } from "./ports.ts";
import { runFile, startPostgres, withDatabase } from "./postgres.ts";
import { quietly, type Step } from "./progress.ts";
import { configureRequestCounter } from "./request-counter.ts";
import { startScheduler } from "./scheduler.ts";

export interface StackOptions extends Ports {
  projectDir: string;
  /** Database files and logs. */
  dataDir: string;
  /** Builds the pages and serves them there; without it there are none. */
  pagesPort?: number | undefined;
  /** The committed development values when this is not given, whatever the shell holds. */
  config?: Config;
  /** Whether a new database gets the seed; it does when this is not given. */
  seed?: boolean;
  /** Moves the rows of the seed to around today. */
  demo?: boolean;
  /** false: faster, and lost when the machine crashes. */
  fsync?: boolean;
  /** Secrets of the edge functions, beside those the platform always sets. */
  functionsEnv?: Record<string, string>;
  /** Gives up a start that is under way. */
  signal?: AbortSignal;
  /** Does what takes long; says nothing of it when this is not given. */
  step?: Step;
  /** Hears what is not as it should be; the console does when this is not given. */
  warn?: (line: string) => void;
}

/** What `supabase status -o env` shows, by the same names, and where the pages are. */
export type StackEnv = {
  PAGES_URL?: string;
  API_URL: string;
  DB_URL: string;
  MAILPIT_URL: string;
} & Keys;

export interface Stack {
  env: StackEnv;
  /** Settles when the database ends, which it should not do by itself. */
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

/** The variables that every edge function finds on the platform. */
function platformEnv(env: StackEnv): Record<string, string> {
  const secret = Buffer.from(env.JWT_SECRET).toString("base64url");
  return {
    SUPABASE_URL: env.API_URL,
    SUPABASE_DB_URL: env.DB_URL,
    SUPABASE_ANON_KEY: env.ANON_KEY,
    SUPABASE_SERVICE_ROLE_KEY: env.SERVICE_ROLE_KEY,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: env.PUBLISHABLE_KEY }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: env.SECRET_KEY }),
    SUPABASE_JWKS: JSON.stringify({ keys: [{ kty: "oct", alg: "HS256", k: secret }] }),
    MAILPIT_URL: env.MAILPIT_URL,
    // Receivers of webhooks are tried out on the same machine. Nowhere but here.
    WEBHOOK_ALLOW_LOOPBACK: "1",
    CALENDAR_ALLOW_LOOPBACK: "1",
  };
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const { projectDir, apiPort, dbPort, mailPort, pagesPort, signal } = options;
  const { seed = true, demo = false, fsync = true, step = quietly, warn = console.warn } = options;
  mkdirSync(options.dataDir, { recursive: true });
  // The database's user must be able to pass through; the name has to be the one it will see.
  chmodSync(options.dataDir, 0o711);
  const dataDir = join(realpathSync(options.dataDir), "postgres");
  const config = options.config ?? readConfig(projectDir, developmentEnv(projectDir, pagesPort));
  const env: StackEnv = {
    ...(pagesPort && { PAGES_URL: `http://127.0.0.1:${pagesPort}` }),
    API_URL: `http://127.0.0.1:${apiPort}`,
    DB_URL: `postgresql://postgres:postgres@127.0.0.1:${dbPort}/postgres`,
    MAILPIT_URL: `http://127.0.0.1:${mailPort}`,
    ...(await localKeys()),
  };
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  try {
    // It takes long to load; the database starts meanwhile.
    const loading = import("./api/index.ts");
    loading.catch(() => {});
    const pagesDir = join(options.dataDir, "pages");
    const { API_URL: apiUrl, PUBLISHABLE_KEY: publishableKey } = env;
    const building = pagesPort
      ? buildPages({ projectDir, outDir: pagesDir, apiUrl, publishableKey, signal })
      : Promise.resolve();
    building.catch(() => {});
    const begin = existsSync(dataDir) ? "Starting the database" : "Making a database";
    const database = await step(begin, () => startPostgres({ dataDir, port: dbPort, fsync }));
    stops.push(database.stop);
    const { adminUrl, url } = database;
    signal?.throwIfAborted();

    const mail = await startMail(mailPort);
    stops.push(mail.close);
    const api = await step("Starting REST and auth", async () => {
      const { createApi } = await loading;
      const created = await createApi({ adminUrl, config, env, mail: mail.send });
      stops.push(created.close);
      await created.ensureAuthSchema();
      return created;
    });
    const guards = new URL("./platform-auth.sql", import.meta.url);
    await withDatabase(adminUrl, (sql) => runFile(sql, guards));
    await migrate({ projectDir, url, seed, signal, step, warn });
    if (demo) {
      const move = new URL("./demo.sql", import.meta.url);
      await withDatabase(url, (sql) => runFile(sql, move));
    }
    await configureRequestCounter(url, dbPort);
    signal?.throwIfAborted();

    const { secrets } = config.edge_runtime;
    const functionsEnv = { ...secrets, ...platformEnv(env), ...options.functionsEnv };
    const functions = startFunctions({ projectDir, env: functionsEnv });
    stops.push(functions.close);
    const gateway = await startGateway(apiPort, api.answer, functions.answer);
    stops.push(gateway.close);
    const scheduler = startScheduler({
      adminUrl,
      functionsUrl: `${env.API_URL}/functions/v1`,
      secret: functionsEnv.DISPATCH_SECRET ?? "",
    });
    stops.push(scheduler.close);
    if (pagesPort) await step("Building the pages", () => building);
    if (pagesPort) stops.push((await servePages(pagesDir, pagesPort)).close);
    return { env, exited: database.exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

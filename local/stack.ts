/**
 * The platform on one machine without containers: database, REST and auth API, edge functions,
 * mail catcher, scheduler, and a gateway in front. Everything listens on 127.0.0.1.
 */
import { chmodSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Config, developmentEnv, readConfig } from "./config.ts";
import { type Keys, localKeys } from "./keys.ts";
import { migrate } from "./migrate.ts";
import type { Ports } from "./ports.ts";
import { runSqlFile, sortsAsHosted, startPostgres } from "./postgres.ts";
import { configureRequestCounter } from "./request-counter.ts";

export interface StackOptions extends Ports {
  projectDir: string;
  /** Database files and logs. */
  dataDir: string;
  /** The committed development values when this is not given, whatever the shell holds. */
  config?: Config;
  /** Whether a new database gets the seed; it does when this is not given. */
  seed?: boolean;
  /** false: faster, and lost when the machine crashes. */
  fsync?: boolean;
  /** Secrets of the edge functions, beside those the platform always sets. */
  functionsEnv?: Record<string, string>;
  /** Gives up a start that is under way. */
  signal?: AbortSignal;
  /** Hears what takes long; nobody does when this is not given. */
  report?: (line: string) => void;
  /** Hears what is not as it should be; the console does when this is not given. */
  warn?: (line: string) => void;
}

/** What `supabase status -o env` shows, by the same names. */
export interface StackEnv {
  API_URL: string;
  DB_URL: string;
  MAILPIT_URL: string;
  ANON_KEY: string;
  SERVICE_ROLE_KEY: string;
  PUBLISHABLE_KEY: string;
  SECRET_KEY: string;
  JWT_SECRET: string;
}

export interface Stack {
  env: StackEnv;
  urls: { api: string; db: string; mail: string };
  keys: Keys;
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
  };
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const { projectDir, signal, report = () => {}, warn = console.warn } = options;
  mkdirSync(options.dataDir, { recursive: true });
  // The database's user must be able to pass through; the name has to be the one it will see.
  chmodSync(options.dataDir, 0o711);
  const dataDir = realpathSync(options.dataDir);
  const config = options.config ?? readConfig(projectDir, developmentEnv(projectDir));
  const keys = await localKeys();
  const urls = {
    api: `http://127.0.0.1:${options.apiPort}`,
    db: `postgresql://postgres:postgres@127.0.0.1:${options.dbPort}/postgres`,
    mail: `http://127.0.0.1:${options.mailPort}`,
  };
  const env: StackEnv = {
    API_URL: urls.api,
    DB_URL: urls.db,
    MAILPIT_URL: urls.mail,
    ANON_KEY: keys.anonKey,
    SERVICE_ROLE_KEY: keys.serviceRoleKey,
    PUBLISHABLE_KEY: keys.publishableKey,
    SECRET_KEY: keys.secretKey,
    JWT_SECRET: keys.jwtSecret,
  };

  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  try {
    // The API takes long to load; the database starts meanwhile.
    const modules = Promise.all([
      import("./api/index.ts"),
      import("./mail.ts"),
      import("./functions.ts"),
      import("./gateway.ts"),
      import("./scheduler.ts"),
    ]);
    modules.catch(() => {});
    const database = await startPostgres({
      dataDir: join(dataDir, "postgres"),
      port: options.dbPort,
      fsync: options.fsync ?? true,
      report,
    });
    stops.push(() => database.stop());
    const { adminUrl } = database;
    if (!(await sortsAsHosted(adminUrl))) {
      warn(
        "The data sort texts differently from a hosted project: `npm run reset` makes them anew.",
      );
    }
    const [{ createApi }, { startMail }, { startFunctions }, { startGateway }, { startScheduler }] =
      await modules;
    signal?.throwIfAborted();

    const mail = await startMail(options.mailPort);
    stops.push(() => mail.close());
    const api = await createApi({
      adminUrl,
      config,
      keys,
      siteUrl: urls.api,
      mail: async ({ to, subject, text, html }) => {
        const people = { From: { Email: "auth@mail.local" }, To: [{ Email: to }] };
        mail.send({ ...people, Subject: subject, Text: text, HTML: html });
      },
    });
    stops.push(() => api.close());
    await api.ensureAuthSchema();
    await runSqlFile(adminUrl, new URL("./platform-auth.sql", import.meta.url));
    const seed = options.seed ?? true;
    await migrate({ projectDir, url: database.url, seed, signal, report, warn });
    await configureRequestCounter(database.url, database.port);
    signal?.throwIfAborted();

    const functionsEnv = {
      ...config.edge_runtime.secrets,
      ...platformEnv(env),
      ...options.functionsEnv,
    };
    const functions = startFunctions({ projectDir, env: functionsEnv });
    stops.push(() => functions.close());
    const gateway = await startGateway({
      port: options.apiPort,
      api: api.answer,
      functions: functions.answer,
    });
    stops.push(() => gateway.close());
    const scheduler = startScheduler({
      adminUrl,
      functionsUrl: `${urls.api}/functions/v1`,
      secret: functionsEnv.DISPATCH_SECRET ?? "",
    });
    stops.push(() => scheduler.close());
    return { env, urls, keys, exited: database.exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

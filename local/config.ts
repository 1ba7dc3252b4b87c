/**
 * `supabase/config.toml` as the local stack needs it: the same file and the same `env()` values as the
 * platform's CLI, so that there is no second configuration.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "smol-toml";
import { z } from "zod";

// A value that came through `env()` is a string, whatever the setting's type.
const flag = z.union([z.boolean(), z.stringbool({ truthy: ["true"], falsy: ["false"] })]);
const count = z.coerce.number().int().nonnegative();

/** `env(NAME)`, which is left as it stands when there is no such variable. */
const REFERENCE = /^env\((.*)\)$/;

const schema = z.object({
  api: z.object({
    schemas: z.array(z.string()),
    extra_search_path: z.array(z.string()),
    max_rows: count,
  }),
  /** Goes to the auth service as it stands. */
  auth: z.looseObject({
    site_url: z.string(),
    /** Split as the platform does, which joins the entries with commas. */
    additional_redirect_urls: z
      .array(z.string())
      .transform((entries) => entries.flatMap((entry) => entry.split(","))),
    refresh_token_reuse_interval: count,
    email: z.looseObject({ enabled: flag }),
    external: z.record(z.string(), z.looseObject({ enabled: flag })).default({}),
  }),
  edge_runtime: z.object({
    secrets: z
      .record(z.string(), z.string())
      .transform((secrets) =>
        Object.fromEntries(Object.entries(secrets).filter(([, value]) => !REFERENCE.test(value))),
      ),
  }),
  functions: z.record(
    z.string(),
    z.object({ verify_jwt: z.literal(false, "has to be false: there is no gate in front here") }),
  ),
});

export type Config = z.infer<typeof schema>;

type Variables = Record<string, string | undefined>;

const COMMITTED = join("supabase", ".env.development");

const PAGES_PORT = 3000;
/** Where the pages are is in these. */
const PAGES_VARIABLES = ["SITE_URL", "PORTAL_URL", "PAYMENTS_RETURN_URLS"];

/**
 * The committed values alone, for a stack that nobody's own key or address may change. Their addresses of
 * pages are at `pagesPort`.
 */
export function developmentEnv(projectDir: string, pagesPort = PAGES_PORT): Variables {
  const env = parseEnv(readFileSync(join(projectDir, COMMITTED), "utf8"));
  for (const name of PAGES_VARIABLES) {
    env[name] = env[name]?.replaceAll(`:${PAGES_PORT}`, `:${pagesPort}`);
  }
  return env;
}

/**
 * Variables for `env()`: the process' own win, then the `.env` files of the project before those of
 * `supabase/`; of one folder, the most specific file first. So does the CLI (measured on 2.117).
 */
export function projectEnv(projectDir: string, pagesPort?: number): Variables {
  const stage = process.env.SUPABASE_ENV || "development";
  const names = [`.env.${stage}.local`, ".env.local", `.env.${stage}`, ".env"];
  const files = [projectDir, join(projectDir, "supabase")]
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .filter((path) => existsSync(path))
    .map((path) =>
      path === join(projectDir, COMMITTED)
        ? developmentEnv(projectDir, pagesPort)
        : parseEnv(readFileSync(path, "utf8")),
    );
  return Object.assign({}, ...files.reverse(), process.env);
}

/**
 * The project's configuration with every `env(NAME)` replaced. As in the CLI, a name without a
 * value is left as it stands, and a secret of the functions without one is left out.
 */
export function readConfig(projectDir: string, env: Variables): Config {
  const path = join(projectDir, "supabase", "config.toml");
  const document = parse(readFileSync(path, "utf8"));
  const { secrets } = document.edge_runtime as { secrets: Record<string, unknown> };
  const mayBeUnset = new Set(Object.values(secrets));
  const resolved: unknown = JSON.parse(JSON.stringify(document), (_key, value: unknown) => {
    const name = typeof value === "string" ? REFERENCE.exec(value)?.[1] : undefined;
    if (name === undefined) return value;
    if (!env[name] && !mayBeUnset.has(value)) {
      console.warn(`WARN: environment variable is unset: ${name}`);
    }
    return env[name] || value;
  });
  const result = schema.safeParse(resolved);
  if (!result.success) throw new Error(`${path}: ${z.prettifyError(result.error)}`);
  return result.data;
}

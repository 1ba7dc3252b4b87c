/**
 * `supabase/config.toml` as the local stack needs it: the same file, the same `env()` values and
 * the same defaults as the platform's CLI, so that there is no second configuration.
 * Property names are those of the file; durations become seconds.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "smol-toml";
import { z } from "zod";

// A value that came through `env()` is a string, whatever the setting's type.
const flag = z.union([z.boolean(), z.stringbool({ truthy: ["true"], falsy: ["false"] })]);
const count = z.coerce.number().int().nonnegative();

const SECONDS = { h: 3600, m: 60, s: 1, ms: 0.001 } as const;

/** A Go duration such as "168h" or "1h30m", in seconds. */
const duration = z
  .string()
  .regex(/^0$|^(\d+(\.\d+)?(h|ms|m|s))+$/, "is not a duration such as 24h, 90m or 30s")
  .transform((text) =>
    [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * SECONDS[unit as keyof typeof SECONDS],
      0,
    ),
  );

/** `env(NAME)`, which is left as it stands when there is no such variable. */
const REFERENCE = /^env\((.*)\)$/;

const provider = z.object({
  enabled: flag.default(true),
  client_id: z.string().default(""),
  secret: z.string().default(""),
  /** Where the provider sends the user back to; empty: the stack's own callback. */
  redirect_uri: z.string().default(""),
  /** Base address of a provider that is not at its usual place. */
  url: z.string().default(""),
  skip_nonce_check: flag.default(false),
  email_optional: flag.default(false),
});

const schema = z.object({
  api: z
    .object({
      schemas: z.array(z.string()).default(["public", "graphql_public"]),
      extra_search_path: z.array(z.string()).default(["public", "extensions"]),
      max_rows: count.default(1000),
    })
    .prefault({}),
  db: z
    .object({
      seed: z
        .object({
          enabled: flag.default(true),
          sql_paths: z.array(z.string()).default(["./seed.sql"]),
        })
        .prefault({}),
    })
    .prefault({}),
  auth: z
    .object({
      site_url: z.string().default("http://127.0.0.1:3000"),
      /** Split as the platform does, which joins the entries with commas. */
      additional_redirect_urls: z
        .array(z.string())
        .default([])
        .transform((entries) => entries.flatMap((entry) => entry.split(","))),
      jwt_expiry: count.default(3600),
      enable_refresh_token_rotation: flag.default(true),
      refresh_token_reuse_interval: count.default(10),
      enable_signup: flag.default(true),
      enable_anonymous_sign_ins: flag.default(false),
      enable_manual_linking: flag.default(false),
      minimum_password_length: count.default(6),
      /** Both in seconds; undefined: sessions do not end by themselves. */
      sessions: z
        .object({ timebox: duration.optional(), inactivity_timeout: duration.optional() })
        .prefault({}),
      /** Per IP and five minutes, except `email_sent`: per hour, for the whole project. */
      rate_limit: z
        .object({
          email_sent: count.default(2),
          anonymous_users: count.default(30),
          token_refresh: count.default(150),
          sign_in_sign_ups: count.default(30),
          token_verifications: count.default(30),
        })
        .prefault({}),
      email: z
        .object({
          enabled: flag.default(true),
          enable_confirmations: flag.default(false),
          double_confirm_changes: flag.default(true),
          secure_password_change: flag.default(false),
          max_frequency: duration.default(1),
          otp_length: count.default(6),
          otp_expiry: count.default(3600),
        })
        .prefault({}),
      external: z.record(z.string(), provider).default({}),
    })
    .prefault({}),
  edge_runtime: z
    .object({
      secrets: z
        .record(z.string(), z.string())
        .default({})
        .transform((secrets) =>
          Object.fromEntries(Object.entries(secrets).filter(([, value]) => !REFERENCE.test(value))),
        ),
    })
    .prefault({}),
  /** By slug; a function that is not listed has the defaults. */
  functions: z
    .record(z.string(), z.object({ enabled: flag.default(true), verify_jwt: flag.default(true) }))
    .default({}),
});

export type Config = z.infer<typeof schema>;

type Variables = Record<string, string | undefined>;

/**
 * Variables for `env()`: the process' own win, then the `.env` files of the project before those of
 * `supabase/`; of one folder, the most specific file first. So does the CLI (measured on 2.117).
 */
export function projectEnv(projectDir: string): Variables {
  const stage = process.env.SUPABASE_ENV || "development";
  const names = [`.env.${stage}.local`, ".env.local", `.env.${stage}`, ".env"].filter(
    (name) => stage !== "test" || name !== ".env.local",
  );
  const env: Variables = { ...process.env };
  for (const folder of [projectDir, join(projectDir, "supabase")]) {
    for (const path of names.map((name) => join(folder, name)).filter((path) => existsSync(path))) {
      for (const [name, value] of Object.entries(parseEnv(readFileSync(path, "utf8")))) {
        env[name] ??= value;
      }
    }
  }
  return env;
}

/** The committed values alone, for a stack that nobody's own key or address may change. */
export function developmentEnv(projectDir: string): Variables {
  return parseEnv(readFileSync(join(projectDir, "supabase", ".env.development"), "utf8"));
}

/**
 * The project's configuration with every `env(NAME)` replaced. As in the CLI, a name without a
 * value is left as it stands, and a secret of the functions without one is left out.
 */
export function readConfig(projectDir: string, env: Variables): Config {
  const path = join(projectDir, "supabase", "config.toml");
  const document = parse(readFileSync(path, "utf8"));
  const { secrets } = (document.edge_runtime ?? {}) as { secrets?: Record<string, unknown> };
  const mayBeUnset = new Set(Object.values(secrets ?? {}));
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

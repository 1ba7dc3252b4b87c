/**
 * Every variable is read and checked here, once, when a function starts: a missing one stops it
 * with its name instead of failing some request later.
 */

/** How a variable is looked up; `index.ts` gives the real one, a test gives an object's. */
export type ReadEnv = (name: string) => string | undefined;

/** A variable that is missing or wrong. Says its name, never its value, which may be a secret. */
export class EnvError extends Error {
  override readonly name = "EnvError";
}

/** A variable that may be absent; an empty one counts as absent, as `NAME=` in a file means. */
export function optional(read: ReadEnv, name: string): string | undefined {
  return read(name)?.trim() || undefined;
}

/** A variable the function cannot work without; a secret says how long it must be at least. */
export function required(read: ReadEnv, name: string, minLength = 1): string {
  const value = optional(read, name);
  if (value === undefined) throw new EnvError(`${name} is not set`);
  if (value.length < minLength) {
    throw new EnvError(`${name} is shorter than ${minLength} characters`);
  }
  return value;
}

/** A whole number from `min` to `max`. */
export function integer(
  read: ReadEnv,
  name: string,
  fallback: number,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): number {
  const value = optional(read, name);
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) {
    throw new EnvError(`${name} is not a whole number from ${min} to ${max}`);
  }
  return number;
}

/** An optional web address; what is put behind it must not end up behind a `#` of its own. */
export function webAddress(read: ReadEnv, name: string): string | undefined {
  const value = optional(read, name);
  if (value === undefined) return undefined;
  if (!/^https?:\/\/[^\s#]+$/.test(value) || !URL.canParse(value)) {
    throw new EnvError(`${name} is not a web address without a fragment`);
  }
  return value;
}

/** The default key of the new generation (JSON by name), or the JWT-shaped key of the old one. */
function apiKey(read: ReadEnv, current: string, legacy: string): string {
  const keys = optional(read, current);
  if (keys === undefined) {
    const key = optional(read, legacy);
    if (key === undefined) throw new EnvError(`neither ${current} nor ${legacy} is set`);
    return key;
  }
  let value: unknown;
  try {
    value = (JSON.parse(keys) as { default?: unknown } | null)?.default;
  } catch {
    // Reported below, without the text that did not parse.
  }
  if (typeof value === "string" && value !== "") return value;
  throw new EnvError(`${current} is not a JSON object with a key named default`);
}

export interface PlatformEnv {
  /** Base address of the project's API, without a slash at the end. */
  supabaseUrl: string;
  /** Key of the `anon` role. */
  publishableKey: string;
  /** Key of the `service_role`: passes every policy. */
  secretKey: string;
  /** Origins that browsers may call from; `"*"` is all of them. */
  corsOrigins: "*" | string[];
}

/** `CORS_ORIGINS`: origins separated by commas, such as `https://app.example`, or `*`. */
export function corsOrigins(read: ReadEnv): "*" | string[] {
  const value = optional(read, "CORS_ORIGINS") ?? "*";
  if (value === "*") return "*";
  return value.split(",").map((part) => {
    const origin = part.trim();
    // A path or a slash at the end would never equal what a browser sends.
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new EnvError(
        "CORS_ORIGINS is neither * nor a list of origins such as https://app.example",
      );
    }
    return origin;
  });
}

/** What the platform gives every function, and our one setting that all of them share. */
export function platformEnv(read: ReadEnv): PlatformEnv {
  const supabaseUrl = required(read, "SUPABASE_URL");
  if (!URL.canParse(supabaseUrl)) throw new EnvError("SUPABASE_URL is not an address");
  return {
    supabaseUrl: supabaseUrl.replace(/\/+$/, ""),
    publishableKey: apiKey(read, "SUPABASE_PUBLISHABLE_KEYS", "SUPABASE_ANON_KEY"),
    secretKey: apiKey(read, "SUPABASE_SECRET_KEYS", "SUPABASE_SERVICE_ROLE_KEY"),
    corsOrigins: corsOrigins(read),
  };
}

/**
 * The platform's REST and auth APIs, by its vendor's lightweight implementation (`@supabase/lite`,
 * "upstream" in these files) on a real Postgres. Where that differs from the hosted platform and a user
 * would notice, a block headed "Bend" mends it; this folder goes when upstream needs none of them.
 */
import type { Config } from "../config.ts";
import type { Keys } from "../keys.ts";
import { type AuthMail, createAuth } from "./auth.ts";
import { checkKey, needsKey } from "./keys.ts";
import { createRest } from "./rest.ts";
import { restError } from "./rest-errors.ts";

export interface ApiOptions {
  /** Connection string of the superuser; the services' own roles have its password. */
  adminUrl: string;
  config: Config;
  env: Keys & { API_URL: string };
  mail: AuthMail;
}

export interface Api {
  /** Creates the tables of schema `auth`; safe to repeat. */
  ensureAuthSchema(): Promise<void>;
  /** Answers a request to `/rest/v1/…` or `/auth/v1/…`. */
  answer(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export async function createApi(options: ApiOptions): Promise<Api> {
  const auth = createAuth(options);
  const rest = await createRest(options);
  return {
    ensureAuthSchema: auth.ensureSchema,
    async answer(request) {
      const url = new URL(request.url);
      const key = needsKey(url.pathname) ? checkKey(request, url, options.env) : null;
      if (key instanceof Response) return key;
      const body = await request.text();
      if (url.pathname.startsWith("/auth/v1")) return auth.answer(request, url, body);
      if (key && isDecodable(url.pathname)) return rest.answer(request, url, body, key);
      return restError(404, { code: "PGRST125", message: "Invalid path specified in request URL" });
    },
    async close() {
      await Promise.all([auth.close(), rest.close()]);
    },
  };
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== "";
  } catch {
    return false;
  }
}

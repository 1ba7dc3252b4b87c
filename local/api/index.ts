/**
 * The platform's REST and auth APIs, by its vendor's lightweight implementation (`@supabase/lite`,
 * "upstream" in these files) on a real Postgres. Where that differs from the hosted platform and a user
 * would notice, a block headed "Bend" mends it; this folder goes when upstream needs none of them.
 */
import type { Config } from "../config.ts";
import { errorResponse } from "../http.ts";
import type { Keys } from "../keys.ts";
import type { OutgoingMail } from "../mail.ts";
import { createAuth } from "./auth.ts";
import { checkKey, needsKey } from "./keys.ts";
import { createRest } from "./rest.ts";

export interface ApiOptions {
  /** Connection string of the superuser; the services' own roles have its password. */
  adminUrl: string;
  config: Config;
  env: Keys & { API_URL: string };
  /** Keeps a mail. */
  mail: (mail: OutgoingMail) => unknown;
}

export async function createApi(options: ApiOptions) {
  const auth = createAuth(options);
  const rest = await createRest(options);
  return {
    /** Creates the tables of schema `auth`; safe to repeat. */
    ensureAuthSchema: auth.ensureSchema,
    /** Answers a request to `/rest/v1/…` or `/auth/v1/…`. */
    async answer(request: Request): Promise<Response> {
      const url = new URL(request.url);
      const key = needsKey(url.pathname) ? checkKey(request, url, options.env) : null;
      if (key instanceof Response) return key;
      const body = await request.text();
      if (url.pathname.startsWith("/auth/v1")) return auth.answer(request, url, body);
      if (key) return rest.answer(request, url, body, key);
      return errorResponse(404, "PGRST125", "Invalid path specified in request URL");
    },
    async close(): Promise<void> {
      await Promise.all([auth.close(), rest.close()]);
    },
  };
}

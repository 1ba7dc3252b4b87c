/**
 * The platform's REST and auth APIs, by its vendor's lightweight implementation (`@supabase/lite`,
 * "upstream" in these files) on a real Postgres. Where that differs from the hosted platform a block
 * headed "Bend" mends it; a bend can be deleted when upstream catches up.
 *
 * Not mended: rate limits of the auth service, its admin API, metadata and PKCE of magic links, OpenAPI.
 */
import type { Config } from "../config.ts";
import type { Keys } from "../keys.ts";
import {
  isPreflight,
  maxBodyBytes,
  preflight,
  readableFromAnyOrigin,
  readBody,
  restError,
} from "./answers.ts";
import { createAuth } from "./auth.ts";
import type { Mail } from "./auth-mail.ts";
import { logFault } from "./context.ts";
import { checkKey, needsKey } from "./keys.ts";
import { createRest } from "./rest.ts";

export type { Mail, MailMessage } from "./auth-mail.ts";

export interface ApiOptions {
  /** Connection string of the superuser; the services' own roles have its password. */
  adminUrl: string;
  config: Config;
  keys: Keys;
  /** The address the API has for its callers, without a path. */
  siteUrl: string;
  mail: Mail;
}

export interface Api {
  /** Creates the tables of schema `auth`; safe to repeat. */
  ensureAuthSchema(): Promise<void>;
  /** Answers a request to `/rest/v1/…` or `/auth/v1/…`. */
  fetch(request: Request, peer: { address: string }): Promise<Response>;
  close(): Promise<void>;
}

export async function createApi(options: ApiOptions): Promise<Api> {
  const auth = createAuth(options);
  const rest = await createRest(options);

  async function answer(request: Request, peer: { address: string }): Promise<Response> {
    const url = new URL(request.url);
    const isAuth = url.pathname.startsWith("/auth/v1");
    const key = needsKey(url.pathname) ? checkKey(request, url, options.keys) : null;
    if (key instanceof Response) return key;
    const body = await readBody(request);
    if (!body) {
      const message = `The request body is longer than ${maxBodyBytes} bytes`;
      return restError(413, { code: "body_too_large", message });
    }
    if (isAuth) return auth.answer(request, url, body, peer);
    if (key && isDecodable(url.pathname)) return rest.answer({ request, url, body, key, peer });
    return restError(404, { code: "PGRST125", message: "Invalid path specified in request URL" });
  }

  return {
    ensureAuthSchema: auth.ensureSchema,
    async fetch(request, peer) {
      if (isPreflight(request)) return preflight(request);
      try {
        return readableFromAnyOrigin(await answer(request, peer));
      } catch (fault) {
        const { method, url } = request;
        logFault({ method, path: new URL(url).pathname, fault }, 500);
        const error = { code: "internal_error", message: "Internal server error" };
        return readableFromAnyOrigin(restError(500, error));
      }
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

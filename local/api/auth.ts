import { App, type EmailDriver, getAuthSchemaSql } from "@supabase/lite";
import type { Config } from "../config.ts";
import type { Keys } from "../keys.ts";
import { authError, finishAnswer } from "./auth-answers.ts";
import {
  type AuthRequest,
  applyDefaults,
  checkEmail,
  forgiveReuse,
  inTurn,
  parseBody,
} from "./auth-requests.ts";
import { currentRequest, logFault, type RequestContext, requestContext } from "./context.ts";
import { Database } from "./database.ts";
import { bearerToken } from "./keys.ts";

/** Takes a mail in the shape of Mailpit. */
export type AuthMail = (mail: {
  From: { Email: string };
  To: { Email: string }[];
  Subject: string;
  Text: string;
  HTML: string;
}) => unknown;

export function createAuth(options: {
  adminUrl: string;
  config: Config;
  env: Keys & { API_URL: string };
  mail: AuthMail;
}) {
  const { JWT_SECRET: secret, API_URL: siteUrl } = options.env;
  const settings = options.config.auth;
  // As on the platform the service logs in as its own role, and triggers on its tables run as that role.
  const connection = new Database(options.adminUrl, "supabase_auth_admin", 5);
  const sql = connection.driver;
  const app = new App({
    connection,
    api: { enabled: false, external_url: siteUrl },
    auth: upstreamConfig(settings, secret),
    storage: { enabled: false },
    studio: { enabled: false },
    db: { migrations: { enabled: false } },
    options: {
      server: { admin: false, disableStudio: true, apiKeys: false },
      drivers: { email: mailDriver(options.mail, siteUrl, settings.site_url) },
    },
  });
  const issuer = { secret, name: `${siteUrl}/auth/v1` };

  async function forward(outer: Request, url: URL, request: AuthRequest): Promise<Response> {
    const headers = new Headers(outer.headers);
    for (const name of ["apikey", "content-length"]) headers.delete(name);
    if (bearerToken(headers) === null) headers.delete("authorization"); // an opaque key, or none
    const inner = new URL(url);
    inner.search = request.query.toString();
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    return app.fetch(new Request(inner, { method: request.method, headers, body }));
  }

  async function respond(outer: Request, url: URL, request: AuthRequest): Promise<Response> {
    applyDefaults(request);
    const refused = checkEmail(request);
    if (refused) return refused;
    return inTurn(request, async () => {
      await forgiveReuse(sql, request, settings.refresh_token_reuse_interval);
      return forward(outer, url, request);
    });
  }

  async function answer(outer: Request, url: URL, text: string): Promise<Response> {
    const query = new URLSearchParams(url.searchParams);
    query.delete("apikey");
    const { method } = outer;
    const path = url.pathname.replace(/^\/auth\/v1/, "");
    const redirectTo = query.get("redirect_to");
    const context: RequestContext = { method, path, headers: {}, claims: {}, role: "", redirectTo };
    return requestContext.run(context, async () => {
      const body = parseBody(text);
      let response =
        body instanceof Response ? body : await respond(outer, url, { method, path, query, body });
      if (response.status >= 500) {
        logFault(context, response.status);
        response = authError(500, "unexpected_failure", "Unexpected failure, please check the log");
      }
      return finishAnswer(sql, issuer, response, outer.headers.get("x-supabase-api-version"));
    });
  }

  return {
    /**
     * Bend: schema `auth`.
     * Upstream creates its tables as the superuser. On the platform `supabase_auth_admin` owns them.
     * `local/platform-auth.sql` guards them and adds what is missing.
     */
    async ensureSchema(): Promise<void> {
      // The schema exists already, and its owner may not create schemas.
      const tables = getAuthSchemaSql().replace(/create schema if not exists auth;/i, "");
      await sql.begin((transaction) => transaction.unsafe(tables).simple());
    },
    answer,
    close: () => connection.close(),
  };
}

/**
 * Bend: links in mails.
 * Upstream points them at the web site and ignores `redirect_to`. The platform's go to the API, which sends
 * the browser on to `redirect_to`.
 */
function mailDriver(mail: AuthMail, apiUrl: string, webUrl: string): EmailDriver {
  const wrong = new URL("/auth/v1/verify", webUrl).href;
  return {
    async send({ to, subject, text = "", html = "" }) {
      const target = `redirect_to=${encodeURIComponent(currentRequest().redirectTo ?? webUrl)}`;
      const mend = (body: string) =>
        body
          .replaceAll(wrong, `${apiUrl}/auth/v1/verify`)
          .replaceAll(/redirect_to=[^&"\s<]*/g, () => target);
      const people = { From: { Email: "auth@mail.local" }, To: [{ Email: to }] };
      mail({ ...people, Subject: subject, Text: mend(text), HTML: mend(html) });
    },
  };
}

/** Upstream knows no rate limits, and refuses what it does not know. */
function upstreamConfig(config: Config["auth"], jwtSecret: string): object {
  const { rate_limit: _, email, ...auth } = config;
  const { enabled: enable_signup, ...rest } = email;
  return { ...auth, enabled: true, jwt_secret: jwtSecret, email: { ...rest, enable_signup } };
}

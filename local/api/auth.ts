import { App, type EmailDriver, getAuthSchemaSql } from "@supabase/lite";
import type { Config } from "../config.ts";
import { adminAnswer } from "./auth-admin.ts";
import { authError, withClaims } from "./auth-answers.ts";
import { keepChallenge, takePrefix, withCode, withPrefix } from "./auth-recovery.ts";
import { mendRequest } from "./auth-requests.ts";
import { currentRequest, logFault, type RequestContext, requestContext } from "./context.ts";
import { Database } from "./database.ts";
import type { ApiOptions } from "./index.ts";

export function createAuth(options: ApiOptions) {
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
    db: { migrations: { enabled: false } },
    options: {
      server: { admin: false, disableStudio: true, apiKeys: false },
      drivers: { email: mailDriver(options.mail, siteUrl, settings.site_url) },
    },
  });
  const issuer = { secret, name: `${siteUrl}/auth/v1` };

  async function answer(outer: Request, url: URL, text: string): Promise<Response> {
    const context: RequestContext = {
      method: outer.method,
      path: url.pathname.replace(/^\/auth\/v1/, ""),
      headers: {},
      claims: {},
      role: "",
      redirectTo: url.searchParams.get("redirect_to"),
    };
    return requestContext.run(context, async () => {
      const admin = await adminAnswer(sql, options.env, outer, context.path);
      if (admin) return admin;
      if (context.path === "/verify") context.pkce = takePrefix(url);
      const inner = mendRequest(outer, url, text);
      if (inner instanceof Response) return inner;
      if (context.path === "/recover") {
        context.pkce = await keepChallenge(sql, text);
      }
      const response = await app.fetch(inner);
      if (context.pkce && context.path === "/verify") return withCode(sql, response);
      if (response.status < 500) return withClaims(sql, issuer, response);
      logFault(context, response.status);
      return authError(500, "unexpected_failure", "Unexpected failure, please check the log");
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
function mailDriver(mail: ApiOptions["mail"], apiUrl: string, webUrl: string): EmailDriver {
  const wrong = new URL("/auth/v1/verify", webUrl).href;
  return {
    async send({ to, subject, text = "", html = "" }) {
      const { redirectTo, pkce } = currentRequest();
      const target = `redirect_to=${encodeURIComponent(redirectTo ?? webUrl)}`;
      const mend = (body: string) =>
        (pkce ? withPrefix(body) : body)
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

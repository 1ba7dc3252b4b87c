import { App } from "@supabase/lite";
import type { Config } from "../config.ts";
import type { Keys } from "../keys.ts";
import { apiVersionHeader, errorOfVersion, unexpectedFailure } from "./auth-errors.ts";
import { createMailer, type Mail } from "./auth-mail.ts";
import { checkPasswordChange } from "./auth-password.ts";
import {
  type AuthRequest,
  applyDefaults,
  checkEmail,
  forgiveReuse,
  inTurn,
  parseBody,
} from "./auth-requests.ts";
import { ensureAuthSchema } from "./auth-schema.ts";
import { completeToken, type SignIn, withCompleteTokens } from "./auth-tokens.ts";
import { logFault, type RequestContext, requestContext } from "./context.ts";
import { Database } from "./database.ts";
import { bearerToken } from "./keys.ts";

export interface AuthService {
  ensureSchema(): Promise<void>;
  answer(
    request: Request,
    url: URL,
    body: Uint8Array,
    peer: { address: string },
  ): Promise<Response>;
  close(): Promise<void>;
}

export function createAuth(options: {
  adminUrl: string;
  config: Config;
  keys: Keys;
  siteUrl: string;
  mail: Mail;
}): AuthService {
  const { config, keys, siteUrl } = options;
  // As on the platform the service logs in as its own role, and triggers on its tables run as that role.
  const connection = new Database(options.adminUrl, "supabase_auth_admin", 5);
  const sql = connection.driver;
  const app = new App({
    connection,
    api: { enabled: false, external_url: siteUrl },
    auth: upstreamConfig(config.auth, keys.jwtSecret),
    storage: { enabled: false },
    studio: { enabled: false },
    db: { migrations: { enabled: false } },
    options: { server: { admin: false, disableStudio: true, apiKeys: false } },
  });
  app._mailer = createMailer(options.mail, siteUrl, config.auth.site_url);
  const tokenOptions = { jwtSecret: keys.jwtSecret, issuer: `${siteUrl}/auth/v1` };

  async function forward(outer: Request, url: URL, request: AuthRequest): Promise<Response> {
    const headers = new Headers(outer.headers);
    headers.delete("apikey");
    headers.delete("content-length");
    if (bearerToken(headers) === null) headers.delete("authorization"); // an opaque key, or none
    const inner = new URL(url);
    inner.search = request.query.toString();
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    return app.fetch(new Request(inner, { method: request.method, headers, body }));
  }

  async function answer(
    outer: Request,
    url: URL,
    bytes: Uint8Array,
    peer: { address: string },
  ): Promise<Response> {
    const version = outer.headers.get(apiVersionHeader);
    const body = parseBody(bytes);
    if (body instanceof Response) return errorOfVersion(body, version);
    const query = new URLSearchParams(url.searchParams);
    query.delete("apikey");
    const path = url.pathname.replace(/^\/auth\/v1/, "");
    const request: AuthRequest = { method: outer.method, path, query, body };
    const context: RequestContext = {
      method: outer.method,
      path,
      headers: {},
      cookies: {},
      redirectTo: query.get("redirect_to"),
      claims: {},
      role: "supabase_auth_admin",
    };
    return requestContext.run(context, async () => {
      applyDefaults(request);
      const refused =
        checkEmail(request) ??
        (config.auth.email.secure_password_change
          ? await checkPasswordChange(
              sql,
              request,
              bearerToken(outer.headers),
              config.auth.email.otp_expiry,
            )
          : null);
      const response =
        refused ??
        (await inTurn(request, async () => {
          await forgiveReuse(sql, request, config.auth.refresh_token_reuse_interval);
          return forward(outer, url, request);
        }));
      if (response.status < 500) {
        const signIn = signInOf(request, outer.headers.get("user-agent"), peer.address);
        const complete = (token: string) => completeToken(sql, token, signIn, tokenOptions);
        return errorOfVersion(await withCompleteTokens(response, complete), version);
      }
      logFault(context, response.status);
      return errorOfVersion(unexpectedFailure(context), version);
    });
  }

  return {
    ensureSchema: () => ensureAuthSchema(sql),
    answer,
    close: () => connection.close(),
  };
}

function upstreamConfig(auth: Config["auth"], jwtSecret: string) {
  const { timebox, inactivity_timeout } = auth.sessions;
  const { max_frequency: _, enabled, ...email } = auth.email;
  return {
    enabled: true,
    jwt_secret: jwtSecret,
    site_url: auth.site_url,
    additional_redirect_urls: auth.additional_redirect_urls,
    jwt_expiry: auth.jwt_expiry,
    enable_refresh_token_rotation: auth.enable_refresh_token_rotation,
    refresh_token_reuse_interval: auth.refresh_token_reuse_interval,
    enable_signup: auth.enable_signup,
    enable_anonymous_sign_ins: auth.enable_anonymous_sign_ins,
    minimum_password_length: auth.minimum_password_length,
    sessions: {
      ...(timebox === undefined ? {} : { timebox: `${timebox}s` }),
      ...(inactivity_timeout === undefined ? {} : { inactivity_timeout: `${inactivity_timeout}s` }),
    },
    email: { ...email, enable_signup: enabled },
    external: auth.external,
  };
}

/** A refresh signs nobody in: it goes on with what the session knows. */
function signInOf({ path, query }: AuthRequest, agent: string | null, ip: string): SignIn | null {
  const grant = path === "/token" ? query.get("grant_type") : null;
  if (grant === "refresh_token") return null;
  const oauth = path === "/callback" || grant === "pkce";
  return { method: path === "/verify" ? "otp" : oauth ? "oauth" : "password", agent, ip };
}

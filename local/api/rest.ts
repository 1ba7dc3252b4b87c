import { App } from "@supabase/lite";
import type { Config } from "../config.ts";
import type { Keys } from "../keys.ts";
import { logFault, type RequestContext, requestContext } from "./context.ts";
import { type AcceptedKey, bearerToken, verifyToken } from "./keys.ts";
import { RestConnection } from "./rest-connection.ts";
import { isConnectionError, isDatabaseError, restError } from "./rest-errors.ts";

const INNER_KEY = "checked";

export async function createRest(options: {
  adminUrl: string;
  config: Config;
  env: Keys & { API_URL: string };
}) {
  const connection = new RestConnection(options.adminUrl, options.config.api);
  await connection.listen();
  const app = new App({
    connection,
    api: {
      enabled: true,
      ...options.config.api,
      pg_safe_update: true, // on the platform, `authenticator` loads the extension
      external_url: options.env.API_URL,
    },
    auth: { enabled: false },
    storage: { enabled: false },
    studio: { enabled: false },
    db: { migrations: { enabled: false } },
    options: {
      server: {
        admin: false,
        disableStudio: true,
        // Keys and tokens are checked before; here the resolver only says who was found.
        apiKeys: {
          resolver: async (key: string) => {
            const claims = requestContext.getStore()?.claims;
            return key === INNER_KEY && claims ? { type: "publishable" as const, claims } : null;
          },
        },
      },
    },
  });

  async function answer(
    request: Request,
    url: URL,
    body: string,
    key: AcceptedKey,
  ): Promise<Response> {
    const token = bearerToken(request.headers);
    const claims =
      token === null
        ? { role: key.opaque ? key.role : "anon" }
        : await verifyToken(token, options.env.JWT_SECRET);
    if (claims instanceof Response) return claims;
    const refused = unreadable(request, url, body);
    if (refused) return refused;

    const { apikey: _, authorization = "", ...readable } = Object.fromEntries(request.headers);
    const context: RequestContext = {
      method: request.method,
      path: url.pathname.replace(/^\/rest\/v1/, "") || "/",
      headers: token === null ? readable : { ...readable, authorization },
      claims,
      role: typeof claims.role === "string" ? claims.role : "anon",
    };
    const inner = new URL(url);
    inner.searchParams.delete("apikey");
    const headers = new Headers({ ...readable, apikey: INNER_KEY });
    // Upstream takes HEAD on an RPC for a POST without arguments; the platform for a GET.
    const bodyless = request.method === "GET" || request.method === "HEAD";
    const method = bodyless && context.path.startsWith("/rpc/") ? "GET" : request.method;
    return requestContext.run(context, async () => {
      const response = await app.fetch(
        new Request(inner, { method, headers, body: bodyless ? null : body }),
      );
      const finished = await finish(response, context);
      return request.method === "HEAD" ? new Response(null, finished) : finished;
    });
  }

  return { answer, close: () => connection.close() };
}

/**
 * Bend: requests that nobody can read.
 * Upstream writes names into its SQL, so that a NUL in one breaks the connection, and fails on a row that
 * is no object. The platform answers 400: its parser with PGRST102, or Postgres where `columns=` lets the
 * body through as it is.
 */
function unreadable(request: Request, url: URL, body: string): Response | null {
  if (/%00/.test(url.search)) {
    const message = 'invalid byte sequence for encoding "UTF8": 0x00';
    return restError(400, { code: "22021", message });
  }
  const type = request.headers.get("content-type") ?? "application/json";
  const writesRows = /^(POST|PATCH|PUT)$/.test(request.method) && !/\/rpc\//.test(url.pathname);
  if (!writesRows || !type.includes("json")) return null;
  try {
    const rows = [JSON.parse(body)].flat();
    if (rows.every((row) => typeof row === "object" && row && !Array.isArray(row))) return null;
  } catch {
    return null; // upstream says so
  }
  const isPassedOn = request.method !== "PUT" && url.searchParams.has("columns");
  return isPassedOn
    ? restError(400, { code: "22023", message: "cannot read rows from a value that is no object" })
    : restError(400, { code: "PGRST102", message: "All object keys must match" });
}

/**
 * Bend: faults.
 * Upstream's answer to a fault of its own quotes the error. One that comes before the request has become a
 * query is the request's: upstream trips over a lone quote, and operators named like methods
 * (`id=toString.1`). The platform answers 400.
 */
async function finish(response: Response, context: RequestContext): Promise<Response> {
  if (response.status < 500) return response;
  const { call, fault } = context;
  if (fault && !call && !isDatabaseError(fault) && !isConnectionError(fault)) {
    return restError(400, { code: "PGRST100", message: "The request cannot be parsed" });
  }
  logFault(context, response.status);
  const known = /^\{"code":"(?!SUP")/.test(await response.clone().text());
  return known ? response : restError(500, { code: "PGRSTX00", message: "Internal server error" });
}

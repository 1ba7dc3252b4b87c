import { App } from "@supabase/lite";
import { errorResponse } from "../http.ts";
import { currentRequest, logFault, type RequestContext, requestContext } from "./context.ts";
import type { ApiOptions } from "./index.ts";
import { type AcceptedKey, bearerToken, verifyToken } from "./keys.ts";
import { RestConnection } from "./rest-connection.ts";
import { isConnectionError, isDatabaseError } from "./rest-errors.ts";

export async function createRest(options: ApiOptions) {
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
    db: { migrations: { enabled: false } },
    options: {
      server: {
        admin: false,
        disableStudio: true,
        // Keys and tokens are checked before; here the resolver only says who was found.
        apiKeys: {
          resolver: async () => ({ type: "publishable" as const, claims: currentRequest().claims }),
        },
      },
    },
  });

  async function answer(request: Request, url: URL, body: string, key: AcceptedKey) {
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
    const headers = new Headers({ ...readable, apikey: "checked" });
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
    return errorResponse(400, "22021", 'invalid byte sequence for encoding "UTF8": 0x00');
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
    ? errorResponse(400, "22023", "cannot read rows from a value that is no object")
    : errorResponse(400, "PGRST102", "All object keys must match");
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
    return errorResponse(400, "PGRST100", "The request cannot be parsed");
  }
  logFault(context, response.status);
  const known = /^\{"code":"(?!SUP")/.test(await response.clone().text());
  return known ? response : errorResponse(500, "PGRSTX00", "Internal server error");
}

import { App } from "@supabase/lite";
import type { Config } from "../config.ts";
import type { Keys } from "../keys.ts";
import { restError } from "./answers.ts";
import { logFault, type RequestContext, requestContext } from "./context.ts";
import { type AcceptedKey, bearerToken } from "./keys.ts";
import { RestConnection } from "./rest-connection.ts";
import { verifyToken } from "./tokens.ts";

const innerKey = "checked";

export interface RestService {
  answer(request: RestRequest): Promise<Response>;
  close(): Promise<void>;
}

export interface RestRequest {
  request: Request;
  url: URL;
  body: Uint8Array<ArrayBuffer>;
  key: AcceptedKey;
  peer: { address: string };
}

export async function createRest(options: {
  adminUrl: string;
  config: Config;
  keys: Keys;
  siteUrl: string;
}): Promise<RestService> {
  const { schemas, extra_search_path, max_rows } = options.config.api;
  const connection = new RestConnection(options.adminUrl, options.config.api);
  await connection.listen();
  const app = new App({
    connection,
    api: {
      enabled: true,
      schemas,
      extra_search_path,
      max_rows,
      pg_safe_update: true, // on the platform, `authenticator` loads the extension
      external_url: options.siteUrl,
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
            return key === innerKey && claims ? { type: "publishable" as const, claims } : null;
          },
        },
      },
    },
  });

  async function answer({ request, url, body, key, peer }: RestRequest): Promise<Response> {
    const token = bearerToken(request.headers);
    const verified =
      token === null
        ? { role: key.opaque ? key.role : "anon" }
        : await verifyToken(token, options.keys.jwtSecret);
    if (verified instanceof Response) return verified;
    const refused = unreadable(request, url, body);
    if (refused) return refused;

    const inner = new URL(url);
    inner.searchParams.delete("apikey");
    const headers = new Headers(request.headers);
    headers.delete("authorization");
    headers.set("apikey", innerKey);
    const context: RequestContext = {
      method: request.method,
      path: url.pathname.replace(/^\/rest\/v1/, "") || "/",
      headers: headersForDatabase(request.headers, peer.address),
      cookies: cookies(request.headers.get("cookie")),
      claims: verified,
      role: typeof verified.role === "string" ? verified.role : "anon",
    };
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
 * Upstream writes names into its SQL, so that a NUL in one breaks the connection, and fails on an upsert
 * of something that is no object. The platform answers 400.
 */
function unreadable(request: Request, url: URL, body: Uint8Array): Response | null {
  if (/%00/.test(url.search)) {
    const message = 'invalid byte sequence for encoding "UTF8": 0x00';
    return restError(400, { code: "22021", message });
  }
  const merges = request.headers.get("prefer")?.includes("resolution=") ?? false;
  if (request.method !== "PUT" && !merges) return null;
  let rows: unknown;
  try {
    rows = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null; // upstream says so
  }
  const isRow = (row: unknown) => typeof row === "object" && row !== null && !Array.isArray(row);
  if ([rows].flat().every(isRow)) return null;
  return restError(400, { code: "PGRST102", message: "All object keys must match" });
}

/** Header names in lower case; the caller's address as the platform's edge reports it. */
function headersForDatabase(headers: Headers, address: string): Record<string, string> {
  const { apikey: _, authorization, ...rest } = Object.fromEntries(headers);
  return {
    ...rest,
    ...(authorization && bearerToken(headers) !== null ? { authorization } : {}),
    "cf-connecting-ip": address,
  };
}

function cookies(header: string | null): Record<string, string> {
  const pairs = (header ?? "").split(/; */).filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
}

/** Upstream's answer to a fault of its own has a code of its own and quotes the error. */
async function finish(response: Response, context: RequestContext): Promise<Response> {
  if (response.status < 500) return response;
  logFault(context, response.status);
  const text = await response.clone().text();
  const known = /^\{"code":"(?!SUP")/.test(text);
  return known ? response : restError(500, { code: "PGRSTX00", message: "Internal server error" });
}

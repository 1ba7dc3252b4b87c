/**
 * What every function does the same way: routes, CORS, content type, bounded JSON bodies, zod, and
 * errors with one body. Nothing here touches Deno, the process or the clock.
 */
import type { z } from "zod";
import { ApiError, unknownPath } from "./errors.ts";

export interface HttpDeps {
  corsOrigins: "*" | string[];
  /** Told of every 5xx, with its cause, and the path without what may be a key. */
  log(entry: { requestId: string; method: string; path: string; cause: unknown }): void;
  newRequestId(): string;
}

export type Handler = (request: Request) => Promise<Response>;

/** Answers a request; `params` are the parts of the path that the route names with a colon. */
export type Route = (
  request: Request,
  params: Record<string, string>,
) => Response | Promise<Response>;

/** By the path behind the function's own name, such as `endpoints/:id`, then by method. */
export type Routes = Record<string, Record<string, Route>>;

const ALLOWED_HEADERS = "authorization, apikey, content-type, x-client-info";
/** How long a browser may remember a preflight, in seconds. */
const PREFLIGHT_AGE = "3600";

/**
 * The CORS headers for a request. An origin that is not allowed gets none, so the browser keeps the
 * answer from the page; authentication never rests on it.
 */
function corsHeaders(request: Request, origins: "*" | string[]): Record<string, string> {
  const exposed = { "Access-Control-Expose-Headers": "Retry-After" };
  if (origins === "*") return { "Access-Control-Allow-Origin": "*", ...exposed };
  const origin = request.headers.get("origin");
  if (!origin || !origins.includes(origin)) return { Vary: "Origin" };
  return { "Access-Control-Allow-Origin": origin, Vary: "Origin", ...exposed };
}

/**
 * A function's handler: answers the preflight, finds the route (404 `not_found`, 405
 * `method_not_allowed`), turns whatever is thrown into the error body, and puts the CORS headers on
 * every answer.
 */
export function createRouter(deps: HttpDeps, routes: Routes): Handler {
  const route = finder(routes);
  const methods = [...new Set(Object.values(routes).flatMap(Object.keys))];
  return async (request) => {
    const cors = corsHeaders(request, deps.corsOrigins);
    const response =
      request.method === "OPTIONS"
        ? preflightAnswer(methods, "Access-Control-Allow-Origin" in cors)
        : await route(request).catch((error: unknown) => errorAnswer(error, request, deps));
    // A copy, because the headers of an answer that came from fetch cannot be changed.
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(cors)) {
      if (name === "Vary") headers.append(name, value);
      else headers.set(name, value);
    }
    return new Response(response.body, { status: response.status, headers });
  };
}

function finder(routes: Routes): Handler {
  const table = Object.entries(routes).map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
    methods: new Map(Object.entries(methods)),
  }));
  return async (request) => {
    // The first part is the function's own name.
    const path = new URL(request.url).pathname.split("/").slice(2).join("/");
    for (const { pattern, methods } of table) {
      const found = pattern.exec(path);
      if (!found) continue;
      const route = methods.get(request.method);
      if (!route) throw methodNotAllowed([...methods.keys()]);
      return route(request, found.groups ?? {});
    }
    throw unknownPath();
  };
}

/** RFC 9110 wants `Allow` with it. */
function methodNotAllowed(allowed: string[]): ApiError {
  return new ApiError(405, "method_not_allowed", "This method is not supported here", {
    headers: { Allow: [...allowed, "OPTIONS"].join(", ") },
  });
}

/** Names the methods of the whole function, whatever the path: browsers only compare theirs. */
function preflightAnswer(methods: string[], originAllowed: boolean): Response {
  const headers = {
    Allow: [...methods, "OPTIONS"].join(", "),
    ...(originAllowed && {
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Max-Age": PREFLIGHT_AGE,
    }),
  };
  return new Response(null, { status: 204, headers });
}

/**
 * What is not an ApiError below 500 becomes `internal_error`; the cause goes to the log under the
 * request id that the caller is shown.
 */
function errorAnswer(error: unknown, request: Request, deps: HttpDeps): Response {
  if (error instanceof ApiError && error.status < 500) {
    return Response.json(error.body, { status: error.status, headers: error.headers });
  }
  const requestId = deps.newRequestId();
  const path = loggedPath(request);
  deps.log({ requestId, method: request.method, path, cause: error });
  const shown = new ApiError(500, "internal_error", "Something went wrong on our side", {
    details: { request_id: requestId },
  });
  return Response.json(shown.body, { status: shown.status });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Where a fault was, without what may be a key: no query, and of the path our words and ids only. The
 * address of a feed opens it.
 */
function loggedPath(request: Request): string {
  const parts = new URL(request.url).pathname.split("/");
  return parts
    .map((part) => (/^[a-z-]{0,30}$/.test(part) || UUID.test(part) ? part : "(hidden)"))
    .join("/");
}

/** The whole body, or 413 as soon as it is longer than `limit`: what is declared is not trusted. */
export async function readBounded(request: Request, limit: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new ApiError(413, "payload_too_large", `The body is larger than ${limit} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await reader.cancel();
      throw tooLarge();
    }
    chunks.push(value);
  }
  const body = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}

/**
 * The JSON body of a request: 415 `unsupported_media_type` unless it says `application/json`, 413
 * over `limit` bytes, 400 `invalid_json` for what is not JSON in UTF-8.
 */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new ApiError(415, "unsupported_media_type", "The body has to be application/json");
  }
  const bytes = await readBounded(request, limit);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ApiError(400, "invalid_json", "The body is not JSON");
  }
}

/**
 * A value that has the schema's shape, or 422 `validation_failed` with `details` =
 * `{"fields": {"<path>": "<what is wrong>"}}`. Write schemas with `z.strictObject`: an unknown key
 * is a misunderstanding, and is named as a field of its own.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // A Map, since a field may be called `__proto__`.
  const fields = new Map<string, string>();
  for (const issue of result.error.issues) {
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) fields.set([...issue.path, key].join("."), "Unknown field");
    } else {
      const field = issue.path.join(".") || "body";
      if (!fields.has(field)) fields.set(field, issue.message);
    }
  }
  throw new ApiError(422, "validation_failed", "Some fields are not valid", {
    details: { fields: Object.fromEntries(fields) },
  });
}

/** A checked JSON body: `readJson`, then `validate`. */
export async function readValid<T>(
  request: Request,
  schema: z.ZodType<T>,
  limit: number,
): Promise<T> {
  return validate(schema, await readJson(request, limit));
}

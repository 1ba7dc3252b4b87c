/** The client: supabase-js with this project's types, one error, and retries that only repeat what may be repeated. */
import {
  createClient as createSupabaseClient,
  type SupabaseClient,
  type SupabaseClientOptions,
} from "@supabase/supabase-js";
import type { Database } from "./database.ts";
import { ApiError, type Asked } from "./errors.ts";
import { type Functions, functionRoutes } from "./functions.ts";
import { type RetryOptions, retryingFetch } from "./retrying-fetch.ts";

type Rpcs = Database["public"]["Functions"];
export type RpcName = keyof Rpcs & string;
export type RpcArgs<Name extends RpcName> = Rpcs[Name]["Args"];
export type RpcAnswer<Name extends RpcName> = Rpcs[Name]["Returns"];
/** Arguments may be left out where every one of them may. */
type Rest<Args> =
  Partial<Args> extends Args
    ? [args?: [Args] extends [never] ? Record<string, never> : Args, options?: CallOptions]
    : [args: Args, options?: CallOptions];

export interface ClientOptions {
  /** Of a portal session, of a key, or of sessions that you keep; then there is no `auth`. */
  accessToken?: () => Promise<string | null>;
  /** As of supabase-js, whose sessions are kept in `localStorage` unless told otherwise. PKCE unless told otherwise. */
  auth?: NonNullable<SupabaseClientOptions<"public">["auth"]>;
  fetch?: typeof fetch;
  /** Milliseconds that a call waits in all before it is given up, 10 000 unless given; 0 never waits. */
  maxWait?: number;
  /** Ends every call of this client. */
  signal?: AbortSignal;
  /** For tests. */
  retry?: Pick<RetryOptions, "sleep" | "random">;
}

export interface CallOptions {
  signal?: AbortSignal;
}

/** One request with the caller's token, or with `token`; null is nobody's. */
export type Call = <Answer>(
  method: string,
  path: string,
  options?: CallOptions & { body?: unknown; token?: string | null },
) => Promise<Answer>;

/** What supabase-js resolves to, of tables and of auth. */
type Outcome = { data?: unknown; error: unknown };
type DataOf<Result extends Outcome> = Result extends { data: infer Data; error: null }
  ? Data
  : Result extends { data: unknown }
    ? never
    : undefined;

export interface ApiClient {
  /** supabase-js itself, for whatever is not here. Its own repeats are off, ours are in its `fetch`. */
  supabase: SupabaseClient<Database>;
  from: SupabaseClient<Database>["from"];
  auth: SupabaseClient<Database>["auth"];
  /** Calls a function of the database; its answer, or an `ApiError`. */
  rpc<Name extends RpcName>(name: Name, ...rest: Rest<RpcArgs<Name>>): Promise<RpcAnswer<Name>>;
  /** Sends a query of `from()`, or awaits a call of `auth`: its data, or an `ApiError`. */
  run<Result extends Outcome>(query: PromiseLike<Result>): Promise<DataOf<Result>>;
  /** The same with the number of all rows, for a query with `{ count: "exact" }`. */
  runCounted<Result extends Outcome & { count: number | null }>(
    query: PromiseLike<Result>,
  ): Promise<{ data: DataOf<Result>; count: number }>;
  functions: Functions;
}

export function createClient(url: string, key: string, options: ClientOptions = {}): ApiClient {
  const { accessToken, auth, maxWait = 10_000, signal, retry } = options;
  const plain: typeof fetch = options.fetch ?? ((...args) => fetch(...args));
  const patient = retryingFetch({ ...retry, fetch: plain, url, maxWait, signal });

  let isMade = false;
  const supabase = createSupabaseClient<Database>(url, key, {
    global: { fetch: patient },
    realtime: {
      transport: globalThis.WebSocket ?? (NoWebSocket as never),
      ...(accessToken && { accessToken: async () => null }),
    },
    ...(accessToken
      ? // Asked at once for realtime, which nothing here uses: before anybody has called anything.
        { accessToken: async () => (isMade ? accessToken() : null) }
      : { auth: { flowType: "pkce", ...auth } }),
  });
  isMade = true;
  // supabase-js has no option for it, but hands this one on to every query.
  (supabase as unknown as { rest: { retry: boolean } }).rest.retry = false;

  const token = async () => {
    if (accessToken) return accessToken();
    const { data, error } = await supabase.auth.getSession();
    // Who cannot be known at the moment is not nobody.
    if (error) throw new ApiError(error.status ?? 0, error, {}, error);
    return data.session?.access_token;
  };

  const call: Call = async (method, path, { body, signal, token: given } = {}) => {
    const asked = { method, body };
    const bearer = given === undefined ? await token() : given;
    const headers: Record<string, string> = { apikey: key, accept: "application/json" };
    if (bearer) headers.authorization = `Bearer ${bearer}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    const refuse = (cause: unknown) => refuseUnanswered(cause, asked, signal, options.signal);
    const response = await patient(`${url.replace(/\/+$/, "")}/${path}`, init).catch(refuse);
    const text = await response.text().catch(refuse);
    const answer = asJson(text);
    if (!response.ok || answer === null) {
      throw new ApiError(response.status, answer?.json ?? { message: text }, asked);
    }
    return answer.json as never;
  };

  const settle = async <Result extends Outcome>(query: PromiseLike<Result>) => {
    const asked = describe(query);
    const result = (await query) as Result & { status?: number };
    if (result.error) {
      const { status = result.status ?? 0 } = result.error as { status?: number };
      if (asked.thrown !== undefined) {
        refuseUnanswered(asked.thrown, asked, (query as { signal?: AbortSignal }).signal, signal);
      }
      throw new ApiError(status, result.error, asked, result.error);
    }
    return result;
  };

  return {
    supabase,
    from: supabase.from.bind(supabase) as ApiClient["from"],
    auth: supabase.auth,
    rpc: (name, ...[args, options]) =>
      call("POST", `rest/v1/rpc/${name}`, { ...options, body: args ?? {} }),
    run: async (query) => (await settle(query)).data as never,
    runCounted: async (query) => {
      const { data, count } = await settle(query);
      return { data: data as never, count: count ?? 0 };
    },
    functions: functionRoutes(call),
  };
}

export interface KeyTokenOptions extends Pick<ClientOptions, "fetch" | "maxWait" | "retry"> {
  /** For tests: milliseconds since 1970. */
  now?: () => number;
}

/** How long before its end a token is exchanged for the next one, in milliseconds. */
const EARLY = 60_000;

/** An access token for a program's key, for `accessToken`: kept, and renewed a minute before its end. */
export function keyToken(
  url: string,
  key: string,
  apiKey: string,
  { now = Date.now, ...options }: KeyTokenOptions = {},
): () => Promise<string> {
  const { token } = createClient(url, key, { ...options, accessToken: async () => null }).functions;
  let kept = { text: "", until: 0 };
  let exchanging: Promise<void> | undefined;
  const exchange = async () => {
    const { access_token, expires_in } = await token.exchange(apiKey);
    kept = { text: access_token, until: now() + expires_in * 1000 - EARLY };
  };
  return async () => {
    if (now() >= kept.until) {
      // One exchange for all calls that wait for it.
      exchanging ??= exchange().finally(() => {
        exchanging = undefined;
      });
      await exchanging;
    }
    return kept.text;
  };
}

class NoWebSocket {
  constructor() {
    throw new Error("There is no WebSocket here, and nothing of this API that needs one");
  }
}

/** Null for what is no JSON; an answer without a body is undefined. */
function asJson(text: string): { json: object | undefined } | null {
  try {
    return { json: text === "" ? undefined : JSON.parse(text) };
  } catch {
    return null;
  }
}

/** An abort stays what it is, and so does an error of ours, of getting the token; the rest is the network. */
function refuseUnanswered(
  cause: unknown,
  asked: Asked,
  ...signals: (AbortSignal | undefined)[]
): never {
  if (signals.some((signal) => signal?.aborted)) throw cause;
  const { name, message } = cause as Error;
  if (name === "AbortError" || name === "TimeoutError" || cause instanceof ApiError) throw cause;
  throw new ApiError(0, { code: "network", message }, asked, cause);
}

/** What of a query helps to explain its refusal; supabase-js would make a text of what its `fetch` throws. */
function describe(query: object): Asked & { thrown?: unknown } {
  const { method, url, body, fetch } = query as Partial<{
    method: string;
    url: URL;
    body: unknown;
    fetch: typeof globalThis.fetch;
  }>;
  const asked: Asked & { thrown?: unknown } = {};
  const table = url && /\/rest\/v1\/(\w+)$/.exec(url.pathname)?.[1];
  if (method) asked.method = method;
  if (table) asked.table = table;
  if (body !== undefined) asked.body = body;
  if (fetch) {
    const watched: typeof fetch = (...args) =>
      fetch(...args).catch((error: unknown) => {
        asked.thrown = error;
        throw error;
      });
    Object.assign(query, { fetch: watched });
  }
  return asked;
}

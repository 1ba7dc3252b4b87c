/** What functions ask of the database: RPCs, with the caller's token or with the secret key. */
import type { Database } from "./database.types.ts";
import type { PlatformEnv } from "./env.ts";
import { ApiError, type ErrorBody } from "./errors.ts";

type Rpcs = Database["public"]["Functions"];
export type RpcName = keyof Rpcs;

/** The generated types do not know which arguments may be null. */
export type RpcArgs<Name extends RpcName> = {
  [Key in keyof Rpcs[Name]["Args"]]: Rpcs[Name]["Args"][Key] | null | undefined;
};

/**
 * An RPC as the user: row-level security, the session check and the limits of the tier hold. Gives its
 * JSON as it came, whose numbers may have more digits than ours, or an error to pass on.
 */
export type UserRpc = <Name extends RpcName>(
  token: string,
  name: Name,
  args: RpcArgs<Name>,
) => Promise<string>;

/**
 * An RPC with the secret key. Its migration says what it answers; a refusal is a fault of ours, unless
 * the caller takes it out of the `ServerRpcError`.
 */
export type ServerRpc = <Name extends RpcName, Answer>(
  name: Name,
  args: RpcArgs<Name>,
) => Promise<Answer>;

/** A refusal of the Data API, with its own body and what its headers tell the caller to do. */
class PassedOn extends ApiError {
  readonly #body: ErrorBody;

  constructor(status: number, body: ErrorBody, headers: Record<string, string>) {
    super(status, body.code, body.message, { headers });
    this.#body = body;
  }

  override get body(): ErrorBody {
    return this.#body;
  }
}

/** An RPC of ours failed. The code says enough; the message could quote an argument. */
export class ServerRpcError extends Error {
  override readonly name = "ServerRpcError";
  /** What was asked for is not there; no fault of the function's name or of the key. */
  readonly isNotFound: boolean;
  /** A conflict, or somebody in the way, with a code of ours: the user can do something about it. */
  readonly refusal: ApiError | null;
  /** A rule of ours that what was asked for breaks; the user's doing only where it came from the user. */
  readonly unprocessable: ApiError | null;

  constructor(name: RpcName, status: number, text: string, headers: Headers) {
    const [, code = "none"] = /"code": *"(\w+)"/.exec(text) ?? [];
    super(`${name} failed with status ${status}, code ${code}`);
    this.isNotFound = status === 404 && code === "PGRST301";
    const told = (...statuses: number[]) =>
      statuses.includes(status) && /^[a-z_]+$/.test(code) ? refusal(status, text, headers) : null;
    this.refusal = told(409, 429);
    this.unprocessable = told(422);
  }
}

const PASSED_HEADERS = ["Retry-After", "WWW-Authenticate"];

function refusal(status: number, text: string, headers: Headers): PassedOn {
  const { code, message, details = null, hint = null } = JSON.parse(text) as ErrorBody;
  const passed = PASSED_HEADERS.flatMap((header) => {
    const value = headers.get(header);
    return value === null ? [] : [[header, value] as const];
  });
  return new PassedOn(status, { code, message, details, hint }, Object.fromEntries(passed));
}

type Env = Pick<PlatformEnv, "supabaseUrl" | "publishableKey" | "secretKey">;

export function userRpc(env: Omit<Env, "secretKey">, fetcher = fetch): UserRpc {
  return async (token, name, args) => {
    const headers = { apikey: env.publishableKey, authorization: `Bearer ${token}` };
    const answer = await post(env, headers, name, args, fetcher);
    const text = await answer.text();
    if (answer.ok) return text;
    if (answer.status < 500) throw refusal(answer.status, text, answer.headers);
    throw new Error(`${name} failed with status ${answer.status}: ${text.slice(0, 200)}`);
  };
}

/** What a caller with the secret key needs. */
export type PlatformKeys = Omit<Env, "publishableKey">;

export function secretKeyHeaders(secretKey: string): Record<string, string> {
  return {
    apikey: secretKey,
    // A key of the new generation is no token.
    ...(!secretKey.startsWith("sb_") && { authorization: `Bearer ${secretKey}` }),
  };
}

export function serverRpc(env: PlatformKeys, fetcher = fetch): ServerRpc {
  const headers = secretKeyHeaders(env.secretKey);
  return async (name, args) => {
    const answer = await post(env, headers, name, args, fetcher);
    const text = await answer.text();
    if (answer.ok) return text === "" ? undefined : JSON.parse(text);
    throw new ServerRpcError(name, answer.status, text, answer.headers);
  };
}

function post(
  env: Pick<Env, "supabaseUrl">,
  headers: Record<string, string>,
  name: RpcName,
  args: object,
  fetcher: typeof fetch,
): Promise<Response> {
  return fetcher(`${env.supabaseUrl}/rest/v1/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(args),
  });
}

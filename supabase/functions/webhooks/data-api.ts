/** What the function asks of the database: RPCs, with the caller's token or with the secret key. */
import type { PlatformEnv } from "../_shared/env.ts";
import { ApiError, type ErrorBody } from "../_shared/errors.ts";
import type { Delivery, DeliveryQueue, Disabled } from "./dispatch.ts";

/** The answer of an RPC made with a user's token: its JSON as it came, or an error to pass on. */
export type UserRpc = (token: string, name: string, args: object) => Promise<string>;

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

const PASSED_HEADERS = ["Retry-After", "WWW-Authenticate"];

async function post(
  env: Pick<PlatformEnv, "supabaseUrl">,
  fetcher: typeof fetch,
  headers: Record<string, string>,
  name: string,
  args: object,
): Promise<Response> {
  return fetcher(`${env.supabaseUrl}/rest/v1/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(args),
  });
}

/** RPCs as the user: row-level security, the session check and the limits of the tier hold. */
export function userRpc(
  env: Pick<PlatformEnv, "supabaseUrl" | "publishableKey">,
  fetcher: typeof fetch = fetch,
): UserRpc {
  return async (token, name, args) => {
    const headers = { apikey: env.publishableKey, authorization: `Bearer ${token}` };
    const answer = await post(env, fetcher, headers, name, args);
    const text = await answer.text();
    if (answer.ok) return text;
    if (answer.status >= 500) {
      throw new Error(`${name} failed with status ${answer.status}: ${text.slice(0, 200)}`);
    }
    const passed = PASSED_HEADERS.flatMap((header) => {
      const value = answer.headers.get(header);
      return value === null ? [] : [[header, value] as const];
    });
    const { code, message, details = null, hint = null } = JSON.parse(text) as ErrorBody;
    const body = { code, message, details, hint };
    throw new PassedOn(answer.status, body, Object.fromEntries(passed));
  };
}

/** The queue of deliveries, with the secret key: RPCs that only the service role may execute. */
export function deliveryQueue(
  env: Pick<PlatformEnv, "supabaseUrl" | "secretKey">,
  fetcher: typeof fetch = fetch,
): DeliveryQueue {
  const headers = {
    apikey: env.secretKey,
    // A key of the new generation is no token.
    ...(!env.secretKey.startsWith("sb_") && { authorization: `Bearer ${env.secretKey}` }),
  };
  const call = async (name: string, args: object): Promise<unknown> => {
    const answer = await post(env, fetcher, headers, name, args);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${name} failed with status ${answer.status}`);
    return JSON.parse(text);
  };
  return {
    claim: async (max_count) =>
      (await call("claim_webhook_deliveries", { max_count })) as Delivery[],
    finish: async ({ delivery_id, claim_token }, outcome) =>
      (await call("finish_webhook_delivery", {
        delivery_id,
        claim_token,
        ...outcome,
      })) as Disabled | null,
  };
}

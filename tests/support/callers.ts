/** supabase-js clients for each kind of caller, with the public key and a token where they have one. */
import {
  createClient,
  type SupabaseClient,
  type SupabaseClientOptions,
} from "@supabase/supabase-js";
import { SignJWT } from "jose";
import WebSocket from "ws";
import type { Database } from "../../supabase/functions/_shared/database.types.ts";
import { stack } from "./stack.ts";

export type Api = SupabaseClient<Database>;

/**
 * Like a client that does as `busy` says: others hold the lock or the connections for a moment, with
 * many tests at once, and the same request goes through a little later. Every other answer is final.
 */
export const patientFetch: typeof fetch = async (input, init) => {
  for (let tries = 0; ; tries++) {
    const response = await fetch(input, init);
    if (response.status !== 429 || tries === 100) return response;
    const { code } = (await response.clone().json()) as { code: string };
    if (code !== "busy") return response;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Node 20 has no WebSocket of its own, and tests share no browser storage. */
const options = {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  global: { fetch: patientFetch },
  realtime: { transport: WebSocket as never },
} satisfies SupabaseClientOptions<"public">;

/** Where a caller calls: at the stack under test unless a test has one of its own. */
type Address = Pick<typeof stack, "apiUrl" | "publishableKey" | "secretKey">;

/** A caller with the public key only. */
export function anonymous({ apiUrl, publishableKey }: Address = stack): Api {
  return createClient<Database>(apiUrl, publishableKey, options);
}

/** Our own server: bypasses row-level security. */
export function server({ apiUrl, secretKey }: Address = stack): Api {
  return createClient<Database>(apiUrl, secretKey, options);
}

/** A caller with a token. */
export function bearer(token: string, { apiUrl, publishableKey }: Address = stack): Api {
  return createClient<Database>(apiUrl, publishableKey, {
    global: options.global,
    realtime: options.realtime,
    accessToken: async () => token,
  });
}

/** Signs a token as the auth service does. `claims` win over the defaults, `exp` included. */
export function signToken(
  claims: Record<string, unknown>,
  secret: string = stack.jwtSecret,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iat: now, exp: now + 3600, ...claims })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(secret));
}

/** One request without supabase-js, for headers, status and the exact body. */
export async function request(
  path: string,
  init: RequestInit & { token?: string | undefined } = {},
  send: typeof fetch = fetch,
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has("apikey")) headers.set("apikey", stack.publishableKey);
  if (init.token) headers.set("authorization", `Bearer ${init.token}`);
  if (init.body && !headers.has("content-type")) headers.set("content-type", "application/json");
  return send(`${stack.apiUrl}${path}`, { ...init, headers });
}

import type postgres from "postgres";
import { z } from "zod";
import { isEmail } from "../../supabase/functions/_shared/email-address.ts";
import { authError } from "./auth-answers.ts";

export interface AuthRequest {
  method: string;
  /** Without `/auth/v1`. */
  path: string;
  query: URLSearchParams;
  /** The JSON body; undefined when there is none. */
  body: Record<string, unknown> | undefined;
}

const text = z.string().nullish();
const object = z.record(z.string(), z.unknown()).nullish();
const bodySchema = z.looseObject({
  ...{ email: text, password: text, phone: text, token: text, token_hash: text, type: text },
  ...{ refresh_token: text, nonce: text, data: object, options: object },
});

/**
 * Bend: types of a body.
 * Upstream trusts them and fails with 500. The platform's decoder refuses them, and replaces half a
 * surrogate pair, which is no character.
 */
export function parseBody(body: string): Record<string, unknown> | undefined | Response {
  if (body.trim() === "") return undefined;
  try {
    const value = JSON.parse(body, (_key, item) =>
      typeof item === "string" ? Buffer.from(item).toString() : item,
    );
    return bodySchema.parse(value);
  } catch {
    return authError(400, "bad_json", "Could not parse request body as JSON");
  }
}

/**
 * Bend: the form of an address.
 * Upstream is content with an @ and a dot, and takes any length. The platform takes ASCII only, and looks
 * at the form wherever the address may become somebody's.
 */
export function checkEmail({ path, body }: AuthRequest): Response | null {
  const email = body?.email ?? "";
  if (path === "/token" || path === "/verify" || email === "" || isEmail(String(email)))
    return null;
  return authError(400, "validation_failed", "Unable to validate email address: invalid format");
}

/**
 * Bend: defaults.
 * Upstream signs out of this session when no scope is given, the platform of all of them. Upstream does
 * not know the type `email` of a code, which stands for any code that was mailed.
 */
export function applyDefaults(request: AuthRequest): void {
  const { path, query, body } = request;
  if (path === "/logout" && !query.has("scope")) query.set("scope", "global");
  if (path === "/verify" && body?.type === "email") body.type = "magiclink";
}

/**
 * Bend: a used refresh token within the reuse interval.
 * Upstream takes it for stolen unless it is the parent of the active one. The platform also forgives, for
 * `refresh_token_reuse_interval` seconds, older ones of the family: it goes on from the active token.
 */
export async function forgiveReuse(
  sql: postgres.Sql,
  request: AuthRequest,
  intervalSeconds: number,
): Promise<void> {
  const { path, query, body } = request;
  if (path !== "/token" || query.get("grant_type") !== "refresh_token" || !body) return;
  const used = String(body.refresh_token ?? "");
  const [active] = await sql<{ token: string }[]>`
    select active.token
    from auth.refresh_tokens used
    join auth.refresh_tokens active
      on active.session_id = used.session_id and not active.revoked
    where used.token = ${used}
      and used.revoked
      and used.updated_at > now() - make_interval(secs => ${intervalSeconds})
      and active.parent is distinct from used.token
    order by active.created_at desc
    limit 1`;
  if (active) body.refresh_token = active.token;
}

const turns = new Map<string, Promise<unknown>>();

/**
 * Bend: parallel refreshes.
 * Upstream rotates a token twice when two requests bring it at once, and later takes one for stolen. On
 * the platform they queue for a lock, and all get the same new token.
 */
export async function inTurn<T>(request: AuthRequest, run: () => Promise<T>): Promise<T> {
  const token = request.body?.refresh_token;
  if (request.path !== "/token" || typeof token !== "string") return run();
  const turn = (turns.get(token) ?? Promise.resolve()).then(run, run);
  turns.set(token, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(token) === turn) turns.delete(token);
  }
}

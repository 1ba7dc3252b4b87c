import type postgres from "postgres";
import { isEmail } from "../../supabase/functions/_shared/email-address.ts";
import { authError } from "./auth-errors.ts";

export interface AuthRequest {
  method: string;
  /** Without `/auth/v1`. */
  path: string;
  query: URLSearchParams;
  /** The JSON body; undefined when there is none. */
  body: Record<string, unknown> | undefined;
}

const texts = [
  "email",
  "password",
  "phone",
  "token",
  "token_hash",
  "type",
  "refresh_token",
  "nonce",
];
const objects = ["data", "options", "gotrue_meta_security"];

/**
 * Bend: types of a body.
 * Upstream trusts them and fails with 500. The platform's decoder refuses them.
 */
export function parseBody(bytes: Uint8Array): Record<string, unknown> | undefined | Response {
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === "") return undefined;
  let body: unknown;
  let hasNul = false;
  try {
    body = JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== "string") return value;
      hasNul ||= value.includes("\0");
      // As the platform's decoder does: half a surrogate pair is no character.
      return Buffer.from(value).toString();
    });
  } catch {
    return undecodable("invalid JSON");
  }
  // The platform fails with 500 here, because Postgres has no such character.
  if (hasNul) return undecodable("unsupported Unicode escape sequence");
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return undecodable("json: cannot unmarshal into Go value");
  }
  const fields = new Map(Object.entries(body));
  for (const name of texts) {
    const value = fields.get(name) ?? "";
    if (typeof value !== "string") return undecodable(`json: ${name} is not a string`);
  }
  for (const name of objects) {
    const value = fields.get(name) ?? {};
    if (typeof value !== "object" || Array.isArray(value)) {
      return undecodable(`json: ${name} is not an object`);
    }
  }
  return Object.fromEntries(fields);
}

function undecodable(reason: string): Response {
  return authError(400, "bad_json", `Could not parse request body as JSON: ${reason}`);
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

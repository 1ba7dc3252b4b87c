import type postgres from "postgres";
import type { Keys } from "../keys.ts";
import { authError } from "./auth-answers.ts";

/**
 * Bend: deleting a user.
 * Upstream has no admin API. Of the platform's, this is what the functions use; null for every other path.
 */
export async function adminAnswer(
  sql: postgres.Sql,
  keys: Keys,
  request: Request,
  path: string,
): Promise<Response | null> {
  const [, id] = /^\/admin\/users\/([0-9a-f-]{36})$/.exec(path) ?? [];
  if (id === undefined || request.method !== "DELETE") return null;
  const { headers } = request;
  const isServer =
    headers.get("apikey") === keys.SECRET_KEY ||
    headers.get("authorization") === `Bearer ${keys.SERVICE_ROLE_KEY}`;
  if (!isServer) return authError(403, "not_admin", "User not allowed");
  const gone = await sql`delete from auth.users where id = ${id} returning id`;
  return gone.length > 0 ? Response.json({}) : authError(404, "user_not_found", "User not found");
}

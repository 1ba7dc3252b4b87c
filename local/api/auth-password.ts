import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import type postgres from "postgres";
import { authError } from "./auth-errors.ts";
import type { AuthRequest } from "./auth-requests.ts";

/**
 * Bend: `secure_password_change`.
 * Upstream reads the setting and ignores it. On the platform a session older than a day has to name the
 * code that `/reauthenticate` mailed. The token itself is verified by upstream, before it changes anything.
 */
export async function checkPasswordChange(
  sql: postgres.Sql,
  request: AuthRequest,
  token: string | null,
  codeExpirySeconds: number,
): Promise<Response | null> {
  const { method, path, body } = request;
  if (method !== "PUT" || path !== "/user" || !body?.password || token === null) return null;
  const sessionId = sessionOf(token);
  if (sessionId === null) return null;
  const [session] = await sql<{ user_id: string; email: string; recent: boolean }[]>`
    select s.user_id, u.email, s.created_at > now() - interval '24 hours' as recent
    from auth.sessions s
    join auth.users u on u.id = s.user_id
    where s.id = ${sessionId}`;
  if (!session || session.recent) return null;
  if (!body.nonce) {
    return authError(400, "reauthentication_needed", "Password update requires reauthentication");
  }
  const hash = createHash("sha256")
    .update(session.email.toLowerCase() + body.nonce)
    .digest("hex");
  const { count } = await sql`
    update auth.users
    set reauthentication_token = null
    where id = ${session.user_id}
      and reauthentication_token = ${hash}
      and reauthentication_sent_at > now() - make_interval(secs => ${codeExpirySeconds})`;
  if (count === 1) return null;
  return authError(422, "reauthentication_not_valid", "Nonce has expired or is invalid");
}

function sessionOf(token: string): string | null {
  try {
    const { session_id: id } = decodeJwt(token);
    return typeof id === "string" && /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}

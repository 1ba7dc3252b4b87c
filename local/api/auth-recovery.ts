import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import type postgres from "postgres";

/** What the platform puts in front of a token that is worth a code, not a session. */
const PREFIX = "pkce_";

/**
 * Bend: recovery with PKCE.
 * Upstream forgets the challenge, and the link in its mail leads on with the tokens of a session in the
 * fragment, which the PKCE flow of a client does not take. The platform's leads on with a code, for whoever
 * has the verifier. So the challenge is kept where upstream looks when a code is exchanged.
 */
export async function keepChallenge(sql: postgres.Sql, text: string): Promise<boolean> {
  const { email, code_challenge, code_challenge_method } = JSON.parse(text || "{}");
  if (!code_challenge) return false;
  await sql`
    insert into auth.flow_state
      (id, user_id, authentication_method, provider_type, code_challenge, code_challenge_method)
    select ${randomUUID()}, id, 'recovery', 'recovery', ${String(code_challenge)},
      ${String(code_challenge_method).toLowerCase()}
    from auth.users where email = ${String(email).toLowerCase()}`;
  return true;
}

/** The text of a mail, with a link that leads on with a code. */
export function withPrefix(mail: string): string {
  return mail.replaceAll(/([?&](?:amp;)?token=)/g, `$1${PREFIX}`);
}

/** Takes the prefix off a link that is opened; says whether there was one. */
export function takePrefix(link: URL): boolean {
  const token = link.searchParams.get("token");
  if (!token?.startsWith(PREFIX)) return false;
  link.searchParams.set("token", token.slice(PREFIX.length));
  return true;
}

/** The redirect to the page, with a code instead of the session that upstream has just made, or its error. */
export async function withCode(sql: postgres.Sql, response: Response): Promise<Response> {
  const [page, hash = ""] = response.headers.get("location")?.split("#") ?? [];
  if (!page) return response;
  const fragment = new URLSearchParams(hash);
  const target = new URL(page);
  const token = fragment.get("access_token");
  if (token) {
    const { sub = "", session_id } = decodeJwt(token);
    const code = randomUUID();
    await sql`delete from auth.sessions where id = ${String(session_id)}`;
    await sql`
      update auth.flow_state
      set auth_code = ${code}, auth_code_issued_at = now(), created_at = now()
      where id = (
        select id from auth.flow_state
        where user_id = ${sub} and authentication_method = 'recovery' and auth_code is null
        order by created_at desc limit 1
      )`;
    target.searchParams.set("code", code);
  } else {
    for (const [name, value] of fragment) target.searchParams.set(name, value);
    target.hash = hash;
  }
  const headers = new Headers(response.headers);
  headers.set("location", target.href);
  return new Response(null, { status: response.status, headers });
}

import { decodeJwt, SignJWT } from "jose";
import type postgres from "postgres";

interface Issuer {
  secret: string;
  name: string;
}

export function authError(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "x-sb-error-code": code } },
  );
}

/**
 * Bend: claims.
 * Upstream's access tokens have sub, aud, role, email, session_id, iat and exp. The platform's have more,
 * the metadata among them. So a token is signed again on its way out, its times unchanged: it is in a body
 * or, after a link in a mail, in the fragment of an address.
 */
export async function withClaims(
  sql: postgres.Sql,
  issuer: Issuer,
  response: Response,
): Promise<Response> {
  const headers = new Headers(response.headers);
  const [page, hash = ""] = headers.get("location")?.split("#") ?? [];
  const fragment = new URLSearchParams(hash);
  const token = fragment.get("access_token");
  if (token) {
    fragment.set("access_token", await completeToken(sql, issuer, token));
    headers.set("location", `${page}#${fragment}`);
    return new Response(null, { status: response.status, headers });
  }
  if (!response.ok || !headers.get("content-type")?.includes("json")) return response;
  const body = await response.json();
  headers.delete("content-length");
  if (typeof body?.access_token === "string") {
    body.access_token = await completeToken(sql, issuer, body.access_token);
  }
  return Response.json(body, { status: response.status, headers });
}

async function completeToken(sql: postgres.Sql, issuer: Issuer, token: string): Promise<string> {
  const { sub = "", session_id, iat = 0, exp = 0 } = decodeJwt(token);
  const [account] = await sql`
    select u.aud, u.role, coalesce(u.email, '') as email, coalesce(u.phone, '') as phone,
      coalesce(u.raw_app_meta_data, '{}') as app_metadata,
      coalesce(u.raw_user_meta_data, '{}') as user_metadata,
      u.is_anonymous, coalesce(s.aal, 'aal1') as aal
    from auth.users u
    join auth.sessions s on s.user_id = u.id
    where u.id = ${sub} and s.id = ${String(session_id)}`;
  if (!account) return token;
  return new SignJWT({ ...account, session_id })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(issuer.name)
    .setSubject(sub)
    .setIssuedAt(iat)
    .setExpirationTime(exp)
    .sign(new TextEncoder().encode(issuer.secret));
}

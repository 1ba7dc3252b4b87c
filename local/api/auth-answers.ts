import { decodeJwt, SignJWT } from "jose";
import type postgres from "postgres";

interface Issuer {
  secret: string;
  name: string;
}

const namedCodes = "2024-01-01";

export function authError(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "x-sb-error-code": code } },
  );
}

/** What the platform's answer has and upstream's lacks; `version` is the one the caller asks for. */
export async function finishAnswer(
  sql: postgres.Sql,
  issuer: Issuer,
  response: Response,
  version: string | null,
): Promise<Response> {
  const headers = new Headers(response.headers);
  const { status } = response;
  const [page, hash] = headers.get("location")?.split("#") ?? [];
  if (hash?.includes("access_token=")) {
    const fragment = new URLSearchParams(hash);
    const token = fragment.get("access_token") ?? "";
    fragment.set("access_token", await completeToken(sql, issuer, token));
    headers.set("location", `${page}#${fragment}`);
    return new Response(null, { status, headers });
  }
  if (!headers.get("content-type")?.includes("json")) return response;
  const body = await response.json();
  headers.delete("content-length");
  if (status >= 400 && version !== null && version >= namedCodes) {
    headers.set("x-supabase-api-version", namedCodes);
    return Response.json(namedError(body), { status, headers });
  }
  if (typeof body?.access_token === "string") {
    body.access_token = await completeToken(sql, issuer, body.access_token);
  }
  return Response.json(body, { status, headers });
}

/**
 * Bend: error bodies.
 * Upstream always answers as the first version of the auth API did. The platform does so too, unless the
 * caller asks for a version since 2024-01-01, as supabase-js does: then the code is a name.
 */
function namedError(body: { error_code?: string; msg?: string; code?: unknown }): object {
  const { error_code, code, msg, ...rest } = body;
  return error_code === undefined ? body : { code: error_code, message: msg, ...rest };
}

/**
 * Bend: claims.
 * Upstream's access tokens have sub, aud, role, email, session_id, iat and exp. The platform's have more,
 * the metadata among them. So a token is signed again on its way out, its times unchanged.
 */
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

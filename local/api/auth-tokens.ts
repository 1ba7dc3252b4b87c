import { decodeJwt, SignJWT } from "jose";
import type postgres from "postgres";

export interface TokenOptions {
  jwtSecret: string;
  issuer: string;
}

interface Account {
  aud: string;
  role: string;
  email: string | null;
  phone: string | null;
  app_metadata: Record<string, unknown>;
  user_metadata: Record<string, unknown>;
  is_anonymous: boolean;
  aal: string;
  amr: { method: string; timestamp: number }[];
}

/** How and from where someone signed in. */
export interface SignIn {
  method: "password" | "otp" | "oauth";
  agent: string | null;
  ip: string;
}

/**
 * Bend: claims.
 * Upstream's access tokens have sub, aud, role, email, session_id, iat and exp. The platform's have more,
 * the metadata among them. So a token is signed again on its way out, its times unchanged. Upstream
 * forgets how and from where a session was opened; the platform keeps that with the session.
 */
export async function completeToken(
  sql: postgres.Sql,
  token: string,
  signIn: SignIn | null,
  options: TokenOptions,
): Promise<string> {
  const { sub = "", session_id: sessionId, iat = 0, exp = 0 } = decodeJwt(token);
  if (typeof sessionId !== "string") return token;
  if (signIn) await rememberSignIn(sql, sessionId, signIn);
  const account = await readAccount(sql, sub, sessionId);
  if (!account) return token;
  return new SignJWT({
    ...account,
    email: account.email ?? "",
    phone: account.phone ?? "",
    session_id: sessionId,
  })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(options.issuer)
    .setSubject(sub)
    .setIssuedAt(iat)
    .setExpirationTime(exp)
    .sign(new TextEncoder().encode(options.jwtSecret));
}

async function rememberSignIn(sql: postgres.Sql, id: string, signIn: SignIn): Promise<void> {
  const { method, agent, ip } = signIn;
  await sql`
    with opened as (
      update auth.sessions set user_agent = ${agent}, ip = ${ip}::inet where id = ${id} returning id
    )
    insert into auth.mfa_amr_claims (session_id, authentication_method)
    select id, ${method} from opened
    on conflict (session_id, authentication_method) do update set updated_at = now()`;
}

async function readAccount(
  sql: postgres.Sql,
  userId: string,
  sessionId: string,
): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`
    select u.aud, u.role, u.email, u.phone, u.is_anonymous,
      coalesce(u.raw_app_meta_data, '{}') as app_metadata,
      coalesce(u.raw_user_meta_data, '{}') as user_metadata,
      coalesce(s.aal, 'aal1') as aal,
      coalesce(jsonb_agg(jsonb_build_object(
        'method', a.authentication_method,
        'timestamp', extract(epoch from a.updated_at)::int
      )) filter (where a.id is not null), '[]') as amr
    from auth.users u
    join auth.sessions s on s.user_id = u.id and s.id = ${sessionId}
    left join auth.mfa_amr_claims a on a.session_id = s.id
    where u.id = ${userId}
    group by u.id, s.id`;
  return account;
}

/** Access tokens are in JSON bodies, and in the fragment of a redirect. */
export async function withCompleteTokens(
  response: Response,
  complete: (token: string) => Promise<string>,
): Promise<Response> {
  const location = response.headers.get("location");
  if (location?.includes("#access_token=") || location?.includes("&access_token=")) {
    const target = new URL(location);
    const fragment = new URLSearchParams(target.hash.slice(1));
    fragment.set("access_token", await complete(fragment.get("access_token") ?? ""));
    target.hash = fragment.toString();
    const headers = new Headers(response.headers);
    headers.set("location", target.href);
    return new Response(null, { status: response.status, headers });
  }
  if (response.status !== 200 || !response.headers.get("content-type")?.includes("json"))
    return response;
  const body = await response.clone().json();
  if (typeof body?.access_token !== "string") return response;
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return Response.json({ ...body, access_token: await complete(body.access_token) }, { headers });
}

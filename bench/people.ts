/** Signed-in users of a running stack, made by SQL: a sign-up costs a password hash. */
import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import type { Sql } from "postgres";
import type { StackEnv } from "../local/stack.ts";

export interface Professional {
  id: string;
  username: string;
  token: string;
}

export async function createProfessional(sql: Sql, env: StackEnv): Promise<Professional> {
  const [id, session] = [randomUUID(), randomUUID()];
  const username = `pro-${id.slice(0, 13)}`;
  await sql`
    insert into auth.users (id, aud, role, email, raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
    values (${id}, 'authenticated', 'authenticated', ${`${username}@example.com`}, '{}',
      ${sql.json({ full_name: "Ana Bianchi", username })}, now(), now())`;
  await sql`
    insert into auth.sessions (id, user_id, aal, created_at, updated_at)
    values (${session}, ${id}, 'aal1', now(), now())`;
  await sql`
    update public.profiles
    set tier = 'ultra', accepts_bookings = true, accepts_orders = true, time_zone = 'Europe/Rome'
    where id = ${id}`;
  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({
    sub: id,
    role: "authenticated",
    aud: "authenticated",
    session_id: session,
    iat: now,
    exp: now + 24 * 3600,
  })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(env.JWT_SECRET));
  return { id, username, token };
}

/** Longer than any answer may take, the restart of a database included. */
const PATIENCE_MS = 30_000;

/** One request to the API; `token` for a signed-in caller. */
export function request(
  env: Pick<StackEnv, "API_URL" | "PUBLISHABLE_KEY">,
  method: string,
  path: string,
  { token, body, headers }: { token?: string; body?: unknown; headers?: HeadersInit } = {},
): Promise<Response> {
  const all = new Headers(headers);
  all.set("apikey", env.PUBLISHABLE_KEY);
  if (token) all.set("authorization", `Bearer ${token}`);
  if (body !== undefined) all.set("content-type", "application/json");
  return fetch(`${env.API_URL}${path}`, {
    method,
    headers: all,
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** Signed-in users of a running stack, made by SQL: a sign-up costs a password hash. */
import { randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
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

/** An address of this machine that nobody has called from: the public is counted by network. Linux only. */
export const someAddress = (): string =>
  `127.${randomInt(1, 250)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;

/** One request to the API; `token` for a signed-in caller, `from` for another address than 127.0.0.1. */
export async function request(
  env: Pick<StackEnv, "API_URL" | "PUBLISHABLE_KEY">,
  method: string,
  path: string,
  {
    token,
    body,
    headers,
    from,
  }: { token?: string; body?: unknown; headers?: HeadersInit; from?: string } = {},
): Promise<Response> {
  const all = new Headers(headers);
  all.set("apikey", env.PUBLISHABLE_KEY);
  if (token) all.set("authorization", `Bearer ${token}`);
  if (body !== undefined) all.set("content-type", "application/json");
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const signal = AbortSignal.timeout(PATIENCE_MS);
  if (from === undefined) {
    return fetch(`${env.API_URL}${path}`, { method, headers: all, signal, body: text ?? null });
  }
  // fetch() cannot choose the address it calls from.
  const outgoing = httpRequest(new URL(`${env.API_URL}${path}`), {
    method,
    headers: Object.fromEntries(all),
    signal,
    localAddress: from,
    agent: false,
  });
  outgoing.end(text);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = await incoming.toArray();
  const { statusCode: status = 0 } = incoming;
  return new Response(chunks.length > 0 ? Buffer.concat(chunks) : null, { status });
}

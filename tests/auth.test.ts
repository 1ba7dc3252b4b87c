import { randomUUID } from "node:crypto";
import { createClient } from "@supabase/supabase-js";
import { decodeJwt, jwtVerify } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { anonymous, bearer, request } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import { stack } from "./support/stack.ts";

const PASSWORD = "correct horse";
const metadata = {
  full_name: "Ana Bianchi",
  username: `ana-${randomUUID()}`,
  niche: "hairdresser",
};

interface Session {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  token_type: string;
  user: { id: string };
}

const newAddress = () => `pro-${randomUUID()}@example.com`;

async function signUp(data: object = {}): Promise<{ email: string; session: Session }> {
  const email = newAddress();
  const answer = await anonymous().auth.signUp({ email, password: PASSWORD, options: { data } });
  if (!answer.data.session) throw answer.error;
  return { email, session: answer.data.session };
}

async function post(path: string, body: object, token?: string) {
  const init = { method: "POST", body: JSON.stringify(body), token };
  const response = await request(`/auth/v1/${path}`, init);
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null };
}

async function signIn(email: string): Promise<Session> {
  const { status, body } = await post("token?grant_type=password", { email, password: PASSWORD });
  expect(status).toBe(200);
  return body;
}

const refresh = (refresh_token: string) =>
  post("token?grant_type=refresh_token", { refresh_token });

/** Whether the Data API takes the token, and how it refuses it. */
async function dataApi(token: string): Promise<[number, string | undefined]> {
  const response = await request("/rest/v1/profiles?select=id", { token });
  const body = await response.json();
  return [response.status, body.code];
}
const SIGNED_IN: [number, undefined] = [200, undefined];
const SIGNED_OUT = [401, "session_not_found"];

let email: string;
let first: Session;

beforeAll(async () => {
  ({ email, session: first } = await signUp(metadata));
});

describe("tokens", () => {
  test("the access token has the claims of the specification, signed with the JWT secret", async () => {
    const session = await signIn(email);
    const secret = new TextEncoder().encode(stack.jwtSecret);
    const { payload, protectedHeader } = await jwtVerify(session.access_token, secret);
    expect(protectedHeader).toEqual({ alg: "HS256", typ: "JWT" });
    expect(payload).toMatchObject({
      sub: first.user.id,
      email,
      role: "authenticated",
      aud: "authenticated",
      user_metadata: metadata,
    });
    const { exp, iat } = payload as { exp: number; iat: number };
    expect([Number.isInteger(exp), Number.isInteger(iat), exp - iat]).toEqual([true, true, 3600]);
    expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
  });

  test("a session has the shape of the specification", async () => {
    expect(await signIn(email)).toMatchObject({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.stringMatching(/^\S{10,}$/),
      expires_in: 3600,
      token_type: "bearer",
      user: { id: first.user.id, email, user_metadata: metadata },
    });
  });

  test("metadata that a user sets later changes neither role nor tier", async () => {
    const { session } = await signUp();
    const attack = { role: "service_role", tier: "ultra", sub: first.user.id, aud: "portal" };
    const response = await request("/auth/v1/user", {
      method: "PUT",
      token: session.access_token,
      body: JSON.stringify({ data: attack, app_metadata: attack, role: "service_role" }),
    });
    expect(response.status).toBeLessThan(500);
    const { body } = await refresh(session.refresh_token);
    const claims = decodeJwt(body.access_token);
    expect(claims).toMatchObject({
      sub: session.user.id,
      role: "authenticated",
      aud: "authenticated",
    });
    expect(claims.app_metadata).not.toMatchObject({ role: "service_role" });
    const { data } = await bearer(body.access_token).from("profiles").select("id, tier");
    expect(data).toEqual([{ id: session.user.id, tier: "free" }]);
  });
});

describe("sign-up and sign-in", () => {
  test("a password of seven characters is refused as weak, one of eight is not", async () => {
    const weak = await post("signup", { email: newAddress(), password: "seven77" });
    expect(weak).toMatchObject({ status: 422, body: { error_code: "weak_password" } });
    const good = await post("signup", { email: newAddress(), password: "eight888" });
    expect(good.status).toBe(200);
  });

  test("an address signs up once, however it is written", async () => {
    for (const address of [email, email.toUpperCase()]) {
      const again = await post("signup", { email: address, password: PASSWORD });
      expect(again).toMatchObject({ status: 422, body: { error_code: "user_already_exists" } });
    }
  });

  test("supabase-js shows the code by name", async () => {
    const { error } = await anonymous().auth.signUp({ email, password: PASSWORD });
    expect(error).toMatchObject({ status: 422, code: "user_already_exists" });
  });

  test("a wrong password and an unknown address get the same answer", async () => {
    const wrong = await post("token?grant_type=password", { email, password: "wrong horse" });
    const unknown = await post("token?grant_type=password", {
      email: newAddress(),
      password: PASSWORD,
    });
    expect(wrong).toMatchObject({ status: 400, body: { error_code: "invalid_credentials" } });
    expect(unknown).toEqual(wrong);
  });

  test("nobody signs in anonymously", async () => {
    const { error } = await anonymous().auth.signInAnonymously();
    expect(error).toMatchObject({ status: 422, code: "anonymous_provider_disabled" });
  });

  test.each(["no-at-sign", "two@@example.com", "", " @example.com"])(
    "the address %j is refused",
    async (address) => {
      const { status } = await post("signup", { email: address, password: PASSWORD });
      expect([400, 422]).toContain(status);
    },
  );
});

describe("refresh", () => {
  test("gives new tokens of the same session and user", async () => {
    const before = await signIn(email);
    const { status, body: after } = await refresh(before.refresh_token);
    expect(status).toBe(200);
    expect(after.refresh_token).not.toBe(before.refresh_token);
    expect(after.expires_in).toBe(3600);
    const [old, fresh] = [decodeJwt(before.access_token), decodeJwt(after.access_token)];
    expect(fresh).toMatchObject({
      sub: old.sub,
      session_id: old.session_id,
      user_metadata: metadata,
    });
    expect(await dataApi(after.access_token)).toEqual(SIGNED_IN);
  });

  test("a client that lost the answer may repeat it", async () => {
    const { refresh_token } = await signIn(email);
    const first = await refresh(refresh_token);
    const again = await refresh(refresh_token);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect((await refresh(again.body.refresh_token)).status).toBe(200);
  });

  test("a stolen token used later ends the session for thief and owner", async () => {
    const session = await signIn(email);
    const once = await refresh(session.refresh_token);
    const twice = await refresh(once.body.refresh_token);
    await sql`
      update auth.refresh_tokens set updated_at = updated_at - interval '11 seconds'
      where session_id = ${String(decodeJwt(session.access_token).session_id)}`;
    const stolen = await refresh(session.refresh_token);
    expect(stolen).toMatchObject({
      status: 400,
      body: { error_code: "refresh_token_already_used" },
    });
    expect((await refresh(twice.body.refresh_token)).status).toBe(400);
  });

  test("a token nobody was given is refused", async () => {
    const session = await signIn(email);
    const unknown = await refresh(session.refresh_token.replace(/^.{4}/, "0000"));
    expect(unknown.status).toBe(400);
    expect((await refresh("")).status).toBe(400);
  });

  test("a refresh token lives seven days after its last use", async () => {
    async function after(days: number) {
      const session = await signIn(email);
      const id = String(decodeJwt(session.access_token).session_id);
      await sql`
        update auth.sessions
        set created_at = created_at - make_interval(days => ${days}),
          updated_at = updated_at - make_interval(days => ${days}),
          refreshed_at = coalesce(refreshed_at, created_at at time zone 'UTC') - make_interval(days => ${days})
        where id = ${id}`;
      await sql`
        update auth.refresh_tokens
        set created_at = created_at - make_interval(days => ${days}),
          updated_at = updated_at - make_interval(days => ${days})
        where session_id = ${id}`;
      return refresh(session.refresh_token);
    }
    expect((await after(6)).status).toBe(200);
    expect(await after(8)).toMatchObject({ status: 400, body: { error_code: "session_expired" } });
  });
});

describe("sign-out", () => {
  async function signOut(session: Session, scope?: string) {
    const path = scope ? `logout?scope=${scope}` : "logout";
    const { status } = await post(path, {}, session.access_token);
    expect(status).toBe(204);
  }

  test.each([undefined, "global"])(
    "of scope %s ends both tokens of every session",
    async (scope) => {
      const here = await signIn(email);
      const there = await signIn(email);
      expect(await dataApi(here.access_token)).toEqual(SIGNED_IN);
      expect(await dataApi(there.access_token)).toEqual(SIGNED_IN);
      await signOut(here, scope);
      for (const session of [here, there]) {
        expect(await dataApi(session.access_token)).toEqual(SIGNED_OUT);
        expect((await refresh(session.refresh_token)).status).toBe(400);
      }
    },
  );

  test("of scope local ends this session only", async () => {
    const here = await signIn(email);
    const there = await signIn(email);
    await signOut(here, "local");
    expect(await dataApi(here.access_token)).toEqual(SIGNED_OUT);
    expect((await refresh(here.refresh_token)).status).toBe(400);
    expect(await dataApi(there.access_token)).toEqual(SIGNED_IN);
    expect((await refresh(there.refresh_token)).status).toBe(200);
  });

  test("of scope others ends the other sessions only", async () => {
    const here = await signIn(email);
    const there = await signIn(email);
    await signOut(here, "others");
    expect(await dataApi(here.access_token)).toEqual(SIGNED_IN);
    expect(await dataApi(there.access_token)).toEqual(SIGNED_OUT);
    expect((await refresh(there.refresh_token)).status).toBe(400);
    expect((await refresh(here.refresh_token)).status).toBe(200);
  });

  test("does not touch another user", async () => {
    const { session: neighbour } = await signUp();
    await signOut(await signIn(email), "global");
    expect(await dataApi(neighbour.access_token)).toEqual(SIGNED_IN);
  });

  test("the auth API refuses a signed-out token too, and writes fail like reads", async () => {
    const session = await signIn(email);
    await signOut(session, "local");
    const user = await request("/auth/v1/user", { token: session.access_token });
    expect(user.status).toBe(403);
    const insert = await request("/rest/v1/clients", {
      method: "POST",
      token: session.access_token,
      body: JSON.stringify({ name: "Marta" }),
    });
    expect(insert.status).toBe(401);
    expect(insert.headers.get("www-authenticate")).toBe("Bearer");
    expect(await insert.json()).toEqual({
      code: "session_not_found",
      message: expect.any(String),
      details: null,
      hint: expect.any(String),
    });
  });

  test("a session whose time is over counts as signed out", async () => {
    const session = await signIn(email);
    const id = String(decodeJwt(session.access_token).session_id);
    await sql`update auth.sessions set not_after = now() + interval '1 minute' where id = ${id}`;
    expect(await dataApi(session.access_token)).toEqual(SIGNED_IN);
    await sql`update auth.sessions set not_after = now() - interval '1 second' where id = ${id}`;
    expect(await dataApi(session.access_token)).toEqual(SIGNED_OUT);
  });
});

describe("events of supabase-js", () => {
  function listeningClient() {
    const client = createClient(stack.apiUrl, stack.publishableKey, {
      auth: {
        persistSession: true,
        autoRefreshToken: false,
        storage: memory(),
        storageKey: randomUUID(),
      },
      realtime: { transport: WebSocket as never },
    });
    const events: [string, string | undefined][] = [];
    client.auth.onAuthStateChange((event, session) => {
      if (event !== "INITIAL_SESSION") events.push([event, session?.user.id]);
    });
    return { client, events };
  }

  function memory() {
    const items = new Map<string, string>();
    return {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => void items.set(key, value),
      removeItem: (key: string) => void items.delete(key),
    };
  }

  test("SIGNED_IN, TOKEN_REFRESHED and SIGNED_OUT come in that order, with the session", async () => {
    const { client, events } = listeningClient();
    await client.auth.signInWithPassword({ email, password: PASSWORD });
    await client.auth.refreshSession();
    await client.auth.signOut();
    expect(events).toEqual([
      ["SIGNED_IN", first.user.id],
      ["TOKEN_REFRESHED", first.user.id],
      ["SIGNED_OUT", undefined],
    ]);
    expect((await client.auth.getSession()).data.session).toBeNull();
  });

  test("an access token that has expired is refreshed by itself", async () => {
    const { client, events } = listeningClient();
    const session = await signIn(email);
    // Signed an hour and a minute ago, as far as the client can tell.
    const past = { ...decodeJwt(session.access_token), exp: Math.floor(Date.now() / 1000) - 60 };
    const [header, , signature] = session.access_token.split(".");
    const body = Buffer.from(JSON.stringify(past)).toString("base64url");
    await client.auth.setSession({
      access_token: [header, body, signature].join("."),
      refresh_token: session.refresh_token,
    });
    const { data } = await client.auth.getSession();
    expect(data.session?.refresh_token).not.toBe(session.refresh_token);
    expect(events.map(([event]) => event)).toContain("TOKEN_REFRESHED");
    expect((await client.from("profiles").select("id")).data).toEqual([{ id: first.user.id }]);
  });
});

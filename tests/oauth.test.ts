/**
 * Sign-in with an identity provider. Google's addresses are fixed, so its part ends at the redirect;
 * the whole round trip is made with GitHub's, against a provider of our own. For both this file has
 * a stack of its own, with the providers and redirects that it needs.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { developmentEnv, readConfig } from "../local/config.ts";
import { type Stack, startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { freePorts } from "../scripts/free-ports.ts";

const SITE = "http://127.0.0.1:3000";
const APP = "https://app.example.com/welcome";

/** Who the provider says is there; a test sets it. */
let person = { id: 1, login: "ana", name: "Ana Bianchi", email: "ana@example.com", verified: true };

/** GitHub's part of OAuth, with everybody consenting at once. */
function provider(): Server {
  return createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://provider");
    const json = (body: object) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    switch (url.pathname) {
      case "/login/oauth/authorize": {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("state", url.searchParams.get("state") ?? "");
        back.searchParams.set("code", "from-the-provider");
        return response.writeHead(302, { location: back.href }).end();
      }
      case "/login/oauth/access_token":
        return json({ access_token: "provider-token", token_type: "bearer", scope: "user:email" });
      case "/api/v3/user":
        return json({
          id: person.id,
          login: person.login,
          name: person.name,
          avatar_url: "https://example.com/ana.png",
        });
      case "/api/v3/user/emails":
        return json([{ email: person.email, primary: true, verified: person.verified }]);
      default:
        return response.writeHead(404).end();
    }
  });
}

let stack: Stack;
let mock: Server;
let dataDir: string;

beforeAll(async () => {
  mock = provider();
  await new Promise<void>((resolve) => mock.listen(0, "127.0.0.1", resolve));
  const { port } = mock.address() as AddressInfo;
  const config = readConfig(PROJECT_DIR, developmentEnv(PROJECT_DIR));
  config.auth.site_url = SITE;
  config.auth.additional_redirect_urls.push(APP);
  const both = {
    enabled: true,
    client_id: "client-id",
    secret: "client-secret",
    redirect_uri: "",
    email_optional: false,
  };
  const google = config.auth.external.google;
  if (!google) throw new Error("config.toml has no Google");
  config.auth.external = {
    google: { ...google, ...both },
    github: { ...both, url: `http://127.0.0.1:${port}`, skip_nonce_check: false },
  };
  dataDir = mkdtempSync(join(tmpdir(), "stack-"));
  stack = await startStack({
    ...(await freePorts()),
    projectDir: PROJECT_DIR,
    dataDir,
    config,
    seed: false,
    fsync: false,
  });
}, 60_000);

afterAll(async () => {
  await stack?.stop();
  mock?.close();
  if (dataDir) rmSync(dataDir, { recursive: true, force: true });
});

/** A browser's supabase-js, with the PKCE flow. */
function browser(): { client: SupabaseClient; events: string[] } {
  const items = new Map<string, string>();
  const client = createClient(stack.env.API_URL, stack.env.PUBLISHABLE_KEY, {
    auth: {
      flowType: "pkce",
      autoRefreshToken: false,
      detectSessionInUrl: false,
      storageKey: randomUUID(),
      storage: {
        getItem: (key) => items.get(key) ?? null,
        setItem: (key, value) => void items.set(key, value),
        removeItem: (key) => void items.delete(key),
      },
    },
    realtime: { transport: WebSocket as never },
  });
  const events: string[] = [];
  client.auth.onAuthStateChange((event) => {
    if (event !== "INITIAL_SESSION") events.push(event);
  });
  return { client, events };
}

type OAuthOptions = NonNullable<
  Parameters<SupabaseClient["auth"]["signInWithOAuth"]>[0]["options"]
>;

async function authorizeUrl(
  client: SupabaseClient,
  name: "google" | "github",
  options: OAuthOptions = {},
): Promise<string> {
  const { data, error } = await client.auth.signInWithOAuth({
    provider: name,
    options: { skipBrowserRedirect: true, ...options },
  });
  if (error) throw error;
  return data.url ?? "";
}

async function redirect(url: string): Promise<URL> {
  const response = await fetch(url, { redirect: "manual" });
  expect([302, 303]).toContain(response.status);
  return new URL(response.headers.get("location") ?? "");
}

/** Follows the redirects to where the user ends up: authorize, provider, callback, application. */
async function landing(client: SupabaseClient, redirectTo?: string): Promise<URL> {
  const options = redirectTo === undefined ? {} : { redirectTo };
  const atProvider = await redirect(await authorizeUrl(client, "github", options));
  const atCallback = await redirect(atProvider.href);
  return redirect(atCallback.href);
}

const SOMEBODY = () => ({
  id: Math.floor(Math.random() * 1e9),
  login: "ana",
  name: "Ana Bianchi",
  email: `ana-${randomUUID()}@example.com`,
  verified: true,
});

describe("Google", () => {
  test("the redirect asks for the scopes, the access type and the prompt of the caller", async () => {
    const url = await authorizeUrl(browser().client, "google", {
      redirectTo: APP,
      scopes: "https://www.googleapis.com/auth/calendar.events",
      queryParams: { access_type: "offline", prompt: "consent" },
    });
    const google = await redirect(url);
    expect(google.origin + google.pathname).toBe("https://accounts.google.com/o/oauth2/v2/auth");
    expect(Object.fromEntries(google.searchParams)).toMatchObject({
      client_id: "client-id",
      response_type: "code",
      redirect_uri: `${stack.env.API_URL}/auth/v1/callback`,
      access_type: "offline",
      prompt: "consent",
      state: expect.stringMatching(/^\S{20,}$/),
    });
    expect(google.searchParams.get("scope")?.split(" ")).toEqual(
      expect.arrayContaining([
        "email",
        "profile",
        "https://www.googleapis.com/auth/calendar.events",
      ]),
    );
    expect(google.href).not.toContain("client-secret");
  });

  test("without options it asks for no more than e-mail and profile", async () => {
    const google = await redirect(await authorizeUrl(browser().client, "google"));
    expect(google.searchParams.get("scope")?.split(" ").sort()).toEqual(["email", "profile"]);
    expect(google.searchParams.has("access_type")).toBe(false);
  });

  test("each attempt has a state of its own", async () => {
    const { client } = browser();
    const one = await redirect(await authorizeUrl(client, "google"));
    const two = await redirect(await authorizeUrl(client, "google"));
    expect(one.searchParams.get("state")).not.toBe(two.searchParams.get("state"));
  });
});

describe("the round trip", () => {
  test("authorize, provider, callback, code, session, profile", async () => {
    person = SOMEBODY();
    const { client, events } = browser();
    const end = await landing(client, APP);
    expect(end.origin + end.pathname).toBe(APP);
    const code = end.searchParams.get("code") ?? "";
    expect(end.hash).toBe("");

    const { data, error } = await client.auth.exchangeCodeForSession(code);
    expect(error).toBeNull();
    expect(events).toEqual(["SIGNED_IN"]);
    expect(data.session?.expires_in).toBe(3600);
    expect(data.session?.provider_token).toBe("provider-token");
    expect(decodeJwt(data.session?.access_token ?? "")).toMatchObject({
      sub: data.user?.id,
      email: person.email,
      role: "authenticated",
      aud: "authenticated",
      user_metadata: { full_name: "Ana Bianchi", user_name: "ana" },
    });

    const { data: profiles } = await client.from("profiles").select("*");
    expect(profiles).toEqual([
      expect.objectContaining({
        id: data.user?.id,
        full_name: "Ana Bianchi",
        username: expect.stringMatching(/^ana-bianchi(-[0-9a-f]{4})?$/),
        image_url: "https://example.com/ana.png",
        tier: "free",
      }),
    ]);
    const service = { name: "Haircut", price: 30, duration: 60 };
    expect((await client.from("services").insert(service)).status).toBe(201);

    await client.auth.refreshSession();
    await client.auth.signOut();
    expect(events).toEqual(["SIGNED_IN", "TOKEN_REFRESHED", "SIGNED_OUT"]);
  });

  test("who comes back is the same user", async () => {
    person = SOMEBODY();
    const ids: (string | undefined)[] = [];
    for (const { client } of [browser(), browser()]) {
      const end = await landing(client, APP);
      const answer = await client.auth.exchangeCodeForSession(end.searchParams.get("code") ?? "");
      ids.push(answer.data.user?.id);
    }
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[1]).toBe(ids[0]);
  });

  test("a stolen code is worth nothing without the verifier, nor a second time", async () => {
    person = SOMEBODY();
    const victim = browser();
    const code = (await landing(victim.client, APP)).searchParams.get("code") ?? "";

    const exchange = (auth_code: string, code_verifier: string) =>
      fetch(`${stack.env.API_URL}/auth/v1/token?grant_type=pkce`, {
        method: "POST",
        headers: { apikey: stack.env.PUBLISHABLE_KEY, "content-type": "application/json" },
        body: JSON.stringify({ auth_code, code_verifier }),
      });
    const theft = await exchange(code, "a".repeat(64));
    expect(theft.status).toBe(400);
    expect(await theft.json()).not.toHaveProperty("access_token");
    expect((await exchange(randomUUID(), "a".repeat(64))).status).toBeGreaterThanOrEqual(400);

    expect((await victim.client.auth.exchangeCodeForSession(code)).error).toBeNull();
    const again = await exchange(code, "a".repeat(64));
    expect([400, 404]).toContain(again.status);
  });

  test("a callback with a state that we did not give out signs nobody in", async () => {
    for (const state of ["", "nonsense", randomUUID()]) {
      const url = `${stack.env.API_URL}/auth/v1/callback?code=from-the-provider&state=${state}`;
      const response = await fetch(url, { redirect: "manual" });
      const location = response.headers.get("location") ?? "";
      expect(response.status).toBeLessThan(500);
      expect(location).not.toMatch(/[?&]code=|access_token/);
    }
  });

  test("a refusal at the provider comes back as an error, to a place on the list", async () => {
    const atProvider = await redirect(
      await authorizeUrl(browser().client, "github", { redirectTo: APP }),
    );
    const state = atProvider.searchParams.get("state");
    const end = await redirect(
      `${stack.env.API_URL}/auth/v1/callback?error=access_denied&error_description=No&state=${state}`,
    );
    expect(end.origin + end.pathname).toBe(APP);
    expect(end.href).toContain("error=access_denied");
    expect(end.searchParams.has("code")).toBe(false);
  });
});

describe("where the user may be sent back to", () => {
  test.each([
    undefined,
    "https://evil.example.com/welcome",
    "https://app.example.com.evil.example.com/welcome",
    "https://app.example.com@evil.example.com/welcome",
    "https://app.example.com/other",
    "http://app.example.com/welcome",
    "javascript:alert(1)",
    "//evil.example.com",
    "http://localhost:1@evil.example.com/welcome",
    "http://localhost.evil.example.com:3000/welcome",
  ])("%s is not on the list: the site's address instead", async (redirectTo) => {
    person = SOMEBODY();
    const end = await landing(browser().client, redirectTo);
    expect(end.origin).toBe(SITE);
    expect(end.searchParams.get("code")).toMatch(/^\S+$/);
  });

  test.each([
    "http://localhost:5173",
    "http://localhost:8080/deep/page",
    "http://127.0.0.1:5173",
    "http://127.0.0.1:8080/deep/page",
  ])("%s is on it, in development", async (redirectTo) => {
    person = SOMEBODY();
    const end = await landing(browser().client, redirectTo);
    expect(end.origin + end.pathname).toBe(new URL(redirectTo).href);
  });

  test("the site itself and its pages are always on it", async () => {
    person = SOMEBODY();
    const end = await landing(browser().client, `${SITE}/deep/page`);
    expect(end.origin + end.pathname).toBe(`${SITE}/deep/page`);
  });
});

test("a provider that is not configured is refused", async () => {
  const url = `${stack.env.API_URL}/auth/v1/authorize?provider=facebook&redirect_to=${SITE}`;
  const response = await fetch(url, { redirect: "manual" });
  expect(response.status).toBe(400);
});

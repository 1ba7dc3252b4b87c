/** A password that was forgotten, as a page with the PKCE flow asks for a new one. */
import { randomUUID } from "node:crypto";
import { createClient } from "@supabase/supabase-js";
import { beforeEach, expect, test } from "vitest";
import WebSocket from "ws";
import { sql } from "./support/database.ts";
import { createProfessional, type Professional } from "./support/factories.ts";
import { readMail } from "./support/mailbox.ts";
import { mailsTo } from "./support/portal.ts";
import { stack } from "./support/stack.ts";
import { until } from "./support/webhooks.ts";

const PAGE = "http://127.0.0.1:3000/day/";

function browser(flowType: "pkce" | "implicit" = "pkce") {
  const items = new Map<string, string>();
  return createClient(stack.apiUrl, stack.publishableKey, {
    auth: {
      flowType,
      autoRefreshToken: false,
      detectSessionInUrl: false,
      storage: {
        getItem: (key) => items.get(key) ?? null,
        setItem: (key, value) => void items.set(key, value),
        removeItem: (key) => void items.delete(key),
      },
    },
    realtime: { transport: WebSocket as never },
  });
}

let professional: Professional;

beforeEach(async () => {
  professional = await createProfessional();
  await sql`
    insert into auth.identities (id, provider_id, user_id, identity_data, provider)
    values (${randomUUID()}, ${professional.id}, ${professional.id},
      ${sql.json({ sub: professional.id, email: professional.email })}, 'email')`;
});

async function mailedLink(client: ReturnType<typeof browser>): Promise<string> {
  const { email } = professional;
  const { error } = await client.auth.resetPasswordForEmail(email, { redirectTo: PAGE });
  expect(error).toBeNull();
  const [mail] = await until(
    () => mailsTo(email),
    (found) => found.length > 0,
  );
  const { text = "" } = await readMail(mail as { ID: string });
  return /https?:\S+\/verify\S+/.exec(text)?.[0] ?? "";
}

async function open(link: string): Promise<URL> {
  const response = await fetch(link, { redirect: "manual" });
  expect(response.status).toBe(303);
  return new URL(response.headers.get("location") ?? "");
}

test("the link leads to the page with a code, which is worth a new password", async () => {
  const client = browser();
  const end = await open(await mailedLink(client));
  expect(end.origin + end.pathname).toBe(PAGE);
  expect(end.hash).toBe("");

  const code = end.searchParams.get("code") ?? "";
  const { data, error } = await client.auth.exchangeCodeForSession(code);
  expect(error).toBeNull();
  expect(data.user?.id).toBe(professional.id);
  expect(data).toMatchObject({ redirectType: "recovery" });
  const password = "new-password-1";
  expect((await client.auth.updateUser({ password })).error).toBeNull();
  const again = await browser().auth.signInWithPassword({ email: professional.email, password });
  expect(again.error).toBeNull();
});

test("the code is worth nothing without the verifier, and the link made no session", async () => {
  const client = browser();
  const end = await open(await mailedLink(client));
  const sessions = await sql`select id from auth.sessions where user_id = ${professional.id}`;
  expect(sessions.map(({ id }) => id)).toEqual([professional.sessionId]);

  const response = await fetch(`${stack.apiUrl}/auth/v1/token?grant_type=pkce`, {
    method: "POST",
    headers: { apikey: stack.publishableKey, "content-type": "application/json" },
    body: JSON.stringify({
      auth_code: end.searchParams.get("code"),
      code_verifier: "a".repeat(64),
    }),
  });
  expect(response.status).toBe(400);
});

test("a link that was opened before leads to the page with an error", async () => {
  const link = await mailedLink(browser());
  await open(link);
  const end = await open(link);
  expect(end.origin + end.pathname).toBe(PAGE);
  expect(end.searchParams.get("error_code")).toBe("otp_expired");
  expect(end.searchParams.has("code")).toBe(false);
});

test("without a challenge the link leads on with a session, as before", async () => {
  const end = await open(await mailedLink(browser("implicit")));
  expect(end.searchParams.has("code")).toBe(false);
  expect(new URLSearchParams(end.hash.slice(1)).get("type")).toBe("recovery");
});

import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../supabase/functions/_shared/errors.ts";
import { tokenSigner } from "../../../supabase/functions/_shared/signing.ts";
import { createHandler, type TokenDeps } from "../../../supabase/functions/token/handler.ts";
import { keyDigest } from "../../../supabase/functions/token/keys.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const random = `sac_${"0123456789abcdef".repeat(4)}`;
const KEY = random + sha256(random).slice(0, 8);
const session = {
  key_id: "33333333-3333-4333-8333-333333333333",
  professional_id: "11111111-1111-4111-8111-111111111111",
  issued_at: 1_900_000_000,
  expires_at: 1_900_000_900,
};

/** A handler whose database is played; `asked` has what it was asked. */
async function setUp(changed: Partial<TokenDeps> & { answer?: object } = {}) {
  const { answer = { retry_after: null, session }, ...deps } = changed;
  const asked: unknown[] = [];
  const logged: unknown[] = [];
  const secret = "a-secret-with-at-least-32-characters-in-it";
  const handler = createHandler({
    corsOrigins: "*",
    log: (entry) => logged.push(entry.cause),
    newRequestId: () => "request-1",
    signer: await tokenSigner((name) => (name === "TOKEN_JWT_SECRET" ? secret : undefined)),
    serverRpc: async (name, args) => {
      asked.push([name, args]);
      return answer as never;
    },
    userRpc: async (token, name) => {
      asked.push([name, decodeJwt(token)]);
      throw new ApiError(401, "session_not_found", "ended");
    },
    isSecretKey: async (key) => key === "the secret key",
    exchangesPerIpMinute: 30,
    newId: () => "99999999-9999-4999-8999-999999999999",
    now: () => new Date(1_900_000_000_000),
    ...deps,
  });
  const call = async (path: string, headers: Record<string, string>) => {
    const response = await handler(
      new Request(`https://api.test/token${path}`, { method: "POST", headers }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  };
  return {
    asked,
    logged,
    exchange: (key: string) =>
      call("", { authorization: `Bearer ${key}`, "cf-connecting-ip": "192.0.2.1" }),
    check: (apikey: string) => call("/check", { apikey }),
  };
}

describe("exchanging a key", () => {
  test("asks by the digest, and with the caller's address", async () => {
    const { exchange, asked } = await setUp();
    expect((await exchange(KEY)).status).toBe(200);
    expect(asked).toEqual([
      ["exchange_api_key", { key_digest: sha256(KEY), ip: "192.0.2.1", ip_limit: 30 }],
    ]);
  });

  test("signs for what the database says is left of it", async () => {
    const { exchange } = await setUp({
      answer: { retry_after: null, session: { ...session, expires_at: 1_900_000_100 } },
    });
    const { body, headers } = await exchange(KEY);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: "bearer",
      expires_in: 100,
    });
    expect(decodeJwt(body.access_token)).toEqual({
      role: "authenticated",
      aud: "authenticated",
      sub: session.professional_id,
      session_id: session.key_id,
      iat: 1_900_000_000,
      exp: 1_900_000_100,
    });
  });

  test.each<[string, string]>([
    ["a mistyped digit", KEY.replace("1", "2")],
    ["a wrong checksum", random + (KEY.endsWith("0") ? "00000001" : "00000000")],
    ["a missing end", KEY.slice(0, -1)],
    ["another prefix", KEY.replace("sac_", "sb_")],
    ["nothing", ""],
  ])("with %s asks nobody and is 401", async (_what, key) => {
    const { exchange, asked } = await setUp();
    const { status, body, headers } = await exchange(key);
    expect([status, body.code]).toEqual([401, "invalid_api_key"]);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(asked).toEqual([]);
  });

  test("that does not count is the same 401, and one over a limit 429", async () => {
    const unknown = await setUp({ answer: { retry_after: null, session: null } });
    expect((await unknown.exchange(KEY)).body.code).toBe("invalid_api_key");
    const limited = await setUp({ answer: { retry_after: 7, session: null } });
    const { status, headers } = await limited.exchange(KEY);
    expect([status, headers.get("retry-after")]).toEqual([429, "7"]);
  });

  test("logs no key when the database fails", async () => {
    const { exchange, logged } = await setUp({
      serverRpc: async () => {
        throw new Error("out of reach");
      },
    });
    expect((await exchange(KEY)).status).toBe(500);
    expect(String(logged)).toBe("Error: out of reach");
  });
});

describe("the check of the signing key", () => {
  test("asks with a token of nobody, who has no session", async () => {
    const { check, asked } = await setUp();
    expect((await check("the secret key")).status).toBe(204);
    const nobody = "99999999-9999-4999-8999-999999999999";
    expect(asked).toEqual([
      [
        "authorize_action",
        {
          role: "authenticated",
          aud: "authenticated",
          sub: nobody,
          session_id: nobody,
          iat: 1_900_000_000,
          exp: 1_900_000_060,
        },
      ],
    ]);
  });

  test("says when the Data API does not know the key, or does not check sessions", async () => {
    const refused = await setUp({
      userRpc: async () => {
        throw new ApiError(401, "PGRST301", "No suitable key");
      },
    });
    const { status, body } = await refused.check("the secret key");
    expect([status, body.code, body.details]).toEqual([
      409,
      "signing_key_not_accepted",
      '{"code":"PGRST301"}',
    ]);
    const unchecked = await setUp({ userRpc: async () => "" });
    expect((await unchecked.check("the secret key")).body.details).toBe('{"code":"none"}');
    const down = await setUp({
      userRpc: async () => {
        throw new Error("out of reach");
      },
    });
    expect((await down.check("the secret key")).status).toBe(500);
  });

  test("is for whoever has the secret key", async () => {
    const { check, asked } = await setUp();
    expect((await check("another")).status).toBe(401);
    expect(asked).toEqual([]);
  });
});

test("a key's digest is that of its whole text", async () => {
  expect(await keyDigest(KEY)).toBe(sha256(KEY));
  expect(await keyDigest(`${KEY}\n`)).toBeNull();
  expect(await keyDigest(KEY.toUpperCase())).toBeNull();
});

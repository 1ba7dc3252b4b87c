import {
  base64url,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  type JWK,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import type { PortalSession } from "../../../supabase/functions/_shared/portal/store.ts";
import {
  type PortalTokens,
  portalTokens,
} from "../../../supabase/functions/_shared/portal/tokens.ts";
import { tokenSigner } from "../../../supabase/functions/_shared/signing.ts";

const SECRET = "a-secret-with-at-least-32-characters-in-it";
const ISSUED_AT = 1_900_000_000;
const EXPIRES_AT = ISSUED_AT + 3600;
const DURING = new Date((ISSUED_AT + 60) * 1000);

const session: PortalSession = {
  session_id: "33333333-3333-4333-8333-333333333333",
  issued_at: ISSUED_AT,
  expires_at: EXPIRES_AT,
  booking_id: null,
  client: { id: "22222222-2222-4222-8222-222222222222", name: "Marta", email: "Marta@example.com" },
  professional: {
    id: "11111111-1111-4111-8111-111111111111",
    full_name: "Ana Bianchi",
    username: "ana",
    time_zone: "Europe/Rome",
    currency: "EUR",
  },
};

/** As the link of one booking makes it. */
const bookingSession: PortalSession = {
  ...session,
  booking_id: "44444444-4444-4444-8444-444444444444",
  client: { id: session.client.id, name: session.client.name },
};

const CLAIMS = {
  role: "portal_client",
  sub: session.client.id,
  professional_id: session.professional.id,
  email: session.client.email,
  session_id: session.session_id,
  aud: "portal",
  iat: ISSUED_AT,
  exp: EXPIRES_AT,
};

let jwk: JWK;
let publicKey: CryptoKey;
let otherJwk: JWK;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256", { extractable: true });
  publicKey = pair.publicKey;
  // As `supabase gen signing-key` writes it.
  jwk = {
    ...(await exportJWK(pair.privateKey)),
    kid: "key-1",
    alg: "ES256",
    use: "sig",
    key_ops: ["sign", "verify"],
    ext: true,
  };
  const other = await generateKeyPair("ES256", { extractable: true });
  otherJwk = { ...(await exportJWK(other.privateKey)), kid: "key-1" };
});

const tokensFor = async (env: Record<string, string>): Promise<PortalTokens> =>
  portalTokens(await tokenSigner((name) => env[name]));
const withJwk = (key: unknown = jwk) => tokensFor({ TOKEN_SIGNING_JWK: JSON.stringify(key) });
const withSecret = () => tokensFor({ TOKEN_JWT_SECRET: SECRET });

describe("signing", () => {
  test("an ES256 key signs with its kid, and its public half verifies", async () => {
    const token = await (await withJwk()).sign(session);
    const { payload, protectedHeader } = await jwtVerify(token, publicKey, { currentDate: DURING });
    expect(protectedHeader).toEqual({ alg: "ES256", kid: "key-1", typ: "JWT" });
    expect(payload).toEqual(CLAIMS);
  });

  test("the project's secret signs HS256 without a kid", async () => {
    const token = await (await withSecret()).sign(session);
    const key = new TextEncoder().encode(SECRET);
    const { payload, protectedHeader } = await jwtVerify(token, key, { currentDate: DURING });
    expect(protectedHeader).toEqual({ alg: "HS256", typ: "JWT" });
    expect(payload).toEqual(CLAIMS);
  });
});

test("a session for one booking says which, has a role of its own and no address", async () => {
  const tokens = await withSecret();
  const token = await tokens.sign(bookingSession);
  const { email: _, ...claims } = CLAIMS;
  expect(decodeJwt(token)).toEqual({
    ...claims,
    role: "portal_booking",
    booking_id: bookingSession.booking_id,
  });
  expect(await tokens.sessionOf(token, DURING)).toBe(session.session_id);
});

describe.each([
  ["ES256", withJwk],
  ["HS256", withSecret],
] as const)("a token of %s", (alg, make) => {
  test("is known again until it expires", async () => {
    const tokens = await make();
    const token = await tokens.sign(session);
    expect(await tokens.sessionOf(token, DURING)).toBe(session.session_id);
    expect(await tokens.sessionOf(token, new Date((EXPIRES_AT - 1) * 1000))).toBe(
      session.session_id,
    );
    expect(await tokens.sessionOf(token, new Date(EXPIRES_AT * 1000))).toBeNull();
  });

  test("is not known with a changed payload", async () => {
    const tokens = await make();
    const [header, payload, signature] = (await tokens.sign(session)).split(".");
    const claims = JSON.parse(new TextDecoder().decode(base64url.decode(payload as string)));
    const changed = base64url.encode(JSON.stringify({ ...claims, session_id: claims.sub }));
    expect(await tokens.sessionOf([header, changed, signature].join("."), DURING)).toBeNull();
    // The same three parts with the payload as it was.
    expect(await tokens.sessionOf([header, payload, signature].join("."), DURING)).not.toBeNull();
  });

  test("is not known without a signature", async () => {
    const tokens = await make();
    const token = new UnsecuredJWT(CLAIMS).encode();
    expect(await tokens.sessionOf(token, DURING)).toBeNull();
    expect(await tokens.sessionOf("", DURING)).toBeNull();
    expect(await tokens.sessionOf("a.b.c", DURING)).toBeNull();
  });

  test("is not known when another key of the same kind signed it", async () => {
    const tokens = await make();
    const others = await (alg === "ES256"
      ? withJwk(otherJwk)
      : tokensFor({ TOKEN_JWT_SECRET: SECRET.toUpperCase() }));
    expect(await tokens.sessionOf(await others.sign(session), DURING)).toBeNull();
  });
});

describe("the project's secret also signs other tokens", () => {
  const sign = (claims: Record<string, unknown>, alg = "HS256") =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(SECRET));

  test.each<[name: string, changed: Record<string, unknown>]>([
    ["a user's", { aud: "authenticated", role: "authenticated" }],
    ["one of another role for the portal", { role: "service_role" }],
    ["one without a role", { role: undefined }],
    ["one for another audience", { aud: "authenticated" }],
    ["one without an audience", { aud: undefined }],
    ["one without a session", { session_id: undefined }],
  ])("%s is no portal token", async (_, changed) => {
    const tokens = await withSecret();
    expect(await tokens.sessionOf(await sign({ ...CLAIMS, ...changed }), DURING)).toBeNull();
    expect(await tokens.sessionOf(await sign(CLAIMS), DURING)).toBe(session.session_id);
  });

  test("nor is one of another algorithm under the same secret", async () => {
    const tokens = await withSecret();
    expect(await tokens.sessionOf(await sign(CLAIMS, "HS512"), DURING)).toBeNull();
  });

  test("a public key is not taken for a secret", async () => {
    const tokens = await withJwk();
    const { d: _, ...publicJwk } = jwk;
    const token = await new SignJWT(CLAIMS)
      .setProtectedHeader({ alg: "HS256", kid: "key-1" })
      .sign(new TextEncoder().encode(JSON.stringify(publicJwk)));
    expect(await tokens.sessionOf(token, DURING)).toBeNull();
  });
});

describe("start-up", () => {
  test("neither key is an error, and so are both", async () => {
    await expect(tokensFor({})).rejects.toThrow(EnvError);
    await expect(tokensFor({ TOKEN_JWT_SECRET: " " })).rejects.toThrow(EnvError);
    const both = { TOKEN_JWT_SECRET: SECRET, TOKEN_SIGNING_JWK: JSON.stringify(jwk) };
    await expect(tokensFor(both)).rejects.toThrow(EnvError);
  });

  test("a secret of fewer than 32 characters is an error that does not show it", async () => {
    const short = SECRET.slice(0, 31);
    const error = await tokensFor({ TOKEN_JWT_SECRET: short }).catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(EnvError);
    expect(String(error)).toContain("TOKEN_JWT_SECRET");
    expect(String(error)).not.toContain(short);
    await expect(tokensFor({ TOKEN_JWT_SECRET: SECRET.slice(0, 32) })).resolves.toBeDefined();
  });

  test.each<[name: string, change: (key: JWK) => unknown]>([
    ["without kid", ({ kid: _, ...key }) => key],
    ["with a kid that is no text", (key) => ({ ...key, kid: 1 })],
    ["without the private half", ({ d: _, ...key }) => key],
    ["of another curve", (key) => ({ ...key, crv: "P-384" })],
    ["of another kind", (key) => ({ ...key, kty: "oct", k: key.d })],
    ["whose halves belong to different keys", (key) => ({ ...key, d: otherJwk.d })],
    ["with a private half that is no number", (key) => ({ ...key, d: "AAAA" })],
    ["that is a list", (key) => [key]],
    ["that is null", () => null],
  ])("a key %s is an error that does not show it", async (_, change) => {
    const error = await withJwk(change(jwk)).catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(EnvError);
    expect(String(error)).toContain("TOKEN_SIGNING_JWK");
    expect(String(error)).not.toContain(jwk.d);
  });

  test("a key that is no JSON is an error that does not show it", async () => {
    const error = await tokensFor({ TOKEN_SIGNING_JWK: "{not json" }).catch((reason) => reason);
    expect(error).toBeInstanceOf(EnvError);
    expect(String(error)).not.toContain("not json");
  });
});

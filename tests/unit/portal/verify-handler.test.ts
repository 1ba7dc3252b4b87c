import { describe, expect, test } from "vitest";
import type { HttpDeps } from "../../../supabase/functions/_shared/http.ts";
import type {
  PortalSession,
  StartedVerification,
} from "../../../supabase/functions/_shared/portal/store.ts";
import {
  createHandler,
  type VerifyDeps,
} from "../../../supabase/functions/verify-portal-otp/handler.ts";

const PROFESSIONAL = "11111111-1111-4111-8111-111111111111";
const CLIENT = "22222222-2222-4222-8222-222222222222";
const SESSION = "33333333-3333-4333-8333-333333333333";
const EXPIRES_AT = 1_900_003_600;
const NOW = new Date("2030-03-17T18:00:00Z");

const session: PortalSession = {
  session_id: SESSION,
  expires_at: EXPIRES_AT,
  client: { id: CLIENT, name: "Marta Rossi", email: "Marta@Example.com" },
  professional: {
    id: PROFESSIONAL,
    full_name: "Ana Bianchi",
    username: "ana",
    time_zone: "Europe/Rome",
    currency: "EUR",
  },
};

const attempt: StartedVerification = { retry_after: null, client_id: CLIENT, generation: 7 };

/** A handler whose database and keys are played; `calls` has what happened, in order. */
function setUp(
  changed: Partial<VerifyDeps> & {
    result?: PortalSession | null;
    limited?: StartedVerification;
  } = {},
) {
  const { result = session, limited, ...deps } = changed;
  const calls: [name: string, ...args: unknown[]][] = [];
  const logged: Parameters<HttpDeps["log"]>[0][] = [];
  const handler = createHandler({
    corsOrigins: "*",
    log: (entry) => logged.push(entry),
    newRequestId: () => "request-1",
    now: () => NOW,
    verifiesPerIpHour: 100,
    store: {
      async startVerification(...args) {
        calls.push(["startVerification", ...args]);
        return limited ?? attempt;
      },
      async finishVerification(...args) {
        calls.push(["finishVerification", ...args]);
        return result;
      },
      async endSession(...args) {
        calls.push(["endSession", ...args]);
      },
    },
    tokens: {
      sign: async ({ session_id }, issuedAt) => `token of ${session_id} at ${issuedAt}`,
      sessionOf: async (token, now) => (token === "good" && now === NOW ? SESSION : null),
    },
    hashCode: async (code, owner) =>
      `hash of ${code} for ${owner.professionalId}/${owner.clientId}`,
    ...deps,
  });
  return { handler, calls, logged };
}

function post(path: string, body?: unknown, headers: Record<string, string> = {}): Request {
  return new Request(`https://api.test/verify-portal-otp${path}`, {
    method: "POST",
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
  });
}

const valid = { email: "marta@example.com", code: "012345", professionalId: PROFESSIONAL };

const fail = async (): Promise<never> => {
  throw new Error("db.internal: connection refused");
};

describe("verifying a code", () => {
  test("counts first, compares then, and answers with a session", async () => {
    const { handler, calls } = setUp();
    const response = await handler(post("", valid));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      access_token: `token of ${SESSION} at ${EXPIRES_AT - 3600}`,
      token_type: "bearer",
      expires_in: 3600,
      expires_at: EXPIRES_AT,
      client: session.client,
      professional: session.professional,
    });
    expect(calls).toEqual([
      ["startVerification", PROFESSIONAL, valid.email, null, 100],
      ["finishVerification", PROFESSIONAL, attempt, `hash of 012345 for ${PROFESSIONAL}/${CLIENT}`],
    ]);
  });

  test("of a network that has tried too often is 429, and compares nothing", async () => {
    const { handler, calls } = setUp({
      verifiesPerIpHour: 5,
      limited: { retry_after: 42, client_id: null, generation: null },
    });
    const response = await handler(post("", valid, { "cf-connecting-ip": "192.0.2.1" }));
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("42");
    const { code, details } = await response.json();
    expect([code, JSON.parse(details)]).toEqual(["rate_limit_exceeded", { retry_after: 42 }]);
    expect(calls).toEqual([["startVerification", PROFESSIONAL, valid.email, "192.0.2.1", 5]]);
  });

  test("no cache keeps the token (RFC 6749, 5.1)", async () => {
    const response = await setUp().handler(post("", valid));
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("whatever was wrong is one 401 after the same calls, and is not logged", async () => {
    const { handler, calls, logged } = setUp({ result: null });
    const response = await handler(post("", valid));
    expect(response.status).toBe(401);
    expect((await response.json()).code).toBe("invalid_otp");
    expect(calls.map(([name]) => name)).toEqual(["startVerification", "finishVerification"]);
    expect(logged).toEqual([]);
  });

  test.each<[what: string, broken: Partial<VerifyDeps>]>([
    ["counting", { store: { ...noStore(), startVerification: fail } }],
    ["comparing", { store: { ...noStore(), finishVerification: fail } }],
    ["the hash", { hashCode: fail }],
    ["signing", { tokens: { sign: fail, sessionOf: async () => null } }],
  ])("%s fails: 500 with the request id that was logged, and no internals", async (_, broken) => {
    const { handler, logged } = setUp(broken);
    const response = await handler(post("", valid));
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain("db.internal");
    expect(JSON.parse(text).code).toBe("internal_error");
    expect(JSON.parse(JSON.parse(text).details)).toEqual({ request_id: "request-1" });
    expect(logged).toMatchObject([{ requestId: "request-1", path: "/verify-portal-otp" }]);
    expect(JSON.stringify(logged)).not.toMatch(/012345|marta/i);
  });

  test.each([
    ["code", { ...valid, code: undefined }],
    ["code", { ...valid, code: 12345 }],
    ["code", { ...valid, code: 123456 }],
    ["code", { ...valid, code: "12345" }],
    ["code", { ...valid, code: "1234567" }],
    ["code", { ...valid, code: "123456\n" }],
    ["code", { ...valid, code: " 123456" }],
    ["code", { ...valid, code: "12e456" }],
    ["code", { ...valid, code: "١٢٣٤٥٦" }],
    ["code", { ...valid, code: "１２３４５６" }],
    ["code", { ...valid, code: ["123456"] }],
    ["email", { ...valid, email: "marta" }],
    ["email", { ...valid, email: "\udfff@example.com" }],
    ["professionalId", { ...valid, professionalId: "ana" }],
    ["clientId", { ...valid, clientId: CLIENT }],
    ["__proto__", JSON.stringify(valid).replace("{", '{"__proto__":null,')],
    ["body", '"012345"'],
  ])("422 names %s of %j and counts no attempt", async (field, body) => {
    const { handler, calls } = setUp();
    const response = await handler(post("", body));
    expect(response.status).toBe(422);
    const { code, details } = await response.json();
    expect(code).toBe("validation_failed");
    expect(Object.keys(JSON.parse(details).fields)).toEqual([field]);
    expect(calls).toEqual([]);
  });
});

describe("signing out", () => {
  test("ends the session of the token and has no body", async () => {
    const { handler, calls } = setUp();
    const response = await handler(post("/sign-out", undefined, { authorization: "Bearer good" }));
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(calls).toEqual([["endSession", SESSION]]);
  });

  test.each<[what: string, headers: Record<string, string>]>([
    ["no token", {}],
    ["another token", { authorization: "Bearer bad" }],
    ["an empty token", { authorization: "Bearer " }],
    ["another scheme", { authorization: "Basic good" }],
    ["a token as the key", { apikey: "good" }],
  ])("%s is 401 with WWW-Authenticate and ends nothing", async (_, headers) => {
    const { handler, calls } = setUp();
    const response = await handler(post("/sign-out", undefined, headers));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect((await response.json()).code).toBe("invalid_token");
    expect(calls).toEqual([]);
  });

  test("a token in the query is no token", async () => {
    const { handler, calls } = setUp();
    expect((await handler(post("/sign-out?access_token=good"))).status).toBe(401);
    expect(calls).toEqual([]);
  });

  test("the database fails: 500, so nobody believes to be signed out", async () => {
    const { handler, logged } = setUp({ store: { ...noStore(), endSession: fail } });
    const response = await handler(post("/sign-out", undefined, { authorization: "Bearer good" }));
    expect(response.status).toBe(500);
    expect(logged).toMatchObject([{ path: "/verify-portal-otp/sign-out" }]);
  });
});

describe("addresses and methods", () => {
  test.each(["/sign-in", "/sign-out/", "/sign-out/x", "/x", "//sign-out", "/%73ign-out"])(
    "there is nothing at %s",
    async (path) => {
      const { handler, calls } = setUp();
      const response = await handler(post(path, valid, { authorization: "Bearer good" }));
      expect(response.status).toBe(404);
      expect((await response.json()).code).toBe("not_found");
      expect(calls).toEqual([]);
    },
  );

  test.each(["", "/", "/sign-out"])("another method at %j is 405 with Allow", async (path) => {
    const { handler, calls } = setUp();
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await handler(
        new Request(`https://api.test/verify-portal-otp${path}`, {
          method,
          headers: { authorization: "Bearer good" },
        }),
      );
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    }
    expect(calls).toEqual([]);
  });
});

function noStore(): VerifyDeps["store"] {
  return {
    startVerification: async () => attempt,
    finishVerification: async () => session,
    endSession: async () => {},
  };
}

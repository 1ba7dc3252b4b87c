import { describe, expect, test } from "vitest";
import { ApiError } from "../../../supabase/functions/_shared/errors.ts";
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
const BOOKING = "44444444-4444-4444-8444-444444444444";
const SESSION = "33333333-3333-4333-8333-333333333333";
const EXPIRES_AT = 1_900_003_600;
const NOW = new Date("2030-03-17T18:00:00Z");

const session: PortalSession = {
  session_id: SESSION,
  issued_at: EXPIRES_AT - 3600,
  expires_at: EXPIRES_AT,
  booking_id: null,
  client: { id: CLIENT, name: "Marta Rossi", email: "Marta@Example.com" },
  professional: {
    id: PROFESSIONAL,
    full_name: "Ana Bianchi",
    username: "ana",
    time_zone: "Europe/Rome",
    currency: "EUR",
  },
};

/** What the link of a booking opens; the booking ends in ten minutes. */
const bookingSession: PortalSession = {
  ...session,
  issued_at: EXPIRES_AT - 600,
  booking_id: BOOKING,
  client: { id: CLIENT, name: "Marta Rossi" },
};

const attempt: StartedVerification = { retry_after: null, client_id: CLIENT, generation: 7 };

/** A handler whose database and keys are played; `calls` has what happened, in order. */
function setUp(
  changed: Partial<VerifyDeps> & {
    result?: PortalSession | null;
    limited?: StartedVerification;
    wait?: number;
    opened?: PortalSession | null;
    confirmed?: object | null;
  } = {},
) {
  const { result = session, limited, wait = 0, ...others } = changed;
  const { opened = bookingSession, confirmed = { status: "confirmed" }, ...deps } = others;
  const calls: [name: string, ...args: unknown[]][] = [];
  const logged: Parameters<HttpDeps["log"]>[0][] = [];
  const handler = createHandler({
    corsOrigins: "*",
    log: (entry) => logged.push(entry),
    newRequestId: () => "request-1",
    now: () => NOW,
    verifiesPerIpHour: 100,
    linkUsesPerIpHour: 50,
    links: {
      sign: fail,
      verify: async (token, purpose) => {
        const [name, kind] = token.split(" ");
        if (name !== purpose) return null;
        return { purpose, row: BOOKING, epoch: 3, ...(kind && { kind: kind as "order" }) };
      },
    },
    store: {
      async countLinkUse(...args) {
        calls.push(["countLinkUse", ...args]);
        return wait;
      },
      async startBookingSession(...args) {
        calls.push(["startBookingSession", ...args]);
        return opened;
      },
      async confirmHold(...args) {
        calls.push(["confirmHold", ...args]);
        return confirmed;
      },
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
      sign: async ({ session_id, booking_id }) => `token of ${session_id} for ${booking_id}`,
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

async function fail(): Promise<never> {
  throw new Error("db.internal: connection refused");
}

describe("verifying a code", () => {
  test("counts first, compares then, and answers with a session", async () => {
    const { handler, calls } = setUp();
    const response = await handler(post("", valid));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      access_token: `token of ${SESSION} for null`,
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

const LINK_ROUTES = ["link", "confirm"] as const;
const PURPOSES = { link: "manage", confirm: "confirm" } as const;

describe("opening the link of a booking", () => {
  test("counts, and answers as a code does, without an address and until the booking ends", async () => {
    const { handler, calls } = setUp();
    const response = await handler(
      post("/link", { token: "manage" }, { "cf-connecting-ip": "192.0.2.1" }),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      access_token: `token of ${SESSION} for ${BOOKING}`,
      token_type: "bearer",
      expires_in: 600,
      expires_at: EXPIRES_AT,
      client: { id: CLIENT, name: "Marta Rossi" },
      professional: session.professional,
    });
    expect(calls).toEqual([
      ["countLinkUse", "192.0.2.1", 50],
      ["startBookingSession", BOOKING, 3],
    ]);
  });

  test("that is about an order opens nothing", async () => {
    const { handler, calls } = setUp();
    expect((await handler(post("/link", { token: "manage order" }))).status).toBe(401);
    expect(calls).toEqual([["countLinkUse", null, 50]]);
  });
});

describe("confirming a hold by its link", () => {
  test.each([
    ["confirm", "booking"],
    ["confirm booking", "booking"],
    ["confirm order", "order"],
  ])("counts, and answers with what it became: %j is a %s", async (token, kind) => {
    const { handler, calls } = setUp();
    const response = await handler(post("/confirm", { token }));
    expect([response.status, await response.json()]).toEqual([200, { status: "confirmed" }]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(calls).toEqual([
      ["countLinkUse", null, 50],
      ["confirmHold", kind, BOOKING, 3],
    ]);
  });

  test("a conflict is told as the rules say it", async () => {
    const conflict = async () => {
      throw new ApiError(409, "slot_taken", "Another booking is at that time.");
    };
    const { handler, logged } = setUp({ store: { ...noStore(), confirmHold: conflict } });
    const response = await handler(post("/confirm", { token: "confirm" }));
    expect([response.status, (await response.json()).code]).toEqual([409, "slot_taken"]);
    expect(logged).toEqual([]);
  });
});

describe.each(LINK_ROUTES)("a link at /%s", (route) => {
  const good = { token: PURPOSES[route] };
  const purposes = ["manage", "confirm", "unsubscribe", "confirm_address"];

  test("of whatever is wrong is one 401 that is not logged", async () => {
    const wrong = ["", "nonsense", ...purposes.filter((purpose) => purpose !== good.token)];
    const bodies = new Set<string>();
    for (const token of wrong) {
      const { handler, calls, logged } = setUp();
      const response = await handler(post(`/${route}`, { token }));
      expect(response.status).toBe(401);
      bodies.add(await response.text());
      expect([calls, logged]).toEqual([[["countLinkUse", null, 50]], []]);
    }
    const { handler, logged } = setUp({ opened: null, confirmed: null });
    const over = await handler(post(`/${route}`, good));
    expect([over.status, logged]).toEqual([401, []]);
    bodies.add(await over.text());
    const without = await setUp({ links: undefined }).handler(post(`/${route}`, good));
    expect(without.status).toBe(401);
    bodies.add(await without.text());
    expect([...bodies]).toHaveLength(1);
    expect(JSON.parse([...bodies][0] as string).code).toBe("invalid_link");
  });

  test("from a network that has used too many is 429, whatever the token", async () => {
    for (const token of [good.token, "nonsense"]) {
      const { handler, calls } = setUp({ wait: 42 });
      const response = await handler(post(`/${route}`, { token }));
      expect([response.status, response.headers.get("retry-after")]).toEqual([429, "42"]);
      expect(calls).toEqual([["countLinkUse", null, 50]]);
    }
  });

  test.each<[what: string, broken: Partial<VerifyDeps>]>([
    ["counting", { store: { ...noStore(), countLinkUse: fail } }],
    ["the database", { store: { ...noStore(), startBookingSession: fail, confirmHold: fail } }],
  ])("%s fails: 500, and the log has no token", async (_, broken) => {
    const { handler, logged } = setUp({
      ...broken,
      links: {
        sign: fail,
        verify: async () => ({ purpose: PURPOSES[route], row: BOOKING, epoch: 3 }),
      },
    });
    const response = await handler(post(`/${route}`, { token: "secret-of-the-mail" }));
    expect(response.status).toBe(500);
    expect(logged).toMatchObject([{ path: `/verify-portal-otp/${route}` }]);
    expect(JSON.stringify(logged) + (await response.text())).not.toContain("secret-of-the-mail");
  });

  test.each([
    ["token", {}],
    ["token", { token: null }],
    ["token", { token: ["x"] }],
    ["professionalId", { ...good, professionalId: PROFESSIONAL }],
  ])("422 names %s of %j and counts nothing", async (field, body) => {
    const { handler, calls } = setUp();
    const response = await handler(post(`/${route}`, body));
    expect(response.status).toBe(422);
    expect(Object.keys(JSON.parse((await response.json()).details).fields)).toEqual([field]);
    expect(calls).toEqual([]);
  });

  test("in the query is no token", async () => {
    const { handler, calls } = setUp();
    expect((await handler(post(`/${route}?token=${good.token}`, {}))).status).toBe(422);
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
  test.each([
    "/sign-in",
    "/link/",
    "/link/manage",
    "/sign-out/",
    "/sign-out/x",
    "/x",
    "//sign-out",
    "/%73ign-out",
  ])("there is nothing at %s", async (path) => {
    const { handler, calls } = setUp();
    const response = await handler(post(path, valid, { authorization: "Bearer good" }));
    expect(response.status).toBe(404);
    expect((await response.json()).code).toBe("not_found");
    expect(calls).toEqual([]);
  });

  test.each(["", "/", "/sign-out", "/link", "/confirm", "/link?token=manage"])(
    "another method at %j is 405 with Allow",
    async (path) => {
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
    },
  );
});

function noStore(): VerifyDeps["store"] {
  return {
    startVerification: async () => attempt,
    finishVerification: async () => session,
    countLinkUse: async () => 0,
    startBookingSession: async () => bookingSession,
    confirmHold: async () => ({}),
    endSession: async () => {},
  };
}

import { describe, expect, test } from "vitest";
import type { HttpDeps } from "../../../supabase/functions/_shared/http.ts";
import type { Mail } from "../../../supabase/functions/_shared/mail.ts";
import type { Recipient, StartedCode } from "../../../supabase/functions/_shared/portal/store.ts";
import {
  createHandler,
  type SendDeps,
} from "../../../supabase/functions/send-portal-otp/handler.ts";

const PROFESSIONAL = "11111111-1111-4111-8111-111111111111";
const CODE = "012345";

const recipient: Recipient = {
  client_id: "22222222-2222-4222-8222-222222222222",
  generation: 7,
  email: "Marta@Example.com",
  professional_name: "Ana Bianchi",
};

const KNOWN: StartedCode = { retry_after: null, recipient };
/** What the database makes up where the address is nobody's. */
const nobody: Recipient = {
  client_id: "33333333-3333-4333-8333-333333333333",
  generation: 0,
  email: "marta@example.com",
  professional_name: "Ana Bianchi",
};
const UNKNOWN: StartedCode = { retry_after: null, recipient: nobody };
const LIMITED: StartedCode = { retry_after: 42, recipient: null };

/** A handler whose database and mail are played; `calls` has what happened, in order. */
function setUp(changed: Partial<SendDeps> & { started?: StartedCode } = {}) {
  const { started = KNOWN, ...deps } = changed;
  const calls: [name: string, ...args: unknown[]][] = [];
  const mails: Mail[] = [];
  const logged: Parameters<HttpDeps["log"]>[0][] = [];
  const tasks: Promise<void>[] = [];
  let requests = 0;
  const handler = createHandler({
    corsOrigins: "*",
    log: (entry) => logged.push(entry),
    newRequestId: () => {
      requests += 1;
      return `request-${requests}`;
    },
    store: {
      async startCode(...args) {
        calls.push(["startCode", ...args]);
        return started;
      },
      async setCode(...args) {
        calls.push(["setCode", ...args]);
        return args[1] !== nobody;
      },
    },
    async sendMail(mail) {
      calls.push(["sendMail"]);
      mails.push(mail);
    },
    hashCode: async (code, owner) => `hash of ${code} for ${owner.clientId}`,
    randomCode: () => CODE,
    random: () => 0.25,
    async pause(milliseconds) {
      calls.push(["pause", milliseconds]);
    },
    sendsPerIpHour: 100,
    portalUrl: undefined,
    background: (task) => tasks.push(task),
    ...deps,
  });
  /** Settles when the work after the answer is done; it must never reject. */
  const afterwards = () => Promise.all(tasks);
  return { handler, calls, mails, logged, tasks, afterwards };
}

function post(body: unknown, headers: Record<string, string> = {}, path = ""): Request {
  return new Request(`https://api.test/send-portal-otp${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const valid = { email: "marta@example.com", professionalId: PROFESSIONAL };

const HASH = `hash of ${CODE} for ${recipient.client_id}`;

/** All that a caller can see of an answer. */
async function visible(response: Response) {
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.json(),
  };
}

describe("asking for a code", () => {
  test("stores the hash before the mail goes to the stored address", async () => {
    const { handler, calls, mails, afterwards } = setUp();
    const response = await handler(post(valid, { "cf-connecting-ip": "192.0.2.1" }));
    await afterwards();
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ message: expect.any(String), expires_in: 600 });
    expect(calls).toEqual([
      ["startCode", PROFESSIONAL, valid.email, "192.0.2.1", 100],
      ["pause", 250],
      ["setCode", PROFESSIONAL, recipient, HASH],
      ["sendMail"],
    ]);
    expect(mails[0]?.to).toBe(recipient.email);
    expect(mails[0]?.text).toContain(CODE);
  });

  test("the answer for an unknown address is the same to the byte, and so is the work after it but for the mail", async () => {
    const known = setUp();
    const unknown = setUp({ started: UNKNOWN });
    const answers = [await known.handler(post(valid)), await unknown.handler(post(valid))];
    const [first, second] = await Promise.all(answers.map(visible));
    expect(second).toEqual(first);
    await Promise.all([known.afterwards(), unknown.afterwards()]);
    const names = ["startCode", "pause", "setCode"];
    expect(known.calls.map(([name]) => name)).toEqual([...names, "sendMail"]);
    expect(unknown.calls.map(([name]) => name)).toEqual(names);
    expect(unknown.logged).toEqual([]);
  });

  test.each([
    [0, 0],
    [0.5, 500],
    [0.999, 999],
  ])(
    "nothing is drawn, stored or mailed before a pause of that part of a second: %d",
    async (random, milliseconds) => {
      const pauses: number[] = [];
      let resume = () => {};
      for (const started of [KNOWN, UNKNOWN]) {
        const { handler, calls, afterwards } = setUp({
          started,
          random: () => random,
          pause: (asked) => {
            pauses.push(asked);
            return new Promise((resolve) => {
              resume = resolve;
            });
          },
          randomCode: () => {
            calls.push(["randomCode"]);
            return CODE;
          },
        });
        expect((await handler(post(valid))).status).toBe(200);
        expect(calls.map(([name]) => name)).toEqual(["startCode"]);
        resume();
        await afterwards();
        expect(calls.map(([name]) => name).slice(1, 3)).toEqual(["randomCode", "setCode"]);
      }
      expect(pauses).toEqual([milliseconds, milliseconds]);
    },
  );

  test("the caller does not wait for hash, database or mail", async () => {
    const never = new Promise<never>(() => {});
    for (const slow of [
      { pause: () => never },
      { hashCode: () => never },
      { sendMail: () => never },
      { store: { startCode: async () => KNOWN, setCode: () => never } },
    ]) {
      expect((await setUp(slow).handler(post(valid))).status).toBe(200);
    }
  });

  test("a newer request has the last word: its mail is the only one", async () => {
    const { handler, mails, afterwards, logged } = setUp({
      store: { startCode: async () => KNOWN, setCode: async () => false },
    });
    expect((await handler(post(valid))).status).toBe(200);
    await afterwards();
    expect(mails).toEqual([]);
    expect(logged).toEqual([]);
  });

  test("a limit is 429 with its seconds, and nothing else happens", async () => {
    const { handler, calls, tasks } = setUp({ started: LIMITED });
    const response = await handler(post(valid));
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("42");
    const { code, details } = await response.json();
    expect(code).toBe("rate_limit_exceeded");
    expect(JSON.parse(details)).toEqual({ retry_after: 42 });
    expect(calls.map(([name]) => name)).toEqual(["startCode"]);
    expect(tasks).toEqual([]);
  });
});

describe("who is counted", () => {
  const ipOf = async (headers: Record<string, string>) => {
    const { handler, calls } = setUp({ started: UNKNOWN });
    await handler(post(valid, headers));
    return calls[0]?.[3];
  };

  test("the edge's header wins over what the caller wrote", async () => {
    const forged = { "cf-connecting-ip": "192.0.2.1", "x-forwarded-for": "198.51.100.9" };
    expect(await ipOf(forged)).toBe("192.0.2.1");
  });

  test("without it the last hop counts, which the caller did not write", async () => {
    expect(await ipOf({ "x-forwarded-for": "198.51.100.9, 203.0.113.5 , 192.0.2.1" })).toBe(
      "192.0.2.1",
    );
  });

  test("other headers that name an address do not count", async () => {
    for (const name of ["x-real-ip", "forwarded", "true-client-ip", "x-client-ip"]) {
      expect(await ipOf({ [name]: "198.51.100.9" })).toBeNull();
    }
  });

  test("the limit per IP address is the one that was set", async () => {
    const { handler, calls } = setUp({ sendsPerIpHour: 5 });
    await handler(post(valid));
    expect(calls[0]?.[4]).toBe(5);
  });
});

describe("faults", () => {
  const fail = async (): Promise<never> => {
    throw new Error("the service answered 503");
  };

  test("mail fails: the same 200, the code is withdrawn, the fault is logged without address or code", async () => {
    const { handler, calls, logged, afterwards } = setUp({ sendMail: fail });
    const response = await handler(post(valid));
    await afterwards();
    expect(await visible(response)).toEqual(await visible(await setUp().handler(post(valid))));
    expect(calls.slice(2)).toEqual([
      ["setCode", PROFESSIONAL, recipient, HASH],
      ["setCode", PROFESSIONAL, recipient, null],
    ]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({
      requestId: "request-1",
      method: "POST",
      path: "/send-portal-otp",
    });
    const text = JSON.stringify(logged) + String((logged.at(0)?.cause as Error | undefined)?.stack);
    expect(text).not.toMatch(/012345|marta|example\.com/i);
  });

  test("the code cannot be stored: no mail, and it is withdrawn in case it was", async () => {
    const stored: unknown[] = [];
    const { handler, mails, logged, afterwards } = setUp({
      store: {
        startCode: async () => KNOWN,
        async setCode(_professional, _to, hmac) {
          stored.push(hmac);
          return hmac === null ? true : fail();
        },
      },
    });
    expect((await handler(post(valid))).status).toBe(200);
    await afterwards();
    expect(mails).toEqual([]);
    expect(stored).toEqual([HASH, null]);
    expect(logged).toHaveLength(1);
  });

  test("mail and withdrawal fail: both are logged, and nothing is left to crash the function", async () => {
    const { handler, logged, afterwards } = setUp({
      sendMail: fail,
      store: {
        startCode: async () => KNOWN,
        setCode: async (_professional, _to, hmac) => (hmac === null ? fail() : true),
      },
    });
    expect((await handler(post(valid))).status).toBe(200);
    await expect(afterwards()).resolves.toBeDefined();
    expect(logged.map(({ requestId }) => requestId)).toEqual(["request-1", "request-2"]);
  });

  test.each<[what: string, broken: Partial<SendDeps>]>([
    [
      "the source of codes",
      {
        randomCode: () => {
          throw new Error("no entropy");
        },
      },
    ],
    ["the hash", { hashCode: fail }],
  ])("%s fails: the same 200, logged, no mail", async (_, broken) => {
    const { handler, mails, logged, afterwards } = setUp(broken);
    expect((await handler(post(valid))).status).toBe(200);
    await afterwards();
    expect(mails).toEqual([]);
    expect(logged).toHaveLength(1);
  });

  test("the database fails: 500 for everybody, with the request id that was logged", async () => {
    const { handler, logged, tasks } = setUp({
      store: { startCode: fail, setCode: async () => true },
    });
    const response = await handler(post(valid));
    expect(response.status).toBe(500);
    const { code, details } = await response.json();
    expect(code).toBe("internal_error");
    expect(JSON.parse(details)).toEqual({ request_id: "request-1" });
    expect(logged).toMatchObject([{ requestId: "request-1", path: "/send-portal-otp" }]);
    expect(tasks).toEqual([]);
  });
});

describe("requests", () => {
  const outcome = async (request: Request) => {
    const { handler, calls } = setUp();
    const response = await handler(request);
    return {
      status: response.status,
      headers: response.headers,
      body: response.status === 204 ? null : await response.json(),
      reached: calls.length > 0,
    };
  };

  test.each([
    ["email", { ...valid, email: undefined }],
    ["email", { ...valid, email: "" }],
    ["email", { ...valid, email: "marta" }],
    ["email", { ...valid, email: "marta@example" }],
    ["email", { ...valid, email: "marta@example.com, eve@example.com" }],
    ["email", { ...valid, email: "marta@example.com\r\nBcc: eve@example.com" }],
    ["email", { ...valid, email: "marta <marta@example.com>" }],
    ["email", { ...valid, email: "mar\0ta@example.com" }],
    ["email", { ...valid, email: "\ud800@example.com" }],
    ["email", { ...valid, email: "\u212Aate@example.com" }],
    ["email", { ...valid, email: `${"a".repeat(320)}@example.com` }],
    ["email", { ...valid, email: ["marta@example.com"] }],
    ["email", { ...valid, email: { $ne: null } }],
    ["professionalId", { ...valid, professionalId: "1" }],
    ["professionalId", { ...valid, professionalId: `${PROFESSIONAL} or 1=1` }],
    ["professionalId", { ...valid, professionalId: null }],
    ["code", { ...valid, code: CODE }],
    ["__proto__", JSON.stringify(valid).replace("{", '{"__proto__":{"admin":true},')],
    ["constructor", { ...valid, constructor: 1 }],
    ["body", [valid]],
    ["body", "null"],
  ])("422 names %s of %j", async (field, body) => {
    const { status, body: error, reached } = await outcome(post(body));
    expect(status).toBe(422);
    expect(error.code).toBe("validation_failed");
    expect(Object.keys(JSON.parse(error.details).fields)).toEqual([field]);
    expect(reached).toBe(false);
  });

  test.each([
    "marta@example.com",
    "  Marta+x@Example.COM\n",
    "\u200bmarta@example.com\ufeff",
    "o'brien_{x}@example.com",
  ])("%j is an address", async (email) => {
    expect((await outcome(post({ ...valid, email }))).status).toBe(200);
  });

  test("an address of ten thousand dots is refused at once", async () => {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const begin = performance.now();
      const { status } = await outcome(post({ ...valid, email: `a@${".".repeat(9800)}@` }));
      expect(status).toBe(422);
      times.push(performance.now() - begin);
    }
    // Quadratic matching would take a hundred times as long, every time.
    expect(Math.min(...times)).toBeLessThan(50);
  });

  test("another method is 405 with Allow, and is not told about the path", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const { status, headers, reached } = await outcome(
        new Request("https://api.test/send-portal-otp", { method }),
      );
      expect([status, headers.get("allow"), reached]).toEqual([405, "POST, OPTIONS", false]);
    }
  });

  test("415, 400 and 413 come before the fields are looked at", async () => {
    expect((await outcome(post(valid, { "content-type": "text/plain" }))).status).toBe(415);
    const broken = await outcome(post("{"));
    expect([broken.status, broken.body.code]).toEqual([400, "invalid_json"]);
    const large = await outcome(post({ ...valid, filler: "x".repeat(10_000) }));
    expect([large.status, large.body.code]).toEqual([413, "payload_too_large"]);
    expect([broken.reached, large.reached]).toEqual([false, false]);
  });

  test("there is nothing behind the function's own address", async () => {
    const { status, body, reached } = await outcome(post(valid, {}, "/sign-out"));
    expect([status, body.code, reached]).toEqual([404, "not_found", false]);
    expect((await outcome(post(valid, {}, "/"))).status).toBe(200);
  });

  test("only listed origins may read answers, errors included", async () => {
    const { handler } = setUp({ corsOrigins: ["https://portal.example"] });
    for (const body of [valid, {}]) {
      const allowed = await handler(post(body, { origin: "https://portal.example" }));
      expect(allowed.headers.get("access-control-allow-origin")).toBe("https://portal.example");
      expect(allowed.headers.get("access-control-expose-headers")).toBe("Retry-After");
      const refused = await handler(post(body, { origin: "https://evil.example" }));
      expect(refused.headers.has("access-control-allow-origin")).toBe(false);
    }
  });
});

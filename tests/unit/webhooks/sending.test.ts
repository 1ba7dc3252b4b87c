/** The dispatcher without a stack: signatures, one try, slots and the time budget, who may call. */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import {
  ServerRpcError,
  serverRpc,
  userRpc,
} from "../../../supabase/functions/_shared/data-api.ts";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import { secretCheck } from "../../../supabase/functions/_shared/secrets.ts";
import { userTokens } from "../../../supabase/functions/_shared/user-tokens.ts";
import { disabledMail } from "../../../supabase/functions/webhooks/disabled-mail.ts";
import {
  type Delivery,
  type DispatchDeps,
  dispatch,
} from "../../../supabase/functions/webhooks/dispatch.ts";
import { createHandler } from "../../../supabase/functions/webhooks/handler.ts";
import {
  type Message,
  type Outcome,
  send,
  signedHeaders,
} from "../../../supabase/functions/webhooks/send.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("a signature", () => {
  test("is that of the standard's own example", () => {
    const timestamp = new Date(1_614_265_330_000);
    expect(
      signedHeaders("msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp, '{"test": 2432232314}', [SECRET]),
    ).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  test("of two secrets verifies with either, and with no third", () => {
    const other = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;
    const headers = signedHeaders("1", new Date(), '{"ü": "é\u2028"}', [SECRET, other]);
    for (const secret of [SECRET, other]) {
      expect(new Webhook(secret).verify('{"ü": "é\u2028"}', headers)).toEqual({ ü: "é\u2028" });
    }
    const third = new Webhook(`whsec_${btoa("another secret of the same length")}`);
    expect(() => third.verify('{"ü": "é\u2028"}', headers)).toThrow();
  });
});

describe("a try", () => {
  const message: Message = {
    event_id: "event-1",
    url: "https://example.com/hook",
    secrets: [SECRET],
    body: '{"n":1.50,"u":"é"}',
  };
  const now = new Date("2027-03-01T09:00:00Z");

  async function tryOnce(
    answer: (request: Request, signal: AbortSignal) => Response | Promise<Response>,
    options: { addresses?: string[]; timeoutMs?: number; bodyMs?: number } = {},
  ): Promise<{ outcome: Outcome; requests: Request[]; redirects: (string | undefined)[] }> {
    const requests: Request[] = [];
    const redirects: (string | undefined)[] = [];
    const outcome = await send(message, {
      resolve: async () => options.addresses ?? ["93.184.215.14"],
      allowLoopback: false,
      now: () => now,
      timeoutMs: options.timeoutMs ?? 10_000,
      bodyMs: options.bodyMs ?? 1_000,
      fetch: (async (url: string, init: RequestInit) => {
        const request = new Request(url, init);
        requests.push(request);
        redirects.push(init.redirect);
        return answer(request.clone(), init.signal as AbortSignal);
      }) as typeof fetch,
    });
    return { outcome, requests, redirects };
  }

  test("posts the bytes it signs, and follows no redirect", async () => {
    const { outcome, requests, redirects } = await tryOnce(() => new Response("ok"));
    const [request] = requests;
    expect(await request?.text()).toBe(message.body);
    expect(request?.method).toBe("POST");
    expect(request?.headers.get("webhook-timestamp")).toBe("1803891600");
    expect(redirects).toEqual(["manual"]);
    expect(outcome).toEqual({
      duration_ms: 0,
      status: 200,
      response: "ok",
      error: null,
      retry_after: null,
    });
  });

  test("does not happen when the host has moved inside", async () => {
    const { outcome, requests } = await tryOnce(() => new Response(), { addresses: ["10.0.0.1"] });
    expect(requests).toEqual([]);
    expect(outcome).toMatchObject({
      status: null,
      error: expect.stringContaining("host_not_public"),
    });
  });

  test.each<[header: string, seconds: number | null]>([
    ["120", 120],
    ["Mon, 01 Mar 2027 09:01:00 GMT", 60],
    ["Mon, 01 Mar 2027 08:00:00 GMT", 0],
    ["soon", null],
    ["-5", null],
  ])("hears that it should wait: Retry-After %s", async (header, seconds) => {
    const { outcome } = await tryOnce(
      () => new Response("", { status: 503, headers: { "retry-after": header } }),
    );
    expect(outcome.retry_after).toBe(seconds);
  });

  test("reads 4 kB of an endless answer and leaves", async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1000).fill(0x61)),
      cancel: () => {
        cancelled = true;
      },
    });
    const { outcome } = await tryOnce(() => new Response(endless));
    expect(outcome.response).toBe("a".repeat(4096));
    expect(cancelled).toBe(true);
  });

  test("ends when there is no answer in time; a status that came counts", async () => {
    const never = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    const silent = await tryOnce((_, signal) => never(signal), { timeoutMs: 20 });
    expect(silent.outcome).toMatchObject({ status: null, error: "no answer in time" });

    const slow = (signal: AbortSignal) =>
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("begin")),
        pull: () => never(signal),
      });
    const begun = await tryOnce((_, signal) => new Response(slow(signal)), { timeoutMs: 20 });
    expect(begun.outcome).toMatchObject({ status: 200, response: "begin", error: null });
  });

  test("reads a body that drips for a moment only, and leaves; the status counts", async () => {
    let cancelled = false;
    let drops = 0;
    const dripping = new ReadableStream<Uint8Array>({
      // The first drop comes, the next one never.
      pull: (controller) =>
        drops++ === 0
          ? controller.enqueue(new TextEncoder().encode("drop"))
          : new Promise(() => {}),
      cancel: () => {
        cancelled = true;
      },
    });
    const { outcome } = await tryOnce(() => new Response(dripping), { bodyMs: 20 });
    expect(outcome).toMatchObject({ status: 200, response: "drop", error: null });
    expect(cancelled).toBe(true);
  });

  test("that cannot connect says why, in a few words", async () => {
    const { outcome } = await tryOnce(() => {
      throw new TypeError(`refused\0${"x".repeat(1000)}`);
    });
    expect(outcome.status).toBeNull();
    expect(outcome.error).toMatch(/^refusedx+$/);
    expect(outcome.error).toHaveLength(500);
  });
});

describe("the dispatcher", () => {
  const OK: Outcome = {
    duration_ms: 1,
    status: 200,
    response: "",
    error: null,
    retry_after: null,
  };

  /** A queue of `count` deliveries, a clock that pauses move, and what happened. */
  function setUp(count: number, overrides: Partial<DispatchDeps> = {}) {
    let clock = 0;
    let left = count;
    const seen = { claims: [] as number[], finished: [] as string[], errors: [] as unknown[] };
    const deps: DispatchDeps = {
      queue: {
        claim: async (free) => {
          seen.claims.push(free);
          const taken = Math.min(free, left);
          left -= taken;
          return Array.from({ length: taken }, (_, i) => ({
            delivery_id: `${left + i}`,
            claim_token: "",
            event_id: "",
            url: "",
            secrets: [],
            body: "",
          }));
        },
        finish: async ({ delivery_id }: Delivery) => {
          seen.finished.push(delivery_id);
          return null;
        },
      },
      send: async () => OK,
      tellOwner: async () => {},
      onError: (cause) => seen.errors.push(cause),
      now: () => new Date(clock),
      pause: async (milliseconds) => {
        clock += milliseconds;
      },
      ...overrides,
    };
    return { deps, seen, passTime: (milliseconds: number) => (clock += milliseconds) };
  }

  test("sends each of 100 once, never more than 16 at a time", async () => {
    let inFlight = 0;
    let most = 0;
    const { deps, seen } = setUp(100, {
      send: async () => {
        most = Math.max(most, ++inFlight);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight--;
        return OK;
      },
    });
    await dispatch(deps);
    expect(seen.finished).toHaveLength(100);
    expect(new Set(seen.finished).size).toBe(100);
    expect(most).toBe(16);
    expect(Math.max(...seen.claims)).toBe(16);
  });

  test("claims into the free slots while a slow receiver occupies one", async () => {
    let answer = (_: Outcome) => {};
    const slow = new Promise<Outcome>((resolve) => {
      answer = resolve;
    });
    let first = true;
    const { deps, seen } = setUp(40, {
      send: () => {
        if (!first) return Promise.resolve(OK);
        first = false;
        return slow;
      },
    });
    const { finish } = deps.queue;
    deps.queue.finish = (delivery, outcome) => {
      if (seen.finished.length === 38) answer(OK);
      return finish(delivery, outcome);
    };
    await dispatch(deps);
    expect(seen.finished).toHaveLength(40);
  });

  test("looks for new work while nothing but a slow receiver is under way", async () => {
    let answer = (_: Outcome) => {};
    const slow = new Promise<Outcome>((resolve) => {
      answer = resolve;
    });
    const { deps, seen } = setUp(2);
    const { claim, finish } = deps.queue;
    let claims = 0;
    // The second one comes later.
    deps.queue.claim = (free) => (++claims === 2 ? Promise.resolve([]) : claim(Math.min(free, 1)));
    let first = true;
    deps.send = () => {
      if (!first) return Promise.resolve(OK);
      first = false;
      return slow;
    };
    deps.queue.finish = (delivery, outcome) => {
      answer(OK);
      return finish(delivery, outcome);
    };
    await dispatch(deps);
    expect(seen.finished).toEqual(["0", "1"]);
  });

  test("claims nothing more once its time is up, and ends what it has begun", async () => {
    const { deps, seen, passTime } = setUp(1000);
    const { send: sendOne } = deps;
    deps.send = (message) => {
      passTime(1000);
      return sendOne(message);
    };
    const { claim } = deps.queue;
    let claimed = 0;
    deps.queue.claim = async (free) => {
      const deliveries = await claim(free);
      claimed += deliveries.length;
      return deliveries;
    };
    await dispatch(deps);
    expect(claimed).toBeGreaterThan(16);
    expect(claimed).toBeLessThan(1000);
    expect(seen.finished).toHaveLength(claimed);
  });

  test("goes on when a result cannot be written; that delivery comes again", async () => {
    const { deps, seen } = setUp(20);
    const { finish } = deps.queue;
    let failed = false;
    deps.queue.finish = async (delivery, outcome) => {
      if (failed) return finish(delivery, outcome);
      failed = true;
      throw new Error("no database");
    };
    await dispatch(deps);
    expect(seen.finished).toHaveLength(19);
    expect(seen.errors).toEqual([new Error("no database")]);
  });

  test("ends what it has begun before it says that nothing can be claimed", async () => {
    const { deps, seen } = setUp(5);
    const { claim } = deps.queue;
    let claims = 0;
    deps.queue.claim = (free) => (claims++ === 0 ? claim(free) : Promise.reject(new Error("gone")));
    await expect(dispatch(deps)).rejects.toThrow("gone");
    expect(seen.finished).toHaveLength(5);
  });

  test("tells an owner whose endpoint a try has disabled, and names its host alone", async () => {
    const told: unknown[] = [];
    const disabled = { reason: "gone" as const, host: "hooks.example.com", email: "a@b.c" };
    const { deps } = setUp(1, {
      tellOwner: async (whom) => {
        told.push(whom);
      },
    });
    deps.queue.finish = async () => disabled;
    await dispatch(deps);
    expect(told).toEqual([disabled]);
    const mail = disabledMail(disabled, "a@b.c");
    expect(mail.to).toBe("a@b.c");
    for (const text of [mail.text, mail.html]) expect(text).toContain(disabled.host);
    expect(mail.subject).not.toContain(disabled.host);
    expect(disabledMail({ ...disabled, host: null }, "a@b.c").text).not.toContain("null");
  });
});

describe("the scheduler's call", () => {
  /** The function with a queue of its own, and the work that it leaves behind. */
  function setUp(claim: () => Promise<Delivery[]>) {
    const tasks: Promise<void>[] = [];
    const logged: unknown[] = [];
    const unused = () => Promise.reject(new Error("not used here"));
    const handle = createHandler({
      corsOrigins: "*",
      newRequestId: () => "request-1",
      log: ({ cause }) => logged.push(cause),
      userToken: unused,
      rpc: unused,
      queue: { claim, finish: unused },
      sendMail: unused,
      isDispatchSecret: async (key) => key === "right",
      background: (task) => tasks.push(task),
      allowLoopback: false,
      resolve: unused,
      fetch: unused as typeof fetch,
      now: () => new Date(0),
      pause: unused,
    });
    const call = async (apikey: string) =>
      handle(
        new Request("https://api.test/webhooks/dispatch", { method: "POST", headers: { apikey } }),
      );
    return { call, tasks, logged };
  }

  test("is answered with 202 at once; the work goes on behind it, beside that of other calls", async () => {
    const ends: ((claimed: Delivery[]) => void)[] = [];
    const { call, tasks, logged } = setUp(
      () =>
        new Promise((resolve) => {
          ends.push(resolve);
        }),
    );
    for (let calls = 1; calls <= 2; calls++) {
      const response = await call("right");
      expect([response.status, await response.text()]).toEqual([202, ""]);
      // Nothing has been claimed yet.
      expect([tasks.length, ends.length]).toEqual([calls, calls]);
    }
    for (const end of ends) end([]);
    await Promise.all(tasks);
    expect(logged).toEqual([]);
  });

  test("with another key starts nothing", async () => {
    const { call, tasks } = setUp(async () => []);
    expect((await call("wrong")).status).toBe(401);
    expect(tasks).toEqual([]);
  });

  test("that nothing can be claimed for is logged: nobody else would hear of it", async () => {
    const { call, tasks, logged } = setUp(() => Promise.reject(new Error("no database")));
    expect((await call("right")).status).toBe(202);
    await Promise.all(tasks);
    expect(logged).toEqual([new Error("no database")]);
  });
});

describe("the data API behind the function", () => {
  const env = { supabaseUrl: "https://api.test", publishableKey: "sb_publishable_1" };

  function fake(answer: () => Response) {
    const requests: Request[] = [];
    const fetcher = (async (url: string, init: RequestInit) => {
      requests.push(new Request(url, init));
      return answer();
    }) as typeof fetch;
    return { requests, fetcher };
  }

  test("is asked with the user's token, and its refusals are passed on", async () => {
    const body = {
      code: "rate_limit_exceeded",
      message: "m",
      details: '{"retry_after": 7}',
      hint: "h",
    };
    const { requests, fetcher } = fake(() =>
      Response.json(body, { status: 429, headers: { "Retry-After": "7", "X-Other": "1" } }),
    );
    const call = userRpc(env, fetcher)("token", "webhook_events", { after: 1 });
    await expect(call).rejects.toMatchObject({
      status: 429,
      body,
      headers: { "Retry-After": "7" },
    });
    const [request] = requests;
    expect(request?.url).toBe("https://api.test/rest/v1/rpc/webhook_events");
    expect(request?.headers.get("authorization")).toBe("Bearer token");
    expect(request?.headers.get("apikey")).toBe(env.publishableKey);
    expect(await request?.json()).toEqual({ after: 1 });
  });

  test("that fails itself is our fault, not the caller's", async () => {
    const { fetcher } = fake(() => new Response("<html>", { status: 503 }));
    const call = userRpc(env, fetcher)("token", "webhook_events", {});
    await expect(call).rejects.toThrow("503");
    await expect(call).rejects.not.toHaveProperty("status");
  });

  test.each([
    ["sb_secret_1", null],
    ["eyJ.legacy.key", "Bearer eyJ.legacy.key"],
  ])("knows the server by the key %s", async (secretKey, authorization) => {
    const { requests, fetcher } = fake(() => Response.json([]));
    const rpc = serverRpc({ supabaseUrl: env.supabaseUrl, secretKey }, fetcher);
    expect(await rpc("claim_webhook_deliveries", { max_count: 3 })).toEqual([]);
    expect(requests[0]?.headers.get("apikey")).toBe(secretKey);
    expect(requests[0]?.headers.get("authorization")).toBe(authorization);
  });

  test("refuses a server without its arguments in the log", async () => {
    const { fetcher } = fake(() =>
      Response.json({ code: "P0002", message: "no marta@example.com" }, { status: 400 }),
    );
    const rpc = serverRpc({ supabaseUrl: env.supabaseUrl, secretKey: "sb_secret_1" }, fetcher);
    const error = await rpc("end_portal_session", { session_id: "1" }).catch(String);
    expect(error).toMatch(/end_portal_session.*400.*P0002/);
    expect(error).not.toContain("marta");
  });

  test.each([
    [409, "slot_taken", "slot_taken", false],
    [429, "busy", "busy", false],
    [404, "PGRST301", undefined, true],
    // A key that is not trusted, a function that is not there.
    [401, "PGRST301", undefined, false],
    [404, "PGRST202", undefined, false],
    // What Postgres found, the keys of a row in it.
    [409, "23505", undefined, false],
    // What we have sent.
    [422, "validation_failed", undefined, false],
  ])(
    "tells a server what a user can do something about: %s %s",
    async (status, code, told, gone) => {
      const { fetcher } = fake(() => Response.json({ code, message: "no" }, { status }));
      const rpc = serverRpc({ supabaseUrl: env.supabaseUrl, secretKey: "sb_secret_1" }, fetcher);
      const error = (await rpc("health", {}).catch((reason: unknown) => reason)) as ServerRpcError;
      expect(error).toBeInstanceOf(ServerRpcError);
      expect([error.refusal?.code, error.isNotFound]).toEqual([told, gone]);
    },
  );

  test("answers a server with nothing where there is nothing to say", async () => {
    const { fetcher } = fake(() => new Response(null, { status: 204 }));
    const rpc = serverRpc({ supabaseUrl: env.supabaseUrl, secretKey: "sb_secret_1" }, fetcher);
    expect(await rpc("end_portal_session", { session_id: "1" })).toBeUndefined();
  });
});

describe("the dispatch secret", () => {
  test("is the whole of it", async () => {
    const isSecret = secretCheck("a-secret-of-at-least-32-characters");
    expect(await isSecret("a-secret-of-at-least-32-characters")).toBe(true);
    for (const key of [
      "",
      "a",
      "a-secret-of-at-least-32-characterS",
      "a-secret-of-at-least-32-characters ",
    ]) {
      expect(await isSecret(key)).toBe(false);
    }
  });
});

describe("a user's token", () => {
  const secret = "a-secret-of-at-least-32-characters";
  const claims = { role: "authenticated", sub: "1" };
  const sign = (payload: object, header: object, key: Parameters<SignJWT["sign"]>[0]) =>
    new SignJWT({ ...payload })
      .setProtectedHeader({ alg: "HS256", ...header })
      .setExpirationTime("1h")
      .sign(key);
  const check = async (variables: Record<string, string>, token: string) => {
    const own = { TOKEN_JWT_SECRET: "our-own-secret-of-at-least-32-characters", ...variables };
    const userToken = await userTokens(
      (name) => own[name as keyof typeof own],
      () => new Date(),
    );
    const headers = { authorization: `Bearer ${token}` };
    return userToken(new Request("https://api.test/", { headers }));
  };
  const hs256 = new TextEncoder().encode(secret);
  const jwks = (...keys: object[]) => JSON.stringify({ keys });

  test("is checked by the published keys of a project that has them", async () => {
    const [ours, other] = await Promise.all([generateKeyPair("ES256"), generateKeyPair("ES256")]);
    const published = { ...(await exportJWK(ours.publicKey)), kid: "k1", alg: "ES256" };
    const variables = { SUPABASE_JWKS: jwks(published) };
    const header = { alg: "ES256", kid: "k1" };
    const token = await sign(claims, header, ours.privateKey);
    expect(await check(variables, token)).toBe(token);
    const portal = await sign({ ...claims, role: "portal_client" }, header, ours.privateKey);
    await expect(check(variables, portal)).rejects.toMatchObject({ status: 403 });
    const forged = await sign(claims, header, other.privateKey);
    await expect(check(variables, forged)).rejects.toMatchObject({ status: 401 });
    // The public key as if it were a shared secret.
    const confused = await sign(
      claims,
      { kid: "k1" },
      new TextEncoder().encode(JSON.stringify(published)),
    );
    await expect(check(variables, confused)).rejects.toMatchObject({ status: 401 });
  });

  test("is checked by the secret, from the key set or a variable of its own", async () => {
    const token = await sign(claims, {}, hs256);
    const symmetric = { kty: "oct", k: Buffer.from(secret).toString("base64url") };
    expect(await check({ SUPABASE_JWKS: jwks(symmetric) }, token)).toBe(token);
    expect(await check({ JWT_SECRET: secret }, token)).toBe(token);
    expect(await check({ SUPABASE_JWKS: jwks(), JWT_SECRET: secret }, token)).toBe(token);
    const wrong = { JWT_SECRET: "another-secret-of-at-least-32-characters" };
    await expect(check(wrong, token)).rejects.toMatchObject({ status: 401 });
    await expect(
      check({ SUPABASE_JWKS: jwks(symmetric) }, "eyJhbGciOiJub25lIn0.e30."),
    ).rejects.toMatchObject({ status: 401 });
  });

  test("without an end or an owner is none", async () => {
    const variables = { JWT_SECRET: secret };
    const endless = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(hs256);
    await expect(check(variables, endless)).rejects.toMatchObject({ status: 401 });
    const nobody = await sign({ role: "authenticated" }, {}, hs256);
    await expect(check(variables, nobody)).rejects.toMatchObject({ status: 401 });
  });

  test.each([{}, { SUPABASE_JWKS: "nonsense" }, { JWT_SECRET: "short" }])(
    "cannot be checked with %j: the function does not start",
    async (variables: Record<string, string>) => {
      await expect(check(variables, "x")).rejects.toThrow(EnvError);
    },
  );

  test("of a key is checked by our own key first, which a published list may not have yet", async () => {
    const [own, published] = await Promise.all([
      generateKeyPair("ES256", { extractable: true }),
      generateKeyPair("ES256"),
    ]);
    const jwk = { ...(await exportJWK(own.privateKey)), kid: "ours" };
    const variables = {
      TOKEN_JWT_SECRET: "",
      TOKEN_SIGNING_JWK: JSON.stringify(jwk),
      SUPABASE_JWKS: jwks({ ...(await exportJWK(published.publicKey)), kid: "k1" }),
    };
    const ofKey = await sign(claims, { alg: "ES256", kid: "ours" }, own.privateKey);
    expect(await check(variables, ofKey)).toBe(ofKey);
    const ofPerson = await sign(claims, { alg: "ES256", kid: "k1" }, published.privateKey);
    expect(await check(variables, ofPerson)).toBe(ofPerson);
    const portal = await sign(
      { ...claims, role: "portal_client" },
      { alg: "ES256", kid: "ours" },
      own.privateKey,
    );
    await expect(check(variables, portal)).rejects.toMatchObject({ status: 403 });
    const expired = await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", kid: "ours" })
      .setExpirationTime(1)
      .sign(own.privateKey);
    await expect(check(variables, expired)).rejects.toMatchObject({ status: 401 });
    const { TOKEN_SIGNING_JWK: _, ...without } = variables;
    await expect(check({ ...without, TOKEN_JWT_SECRET: secret }, ofKey)).rejects.toMatchObject({
      status: 401,
    });
  });
});

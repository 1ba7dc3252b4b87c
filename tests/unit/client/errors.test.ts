/** What the client makes of refusals; tests/client has the real ones. */
import { describe, expect, expectTypeOf, test } from "vitest";
import { ApiError, createClient, isCode, keyToken } from "../../../client/src/index.ts";

const URL = "https://project.example";

function answering(status: number, body: unknown, headers: Record<string, string> = {}) {
  const sent: Request[] = [];
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const api = createClient(URL, "sb_publishable_key", {
    auth: { persistSession: false, autoRefreshToken: false },
    maxWait: 0,
    fetch: async (input, init) => {
      sent.push(new Request(input, init));
      return new Response(status === 204 ? null : text, { status, headers });
    },
  });
  return { api, sent };
}

const caught = async (call: Promise<unknown>): Promise<ApiError> => {
  const error = await call.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error instanceof ApiError) return error;
  throw new Error("no ApiError", { cause: error });
};

const refused = (code: string, message: string, details: unknown = null) => ({
  code,
  message,
  details,
  hint: null,
});

describe("an ApiError", () => {
  test("has its details parsed, with the type of its code", async () => {
    const next_starts = ["2027-03-01T09:00:00.000Z"];
    const body = refused("slot_taken", "Taken", JSON.stringify({ next_starts }));
    const error: unknown = await caught(
      answering(409, body).api.rpc("explain_slot", { service_id: "s", starts_at: "t" }),
    );
    if (!isCode(error, "slot_taken", "too_soon")) throw error;
    expectTypeOf(error.details).toEqualTypeOf<{ next_starts: string[] } | null>();
    expect(error).toMatchObject({ status: 409, details: { next_starts }, columns: [] });
    expect(error.sentence).toBe("This time has just been taken. Please choose another one.");
  });

  test("is told from others by its code", async () => {
    const error = await caught(answering(409, refused("past", "Over")).api.rpc("api_keys"));
    expect(isCode(error, "slot_taken")).toBe(false);
    expect(isCode(new Error("past"), "past")).toBe(false);
  });

  test.each([
    ["text", "weekly.mon[0]", "weekly.mon[0]"],
    ["nothing", null, null],
    ["JSON that is none", "{broken", "{broken"],
  ])("keeps details that are %s", async (_, details, expected) => {
    const body = refused("invalid_availability", "No", details);
    expect((await caught(answering(422, body).api.rpc("api_keys"))).details).toEqual(expected);
  });

  test("names the fields of a list and of an object alike", async () => {
    for (const fields of [
      ["client_name", "notes"],
      { client_name: "is empty", notes: "is long" },
    ]) {
      const body = refused("validation_failed", "No", JSON.stringify({ fields }));
      const error = await caught(answering(422, body).api.functions.calendar.google());
      expect(error).toMatchObject({ columns: ["client_name", "notes"], column: "client_name" });
      expect(error.sentence).toBe("Please check: client name, notes.");
    }
  });

  test("says how long to wait", async () => {
    const body = refused("rate_limit_exceeded", "Too many", '{"retry_after": 600}');
    const error = await caught(answering(429, body).api.rpc("api_keys"));
    expect(error.retryAfter).toBe(600);
    expect(error.sentence).toContain("10 minutes");
  });

  test.each([
    ["a page of something in between", "<html>Bad gateway</html>", 502],
    ["nothing", "", 500],
    ["JSON that is no error", "[1]", 500],
    ["the platform's edge", { message: "Invalid API key", hint: null }, 401],
  ])("is made of %s", async (_, body, status) => {
    const { api } = answering(status, body);
    for (const call of [
      api.rpc("create_booking", { service_id: "s", starts_at: "t" } as never),
      api.run(api.from("services").insert({ name: "Cut", price: 1, duration: 30 })),
    ]) {
      expect(await caught(call)).toMatchObject({ status, code: "unknown" });
    }
  });

  test("is made of what the auth service says", async () => {
    const body = { code: "invalid_credentials", message: "Invalid login credentials" };
    const { api } = answering(400, body, { "x-supabase-api-version": "2024-01-01" });
    const call = api.run(api.auth.signInWithPassword({ email: "a@example.com", password: "no" }));
    expect(await caught(call)).toMatchObject({
      status: 400,
      code: "invalid_credentials",
      sentence: "The address or the password is wrong.",
    });
  });

  test("of getting the token reaches the caller as it is", async () => {
    const refusal = new ApiError(401, { code: "invalid_api_key", message: "No" });
    const api = createClient(URL, "sb_publishable_key", {
      accessToken: async () => {
        throw refusal;
      },
      fetch: async () => Response.json([]),
      retry: { sleep: async () => {} },
    });
    await expect(api.rpc("api_keys")).rejects.toBe(refusal);
    await expect(api.run(api.from("services").select("id"))).rejects.toBe(refusal);
  });
});

describe("a call", () => {
  test("has the publishable key, and no token where nobody is signed in", async () => {
    const { api, sent } = answering(200, []);
    await api.rpc("api_keys");
    expect(sent[0]?.headers.get("apikey")).toBe("sb_publishable_key");
    expect(sent[0]?.headers.get("authorization")).toBeNull();
  });

  test("has the token that is given, and none where it is nobody's", async () => {
    const sent: Request[] = [];
    const api = createClient(`${URL}/`, "key", {
      accessToken: async () => "token",
      fetch: async (input, init) => {
        sent.push(new Request(input, init));
        return Response.json({});
      },
    });
    await api.rpc("api_keys");
    await api.functions.portal.openLink("t");
    await api.run(api.from("services").select("id"));
    expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer token",
      null,
      "Bearer token",
    ]);
    expect(sent[0]?.url).toBe(`${URL}/rest/v1/rpc/api_keys`);
  });

  test("is when the token is asked for, and not before", async () => {
    let asked = 0;
    const api = createClient(URL, "key", {
      accessToken: async () => `token ${++asked}`,
      fetch: async () => Response.json({}),
    });
    await new Promise(setImmediate);
    expect(asked).toBe(0);
    await api.rpc("api_keys");
    expect(asked).toBe(1);
  });

  test("that answers nothing gives undefined", async () => {
    const { api } = answering(204, "");
    await expect(api.functions.payments.detachAccount()).resolves.toBeUndefined();
  });

  test("of a function sends its query without what is not given, and ids as one part of the path", async () => {
    const { api, sent } = answering(200, { data: [] });
    await api.functions.webhooks.deliveries({ limit: 5 });
    await api.functions.webhooks.endpoint("a/b");
    expect(sent.map(({ url }) => url.slice(URL.length))).toEqual([
      "/functions/v1/webhooks/deliveries?limit=5",
      "/functions/v1/webhooks/endpoints/a%2Fb",
    ]);
  });
});

describe("the token of a key", () => {
  /** Exchanges that are answered in turn, at a time that the test sets. */
  function exchanging() {
    const clock = { now: 0 };
    let exchanges = 0;
    const token = keyToken(URL, "key", "sac_key", {
      now: () => clock.now,
      maxWait: 0,
      fetch: async () => {
        exchanges++;
        if (exchanges === 3)
          return Response.json(refused("invalid_api_key", "No"), { status: 401 });
        return Response.json({ access_token: `token ${exchanges}`, expires_in: 900 });
      },
    });
    return { clock, token };
  }

  test("is one exchange for all who wait, and for as long as it lasts", async () => {
    const { clock, token } = exchanging();
    expect(await Promise.all([token(), token()])).toEqual(["token 1", "token 1"]);
    clock.now = 839_000;
    expect(await token()).toBe("token 1");
  });

  test("is exchanged anew a minute before its end, once", async () => {
    const { clock, token } = exchanging();
    await token();
    clock.now = 840_000;
    expect(await Promise.all([token(), token()])).toEqual(["token 2", "token 2"]);
  });

  test("that was refused is asked for again by the next call", async () => {
    const { clock, token } = exchanging();
    await token();
    clock.now = 840_000;
    await token();
    clock.now = 2_000_000;
    await expect(token()).rejects.toMatchObject({ code: "invalid_api_key" });
    expect(await token()).toBe("token 4");
  });
});

test("a call of a session that cannot be renewed is not made as nobody", async () => {
  const asked: string[] = [];
  const session = {
    ...{ access_token: "a", refresh_token: "r", token_type: "bearer", user: { id: "1" } },
    ...{ expires_in: 3600, expires_at: 1 },
  };
  const storage = {
    getItem: () => JSON.stringify(session),
    setItem: () => {},
    removeItem: () => {},
  };
  const api = createClient(URL, "sb_publishable_key", {
    auth: { storage, autoRefreshToken: false, detectSessionInUrl: false },
    fetch: async (input) => {
      asked.push(new Request(input).url);
      return Response.json({ error_code: "refresh_token_not_found", msg: "No" }, { status: 400 });
    },
  });
  expect(await caught(api.rpc("api_keys"))).toMatchObject({ code: "refresh_token_not_found" });
  expect(asked.filter((url) => url.includes("/rest/"))).toEqual([]);
});

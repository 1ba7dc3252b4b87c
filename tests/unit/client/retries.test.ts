/** What the client sends again, after how long, and what it leaves alone. */
import { describe, expect, test } from "vitest";
import { createClient } from "../../../client/src/index.ts";
import { retryingFetch } from "../../../client/src/retrying-fetch.ts";

const URL = "https://project.example";
const ok = () => Response.json([]);
const receipt = () => Response.json({ id: "1" });
const refusal = (status: number, code: string, retryAfter?: number) => () =>
  Response.json(
    {
      code,
      message: code,
      // Postgres has a space in front of the colon.
      details: retryAfter === undefined ? null : `{"retry_after" : ${retryAfter}}`,
      hint: null,
    },
    { status },
  );
const lost = () => {
  throw new TypeError("fetch failed");
};

type Answer = () => Response;

/** A client whose requests are answered one by one, and whose clock only notes what it was to wait. */
function scripted(answers: Answer[], options: { maxWait?: number; random?: number } = {}) {
  const { maxWait, random = 0 } = options;
  const waits: number[] = [];
  const sent: Request[] = [];
  const api = createClient(URL, "sb_publishable_key", {
    accessToken: async () => null,
    fetch: async (input, init) => {
      sent.push(new Request(input, init));
      const answer = answers[sent.length - 1];
      if (!answer) throw new Error("asked more often than there are answers");
      return answer();
    },
    ...(maxWait !== undefined && { maxWait }),
    retry: { sleep: async (milliseconds) => void waits.push(milliseconds), random: () => random },
  });
  return { api, waits, sent };
}

const BOOKING = { service_id: "s", starts_at: "2027-03-01T08:00:00Z" } as never;
const WITH_KEY = { service_id: "s", starts_at: "t", idempotency_key: "k" } as never;

describe("a refusal of ours", () => {
  test.each(["busy", "rate_limit_exceeded", "too_many_connections"])(
    "%s is waited out, whatever the method",
    async (code) => {
      const { api, waits, sent } = scripted([
        refusal(429, code, 2),
        refusal(429, code, 1),
        receipt,
      ]);
      await expect(api.rpc("create_booking", BOOKING)).resolves.toEqual({ id: "1" });
      expect(waits).toEqual([2000, 1000]);
      expect(await sent[2]?.json()).toEqual(BOOKING);
    },
  );

  test("is waited out by queries of supabase-js and by functions alike", async () => {
    const { api, waits } = scripted([
      refusal(429, "busy", 1),
      ok,
      refusal(429, "busy", 1),
      receipt,
    ]);
    await api.supabase.from("services").insert({ name: "Cut", price: 1, duration: 30 });
    await api.functions.calendar.google();
    expect(waits).toEqual([1000, 1000]);
  });

  test.each([0, -5])("that asks for %i seconds does not hurry us", async (seconds) => {
    const { api, waits } = scripted([refusal(429, "busy", seconds), ok]);
    await api.run(api.from("services").select("id"));
    expect(waits).toEqual([1000]);
  });

  test("is never repeated sooner than asked, and not by all at the same moment", async () => {
    const { api, waits } = scripted([refusal(429, "busy", 2), ok], { random: 0.5 });
    await api.run(api.from("services").select("id"));
    expect(waits).toEqual([2500]);
  });

  test("that asks for more than is left of the cap is told at once", async () => {
    const { api, waits, sent } = scripted([refusal(429, "rate_limit_exceeded", 11)]);
    await expect(api.rpc("create_booking", BOOKING)).rejects.toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      retryAfter: 11,
    });
    expect(waits).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  test("is waited for no longer in all than the cap", async () => {
    const busy = refusal(429, "busy", 2);
    const { api, waits } = scripted([busy, busy, busy, busy], { maxWait: 5000, random: 0.2 });
    await expect(api.rpc("create_booking", BOOKING)).rejects.toMatchObject({ code: "busy" });
    expect(waits).toEqual([2200, 2200]);
  });

  test("is not waited for at all with a cap of 0", async () => {
    const { api, waits } = scripted([refusal(429, "busy", 1)], { maxWait: 0 });
    await expect(api.rpc("create_booking", BOOKING)).rejects.toMatchObject({ code: "busy" });
    expect(waits).toEqual([]);
  });

  test.each([
    ["of a calendar elsewhere", refusal(409, "busy", 1)],
    ["without the seconds", refusal(429, "busy")],
    ["of the auth service", refusal(429, "over_request_rate_limit", 1)],
    ["that is none of ours", () => new Response("slow down", { status: 429 })],
  ])("%s is an answer", async (_, answer) => {
    const { api, sent } = scripted([answer]);
    await expect(api.run(api.from("services").select("id"))).rejects.toBeDefined();
    expect(sent).toHaveLength(1);
  });
});

describe("what got no answer", () => {
  test("is asked again when it reads", async () => {
    const { api, waits } = scripted([lost, lost, ok]);
    await expect(api.run(api.from("services").select("id"))).resolves.toEqual([]);
    expect(waits).toEqual([300, 600]);
  });

  test("is asked again when its RPC reads", async () => {
    const { api, sent } = scripted([lost, receipt]);
    await api.rpc("booking_page", { username: "ana" });
    expect(sent).toHaveLength(2);
  });

  test("is asked again when an idempotency key makes two one", async () => {
    const { api, sent } = scripted([lost, receipt]);
    await api.rpc("create_booking", WITH_KEY);
    expect(sent).toHaveLength(2);
  });

  test.each([
    ["an RPC that writes", (api: Api) => api.rpc("create_booking", BOOKING)],
    [
      "an insert",
      (api: Api) => api.run(api.from("clients").insert({ name: "M", email: "m@e.co" })),
    ],
    ["an update", (api: Api) => api.run(api.from("clients").update({ name: "M" }).eq("id", "1"))],
    ["a route that writes", (api: Api) => api.functions.payments.refund({ payment_id: "1" })],
  ])("is not asked again: %s", async (_, run) => {
    const { api, sent } = scripted([lost]);
    await expect(run(api)).rejects.toMatchObject({ status: 0, code: "network", isNetwork: true });
    expect(sent).toHaveLength(1);
  });

  test("is given up after three repeats, and told with its cause", async () => {
    const { api, sent } = scripted([lost, lost, lost, lost]);
    await expect(api.run(api.from("services").select("id"))).rejects.toMatchObject({
      code: "network",
      cause: { message: "fetch failed" },
    });
    expect(sent).toHaveLength(4);
  });
});

test("nothing of the auth service is asked twice, not even what reads", async () => {
  let asked = 0;
  const api = createClient(URL, "sb_publishable_key", {
    auth: { persistSession: false },
    fetch: async () => {
      asked++;
      return asked === 1 ? lost() : refusal(429, "busy", 1)();
    },
    retry: { sleep: async () => {}, random: () => 0 },
  });
  await expect(api.run(api.auth.getUser("a.b.c"))).rejects.toMatchObject({ isNetwork: true });
  expect(asked).toBe(1);
  await expect(api.run(api.auth.getUser("a.b.c"))).rejects.toMatchObject({ status: 429 });
  expect(asked).toBe(2);
});

describe("an outage between us and the database", () => {
  test("is asked again by what reads, and no oftener by supabase-js itself", async () => {
    const down = () => new Response("Service Unavailable", { status: 503 });
    const { api, sent } = scripted([down, down, down, down]);
    await expect(api.run(api.from("services").select("id"))).rejects.toMatchObject({
      status: 503,
      code: "unknown",
    });
    expect(sent).toHaveLength(4);
  });

  test("is an answer to what writes", async () => {
    const { api, sent } = scripted([refusal(504, "PGRST003")]);
    await expect(api.rpc("create_booking", BOOKING)).rejects.toMatchObject({ code: "PGRST003" });
    expect(sent).toHaveLength(1);
  });

  test("is none where a function says what is missing", async () => {
    const { api, sent } = scripted([refusal(503, "payments_not_configured")]);
    await expect(api.functions.payments.account()).rejects.toMatchObject({ status: 503 });
    expect(sent).toHaveLength(1);
  });
});

describe("an abort", () => {
  const endless = (signal?: AbortSignal) =>
    createClient(URL, "sb_publishable_key", {
      accessToken: async () => null,
      fetch: async (_, init) => {
        init?.signal?.throwIfAborted();
        return refusal(429, "busy", 5)();
      },
      ...(signal && { signal }),
    });

  test("ends the wait of a call, with its own reason", async () => {
    const abort = new AbortController();
    const call = endless().rpc("create_booking", BOOKING, { signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toBe(abort.signal.reason);
  });

  test("ends the wait of a query", async () => {
    const abort = new AbortController();
    const api = endless();
    const call = api.run(api.from("services").select("id").abortSignal(abort.signal));
    abort.abort();
    await expect(call).rejects.toBe(abort.signal.reason);
  });

  test.each([new Error("left"), "left", null])("for the reason %s stays that", async (reason) => {
    const abort = new AbortController();
    const api = endless();
    const calls = [
      api.rpc("create_booking", BOOKING, { signal: abort.signal }),
      api.run(api.from("services").select("id").abortSignal(abort.signal)),
    ];
    abort.abort(reason);
    for (const call of calls) await expect(call).rejects.toBe(reason);
  });

  test("of the client ends all of its calls", async () => {
    const abort = new AbortController();
    const call = endless(abort.signal).functions.calendar.google();
    abort.abort();
    await expect(call).rejects.toBe(abort.signal.reason);
  });
});

test("a `Request` is what it says itself: one that writes is sent once, its body as often as needed", async () => {
  const answers = [refusal(429, "busy", 1), lost];
  const bodies: string[] = [];
  const send = retryingFetch({
    url: URL,
    maxWait: 5000,
    sleep: async () => {},
    fetch: async (input, init) => {
      bodies.push(await new Request(input, init).text());
      return (answers[bodies.length - 1] ?? ok)();
    },
  });
  const sent = send(new Request(`${URL}/rest/v1/clients`, { method: "POST", body: "{}" }));
  await expect(sent).rejects.toThrow("fetch failed");
  expect(bodies).toEqual(["{}", "{}"]);
});

type Api = ReturnType<typeof scripted>["api"];

/** The route of feeds: what it asks of the database, and what caches are told. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { FeedAnswer } from "../../../supabase/functions/calendar/feed.ts";
import { feedReader } from "../../../supabase/functions/calendar/feed.ts";
import { createHandler } from "../../../supabase/functions/calendar/handler.ts";

const TOKEN = "Zm9vYmFyLXRva2VuX29mXzMyX2J5dGVzLWV4YWN0bHk";
const ETAG = "0123456789abcdef0123456789abcdef";
const FOUND: FeedAnswer = {
  retry_after: null,
  etag: ETAG,
  feed: { name: "Phone", detail: "busy", language: "en", time_zone: "UTC", entries: [] },
};

function setUp(answer: FeedAnswer | Error = FOUND) {
  const asked: unknown[][] = [];
  const logged: object[] = [];
  const handle = createHandler({
    corsOrigins: "*",
    newRequestId: () => "request-1",
    log: (entry) => logged.push(entry),
    readFeed: async (...args) => {
      asked.push(args);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const get = (file = `${TOKEN}.ics`, headers: Record<string, string> = {}, method = "GET") =>
    handle(new Request(`https://api.example/calendar/feed/${file}`, { method, headers }));
  return { get, asked, logged };
}

describe("a feed", () => {
  test("is asked for by the hash of its token", async () => {
    const { get, asked } = setUp();
    const response = await get(undefined, { "x-forwarded-for": "198.51.100.7, 192.0.2.1" });
    expect(response.status).toBe(200);
    expect(asked).toEqual([[createHash("sha256").update(TOKEN).digest("hex"), "192.0.2.1", []]]);
  });

  test("is a calendar that caches of others do not keep, under a weak tag", async () => {
    const response = await setUp().get();
    expect(response.headers.get("content-type")).toBe("text/calendar; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("private");
    expect(response.headers.get("etag")).toBe(`W/"${ETAG}"`);
    expect(await response.text()).toMatch(/^BEGIN:VCALENDAR\r\n/);
  });

  test("to HEAD says the same; its body is the server's to leave out", async () => {
    const { get } = setUp();
    const [got, head] = await Promise.all([get(), get(undefined, {}, "HEAD")]);
    expect(head.status).toBe(200);
    expect([...head.headers]).toEqual([...got.headers]);
  });

  test.each(["GET", "HEAD"])("that the caller has is 304 without a body, to %s", async (method) => {
    const { get, asked } = setUp({ retry_after: null, etag: ETAG, feed: null });
    const response = await get(undefined, { "if-none-match": `W/"${ETAG}"` }, method);
    expect(response.status).toBe(304);
    expect(await response.text()).toBe("");
    expect(response.headers.get("etag")).toBe(`W/"${ETAG}"`);
    expect(response.headers.get("cache-control")).toBe("private");
    expect(asked[0]?.[2]).toEqual([ETAG]);
  });

  test.each([
    [`"${ETAG}"`, [ETAG]],
    [`W/"${ETAG}"`, [ETAG]],
    [`"a", W/"${ETAG}" ,"b,c"`, ["a", ETAG, "b,c"]],
    ["*", ["*"]],
    [" * ", ["*"]],
    ['"*"', ["*"]],
    ["", []],
    ["no quotes", []],
    [`"${"x".repeat(101)}"`, []],
    [Array(30).fill('"x"').join(), Array(20).fill("x")],
  ])("is compared with If-None-Match: %s", async (header, etags) => {
    const { get, asked } = setUp();
    await get(undefined, { "if-none-match": header });
    expect(asked[0]?.[2]).toEqual(etags);
  });

  test("that is asked for too often is 429 with the time to wait", async () => {
    const response = await setUp({ retry_after: 90 }).get();
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("90");
    expect(await response.json()).toMatchObject({ code: "rate_limit_exceeded" });
  });
});

describe("a token", () => {
  test("that opens nothing is 404, like one that could not be one", async () => {
    const unknown = setUp(null);
    const [first, second] = await Promise.all([unknown.get(), unknown.get("short.ics")]);
    expect(unknown.asked).toHaveLength(1);
    expect([first.status, second.status]).toEqual([404, 404]);
    expect(await first.json()).toEqual(await second.json());
    expect(unknown.logged).toEqual([]);
  });

  test.each([
    `${TOKEN}`,
    `${TOKEN}.ICS`,
    `${TOKEN}xics`,
    `${TOKEN}a.ics`,
    `${TOKEN.slice(1)}.ics`,
    `${TOKEN.slice(1)}%2F.ics`,
    `${TOKEN.slice(1)}=.ics`,
    `${TOKEN}.ics.ics`,
    `${TOKEN}.ics/`,
    `../feed/${TOKEN}.ics%00`,
    "",
  ])("of another form asks nothing: %s", async (file) => {
    const { get, asked } = setUp();
    expect((await get(file)).status).toBe(404);
    expect(asked).toEqual([]);
  });

  test("is not in the log of a fault", async () => {
    const cause = new Error("calendar_feed failed with status 500, code none");
    const { get, logged } = setUp(cause);
    const response = await get(`${TOKEN}.ics?key=${TOKEN}`);
    expect(response.status).toBe(500);
    expect(logged).toEqual([
      { requestId: "request-1", method: "GET", path: "/calendar/feed/(hidden)", cause },
    ]);
    expect(JSON.stringify([logged, await response.text()])).not.toContain(TOKEN);
  });

  test("is not in what a refusal of the database says", async () => {
    const read = feedReader(async (name, args) => {
      expect(name).toBe("calendar_feed");
      expect(args).toEqual({ token_hash: "hash", ip: null, ip_limit: 60, etags: [] });
      return null as never;
    }, 60);
    expect(await read("hash", null, [])).toBeNull();
  });
});

test.each(["POST", "PUT", "PATCH", "DELETE"])("%s is 405", async (method) => {
  const { get, asked } = setUp();
  const response = await get(undefined, {}, method);
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  expect(asked).toEqual([]);
});

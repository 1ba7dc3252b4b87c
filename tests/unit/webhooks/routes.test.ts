/** What a route of the function does first: a call that a revoked key, or one that only reads, cannot make. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../supabase/functions/_shared/errors.ts";
import { createHandler } from "../../../supabase/functions/webhooks/handler.ts";

const root = new URL("../../../supabase/", import.meta.url);
const migrations = readdirSync(new URL("migrations/", root))
  .map((name) => readFileSync(new URL(`migrations/${name}`, root), "utf8"))
  .join("\n");
const isVolatile = (rpc: string) =>
  new RegExp(`create function public\\.${rpc}\\([^;]*?\\nvolatile\\n`).test(migrations);

const ID = "11111111-1111-4111-8111-111111111111";
const url = "https://example.com/";
const ROUTES: [string, string, object?][] = [
  ["POST", "/endpoints", { url, events: ["*"] }],
  ["PATCH", `/endpoints/${ID}`, { url }],
  ["DELETE", `/endpoints/${ID}`],
  ["POST", `/endpoints/${ID}/rotate-secret`],
  ["POST", `/endpoints/${ID}/test`],
  ["POST", `/endpoints/${ID}/redeliver`, { since: "2027-01-01T00:00:00Z" }],
  ["POST", `/deliveries/${ID}/redeliver`],
];

/** The outside world, of which nothing may be asked. */
const outside = (): never => {
  throw new Error("reached outside");
};

/** Which RPCs a request makes when the first one is refused. */
async function begin(method: string, path: string, body?: object) {
  const called: string[] = [];
  const handle = createHandler({
    corsOrigins: "*",
    newRequestId: () => "1",
    log: outside,
    userToken: async () => "token",
    rpc: async (_token, name) => {
      called.push(name);
      throw new ApiError(403, "key_is_read_only", "no");
    },
    queue: { claim: outside, finish: outside } as never,
    sendMail: outside,
    isDispatchSecret: outside,
    background: outside,
    allowLoopback: false,
    resolve: outside,
    fetch: outside,
    now: () => new Date(),
    pause: outside,
  });
  const response = await handle(
    new Request(`https://api.test/webhooks${path}`, {
      method,
      ...(body && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    }),
  );
  return { status: response.status, called };
}

describe("each route that changes something begins with a volatile RPC, before anything outside", () => {
  test.each(ROUTES)("%s %s", async (method, path, body) => {
    const { status, called } = await begin(method, path, body);
    expect(status).toBe(403);
    expect(called).toHaveLength(1);
    expect(isVolatile(called[0] ?? "")).toBe(true);
  });

  test("and all of them are here", () => {
    const source = readFileSync(new URL("functions/webhooks/handler.ts", root), "utf8");
    expect(source.match(/\b(POST|PUT|PATCH|DELETE): user\(/g)).toHaveLength(ROUTES.length);
    expect(isVolatile("webhook_endpoints")).toBe(false);
  });
});

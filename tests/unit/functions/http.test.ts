import { describe, expect, test } from "vitest";
import { z } from "zod";
import { corsOrigins, EnvError, platformEnv } from "../../../supabase/functions/_shared/env.ts";
import { notFound, rateLimited } from "../../../supabase/functions/_shared/errors.ts";
import {
  createRouter,
  type HttpDeps,
  type Route,
  readJson,
  readValid,
} from "../../../supabase/functions/_shared/http.ts";

const LIMIT = 64;
const schema = z.strictObject({ email: z.email(), tags: z.array(z.string()).optional() });

function setUp(options: { corsOrigins?: HttpDeps["corsOrigins"]; throws?: unknown } = {}) {
  const logged: Parameters<HttpDeps["log"]>[0][] = [];
  const deps: HttpDeps = {
    corsOrigins: options.corsOrigins ?? "*",
    log: (entry) => logged.push(entry),
    newRequestId: () => "request-1",
  };
  const create: Route = async (request) => {
    if ("throws" in options) throw options.throws;
    return Response.json(await readValid(request, schema, LIMIT), { status: 201 });
  };
  const show: Route = (_, params) => Response.json(params);
  const routes = {
    "": { POST: create },
    "parts/:part": { GET: show, DELETE: show },
    "parts/:part/of/:whole": { GET: show },
  };
  return { call: createRouter(deps, routes), logged };
}

function post(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request("https://api.test/things?secret=1", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
}

const valid = JSON.stringify({ email: "ana@example.com" });

/** The error's code, after checking that the body has the one shape. */
async function codeOf(response: Response): Promise<string> {
  const body = await response.json();
  expect(body).toEqual({
    code: expect.any(String),
    message: expect.any(String),
    details: body.details === null ? null : expect.any(String),
    hint: body.hint === null ? null : expect.any(String),
  });
  return body.code;
}

describe("bodies", () => {
  test("a valid body reaches the handler", async () => {
    const response = await setUp().call(post(valid));
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ email: "ana@example.com" });
  });

  test("a content type with parameters is JSON too", async () => {
    const request = post(valid, { "content-type": "Application/JSON; charset=utf-8" });
    expect((await setUp().call(request)).status).toBe(201);
  });

  test.each(["text/plain", "application/jsonp", "application/x-www-form-urlencoded"])(
    "%s is 415",
    async (type) => {
      const response = await setUp().call(post(valid, { "content-type": type }));
      expect(response.status).toBe(415);
      expect(await codeOf(response)).toBe("unsupported_media_type");
    },
  );

  test.each<[name: string, body: BodyInit]>([
    ["nothing", ""],
    ["half an object", "{"],
    ["bad UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
  ])("%s is 400 invalid_json", async (_, body) => {
    const response = await setUp().call(post(body));
    expect(response.status).toBe(400);
    expect(await codeOf(response)).toBe("invalid_json");
  });

  test("a body of exactly the limit passes, one byte more is 413", async () => {
    const fit = valid.padEnd(LIMIT);
    expect((await setUp().call(post(fit))).status).toBe(201);
    const response = await setUp().call(post(`${fit} `));
    expect(response.status).toBe(413);
    expect(await codeOf(response)).toBe("payload_too_large");
  });

  test("an endless body without a length is refused and no longer read", async () => {
    let chunks = 0;
    let cancelled = false;
    const body = new ReadableStream({
      pull(controller) {
        chunks += 1;
        controller.enqueue(new Uint8Array(16));
      },
      cancel() {
        cancelled = true;
      },
    });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    const request = new Request("https://api.test/", { ...init, duplex: "half" } as RequestInit);
    await expect(readJson(request, LIMIT)).rejects.toMatchObject({ status: 413 });
    expect(cancelled).toBe(true);
    expect(chunks).toBeLessThan(10);
  });

  test.each([
    [{ email: "ana@example.com", admin: true }, "admin"],
    [{ email: "ana" }, "email"],
    [{}, "email"],
    [{ email: "ana@example.com", tags: ["a", 1] }, "tags.1"],
    [JSON.parse('{"email":"ana@example.com","__proto__":1}'), "__proto__"],
    [null, "body"],
  ])("%j is 422 and names %s", async (body, field) => {
    const response = await setUp().call(post(JSON.stringify(body)));
    expect(response.status).toBe(422);
    const { code, details } = await response.json();
    expect(code).toBe("validation_failed");
    expect(Object.keys(JSON.parse(details).fields)).toEqual([field]);
  });
});

describe("routes", () => {
  const get = (path: string, method = "GET") =>
    setUp().call(new Request(`https://api.test/things${path}`, { method }));

  test.each([
    ["/parts/1", { part: "1" }],
    ["/parts/1?part=2", { part: "1" }],
    ["/parts/1/of/2", { part: "1", whole: "2" }],
    ["/parts/of/of/of", { part: "of", whole: "of" }],
    ["/parts/a%2Fb", { part: "a%2Fb" }],
  ])("%s is found by its parts", async (path, params) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(params);
  });

  test.each([
    "/parts",
    "/parts/",
    "/parts/1/",
    "/parts/1/of",
    "/xparts/1",
    "/parts/1/of/2/3",
    "//",
  ])("%s is 404", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await codeOf(response)).toBe("not_found");
  });

  test("the function's own address may end in a slash", async () => {
    const request = new Request("https://api.test/things/", post(valid));
    expect((await setUp().call(request)).status).toBe(201);
  });

  test("each says its own methods, a preflight those of all", async () => {
    const refused = await get("/parts/1", "POST");
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, DELETE, OPTIONS"]);
    expect((await get("/parts/1", "DELETE")).status).toBe(200);
    const preflight = await get("/parts/1", "OPTIONS");
    expect(preflight.headers.get("allow")).toBe("POST, GET, DELETE, OPTIONS");
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST, GET, DELETE");
  });
});

describe("methods", () => {
  test("another method is 405 and told what is allowed", async () => {
    const response = await setUp().call(new Request("https://api.test/"));
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, OPTIONS");
    expect(await codeOf(response)).toBe("method_not_allowed");
  });
});

describe("CORS", () => {
  const from = (origin: string, method = "OPTIONS") =>
    new Request("https://api.test/", { method, headers: { origin } });

  test("a preflight from anywhere is answered when all origins are allowed", async () => {
    const { status, headers } = await setUp().call(from("https://any.example"));
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-methods")).toBe("POST, GET, DELETE");
    const allowed = headers.get("access-control-allow-headers")?.split(", ");
    expect(allowed).toEqual(["authorization", "apikey", "content-type", "x-client-info"]);
  });

  test("a listed origin is allowed by name, another one is not", async () => {
    const { call } = setUp({ corsOrigins: ["https://app.example"] });
    const listed = await call(from("https://app.example"));
    expect(listed.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(listed.headers.get("vary")).toBe("Origin");
    for (const origin of ["https://evil.example", "https://app.example.evil.example", "null"]) {
      const other = await call(from(origin));
      expect(other.headers.has("access-control-allow-origin")).toBe(false);
      expect(other.headers.has("access-control-allow-headers")).toBe(false);
      expect(other.headers.get("vary")).toBe("Origin");
    }
  });

  test.each([
    [405, undefined],
    [429, rateLimited(2.1)],
    [500, new Error("x")],
  ])("a browser can read a %i and its Retry-After", async (status, throws) => {
    const { call } = setUp(throws ? { throws } : {});
    const response = await call(from("https://any.example", throws ? "POST" : "GET"));
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toBe("Retry-After");
  });
});

describe("errors", () => {
  test("a limit says its whole seconds in header and body", async () => {
    const response = await setUp({ throws: rateLimited(2.1) }).call(post(valid));
    expect(response.headers.get("retry-after")).toBe("3");
    expect(JSON.parse((await response.json()).details)).toEqual({ retry_after: 3 });
  });

  test("what is not there is 404 PGRST301 and not logged", async () => {
    const { call, logged } = setUp({ throws: notFound() });
    const response = await call(post(valid));
    expect(response.status).toBe(404);
    expect(await codeOf(response)).toBe("PGRST301");
    expect(logged).toEqual([]);
  });

  test("an unexpected error is logged with its cause and shown without it", async () => {
    const cause = new Error("password=hunter2");
    const { call, logged } = setUp({ throws: cause });
    const response = await call(post(valid));
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain("hunter2");
    expect(JSON.parse(text).code).toBe("internal_error");
    expect(JSON.parse(JSON.parse(text).details)).toEqual({ request_id: "request-1" });
    expect(logged).toEqual([{ requestId: "request-1", method: "POST", path: "/things", cause }]);
  });
});

describe("the path of a fault", () => {
  const id = "a0000000-0000-4000-8000-000000000001";

  test.each([
    ["/things", "/things"],
    ["/webhooks/endpoints", "/webhooks/endpoints"],
    [`/things/parts/${id}`, `/things/parts/${id}`],
    [`/things/parts/${id}/of/rotate-secret`, `/things/parts/${id}/of/rotate-secret`],
    [`/things/parts/${"x".repeat(43)}`, "/things/parts/(hidden)"],
    [`/things/parts/${id}x`, "/things/parts/(hidden)"],
    ["/things/parts/key_1", "/things/parts/(hidden)"],
    ["/things/parts/KEY", "/things/parts/(hidden)"],
    ["/things/parts/a%20key", "/things/parts/(hidden)"],
    ["/things/parts/a.ics?key=key", "/things/parts/(hidden)"],
  ])("%s is logged as %s: words and ids, and nothing that could be a key", async (path, logged) => {
    const paths: string[] = [];
    const fail = () => Promise.reject(new Error("fault"));
    const call = createRouter(
      { corsOrigins: "*", log: (entry) => paths.push(entry.path), newRequestId: () => "1" },
      {
        "": { GET: fail },
        endpoints: { GET: fail },
        "parts/:part": { GET: fail },
        "parts/:part/of/:whole": { GET: fail },
      },
    );
    await call(new Request(`https://api.test${path}`));
    expect(paths).toEqual([logged]);
  });
});

describe("variables", () => {
  const base = {
    SUPABASE_URL: "https://project.supabase.co/",
    SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_1"}',
    SUPABASE_SECRET_KEYS: '{"default":"sb_secret_1"}',
  };
  const read = (env: Record<string, string>) => (name: string) => env[name];

  test("both key generations are understood, the new one first", () => {
    const legacy = { SUPABASE_ANON_KEY: "anon", SUPABASE_SERVICE_ROLE_KEY: "service" };
    expect(platformEnv(read({ ...base, ...legacy }))).toEqual({
      supabaseUrl: "https://project.supabase.co",
      publishableKey: "sb_publishable_1",
      secretKey: "sb_secret_1",
      corsOrigins: "*",
    });
    const old = platformEnv(read({ SUPABASE_URL: base.SUPABASE_URL, ...legacy }));
    expect(old).toMatchObject({ publishableKey: "anon", secretKey: "service" });
  });

  test.each([
    { SUPABASE_URL: "" },
    { SUPABASE_URL: "nowhere" },
    { SUPABASE_SECRET_KEYS: "" },
    { SUPABASE_SECRET_KEYS: "{" },
    { SUPABASE_SECRET_KEYS: "null" },
    { SUPABASE_SECRET_KEYS: '{"other":"sb_secret_1"}' },
    { CORS_ORIGINS: "https://app.example/" },
    { CORS_ORIGINS: "*,https://app.example" },
  ])("%j stops the function with the variable's name", (wrong) => {
    const [name = ""] = Object.keys(wrong);
    const start = () => platformEnv(read({ ...base, ...wrong } as Record<string, string>));
    expect(start).toThrow(EnvError);
    expect(start).toThrow(name);
  });

  test("origins are listed with commas", () => {
    const env = { CORS_ORIGINS: "https://app.example, http://localhost:5173" };
    expect(corsOrigins(read(env))).toEqual(["https://app.example", "http://localhost:5173"]);
  });
});

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startGateway } from "../../../local/gateway.ts";
import type { Listener } from "../../../local/http.ts";

const MEGABYTE = 1024 * 1024;

let gateway: Listener;
let aborted: Promise<void>;

beforeEach(async () => {
  let onAbort = () => {};
  aborted = new Promise((resolve) => {
    onAbort = resolve;
  });
  const api = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/rest/v1/throws") throw new Error("secret");
    if (pathname === "/rest/v1/hangs") {
      return new Promise((_, reject) => {
        request.signal.addEventListener("abort", () => {
          onAbort();
          reject(request.signal.reason);
        });
      });
    }
    if (pathname === "/rest/v1/stream") {
      // Never ends by itself: only an answer that is passed on piece by piece can be read.
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
        cancel: onAbort,
      });
      return new Response(body);
    }
    const body = await request.text();
    return Response.json(
      {
        via: "api",
        path: pathname + search,
        headers: [...request.headers],
        size: body.length,
      },
      {
        headers: [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ],
      },
    );
  };
  const functions = async (request: Request) =>
    Response.json({ via: "functions", path: new URL(request.url).pathname });
  gateway = await startGateway(0, api, functions);
});

afterEach(() => gateway.close());

/** Sends bytes as they are and gives all that comes back. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(gateway.port, "127.0.0.1");
  socket.write(bytes);
  return text(socket);
}

/** Checks the error body and that a browser may read it. */
async function expectError(response: Response, status: number, code: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  const body = await response.json();
  expect(body).toEqual({ code, message: expect.any(String), details: null, hint: null });
}

test.each([
  ["/rest/v1/services?select=*", "api"],
  ["/rest/v1", "api"],
  ["/auth/v1/token", "api"],
  ["/functions/v1/hello/x", "functions"],
])("%s goes to the %s", async (path, via) => {
  expect(await (await fetch(gateway.url + path)).json()).toMatchObject({ via });
});

test.each(["/", "/rest/v10", "/realtime/v1", "/rest/v1/../../x"])("%s is nowhere", async (path) => {
  await expectError(await fetch(gateway.url + path), 404, "not_found");
});

test("a target with two slashes cannot choose the host that handlers see", async () => {
  const answer = await raw(
    "GET //evil.example/rest/v1/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  );
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
});

test("the caller cannot choose the address it is counted by", async () => {
  const headers = { "cf-connecting-ip": "203.0.113.1", "x-forwarded-for": "203.0.113.1" };
  const seen = await (await fetch(`${gateway.url}/rest/v1/x`, { headers })).json();
  expect(Object.fromEntries(seen.headers)).toMatchObject({
    "cf-connecting-ip": "127.0.0.1",
    "x-forwarded-for": "203.0.113.1, 127.0.0.1",
  });
});

test("lines of one header become one, so that a check of it sees them all", async () => {
  const lines = "Prefer: count=planned\r\nPrefer: return=minimal";
  const answer = await raw(
    `GET /rest/v1/x HTTP/1.1\r\nHost: a\r\n${lines}\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toContain('["prefer","count=planned, return=minimal"]');
});

test("several cookies stay several", async () => {
  const response = await fetch(`${gateway.url}/rest/v1/x`);
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
});

test("5 MB pass, a byte more is 413", async () => {
  const url = `${gateway.url}/rest/v1/x`;
  const fits = await fetch(url, { method: "POST", body: Buffer.alloc(5 * MEGABYTE, "a") });
  expect(await fits.json()).toMatchObject({ size: 5 * MEGABYTE });
  const over = await fetch(url, { method: "POST", body: Buffer.alloc(5 * MEGABYTE + 1, "a") });
  await expectError(over, 413, "payload_too_large");
});

test("an upload without a length is 413 as soon as it is too long", async () => {
  const upload = httpRequest({ port: gateway.port, path: "/rest/v1/x", method: "POST" });
  for (let sent = 0; sent < 7; sent += 1) upload.write(Buffer.alloc(MEGABYTE, "a"));
  const [refused] = await once(upload, "response");
  expect(refused.statusCode).toBe(413);
  upload.destroy();
});

test("TRACE is 405", async () => {
  expect(await raw("TRACE /rest/v1/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 405 /,
  );
});

test.each([8193, 100_000])("a URL of %i characters is 414", async (length) => {
  await expectError(await fetch(`${gateway.url}/${"x".repeat(length)}`), 414, "uri_too_long");
});

test("a failing handler is 500 and says nothing of the cause", async () => {
  const response = await fetch(`${gateway.url}/rest/v1/throws`);
  await expectError(response, 500, "internal_error");
});

test.each([
  ["no HTTP at all", "hello\r\n\r\n"],
  ["no host", "GET /rest/v1/x HTTP/1.1\r\n\r\n"],
  ["an impossible host", "GET /rest/v1/x HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"],
  [
    "two lengths",
    "POST /rest/v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
  ],
])("%s is 400 and the next caller is served", async (_, bytes) => {
  expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 400 /);
  expect((await fetch(`${gateway.url}/rest/v1/x`)).status).toBe(200);
});

test("an answer is passed on piece by piece and stopped when the caller goes away", async () => {
  const caller = new AbortController();
  const response = await fetch(`${gateway.url}/rest/v1/stream`, { signal: caller.signal });
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe("first");
  caller.abort();
  await aborted;
});

test("a handler hears that its caller went away", async () => {
  const socket = connect(gateway.port, "127.0.0.1");
  socket.write("GET /rest/v1/hangs HTTP/1.1\r\nHost: a\r\n\r\n", () => socket.destroy());
  await aborted;
});

test("closing does not wait for a request that never ends", async () => {
  const hanging = fetch(`${gateway.url}/rest/v1/hangs`).catch((error: unknown) => error);
  // The second request is on its way when the first one's connection is known to be open.
  await fetch(`${gateway.url}/rest/v1/x`);
  await gateway.close();
  expect(await hanging).toBeInstanceOf(Error);
});

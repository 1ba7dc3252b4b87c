/** A Hono app on node:http, with the limits that no handler behind it has to hold again. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";

export type Listener = Awaited<ReturnType<typeof serve>>;

export type HttpApp = Hono<{ Bindings: HttpBindings }>;

/** What the hosted edge takes is unpublished; this bounds memory. */
const MAX_BODY = 5 * 1024 * 1024;
/** The hosted edge answers 414 from here on; long filters belong in the body of an RPC. */
const MAX_URL = 8 * 1024;
/** Room to receive a URL that is too long, so that it gets a 414 instead of a broken connection. */
const MAX_HEADERS = 256 * 1024;
const CLOSE_GRACE_MS = 300;

/** The one error body, readable by a browser of any origin. */
export function errorResponse(status: number, code: string, message: string): Response {
  const body = { code, message, details: null, hint: null };
  return Response.json(body, { status, headers: { "access-control-allow-origin": "*" } });
}

/** An app that bounds its requests, and says nothing of what went wrong in it. */
export function createApp(): HttpApp {
  const app: HttpApp = new Hono();
  app.use(async (c, next) => {
    if ((c.env.incoming.url ?? "").length <= MAX_URL) return next();
    return errorResponse(414, "uri_too_long", `The URL is longer than ${MAX_URL} characters.`);
  });
  app.on("TRACE", "*", () => errorResponse(405, "method_not_allowed", "TRACE is not answered."));
  const message = `The body is larger than ${MAX_BODY} bytes.`;
  const onError = () => errorResponse(413, "payload_too_large", message);
  app.use(bodyLimit({ maxSize: MAX_BODY, onError }));
  app.notFound(() => errorResponse(404, "not_found", "There is nothing at this path."));
  app.onError((error, c) => {
    if (!c.req.raw.signal.aborted) console.error("http:", error);
    return errorResponse(500, "internal_error", "Something went wrong on our side.");
  });
  return app;
}

/** Serves an app on 127.0.0.1; port 0 takes a free one. */
export async function serve(app: HttpApp, port: number) {
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { maxHeaderSize: MAX_HEADERS, keepAliveTimeout: 65_000 },
  }) as Server;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    async close(): Promise<void> {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS).unref();
      await closed;
    },
  };
}

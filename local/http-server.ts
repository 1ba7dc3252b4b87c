/**
 * node:http for web-style handlers, with the limits that no handler behind it has to hold again:
 * length of URL and body, malformed requests, callers that go away.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface Peer {
  /** IP address at the other end of the connection. */
  address: string;
}

export interface Handler {
  fetch(request: Request, peer: Peer): Response | Promise<Response>;
}

export interface Listener {
  port: number;
  url: string;
  close(): Promise<void>;
}

const MAX_BODY = 10 * 1024 * 1024;
/** The hosted edge answers 414 from here on; long filters belong in the body of an RPC. */
const MAX_URL = 8 * 1024;
/** Room to receive a URL that is too long, so that it gets a 414 instead of a broken connection. */
const MAX_HEADERS = 256 * 1024;
/** How long the rest of a refused upload is thrown away, so that its sender reads our answer. */
const DISCARD_MS = 5_000;
const CLOSE_GRACE_MS = 300;

/** They concern one connection and may not travel on (RFC 9110, 7.6.1). */
const HOP_BY_HOP =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|http2-settings)$/i;

export const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, apikey, content-type, x-client-info",
  "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
};

/** The one error body, readable by a browser of any origin. */
export function errorResponse(status: number, code: string, message: string): Response {
  const body = { code, message, details: null, hint: null };
  return Response.json(body, { status, headers: CORS });
}

/**
 * A body that is read only as fast as the handler asks for it, and never beyond the limit.
 * `tooLarge` settles when a sender who did not declare the length goes over it.
 */
function boundedBody(incoming: IncomingMessage, limit: number) {
  const chunks = incoming.iterator({ destroyOnReturn: false });
  let size = 0;
  let refuse = (_: Response) => {};
  const tooLarge = new Promise<Response>((resolve) => {
    refuse = resolve;
  });
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) return controller.close();
        size += value.length;
        if (size <= limit) return controller.enqueue(value);
        refuse(errorResponse(413, "payload_too_large", `The body is larger than ${limit} bytes.`));
        controller.error(new Error("The body is too large."));
      },
    },
    { highWaterMark: 0 },
  );
  /** Throws away what nobody read, or the next request on this connection would wait for ever. */
  const discard = () => {
    if (incoming.complete && incoming.readableEnded) return;
    void Promise.resolve(chunks.return?.()).then(
      () => incoming.resume(),
      () => incoming.destroy(),
    );
    setTimeout(() => incoming.complete || incoming.destroy(), DISCARD_MS).unref();
  };
  return { stream, tooLarge, discard };
}

/** The web form of a request; throws TypeError for what has none (method TRACE, a bad host). */
function toRequest(incoming: IncomingMessage, body: ReadableStream | null, signal: AbortSignal) {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (HOP_BY_HOP.test(name)) continue;
    for (const value of values ?? []) headers.append(name, value);
  }
  const target = incoming.url ?? "/";
  const { host = `127.0.0.1:${incoming.socket.localPort}` } = incoming.headers;
  // Joined as text: resolved against a base, the target `//example.com/` would change the host.
  const url = new URL(target.startsWith("/") ? `http://${host}${target}` : target);
  const { method = "GET" } = incoming;
  const init = { method, headers, signal, body, duplex: "half" };
  return new Request(url, init as RequestInit);
}

async function send(response: Response, outgoing: ServerResponse, signal: AbortSignal) {
  for (const [name, value] of response.headers) {
    if (!HOP_BY_HOP.test(name) && name !== "set-cookie") outgoing.setHeader(name, value);
  }
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies);
  outgoing.writeHead(response.status);
  if (!response.body || outgoing.req.method === "HEAD") {
    await response.body?.cancel();
    outgoing.end();
    return;
  }
  // An event stream may be silent for long after its headers.
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  signal.addEventListener("abort", () => reader.cancel().catch(() => {}), { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value)) await once(outgoing, "drain", { signal });
  }
  outgoing.end();
}

async function answer(
  handler: Handler,
  maxBody: number,
  req: IncomingMessage,
  res: ServerResponse,
) {
  const abort = new AbortController();
  res.on("close", () => abort.abort());
  req.on("error", () => {});
  const { stream, tooLarge, discard } = boundedBody(req, maxBody);
  const respond = async (): Promise<Response> => {
    if ((req.url ?? "").length > MAX_URL) {
      return errorResponse(414, "uri_too_long", `The URL is longer than ${MAX_URL} characters.`);
    }
    if (Number(req.headers["content-length"] ?? 0) > maxBody) {
      return errorResponse(413, "payload_too_large", `The body is larger than ${maxBody} bytes.`);
    }
    const hasBody = "content-length" in req.headers || "transfer-encoding" in req.headers;
    const readable = hasBody && req.method !== "GET" && req.method !== "HEAD";
    let request: Request;
    try {
      request = toRequest(req, readable ? stream : null, abort.signal);
    } catch {
      return errorResponse(400, "bad_request", "The request cannot be understood.");
    }
    const peer = { address: req.socket.remoteAddress ?? "127.0.0.1" };
    const handled = Promise.resolve(handler.fetch(request, peer));
    handled.catch(() => {});
    return Promise.race([handled, tooLarge]);
  };
  try {
    const response = await respond().catch((error: unknown) => {
      if (!abort.signal.aborted) console.error("http:", error);
      return errorResponse(500, "internal_error", "Something went wrong on our side.");
    });
    if (abort.signal.aborted) await response.body?.cancel();
    else await send(response, res, abort.signal);
  } catch (error) {
    // Headers are out, or the client is gone: a broken connection is the only honest answer.
    if (!abort.signal.aborted) console.error("http:", error);
    res.destroy();
  } finally {
    discard();
  }
}

/** What Node's parser refuses never becomes a request, so it is answered on the bare socket. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const statuses: Record<string, string> = {
    HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
    ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  };
  const status = statuses[error.code ?? ""] ?? "400 Bad Request";
  const message = "The request cannot be understood.";
  const body = JSON.stringify({ code: "bad_request", message, details: null, hint: null });
  const headers = { ...CORS, "content-type": "application/json", connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status}\r\n${lines.join("")}content-length: ${body.length}\r\n\r\n${body}`,
  );
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  const force = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await closed;
  clearTimeout(force);
}

/** A node:http server on 127.0.0.1 for a web-style handler; port 0 takes a free one. */
export async function serve(options: Handler & { port: number; maxBody?: number }) {
  const server = createServer(
    { maxHeaderSize: MAX_HEADERS, keepAliveTimeout: 65_000 },
    (req, res) => void answer(options, options.maxBody ?? MAX_BODY, req, res),
  );
  server.on("clientError", refuseMalformed);
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const listener: Listener = {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () => closeServer(server),
  };
  return listener;
}

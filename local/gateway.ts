/**
 * One door for the whole API, as the hosted edge is: routes by path and sets the caller's address.
 * The limits are those of the server underneath.
 */
import {
  CORS,
  errorResponse,
  type Handler,
  type Listener,
  type Peer,
  serve,
} from "./http-server.ts";

/** Routes `/rest/v1` and `/auth/v1` to the API, `/functions/v1` to the edge functions. */
export function startGateway(options: {
  port: number;
  api: Handler;
  functions: Handler;
}): Promise<Listener> {
  const fetch = (request: Request, peer: Peer): Response | Promise<Response> => {
    const { headers } = request;
    // The caller may not choose the address that limits are counted by; the edge sets it.
    headers.set("cf-connecting-ip", peer.address);
    headers.append("x-forwarded-for", peer.address);
    const route = /^\/(rest|auth|functions)\/v1(?=\/|$)/.exec(new URL(request.url).pathname)?.[1];
    if (route === "functions") return options.functions.fetch(request, peer);
    if (route) return options.api.fetch(request, peer);
    // A browser must be allowed to ask before it can read the 404.
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: CORS });
    return errorResponse(404, "not_found", "There is nothing at this path.");
  };
  return serve({ port: options.port, fetch });
}

/** One door for the whole API, as the hosted edge is: routes by path and sets the caller's address. */
import { cors } from "hono/cors";
import { createApp, type Listener, serve } from "./http.ts";

type Handler = (request: Request) => Promise<Response>;

/** Routes `/rest/v1` and `/auth/v1` to the API, `/functions/v1` to the edge functions. */
export function startGateway(port: number, api: Handler, functions: Handler): Promise<Listener> {
  const app = createApp();
  app.use(async (c, next) => {
    // The caller may not choose the address that limits are counted by; the edge sets it.
    const address = c.env.incoming.socket.remoteAddress ?? "127.0.0.1";
    c.req.raw.headers.set("cf-connecting-ip", address);
    c.req.raw.headers.append("x-forwarded-for", address);
    await next();
  });
  // The functions decide themselves which origins may read them.
  app.all("/functions/v1/*", (c) => functions(c.req.raw));
  const rest = ["Content-Range", "Content-Location", "Location", "Preference-Applied"];
  const auth = ["X-Total-Count", "Link", "X-Supabase-Api-Version"];
  app.use(cors({ origin: "*", maxAge: 3600, exposeHeaders: [...rest, ...auth] }));
  for (const path of ["/rest/v1/*", "/auth/v1/*"]) {
    app.all(path, (c) => api(c.req.raw));
  }
  return serve(app, port);
}

/** /functions/v1/calendar/…: `GET /feed/<token>.ics` for calendar programs, which know an address and no more. */
import { createRouter, type Handler, type HttpDeps } from "../_shared/http.ts";
import { feedRoute, type ReadFeed } from "./feed.ts";

export interface CalendarDeps extends HttpDeps {
  readFeed: ReadFeed;
}

export function createHandler(deps: CalendarDeps): Handler {
  const feed = feedRoute(deps.readFeed);

  return createRouter(deps, {
    "feed/:file": { GET: feed, HEAD: feed },
  });
}

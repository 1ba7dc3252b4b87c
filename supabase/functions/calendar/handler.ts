/**
 * /functions/v1/calendar/…: `GET /feed/<token>.ics` for calendar programs, which know an address and no more;
 * `/busy` and `/google` for the professional, with the user's own token; `POST /dispatch` for the scheduler,
 * with a secret of its own.
 */
import { type DispatchRouteDeps, dispatchRoute } from "../_shared/dispatcher.ts";
import { createRouter, type Handler } from "../_shared/http.ts";
import { type BusyRouteDeps, busyRoutes } from "./busy-routes.ts";
import { type BusySyncDeps, syncBusyCalendar } from "./busy-sync.ts";
import { feedRoute, type ReadFeed } from "./feed.ts";
import { type GoogleRouteDeps, googleRoutes } from "./google-routes.ts";
import { type GoogleRunDeps, runGoogle } from "./google-run.ts";

export interface CalendarDeps
  extends DispatchRouteDeps,
    BusyRouteDeps,
    GoogleRouteDeps,
    Omit<BusySyncDeps & GoogleRunDeps, "onError"> {
  readFeed: ReadFeed;
}

export function createHandler(deps: CalendarDeps): Handler {
  const feed = feedRoute(deps.readFeed);

  return createRouter(deps, {
    "feed/:file": { GET: feed, HEAD: feed },
    ...busyRoutes(deps),
    ...googleRoutes(deps),
    dispatch: {
      // Beside each other: one takes processor time, the other waits for Google.
      POST: dispatchRoute(deps, async (onError) => {
        const runs = [syncBusyCalendar({ ...deps, onError }), runGoogle({ ...deps, onError })];
        await Promise.all(runs.map((run) => run.catch(onError)));
      }),
    },
  });
}

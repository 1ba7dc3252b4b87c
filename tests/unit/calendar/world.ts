/** What the function calendar stands on, all of it out of reach: a test gives what its case may use. */
import { type CalendarDeps, createHandler } from "../../../supabase/functions/calendar/handler.ts";

const outOfReach = (): never => {
  throw new Error("reached outside");
};

export function calendarHandler(deps: Partial<CalendarDeps>): ReturnType<typeof createHandler> {
  return createHandler({
    corsOrigins: "*",
    newRequestId: () => "request-1",
    log: outOfReach,
    readFeed: outOfReach,
    userToken: outOfReach,
    rpc: outOfReach,
    serverRpc: outOfReach,
    sealer: undefined,
    queue: { claim: outOfReach, ownUids: outOfReach, finish: outOfReach },
    google: undefined,
    googleQueue: {
      claim: outOfReach,
      nextEventId: outOfReach,
      finishPush: outOfReach,
      finish: outOfReach,
      ownUids: outOfReach,
    },
    isDispatchSecret: outOfReach,
    background: outOfReach,
    allowLoopback: false,
    resolve: outOfReach,
    fetch: outOfReach,
    now: () => new Date(),
    pause: outOfReach,
    ...deps,
  });
}

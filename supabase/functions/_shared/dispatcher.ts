/**
 * The loop behind every queue: claims what is due into free slots, works it off, and keeps claiming
 * while slow ones occupy some of the slots, so that they hold up nobody else. And the route that the
 * scheduler rings.
 */
import { ApiError } from "./errors.ts";
import type { HttpDeps, Route } from "./http.ts";

export interface Work<Item> {
  /** Up to `count` due items; each is ours until its lease ends. */
  claim(count: number): Promise<Item[]>;
  /** Does the work and says how it went. What rejects is told to `onError`; its lease ends by itself. */
  work(item: Item): Promise<void>;
  /** Items at a time. How many of them for one professional is the claim's to say. */
  slots: number;
  /** How soon new work is found while slots are busy. */
  pollMs: number;
  /** Most items of a run: the platform limits the processor time of a call. */
  most?: number;
  /** Where the claim keeps a rate: how long after a claim that gave nothing another one can. */
  rateMs?: number;
}

export interface DrainDeps {
  /** Told of what went wrong on our side; the item comes again when its lease is over. */
  onError(cause: unknown): void;
  now(): Date;
  pause(milliseconds: number): Promise<void>;
}

/** Claims nothing more after this: with the last items it ends before a minute is over. */
const BUDGET_MS = 45_000;

/** Works until nothing is due, or the time is up. Any number may work beside each other. */
export async function drain<Item>(queue: Work<Item>, deps: DrainDeps): Promise<void> {
  const end = deps.now().getTime() + BUDGET_MS;
  const inFlight = new Set<Promise<void>>();
  let left = queue.most ?? Number.POSITIVE_INFINITY;
  /** Claims in a row that gave nothing, with nothing under way. */
  let idle = 0;

  try {
    while (left > 0 && deps.now().getTime() < end) {
      const free = Math.min(queue.slots - inFlight.size, left);
      const claimed = free > 0 ? await queue.claim(free) : [];
      left -= claimed.length;
      for (const item of claimed) {
        const task: Promise<void> = queue
          .work(item)
          .catch(deps.onError)
          .finally(() => inFlight.delete(task));
        inFlight.add(task);
      }
      if (claimed.length > 0) idle = 0;
      if (inFlight.size > 0) {
        const pause = inFlight.size < queue.slots ? [deps.pause(queue.pollMs)] : [];
        await Promise.race([...inFlight, ...pause]);
      } else if (queue.rateMs === undefined || ++idle > 1) {
        break;
      } else {
        // Nothing is due, or the rate did not allow it yet: one more look tells.
        await deps.pause(queue.rateMs);
      }
    }
  } finally {
    await Promise.all(inFlight);
  }
}

export interface DispatchRouteDeps extends HttpDeps {
  /** Whether a key is the scheduler's; takes the same time for every wrong one. */
  isDispatchSecret(key: string): Promise<boolean>;
  /** Keeps the function alive until a task that nobody waits for has ended. */
  background(task: Promise<void>): void;
}

/** `POST /dispatch`, with the scheduler's secret in the `apikey` header: 202, and `run` goes on behind. */
export function dispatchRoute(
  deps: DispatchRouteDeps,
  run: (onError: (cause: unknown) => void) => Promise<void>,
): Route {
  return async (request) => {
    if (!(await deps.isDispatchSecret(request.headers.get("apikey") ?? ""))) {
      throw new ApiError(401, "invalid_api_key", "The key is not the dispatch secret");
    }
    const requestId = deps.newRequestId();
    const path = new URL(request.url).pathname;
    const onError = (cause: unknown) => deps.log({ requestId, method: "POST", path, cause });
    // Answered at once: pg_net sends nothing else of the project while it waits for us.
    deps.background(run(onError).catch(onError));
    return new Response(null, { status: 202 });
  };
}

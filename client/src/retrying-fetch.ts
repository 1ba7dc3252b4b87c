/**
 * `fetch` that waits where the API asks to: at our own 429, which has done nothing, as long as it says. What got no
 * answer is repeated only where doing it twice is doing it once.
 */
import { READING_RPCS } from "./generated/constraints.ts";

export interface RetryOptions {
  fetch: typeof fetch;
  /** The project's address; others are asked once. */
  url: string;
  /** Milliseconds, of all waits of one call. */
  maxWait: number;
  signal?: AbortSignal | undefined;
  /** For tests; resolves after so many milliseconds, rejects when the signal is aborted. */
  sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
  /** From 0 up to, but not, 1. */
  random?: () => number;
}

/** Refusals of ours before anything was done. */
const OURS = ["busy", "rate_limit_exceeded", "too_many_connections"];
/** How often what got no answer is repeated, and after how many milliseconds first. */
const REPEATS = 3;
const FIRST_WAIT = 300;

export function retryingFetch(options: RetryOptions): typeof fetch {
  const { url: base, maxWait, sleep = pause, random = Math.random } = options;
  const root = base.replace(/\/+$/, "");

  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const signal = either(options.signal, init.signal ?? undefined);
    // The body of a request can be read once.
    const again = () => (input instanceof Request ? input.clone() : input);
    const send = () => options.fetch(again(), signal ? { ...init, signal } : init);
    if (!["/rest/v1/", "/functions/v1/"].some((path) => url.startsWith(root + path))) return send();

    const { method = input instanceof Request ? input.method : "GET" } = init;
    const isSafe = mayRepeat(url, { ...init, method });
    let left = maxWait;
    for (let repeats = 0; ; ) {
      const outcome = await send().catch((error: unknown) => ({ error }));
      const failed = "error" in outcome;
      if (failed && signal?.aborted) throw outcome.error;

      let wait = failed ? null : await ordered(outcome);
      if (wait === null && isSafe && (failed || (await isOutage(outcome))) && repeats < REPEATS) {
        wait = FIRST_WAIT * 2 ** repeats++;
      }
      if (wait === null || wait > left) {
        if (failed) throw outcome.error;
        return outcome;
      }
      // Never sooner than asked; not all of those who were refused together together again.
      wait = Math.min(wait * (1 + random() / 2), left);
      left -= wait;
      if (!failed) await outcome.body?.cancel();
      await sleep(wait, signal);
    }
  };
}

/** Milliseconds that a refusal of ours asks to wait; null for any other answer. */
async function ordered(response: Response): Promise<number | null> {
  if (response.status !== 429) return null;
  const { code, details } = await bodyOf(response);
  if (!OURS.includes(String(code))) return null;
  try {
    const { retry_after } = JSON.parse(String(details));
    return typeof retry_after === "number" ? Math.max(retry_after, 1) * 1000 : null;
  } catch {
    return null;
  }
}

/** Whether something between us and the database failed; codes of ours in lower case are answers. */
async function isOutage(response: Response): Promise<boolean> {
  if (![502, 503, 504].includes(response.status)) return false;
  const { code } = await bodyOf(response);
  return code === undefined || String(code).startsWith("PGRST");
}

async function bodyOf(response: Response): Promise<{ code?: unknown; details?: unknown }> {
  return (
    (await response
      .clone()
      .json()
      .catch(() => null)) ?? {}
  );
}

/** Whether a call that may have been done may be done again: it reads, or its key makes it one. */
function mayRepeat(url: string, { method = "GET", body }: RequestInit): boolean {
  if (["GET", "HEAD"].includes(method)) return true;
  const [, rpc] = /\/rest\/v1\/rpc\/(\w+)$/.exec(new URL(url).pathname) ?? [];
  if (rpc === undefined || typeof body !== "string") return false;
  return READING_RPCS.includes(rpc) || Boolean(JSON.parse(body).idempotency_key);
}

function either(one: AbortSignal | undefined, other: AbortSignal | undefined) {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** One try of one delivery: the request that a receiver gets, and what is noted of its answer. */
import { Webhook } from "standardwebhooks";
import { AddressError, type AddressRules, checkAddress } from "../_shared/address-rules.ts";
import { retryAfter } from "../_shared/retry-after.ts";

export interface Message {
  /** Id of the event: the same on every try, so that receivers can tell repeats. */
  event_id: string;
  url: string;
  /** The current one, and for a while after rotations those before. */
  secrets: string[];
  /** Sent as it is; signed as it is sent. */
  body: string;
}

export interface Outcome {
  duration_ms: number;
  /** Null without an answer; then `error` says why. */
  status: number | null;
  response: string | null;
  error: string | null;
  /** Seconds that the receiver asks to wait, if it does. */
  retry_after: number | null;
}

export interface SendDeps extends AddressRules {
  fetch: typeof fetch;
  now(): Date;
  /** Longest time of a try, look-up and answer included. */
  timeoutMs: number;
  /** Longest time that a body is read once its headers are there. */
  bodyMs: number;
}

const RESPONSE_BYTES = 4096;
const ERROR_CHARACTERS = 500;

/** `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks 1.0. */
export function signedHeaders(
  id: string,
  timestamp: Date,
  body: string,
  secrets: string[],
): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(timestamp.getTime() / 1000)),
    "webhook-signature": secrets
      .map((secret) => new Webhook(secret).sign(id, timestamp, body))
      .join(" "),
  };
}

/**
 * The first bytes of an answer as text that the database can keep. What has not come in time is not
 * waited for: a receiver that lets its body drip would occupy a slot.
 */
async function firstBytes(answer: Response, timeoutMs: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  let text = "";
  let left = RESPONSE_BYTES;
  // A read that is under way then ends as at the end of the body.
  const timer = setTimeout(() => reader?.cancel().catch(() => {}), timeoutMs);
  try {
    while (reader && left > 0) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, left), { stream: true });
      left -= value.length;
    }
    await reader?.cancel();
  } catch {
    // The status has arrived and counts; of the rest we keep what came.
  } finally {
    clearTimeout(timer);
  }
  return (text + decoder.decode()).replaceAll("\0", "\uFFFD");
}

/** Sends a message; never rejects. Redirects are not followed: they could lead anywhere. */
export async function send(message: Message, deps: SendDeps): Promise<Outcome> {
  const begin = deps.now();
  const signal = AbortSignal.timeout(deps.timeoutMs);
  const outcome = (result: Partial<Outcome>): Outcome => ({
    status: null,
    response: null,
    error: null,
    retry_after: null,
    ...result,
    duration_ms: Math.max(0, deps.now().getTime() - begin.getTime()),
  });
  try {
    await checkAddress(message.url, deps, signal);
    const answer = await deps.fetch(message.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "Webhooks/1.0",
        ...signedHeaders(message.event_id, begin, message.body, message.secrets),
      },
      body: message.body,
      redirect: "manual",
      signal,
    });
    return outcome({
      status: answer.status,
      response: await firstBytes(answer, deps.bodyMs),
      retry_after: retryAfter(answer.headers.get("retry-after"), deps.now()),
    });
  } catch (error) {
    if (error instanceof AddressError)
      return outcome({ error: `url not allowed: ${error.reason}` });
    if (signal.aborted) return outcome({ error: "no answer in time" });
    const reason = error instanceof Error ? error.message : String(error);
    return outcome({ error: reason.replaceAll("\0", "").slice(0, ERROR_CHARACTERS) });
  }
}

/** What the real functions share and tests replace: the log, request ids, time, work after the answer. */
import { corsOrigins, type ReadEnv } from "./env.ts";
import type { HttpDeps } from "./http.ts";

/** One line of JSON per fault; neither bodies nor query strings are in it. */
export function httpDeps(read: ReadEnv): HttpDeps {
  return {
    corsOrigins: corsOrigins(read),
    newRequestId: () => crypto.randomUUID(),
    log({ requestId, method, path, cause }) {
      const error = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      console.error(JSON.stringify({ level: "error", request_id: requestId, method, path, error }));
    },
  };
}

/** The platform ends a function that has answered unless it is told of work that goes on. */
export function background(task: Promise<void>): void {
  const runtime = (globalThis as { EdgeRuntime?: { waitUntil(promise: Promise<unknown>): void } })
    .EdgeRuntime;
  runtime?.waitUntil(task);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** What routes have in common. */
import type { ErrorCode } from "./errors.ts";

/** Of a route that reads a JSON body. */
export const BODY_ERRORS = [
  "invalid_json",
  "unsupported_media_type",
  "payload_too_large",
  "validation_failed",
] as const satisfies readonly ErrorCode[];

/** Of a route that asks the Data API as the professional: its limits and its sessions hold. */
export const USER_ERRORS = [
  "invalid_token",
  "forbidden",
  "session_not_found",
  "rate_limit_exceeded",
  "too_many_connections",
  "busy",
] as const satisfies readonly ErrorCode[];

/** The same, where the route changes something. */
export const WRITE_ERRORS = [
  ...USER_ERRORS,
  "key_is_read_only",
] as const satisfies readonly ErrorCode[];

export const PROFESSIONAL = "the professional, or a program with a key";
export const WRITER = "the professional, or a program with a key that may write";
export const PERSON = "the professional, not with a key";

/** What the scheduler rings: answered at once, worked off behind. */
export function dispatchRoute(name: string, summary: string) {
  return {
    function: name,
    method: "POST",
    path: "/dispatch",
    who: "the scheduler, with `DISPATCH_SECRET` in `apikey`",
    summary,
    answers: { 202: null },
    errors: ["invalid_api_key"],
    for: "scheduler",
  } as const;
}

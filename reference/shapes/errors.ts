/**
 * Every error that a caller can be answered with: what the database and the functions raise, what the
 * platform adds, and of the auth service what a sign-in page meets. Tests hold it complete.
 */
import type { z } from "zod";
import { AUTH_ERRORS } from "./errors-auth.ts";
import { OUR_ERRORS } from "./errors-ours.ts";
import { PLATFORM_ERRORS } from "./errors-platform.ts";

export interface ErrorEntry {
  /** Twice in the list where one code asks for another answer with another status, as `busy` does. */
  code: string;
  statuses: readonly number[];
  when: string;
  /** For whoever writes a front end. */
  todo: string;
  /** Of the JSON in `details`, which is null where there is nothing to say; absent: null, or a text. */
  details?: z.ZodType;
  of: "ours" | "platform" | "auth";
}

type Listed =
  | (typeof OUR_ERRORS)[number]
  | (typeof PLATFORM_ERRORS)[number]
  | (typeof AUTH_ERRORS)[number];

export type ErrorCode = Listed["code"];

export const ERRORS: readonly (ErrorEntry & { code: ErrorCode })[] = [
  ...OUR_ERRORS,
  ...PLATFORM_ERRORS,
  ...AUTH_ERRORS,
];

/** What any call of the Data API may answer with, whatever its own list says. */
export const COMMON_ERRORS = [
  "rate_limit_exceeded",
  "too_many_connections",
  "busy",
  "session_not_found",
  "key_is_read_only",
  "unknown_role",
  "count_not_allowed",
  "payload_too_large",
  "42501",
  "22P02",
  "22003",
  "22007",
  "22021",
  "22023",
  "22P05",
  "42601",
  "42703",
  "42883",
  "42846",
  "55P03",
  "57014",
  "PGRST000",
  "PGRST002",
  "PGRST003",
  "PGRST100",
  "PGRST101",
  "PGRST102",
  "PGRST103",
  "PGRST105",
  "PGRST106",
  "PGRST107",
  "PGRST108",
  "PGRST116",
  "PGRST118",
  "PGRST120",
  "PGRST122",
  "PGRST123",
  "PGRST124",
  "PGRST125",
  "PGRST202",
  "PGRST301",
  "PGRST303",
  "uri_too_long",
] as const satisfies readonly ErrorCode[];

/** What any route of a function may answer with. */
export const COMMON_ROUTE_ERRORS = [
  "not_found",
  "method_not_allowed",
  "internal_error",
  "NOT_FOUND",
  "BOOT_ERROR",
  "WORKER_ERROR",
] as const satisfies readonly ErrorCode[];

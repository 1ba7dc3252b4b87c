/**
 * Every route of the functions: who may call it, what it takes, what it answers and what it refuses with.
 * The bodies are the functions' own schemas; the answers are held against what the suite is answered.
 */
import type { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import { ACCOUNT_ROUTES } from "./routes-account.ts";
import { CALENDAR_ROUTES } from "./routes-calendar.ts";
import { MAIL_ROUTES } from "./routes-mail.ts";
import { PAYMENT_ROUTES } from "./routes-payments.ts";
import { PORTAL_ROUTES } from "./routes-portal.ts";
import { WEBHOOK_ROUTES } from "./routes-webhooks.ts";

export interface RouteShape {
  /** The name behind `/functions/v1/`. */
  function: string;
  method: "GET" | "HEAD" | "POST" | "PATCH" | "DELETE";
  /** Behind the name of the function: empty, or `/endpoints/{id}`. */
  path: string;
  who: string;
  summary: string;
  body?: z.ZodType;
  /** Whether a call may come without a body, and without its content type. */
  bodyOptional?: true;
  query?: z.ZodType;
  /** By status; null has no body. Errors are not among them. */
  answers: Record<number, z.ZodType | null>;
  /** Of an answer that is not JSON. */
  contentType?: string;
  /** Beside those of COMMON_ROUTE_ERRORS. */
  errors: readonly ErrorCode[];
  for: "professional" | "client" | "public" | "scheduler" | "provider" | "server";
}

export const ROUTES: readonly RouteShape[] = [
  ...PORTAL_ROUTES,
  ...PAYMENT_ROUTES,
  ...CALENDAR_ROUTES,
  ...WEBHOOK_ROUTES,
  ...MAIL_ROUTES,
  ...ACCOUNT_ROUTES,
];

const patterns = ROUTES.map((route) => {
  const path = route.path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+");
  return { route, pattern: new RegExp(`^/functions/v1/${route.function}${path}$`) };
});

/** The route of a request to the API; undefined where there is none. */
export function matchRoute(method: string, pathname: string): RouteShape | undefined {
  return patterns.find(({ route, pattern }) => route.method === method && pattern.test(pathname))
    ?.route;
}

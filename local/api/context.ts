import { AsyncLocalStorage } from "node:async_hooks";
import type { AnyAST } from "@supabase/lite";
import type { JWTPayload } from "jose";

/** The HTTP request being answered; what the database may read of it, and what went wrong. */
export interface RequestContext {
  method: string;
  /** As the service sees it: without `/rest/v1` or `/auth/v1`. */
  path: string;
  headers: Record<string, string>;
  claims: JWTPayload;
  role: string;
  /** Where a mailed link shall lead in the end. */
  redirectTo?: string | null;
  /** Whether that link leads on with a code instead of a session. */
  pkce?: boolean;
  /** The request as upstream understood it. */
  call?: AnyAST;
  /** Names of columns that hold instants, in any table. */
  instants?: ReadonlySet<string>;
  /** The error behind a 5xx, kept for the log. */
  fault?: unknown;
}

export const requestContext = new AsyncLocalStorage<RequestContext>();

export function currentRequest(): RequestContext {
  const context = requestContext.getStore();
  if (!context) throw new Error("no request is being answered");
  return context;
}

/**
 * Bend: quiet console.
 * Upstream prints every error it answers with, stack trace included, a client's typo too. The platform
 * logs faults. So inside a request `console.error` only keeps the error, and `logFault` says where it was when
 * the answer is a 5xx. Outside a request nothing changes.
 */
const consoleError = console.error;
console.error = (...values: unknown[]) => {
  const context = requestContext.getStore();
  if (!context) return consoleError(...values);
  context.fault = values.find((value) => value instanceof Error) ?? context.fault;
};

/** What failed and where, never a message, since messages quote people's data. */
export function logFault({ method, path, fault }: RequestContext, status: number): void {
  const { name, code = "", stack } = (fault ?? {}) as Error & { code?: string };
  const place = stack?.split("\n    at ")[1];
  consoleError(`api: ${method} ${path} ${status}: ${name} ${code} at ${place}`);
}

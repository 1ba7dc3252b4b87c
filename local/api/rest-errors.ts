import type { RequestContext } from "./context.ts";

/** SQLSTATEs and their classes, in the platform's order: the first match is the HTTP status. */
const statuses: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/^(08|57P01|53(?!400))/, 503],
  [/^(0L|0P|28)/, 403],
  [/^(23503|23505)$/, 409],
  [/^25006$/, 405],
  [/^(42883|42P01)$/, 404],
  [/^P0001$/, 400],
  [/^(09|25|2D|38|39|3B|40|53|54|55|57|58|F0|HV|P0|XX|42P17)/, 500],
];

export interface DatabaseError {
  code: string;
  message: string;
  detail?: string | null;
  hint?: string | null;
}

export function isDatabaseError(error: unknown): error is Error & DatabaseError {
  return error instanceof Error && /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code));
}

/** The connection is gone: nothing listened, it broke, or the server ended it. */
export function isConnectionError(error: unknown): boolean {
  const { code, severity, message } = (error ?? {}) as Record<string, unknown>;
  if (severity === "FATAL" || /^(ECONN|EPIPE|ENOENT|CONNECT)/.test(String(code))) return true;
  // The driver's own have no code.
  return /^Connection terminated|not queryable$/.test(String(message));
}

function statusOf({ code, message }: DatabaseError, role: string): number {
  if (code === "42501") return role === "anon" ? 401 : 403;
  if (code === "22023") return /^role ".*" does not exist$/.test(message) ? 401 : 400;
  if (code === "21000") return message.endsWith("requires a WHERE clause") ? 400 : 500;
  return statuses.find(([pattern]) => pattern.test(code))?.[1] ?? 400;
}

/**
 * Bend: errors of the database.
 * Upstream answers many SQLSTATEs with 500 and a code of its own, loses hints and wraps 42P01. The platform
 * keeps the SQLSTATE as the code and has one table of HTTP statuses. Upstream passes an error of SQLSTATE
 * PGRST through with the status, headers and body it names, so every error is handed over as one.
 */
export function asPgrstError(error: DatabaseError, context: RequestContext): DatabaseError {
  if (/^(PGRST|PT\d{3})$/.test(error.code)) return error;
  const status = statusOf(error, context.role);
  const { code, message, detail: details = null, hint = null } = error;
  const headers = status === 401 ? { "WWW-Authenticate": "Bearer" } : {};
  return pgrst(status, { code, message, details, hint }, headers);
}

/** The answer while the database cannot be reached. */
export function unreachable(): DatabaseError {
  const message = "Database connection error. Retrying the connection.";
  return pgrst(503, { code: "PGRST000", message, details: null, hint: null });
}

function pgrst(status: number, body: object, headers: Record<string, string> = {}): DatabaseError {
  const detail = JSON.stringify({ status, headers });
  return { code: "PGRST", message: JSON.stringify(body), detail };
}

import type { RequestContext } from "./context.ts";

/** SQLSTATEs and their classes, in the platform's order: the first match is the HTTP status. */
const statuses: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/^(08|57P01)/, 503],
  [/^09/, 500],
  [/^(0L|0P)/, 403],
  [/^(23503|23505)$/, 409],
  [/^25006$/, 405],
  [/^25/, 500],
  [/^28/, 403],
  [/^(2D|38|39|3B|40)/, 500],
  [/^53400$/, 500],
  [/^53/, 503],
  [/^(54|55|57|58|F0|HV)/, 500],
  [/^P0001$/, 400],
  [/^P0/, 500],
  [/^(42883|42P01)$/, 404],
  [/^42P17$/, 500],
  [/^XX/, 500],
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
  if (error.code === "PGRST") return checkedRaise(error);
  const custom = /^PT(\d{3})$/.exec(error.code)?.[1];
  const status = custom ? Number(custom) : statusOf(error, context.role);
  const { code, detail, hint } = error;
  const headers: Record<string, string> = {};
  if (status === 401) headers["WWW-Authenticate"] = "Bearer";
  return pgrst(
    status,
    { code, message: qualified(error, context), details: detail, hint },
    headers,
  );
}

/** The answer while the database cannot be reached. */
export function unreachable(): DatabaseError {
  const message = "Database connection error. Retrying the connection.";
  return pgrst(503, { code: "PGRST000", message });
}

function pgrst(
  status: number,
  body: { code: string; message: string; details?: unknown; hint?: unknown },
  headers: Record<string, string> = {},
): DatabaseError {
  const { details = null, hint = null } = body;
  return {
    code: "PGRST",
    message: JSON.stringify({ ...body, details, hint }),
    detail: JSON.stringify({ status, headers }),
  };
}

/** Upstream drops what is not text; the platform refuses the whole raise. */
function checkedRaise(error: DatabaseError): DatabaseError {
  try {
    const { details, hint } = JSON.parse(error.message);
    const { headers } = JSON.parse(error.detail ?? "");
    const texts = [details ?? "", hint ?? "", ...Object.values(headers)];
    if (texts.every((text) => typeof text === "string")) return error;
  } catch {
    return error; // upstream answers PGRST121
  }
  return { ...error, detail: "not an object of strings" };
}

/** The platform's queries name columns with their table, and so do its errors. */
function qualified({ code, message }: DatabaseError, { path }: RequestContext): string {
  if (code !== "42703" || path.startsWith("/rpc/")) return message;
  return message.replace(
    /^column "([^"]+)" does not exist$/,
    `column ${path.slice(1)}.$1 does not exist`,
  );
}

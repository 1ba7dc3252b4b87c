/** The one error of this API: in TypeScript something to throw, on the wire a JSON body. */

/** The body of every error, the same keys as those of PostgREST. */
export interface ErrorBody {
  code: string;
  message: string;
  /** JSON text where it carries data, because that is what PostgREST can send too. */
  details: string | null;
  hint: string | null;
}

export interface ApiErrorOptions {
  /** Data for programs; becomes JSON text. */
  details?: unknown;
  hint?: string;
  headers?: Record<string, string>;
  /** For the log, of a failure that the caller is told of as somebody else's. */
  cause?: unknown;
}

/** An answer that is not a success. Its text reaches the caller: no internals, no other tenant. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The contract; lower_snake_case. Messages are for people and may change. */
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly #details: unknown;
  readonly #hint: string | null;

  constructor(status: number, code: string, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.#details = options.details;
    this.#hint = options.hint ?? null;
  }

  get body(): ErrorBody {
    const details = this.#details === undefined ? null : JSON.stringify(this.#details);
    return { code: this.code, message: this.message, details, hint: this.#hint };
  }
}

/**
 * 404 for a row that is not there or not the caller's: the two must look alike. The code is the one
 * the RPCs answer with.
 */
export function notFound(message = "Not found"): ApiError {
  return new ApiError(404, "PGRST301", message);
}

/** 404 for an address that the function does not serve. */
export function unknownPath(): ApiError {
  return new ApiError(404, "not_found", "There is nothing at this address");
}

/** 429; the seconds are in the body too, because browsers do not read the header everywhere. */
export function rateLimited(retryAfter: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfter));
  return new ApiError(429, "rate_limit_exceeded", "Too many requests", {
    details: { retry_after: seconds },
    headers: { "Retry-After": String(seconds) },
  });
}

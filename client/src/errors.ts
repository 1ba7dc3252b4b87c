/** One error for everything that can go wrong with a call, whichever part of the platform says so. */
import type { ErrorCode, ErrorDetails } from "./database.ts";
import { CONSTRAINTS, PORTAL_WRITABLE, WRITABLE } from "./generated/constraints.ts";
import { sentenceOf } from "./sentences.ts";

/** `network`: no answer came. `unknown`: an answer without a code, of something in between. */
export type ClientCode = "network" | "unknown";

/** What a program may meet; codes may be added, so a text that is not known here is one too. */
export type AnyCode = ErrorCode | ClientCode | (string & Record<never, never>);

type DetailsOf<Code> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : unknown;

/** What was asked for, as far as it helps to say what is wrong with it. */
export interface Asked {
  method?: string;
  table?: string;
  body?: unknown;
}

interface ErrorLike {
  code?: unknown;
  message?: unknown;
  details?: unknown;
  hint?: unknown;
}

export class ApiError<Code extends AnyCode = AnyCode> extends Error {
  override readonly name = "ApiError";
  /** Of HTTP; 0 where no answer came. */
  readonly status: number;
  /** The contract, where `message` is not. */
  readonly code: Code;
  /** Parsed where it is JSON, else the text, else null. */
  readonly details: DetailsOf<Code>;
  readonly hint: string | null;
  /** Of the check, key or exclusion that refused a value. */
  readonly constraint?: string;
  readonly table?: string;
  /** The columns, arguments or fields at fault, where that is known. */
  readonly columns: readonly string[];
  /** For a person, in English. */
  readonly sentence: string;

  constructor(status: number, error: ErrorLike, asked: Asked = {}, cause?: unknown) {
    const message = text(error.message) ?? `Status ${status}`;
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
    this.code = (text(error.code) ?? (status === 0 ? "network" : "unknown")) as Code;
    const details = parsed(error.details);
    this.details = details as DetailsOf<Code>;
    this.hint = text(error.hint);

    const named = /constraint "([^"]+)"/.exec(message)?.[1];
    const known = named === undefined ? undefined : CONSTRAINTS[named];
    if (named !== undefined) this.constraint = named;
    const relation = /(?:relation|table) "(\w+)"|denied for table (\w+)/.exec(message);
    const table = relation?.[1] ?? relation?.[2] ?? known?.table ?? asked.table;
    if (table !== undefined) this.table = table;
    const isReferred = message.startsWith("update or delete on");
    this.columns = (isReferred ? [] : known?.columns) ?? columnsAtFault(this, message, asked);
    this.sentence = (isReferred ? known?.referenced : known?.sentence) ?? sentenceOf(this);
  }

  /** The one that a person would change; the first of `columns`. */
  get column(): string | undefined {
    return CONSTRAINTS[this.constraint ?? ""]?.column ?? this.columns[0];
  }

  get isNetwork(): boolean {
    return this.code === "network";
  }

  /** Seconds after which the same call may succeed. */
  get retryAfter(): number | undefined {
    const seconds = (this.details as { retry_after?: unknown } | null)?.retry_after;
    return typeof seconds === "number" ? seconds : undefined;
  }
}

/** Whether an error is one of these; its `details` have the type of theirs then. */
export function isCode<Code extends ErrorCode | ClientCode>(
  error: unknown,
  ...codes: Code[]
): error is ApiError<Code> {
  return error instanceof ApiError && (codes as string[]).includes(error.code);
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);

function parsed(details: unknown): unknown {
  if (typeof details !== "string") return details ?? null;
  if (!/^\s*[[{]/.test(details)) return text(details);
  try {
    return JSON.parse(details);
  } catch {
    return details;
  }
}

/** Postgres names the column of some refusals only; the lists of what may be written name others. */
function columnsAtFault(
  error: ApiError,
  message: string,
  { method, table, body }: Asked,
): string[] {
  const { code, details } = error;
  if (code === "validation_failed") {
    const fields = (details as { fields?: string[] | Record<string, string> } | null)?.fields ?? [];
    return Array.isArray(fields) ? fields : Object.keys(fields);
  }
  if (code === "23502" || code === "PGRST204") {
    return [...message.matchAll(/"(\w+)"|'(\w+)' column/g)]
      .flatMap((m) => m[1] ?? m[2] ?? [])
      .slice(0, 1);
  }
  if (code === "42501" && table !== undefined) {
    const command = method === "PATCH" ? "update" : "insert";
    const rows = (Array.isArray(body) ? body : [body]).filter((row) => row instanceof Object);
    const written = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    for (const writable of [WRITABLE, PORTAL_WRITABLE]) {
      const allowed = writable[table]?.[command];
      const refused = allowed ? written.filter((column) => !allowed.includes(column)) : [];
      if (refused.length > 0) return refused;
    }
  }
  return [];
}

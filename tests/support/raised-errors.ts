/** What the migrations, the functions and the tests say of errors, read from their text. */
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

export function filesIn(folder: string, ending: string): string[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => folder + name);
}

export const readFile = (path: string) => readFileSync(new URL(path, root), "utf8");

/** All of the migrations, without their comments. */
export function migrations(): string {
  return filesIn("supabase/migrations/", ".sql").map(readFile).join("\n").replace(/--.*$/gm, "");
}

/** From an opening parenthesis to the one that closes it. */
function inParentheses(text: string, from: number): string {
  let depth = 0;
  for (let end = from; end < text.length; end++) {
    if (text[end] === "(") depth++;
    if (text[end] === ")" && --depth === 0) return text.slice(from, end);
  }
  throw new Error("a parenthesis is not closed");
}

/** The errors of calls that hand over JSON for `details`. */
function withJson(text: string, call: RegExp, json: RegExp): string[] {
  return asErrors(
    [...text.matchAll(call)].filter(({ 0: start, index }) =>
      json.test(inParentheses(text, index + start.indexOf("("))),
    ),
  );
}

const asErrors = (found: Iterable<RegExpMatchArray>) =>
  Array.from(found, ([, status, code]) => `${status} ${code}`);

/** `slot_reason()` returns the codes of one call, whose status is in `check_slot()`. */
function slotErrors(sql: string): string[] {
  const [body = ""] = /create function private\.slot_reason\([\s\S]*?comment on/.exec(sql) ?? [];
  return [...body.matchAll(/\breturn '(\w+)'/g)]
    .map(([, reason = ""]) => reason)
    .filter((reason) => reason !== "available")
    .map((reason) => `${["slot_taken", "busy"].includes(reason) ? 409 : 422} ${reason}`);
}

/**
 * Status and code of every error that the database or a function raises, as `409 slot_taken`. Throws where a
 * call is written in a way that cannot be read.
 */
export function raisedErrors(): string[] {
  const sql = migrations();
  const calls = [...sql.matchAll(/(?:perform|select) private\.raise_error\(/g)];
  const literal = asErrors(sql.matchAll(/private\.raise_error\(\s*(\d{3}),\s*'(\w+)'/g));
  const reasons = slotErrors(sql);
  if (reasons.length < 6) throw new Error("slot_reason() cannot be read");
  if (literal.length !== calls.length - 1)
    throw new Error("a call of raise_error() has no literals");

  const code = filesIn("supabase/functions/", ".ts").map(readFile).join("\n");
  const made = [...code.matchAll(/new ApiError\(/g)];
  const thrown = asErrors(code.matchAll(/new ApiError\(\s*(\d{3}),\s*"(\w+)"/g));
  if (thrown.length !== made.length) throw new Error("an ApiError has no literals");
  const derived = asErrors(code.matchAll(/super\(\s*(\d{3}),\s*"(\w+)"/g));
  if (derived.length !== 1)
    throw new Error("AddressError is not the only one that extends ApiError");

  return [...new Set([...reasons, ...literal, ...thrown, ...derived])];
}

/** Those of them that come, here or there, with JSON in `details`. */
export function raisedWithDetails(): string[] {
  const sql = migrations();
  const code = filesIn("supabase/functions/", ".ts").map(readFile).join("\n");
  return [
    ...slotErrors(sql),
    ...withJson(sql, /private\.raise_error\(\s*(\d{3}),\s*'(\w+)'/g, /jsonb?_(build_object|agg)/),
    ...withJson(code, /(?:new ApiError|super)\(\s*(\d{3}),\s*"(\w+)"/g, /\bdetails: /),
  ];
}

/** Of a text, what looks like an expected error: `status: 409, code: "slot_taken"`, `[409, "slot_taken"]`. */
export function expectedErrors(text: string): string[] {
  return [
    ...asErrors(text.matchAll(/status: (\d{3}),\s+(?:body: \{\s*)?(?:error_)?code: "(\w+)"/g)),
    ...asErrors(text.matchAll(/[[\s]([45]\d\d),\s+"(\w+)"/g)),
  ];
}

/** Of a text, every `code: "slot_taken"`, with a status or not. */
export function expectedCodes(text: string): string[] {
  return [...text.matchAll(/\b(?:error_)?code: "(\w+)"/g)].map(([, code = ""]) => code);
}

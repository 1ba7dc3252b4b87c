/** The chapter of errors: every code, what it says and what to do about it. */
import { code, table } from "./markdown-parts.ts";
import type { Printer } from "./print.ts";
import { ERRORS, type ErrorEntry } from "./shapes/errors.ts";

const CODES = new Set<string>(ERRORS.map((entry) => entry.code));

/** A code, with a link to its row; another word as it is. */
export const linked = (name: string) =>
  CODES.has(name) ? `[${code(name)}](#error-${name.toLowerCase()})` : name;

const GROUPS: Record<ErrorEntry["of"], string> = {
  ours: "What the database and the functions answer with",
  platform: "What Postgres and the platform answer with",
  auth: "What the auth service answers with, of what a sign-in page meets",
};

export function errorTables(
  printer: Printer,
  inline: (printer: Printer, type: string) => string,
): string[] {
  const seen = new Set<string>();
  /** A code that is twice in the list has its first row as its anchor. */
  const marked = (name: string) => {
    const isFirst = !seen.has(name);
    seen.add(name);
    return `${isFirst ? `<a id="error-${name.toLowerCase()}"></a>` : ""}${code(name)}`;
  };
  const groups = Object.entries(GROUPS).flatMap(([of, title]) => [
    `### ${title}`,
    table(
      ["code", "status", "when", "what to do", "`details`"],
      ERRORS.filter((entry) => entry.of === of).map((entry) => [
        marked(entry.code),
        entry.statuses.join(", "),
        entry.when,
        entry.todo,
        entry.details ? inline(printer, printer.type(entry.details)) : "",
      ]),
    ),
  ]);
  return [
    "Every error has the body `{code, message, details, hint}`. `code` is the contract: `message` is for whoever reads a " +
      "log and may change. `details` is a text: where the table shows a type, JSON of that type, or null.",
    ...groups,
  ];
}

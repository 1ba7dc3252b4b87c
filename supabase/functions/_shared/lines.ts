/** Several lines that people typed, as plain text. */
import { oneLine } from "./one-line.ts";

/** Lines of plain text, with at most one empty line in a row. */
export function severalLines(text: string): string {
  return text
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .split("\n")
    .map(oneLine)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The lines of an address on one. */
export function joinedLines(text: string): string {
  return severalLines(text).split(/\n+/).join(", ");
}

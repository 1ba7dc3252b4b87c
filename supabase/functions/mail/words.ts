/** Texts that people typed, made fit for the place in a mail where they go. */
import { oneLine } from "../_shared/one-line.ts";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** At most so many characters as people count them: an emoji of several code points stays whole. */
export function clip(text: string, length: number): string {
  const kept: string[] = [];
  for (const { segment } of graphemes.segment(text)) {
    if (kept.length === length) return `${kept.slice(0, -1).join("").trimEnd()}…`;
    kept.push(segment);
  }
  return text;
}

/** Full-width and small forms of the sign look like it. */
const AT = /\s*[@\uFE6B\uFF20]\s*/g;

/** A name that could be taken for an address says that it is none. */
export function nameOnly(text: string): string {
  return oneLine(oneLine(text).replace(AT, " (at) "));
}

/** Of a client, who may be a stranger: nothing where mail programs would make a link of it. */
export function clientNameOnly(text: string): string {
  const name = nameOnly(text);
  return /:\/\/|[^\s.]\.\p{L}{2,}/u.test(name) ? "" : name;
}

/** A name for a header or a parameter: short, and without what is syntax there (RFC 5322, 5545, 6868). */
export function headerName(text: string): string {
  const name = nameOnly(text)
    .replace(/[<>\\^]+/g, " ")
    .replace(/"/g, "'")
    .replace(/\s+/g, " ")
    .trim();
  return clip(name, 60);
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Keeps letters that run from the right from turning the sentence around them (Unicode, annex 9). */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** What all mails are made with. */
import { severalLines } from "../_shared/lines.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { Block, Row } from "./blocks.ts";
import type { Named } from "./names.ts";
import type { Said, Texts } from "./texts/texts.ts";
import type { Times } from "./times.ts";

export interface MailLinks {
  /** To the page where the client changes or cancels this booking. */
  manage?: string | undefined;
  /** To the page that ends a hold. */
  confirm?: string | undefined;
  /** RFC 8058: a POST acts, and names no more than its own query. */
  unsubscribe?: { url: string } | undefined;
  /** To the page where a professional confirms an address. */
  confirmAddress?: string | undefined;
}

export interface Context {
  texts: Texts;
  times: Times;
  money(amount: string, currency: string): string;
  links: MailLinks;
  /** The professional that the mail speaks of. */
  professional: Named;
  /** Ours: the name that mails are sent under. */
  service: string;
  /** Where answers go; null where nobody would read them. */
  replyTo: string | null;
}

/** A mail that asks for a click and has nothing to click on would be nonsense. */
export function requiredLink(url: string | undefined, kind: string): string {
  if (url === undefined) throw new Error(`a mail of the kind ${kind} needs its link`);
  return url;
}

/** Headers take the short names, the body the whole ones. */
export function say<Names>(said: Said<Names>, inHeader: Names, inBody: Names) {
  const lead: Block = { type: "paragraph", text: said.lead(inBody) };
  return { subject: oneLine(said.subject(inHeader)), heading: said.heading, lead };
}

export const facts = (rows: Row[]): Block => ({ type: "facts", rows });

function block(label: string, text: string | null, quoted: boolean): Block[] {
  const lines = severalLines(text ?? "");
  return lines === "" ? [] : [{ type: "words", label, text: lines, quoted }];
}

/** What the professional wrote, or the reader. */
export const words = (label: string, text: string | null) => block(label, text, false);

/** What a stranger may have written. */
export const quote = (label: string, text: string | null) => block(label, text, true);

/** A mail in parts of which text and HTML are made, so that neither says less than the other. */

export interface Row {
  label: string;
  value: string;
  /** What the value leads to: an address that begins with https. */
  href?: string;
  strong?: boolean;
}

export type Block =
  | { type: "paragraph"; text: string }
  | { type: "facts"; rows: Row[] }
  /** Like facts, with amounts under each other. */
  | { type: "sums"; rows: Row[] }
  /** What somebody wrote, line by line; quoted where it is not the sender's. */
  | { type: "words"; label?: string; text: string; quoted: boolean }
  | { type: "button"; label: string; url: string }
  | { type: "small"; text: string; url?: string };

export interface Content {
  subject: string;
  heading: string;
  blocks: Block[];
}

import type { Block, Content } from "./blocks.ts";

/** The mail as plain text. */
export function toText({ heading, blocks }: Content): string {
  return `${[heading, ...blocks.map(blockText)].join("\n\n")}\n`;
}

function blockText(block: Block): string {
  switch (block.type) {
    case "paragraph":
      return block.text;
    case "facts":
    case "sums":
      return block.rows.map(({ label, value }) => `${label}: ${value}`).join("\n");
    case "words": {
      // Marked line by line, or what is quoted could look like a part of the mail.
      const text = block.quoted ? block.text.replace(/^/gm, "> ") : block.text;
      return block.label === undefined ? text : `${block.label}:\n${text}`;
    }
    case "button":
      return `${block.label}:\n${block.url}`;
    case "small":
      return block.url === undefined ? block.text : `${block.text}:\n${block.url}`;
  }
}

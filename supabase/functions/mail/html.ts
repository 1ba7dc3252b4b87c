/**
 * HTML as mail programs show it: paragraphs and tables, style on the elements, nothing loaded. No colour
 * is set but a grey that is seen on white and on black, so that programs with a dark mode can turn the rest.
 */
import { escapeHtml } from "../_shared/mail.ts";
import type { Block, Content, Row } from "./blocks.ts";

const FONT =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5";
const LINE = "border-bottom:1px solid #808080";
/** Names of 200 letters without a space are not wider than a telephone. */
const WRAP = "overflow-wrap:anywhere;word-break:break-word";

export function toHtml({ subject, heading, blocks }: Content, language: string): string {
  return [
    "<!DOCTYPE html>",
    `<html lang="${language}">`,
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(subject)}</title>`,
    "</head>",
    `<body style="margin:0;padding:0;${FONT}">`,
    `<div style="max-width:560px;margin:0 auto;padding:24px 16px;${FONT};${WRAP}">`,
    `<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${escapeHtml(heading)}</h1>`,
    ...blocks.map(blockHtml),
    "</div>",
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function blockHtml(block: Block): string {
  switch (block.type) {
    case "paragraph":
      return `<p style="margin:0 0 16px">${escapeHtml(block.text)}</p>`;
    case "facts":
    case "sums":
      return table(block.rows, block.type);
    case "words": {
      // The words may run from the other side than their label, and so stand in a paragraph of their own.
      const edge = block.quoted ? ";border-left:4px solid #808080;padding-left:12px" : "";
      const said = `<p dir="auto" style="margin:0 0 16px${edge}">${lines(block.text)}</p>`;
      if (block.label === undefined) return said;
      return `<p style="margin:0 0 4px;font-weight:bold">${escapeHtml(block.label)}</p>\n${said}`;
    }
    case "button":
      return [
        '<p style="margin:0 0 16px">',
        link(
          block.url,
          block.label,
          "display:inline-block;padding:10px 18px;border:2px solid #808080;border-radius:6px;font-weight:bold",
        ),
        "</p>",
      ].join("");
    case "small": {
      const text =
        block.url === undefined ? escapeHtml(block.text) : link(block.url, block.text, "");
      return `<p style="margin:0 0 8px;font-size:14px">${text}</p>`;
    }
  }
}

/** Cells that hold labels or amounts break at spaces only, if at all; the other column takes the rest. */
const WHOLE_WORDS = "overflow-wrap:normal;word-break:normal";

const COLUMNS = {
  facts: { label: "white-space:nowrap", align: "left", value: "" },
  sums: { label: "", align: "right", value: WHOLE_WORDS },
} as const;

function table(rows: Row[], type: "facts" | "sums"): string {
  const { label, align, value } = COLUMNS[type];
  const cells = (row: Row) => {
    const weight = `font-weight:${row.strong ? "bold" : "normal"}`;
    const left = styles("padding:8px 0", weight, "text-align:left", LINE, label);
    const right = styles("padding:8px 0 8px 16px", weight, `text-align:${align}`, LINE, value);
    const content = row.href ? link(row.href, row.value, "") : escapeHtml(row.value);
    return [
      `<tr><th scope="row" align="left" valign="top" style="${left}">${escapeHtml(row.label)}</th>`,
      `<td dir="auto" align="${align}" valign="top" style="${right}">${content}</td></tr>`,
    ];
  };
  return [
    `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px;border-collapse:collapse">`,
    ...rows.flatMap(cells),
    "</table>",
  ].join("\n");
}

const styles = (...of: string[]) => of.filter((style) => style !== "").join(";");

function link(url: string, label: string, style: string): string {
  const styled = style === "" ? "" : ` style="${style}"`;
  return `<a href="${escapeHtml(url)}"${styled}>${escapeHtml(label)}</a>`;
}

const lines = (text: string) => escapeHtml(text).replaceAll("\n", "<br>\n");

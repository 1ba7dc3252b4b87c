/** The TypeScript that the pages print. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_DIR } from "../../local/state.ts";

export interface Block {
  page: string;
  /** The heading that it stands under. */
  heading: string;
  /** Of its first line, from 1. */
  line: number;
  code: string;
}

/** Every page that prints code. */
export const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "client/README.md",
  ...readdirSync(join(PROJECT_DIR, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

export function blocksOf(page: string): Block[] {
  const lines = readFileSync(join(PROJECT_DIR, page), "utf8").split("\n");
  const blocks: Block[] = [];
  let heading = "";
  let fence: string | null = null;
  for (const [index, line] of lines.entries()) {
    const [, language] = /^\s*```(\w*)/.exec(line) ?? [];
    if (fence === null && language === "ts") {
      blocks.push({ page, heading, line: index + 2, code: "" });
    }
    if (language !== undefined) fence = fence === null ? language : null;
    else if (fence === null && line.startsWith("#")) heading = line.replace(/^#+ /, "");
    else if (fence === "ts") (blocks.at(-1) as Block).code += `${line}\n`;
  }
  return blocks;
}

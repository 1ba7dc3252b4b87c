/** Styles name sides as the text runs, so that a page in a language from right to left needs no others. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_DIR } from "../../../local/state.ts";

const SIDES = [
  /(?:^|[\s;{])(?:left|right)\s*:/,
  /(?:margin|padding|border|inset|scroll-margin|scroll-padding)-(?:left|right)/,
  /border-(?:top|bottom)-(?:left|right)-radius/,
  /(?:text-align|float|clear)\s*:\s*(?:left|right)/,
  // Four values have a left and a right one.
  /(?:margin|padding|inset|border-width)\s*:\s*(?:[^\s;(),]+\s+){3}[^\s;(),]+;/,
];

const styles = ["shared", "booking", "portal", "day"].flatMap((page) =>
  readdirSync(join(PROJECT_DIR, "pages", page))
    .filter((name) => name.endsWith(".css"))
    .map((name) => `pages/${page}/${name}`),
);

test.each(styles)("%s names no left and no right", (path) => {
  const lines = readFileSync(join(PROJECT_DIR, path), "utf8").split("\n");
  expect(lines.filter((line) => SIDES.some((side) => side.test(line)))).toEqual([]);
});

/** What the pages say of each other and of the code: links that lead somewhere, codes that are explained. */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { anchor } from "../../reference/markdown-parts.ts";
import { filesIn, migrations, raisedErrors, readFile as read } from "../support/raised-errors.ts";

const root = new URL("../../", import.meta.url);
const pages = ["README.md", "client/README.md", ...filesIn("docs/", ".md")];

/** Code is no text: what looks like a link or a heading in it is none. */
const prose = (page: string) => read(page).replace(/^```[\s\S]*?^```$/gm, "");

/** As GitHub names a heading, `## Free starts: \`a(b, c?)\`` is `free-starts-ab-c`; and those with an id. */
function anchors(page: string): string[] {
  const text = prose(page);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchor(heading ?? ""));
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id ?? "")];
}

describe.each(pages)("%s", (page) => {
  test("links to files and headings that are there", () => {
    const known = new Map<string, Set<string>>();
    const has = (path: string, name: string) => {
      const found = known.get(path) ?? new Set(anchors(path));
      known.set(path, found);
      return found.has(name);
    };
    const broken = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target ?? "")
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => {
        const { pathname, hash } = new URL(target, new URL(page, root));
        const path = pathname.slice(root.pathname.length);
        return !existsSync(new URL(path, root)) || (hash && !has(path, hash.slice(1)));
      });
    expect(broken).toEqual([]);
  });
});

test("every error that the database or a function answers with stands in the reference, with its status", () => {
  const [, section = ""] = /^## Errors$([\s\S]*)/m.exec(read("docs/reference.md")) ?? [];
  const explained = [...section.matchAll(/`(\w+)` \| ([\d, ]+) \|/g)].flatMap(
    ([, code, statuses = ""]) => statuses.split(", ").map((status) => `${status} ${code}`),
  );
  const missing = raisedErrors().filter((error) => !explained.includes(error));
  expect(missing).toEqual([]);
});

test("every setting stands in a table of docs/operations.md, with its default", () => {
  const table = /create table private\.settings \(([\s\S]*?)^\);/m.exec(migrations())?.[1] ?? "";
  const columns = [
    ...table.matchAll(/^ {2}(\w+) (?:text|integer|timestamptz)(?: not null default '?(\w+)'?)?/gm),
  ];
  expect(columns.length).toBeGreaterThan(8);

  const section = /^## Settings$([\s\S]*?)^## /m.exec(read("docs/operations.md"))?.[1] ?? "";
  for (const [, name, value = "(none|random)"] of columns) {
    expect(section).toMatch(new RegExp(`^\\| \`${name}\` \\| \`?${value}\`? \\|`, "m"));
  }
});

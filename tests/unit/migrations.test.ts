/** The form of the migrations, as CONTRIBUTING.md has it, where no formatter for SQL holds it. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const folder = new URL("../../supabase/migrations/", import.meta.url);
const files = readdirSync(folder).map((name): [name: string, sql: string] => [
  name,
  readFileSync(new URL(name, folder), "utf8"),
]);

interface Statement {
  line: number;
  /** In one line, without comments. */
  text: string;
}

/** Splits at semicolons, but not at those in comments, bodies and texts. */
function statements(sql: string): Statement[] {
  const found: Statement[] = [];
  let text = "";
  let line = 1;
  for (const [piece] of sql.matchAll(
    /--.*|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|;|[^-$';]+|[\s\S]/g,
  )) {
    if (!piece.startsWith("--")) text += piece;
    if (text.trim() === "") line += piece.split("\n").length - 1;
    if (piece !== ";") continue;
    found.push({ line, text: text.replace(/\s+/g, " ").trim() });
    line += text.trimStart().split("\n").length - 1;
    text = "";
  }
  return found;
}

/** Parts of a list, where commas in parentheses are no ends of one. */
const listed = (list = "") =>
  list.split(/,(?![^(]*\))/).map((part) => part.replace(/\s/g, "").toLowerCase());

const GRANT = /^grant (.+) on (?!schema)(?:(?:function|table|sequence|type) )?(.+) to (.+);$/;

/** What a grant gives, to whom: `update(name) public.clients anon`. */
function granted({ text }: Statement): string[] {
  const [grant, privileges, objects, roles] = GRANT.exec(text) ?? [];
  if (!grant) return [];
  return listed(privileges).flatMap((privilege) => {
    const [, command = privilege, columns] = /^(\w+)\((.+)\)$/.exec(privilege) ?? [];
    const names = columns?.split(",").map((column) => `${command}(${column})`) ?? [command];
    return names.flatMap((name) =>
      listed(objects).flatMap((object) => listed(roles).map((role) => `${name} ${object} ${role}`)),
    );
  });
}

/** Places that a statement of this kind has in its file and, among the rights, for its table. */
const ORDER: [part: RegExp, place: number, placeForTable?: number][] = [
  [/^create (?:or replace )?function /, 0],
  [/^create trigger /, 1],
  [/^alter table (\S+) enable row level security;/, 2, 0],
  [/^grant .+ on function /, 2],
  [/^grant .+ on (?!schema)(\S+) to /, 2, 1],
  [/^create policy \w+ on (\S+) /, 2, 2],
  [/^comment on (?:table|policy) /, 3],
  [/^select private\.hand_over\(/, 4],
];

/** The first words of each statement that comes after one which should follow it. */
function outOfOrder(parts: Statement[]): string[] {
  let last = 0;
  const lastOf = new Map<string, number>();
  return parts.flatMap(({ line, text }) => {
    for (const [part, place, placeForTable] of ORDER) {
      const match = part.exec(text);
      if (!match) continue;
      const table = match[1] ?? "";
      const late = place < last || (placeForTable ?? 0) < (lastOf.get(table) ?? 0);
      last = Math.max(last, place);
      if (placeForTable !== undefined) lastOf.set(table, placeForTable);
      return late ? [`line ${line}: ${match[0]}`] : [];
    }
    return [];
  });
}

describe.each(files)("%s", (_name, sql) => {
  const parts = statements(sql);

  test("has lines of at most 100 columns, but for the texts of comments, and no space at their ends", () => {
    const code = sql.replace(/^comment on [^;']*'(?:[^']|'')*';$/gm, (comment) =>
      comment.replace(/.+/g, ""),
    );
    expect(code.split("\n").filter((line) => line.length > 100)).toEqual([]);
    expect(sql.match(/.*[ \t]$|.*\t.*/gm) ?? []).toEqual([]);
    expect(sql).toMatch(/[^\n]\n$/);
    expect(sql).not.toContain("\n\n\n");
  });

  test("has functions, triggers, rights, comments and hand_over in this order", () => {
    expect(outOfOrder(parts)).toEqual([]);
  });

  test("states of every function whose rights it has, and an empty search path", () => {
    const functions = parts.filter(({ text }) => /^create (or replace )?function /.test(text));
    const unstated = functions.filter(
      ({ text }) => !/ security (invoker|definer) set search_path = '' .*?as \$/.test(text),
    );
    expect(unstated).toEqual([]);
  });

  test("grants nothing twice", () => {
    const all = parts.flatMap(granted);
    const known = new Set<string>();
    const again = all.filter((grant) => {
      const seen = known.has(grant) || known.has(grant.replace(/^(\w+)\(.+?\)/, "$1"));
      known.add(grant);
      return seen;
    });
    expect(again).toEqual([]);
  });
});

/** The limits of reference/ against the code that holds them. */
import { expect, test } from "vitest";
import { LIMITS, TIERS } from "../../../reference/shapes/limits.ts";
import { readFile } from "../../support/raised-errors.ts";

const words = (text: string) => text.replace(/\s+/g, " ");

test.each(LIMITS.map(({ of, what, most, source }) => [of, what, most, source] as const))(
  "%s: %s: %s",
  (_of, _what, _most, [file, excerpt]) => {
    expect(words(readFile(`supabase/${file}`))).toContain(excerpt);
  },
);

test("a number stands in the words that it rests on", () => {
  const spelt: Record<string, string> = { "5": "five", "10": "ten" };
  const unsaid = LIMITS.filter(({ most, source: [, excerpt] }) => {
    const [number = ""] = /\d+/.exec(most) ?? [];
    return !excerpt.includes(number) && !excerpt.includes(spelt[number] ?? number);
  });
  expect(unsaid).toEqual([]);
});

test("tiers are the rows of their table", () => {
  const sql = readFile("supabase/migrations/20261127000400_reference_tables.sql");
  const [, rows = ""] = /insert into private\.tiers \([\w, ]+\)\nvalues\n([^;]+);/.exec(sql) ?? [];
  const values = TIERS.map(
    ({ name, ...numbers }) => `('${name}', ${Object.values(numbers).join(", ")})`,
  );
  expect(words(rows).trim()).toBe(values.join(", "));
});

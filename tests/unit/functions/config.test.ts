/** What the functions are run with: the same packages as the tests, and a gate that is spelt out. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const folder = new URL("../../../supabase/functions/", import.meta.url);
const slugs = readdirSync(folder).filter((name) => existsSync(new URL(`${name}/index.ts`, folder)));

describe.each(slugs)("%s", (slug) => {
  test("has the packages of package.json, at exactly their versions", () => {
    const { devDependencies } = JSON.parse(read("package.json")) as {
      devDependencies: Record<string, string>;
    };
    const { imports } = JSON.parse(read(`supabase/functions/${slug}/deno.json`)) as {
      imports: Record<string, string>;
    };
    const expected = Object.keys(imports).map((name) => [
      name,
      `npm:${name}@${devDependencies[name]}`,
    ]);
    expect(imports).toEqual(Object.fromEntries(expected));
  });

  test("says in the configuration whether the platform checks tokens, and why", () => {
    const config = read("supabase/config.toml");
    const { functions } = parse(config) as { functions: Record<string, { verify_jwt?: boolean }> };
    expect(functions[slug]?.verify_jwt).toBeTypeOf("boolean");
    expect(config).toMatch(new RegExp(`\\[functions\\.${slug}\\]\\n(# .+\\n)+verify_jwt = `));
  });
});

test("no function is configured that is not there", () => {
  const { functions } = parse(read("supabase/config.toml")) as { functions: object };
  expect(Object.keys(functions).sort()).toEqual(slugs.sort());
});

test("every variable of the functions that README names may come from the shell", () => {
  const table = /^Secrets of the edge functions[\s\S]*?\n\n(?=`npm start`)/m.exec(
    read("README.md"),
  )?.[0];
  const named = table
    ?.split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) =>
      [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
  const { edge_runtime } = parse(read("supabase/config.toml")) as {
    edge_runtime: { secrets: Record<string, string> };
  };
  expect(edge_runtime.secrets).toEqual(
    Object.fromEntries((named ?? []).map((name) => [name, `env(${name})`])),
  );
});

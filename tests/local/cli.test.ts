/** The platform's CLI against the running stack, with the commands that docs/local-stack.md shows. */
import { beforeAll, expect, test, vi } from "vitest";
import { deprecations, supabase } from "../../local/migrate.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { stack } from "../support/stack.ts";

beforeAll(() => {
  vi.stubEnv("SUPABASE_DB_PORT", new URL(stack.dbUrl).port);
});

test.each([
  ["migration", "list"],
  ["db", "push", "--dry-run"],
  ["db", "query", "select 1"],
  ["db", "advisors", "--fail-on", "warn"],
])("supabase %s %s works, and nothing of it is on its way out", async (...args) => {
  const { code, output } = await supabase(PROJECT_DIR, args);
  expect({ code, output, deprecations: deprecations(output) }).toMatchObject({
    code: 0,
    deprecations: [],
  });
});

test("what is on its way out is noticed", async () => {
  const { output } = await supabase(PROJECT_DIR, ["migration", "list", "--local"]);
  expect(deprecations(output)).toHaveLength(1);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_DIR } from "../local/state.ts";
import { generatedFiles } from "../reference/files.ts";
import { stack } from "./support/stack.ts";

test("every generated file is what the schema and the shapes say; else run npm run reference", async () => {
  const files = await generatedFiles(stack.dbUrl);
  const found = Object.keys(files).map((path) => [
    path,
    readFileSync(join(PROJECT_DIR, path), "utf8"),
  ]);
  expect(Object.fromEntries(found)).toEqual(files);
});

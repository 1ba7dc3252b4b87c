import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generateTypes, TYPES_FILE } from "../scripts/types.ts";
import { stack } from "./support/stack.ts";

test("the generated types are those of the database; else run npm run types", async () => {
  expect(readFileSync(TYPES_FILE, "utf8")).toBe(await generateTypes(stack.dbUrl));
});

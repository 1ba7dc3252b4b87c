/** Every file that is generated, with what writes it. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { withDatabase } from "../local/postgres.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { constraintsText } from "./constraints.ts";
import { databaseTypes } from "./database-types.ts";
import { referenceText } from "./markdown.ts";
import { readModel } from "./model.ts";
import { openApiText } from "./openapi/document.ts";
import { clientTypes } from "./types.ts";
import { schemasText } from "./webhook-events.ts";

/** As `npm run format` would leave it. */
function formatted(path: string, text: string): string {
  const args = [join(PROJECT_DIR, "node_modules/@biomejs/biome/bin/biome"), "format"];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...args, `--stdin-file-path=${path}`],
    { cwd: PROJECT_DIR, input: text, encoding: "utf8", maxBuffer: 2 ** 26 },
  );
  if (status !== 0) throw new Error(`${path} is no TypeScript:\n${stderr}`);
  return stdout;
}

/** Their texts by their paths in the project. */
export async function generatedFiles(dbUrl: string): Promise<Record<string, string>> {
  return withDatabase(dbUrl, async (sql) => {
    const model = await readModel(sql);
    const typescript = (path: string, text: string) => ({ [path]: formatted(path, text) });
    return {
      "supabase/functions/_shared/database.types.ts": await databaseTypes(sql),
      ...typescript("client/src/database.ts", clientTypes(model)),
      ...typescript("client/src/generated/constraints.ts", constraintsText(model)),
      "docs/openapi.json": openApiText(model),
      "docs/reference.md": referenceText(model),
      "docs/webhook-events.schema.json": schemasText(),
    };
  });
}

/**
 * `npm run types`: writes the database's types for TypeScript, with the engine behind
 * `supabase gen types`. Reads the database of DB_URL, else the running stack, else a passing one.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { generateTypescript, sortGeneratorMetadata } from "@supabase/postgrest-typegen/generation";
import { introspect } from "@supabase/postgrest-typegen/introspection";
import { withDatabase } from "../local/postgres.ts";
import { startStack } from "../local/stack.ts";
import { PROJECT_DIR, runningStack } from "../local/state.ts";
import { freePorts } from "./free-ports.ts";

export const TYPES_FILE = join(PROJECT_DIR, "supabase/functions/_shared/database.types.ts");

/** The text of the types of schema `public`. */
export async function generateTypes(dbUrl: string): Promise<string> {
  return withDatabase(dbUrl, async (sql) => {
    const metadata = await introspect(
      { query: async (text) => ({ rows: await sql.unsafe(text) }) },
      { includedSchemas: ["public"] },
    );
    return generateTypescript(sortGeneratorMetadata(metadata), {
      detectOneToOneRelationships: true,
      // What hosted projects run; the client types its answers by it.
      postgrestVersion: "14.5",
    });
  });
}

/** Hands `use` the database of a stack that lives as long as the call. */
async function withPassingStack(use: (dbUrl: string) => Promise<string>): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "stack-"));
  try {
    const stack = await startStack({
      ...(await freePorts()),
      projectDir: PROJECT_DIR,
      dataDir,
      seed: false,
      fsync: false,
    });
    try {
      return await use(stack.env.DB_URL);
    } finally {
      await stack.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const dbUrl = process.env.DB_URL || (await runningStack())?.env?.DB_URL;
  const types = dbUrl ? await generateTypes(dbUrl) : await withPassingStack(generateTypes);
  mkdirSync(dirname(TYPES_FILE), { recursive: true });
  writeFileSync(TYPES_FILE, types);
  console.log(`Wrote ${TYPES_FILE}`);
}

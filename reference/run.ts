/**
 * `npm run reference`: writes what is generated from the catalogue and the shapes. Reads the database of
 * DB_URL, else a passing one: a stack that runs may have been made before a migration was edited.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { freePorts } from "../scripts/free-ports.ts";
import { generatedFiles } from "./files.ts";

/** Hands `use` the database of a stack that lives as long as the call. */
async function withPassingStack<T>(use: (dbUrl: string) => Promise<T>): Promise<T> {
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

const dbUrl = process.env.DB_URL;
const files = dbUrl ? await generatedFiles(dbUrl) : await withPassingStack(generatedFiles);
for (const [path, text] of Object.entries(files)) {
  const file = join(PROJECT_DIR, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`Wrote ${path}`);
}

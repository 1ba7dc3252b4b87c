/** `npm run reset`: throws the local data away and builds it anew from migrations and seed. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../local/ports.ts";
import { stepsOn } from "../local/progress.ts";
import { startStack } from "../local/stack.ts";
import { claimFolder, DATA_DIR, PROJECT_DIR, release } from "../local/state.ts";
import { freePorts } from "./free-ports.ts";

try {
  await claimFolder();
  try {
    for (const name of readdirSync(DATA_DIR).filter((name) => name.startsWith("postgres"))) {
      rmSync(join(DATA_DIR, name), { recursive: true });
    }
    const stack = await startStack({
      ...(await freePorts()),
      projectDir: PROJECT_DIR,
      dataDir: DATA_DIR,
      step: stepsOn(process.stdout),
    });
    await stack.stop();
    console.log("The data is new: migrations and seed are applied.");
  } finally {
    release();
  }
} catch (error) {
  console.error(error instanceof UserError ? error.message : error);
  process.exitCode = 1;
}

/**
 * A stack in a process of its own: what a benchmark does itself must neither slow the stack down nor be
 * counted as its memory. Run with `fork`; it stops when its parent says so or is gone.
 */
import { startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";

const [dataDir, apiPort, dbPort, mailPort] = process.argv.slice(2);
const stack = await startStack({
  projectDir: PROJECT_DIR,
  dataDir: dataDir ?? "",
  apiPort: Number(apiPort),
  dbPort: Number(dbPort),
  mailPort: Number(mailPort),
  seed: false,
});
const stop = async () => {
  await stack.stop();
  process.exit();
};
process.once("message", stop);
process.once("disconnect", stop);
process.send?.(stack.env);

/** What the benchmark and the soak have around them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ports } from "../local/ports.ts";
import { type Stack, startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { freePorts } from "../scripts/free-ports.ts";
import { closeAll, closeAtTheEnd } from "../tests/support/closing.ts";

const { log, error: logError } = console;

/** Runs `work` with a folder of its own and exits with its code; nothing is left, also when interrupted. */
export async function runInFolder(work: (dataDir: string) => Promise<number>): Promise<never> {
  // What functions log is not part of a result.
  console.error = () => {};
  console.log = (...texts) => `${texts[0]}`.startsWith("[") || log(...texts);
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), "bench-")));
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= closeAll().finally(() => rmSync(dataDir, { recursive: true, force: true }));
    return ended;
  };
  const quit = () => end().finally(() => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, quit);
  process.once("uncaughtException", (error) => {
    logError(error);
    quit();
  });
  const code = await work(dataDir).catch((error: unknown) => {
    logError(error);
    return 1;
  });
  await end();
  process.exit(code);
}

/**
 * Starts a stack. Its addresses go into the environment, where tests/support looks for them: import what asks
 * the stack after this.
 */
export async function startMeasuredStack(
  dataDir: string,
  functionsEnv: Record<string, string> = {},
): Promise<Stack & Ports> {
  const ports = await freePorts();
  const options = { projectDir: PROJECT_DIR, dataDir, seed: false, functionsEnv };
  const stack = await startStack({ ...ports, ...options });
  closeAtTheEnd(stack.stop);
  Object.assign(process.env, stack.env);
  return { ...stack, ...ports };
}

/** Children of this process whose command line fits: number and command line. Linux only. */
export function children(pattern: string): string[] {
  const args = ["-a", "-P", `${process.pid}`, "-f", pattern];
  const { stdout, error } = spawnSync("pgrep", args, { encoding: "utf8" });
  if (error) throw error;
  return stdout.split("\n").filter(Boolean);
}

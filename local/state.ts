/**
 * Who runs the stack of this folder: one file that is at once the lock of `npm start`, its notice
 * to later commands, and the source of `npm run status`.
 */
import {
  accessSync,
  constants,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { UserError } from "./ports.ts";
import { stopOrphan } from "./postgres.ts";
import { startTime } from "./processes.ts";
import type { StackEnv } from "./stack.ts";

export const PROJECT_DIR = fileURLToPath(new URL("..", import.meta.url));
export const DATA_DIR = join(PROJECT_DIR, ".local");

const POSTGRES_DIR = join(DATA_DIR, "postgres");
const FILE = join(DATA_DIR, "stack.json");

export interface RunningStack {
  pid: number;
  /** Beside the pid, which the system uses again. */
  started: string;
  phase: "starting" | "ready" | "stopping";
  /** Known when ready. */
  env?: StackEnv;
}

/** Writes beside the file first: a reader never sees half of it. */
function writeDraft(state: RunningStack): string {
  const draft = `${FILE}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(state), { mode: 0o600 });
  return draft;
}

function currentProcess(): { pid: number; started: string } {
  return { pid: process.pid, started: startTime(process.pid) ?? "" };
}

/** The process that runs or builds this folder's stack; undefined also when it crashed. */
export function runningStack(): RunningStack | undefined {
  let state: RunningStack;
  try {
    state = JSON.parse(readFileSync(FILE, "utf8")) as RunningStack;
  } catch {
    return undefined;
  }
  return startTime(state.pid) === state.started ? state : undefined;
}

function claim(): boolean {
  mkdirSync(DATA_DIR, { recursive: true });
  try {
    accessSync(DATA_DIR, constants.W_OK);
  } catch {
    throw new UserError(`${DATA_DIR} belongs to another user: start it as that one, or remove it.`);
  }
  const draft = writeDraft({ ...currentProcess(), phase: "starting" });
  try {
    if (runningStack()) return false;
    rmSync(FILE, { force: true });
    // Unlike a rename, a link fails when somebody was faster.
    linkSync(draft, FILE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Makes this process the only one that works on the folder's data, and stops what a crashed run
 * left behind. Waits for one that is just stopping; refuses when one is running.
 */
export async function claimFolder(): Promise<void> {
  while (!claim()) {
    const other = runningStack();
    if (other && other.phase !== "stopping") {
      const where = other.env ? ` at ${other.env.API_URL}` : "";
      throw new UserError(
        `The stack of this folder already runs${where} (process ${other.pid}). ` +
          `Stop it first: Ctrl-C there, or \`kill ${other.pid}\`.`,
      );
    }
    await sleep(50);
  }
  await stopOrphan(POSTGRES_DIR);
}

export function announce(phase: "ready" | "stopping", env?: StackEnv): void {
  renameSync(writeDraft({ ...currentProcess(), phase, ...(env && { env }) }), FILE);
}

export function release(): void {
  rmSync(FILE, { force: true });
}

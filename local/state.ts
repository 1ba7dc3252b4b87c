/**
 * Who runs the stack of this folder: a socket that is at once the lock of `npm start`, its notice to
 * later commands, and the source of `npm run status`. It answers as long as its process lives,
 * however that ends.
 */
import { once } from "node:events";
import { accessSync, constants, mkdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join, relative } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { UserError } from "./ports.ts";
import { stopOrphan } from "./postgres.ts";
import type { StackEnv } from "./stack.ts";

export const PROJECT_DIR = fileURLToPath(new URL("..", import.meta.url));
export const DATA_DIR = join(PROJECT_DIR, ".local");

// Relative: a socket's name may have about a hundred characters, and a project lies deep.
const SOCKET = relative(process.cwd(), join(DATA_DIR, "stack.sock"));

export interface RunningStack {
  pid: number;
  phase: "starting" | "ready" | "stopping";
  /** Known when ready. */
  env?: StackEnv;
}

const own: RunningStack = { pid: process.pid, phase: "starting" };
const server = createServer((socket) => {
  socket.on("error", () => {}).end(JSON.stringify(own));
});

/** The process that runs or builds this folder's stack; undefined also when it crashed. */
export async function runningStack(): Promise<RunningStack | undefined> {
  return (await json(connect(SOCKET)).catch(() => undefined)) as RunningStack | undefined;
}

async function claim(): Promise<boolean> {
  try {
    await once(server.listen(SOCKET), "listening");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return false;
  }
}

/**
 * Makes this process the only one that works on the folder's data, and stops what a crashed run
 * left behind. Waits for one that is just stopping; refuses when one is running.
 */
export async function claimFolder(): Promise<void> {
  mkdirSync(DATA_DIR, { recursive: true });
  try {
    accessSync(DATA_DIR, constants.W_OK);
  } catch {
    throw new UserError(`${DATA_DIR} belongs to another user: start it as that one, or remove it.`);
  }
  while (!(await claim())) {
    const other = await runningStack();
    if (!other) {
      // A crashed run leaves its name behind.
      rmSync(SOCKET, { force: true });
    } else if (other.phase === "stopping") {
      await sleep(50);
    } else {
      const where = other.env ? ` at ${other.env.API_URL}` : "";
      throw new UserError(
        `The stack of this folder already runs${where} (process ${other.pid}). ` +
          `Stop it first: Ctrl-C there, or \`kill ${other.pid}\`.`,
      );
    }
  }
  await stopOrphan(join(DATA_DIR, "postgres"));
}

/** Tells whoever asks how far this process is. */
export function announce(phase: "ready" | "stopping", env?: StackEnv): void {
  Object.assign(own, { phase, env });
}

export function release(): void {
  server.close();
}

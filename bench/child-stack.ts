/** Starts a stack in a process of its own, and looks at the memory of everything that belongs to it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StackEnv } from "../local/stack.ts";
import { freePorts } from "../scripts/free-ports.ts";

export interface ChildStack {
  env: StackEnv;
  /** Connects as the superuser. */
  adminUrl: string;
  pid: number;
  stop(): Promise<void>;
}

export async function startChildStack(dataDir: string): Promise<ChildStack> {
  const { apiPort, dbPort, mailPort } = await freePorts();
  const script = fileURLToPath(new URL("./stack-process.ts", import.meta.url));
  const child = fork(script, [dataDir, String(apiPort), String(dbPort), String(mailPort)], {
    execArgv: ["--import", "tsx"],
    // What the functions log is not part of the result.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const ready = once(child, "message");
  const [env] = (await Promise.race([
    ready,
    exited.then(([code]) => Promise.reject(new Error(`the stack ended with ${code}`))),
  ])) as [StackEnv];
  return {
    env,
    adminUrl: `postgresql://supabase_admin:postgres@127.0.0.1:${dbPort}/postgres`,
    pid: child.pid ?? 0,
    async stop() {
      child.send("stop");
      await exited;
    },
  };
}

/** The parent of every process. */
function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      found.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // Ended meanwhile.
    }
  }
  return found;
}

/** A process and all that descend from it. */
export function processTree(root: number): number[] {
  const all = parents();
  const tree = [root];
  for (const pid of tree) {
    for (const [child, parent] of all) if (parent === pid) tree.push(child);
  }
  return tree;
}

export interface Memory {
  processes: number;
  /** Resident megabytes; what processes share is counted once. */
  megabytes: number;
}

/** Memory by kind of process. Linux only: elsewhere nothing is found. */
export function memoryOf(root: number): Record<string, Memory> {
  const kinds: Record<string, Memory> = {};
  for (const pid of processTree(root)) {
    try {
      const name = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      const kilobytes = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
      const kind = /^(postgres|deno)/.exec(name)?.[1] ?? "node";
      kinds[kind] ??= { processes: 0, megabytes: 0 };
      kinds[kind].processes++;
      kinds[kind].megabytes += kilobytes / 1024;
    } catch {
      // Ended meanwhile, or not ours to read.
    }
  }
  return kinds;
}

/** Processes of the functions of a stack that this file has started. */
import { execFileSync } from "node:child_process";
import { expect } from "vitest";

/** Ends a running function without a word, as the platform may. */
export function killFunction(slug: string): void {
  const list = execFileSync("ps", ["-axo", "pid=,ppid=,args="], { encoding: "utf8" });
  const pids = list
    .split("\n")
    .filter((line) => line.includes(`functions/${slug}/index.ts`))
    .map((line) => /^\s*(\d+)\s+(\d+)\s/.exec(line))
    .filter((found) => Number(found?.[2]) === process.pid)
    .map((found) => Number(found?.[1]));
  expect(pids).toHaveLength(1);
  for (const pid of pids) process.kill(pid, "SIGKILL");
}

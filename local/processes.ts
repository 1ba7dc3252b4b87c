/**
 * Telling processes apart by more than their number: a number is used again, so a file that only
 * says "17" may point at a stranger after a crash or a restart of the machine.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

function ps(pid: number, field: string): string | undefined {
  try {
    return execFileSync("ps", ["-ww", "-o", `${field}=`, "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}

/** When a process started, in a form that only serves for comparing; undefined: not running. */
export function startTime(pid: number): string | undefined {
  if (process.platform !== "linux") return ps(pid, "lstart") || undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name may hold spaces and brackets; fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** The command line of a process, its arguments joined by spaces; undefined: not running. */
export function commandLine(pid: number): string | undefined {
  if (process.platform !== "linux") return ps(pid, "args") || undefined;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return undefined;
  }
}

/** Sends a signal and waits until the process is gone; `last` follows after ten seconds. */
export async function stopProcess(
  pid: number,
  first: NodeJS.Signals,
  last: NodeJS.Signals,
): Promise<void> {
  const started = startTime(pid);
  const running = () => started !== undefined && startTime(pid) === started;
  if (running()) process.kill(pid, first);
  for (let waited = 0; running(); waited += 20) {
    await sleep(20);
    if (waited === 10_000) process.kill(pid, last);
  }
}

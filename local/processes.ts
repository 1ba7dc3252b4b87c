/**
 * Telling processes apart by more than their number: a number is used again, so a file that only
 * says "17" may point at a stranger after a crash or a restart of the machine.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

function describe(pid: number, file: string, field: string): string | undefined {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/${file}`, "utf8");
    const stdio = ["ignore", "pipe", "ignore"] as ["ignore", "pipe", "ignore"];
    return execFileSync("ps", ["-ww", "-o", `${field}=`, "-p", `${pid}`], {
      encoding: "utf8",
      stdio,
    });
  } catch {
    return undefined;
  }
}

/** When a process started, in a form that only serves for comparing; undefined: not running. */
export function startTime(pid: number): string | undefined {
  const text = describe(pid, "stat", "lstart");
  if (process.platform !== "linux") return text;
  // The command's name may hold spaces and brackets; fields are counted from behind it.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" ? undefined : fields?.[19];
}

/** The command line of a process, its arguments joined by spaces; undefined: not running. */
export const commandLine = (pid: number) =>
  describe(pid, "cmdline", "args")?.replaceAll("\0", " ").trim();

/**
 * PostgreSQL refuses to run as root. Root (a container, usually) starts it as the system user
 * `postgres`, made when missing; anybody else starts it as themselves.
 */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "./ports.ts";

export interface Runner {
  /** Whom the data directory must belong to, when that is not the current user. */
  owner?: { uid: number; gid: number };
  spawn(command: string, args: string[], options?: SpawnOptions): ChildProcess;
}

const USER = "postgres";

function lookUp(): { uid: number; gid: number } {
  const id = (flag: string) =>
    Number(execFileSync("id", [flag, USER], { encoding: "utf8", stdio: "pipe" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** Whether anybody may pass through the folders above `path`. */
function isReachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** Who runs the server, given the paths it has to reach. */
export function serverUser(paths: string[]): Runner {
  // The server's working directory is its data; this one must only exist for everybody.
  const cwd = "/";
  if (process.getuid?.() !== 0) {
    return { spawn: (command, args, options) => spawn(command, args, { cwd, ...options }) };
  }
  let owner: { uid: number; gid: number };
  try {
    owner = lookUp();
  } catch (error) {
    // A Ctrl-C ends `id` as well; that says nothing about the user.
    if ((error as { status?: unknown }).status === null) {
      throw new UserError("Stopped before it was ready.");
    }
    execFileSync("useradd", ["--system", "--user-group", "--no-create-home", USER]);
    owner = lookUp();
  }
  if (paths.every(isReachable)) {
    return {
      owner,
      spawn: (command, args, options) => spawn(command, args, { cwd, ...owner, ...options }),
    };
  }
  // A project below /root: the server may not even look into the folder. It gets the one right it
  // lacks, rather than the folder's permissions being opened for every user of the machine.
  try {
    execFileSync("setpriv", ["--version"], { stdio: "ignore" });
  } catch {
    throw new UserError(
      `As root the database runs as user ${USER}, who cannot reach this folder: ` +
        "move the project, or start it as an ordinary user.",
    );
  }
  const prefix = [
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
    "--",
  ];
  return {
    owner,
    spawn: (command, args, options) =>
      spawn("setpriv", [...prefix, command, ...args], { cwd, ...options }),
  };
}

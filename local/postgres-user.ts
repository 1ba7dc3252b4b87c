/**
 * PostgreSQL refuses to run as root. Root (a container, usually) starts it as the system user
 * `postgres`, made when missing; anybody else starts it as themselves.
 */
import {
  type ChildProcess,
  execFileSync,
  type SpawnOptions,
  spawn,
  spawnSync,
} from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "./ports.ts";

export interface Runner {
  /** Whom the data directory must belong to, when that is not the current user. */
  owner?: { uid: number; gid: number };
  spawn(command: string, args: string[], options?: SpawnOptions): ChildProcess;
}

const USER = "postgres";

const stopped = () => new UserError("Stopped before it was ready.");

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

/**
 * Arguments of setpriv for a start as the server's user that keeps the right to look into any folder, for a project below
 * one that others may not pass (root's home): better than opening that folder to every user of the
 * machine. Undefined where the machine does not let root do that.
 */
function withPassage(owner: { uid: number; gid: number }, server: string): string[] | undefined {
  // The weaker right first: whoever connects as the superuser has the server's rights. Containers
  // often have only the stronger one.
  for (const right of ["dac_read_search", "dac_override"]) {
    const change = [
      // Else the change of user takes every right away before one can be kept.
      "--securebits=+no_setuid_fixup",
      `--reuid=${owner.uid}`,
      `--regid=${owner.gid}`,
      "--clear-groups",
      `--inh-caps=+${right}`,
      `--ambient-caps=+${right}`,
      "--",
    ];
    const { status, signal } = spawnSync("setpriv", [...change, server, "--version"], { cwd: "/" });
    // A Ctrl-C ends the trial as well; that says nothing about the right.
    if (signal) throw stopped();
    if (status === 0) return change;
  }
  return undefined;
}

/** Who runs the server, given its program and the directory of its data. */
export function serverUser(server: string, dataDir: string): Runner {
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
    if ((error as { status?: unknown }).status === null) throw stopped();
    execFileSync("useradd", ["--system", "--user-group", "--no-create-home", USER]);
    owner = lookUp();
  }
  if ([server, dataDir].every(isReachable)) {
    return {
      owner,
      spawn: (command, args, options) => spawn(command, args, { cwd, ...owner, ...options }),
    };
  }
  const passage = withPassage(owner, server);
  if (!passage) {
    throw new UserError(
      `As root the database runs as user ${USER}, who cannot reach this folder: ` +
        "move the project, or start it as an ordinary user.",
    );
  }
  return {
    owner,
    spawn: (command, args, options) =>
      spawn("setpriv", [...passage, command, ...args], { cwd, ...options }),
  };
}

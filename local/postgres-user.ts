/**
 * PostgreSQL refuses to run as root. Root (a container, usually) starts it as the system user
 * `postgres`, made when missing; anybody else starts it as themselves.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "./ports.ts";

export interface Runner {
  /** Whom the data directory must belong to, when that is not the current user. */
  owner?: { uid: number; gid: number };
  spawn(command: string, args: string[], options?: SpawnOptions): ChildProcess;
}

const USER = "postgres";

/** Runs a tool to its end. A Ctrl-C ends it as well; that says nothing about its question. */
function ask(command: string, ...args: string[]): { ok: boolean; output: string } {
  const { status, signal, stdout } = spawnSync(command, args, { cwd: "/", encoding: "utf8" });
  if (signal) throw new UserError("Stopped before it was ready.");
  return { ok: status === 0, output: stdout ?? "" };
}

/** Whether anybody may pass through the folders above `path`. */
function isReachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** Who runs the server, given its program and the directory of its data. */
export function serverUser(server: string, dataDir: string): Runner {
  // The server's working directory is its data; this one must only exist for everybody.
  const cwd = "/";
  if (process.getuid?.() !== 0) {
    return { spawn: (command, args, options) => spawn(command, args, { cwd, ...options }) };
  }
  if (!ask("id", USER).ok) ask("useradd", "--system", "--user-group", "--no-create-home", USER);
  const owner = {
    uid: Number(ask("id", "-u", USER).output),
    gid: Number(ask("id", "-g", USER).output),
  };
  const change = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups"];
  if (![server, dataDir].every(isReachable)) {
    // The right to look into any folder, for a project below one that others may not pass (root's home):
    // better than opening that folder to every user. The weaker one first, since whoever connects as the
    // superuser has the server's rights; containers often have only the stronger one.
    const passage = ["dac_read_search", "dac_override"]
      // Else the change of user takes every right away before one can be kept.
      .map((right) => [
        "--securebits=+no_setuid_fixup",
        `--inh-caps=+${right}`,
        `--ambient-caps=+${right}`,
      ])
      .find((rights) => ask("setpriv", ...change, ...rights, "--", server, "--version").ok);
    if (!passage) {
      throw new UserError(
        `As root the database runs as user ${USER}, who cannot reach this folder: ` +
          "move the project, or start it as an ordinary user.",
      );
    }
    change.push(...passage);
  }
  return {
    owner,
    spawn: (command, args, options) =>
      spawn("setpriv", [...change, "--", command, ...args], { cwd, ...options }),
  };
}

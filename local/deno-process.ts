/** One edge function as a process of Deno: started when it is asked for and does not run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const KILL_AFTER_MS = 2_000;

/** The binary itself: the package's `bin` is a wrapper that would keep signals from Deno. */
function denoPath(): string {
  const require = createRequire(import.meta.url);
  const { runInstall } = require("deno/install_api.cjs") as { runInstall(): string };
  return runInstall();
}

/**
 * Runs before the function: ends it when its parent is gone, since a parent that was killed can
 * end nobody. An orphan gets a new parent, so it needs no file and no help from the next start.
 */
const orphanGuard = (parent: number) =>
  `data:application/javascript,${encodeURIComponent(
    `Deno.unrefTimer(setInterval(() => { if (Deno.ppid !== ${parent}) Deno.exit(0); }, 500));`,
  )}`;

function spawnDeno(slug: string, projectDir: string, env: Record<string, string>) {
  const flags = [
    // The packages `npm ci` installed, exactly: nothing is fetched, nothing is written.
    ...["--node-modules-dir=manual", "--cached-only", "--no-lock", "--no-prompt"],
    // A function talks to the network and reads the variables it was given; no files, no programs.
    ...["--allow-net", "--allow-env", "--preload", orphanGuard(process.pid)],
  ];
  return spawn(denoPath(), ["run", ...flags, `supabase/functions/${slug}/index.ts`], {
    cwd: projectDir,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: a Ctrl-C would end it at once, and look like a crash.
    detached: true,
    env: {
      ...env,
      DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      DENO_DIR: join(projectDir, "node_modules", ".cache", "deno"),
      NO_COLOR: "1",
    },
  });
}

/** One life of the process; `port` is another one each time, undefined when it ended without one. */
function startLife(slug: string, projectDir: string, env: Record<string, string>) {
  const child = spawnDeno(slug, projectDir, env);
  const ended = once(child, "exit").then(([code, signal]) => signal ?? `code ${code}`, String);
  const port = new Promise<number | undefined>((resolve) => {
    ended.then(() => resolve(undefined));
    for (const stream of ["stdout", "stderr"] as const) {
      createInterface(child[stream]).on("line", (line) => {
        const address = /^Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
        // The address is the gateway's business.
        if (address) resolve(Number(address[1]));
        else console[stream === "stdout" ? "log" : "error"](`[${slug}] ${line}`);
      });
    }
  });
  return { child, port, ended };
}

export function denoProcess(slug: string, projectDir: string, env: Record<string, string>) {
  let life: ReturnType<typeof startLife> | undefined;

  function start() {
    const started = startLife(slug, projectDir, env);
    started.ended.then((how) => {
      if (life !== started) return;
      life = undefined;
      console.error(`[${slug}] ended (${how}), starts again with the next request`);
    });
    return started;
  }

  return {
    /** Where the function listens, as soon as it does; undefined when it cannot boot. */
    port(): Promise<number | undefined> {
      life ??= start();
      return life.port;
    },
    /** Ends the process; whoever asks next starts it again, with the files of then. */
    async stop(): Promise<void> {
      const ending = life;
      life = undefined;
      if (!ending) return;
      ending.child.kill("SIGTERM");
      setTimeout(() => ending.child.kill("SIGKILL"), KILL_AFTER_MS).unref();
      await ending.ended;
    },
  };
}

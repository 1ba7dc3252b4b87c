/** One edge function as a process of Deno that is kept running until it is closed. */
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 25;
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 10_000;
/** A process that ran this long starts with a short backoff again. */
const STABLE_MS = 10_000;
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

export class DenoProcess {
  readonly slug: string;
  readonly #options: { projectDir: string; env: Record<string, string> };
  /** Where the running process listens, another one after every start; undefined until it does. */
  #port: number | undefined;
  /** Ends in a row without having listened. */
  #failedBoots = 0;
  /** Aborted to end the current run and its waits: by close and by restart. */
  #wake = new AbortController();
  #closed = false;
  readonly #loop: Promise<void>;

  constructor(slug: string, options: { projectDir: string; env: Record<string, string> }) {
    this.slug = slug;
    this.#options = options;
    this.#loop = this.#keepRunning();
  }

  /** The function's port, waiting for it up to the given time unless it cannot boot. */
  async port(milliseconds: number): Promise<number | undefined> {
    const deadline = Date.now() + milliseconds;
    const hopeful = () => !this.#closed && this.#failedBoots < 2 && Date.now() < deadline;
    while (this.#port === undefined && hopeful()) await sleep(POLL_MS);
    return this.#port;
  }

  /** Ends the process; the loop starts it again at once, with the new files. */
  restart(): void {
    this.#failedBoots = 0;
    this.#port = undefined;
    this.#wake.abort();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake.abort();
    await this.#loop;
  }

  async #keepRunning(): Promise<void> {
    let backoff = FIRST_BACKOFF_MS;
    while (!this.#closed) {
      this.#wake = new AbortController();
      const { signal } = this.#wake;
      const startedAt = Date.now();
      const how = await this.#run(signal).catch(String);
      this.#failedBoots = this.#port === undefined ? this.#failedBoots + 1 : 0;
      this.#port = undefined;
      if (signal.aborted || Date.now() - startedAt > STABLE_MS) backoff = FIRST_BACKOFF_MS;
      if (signal.aborted) continue;
      console.error(`[${this.slug}] ended (${how}), starts again in ${backoff} ms`);
      await sleep(backoff, undefined, { signal }).catch(() => {});
      backoff = Math.min(backoff * 2, LONGEST_BACKOFF_MS);
    }
  }

  /** One life of the process; says how it ended. */
  async #run(signal: AbortSignal): Promise<string> {
    const child = this.#spawn();
    this.#print(child, signal);
    signal.addEventListener("abort", () => {
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref();
    });
    return new Promise((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, killedBy) => resolve(killedBy ?? `code ${code}`));
    });
  }

  #print(child: ChildProcess, signal: AbortSignal): void {
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface(stream).on("line", (line) => {
        const port = /^Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
        if (!port)
          return (stream === child.stdout ? console.log : console.error)(`[${this.slug}] ${line}`);
        // The address is the gateway's business.
        if (!signal.aborted) this.#port = Number(port);
      });
    }
  }

  #spawn(): ChildProcess {
    const { projectDir, env } = this.#options;
    const flags = [
      // The packages `npm ci` installed, exactly: nothing is fetched, nothing is written.
      ...["--node-modules-dir=manual", "--cached-only", "--no-lock", "--no-prompt"],
      // A function talks to the network and reads the variables it was given; no files, no programs.
      ...["--allow-net", "--allow-env", "--preload", orphanGuard(process.pid)],
    ];
    return spawn(denoPath(), ["run", ...flags, `supabase/functions/${this.slug}/index.ts`], {
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
}

/** One edge function as a process of Deno that is kept running until it is closed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, connect, createServer } from "node:net";
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
  await exited;
  clearTimeout(force);
}

export class DenoProcess {
  readonly slug: string;
  /** Where the running process listens; another one after every start. */
  port = 0;
  #listening = false;
  #backoff = FIRST_BACKOFF_MS;
  /** Ends in a row without having listened. */
  #failedBoots = 0;
  /** Aborted to end the current run's waits: by close and by restart. */
  #wake = new AbortController();
  #closed = false;
  readonly #options: { projectDir: string; slug: string; env: Record<string, string> };
  readonly #loop: Promise<void>;

  constructor(options: { projectDir: string; slug: string; env: Record<string, string> }) {
    this.#options = options;
    this.slug = options.slug;
    this.#loop = this.#keepRunning();
  }

  /** Whether the function listens, waiting for it up to the given time unless it cannot boot. */
  async ready(milliseconds: number): Promise<boolean> {
    const deadline = Date.now() + milliseconds;
    const hopeful = () => !this.#closed && this.#failedBoots < 2 && Date.now() < deadline;
    while (!this.#listening && hopeful()) await sleep(POLL_MS);
    return this.#listening;
  }

  /** After a failed request: a crash shows at the port before the end of the process is known. */
  async check(): Promise<void> {
    if (this.#listening && !(await isListening(this.port))) this.restart();
  }

  /** Ends the process; the loop starts it again at once, with the new files. */
  restart(): void {
    this.#listening = false;
    this.#failedBoots = 0;
    this.#backoff = FIRST_BACKOFF_MS;
    this.#wake.abort();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listening = false;
    this.#wake.abort();
    await this.#loop;
  }

  async #keepRunning(): Promise<void> {
    while (!this.#closed) {
      const wake = new AbortController();
      this.#wake = wake;
      const startedAt = Date.now();
      const how = await this.#run(wake.signal).catch((error: unknown) => String(error));
      if (wake.signal.aborted) continue;
      this.#failedBoots = this.#listening ? 0 : this.#failedBoots + 1;
      this.#listening = false;
      if (Date.now() - startedAt > STABLE_MS) this.#backoff = FIRST_BACKOFF_MS;
      console.error(`[${this.slug}] ended (${how}), starts again in ${this.#backoff} ms`);
      await sleep(this.#backoff, undefined, { signal: wake.signal }).catch(() => {});
      this.#backoff = Math.min(this.#backoff * 2, LONGEST_BACKOFF_MS);
    }
  }

  /** One life of the process, until it ends or is woken; says how it ended. */
  async #run(signal: AbortSignal): Promise<string> {
    const port = await freePort();
    if (signal.aborted) return "stopped";
    const child = this.#spawn(port);
    const exited = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, killedBy) => resolve(killedBy ?? `code ${code}`));
    });
    const woken = new Promise<string>((resolve) => {
      signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    });
    void this.#announce(child, port, signal);
    const how = await Promise.race([exited, woken]);
    await end(child);
    return how;
  }

  async #announce(child: ChildProcess, port: number, signal: AbortSignal): Promise<void> {
    const over = () => signal.aborted || hasEnded(child) || child.pid === undefined;
    while (!over()) {
      if (await isListening(port)) {
        if (over()) return;
        this.port = port;
        this.#listening = true;
        this.#failedBoots = 0;
        return;
      }
      await sleep(POLL_MS);
    }
  }

  #spawn(port: number): ChildProcess {
    const { projectDir, slug, env } = this.#options;
    const flags = [
      // The packages `npm ci` installed, exactly: nothing is fetched, nothing is written.
      ...["--node-modules-dir=manual", "--cached-only", "--no-lock", "--no-prompt"],
      // A function talks to the network and reads the variables it was given; no files, no programs.
      ...["--allow-net", "--allow-env"],
      ...["--preload", orphanGuard(process.pid)],
    ];
    const child = spawn(denoPath(), ["run", ...flags, `supabase/functions/${slug}/index.ts`], {
      cwd: projectDir,
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own: a Ctrl-C would end it at once, and look like a crash.
      detached: true,
      env: {
        ...env,
        DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
        DENO_DIR: join(projectDir, "node_modules", ".cache", "deno"),
        NO_COLOR: "1",
      },
    });
    for (const [stream, print] of [
      [child.stdout, console.log],
      [child.stderr, console.error],
    ] as const) {
      if (!stream) continue;
      createInterface(stream).on("line", (line) => {
        // The address is the gateway's business, and another one after every start.
        if (!line.startsWith("Listening on http://127.0.0.1:")) print(`[${slug}] ${line}`);
      });
    }
    return child;
  }
}

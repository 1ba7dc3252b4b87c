/**
 * The edge functions in real Deno, one process each, unchanged: the platform's path rule and its
 * variables, and the restarts that make a local run pleasant.
 */
import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { proxy } from "hono/proxy";
import { DenoProcess } from "./deno-process.ts";
import { errorResponse } from "./http.ts";

export interface Functions {
  /** Answers a request to `/functions/v1/<slug>/…`. */
  answer(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** As hosted: no answer in this time is a 504. */
const ANSWER_MS = 150_000;
const READY_MS = 10_000;
/** An editor writes a file in several steps. */
const DEBOUNCE_MS = 150;

/** Sends a request on to the function's process; the answer streams. */
async function forward(request: Request, slug: string, target: string): Promise<Response> {
  // The address the caller used; fetch sets `host` to the process' own.
  request.headers.set("x-forwarded-host", new URL(request.url).host);
  const timeout = AbortSignal.timeout(ANSWER_MS);
  try {
    return await proxy(target, {
      raw: request,
      signal: AbortSignal.any([request.signal, timeout]),
      redirect: "manual",
    });
  } catch (error) {
    if (request.signal.aborted) throw error;
    if (timeout.aborted) {
      return errorResponse(504, "IDLE_TIMEOUT", "The function did not answer in time.");
    }
    console.error(`[${slug}] did not answer: ${(error as Error).cause ?? error}`);
    return errorResponse(502, "WORKER_ERROR", "Function exited due to an error (see the log)");
  }
}

/** Calls back when a file of a function, or one they share, has changed. */
function watchFolders(folder: string, changed: (name: string) => void): () => void {
  const timers = new Map<string, NodeJS.Timeout>();
  const watchers = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const watcher = watch(join(folder, name), { recursive: true }, () => {
        clearTimeout(timers.get(name));
        timers.set(name, setTimeout(changed, DEBOUNCE_MS, name));
      });
      // Too many watches, or a removed folder: the convenience ends, the function goes on.
      watcher.on("error", () => watcher.close());
      return watcher;
    });
  return () => {
    for (const watcher of watchers) watcher.close();
    for (const timer of timers.values()) clearTimeout(timer);
  };
}

/**
 * Starts every function in the background; a request to one that is not up yet waits for it. `env` is
 * all that they see.
 */
export function startFunctions(options: {
  projectDir: string;
  env: Record<string, string>;
}): Functions {
  const folder = join(options.projectDir, "supabase", "functions");
  const slugs = readdirSync(folder).filter((name) => existsSync(join(folder, name, "index.ts")));
  const processes = new Map(slugs.map((slug) => [slug, new DenoProcess(slug, options)]));
  const unwatch = watchFolders(folder, (name) => {
    for (const child of processes.values()) {
      if (name.startsWith("_") || child.slug === name) child.restart();
    }
  });

  return {
    async answer(request) {
      const { pathname, search } = new URL(request.url);
      // The platform removes the prefix: the function sees a path that starts with its own name.
      const path = pathname.replace(/^\/functions\/v1/, "");
      const slug = path.split("/")[1] ?? "";
      const child = processes.get(slug);
      if (!child) return errorResponse(404, "NOT_FOUND", "Requested function was not found");
      const port = await child.port(READY_MS);
      if (port) return forward(request, slug, `http://127.0.0.1:${port}${path}${search}`);
      return errorResponse(503, "BOOT_ERROR", "Function failed to boot (please check logs)");
    },
    async close() {
      unwatch();
      await Promise.all([...processes.values()].map((child) => child.close()));
    },
  };
}

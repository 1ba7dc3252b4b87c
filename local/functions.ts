/**
 * The edge functions in real Deno, one process each, unchanged: the platform's path rule and its
 * variables, and the restarts that make a local run pleasant.
 */
import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { proxy } from "hono/proxy";
import { denoProcess } from "./deno-process.ts";
import { errorResponse } from "./http.ts";

const READY_MS = 10_000;
/** An editor writes a file in several steps. */
const DEBOUNCE_MS = 150;

/** Sends a request on to the function's process; the answer streams. */
async function forward(request: Request, slug: string, target: string): Promise<Response> {
  try {
    return await proxy(target, { raw: request, signal: request.signal, redirect: "manual" });
  } catch (error) {
    if (request.signal.aborted) throw error;
    console.error(`[${slug}] did not answer: ${(error as Error).cause ?? error}`);
    return errorResponse(502, "WORKER_ERROR", "Function exited due to an error (see the log)");
  }
}

/**
 * Starts every function in the background; a request to one that is not up yet waits for it. `env` is
 * all that they see.
 */
export function startFunctions(options: { projectDir: string; env: Record<string, string> }) {
  const folder = join(options.projectDir, "supabase", "functions");
  const slugs = readdirSync(folder).filter((name) => existsSync(join(folder, name, "index.ts")));
  const processes = new Map(
    slugs.map((slug) => [slug, denoProcess(slug, options.projectDir, options.env)]),
  );
  for (const child of processes.values()) void child.port();

  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      for (const child of processes.values()) {
        void child.stop();
        void child.port();
      }
    }, DEBOUNCE_MS);
  });
  // Too many watches: the convenience ends, the functions go on.
  watcher.on("error", () => watcher.close());

  return {
    /** Answers a request to `/functions/v1/<slug>/…`. */
    async answer(request: Request): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      // The platform removes the prefix: the function sees a path that starts with its own name.
      const path = pathname.replace(/^\/functions\/v1/, "");
      const slug = path.split("/")[1] ?? "";
      const child = processes.get(slug);
      if (!child) return errorResponse(404, "NOT_FOUND", "Requested function was not found");
      const late = sleep(READY_MS, undefined, { ref: false });
      const port = await Promise.race([child.port(), late]);
      if (port) return forward(request, slug, `http://127.0.0.1:${port}${path}${search}`);
      return errorResponse(503, "BOOT_ERROR", "Function failed to boot (please check logs)");
    },
    async close(): Promise<void> {
      watcher.close();
      clearTimeout(timer);
      await Promise.all([...processes.values()].map((child) => child.stop()));
    },
  };
}

/**
 * The edge functions in real Deno, one process each, unchanged: the platform's gate (`verify_jwt`),
 * its path rule and its variables, and the restarts that make a local run pleasant.
 */
import { existsSync, readdirSync, readFileSync, watch as watchFolder } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { DenoProcess } from "./deno-process.ts";
import { errorResponse, type Peer } from "./http-server.ts";

interface FunctionSettings {
  enabled: boolean;
  verify_jwt: boolean;
}

export interface FunctionsOptions {
  projectDir: string;
  config: { functions: Record<string, FunctionSettings> };
  /** The platform's `SUPABASE_…` variables and the project's secrets; nothing else is passed on. */
  env: Record<string, string>;
  /** Restart a function when its files change (default true). */
  watch?: boolean;
}

export interface Functions {
  /** Answers a request to `/functions/v1/<slug>/…`. */
  fetch(request: Request, peer: Peer): Promise<Response>;
  close(): Promise<void>;
}

/** As hosted: no answer in this time is a 504. */
const ANSWER_MS = 150_000;
const READY_MS = 10_000;
/** An editor writes a file in several steps. */
const DEBOUNCE_MS = 150;

const bootError = () =>
  errorResponse(503, "BOOT_ERROR", "Function failed to boot (please check logs)");

/**
 * Checks a token as the platform does: HS256 by the project's secret, ES256 and RS256 by its
 * published keys. Keys of the new generation (`sb_…`) are no tokens and do not pass.
 */
function tokenCheck(jwks: string | undefined): (request: Request) => Promise<boolean> {
  const { keys = [] } = JSON.parse(jwks ?? "{}") as { keys?: { kty: string; k?: string }[] };
  const secret = keys.find(({ kty }) => kty === "oct")?.k;
  const published = createLocalJWKSet({ keys: keys.filter(({ kty }) => kty !== "oct") });
  return async (request) => {
    const token = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
    try {
      if (decodeProtectedHeader(token).alg !== "HS256") {
        await jwtVerify(token, published, { algorithms: ["ES256", "RS256"] });
        return true;
      }
      if (!secret) return false;
      await jwtVerify(token, Buffer.from(secret, "base64url"), { algorithms: ["HS256"] });
      return true;
    } catch {
      return false;
    }
  };
}

/** Sends a request on to the function's process; the answer streams. */
async function forward(request: Request, process: DenoProcess, path: string): Promise<Response> {
  const { headers, method, body, signal: aborted } = request;
  // Compressing on this machine gains nothing, and fetch would undo it behind our back.
  headers.set("accept-encoding", "identity");
  headers.delete("content-length");
  // The address the caller used; fetch sets `host` to the process' own.
  headers.set("x-forwarded-host", new URL(request.url).host);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), ANSWER_MS);
  try {
    const signal = AbortSignal.any([aborted, timeout.signal]);
    const init = { method, headers, body, signal, redirect: "manual", duplex: "half" };
    const answer = await fetch(`http://127.0.0.1:${process.port}${path}`, init as RequestInit);
    const answered = new Headers(answer.headers);
    if (answered.has("content-encoding")) {
      answered.delete("content-encoding");
      answered.delete("content-length");
    }
    return new Response(answer.body, { status: answer.status, headers: answered });
  } catch (error) {
    if (aborted.aborted) throw error;
    if (timeout.signal.aborted) {
      return errorResponse(504, "IDLE_TIMEOUT", "The function did not answer in time.");
    }
    const { cause = error } = error as { cause?: unknown };
    console.error(`[${process.slug}] did not answer: ${cause}`);
    await process.check();
    return errorResponse(502, "WORKER_ERROR", "Function exited due to an error (see the log)");
  } finally {
    clearTimeout(timer);
  }
}

/** Calls back when a file of a function, or one they share, has changed. */
function watchFunctions(folder: string, changed: (slug: string | undefined) => void): () => void {
  const timers = new Map<string, NodeJS.Timeout>();
  const watchers = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const watcher = watchFolder(join(folder, name), { recursive: true }, () => {
        clearTimeout(timers.get(name));
        const notify = () => changed(name.startsWith("_") ? undefined : name);
        timers.set(name, setTimeout(notify, DEBOUNCE_MS));
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

/** Starts every function in the background; a request to one that is not up yet waits for it. */
export async function startFunctions(options: FunctionsOptions): Promise<Functions> {
  const { projectDir, config } = options;
  const folder = join(projectDir, "supabase", "functions");
  const envFile = join(folder, ".env");
  const ownEnv = existsSync(envFile) ? parseEnv(readFileSync(envFile, "utf8")) : {};
  // The prefix belongs to the platform: a file cannot replace its variables.
  const secrets = Object.entries(ownEnv).filter(([name]) => !name.startsWith("SUPABASE_"));
  const env = { ...options.env, ...(Object.fromEntries(secrets) as Record<string, string>) };

  const isFunction = (slug: string) =>
    /^[A-Za-z0-9][\w-]*$/.test(slug) &&
    existsSync(join(folder, slug, "index.ts")) &&
    (config.functions[slug]?.enabled ?? true);
  const slugs = existsSync(folder) ? readdirSync(folder).filter(isFunction) : [];
  const processes = new Map(
    slugs.map((slug) => [slug, new DenoProcess({ projectDir, slug, env })]),
  );
  const isValid = tokenCheck(env.SUPABASE_JWKS);
  const unwatch =
    (options.watch ?? true) && slugs.length > 0
      ? watchFunctions(folder, (slug) => {
          for (const child of processes.values()) {
            if (slug === undefined || child.slug === slug) child.restart();
          }
        })
      : () => {};

  return {
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      // The platform removes the prefix: the function sees a path that starts with its own name.
      const path = pathname.replace(/^\/functions\/v1(?=\/|$)/, "");
      const slug = path.split("/")[1] ?? "";
      const child = processes.get(slug);
      if (!child) return errorResponse(404, "NOT_FOUND", "Requested function was not found");
      const verify = config.functions[slug]?.verify_jwt ?? true;
      if (verify && request.method !== "OPTIONS" && !(await isValid(request))) {
        return errorResponse(401, "UNAUTHORIZED_INVALID_JWT_FORMAT", "Invalid JWT");
      }
      if (!(await child.ready(READY_MS))) return bootError();
      return forward(request, child, path + search);
    },
    async close() {
      unwatch();
      await Promise.all([...processes.values()].map((child) => child.close()));
    },
  };
}

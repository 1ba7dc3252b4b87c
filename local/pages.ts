/** The pages of `pages/`, built for this stack and served as a static host would. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { text } from "node:stream/consumers";
import { createApp, type Listener, serve } from "./http.ts";

/** Whose booking page it is when the address names nobody: the seed's. */
const PROFESSIONAL = "ana";

const TYPES: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** What a host should send with every file; README lists them. The policy itself is in the pages. */
const HEADERS = {
  "content-security-policy": "frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

export interface PagesOptions {
  projectDir: string;
  outDir: string;
  apiUrl: string;
  publishableKey: string;
  signal?: AbortSignal | undefined;
}

/** In a process of its own: a build of Vite changes `NODE_ENV` of the one that it is in. */
export async function buildPages(options: PagesOptions): Promise<void> {
  const { projectDir, outDir, apiUrl, publishableKey, signal } = options;
  const vite = join(projectDir, "node_modules/vite/bin/vite.js");
  const args = ["build", "--config", "pages/vite.config.ts", "--outDir", outDir];
  const { NODE_ENV: _, ...rest } = process.env;
  const env = {
    ...rest,
    VITE_API_URL: apiUrl,
    VITE_PUBLISHABLE_KEY: publishableKey,
    VITE_PROFESSIONAL: PROFESSIONAL,
    VITE_IMAGES: "",
  };
  const child = spawn(process.execPath, [vite, ...args, "--logLevel", "warn"], {
    cwd: projectDir,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    ...(signal && { signal }),
  });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`The pages could not be built:\n${(await said).join("")}`);
}

/** Every file by its path in an address. What is not in it is not served, however the path is spelt. */
function filesOf(dir: string): Map<string, { body: Buffer<ArrayBuffer>; type: string }> {
  const files = new Map();
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(dir.length).split(sep).join("/");
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    files.set(path.replace(/\/index\.html$/, "/"), { body: readFileSync(file), type });
  }
  return files;
}

export function servePages(dir: string, port: number): Promise<Listener> {
  const files = filesOf(dir);
  const app = createApp();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
  });
  app.get("*", (c) => {
    const { path } = c.req;
    const file = files.get(path);
    if (!file) {
      const query = new URL(c.req.url).search;
      return files.has(`${path}/`) ? c.redirect(`${path}/${query}`) : c.notFound();
    }
    // The names of assets change with their content.
    const cache = path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    return c.body(file.body, 200, { "content-type": file.type, "cache-control": cache });
  });
  return serve(app, port);
}

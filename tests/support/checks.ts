/** What needs no stack and no test: format, lint and types, of the tests and of the functions. */
import { spawn } from "node:child_process";
import { setMaxListeners } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_DIR } from "../../local/state.ts";

export interface Outcome {
  code: number;
  output: string;
}

/** Never rejects: a tool that cannot run has failed like one that found something. */
function tool(name: string, args: string[], signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(join(PROJECT_DIR, "node_modules/.bin", name), args, {
      cwd: PROJECT_DIR,
      env: {
        ...process.env,
        DENO_DIR: join(PROJECT_DIR, "node_modules/.cache/deno"),
        NO_COLOR: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    let output = "";
    const collect = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: output.trim() }));
  });
}

/** Runs a step, says how it went, and shows its output when it failed. */
export async function step(name: string, run: Promise<Outcome>): Promise<boolean> {
  const begin = performance.now();
  const { code, output } = await run;
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (code !== 0) console.log(output);
  return code === 0;
}

/** The packages `npm ci` installed, exactly; as the local stack runs the functions. */
const DENO_FLAGS = ["--node-modules-dir=manual", "--cached-only", "--no-lock"];

export function staticChecks(signal: AbortSignal): Promise<boolean[]> {
  // A listener for each tool at once; more than ten are no leak here.
  setMaxListeners(0, signal);
  const folder = "supabase/functions";
  const entries = readdirSync(join(PROJECT_DIR, folder))
    .map((slug) => `${folder}/${slug}/index.ts`)
    .filter((entry) => existsSync(join(PROJECT_DIR, entry)));
  return Promise.all([
    step("biome check", tool("biome", ["check", "."], signal)),
    // Remembers in node_modules/.cache what it has seen, and looks at what changed.
    step("tsc", tool("tsc", [], signal)),
    // Apart: what runs in a browser knows no Node.
    step("tsc pages", tool("tsc", ["--project", "pages"], signal)),
    // One by one: each function has a deno.json of its own.
    ...entries.map((entry) =>
      step(`deno check ${entry}`, tool("deno", ["check", ...DENO_FLAGS, entry], signal)),
    ),
  ]);
}

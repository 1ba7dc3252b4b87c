/**
 * `npm test`: lint, type checks, the platform's advisors and the tests, which talk to a stack over
 * HTTP and SQL. The stack is the one named by the variables below, or one made for the occasion.
 * Arguments after `npm test --` go to vitest.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliTarget, deprecations, supabase } from "../local/migrate.ts";
import { freePorts, UserError } from "../local/ports.ts";
import { type Stack, startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";

const STACK_VARIABLES = [
  "API_URL",
  "DB_URL",
  "PUBLISHABLE_KEY",
  "SECRET_KEY",
  "JWT_SECRET",
  "MAILPIT_URL",
];

interface Outcome {
  code: number;
  output: string;
}

const abort = new AbortController();

/** Never rejects: a tool that cannot run has failed like one that found something. */
function tool(name: string, args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(join(PROJECT_DIR, "node_modules/.bin", name), args, {
      cwd: PROJECT_DIR,
      env: {
        ...process.env,
        DENO_DIR: join(PROJECT_DIR, "node_modules/.cache/deno"),
        NO_COLOR: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
      signal: abort.signal,
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
async function step(name: string, run: Promise<Outcome>): Promise<boolean> {
  const begin = performance.now();
  const { code, output } = await run;
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (code !== 0) console.log(output);
  return code === 0;
}

/** The packages `npm ci` installed, exactly; as the local stack runs the functions. */
const DENO_FLAGS = ["--node-modules-dir=manual", "--cached-only", "--no-lock"];

function staticChecks(): Promise<boolean>[] {
  const folder = "supabase/functions";
  const slugs = existsSync(join(PROJECT_DIR, folder)) ? readdirSync(join(PROJECT_DIR, folder)) : [];
  const entries = slugs
    .map((slug) => `${folder}/${slug}/index.ts`)
    .filter((entry) => existsSync(join(PROJECT_DIR, entry)));
  return [
    step("biome check", tool("biome", ["check", "."])),
    step("tsc", tool("tsc", ["--noEmit"])),
    // One by one: each function has a deno.json of its own.
    ...entries.map((entry) =>
      step(`deno check ${entry}`, tool("deno", ["check", ...DENO_FLAGS, entry])),
    ),
  ];
}

async function advisors(dbUrl: string): Promise<Outcome> {
  const args = ["db", "advisors", cliTarget(dbUrl), "--fail-on", "warn"];
  const { code, output } = await supabase(PROJECT_DIR, args, abort.signal);
  return { code: code || deprecations(output).length, output };
}

function vitest(env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const args = [join(PROJECT_DIR, "node_modules/vitest/vitest.mjs"), "run"];
    const child = spawn(process.execPath, [...args, ...process.argv.slice(2)], {
      cwd: PROJECT_DIR,
      env,
      stdio: "inherit",
      signal: abort.signal,
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0));
  });
}

async function testStack(dataDir: string, warn: (line: string) => void): Promise<Stack> {
  return startStack({
    ...(await freePorts()),
    projectDir: PROJECT_DIR,
    dataDir,
    fsync: false,
    signal: abort.signal,
    warn,
  });
}

async function main(dataDir: string): Promise<boolean> {
  const checks = Promise.all(staticChecks());
  const warnings: string[] = [];
  let stack: Stack | undefined;
  try {
    if (STACK_VARIABLES.some((name) => !process.env[name])) {
      stack = await testStack(dataDir, (line) => warnings.push(line));
    }
    const env = { ...process.env, ...stack?.env };
    const start = { code: warnings.length, output: warnings.join("\n") };
    const results = [
      await step("no warning from the start", Promise.resolve(start)),
      await step("supabase db advisors", advisors(env.DB_URL ?? "")),
      ...(await checks),
      await vitest(env),
    ];
    return results.every(Boolean);
  } finally {
    await stack?.stop();
    // Also when the stack did not start: what lint and types say may be why.
    await checks;
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => abort.abort(new UserError(`Stopped by ${signal}.`)));
}
const dataDir = mkdtempSync(join(tmpdir(), "stack-"));
try {
  process.exitCode = (await main(dataDir)) ? 0 : 1;
} catch (error) {
  const expected = abort.signal.aborted ? abort.signal.reason : error;
  console.error(expected instanceof UserError ? expected.message : expected);
  process.exitCode = 1;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
// The stack's API may hold timers; nothing of ours is left to wait for.
process.exit();

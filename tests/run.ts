/**
 * `npm test`: lint, type checks, the platform's advisors and the tests, which talk to a stack over
 * HTTP and SQL. The stack is the one named by the variables below, or one made for the occasion.
 * Arguments after `npm test --` go to vitest.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliTarget, deprecations, supabase } from "../local/migrate.ts";
import { UserError } from "../local/ports.ts";
import { type Stack, startStack } from "../local/stack.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { freePorts } from "../scripts/free-ports.ts";
import { type Outcome, staticChecks, step } from "./support/checks.ts";
import { findChromium, LEFT_OUT } from "./support/chromium.ts";
import { withWideLimits } from "./support/limits.ts";

const STACK_VARIABLES = [
  "API_URL",
  "DB_URL",
  "PUBLISHABLE_KEY",
  "SECRET_KEY",
  "JWT_SECRET",
  "MAILPIT_URL",
];

const abort = new AbortController();

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
  const chromium = findChromium();
  const checks = staticChecks(abort.signal);
  const warnings: string[] = [];
  let stack: Stack | undefined;
  try {
    if (STACK_VARIABLES.some((name) => !process.env[name])) {
      stack = await testStack(dataDir, (line) => warnings.push(line));
    }
    const env = { ...process.env, ...stack?.env };
    const dbUrl = env.DB_URL ?? "";
    const start = { code: warnings.length, output: warnings.join("\n") };
    const results = [
      await step("no warning from the start", Promise.resolve(start)),
      await step("supabase db advisors", advisors(dbUrl)),
      ...(await checks),
      await withWideLimits(dbUrl, () => vitest(env)),
    ];
    if (!chromium) console.log(LEFT_OUT);
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
// Whoever reads may go before the end (`npm test | head`): what was started is stopped all the same.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", () => abort.abort(new UserError("Stopped: nobody reads what it says.")));
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

/** `npm test` whose reader goes before its end, as in `npm test | head`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { PROJECT_DIR } from "../../local/state.ts";

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a run that nobody reads any more stops what it has started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runner-"));
  // The database may run as another user than whoever made the folder.
  chmodSync(folder, 0o755);
  // With no stack named it makes its own, below this folder.
  const { PATH, HOME } = process.env;
  const run = spawn(process.execPath, ["--import", "tsx", "tests/run.ts", "tests/names.test.ts"], {
    cwd: PROJECT_DIR,
    env: { PATH, HOME, TMPDIR: folder },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const made = () => readdirSync(folder).filter((name) => name.startsWith("stack-"));
  const database = await vi.waitFor(
    () => {
      const lock = join(folder, made()[0] ?? "", "postgres/postmaster.pid");
      return Number(readFileSync(lock, "utf8").split("\n")[0]);
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(isAlive(database)).toBe(true);
  const ended = once(run, "exit");
  run.stdout.destroy();
  expect(await ended).toEqual([1, null]);
  expect(isAlive(database)).toBe(false);
  expect(made()).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

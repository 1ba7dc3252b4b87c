import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { UserError } from "../../local/ports.ts";
import { findChromium, LEFT_OUT } from "../support/chromium.ts";

const PATH = "/usr/local/bin:/usr/bin";

/** On a machine with these programs. */
const find = (env: Record<string, string>, ...programs: string[]) =>
  findChromium(env, (path) => programs.includes(path));

test.each(["chromium", "chromium-browser", "google-chrome"])("%s in PATH is found", (name) => {
  expect(find({ PATH }, `/usr/bin/${name}`)).toBe(`/usr/bin/${name}`);
});

test("the first folder of PATH wins, and CHROMIUM_PATH over all", () => {
  const programs = ["/usr/bin/chromium", "/usr/local/bin/google-chrome", "/opt/chrome"];
  expect(find({ PATH }, ...programs)).toBe("/usr/local/bin/google-chrome");
  expect(find({ PATH, CHROMIUM_PATH: "/opt/chrome" }, ...programs)).toBe("/opt/chrome");
});

test("without one the tests of the pages are left out, in words that say how to get it", () => {
  expect(find({ PATH })).toBeUndefined();
  expect(find({})).toBeUndefined();
  expect(LEFT_OUT).toMatch(/left out.*\n.*apt-get install chromium.*CHROMIUM_PATH=/);
});

test("where a browser is required, none is a failure", () => {
  const env = { PATH, REQUIRE_BROWSER: "1" };
  expect(() => find(env)).toThrow(UserError);
  expect(find(env, "/usr/bin/chromium")).toBe("/usr/bin/chromium");
});

test("a CHROMIUM_PATH that leads nowhere is a failure, whatever else is there", () => {
  expect(() => find({ PATH, CHROMIUM_PATH: "/opt/chrome" }, "/usr/bin/chromium")).toThrow(
    UserError,
  );
});

test("npm test says at its very end that they were left out", () => {
  const runner = readFileSync(new URL("../run.ts", import.meta.url), "utf8");
  // Behind the last thing that prints.
  expect(runner).toMatch(
    /withWideLimits\(.*\n\s*\];\n\s*if \(!chromium\) console\.log\(LEFT_OUT\);\n\s*return /,
  );
});

describe(".ci/run", () => {
  const folder = mkdtempSync(join(tmpdir(), "ci-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What it calls on a machine that has these programs, each of which only says how it was called. */
  function calls(name: string, ...programs: string[]): string[] {
    const bin = join(folder, name);
    mkdirSync(bin);
    const log = join(bin, "log");
    for (const program of ["npm", "apt-get", "sudo", ...programs]) {
      const call = `echo "\${REQUIRE_BROWSER:+REQUIRE_BROWSER=$REQUIRE_BROWSER }${program} $*" >> ${log}`;
      const then =
        { sudo: '"$@"', "apt-get": name === "apt-fails" ? '[ "$1" = update ] || exit 100' : "" }[
          program
        ] ?? "";
      writeFileSync(join(bin, program), `#!/bin/sh\n${call}\n${then}\n`, { mode: 0o755 });
    }
    // Debian keeps these in one folder with Chromium.
    for (const tool of ["bash", "dirname", "env", "id", "sh"]) {
      const path = execFileSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).trim();
      symlinkSync(path, join(bin, tool));
    }
    const script = fileURLToPath(new URL("../../.ci/run", import.meta.url));
    const { status } = spawnSync("bash", [script], { env: { PATH: bin } });
    const said = readFileSync(log, "utf8").trim().split("\n");
    return [...said.filter((line) => !line.startsWith("sudo ")), `exit ${status}`];
  }

  test("installs Chromium with apt where there is none, and asks npm test for a browser", () => {
    expect(calls("without")).toEqual([
      "apt-get update -q",
      "apt-get install -q -y --no-install-recommends chromium",
      "npm ci --no-audit --no-fund",
      "REQUIRE_BROWSER=1 npm test",
      "exit 0",
    ]);
    expect(calls("with", "chromium")).toEqual([
      "npm ci --no-audit --no-fund",
      "REQUIRE_BROWSER=1 npm test",
      "exit 0",
    ]);
  });

  test("fails where it cannot be installed", () => {
    expect(calls("apt-fails")).toEqual([
      "apt-get update -q",
      "apt-get install -q -y --no-install-recommends chromium",
      "exit 100",
    ]);
  });
});

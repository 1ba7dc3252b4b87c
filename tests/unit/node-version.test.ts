/** Which Node is enough: what package.json says holds for what is installed, and `npm start` says it too. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PROJECT_DIR } from "../../local/state.ts";

interface Package {
  version: string;
  engines?: { node?: string };
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
}

const read = (...path: string[]) =>
  JSON.parse(readFileSync(join(PROJECT_DIR, ...path, "package.json"), "utf8")) as Package;

const { engines, scripts, devDependencies } = read();
const FLOOR = "20.19.0";

const parts = (version: string) => version.split(".").map(Number);

function compare(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  const at = [0, 1, 2].find((n) => (left[n] ?? 0) !== (right[n] ?? 0));
  return at === undefined ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

/** As npm reads a range, as far as packages use it. */
function admits(range: string, version: string): boolean {
  const meets = (part: string) => {
    const [, sign = "", than = "0"] = /^(\^|>=|>|<=|<|~)?v?([\d.]+)(?:\.x)?$/.exec(part) ?? [];
    if (!/\d/.test(part)) return part === "*";
    const order = compare(version, than);
    if (sign === ">=") return order >= 0;
    if (sign === ">") return order > 0;
    if (sign === "<") return order < 0;
    if (sign === "<=") return order <= 0;
    return order >= 0 && parts(version)[0] === parts(than)[0];
  };
  const spaced = range.replace(/([<>=^~]+)\s+/g, "$1");
  return spaced.split("||").some((all) => all.trim().split(/\s+/).every(meets));
}

test("ranges are read as npm reads them", () => {
  const ok = ["^20.19.0 || >=22.12.0", ">=18", ">= 20", "20.x || 22.x", "*", ">=20 <21", "^20.0.0"];
  expect(ok.filter((range) => !admits(range, FLOOR))).toEqual([]);
  const refused = [">=22.0.0", "^18 || ^22", ">=20.20", ">=18 <20"];
  expect(refused.filter((range) => admits(range, FLOOR))).toEqual([]);
});

test("package.json names the floor, and that of the client the same", () => {
  expect(engines?.node).toBe(">=20.19");
  expect(read("client").engines?.node).toBe(">=20.19");
});

describe("what is installed runs on the floor", () => {
  test.each(Object.keys(devDependencies))("%s", (name) => {
    expect(admits(read("node_modules", name).engines?.node ?? "*", FLOOR)).toBe(true);
  });
});

test("supabase-js is of a release before the first that wants Node 22", () => {
  const { version } = read("node_modules", "@supabase/supabase-js");
  expect(compare(version, "2.110.0")).toBeLessThan(0);
});

describe("npm start", () => {
  const run = (version: string) => {
    const as = `Object.defineProperty(process.versions, "node", { value: "${version}" });`;
    const code = `${as} require("./local/require-node.cjs")`;
    return spawnSync(process.execPath, ["-e", code], { cwd: PROJECT_DIR, encoding: "utf8" });
  };

  test("asks which Node it has before it does anything", () => {
    expect(scripts.start).toMatch(/^node local\/require-node\.cjs && /);
  });

  test.each(["12.22.12", "18.20.8", "20.18.3"])("refuses Node %s in one line", (version) => {
    const { status, stderr } = run(version);
    expect(status).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      `Node 20.19 or newer is needed; this is ${version}.`,
    ]);
  });

  test.each(["20.19.0", "20.20.2", "22.12.0", "26.0.0"])("takes Node %s", (version) => {
    expect(run(version)).toMatchObject({ status: 0, stderr: "" });
  });
});

import { expect, test } from "vitest";
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

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Package {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const lockFile = new URL("../../package-lock.json", import.meta.url);
const { packages } = JSON.parse(readFileSync(lockFile, "utf8")) as {
  packages: Record<string, Package>;
};

/** Whether a package at this place finds the other, in its own folder or in one above it. */
function finds(place: string, name: string): boolean {
  for (let at = place; ; at = at.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, "")) {
    if (`${at}${at && "/"}node_modules/${name}` in packages) return true;
    if (at === "") return false;
  }
}

// npm leaves an optional package out of the lock file where the registry does not have it, and then `npm ci` of
// npm 11 refuses the file.
test("the lock file has every package that another one in it asks for", () => {
  const missing = Object.entries(packages).flatMap(([place, its]) =>
    Object.keys({ ...its.dependencies, ...its.devDependencies, ...its.optionalDependencies })
      .filter((name) => !finds(place, name))
      .map((name) => `${place || "the project"} asks for ${name}`),
  );
  expect(missing).toEqual([]);
});

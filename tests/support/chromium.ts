/** Whether the tests of the pages can run here: they need a Chromium, which npm does not install. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "../../local/ports.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

const HOW = "`apt-get install chromium`, or CHROMIUM_PATH=… with the path of a Chromium or Chrome";

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of the browser: `CHROMIUM_PATH`, else the first one in `PATH`; undefined without one. */
export function findChromium(
  env: Record<string, string | undefined> = process.env,
  exists: (path: string) => boolean = isExecutable,
): string | undefined {
  const { CHROMIUM_PATH, PATH = "", REQUIRE_BROWSER } = env;
  if (CHROMIUM_PATH) {
    if (exists(CHROMIUM_PATH)) return CHROMIUM_PATH;
    throw new UserError(`CHROMIUM_PATH=${CHROMIUM_PATH} is not a program.`);
  }
  const folders = PATH.split(delimiter).filter(Boolean);
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(exists);
  if (!found && REQUIRE_BROWSER === "1") {
    throw new UserError(`REQUIRE_BROWSER=1, but there is no Chromium here: ${HOW}.`);
  }
  return found;
}

export const LEFT_OUT = `
The tests of the pages (tests/browser) were left out: there is no Chromium here.
${HOW}, brings them.`;

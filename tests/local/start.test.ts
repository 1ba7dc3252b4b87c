/**
 * `npm start` from nothing, in a copy of the project below a folder that nobody but its owner may
 * pass: as root the database runs as another user, who may not even look into that folder.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { localKeys } from "../../local/keys.ts";
import type { Ports } from "../../local/ports.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { freePortsWithPages } from "../../scripts/free-ports.ts";
import { waitForMails } from "../support/portal.ts";
import { stack } from "../support/stack.ts";

const ANA = "a0000000-0000-4000-8000-000000000001";
const IS_ROOT = process.getuid?.() === 0;
/** A first start on a busy machine. */
const LONG_MS = 120_000;

function linkFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another file system, or another owner.
    copyFileSync(from, to);
  }
}

/** Copies a folder by linking its files, which takes no time and no space. */
function linkFolder(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkFile(source, target);
  }
}

let folder: string;
let project: string;
let ports: Ports & { pagesPort: number };
let running: ChildProcess | undefined;

beforeAll(async () => {
  // Mode 700.
  folder = mkdtempSync(join(tmpdir(), "start-"));
  project = join(folder, "project");
  mkdirSync(project);
  for (const name of ["client", "local", "pages", "supabase", "package.json", "tsconfig.json"]) {
    cpSync(join(PROJECT_DIR, name), join(project, name), { recursive: true });
  }
  linkFolder(join(PROJECT_DIR, "node_modules"), join(project, "node_modules"));
  ports = await freePortsWithPages();
}, LONG_MS);

const stop = async (): Promise<unknown> => {
  const ended = running;
  running = undefined;
  if (!ended || ended.exitCode !== null) return ended?.exitCode;
  const exited = once(ended, "exit");
  ended.kill("SIGTERM");
  return (await exited)[0];
};

afterEach(stop);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Root of a container that does not have these capabilities. */
const without = (...names: string[]) => [
  "setpriv",
  `--bounding-set=${names.map((name) => `-${name}`).join()}`,
  "--",
];

/**
 * Starts the copy with nothing but these variables, below the command `within`, and returns what it
 * said until it was ready.
 */
async function start(
  variables: Record<string, string> = {},
  within: string[] = [],
): Promise<string[]> {
  const [command, ...args] = [...within, process.execPath, "--import", "tsx", "local/start.ts"];
  const child = spawn(command as string, args, {
    cwd: project,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      API_PORT: String(ports.apiPort),
      DB_PORT: String(ports.dbPort),
      MAIL_PORT: String(ports.mailPort),
      PAGES_PORT: String(ports.pagesPort),
      ...variables,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running = child;
  const lines: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on("line", (line) => {
        lines.push(line);
        if (line.startsWith("Ctrl-C")) resolve();
      });
    }
    child.once("close", () => reject(new Error(lines.join("\n"))));
  });
  await ready;
  return lines;
}

const call = (path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${ports.apiPort}${path}`, init);

const pagesUrl = () => `http://127.0.0.1:${ports.pagesPort}`;

async function servedPage(): Promise<unknown> {
  const headers = { apikey: (await localKeys()).PUBLISHABLE_KEY };
  const page = await call("/rest/v1/rpc/booking_page?username=ana", { headers });
  return page.json();
}

/** Whom the database runs as: an ordinary user's own, root's runs as `postgres`. */
const serverUid = () =>
  Number(execFileSync("id", IS_ROOT ? ["-u", "postgres"] : ["-u"], { encoding: "utf8" }));

const serverPid = () =>
  Number(readFileSync(join(project, ".local/postgres/postmaster.pid"), "utf8").split("\n")[0]);

test(
  "a start says what it does and how long it took, serves the seed and stops when asked to",
  async () => {
    /** Each step that began and ended, in order. */
    const steps = (lines: string[]) =>
      lines.flatMap((line) => /^(.+): \d+\.\d s$/.exec(line)?.[1] ?? []);
    const first = await start();
    const names = steps(first).map((name) => name.replace(/\d+/, "n"));
    expect(names).toEqual([
      "Making a database",
      "Starting REST and auth",
      "Applying n migrations and the seed",
      "Building the pages",
    ]);
    expect(first.filter((line) => line.endsWith("…"))).toHaveLength(names.length);
    expect(first.some((line) => /^Ready after \d+\.\d s\.$/.test(line))).toBe(true);
    expect(await servedPage()).toMatchObject({ professional: { username: "ana" } });
    expect(await stop()).toBe(0);
    expect(steps(await start())).toEqual([
      "Starting the database",
      "Starting REST and auth",
      "Building the pages",
    ]);
  },
  LONG_MS,
);

test(
  "the database runs as another user than root, with the right to pass and no other",
  async () => {
    await start();
    const pid = serverPid();
    const uid = Number(execFileSync("ps", ["-o", "uid=", "-p", String(pid)], { encoding: "utf8" }));
    expect(uid).toBe(serverUid());
    if (process.platform === "linux") {
      const rights = /^CapEff:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      // Bit 2 of the kernel's list is CAP_DAC_READ_SEARCH.
      expect(Number.parseInt(rights ?? "", 16)).toBe(IS_ROOT ? 1 << 2 : 0);
    }
  },
  LONG_MS,
);

describe.each(IS_ROOT ? ["of a container"] : [])("root %s", () => {
  test(
    "that has only the stronger right passes by that one",
    async () => {
      await start({}, without("dac_read_search"));
      const status = readFileSync(`/proc/${serverPid()}/status`, "utf8");
      // Bit 1 is CAP_DAC_OVERRIDE.
      expect(/^CapEff:\s*0*(\w+)$/m.exec(status)?.[1]).toBe("2");
    },
    LONG_MS,
  );

  test.each([["dac_read_search", "dac_override"], ["setpcap"]])(
    "without %s is told what to do instead, and no database runs",
    async (...rights) => {
      await expect(start({}, without(...rights))).rejects.toThrow("start it as an ordinary user");
      expect(existsSync(join(project, ".local/postgres/postmaster.pid"))).toBe(false);
    },
    LONG_MS,
  );
});

test(
  "a second start is refused; what a killed one leaves behind is no hindrance",
  async () => {
    await start();
    const first = running;
    const orphan = serverPid();
    await expect(start()).rejects.toThrow(`already runs at http://127.0.0.1:${ports.apiPort}`);
    first?.kill("SIGKILL");
    await once(first as ChildProcess, "exit");
    await start();
    expect(serverPid()).not.toBe(orphan);
    expect(await servedPage()).toMatchObject({ professional: { username: "ana" } });
  },
  LONG_MS,
);

test(
  "a function that broke, was mended or was killed answers as its files say",
  async () => {
    await start();
    const file = join(project, "supabase/functions/send-portal-otp/index.ts");
    const source = readFileSync(file, "utf8");
    const answer = async () => (await call("/functions/v1/send-portal-otp")).status;
    expect(await answer()).toBe(405);
    writeFileSync(file, "throw new Error()");
    await vi.waitFor(async () => expect(await answer()).toBe(503), { timeout: 20_000 });
    writeFileSync(file, source);
    await vi.waitFor(async () => expect(await answer()).toBe(405), { timeout: 20_000 });
    // By its folder: the tests beside this one have such a process too.
    const pids = execFileSync("pgrep", ["-P", String(running?.pid), "-f", "send-portal-otp"]);
    process.kill(Number(String(pids)), "SIGKILL");
    await vi.waitFor(async () => expect(await answer()).toBe(405), { timeout: 20_000 });
  },
  LONG_MS,
);

test(
  "the pages' address comes first, and mails lead to that port",
  async () => {
    const lines = await start({ PAYMENTS_RETURN_URLS: "https://pay.example.com" });
    const addresses = lines.filter((line) => line.includes("http://"));
    expect(addresses[0]).toBe(`Open ${pagesUrl()}/?professional=ana`);
    const page = await fetch(`${pagesUrl()}/`);
    expect(await page.text()).toContain(`connect-src 'self' http://127.0.0.1:${ports.apiPort}`);
    await call("/functions/v1/send-portal-otp", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "marta@example.com", professionalId: ANA }),
    });
    await vi.waitFor(async () => {
      const latest = `http://127.0.0.1:${ports.mailPort}/api/v1/message/latest`;
      const { Text } = await (await fetch(latest)).json();
      expect(Text).toContain(`${pagesUrl()}/portal/#professional=`);
    }, 15_000);
  },
  LONG_MS,
);

test(
  "a variable of the shell wins over the development value, and over the mail catcher",
  async () => {
    await start({
      CORS_ORIGINS: "https://app.example.com",
      PORTAL_URL: "https://portal.example.com/sign-in",
      MAIL_FROM: "shell@example.com",
      MAILPIT_URL: stack.mailUrl,
    });
    const response = await call("/functions/v1/send-portal-otp", {
      method: "POST",
      headers: { "content-type": "application/json", origin: "https://app.example.com" },
      body: JSON.stringify({ email: "marta@example.com", professionalId: ANA }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    await vi.waitFor(
      async () => {
        const mails = await waitForMails("marta@example.com", 1);
        const ours = mails.find(({ From }) => From.Address === "shell@example.com");
        expect(ours?.Text).toContain("https://portal.example.com/sign-in");
      },
      { timeout: 15_000 },
    );
  },
  LONG_MS,
);

test(
  "data that root copied, and so took over, serve again",
  async () => {
    if (IS_ROOT) execFileSync("chown", ["-R", "0:0", join(project, ".local/postgres")]);
    await start();
    expect(await servedPage()).toMatchObject({ professional: { username: "ana" } });
    const { uid } = statSync(join(project, ".local/postgres/PG_VERSION"));
    expect(uid).toBe(serverUid());
  },
  LONG_MS,
);

/** What serves the pages on this machine, and the addresses that follow its port. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { developmentEnv, projectEnv } from "../../../local/config.ts";
import { servePages } from "../../../local/pages.ts";
import { portsFromEnv } from "../../../local/ports.ts";
import { PROJECT_DIR } from "../../../local/state.ts";
import { freePortsWithPages } from "../../../scripts/free-ports.ts";

const folder = mkdtempSync(join(tmpdir(), "pages-"));
let server: Awaited<ReturnType<typeof servePages>>;

beforeAll(async () => {
  const dir = join(folder, "site");
  mkdirSync(join(dir, "portal"), { recursive: true });
  mkdirSync(join(dir, "assets"));
  writeFileSync(join(dir, "index.html"), "booking");
  writeFileSync(join(dir, "portal/index.html"), "portal");
  writeFileSync(join(dir, "assets/a-1.js"), "1");
  writeFileSync(join(folder, "secret.txt"), "secret");
  server = await servePages(dir, 0);
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = (path: string) => fetch(`${server.url}${path}`, { redirect: "manual" });

test.each([
  ["/", "booking", "text/html; charset=utf-8", "no-cache"],
  ["/?professional=ana", "booking", "text/html; charset=utf-8", "no-cache"],
  ["/portal/", "portal", "text/html; charset=utf-8", "no-cache"],
  ["/assets/a-1.js", "1", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"],
])(
  "%s has its type, may be kept as long as it is true, and cannot be framed",
  async (path, ...rest) => {
    const [body, type, cache] = rest;
    const response = await get(path);
    expect(await response.text()).toBe(body);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": type,
      "cache-control": cache,
      "content-security-policy": "frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
  },
);

test("a folder without its slash leads to the one with it, query and all", async () => {
  const response = await get("/portal?lang=it");
  expect([response.status, response.headers.get("location")]).toEqual([302, "/portal/?lang=it"]);
});

test.each([
  "/secret.txt",
  "/../secret.txt",
  "/%2e%2e/secret.txt",
  "/..%2fsecret.txt",
  "/assets/../../secret.txt",
  "/assets/..%5c..%5csecret.txt",
  "//secret.txt",
  "/assets/",
  "/constructor",
])("%s is not there", async (path) => {
  expect((await get(path)).status).toBe(404);
});

describe("the addresses of the pages", () => {
  const names = ["SITE_URL", "PORTAL_URL", "PAYMENTS_RETURN_URLS"];
  const of = (env: Record<string, string | undefined>) => names.map((name) => env[name]);

  test("are at port 3000", () => {
    expect(of(developmentEnv(PROJECT_DIR))).toEqual([
      "http://127.0.0.1:3000",
      "http://127.0.0.1:3000/portal/",
      "http://localhost:3000,http://127.0.0.1:3000",
    ]);
  });

  test("follow another port, but for what somebody has set", () => {
    process.env.PORTAL_URL = "http://127.0.0.1:3000/mine";
    try {
      expect(of(projectEnv(PROJECT_DIR, 4000))).toEqual([
        "http://127.0.0.1:4000",
        "http://127.0.0.1:3000/mine",
        "http://localhost:4000,http://127.0.0.1:4000",
      ]);
    } finally {
      delete process.env.PORTAL_URL;
    }
  });

  test("PAGES_PORT is a port, or 0 for no pages", async () => {
    const { apiPort, dbPort, mailPort, pagesPort } = await freePortsWithPages();
    const env = {
      API_PORT: String(apiPort),
      DB_PORT: String(dbPort),
      MAIL_PORT: String(mailPort),
    };
    const given = async (PAGES_PORT: string) =>
      (await portsFromEnv({ ...env, PAGES_PORT })).pagesPort;
    expect(await given(String(pagesPort))).toBe(pagesPort);
    expect(await given("0")).toBeUndefined();
    await expect(given(String(apiPort))).rejects.toThrow("set PAGES_PORT");
    await expect(given("web")).rejects.toThrow("not a port");
  });
});

/**
 * The pages on somebody's own host: built with the variables that README lists, put below a folder of any
 * static server. And what their policy lets them do there.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROJECT_DIR } from "../../local/state.ts";
import {
  expectAccessible,
  expectFault,
  faultsOf,
  freeDays,
  openPage,
  pagesUrl,
} from "../support/browser.ts";
import { mailingProfessional } from "../support/mailbox.ts";
import { openService } from "../support/scheduling.ts";
import { stack } from "../support/stack.ts";
import { type StaticSite, startStaticSite } from "../support/static-site.ts";

const PAGES = ["index.html", "portal/index.html", "day/index.html"];

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

const folder = mkdtempSync(join(tmpdir(), "site-"));
let site: StaticSite;

/** As README says, into a folder of the site. */
function build(name: string, variables: Record<string, string>): void {
  const { NODE_ENV: _, ...env } = process.env;
  execFileSync("npm", ["run", "-s", "build:pages", "--", "--outDir", join(folder, name)], {
    cwd: PROJECT_DIR,
    env: {
      ...env,
      VITE_API_URL: stack.apiUrl,
      VITE_PUBLISHABLE_KEY: stack.publishableKey,
      ...variables,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

beforeAll(async () => {
  build("salon", {});
  build("pictures", { VITE_IMAGES: "1", VITE_PROFESSIONAL: "ana" });
  site = await startStaticSite(folder);
}, 120_000);

afterAll(async () => {
  await site?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The policy of a built page, as `{ directive: sources }`. */
function policyOf(build: string, name: string): Record<string, string[]> {
  const html = readFileSync(join(folder, build, name), "utf8");
  const [, content = ""] =
    /<meta http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
  return Object.fromEntries(
    content
      .replaceAll("&#39;", "'")
      .split(/;\s*/)
      .map((directive) => {
        const [key = "", ...sources] = directive.split(" ");
        return [key, sources];
      }),
  );
}

test("below a folder of another host, at another port, a booking can be made", async () => {
  const professional = await mailingProfessional();
  await openService(professional, { name: "Massage" });
  const page = await openPage(`${site.url}/salon/?professional=ana-${professional.id}`);
  await page.getByRole("link", { name: "Massage" }).click();
  await freeDays(page).first().click();
  await page.locator(".chip").first().click();
  await page.getByLabel("Name").fill("Ann Lee");
  await page.getByLabel("E-mail").fill(`ann-${professional.id}@example.com`);
  await page.getByRole("button", { name: "Book" }).click();
  await page.getByRole("heading", { name: "You are booked" }).waitFor();
  expect(page.url()).toContain(`${site.url}/salon/`);
  await page.reload();
  await page.getByRole("heading", { name: "You are booked" }).waitFor();
});

test.each(["portal/", "day/"])("%s is found there too, without a rewrite", async (path) => {
  const page = await openPage(`${site.url}/salon/${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await expectAccessible(page);
});

test("the booking page leads to its professional's portal", async () => {
  const professional = await mailingProfessional();
  await openService(professional);
  const page = await openPage(`${site.url}/salon/?professional=ana-${professional.id}`);
  await page.getByRole("link", { name: "See what you have booked or ordered" }).click();
  await page.getByText("Enter the e-mail address that Ana Bianchi has of you.").waitFor();
  expect(page.url()).toContain(`${site.url}/salon/portal/?professional=`);
});

test("without a name in the address it is the page of VITE_PROFESSIONAL", async () => {
  const page = await openPage(`${site.url}/pictures/`);
  await page.getByRole("heading", { name: "Ana Bianchi" }).waitFor();
});

describe.each(PAGES)("the policy of %s", (name) => {
  test("names what a page needs, and nobody else", () => {
    expect(policyOf("salon", name)).toEqual({
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "img-src": ["'self'"],
      "connect-src": ["'self'", stack.apiUrl],
      "form-action": ["'none'"],
      "base-uri": ["'none'"],
    });
  });

  test("comes before anything that it could refuse", () => {
    const html = readFileSync(join(folder, "salon", name), "utf8");
    const at = html.indexOf("<meta http-equiv");
    expect(at).toBeGreaterThan(0);
    for (const tag of ["<script", "<link", "<style"]) {
      const first = html.indexOf(tag);
      expect(first === -1 || first > at).toBe(true);
    }
    expect(html).not.toMatch(/<style|style="|<script(?![^>]*\ssrc=)[^>]*>/);
  });

  test("lets images of any host in only where the build was told so", () => {
    expect(policyOf("pictures", name)["img-src"]).toEqual(["'self'", "https:"]);
  });
});

test.each([
  ["pictures", ["https://images.example/hall.png"]],
  ["salon", []],
])("the build %s asks for images: %j", async (build, wanted) => {
  const image_url = "https://images.example/hall.png";
  const professional = await mailingProfessional({ image_url });
  await openService(professional);
  const asked: string[] = [];
  await openPage(`${site.url}/${build}/?professional=ana-${professional.id}`, {
    origins: ["https://images.example"],
    before: (page) =>
      page.route("https://images.example/**", (route) => {
        asked.push(route.request().url());
        return route.fulfill({ contentType: "image/png", body: PIXEL });
      }),
  }).then(async (page) => {
    await page.getByRole("heading", { name: "Ana" }).waitFor();
    await page.waitForLoadState("networkidle");
  });
  expect(asked).toEqual(wanted);
});

test("what is built names no other host than the API's", () => {
  const files = readdirSync(join(folder, "salon"), { recursive: true, encoding: "utf8" });
  const scripts = files.filter((name) => /\.(js|css|html)$/.test(name));
  expect(scripts.length).toBeGreaterThan(3);
  const css = scripts.filter((name) => name.endsWith(".css"));
  const text = css.map((name) => readFileSync(join(folder, "salon", name), "utf8")).join();
  expect(text).not.toMatch(/url\(["']?(https?:)?\/\//);
});

test.each([
  [
    "a request",
    `fetch("https://elsewhere.example/").then(() => "done", () => "refused")`,
    "connect",
  ],
  [
    "an inline script",
    `document.head.append(Object.assign(document.createElement("script"),
    { textContent: "window.ran = 1" })), window.ran ? "done" : "refused"`,
    "script",
  ],
  [
    "code in a text",
    `(() => { const button = document.createElement("button");
    button.setAttribute("onclick", "window.ran = 1"); button.click();
    return window.ran ? "done" : "refused"; })()`,
    "script",
  ],
  [
    "an image of elsewhere",
    `new Promise((resolve) => { const image = new Image();
    image.onload = () => resolve("done"); image.onerror = () => resolve("refused");
    image.src = "https://elsewhere.example/a.png"; })`,
    "img",
  ],
])("%s that the page was made to try is refused", async (_, code, directive) => {
  const page = await openPage(`${pagesUrl}/?professional=ana`);
  expectFault(page, "Content Security Policy");
  expectFault(page, /third party|elsewhere\.example/);
  expect(await page.evaluate(code)).toBe("refused");
  expect(faultsOf(page).join("\n")).toContain(directive);
});

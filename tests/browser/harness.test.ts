/** That a page cannot misbehave unseen: `faultsOf` is what would have failed the test. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit, faultsOf, openPage } from "../support/browser.ts";
import { type StaticSite, startStaticSite } from "../support/static-site.ts";

const folder = mkdtempSync(join(tmpdir(), "site-"));
let site: StaticSite;
let elsewhere: StaticSite;

beforeAll(async () => {
  site = await startStaticSite(folder);
  elsewhere = await startStaticSite(folder);
});

afterAll(async () => {
  await Promise.all([site.close(), elsewhere.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const CSP = `<meta http-equiv="content-security-policy" content="default-src 'none'">`;

async function open(head: string, body: string) {
  const html = `<!doctype html><html lang="en"><head><title>Page</title>
    <link rel="icon" href="data:,">${head}</head>
    <body><main><h1>Page</h1>${body}</main></body></html>`;
  writeFileSync(join(folder, "page.html"), html);
  return openPage(`${site.url}/page.html`, { width: 360 });
}

test("a page without fault has none, fits and is accessible", async () => {
  const page = await open("", "<p>Fine</p>");
  await expectAccessible(page);
  await expectToFit(page);
  expect(faultsOf(page)).toEqual([]);
});

test.each([
  ["an uncaught exception", "", "<script>throw new Error('oh')</script>", "uncaught: Error: oh"],
  ["an unhandled rejection", "", "<script>Promise.reject(new Error('no'))</script>", "no"],
  ["a console error", "", "<script>console.error('oh')</script>", "console: oh"],
  ["a missing file", "", `<img src="none.png" alt="">`, "404"],
  ["an inline script against the policy", CSP, "<script>1</script>", "Content Security Policy"],
  ["a third party", "", `<img src="ELSEWHERE/page.html" alt="">`, "third party: GET ELSEWHERE"],
])("%s is seen", async (_, head, body, fault) => {
  const put = (text: string) => text.replace("ELSEWHERE", elsewhere.url);
  const page = await open(head, put(body));
  await page.waitForLoadState("networkidle");
  const faults = faultsOf(page);
  expect(faults.join("\n")).toContain(put(fault));
});

test("what is too wide, or says nothing to a screen reader, is seen", async () => {
  const page = await open("", `<p style="width: 400px">Wide</p><input><img src="data:,">`);
  const actual = (text: string) => ({
    actual: expect.arrayContaining([expect.stringContaining(text)]),
  });
  await expect(expectToFit(page)).rejects.toMatchObject(actual("width: 400px"));
  await expect(expectAccessible(page)).rejects.toMatchObject(actual("image-alt"));
});

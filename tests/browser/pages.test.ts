import { describe, expect, test } from "vitest";
import { expectAccessible, expectToFit, openPage } from "../support/browser.ts";

describe.each(["/?professional=ana", "/portal/", "/day/"])("%s", (path) => {
  test.each(["en-GB", "it-IT"])("in %s fits 360 px, and axe finds nothing", async (locale) => {
    const page = await openPage(path, { width: 360, height: 740, locale });
    await page.waitForLoadState("networkidle");
    expect(await page.locator("html").getAttribute("lang")).toBe(locale.slice(0, 2));
    await expectToFit(page);
    await expectAccessible(page);
  });
});

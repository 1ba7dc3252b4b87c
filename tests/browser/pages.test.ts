/** What holds for every page, in each language: on the narrowest telephone, and for a screen reader. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  expectAccessible,
  expectToFit,
  freeDays,
  openPage,
  type Page,
} from "../support/browser.ts";
import { createProduct, type Professional } from "../support/factories.ts";
import { mailingProfessional } from "../support/mailbox.ts";
import { openService } from "../support/scheduling.ts";

/** No space in it, so nothing breaks it by itself; and words of both directions. */
const LONG = `Donaudampfschifffahrtsgesellschaftskapitän-${"Haarschnitt".repeat(4)}`;
const RTL = "قص شعر للأطفال";

let professional: Professional;

beforeAll(async () => {
  professional = await mailingProfessional({
    full_name: LONG,
    bio: `${RTL}\n${LONG}`,
    accepts_orders: true,
  });
  await openService(professional, { name: LONG, description: `${RTL} ${LONG}`, category: LONG });
  await openService(professional, { name: RTL, category: RTL });
  const { id } = await createProduct(professional, { name: LONG, description: LONG });
  await createProduct(professional, {
    name: `${LONG} 1`,
    parent_id: id,
    options: { [LONG]: LONG },
  });
});

async function expectGood(page: Page, locale: string): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe(locale.slice(0, 2));
  expect(await page.locator("html").getAttribute("dir")).toBe("ltr");
  expect(await page.title()).not.toBe("");
  await expectToFit(page);
  await expectAccessible(page);
}

describe.each(["en-GB", "it-IT"])("in %s", (locale) => {
  const open = (path: string) => openPage(path, { width: 360, height: 740, locale });

  test.each(["/?professional=ana", "/?professional=nobody-of-this-name", "/portal/", "/day/"])(
    "%s fits 360 px, and axe finds nothing",
    async (path) => expectGood(await open(path), locale),
  );

  test("so does each step of a booking, with the longest words of a professional", async () => {
    const page = await open(`/?professional=ana-${professional.id}`);
    await expectGood(page, locale);
    await page.getByRole("link", { name: LONG }).first().click();
    await freeDays(page).first().click();
    await page.locator(".chip").first().waitFor();
    await expectGood(page, locale);
    await page.locator(".chip").first().click();
    await page.locator("[name=client_name]").fill(LONG);
    // Refused: with its errors it is another page.
    await page.locator("[name=client_email]").fill(LONG);
    await page.locator("[type=submit]").click();
    await page.getByRole("alert").waitFor();
    await expectGood(page, locale);
    await page.locator("[name=client_email]").fill(`ann-${randomUUID()}@example.com`);
    await page.locator("[type=submit]").click();
    await page.locator("form").waitFor({ state: "detached" });
    await expectGood(page, locale);
  });

  test("so does buying a product", async () => {
    const page = await open(`/?professional=ana-${professional.id}`);
    await page.getByRole("link", { name: LONG }).last().click();
    await page.locator("[name=client_name]").fill(LONG);
    await page.locator("[name=client_email]").fill(`ann-${randomUUID()}@example.com`);
    await expectGood(page, locale);
    await page.locator("[type=submit]").click();
    await page.locator("form").waitFor({ state: "detached" });
    await expectGood(page, locale);
  });

  test("what people wrote has its own direction", async () => {
    const page = await open(`/?professional=ana-${professional.id}`);
    const name = page.getByText(RTL, { exact: true }).first();
    await name.waitFor();
    expect(await name.evaluate((element) => getComputedStyle(element).direction)).toBe("rtl");
  });
});

test.each(["/?professional=ana", "/portal/?professional=ana", "/day/"])(
  "%s has enough contrast in the dark",
  async (path) => {
    const page = await openPage(path, { dark: true });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const channels = background.match(/\d+/g)?.slice(0, 3).map(Number) ?? [];
    expect(Math.max(...channels)).toBeLessThan(80);
    await expectAccessible(page);
  },
);

/** A visitor buys one product. */
import { expect, test } from "vitest";
import { en } from "../../pages/booking/texts/en.ts";
import { en as shared } from "../../pages/shared/texts/en.ts";
import { bookable, button, fillIn, heading, newAddress, pathOf } from "../support/booking-page.ts";
import { expectAccessible, expectToFit, mailTo, openPage, type Page } from "../support/browser.ts";
import { sql } from "../support/database.ts";
import { createProduct, type Professional } from "../support/factories.ts";

const shop = () => bookable({ accepts_orders: true, tax_rate: 22 });

async function withVariants() {
  const professional = await shop();
  const shirt = await createProduct(professional, { name: "Shirt", price: 20 });
  for (const [size, price, stock] of [
    ["S", 20, 5],
    ["M", 21, 8],
  ] as const) {
    const options = { size };
    const values = { parent_id: shirt.id, name: `Shirt ${size}`, options, price, stock };
    await createProduct(professional, values);
  }
  return { professional, shirt };
}

const ordersOf = ({ id }: Professional) =>
  sql`select number, total, items->0->>'name' as name from public.orders where professional_id = ${id}`;

const total = (page: Page, text: string) =>
  page.locator(".facts .total dd").filter({ hasText: text }).waitFor();

test("variant and quantity change the price at once; the order has it, and a mail arrives", async () => {
  const { professional } = await withVariants();
  const page = await openPage(pathOf(professional), { width: 360 });
  await page.getByText(en.from("€20.00")).waitFor();
  await page.getByRole("link", { name: "Shirt" }).click();
  await heading(page, "Shirt");
  await total(page, "€25.62");
  await page.getByLabel("Shirt S").check();
  await total(page, "€24.40");
  await page.getByLabel(en.quantity).fill("3");
  await total(page, "€73.20");
  await expectAccessible(page);
  await expectToFit(page);
  const email = newAddress();
  await fillIn(page, email);
  // What was chosen and typed is still there after a reload.
  await page.reload();
  await total(page, "€73.20");
  expect(await page.getByLabel(en.email).inputValue()).toBe(email);
  await button(page, en.order).dblclick();
  await heading(page, en.done.ordered);
  await total(page, "€73.20");
  await expectAccessible(page);
  expect(await ordersOf(professional)).toEqual([{ number: 1, total: "73.20", name: "Shirt S" }]);
  // What was chosen between, and the form that was sent, are no steps back.
  await page.goBack();
  await heading(page, "Ana Bianchi");
  await mailTo(email, ({ Text }) => Text.includes("Shirt S"));
});

test("more than there are is told before it is ordered", async () => {
  const professional = await shop();
  const product = await createProduct(professional, { stock: 2 });
  const page = await openPage(pathOf(professional, { product: product.id, quantity: "3" }));
  await page.getByText(shared.errors.codes.insufficient_stock as string).waitFor();
  await expectAccessible(page);
  await fillIn(page, newAddress());
  await professional.api.from("products").update({ stock: 3 }).eq("id", product.id);
  await button(page, en.order).click();
  await total(page, "€45.75");
  expect(await ordersOf(professional)).toEqual([]);
  await page.getByLabel(en.quantity).fill("2");
  await total(page, "€30.50");
  await button(page, en.order).click();
  await heading(page, en.done.ordered);
});

test("a price that changed meanwhile is shown before anything is ordered", async () => {
  const professional = await shop();
  const product = await createProduct(professional, { price: 10 });
  const page = await openPage(pathOf(professional, { product: product.id }));
  await total(page, "€12.20");
  await fillIn(page, newAddress());
  await professional.api.from("products").update({ price: 100 }).eq("id", product.id);
  await button(page, en.order).click();
  await page.getByText(shared.errors.codes.total_changed as string).waitFor();
  await total(page, "€122.00");
  expect(await ordersOf(professional)).toEqual([]);
  await page.getByLabel(en.quantity).fill("2");
  await page.getByRole("alert").waitFor({ state: "detached" });
  await total(page, "€244.00");
  await button(page, en.order).click();
  await heading(page, en.done.ordered);
});

test("the same is ordered again, as another order; back leads to the first", async () => {
  const professional = await shop();
  await createProduct(professional, { name: "Comb" });
  const page = await openPage(pathOf(professional));
  const number = (text: string) =>
    page.locator("dl > div").filter({ hasText: en.done.number }).getByText(text).waitFor();
  await page.getByRole("link", { name: "Comb" }).click();
  await fillIn(page, newAddress());
  await button(page, en.order).click();
  await number("1");
  await page.getByRole("link", { name: en.done.more }).click();
  await page.getByRole("link", { name: "Comb" }).click();
  await button(page, en.order).click();
  await number("2");
  await page.evaluate(() => history.go(-2));
  await number("1");
});

test("nothing is ordered before its price is known", async () => {
  const professional = await shop();
  const product = await createProduct(professional);
  const before = (page: Page) => page.route("**/quote_order", () => {});
  const page = await openPage(pathOf(professional, { product: product.id }), { before });
  expect(await button(page, en.order).getAttribute("aria-disabled")).toBe("true");
});

test("what is sold out is shown, and cannot be chosen", async () => {
  const professional = await shop();
  await createProduct(professional, { name: "Comb", stock: 0 });
  const page = await openPage(pathOf(professional));
  await page.getByText(en.soldOut).waitFor();
  expect(await page.getByRole("link", { name: "Comb" }).count()).toBe(0);
});

test.each(["0", "1.5", ""])("a quantity of %j is refused and orders nothing", async (quantity) => {
  const professional = await shop();
  const product = await createProduct(professional);
  const page = await openPage(pathOf(professional, { product: product.id, quantity }));
  await fillIn(page, newAddress());
  await page.getByRole("alert").waitFor();
  await button(page, en.order).click();
  expect(await ordersOf(professional)).toEqual([]);
});

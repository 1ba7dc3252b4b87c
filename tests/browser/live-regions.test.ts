/** What changes away from the focus is in a live region, so that a screen reader says it. */
import { expect, test } from "vitest";
import {
  bookable,
  button,
  dayAhead,
  fillIn,
  heading,
  newAddress,
  pathOf,
} from "../support/booking-page.ts";
import { freeDays, nextMonth, openPage, type Page } from "../support/browser.ts";
import { appointment, createPractice, openDay } from "../support/day.ts";
import { createProduct } from "../support/factories.ts";
import { openService } from "../support/scheduling.ts";

const LIVE = '[aria-live="polite"], [role="status"], [role="alert"]';

const said = (page: Page) => page.locator(LIVE).allTextContents();
const untilSaid = (page: Page, text: string) =>
  expect.poll(async () => (await said(page)).join("\n"), { timeout: 10_000 }).toContain(text);

test("another month, and what has become of a booking", async () => {
  const professional = await bookable();
  const service = await openService(professional);
  const start = `${dayAhead(2)}T09:00:00.000Z`;
  const page = await openPage(pathOf(professional, { service: service.id }));
  const month = page.getByRole("heading", { level: 2 }).first();
  await freeDays(page).first().waitFor();
  const before = (await month.textContent()) ?? "";
  await untilSaid(page, before);
  await freeDays(page).first().click();
  await page.locator(".chip").first().waitFor();
  await nextMonth(page).click();
  await expect.poll(() => month.textContent()).not.toBe(before);
  // The day that was chosen is not in it.
  expect(new URL(page.url()).searchParams.has("day")).toBe(false);
  await untilSaid(page, (await month.textContent()) ?? "");

  await page.goto(new URL(pathOf(professional, { service: service.id, start }), page.url()).href);
  await fillIn(page, newAddress());
  await button(page, "Book").click();
  await heading(page, "You are booked");
  await untilSaid(page, "is looking forward to seeing you");
});

test("the price of another quantity", async () => {
  const professional = await bookable({ accepts_orders: true });
  const { id } = await createProduct(professional, { price: 10 });
  const page = await openPage(pathOf(professional, { product: id }));
  await untilSaid(page, "€10.00");
  await page.getByLabel("Quantity").fill("3");
  await untilSaid(page, "€30.00");
});

test("what was done about a booking, and which day is shown", async () => {
  const practice = await createPractice();
  const day = dayAhead(1);
  await appointment(practice, `${day}T09:00:00Z`, { status: "pending" });
  const page = await openDay(practice, `?day=${day}`);
  await button(page, "Confirm").click();
  await untilSaid(page, "Marta Rossi: Confirmed");
  await page.getByRole("button", { name: "Next day" }).click();
  await untilSaid(page, (await page.getByRole("heading", { level: 1 }).textContent()) ?? "");
});

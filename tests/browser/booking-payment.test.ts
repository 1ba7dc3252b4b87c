/** What has to be paid first: to the payment page, and back from it. */
import { expect, test } from "vitest";
import { en } from "../../pages/booking/texts/en.ts";
import {
  bookable,
  bookingsOf,
  button,
  dayAhead,
  fillIn,
  heading,
  newAddress,
  pathOf,
} from "../support/booking-page.ts";
import {
  checkoutUrl,
  connectStripe,
  expectAccessible,
  freeDays,
  linkTo,
  mailTo,
  openPage,
  openTab,
} from "../support/browser.ts";
import { sql } from "../support/database.ts";
import { createProduct } from "../support/factories.ts";
import { isOver, sweep } from "../support/holds.ts";
import { openService } from "../support/scheduling.ts";

/** Booked, with 15 to pay. */
async function unpaid() {
  const professional = await bookable();
  await connectStripe(professional);
  const service = await openService(professional, { payment: "deposit", deposit: 15 });
  const start = `${dayAhead(2)}T10:00:00.000Z`;
  const page = await openPage(pathOf(professional, { service: service.id, start }));
  const email = newAddress();
  await page.getByText(`${en.toPayNow}€15.00`).waitFor();
  await fillIn(page, email);
  await page.getByLabel(en.notes).fill("Fringe");
  await button(page, en.bookAndPay).click();
  await heading(page, en.done.pay);
  const [booking] = await bookingsOf(professional);
  return { professional, page, email, booking: booking as { id: string } };
}

const PAY = en.done.payNow("€15.00");

test("it is paid on the payment page, and booked when we know", async () => {
  const { page, email } = await unpaid();
  await expectAccessible(page);
  await button(page, PAY).click();
  await page.waitForURL(`${checkoutUrl}/**`);
  await button(page, "Pay").click();
  await heading(page, en.done.confirmed);
  await expectAccessible(page);
  expect(new URL(page.url()).searchParams.get("payment")).toBe("success");
  await linkTo(email, "manage");
  await mailTo(email, ({ Text }) => Text.includes("15.00"));
  await page.reload();
  await heading(page, en.done.confirmed);
});

test("who comes back without paying is told, and can still pay", async () => {
  const { page } = await unpaid();
  await page.route(`${checkoutUrl}/**`, (route) => route.abort("aborted"), { times: 1 });
  const left = page.waitForEvent("requestfailed");
  await button(page, PAY).click();
  await left;
  // It is asked for once, until somebody is back at the page that the browser may have kept.
  expect(await button(page, PAY).getAttribute("aria-busy")).toBe("true");
  await page.evaluate(() => void dispatchEvent(new Event("pageshow")));
  await button(page, PAY).click();
  await button(page, "Back").click();
  await page.getByText(en.done.backUnpaid).waitFor();
  await expectAccessible(page);
  await button(page, PAY).click();
  // With the browser's own button the page is there again, and its button too.
  await page.waitForURL(`${checkoutUrl}/**`);
  await page.goBack();
  await button(page, PAY).click();
  await button(page, "Pay").click();
  await heading(page, en.done.confirmed);
});

test("a payment that we have not heard of yet is not asked for again", async () => {
  const { page, booking } = await unpaid();
  const url = new URL(page.url());
  url.searchParams.set("payment", "success");
  await page.goto(url.href);
  await heading(page, en.done.waiting);
  await page.getByText(en.done.waitingText).waitFor();
  expect(await button(page, PAY).count()).toBe(0);
  await sql`update public.bookings set status = 'confirmed' where id = ${booking.id}`;
  await button(page, en.done.look).click();
  await heading(page, en.done.confirmed);
}, 60_000);

test.each(["when it is to be paid", "when the page is loaded"])(
  "a hold that is over is explained %s, and can be begun again with what was typed",
  async (when) => {
    const { page, booking, professional } = await unpaid();
    await isOver("bookings", booking);
    await sweep("bookings", booking);
    if (when === "when it is to be paid") await button(page, PAY).click();
    else await page.reload();
    await heading(page, en.done.over);
    await expectAccessible(page);
    await button(page, en.done.again).click();
    await heading(page, en.chooseTime);
    await freeDays(page).first().click();
    await page.locator(".chip").first().click();
    expect(await page.getByLabel(en.notes).inputValue()).toBe("Fringe");
    await button(page, en.bookAndPay).click();
    await heading(page, en.done.pay);
    expect(await bookingsOf(professional)).toHaveLength(1);
  },
);

test("a tab that did not book says where it is to be found", async () => {
  const { page } = await unpaid();
  const tab = await openTab(page, page.url());
  await heading(tab, en.done.forgottenTitle);
  await expectAccessible(tab);
});

test("an order is paid first where the professional wants it", async () => {
  const professional = await bookable({ accepts_orders: true, orders_need_payment: true });
  await connectStripe(professional);
  const product = await createProduct(professional, { price: 20, stock: 3 });
  const page = await openPage(pathOf(professional, { product: product.id }));
  await fillIn(page, newAddress());
  await button(page, en.orderAndPay).click();
  await button(page, en.done.payNow("€20.00")).click();
  await button(page, "Pay").click();
  await heading(page, en.done.ordered);
});

test("where nobody can pay it is refused before anything is kept", async () => {
  const professional = await bookable();
  const service = await openService(professional, { payment: "full" });
  const start = `${dayAhead(2)}T10:00:00.000Z`;
  const page = await openPage(pathOf(professional, { service: service.id, start }));
  await fillIn(page, newAddress());
  await button(page, en.bookAndPay).click();
  await page.getByRole("alert").getByText("Paying is not possible").waitFor();
  expect(await bookingsOf(professional)).toEqual([]);
});

import type { Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  checkoutUrl,
  connectStripe,
  expectAccessible,
  expectToFit,
  focused,
  type Page,
} from "../support/browser.ts";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { place } from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import { createClientRow, createPortalSession, createProduct } from "../support/factories.ts";
import { mailingProfessional } from "../support/mailbox.ts";
import { signInHere } from "../support/portal-page.ts";
import { openService } from "../support/scheduling.ts";

const at = (time: string) => iso(instantOf(dateIn(10, "Europe/Rome"), time, "Europe/Rome"));

/** A shop with a client who has ordered for 30.50, of which 5.50 are tax. */
async function ordered(profile: Parameters<typeof mailingProfessional>[0] = {}) {
  const shop = await mailingProfessional({ accepts_orders: true, tax_rate: 22, ...profile });
  const client = await createClientRow(shop);
  const product = await createProduct(shop, { price: 12.5, options: { size: "250 ml" } });
  const order = await place(shop, [{ product_id: product.id, quantity: 2 }], {
    client_id: client.id,
    notes: "Leave it\nat the door",
  });
  return { shop, client, product, order };
}

async function openOrders(...args: Parameters<typeof signInHere>): Promise<Page> {
  const page = await signInHere(...args);
  await page.getByRole("link", { name: "Orders" }).click();
  await page.getByRole("heading", { level: 2, name: "Orders" }).waitFor();
  return page;
}

const paidOf = async ({ id }: { id: string }) =>
  (await sql`select payment_status from public.orders where id = ${id}`)[0]?.payment_status;

describe("orders", () => {
  test("have lines, totals, what was paid, and what is due", async () => {
    const { shop, client, order } = await ordered();
    await shop.api.rpc("record_payment", { order_id: order.id, amount: 10, method: "cash" });
    const page = await openOrders(shop, client, { width: 360 });
    const card = page.getByRole("listitem").first();
    await card.getByText("Order 1").waitFor();
    const text = await card.textContent();
    for (const said of [
      "2 × Shampoo, 250 ml",
      "€25.00",
      "Total€30.50of which tax€5.50Paid€10.00",
    ]) {
      expect(text).toContain(said);
    }
    expect(text).toContain("Paid in part");
    await card.getByRole("button", { name: "Pay €20.50" }).waitFor();
    await expectAccessible(page);
    await expectToFit(page);
  });

  test("whose prices include the tax say how much of it that is; nothing is due of a paid one", async () => {
    const { shop, client, order } = await ordered({ prices_include_tax: true });
    await shop.api.rpc("record_payment", { order_id: order.id, amount: 25, method: "cash" });
    const page = await openOrders(shop, client);
    const card = page.getByRole("listitem").first();
    await card.getByText("of which tax").waitFor();
    expect(await card.textContent()).toContain("Total€25.00of which tax€4.51");
    expect(await card.getByRole("button").count()).toBe(0);
  });

  test("that were cancelled, or whose money went back, are not to be paid", async () => {
    const { shop, client, product, order } = await ordered();
    await shop.api.rpc("record_payment", { order_id: order.id, amount: 20, method: "cash" });
    await shop.api.rpc("refund_payment", { order_id: order.id, amount: 5 });
    const items = [{ product_id: product.id, quantity: 1 }];
    const other = await place(shop, items, { client_id: client.id, discount: 2 });
    await sql`update public.orders set status = 'cancelled' where id = ${other.id}`;
    const page = await openOrders(shop, client);
    await page.getByText("Paid back in part").waitFor();
    await page.getByText("Discount-€2.00").waitFor();
    expect(await page.getByRole("button", { name: /^Pay/ }).count()).toBe(0);
  });

  test("are shown as they were asked for last, whichever answer comes first", async () => {
    const { shop, client, order } = await ordered();
    const page = await openOrders(shop, client);
    await page.goto(`${page.url()}&payment=success`);
    await page.getByText("Not paid").waitFor();
    const look = () => page.evaluate(() => void dispatchEvent(new Event("online")));
    let answer: (() => Promise<void>) | undefined;
    const hold = async (route: Route) => {
      const response = await route.fetch();
      answer = () => route.fulfill({ response });
    };
    await page.route("**/rest/v1/orders?*", hold, { times: 1 });
    await look();
    await expect.poll(() => answer).toBeDefined();
    await shop.api.rpc("record_payment", { order_id: order.id, amount: 30.5, method: "cash" });
    await look();
    await page.getByText("Not paid").waitFor({ state: "detached" });
    const late = page.waitForResponse("**/rest/v1/orders?*");
    await answer?.();
    await (await late).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await page.getByText("Not paid").count()).toBe(0);
  });

  test("are none for a client without any", async () => {
    const { shop } = await ordered();
    const page = await openOrders(shop, await createClientRow(shop));
    await page.getByText("You have no orders.").waitFor();
    await expectAccessible(page);
  });
});

describe("paying", () => {
  test("leads to the payment page and back, where it shows when it has arrived", async () => {
    const { shop, client, order } = await ordered();
    await connectStripe(shop);
    const page = await openOrders(shop, client, { width: 360 });
    await page.getByRole("button", { name: "Pay €30.50" }).click();
    await page.waitForURL(`${checkoutUrl}/**`);
    await page.getByRole("button", { name: "Pay" }).click();
    await page.getByText("The payment shows here as soon as it has arrived.").waitFor();
    await page.getByText("Paid", { exact: true }).first().waitFor();
    expect(await paidOf(order)).toBe("paid");
    expect(await page.getByRole("button", { name: /^Pay/ }).count()).toBe(0);
    await expectAccessible(page);
    await expectToFit(page);
    await page.getByRole("link", { name: "Upcoming" }).click();
    expect(new URL(page.url()).searchParams.has("payment")).toBe(false);
  });

  test("can be left, and taken up again", async () => {
    const { shop, client, order } = await ordered();
    await connectStripe(shop);
    const page = await openOrders(shop, client);
    await page.getByRole("button", { name: "Pay €30.50" }).click();
    await page.waitForURL(`${checkoutUrl}/**`);
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByText("You came back without paying.").waitFor();
    await page.getByRole("button", { name: "Pay €30.50" }).click();
    await page.waitForURL(`${checkoutUrl}/**`);
    // By the browser's own way back, too.
    await page.goBack();
    await page.getByRole("button", { name: "Pay €30.50" }).waitFor();
    expect(await paidOf(order)).toBe("unpaid");
  });

  test("online is not possible with a professional who has no account there", async () => {
    const { shop, client } = await ordered();
    const page = await openOrders(shop, client);
    await page.getByRole("button", { name: "Pay €30.50" }).click();
    await page.getByText("Paying is not possible here at the moment.").waitFor();
    await expectAccessible(page);
  });

  test("ends the hold of a booking, which says until when it is kept", async () => {
    const shop = await mailingProfessional();
    await connectStripe(shop);
    const offer = await openService(shop, { price: 60.5, payment: "deposit", deposit: 15 });
    const client = await createClientRow(shop);
    const { api } = await createPortalSession(client);
    const { data, error } = await api.rpc("create_booking", {
      service_id: offer.id,
      starts_at: at("10:00"),
    } as never);
    expect(error).toBeNull();
    const booking = data as unknown as { id: string };
    const page = await signInHere(shop, client, { width: 360 });
    await page.getByText("Pay to book it; without the payment it becomes free").waitFor();
    await page.getByText("Kept for you", { exact: true }).waitFor();
    await expectAccessible(page);
    await expectToFit(page);
    await page.getByRole("button", { name: "Pay €15.00" }).click();
    await page.waitForURL(`${checkoutUrl}/**`);
    await page.getByRole("button", { name: "Pay" }).click();
    await page.getByText("The payment shows here as soon as it has arrived.").waitFor();
    // The rest of the deposit is due later.
    await page.getByRole("button", { name: "Pay €45.50" }).waitFor();
    await page.getByRole("link", { name: "Upcoming" }).click();
    await page.getByText("Confirmed", { exact: true }).waitFor();
    const [row] = await sql`select status from public.bookings where id = ${booking.id}`;
    expect(row?.status).toBe("confirmed");
    await page.getByRole("button", { name: "Cancel booking: Haircut" }).click();
    await page.getByText("What you have paid online for it goes back to you.").waitFor();
    expect(await focused(page)).toBe('h2 "Cancel your booking"');
  });
});

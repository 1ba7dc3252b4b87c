import { describe, expect, test } from "vitest";
import {
  expectAccessible,
  expectToFit,
  focused,
  freeDays,
  goOffline,
  goOnline,
  linkTo,
  openPage,
  type Page,
} from "../support/browser.ts";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { anonymous, request } from "../support/callers.ts";
import { openShop, placeOrder } from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import { createBooking, createClientRow, createProduct } from "../support/factories.ts";
import { isOver } from "../support/holds.ts";
import { confirmOwner } from "../support/mail.ts";
import { inbox, mailingProfessional } from "../support/mailbox.ts";
import { keptElsewhere, keptHere, tokenOf } from "../support/portal-page.ts";
import { book, openService } from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const at = (time: string, days = 10) => iso(instantOf(dateIn(days, ROME), time, ROME));
const newAddress = () => `ann-${crypto.randomUUID()}@example.com`;

/** A booking that its client has a mail about. */
async function mailed(service: Parameters<typeof openService>[1] = {}) {
  const ana = await mailingProfessional();
  const offer = await openService(ana, service);
  const client = await createClientRow(ana);
  const add = (time: string) =>
    createBooking(ana, { client_id: client.id, service_id: offer.id, starts_at: at(time) });
  const booking = await add("10:00");
  return { ana, offer, client, booking, add, link: await linkTo(client.email as string, "manage") };
}

const stateOf = async ({ id }: { id: string }) =>
  (await sql`select status, expires_at, cancelled_by from public.bookings where id = ${id}`)[0];

async function expectClean(page: Page, link: string): Promise<void> {
  const token = link.slice(link.indexOf("=") + 1);
  expect(token.length).toBeGreaterThan(100);
  expect(new URL(page.url()).hash).toBe("");
  expect(await keptElsewhere(page)).not.toContain(token);
}

describe("the link of a booking", () => {
  test("waits for a click, and then shows that booking and no other", async () => {
    const { booking, add, link } = await mailed();
    await add("12:00");
    const page = await openPage(link, { width: 360 });
    await expectClean(page, link);
    await expectAccessible(page);
    await expectToFit(page);
    expect(
      await sql`select from private.booking_sessions where booking_id = ${booking.id}`,
    ).toHaveLength(0);

    await page.reload();
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByText("You can move or cancel it until").waitFor();
    await expectClean(page, link);
    expect(await keptHere(page)).not.toContain(link.slice(link.indexOf("=") + 1));
    expect(await page.getByRole("heading", { level: 3 }).count()).toBe(1);
    expect(await page.getByRole("link", { name: "Orders" }).count()).toBe(0);
    await expectAccessible(page);
    await expectToFit(page);
  });

  test("moves it and cancels it, and a reload keeps the session", async () => {
    const { booking, link } = await mailed();
    const page = await openPage(link);
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByRole("button", { name: "Move: Haircut" }).click();
    await freeDays(page).first().waitFor();
    await freeDays(page).first().click();
    await page.getByRole("button", { name: /^17:00/ }).click();
    await page.getByRole("button", { name: "Move to this time" }).click();
    await page.getByText("Your booking has been moved.").waitFor();
    await page.getByText("17:00–18:00").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Cancel booking: Haircut" }).click();
    await page.getByRole("button", { name: "Cancel the booking" }).click();
    await page.getByText("Your booking is cancelled.").waitFor();
    await page.getByText("by you").waitFor();
    expect(await stateOf(booking)).toMatchObject({ status: "cancelled", cancelled_by: "client" });
    await expectAccessible(page);
  });

  test("of a cancelled booking still shows it, with nothing to do", async () => {
    const { ana, booking, link } = await mailed();
    await ana.api.rpc("cancel_booking", { booking_id: booking.id, reason: "closed" });
    const page = await openPage(link);
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByText("by Ana Bianchi").waitFor();
    expect(await page.getByRole("button", { name: /^Move|^Cancel/ }).count()).toBe(0);
  });

  test("that is worth nothing any more says so, and leads to the sign-in", async () => {
    const { client, link } = await mailed();
    await sql`update public.clients set email = ${newAddress()} where id = ${client.id}`;
    const page = await openPage(link);
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByText("This link does not work any more.").waitFor();
    expect(await focused(page)).toBe('h1 "Your booking"');
    await expectAccessible(page);
    // Another one in this tab is another question.
    await page.evaluate(() => location.assign("#manage=other"));
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByText("This link does not work any more.").waitFor();
    await page.getByRole("button", { name: "To your bookings" }).click();
    await page.getByRole("heading", { name: "See your bookings" }).waitFor();
    expect(await keptHere(page)).not.toContain("manage");
  });

  test("whose session has ended is explained, and its client can sign in", async () => {
    const { booking, link } = await mailed();
    const page = await openPage(link);
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByRole("button", { name: "Move: Haircut" }).waitFor();
    await sql`delete from private.booking_sessions where booking_id = ${booking.id}`;
    await page.getByRole("button", { name: "Move: Haircut" }).click();
    await page.getByText("You have been signed out: after an hour").waitFor();
    await page.getByText("Enter the e-mail address that Ana Bianchi has of you.").waitFor();
  });

  test("can be pasted into a tab that shows the portal already", async () => {
    const { link } = await mailed();
    // Whatever view that tab has come from.
    const page = await openPage(`/portal/?view=past&do=cancel&booking=${crypto.randomUUID()}`);
    await page.getByRole("heading", { name: "See your bookings" }).waitFor();
    const entries = () => page.evaluate(() => history.length);
    const before = await entries();
    await page.evaluate((hash) => {
      location.hash = hash;
    }, new URL(link).hash);
    await page.getByRole("button", { name: "Open the booking" }).waitFor();
    expect(await entries(), "no way back to the address with the token").toBe(before + 1);
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByRole("button", { name: "Move: Haircut" }).waitFor();
    await expectClean(page, link);
  });

  test("signs out at the server", async () => {
    const { link } = await mailed();
    const page = await openPage(link);
    await page.getByRole("button", { name: "Open the booking" }).click();
    await page.getByRole("button", { name: "Move: Haircut" }).waitFor();
    const token = await tokenOf(page);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    const { status } = await request("/rest/v1/bookings?select=id", { token });
    expect(status).toBe(401);
  });
});

describe("the link that confirms", () => {
  /** A hold of the public, with the link that was mailed. */
  async function held(service: Parameters<typeof openService>[1] = {}) {
    const ana = await mailingProfessional({ verify_public_email: true });
    const offer = await openService(ana, service);
    const address = newAddress();
    const { data } = await book(anonymous(), offer, at("10:00"), { client_email: address });
    const link = await linkTo(address, "confirm");
    return { ana, offer, address, booking: data as { id: string }, link };
  }

  test("makes a booking of a hold, by a click and no sooner", async () => {
    const { address, booking, link } = await held();
    const page = await openPage(link, { width: 360, timeZone: "America/New_York" });
    await expectClean(page, link);
    expect(await stateOf(booking)).toMatchObject({ status: "pending" });
    await goOffline(page);
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("There is no connection.").waitFor();
    await goOnline(page);
    await page.getByRole("button", { name: "Confirm" }).dblclick();
    await page.getByRole("heading", { name: "Your booking is confirmed" }).waitFor();
    expect(await focused(page)).toBe('h1 "Your booking is confirmed"');
    await page.getByText("04:00 (New York)").waitFor();
    expect(await stateOf(booking)).toEqual({
      status: "confirmed",
      expires_at: null,
      cancelled_by: null,
    });
    await expectAccessible(page);
    await expectToFit(page);
    expect(await keptHere(page)).not.toContain(link.slice(link.indexOf("=") + 1));
    // The word is kept: a mail has the link that changes it. And its client can sign in here.
    await linkTo(address, "manage");
    await page.getByRole("button", { name: "To your bookings" }).click();
    await page.getByLabel("E-mail address").fill(address);
    await page.getByRole("button", { name: "Mail me a code" }).click();
    await page.getByLabel("Code").waitFor();
  });

  test("of what has to be confirmed by hand makes a request", async () => {
    const { booking, link } = await held({ requires_confirmation: true });
    const page = await openPage(link);
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("heading", { name: "Your request is on its way" }).waitFor();
    expect(await stateOf(booking)).toMatchObject({ status: "pending", expires_at: null });
  });

  test("that comes after somebody else has the time says so", async () => {
    const { ana, offer, booking, link } = await held();
    await isOver("bookings", booking);
    const client = await createClientRow(ana);
    await createBooking(ana, {
      client_id: client.id,
      service_id: offer.id,
      starts_at: at("10:00"),
    });
    const page = await openPage(link);
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("meanwhile somebody else has taken this time").waitFor();
    await expectAccessible(page);
  });

  test("of what was cancelled says so", async () => {
    const { ana, booking, link } = await held();
    await ana.api.rpc("cancel_booking", { booking_id: booking.id });
    const page = await openPage(link);
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("This has been cancelled").waitFor();
  });

  test("places an order that was held", async () => {
    const shop = await openShop({ verify_public_email: true });
    await confirmOwner(shop);
    const product = await createProduct(shop, { price: 12.5 });
    const address = newAddress();
    const items = [{ product_id: product.id, quantity: 2 }];
    await placeOrder(anonymous(), shop, items, { client_email: address });
    const link = await linkTo(address, "confirm");
    const page = await openPage(link);
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("heading", { name: "Your order is placed" }).waitFor();
    await page.getByText("€25.00").waitFor();
    await expectAccessible(page);
  });
});

test("the link under a reminder ends reminders, by a click and no sooner", async () => {
  const ana = await mailingProfessional({ reminders: [20_160] });
  const offer = await openService(ana);
  const client = await createClientRow(ana);
  await sql`
    insert into public.bookings (professional_id, client_id, service_id, starts_at, created_at)
    select ${ana.id}, ${client.id}, ${offer.id}, ${at("10:00")}, now() - interval '20 days'
    from (select set_config('private.mail', 'none', true) as mail) as quiet where quiet.mail = 'none'`;
  await sql`select private.queue_reminders()`;
  const [reminder] = await inbox(client.email as string, 1);
  const [link = ""] = /https?:\S+\/mail\/unsubscribe\?t=\S+/.exec(reminder?.text ?? "") ?? [];
  const remindersOf = async () =>
    (await sql`select reminders from public.clients where id = ${client.id}`)[0]?.reminders;

  // Its address is the function's, which leads to the page.
  const page = await openPage(link, { width: 360 });
  await page.getByRole("heading", { name: "No more reminders" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/portal/");
  await expectClean(page, link);
  await expectAccessible(page);
  await expectToFit(page);
  expect(await remindersOf()).toBe(true);
  await page.getByRole("button", { name: "Stop reminders" }).click();
  await page.getByText("You will get no more reminders.").waitFor();
  expect(await remindersOf()).toBe(false);
});

test("the link that confirms a professional's own address does so by a click", async () => {
  const ana = await mailingProfessional();
  await sql`delete from private.confirmed_owners where professional_id = ${ana.id}`;
  await ana.api.rpc("request_address_confirmation");
  const link = await linkTo(ana.email, "confirm-address");
  const page = await openPage(link, { locale: "it-IT" });
  await expectClean(page, link);
  await expectAccessible(page);
  const confirmed = () =>
    sql`select from private.confirmed_owners where professional_id = ${ana.id}`.execute();
  expect(await confirmed()).toHaveLength(0);
  await page.getByRole("button", { name: "Conferma l'indirizzo" }).click();
  await page.getByText("Il tuo indirizzo è confermato.").waitFor();
  expect(await confirmed()).toHaveLength(1);
});

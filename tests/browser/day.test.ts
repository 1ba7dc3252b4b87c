/** The professional's page: what a day shows, and what can be done about it. */
import type { Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  expectAccessible,
  expectFault,
  expectToFit,
  focused,
  goOffline,
  goOnline,
  openTab,
  type Page,
} from "../support/browser.ts";
import { sql } from "../support/database.ts";
import { appointment, createPractice, entryOf, openDay, stored, writesOf } from "../support/day.ts";
import { createBooking, createClientRow, createOrder } from "../support/factories.ts";
import { availableSlots } from "../support/scheduling.ts";
import { until } from "../support/webhooks.ts";

const DAY = 86_400_000;

/** A date in Rome so many days from now. */
const dateIn = (days: number) =>
  new Intl.DateTimeFormat("sv", { timeZone: "Europe/Rome" }).format(Date.now() + days * DAY);
const TOMORROW = dateIn(1);
const YESTERDAY = dateIn(-1);
const at = (date: string, hour: number) => `${date}T${String(hour).padStart(2, "0")}:00:00Z`;

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
/** The API has done it, and nobody hears of that. */
async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort();
}
const hasFocus = (page: Page, name: string) =>
  until(
    () => focused(page),
    (found) => found === name,
  );
const statusIs = (booking: { id: string }, status: string) =>
  until(
    () => stored(booking),
    (row) => row.status === status,
  );

describe("what a day shows", () => {
  test.each(["en-GB", "it-IT"])("everything of it, in %s, at 360 px", async (locale) => {
    const practice = await createPractice();
    await appointment(practice, at(TOMORROW, 9), {
      notes: "Short at the back.",
      status: "pending",
    });
    await appointment(practice, at(TOMORROW, 11), { internal_notes: "Late last time." });
    const gone = await appointment(practice, at(TOMORROW, 13));
    await practice.professional.api.rpc("cancel_booking", { booking_id: gone.id, reason: "ill" });
    const block = { starts_at: at(TOMORROW, 14), ends_at: at(TOMORROW, 15), notes: "Dentist" };
    await createBooking(practice.professional, block);
    const page = await openDay(practice, `?day=${TOMORROW}`, { width: 360, height: 740, locale });

    const entries = page.getByRole("article");
    await entries.nth(2).waitFor();
    expect(await entries.count()).toBe(3);
    const first = entries.first();
    expect(
      await first
        .getByRole("link")
        .evaluateAll((links) => links.map((a) => a.getAttribute("href"))),
    ).toEqual(["tel:+39065550101", `mailto:${practice.client.email}`]);
    for (const text of ["Haircut", "€30.00", "Short at the back."]) {
      if (locale === "en-GB") expect(await first.textContent()).toContain(text);
    }
    expect(await first.getByRole("heading").getAttribute("dir")).toBe("auto");
    await expectToFit(page);
    await expectAccessible(page);
    await page.locator("summary").click();
    expect(await entries.nth(3).textContent()).toContain("ill");
    await expectAccessible(page);
  });

  test("an empty day says so", async () => {
    const page = await openDay(await createPractice(), `?day=${TOMORROW}`);
    await page.getByText("Nothing is booked.").waitFor();
  });

  test("a hold can be told from a booking, and ran-out ones are not there", async () => {
    const practice = await createPractice();
    const [hold, over] = [
      await appointment(practice, at(TOMORROW, 9), { status: "pending" }),
      await appointment(practice, at(TOMORROW, 11), { status: "pending" }),
    ];
    await sql`update public.bookings set expires_at = now() + interval '20 minutes' where id = ${hold.id}`;
    await sql`
      update public.bookings set expires_at = now() - interval '1 minute', status = 'cancelled',
        cancelled_by = 'system', cancelled_at = now()
      where id = ${over.id}`;
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await page.getByText(/^Held until \d\d:\d\d$/).waitFor();
    expect(await page.getByText("has not confirmed the e-mail address").isVisible()).toBe(true);
    const look = () => page.evaluate(() => void dispatchEvent(new Event("online")));
    await createOrder(practice.professional, { booking_id: hold.id } as never);
    await look();
    await page.getByText("has not paid yet").waitFor();
    await sql`update public.bookings set checkout_open = true where id = ${hold.id}`;
    await look();
    await page.getByText("is paying right now").waitFor();
    expect(await page.getByRole("article").count()).toBe(1);
    expect(await page.locator("summary").count()).toBe(0);
  });

  test("today has a mark between what has begun and what is to come", async () => {
    const practice = await createPractice({ time_zone: zoneAtNoon() });
    const now = Date.now();
    const soon = await createClientRow(practice.professional, { name: "Luca Conti" });
    await appointment(practice, new Date(now - 30 * 60_000).toISOString());
    await appointment({ ...practice, client: soon }, new Date(now + 60 * 60_000).toISOString());
    const page = await openDay(practice);
    await page.getByText("Luca Conti").waitFor();
    const rows = await page.locator("main ol > li").allTextContents();
    expect(rows.map((row) => /Marta|Now|Luca/.exec(row)?.[0])).toEqual(["Marta", "Now", "Luca"]);
    expect(await entryOf(page, "Luca Conti").getByRole("button", { name: "Done" }).count()).toBe(0);
  });

  test("a week shows its days, and each leads to the day", async () => {
    const practice = await createPractice();
    await appointment(practice, at(TOMORROW, 9), { status: "pending" });
    const luca = await createClientRow(practice.professional, { name: "Luca Conti" });
    const cancelled = { status: "cancelled" } as const;
    const gone = await appointment({ ...practice, client: luca }, at(TOMORROW, 12));
    await practice.professional.api.from("bookings").update(cancelled).eq("id", gone.id);
    const page = await openDay(practice, `?day=${TOMORROW}&view=week`, { width: 360, height: 300 });
    await page.getByText("Marta Rossi").waitFor();
    expect(await page.getByRole("heading", { level: 2 }).count()).toBe(7);
    expect(await page.getByText("Luca Conti").count()).toBe(0);
    await expectToFit(page);
    await expectAccessible(page);
    await page.locator("section", { hasText: "Marta Rossi" }).getByRole("link").click();
    await entryOf(page, "Marta Rossi").waitFor();
    expect(new URL(page.url()).search).toBe(`?day=${TOMORROW}`);
    expect(await page.evaluate(() => scrollY)).toBe(0);
  });
});

/** A zone where it is about noon, so that today has a before and an after. */
function zoneAtNoon(): string {
  const zones = [
    ...["Pacific/Auckland", "Asia/Tokyo", "Asia/Dhaka", "Europe/Rome", "Atlantic/Azores"],
    ...["America/New_York", "America/Los_Angeles", "Pacific/Honolulu"],
  ];
  const hour = (timeZone: string) =>
    Number(new Intl.DateTimeFormat("en", { hour: "2-digit", hourCycle: "h23", timeZone }).format());
  return zones.sort((a, b) => Math.abs(hour(a) - 12) - Math.abs(hour(b) - 12))[0] as string;
}

describe("outcomes", () => {
  test("a request is confirmed, by two quick clicks once", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(TOMORROW, 9), { status: "pending" });
    const page = await openDay(practice, `?day=${TOMORROW}`);
    const writes = writesOf(page);
    await button(page, "Confirm").dblclick();
    await entryOf(page, "Marta Rossi").getByText("Confirmed").waitFor();
    expect(writes).toEqual(["PATCH /rest/v1/bookings"]);
    expect(await stored(booking)).toMatchObject({ status: "confirmed", version: 2 });
    await hasFocus(page, 'h2 "Marta Rossi"');
  });

  test("what has begun is done or was missed, and one becomes the other", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(YESTERDAY, 9));
    const block = { starts_at: at(YESTERDAY, 12), ends_at: at(YESTERDAY, 13) };
    await createBooking(practice.professional, block);
    const page = await openDay(practice, `?day=${YESTERDAY}`);
    await entryOf(page, "Blocked time").waitFor();
    await button(page, "Done").click();
    await statusIs(booking, "completed");
    await button(page, "Did not come").click();
    await statusIs(booking, "no_show");
    await button(page, "Done").click();
    await statusIs(booking, "completed");
  });

  test("cancelled with a reason, and shown apart", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(TOMORROW, 9), { status: "pending" });
    await sql`update public.bookings set expires_at = now() + interval '20 minutes' where id = ${booking.id}`;
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await button(page, "Cancel").click();
    await button(page, "Keep it").click();
    await hasFocus(page, 'h2 "Marta Rossi"');
    await button(page, "Cancel").click();
    expect(await page.getByRole("checkbox").count()).toBe(0);
    const dialog = page.getByRole("dialog", { name: "Cancel Marta Rossi, 10:00?" });
    await dialog.getByLabel("Reason").fill("A burst pipe");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Cancel the booking" }).dblclick();
    await page.getByText("Cancelled (1)").waitFor();
    expect(await stored(booking)).toMatchObject({
      status: "cancelled",
      cancelled_by: "owner",
      cancel_reason: "A burst pipe",
    });
    await hasFocus(page, `h1 "${await page.getByRole("heading", { level: 1 }).textContent()}"`);
    await page.locator("summary").click();
    await entryOf(page, "Marta Rossi").getByText("A burst pipe").waitFor();
    await entryOf(page, "Marta Rossi").getByText("Cancelled", { exact: true }).waitFor();
  });

  test.each([true, false])("money that was paid goes back unless kept: %s", async (goesBack) => {
    const practice = await createPractice();
    const { professional } = practice;
    const booking = await appointment(practice, at(TOMORROW, 9));
    const order = await createOrder(professional, { booking_id: booking.id } as never);
    await professional.api.rpc("record_payment", {
      order_id: order.id,
      amount: 30,
      method: "card",
    });
    await professional.api.rpc("refund_payment", { order_id: order.id, amount: 10 });
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await entryOf(page, "Marta Rossi").getByText("€20.00 paid").waitFor();
    await button(page, "Cancel").click();
    const box = page.getByRole("checkbox", { name: "Give back what was paid online" });
    expect(await box.isChecked()).toBe(true);
    if (!goesBack) await box.uncheck();
    const [sent] = await Promise.all([
      page.waitForRequest("**/rpc/cancel_booking"),
      button(page, "Cancel the booking").click(),
    ]);
    expect(sent.postDataJSON()).toEqual({ booking_id: booking.id, refund: goesBack });
    await statusIs(booking, "cancelled");
  });
});

describe("somebody else was faster", () => {
  test("a cancel in one tab, a completion in the other: the second is told, and sees how it stands", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(YESTERDAY, 9));
    const one = await openDay(practice, `?day=${YESTERDAY}`);
    const other = await openTab(one, `/day/?day=${YESTERDAY}`);
    await button(other, "Done").waitFor();

    await button(one, "Cancel").click();
    await button(one, "Cancel the booking").click();
    await one.getByText("Cancelled (1)").waitFor();
    await button(other, "Done").click();
    await other.getByRole("alert").getByText("was changed elsewhere").waitFor();
    await other.getByText("Cancelled (1)").waitFor();
    expect((await stored(booking)).status).toBe("cancelled");
    await expectAccessible(other);
    await button(other, "Close").click();
    expect(await other.getByRole("alert").count()).toBe(0);
  });

  test("a completion in one tab, a cancel in the other", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(YESTERDAY, 9));
    const one = await openDay(practice, `?day=${YESTERDAY}`);
    const other = await openTab(one, `/day/?day=${YESTERDAY}`);
    await button(other, "Cancel").click();
    await button(one, "Done").click();
    await statusIs(booking, "completed");
    await button(other, "Cancel the booking").click();
    await other.getByRole("alert").getByText("not possible any more").waitFor();
    expect(await other.getByRole("dialog").count()).toBe(0);
    expect((await stored(booking)).status).toBe("completed");
  });

  test("both mean the same: that is no quarrel", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(TOMORROW, 9), { status: "pending" });
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await button(page, "Confirm").waitFor();
    await practice.professional.api
      .from("bookings")
      .update({ status: "confirmed" })
      .eq("id", booking.id);
    await button(page, "Confirm").click();
    await entryOf(page, "Marta Rossi").getByText("Confirmed").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

describe("blocked time", () => {
  test("is kept free once, seen, and removed", async () => {
    const practice = await createPractice();
    const { professional, service } = practice;
    const page = await openDay(practice, `?day=${TOMORROW}`, { width: 360, height: 740 });
    await button(page, "Block time").click();
    const dialog = page.getByRole("dialog", { name: "Block time" });
    await dialog.getByLabel("From").fill("09:00");
    await dialog.getByLabel("To", { exact: true }).fill("17:00");
    await dialog.getByLabel("What for").fill("Course");
    await expectToFit(page);
    await expectAccessible(page);
    const writes = writesOf(page);
    await dialog.getByRole("button", { name: "Block", exact: true }).dblclick();
    await entryOf(page, "Blocked time").getByText("Course").waitFor();
    expect(writes).toEqual(["POST /rest/v1/bookings"]);
    const free = async () => {
      const { days } = await availableSlots(professional.api, service, TOMORROW);
      return days[0]?.slots.length;
    };
    expect(await free()).toBe(1);
    await button(page, "Remove").click();
    await page.getByText("Nothing is booked.").waitFor();
    expect(await free()).toBe(33);
  });

  test("where a booking is: explained, and what was typed is still there", async () => {
    const practice = await createPractice();
    await appointment(practice, at(TOMORROW, 9));
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await button(page, "Block time").click();
    const dialog = page.getByRole("dialog", { name: "Block time" });
    await dialog.getByLabel("From").fill("10:15");
    await dialog.getByLabel("To", { exact: true }).fill("12:15");
    await dialog.getByRole("button", { name: "Block", exact: true }).click();
    await dialog.getByRole("alert").getByText("Another booking or blocked time").waitFor();
    expect(await dialog.getByLabel("From").inputValue()).toBe("10:15");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("an answer that is lost is looked for, and nothing is blocked twice", async () => {
    const practice = await createPractice();
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await page.route("**/rest/v1/bookings", loseAnswer, { times: 1 });
    await page.route("**/rest/v1/bookings?select=id&*", (route) => route.abort());
    expectFault(page, "ERR_FAILED");
    await button(page, "Block time").click();
    const dialog = page.getByRole("dialog", { name: "Block time" });
    await dialog.getByLabel("From").fill("09:00");
    await dialog.getByLabel("To", { exact: true }).fill("10:00");
    await dialog.getByRole("button", { name: "Block", exact: true }).click();
    await dialog.getByRole("alert").waitFor();
    await page.unroute("**/rest/v1/bookings?select=id&*");
    await dialog.getByRole("button", { name: "Block", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await entryOf(page, "Blocked time").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    const rows = await sql`
      select id from public.bookings where professional_id = ${practice.professional.id}`;
    expect(rows).toHaveLength(1);
  });
});

describe("getting about", () => {
  test("buttons, a date; back, and a reload stays", async () => {
    const page = await openDay(await createPractice(), `?day=2027-03-01`);
    const shows = (title: string) => page.getByRole("heading", { name: title }).waitFor();
    await button(page, "Next day").click();
    await shows("Tuesday, 2 March 2027");
    await button(page, "Next day").press("Enter");
    await shows("Wednesday, 3 March 2027");
    await page.goBack();
    await shows("Tuesday, 2 March 2027");
    await page.getByLabel("Date").fill("2027-05-09");
    await shows("Sunday, 9 May 2027");
    await button(page, "Week").click();
    await shows("Monday 3 May – Sunday 9 May");
    await page.reload();
    await shows("Monday 3 May – Sunday 9 May");
    await button(page, "Previous week").click();
    await shows("Monday 26 April – Sunday 2 May");
    await button(page, "Today").click();
    await button(page, "Day").click();
    expect(new URL(page.url()).search).toBe("");
  });

  test("a week begins as the visitor's weeks do", async () => {
    const query = "?day=2027-05-12&view=week";
    const page = await openDay(await createPractice(), query, { locale: "en-US" });
    await page.getByRole("heading", { name: "Sunday, May 9 – Saturday, May 15" }).waitFor();
  });

  test("a date is typed key by key", async () => {
    const page = await openDay(await createPractice());
    await page.getByLabel("Date").focus();
    // Whichever of day and month comes first.
    await page.keyboard.type("12122027", { delay: 30 });
    await page.getByRole("heading", { name: "Sunday, 12 December 2027" }).waitFor();
    expect(await page.getByLabel("Date").inputValue()).toBe("2027-12-12");
    await page.goBack();
    await page.getByRole("heading", { name: "12 December 2027" }).waitFor({ state: "detached" });
    expect(await page.getByLabel("Date").inputValue()).not.toBe("2027-12-12");
  });

  test.each(["nonsense", "2027-13-40", "1800-01-01"])("the day %s is today", async (day) => {
    const page = await openDay(await createPractice(), `?day=${day}`);
    await page.getByText("Enjoy the quiet").waitFor();
  });
});

describe("without a connection", () => {
  test("an action says so, and works when it is back", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(TOMORROW, 9), { status: "pending" });
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await button(page, "Confirm").waitFor();
    await goOffline(page);
    await button(page, "Confirm").click();
    await page.getByRole("alert").getByText("no connection").waitFor();
    await page.getByText("This is how it was at").waitFor();
    expect(await entryOf(page, "Marta Rossi").isVisible()).toBe(true);
    await goOnline(page);
    await page.getByText("This is how it was at").waitFor({ state: "detached" });
    await button(page, "Confirm").click();
    await statusIs(booking, "confirmed");
  });

  test("an answer that is lost: the second try finds it done", async () => {
    const practice = await createPractice();
    const booking = await appointment(practice, at(TOMORROW, 9), { status: "pending" });
    const page = await openDay(practice, `?day=${TOMORROW}`);
    await page.route("**/rest/v1/bookings?id=*", loseAnswer, { times: 1 });
    await page.route("**/rest/v1/bookings?select=*", (route) => route.abort());
    expectFault(page, "ERR_FAILED");
    await button(page, "Confirm").click();
    await page.getByRole("alert").getByText("no connection").waitFor();
    await page.unroute("**/rest/v1/bookings?select=*");
    await button(page, "Confirm").click();
    await entryOf(page, "Marta Rossi").getByText("Confirmed").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await stored(booking)).toMatchObject({ status: "confirmed", version: 2 });
  });
});

test("what is new comes by itself, and takes nobody's focus", async () => {
  const practice = await createPractice();
  await appointment(practice, at(TOMORROW, 9));
  const page = await openDay(practice, `?day=${TOMORROW}`);
  await button(page, "Cancel").focus();
  const other = await createClientRow(practice.professional, { name: "Luca Conti" });
  await appointment({ ...practice, client: other }, at(TOMORROW, 7));
  // Not while nobody looks.
  let looks = 0;
  page.on("request", () => looks++);
  for (const state of ["hidden", "visible"]) {
    await page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  }
  await entryOf(page, "Luca Conti").waitFor();
  expect(looks).toBe(1);
  expect(await focused(page)).toBe('button "Cancel"');
});

import { describe, expect, test } from "vitest";
import {
  dayButton,
  expectAccessible,
  expectToFit,
  focused,
  freeDays,
  goOffline,
  goOnline,
  nextMonth,
  type Page,
} from "../support/browser.ts";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  type Professional,
  type Row,
} from "../support/factories.ts";
import { portalOf, signInHere } from "../support/portal-page.ts";
import { openProfessional, openService } from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const at = (time: string, days = 10) => iso(instantOf(dateIn(days, ROME), time, ROME));

/** A client with a booking in ten days, whom the professional has entered. */
async function booked(
  service: Parameters<typeof openService>[1] = {},
  profile: Parameters<typeof openProfessional>[0] = {},
) {
  const ana = await openProfessional(profile);
  const offer = await openService(ana, service);
  const client = await createClientRow(ana);
  const add = (values: Partial<Parameters<typeof createBooking>[1]> = {}) =>
    createBooking(ana, {
      client_id: client.id,
      service_id: offer.id,
      starts_at: at("10:00"),
      ...values,
    } as Parameters<typeof createBooking>[1]);
  return { ana, offer, client, booking: await add(), add };
}

async function rowOf({ id }: Pick<Row<"bookings">, "id">) {
  const [row] = await sql`
    select status, starts_at::text, cancelled_by, cancel_reason, version
    from public.bookings where id = ${id}`;
  return row;
}

/** Picks a start in the picker, which opens at the first day with a free one. */
async function pick(page: Page, days: number, time: string) {
  const day = dayButton(page, dateIn(days, ROME)).and(freeDays(page));
  await freeDays(page).first().waitFor();
  if ((await day.count()) === 0) await nextMonth(page).click();
  await day.click();
  await page.getByRole("button", { name: new RegExp(`^${time}`) }).click();
}

describe("the lists", () => {
  test("show what is to come, and elsewhere what is over or cancelled", async () => {
    const { ana, client, booking, add } = await booked({ name: "قص الشعر" });
    await add({ starts_at: at("11:00"), status: "pending", notes: "Second floor" });
    const over = await add({ starts_at: at("12:00", -3), status: "confirmed" });
    await sql`update public.bookings set status = 'no_show' where id = ${over.id}`;
    // Over, though nobody has said how it went.
    await add({ starts_at: at("12:00", -2), status: "confirmed" });
    for (const day of [20, 21]) {
      const { id } = await add({ starts_at: at("10:00", day) });
      await ana.api.rpc("cancel_booking", { booking_id: id, reason: `reason ${day}` });
    }
    const page = await signInHere(ana, client, { width: 360 });
    const rows = page.getByRole("listitem");
    await page.getByText("Second floor").waitFor();
    expect(await rows.count()).toBe(2);
    expect(await rows.first().textContent()).toContain("Confirmed");
    expect(await rows.nth(1).textContent()).toContain(
      "Ana Bianchi still has to confirm this time.",
    );
    expect(await page.getByRole("heading", { level: 3 }).first().getAttribute("dir")).toBe("auto");
    await expectAccessible(page);
    await expectToFit(page);

    await page.getByRole("link", { name: "Past" }).click();
    await page.getByText("by Ana Bianchi").first().waitFor();
    expect(await focused(page)).toBe('h2 "Past"');
    expect(await rows.count()).toBe(4);
    expect(await page.getByRole("button", { name: /^Move|^Cancel/ }).count()).toBe(0);
    expect(await page.getByText("It could be moved or cancelled").count()).toBe(0);
    expect(await rows.first().textContent()).toContain("Reasonreason 21");
    expect(await rows.last().textContent()).toContain("Missed");
    await expectAccessible(page);

    await page.goBack();
    await page.getByText("Second floor").waitFor();
    expect((await rowOf(booking))?.status).toBe("confirmed");
  });

  test("name the professional's time where the visitor's clock shows another", async () => {
    const { ana, client } = await booked();
    const page = await signInHere(ana, client, { timeZone: "America/New_York" });
    const text = page.getByRole("listitem").first();
    await expect
      .poll(() => text.textContent())
      .toMatch(/In New York.*04:00–05:00In Rome.*10:00–11:00/);
  });

  test("say in Italian what they say in English", async () => {
    const { ana, client } = await booked({ cancellation_notice: 120 });
    const page = await signInHere(ana, client);
    await page.getByRole("link", { name: "Italiano" }).click();
    await page.getByText("Puoi spostarla o annullarla fino a").waitFor();
    for (const view of ["Passate", "Ordini"]) {
      await page.getByRole("link", { name: view }).click();
      await page.getByRole("heading", { level: 2, name: view }).waitFor();
      await expectAccessible(page);
    }
  });
});

describe("a move", () => {
  test("goes to a free start, by the keyboard too, and back as often as wanted", async () => {
    const { ana, client, booking } = await booked();
    const page = await signInHere(ana, client, { width: 360 });
    await page.getByRole("button", { name: "Move: Haircut" }).press("Enter");
    await page.getByRole("heading", { name: "Move your booking" }).waitFor();
    // Its own time is free for it.
    await pick(page, 10, "10:30");
    const submit = page.getByRole("button", { name: "Move to this time" });
    await submit.waitFor();
    await expectAccessible(page);
    await expectToFit(page);
    await page.reload();
    await page.goBack();
    await page.getByRole("button", { name: /^15:00/ }).press("Enter");
    await submit.press("Enter");
    await page.getByText("Your booking has been moved.").waitFor();
    expect(Date.parse((await rowOf(booking))?.starts_at)).toBe(Date.parse(at("15:00", 10)));
    await page.getByRole("listitem").filter({ hasText: "15:00–16:00" }).waitFor();
    expect(new URL(page.url()).searchParams.has("start")).toBe(false);
    await page.getByRole("button", { name: "Cancel booking: Haircut" }).click();
    await page.getByRole("heading", { name: "Cancel your booking" }).waitFor();
    expect(await page.getByText("Your booking has been moved.").count()).toBe(0);
  });

  test("to a time that is taken meanwhile proposes the next ones", async () => {
    const { ana, client, booking, add } = await booked();
    const page = await signInHere(ana, client);
    await page.getByRole("button", { name: "Move: Haircut" }).click();
    await pick(page, 11, "14:30");
    await page.getByRole("button", { name: "Move to this time" }).waitFor();
    await add({ starts_at: at("14:30", 11) });
    await page.getByRole("button", { name: "Move to this time" }).click();
    await page.getByText("Somebody else has just taken this time.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: /15:30$/ }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await focused(page)).toBe('h3 "New time:"');
    // Back is to the picker, not to the time that is taken.
    await page.goBack();
    await freeDays(page).first().waitFor();
    await page.goForward();
    await page.getByRole("button", { name: "Move to this time" }).click();
    await page.getByText("Your booking has been moved.").waitFor();
    expect(Date.parse((await rowOf(booking))?.starts_at)).toBe(Date.parse(at("15:30", 11)));
  });

  test("of what has to be confirmed says before and after that it is asked for again", async () => {
    const { ana, client, booking } = await booked({ requires_confirmation: true });
    const page = await signInHere(ana, client);
    await page.getByRole("button", { name: "Move: Haircut" }).click();
    await pick(page, 11, "14:30");
    await page.getByRole("button", { name: "Choose another time" }).click();
    await pick(page, 11, "09:00");
    await page.getByText("Ana Bianchi has to confirm the new time.").waitFor();
    await page.getByRole("button", { name: "Move to this time" }).click();
    await page.getByText("Ana Bianchi still has to confirm the new time.").waitFor();
    expect((await rowOf(booking))?.status).toBe("pending");
  });

  test("of a service that is not offered any more is not to be had here", async () => {
    const { ana, offer, client } = await booked();
    await openService(ana, { name: "Other" });
    await sql`update public.services set active = false where id = ${offer.id}`;
    const page = await signInHere(ana, client);
    await page.getByRole("button", { name: "Move: Haircut" }).click();
    await page.getByText("This service is not offered at the moment").waitFor();
    await page.getByRole("button", { name: "Keep the time" }).click();
    await page.getByRole("heading", { name: "Upcoming" }).waitFor();
  });
});

describe("a cancellation", () => {
  test("keeps the reason, and a double click is one", async () => {
    const { ana, client, booking } = await booked();
    const page = await signInHere(ana, client, { width: 360 });
    let calls = 0;
    page.on("request", (sent) => {
      if (sent.method() === "POST" && sent.url().endsWith("/cancel_booking")) calls += 1;
    });
    await page.getByRole("button", { name: "Cancel booking: Haircut" }).click();
    await page.getByLabel("Reason, which Ana Bianchi can read").fill("I am ill");
    await expectAccessible(page);
    await expectToFit(page);
    await page.getByRole("button", { name: "Cancel the booking" }).dblclick();
    await page.getByText("Your booking is cancelled.").waitFor();
    await page.getByText("You have no bookings to come.").waitFor();
    expect(await focused(page)).toBe('h2 "Upcoming"');
    expect(calls).toBe(1);
    expect(await rowOf(booking)).toMatchObject({
      status: "cancelled",
      cancelled_by: "client",
      cancel_reason: "I am ill",
    });
    await page.getByRole("link", { name: "Past" }).click();
    await page.getByText("by you").waitFor();
  });

  test("with a reason that is too long keeps what was typed", async () => {
    const { ana, client, booking } = await booked();
    const page = await signInHere(ana, client);
    await page.getByRole("button", { name: "Cancel booking: Haircut" }).click();
    const reason = page.getByLabel("Reason, which Ana Bianchi can read");
    await reason.fill("x".repeat(1001));
    await page.getByRole("button", { name: "Cancel the booking" }).click();
    await page.getByText("at most 1000 characters").waitFor();
    expect(await reason.inputValue()).toHaveLength(1001);
    await page.getByRole("button", { name: "Keep the booking" }).click();
    await page.getByRole("button", { name: "Move: Haircut" }).waitFor();
    expect((await rowOf(booking))?.status).toBe("confirmed");
  });

  test("without a connection fails, and succeeds when it is back", async () => {
    const { ana, client, booking } = await booked();
    const page = await signInHere(ana, client);
    await page.getByRole("button", { name: "Cancel booking: Haircut" }).click();
    const reason = page.getByLabel("Reason, which Ana Bianchi can read");
    await reason.fill("I am ill");
    await goOffline(page);
    await page.getByRole("button", { name: "Cancel the booking" }).click();
    await page.getByText("There is no connection.").waitFor();
    expect(await reason.inputValue()).toBe("I am ill");
    await goOnline(page);
    await page.getByRole("button", { name: "Cancel the booking" }).click();
    await page.getByText("Your booking is cancelled.").waitFor();
    expect((await rowOf(booking))?.cancel_reason).toBe("I am ill");
  });

  test("that comes too late is not offered, and the page says whom to call", async () => {
    const { ana, client } = await booked(
      { cancellation_notice: 14 * 24 * 60 },
      {
        contact_phone: "+39 06 555",
        contact_email: "ana@example.com",
        public_contact: ["contact_phone"],
      },
    );
    const page = await signInHere(ana, client);
    await page.getByText("It could be moved or cancelled here until").waitFor();
    expect(await page.getByRole("link", { name: "+39 06 555" }).getAttribute("href")).toBe(
      "tel:+3906555",
    );
    expect(await page.getByRole("link", { name: "ana@example.com" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: /^Move|^Cancel/ }).count()).toBe(0);
    await expectAccessible(page);
  });

  test.each([
    ["Cancel booking: Haircut", "Cancel the booking"],
    ["Move: Haircut", "Move to this time"],
  ])("that became too late while the page was open is explained: %s", async (what, submit) => {
    const { ana, client, booking } = await booked();
    const page = await signInHere(ana, client);
    await page.getByRole("button", { name: what }).click();
    if (submit === "Move to this time") await pick(page, 11, "14:30");
    await page.getByRole("button", { name: submit }).waitFor();
    await sql`
      update public.bookings set starts_at = now() - interval '1 minute', ends_at = now() + interval '1 hour'
      where id = ${booking.id}`;
    await page.getByRole("button", { name: submit }).click();
    await page.getByText("It is too late to change this yourself.").waitFor();
    await page.getByText("please contact Ana Bianchi directly").waitFor();
    await expectAccessible(page);
  });

  test("of what somebody else has cancelled meanwhile changes nothing", async () => {
    const { ana, client, booking } = await booked();
    const page = await signInHere(ana, client);
    await page.getByRole("button", { name: "Cancel booking: Haircut" }).waitFor();
    await ana.api.rpc("cancel_booking", { booking_id: booking.id, reason: "closed" });
    await page.getByRole("button", { name: "Move: Haircut" }).click();
    await page.getByRole("heading", { name: "Move your booking" }).waitFor();
    await pick(page, 11, "14:30");
    await page.getByRole("button", { name: "Move to this time" }).click();
    await page.getByText("this is no longer possible").waitFor();
    expect(await rowOf(booking)).toMatchObject({ cancelled_by: "owner", cancel_reason: "closed" });
  });
});

test("an address of another booking shows none", async () => {
  const { ana, client } = await booked();
  const other = await booked();
  const page = await signInHere(ana, client);
  await page.goto(
    new URL(`${await portalOf(ana as Professional)}&booking=${other.booking.id}`, page.url()).href,
  );
  await page.getByText("This booking is not there any more.").waitFor();
});

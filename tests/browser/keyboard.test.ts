/** A whole booking, and the way back to it from the mail, by somebody who has no mouse. */
import { expect, test } from "vitest";
import { focused, freeDays, openPage, type Page, tabTo } from "../support/browser.ts";
import { sql } from "../support/database.ts";
import { mailingProfessional } from "../support/mailbox.ts";
import { openService } from "../support/scheduling.ts";

/** Each step puts the focus on its heading, from where a screen reader goes on. */
const untilHeading = (page: Page, text: string | RegExp) =>
  expect.poll(() => focused(page), { timeout: 10_000 }).toMatch(text);

test("a booking needs no mouse, and each step begins at its heading", async () => {
  const professional = await mailingProfessional();
  const service = await openService(professional, { name: "Haircut" });
  const page = await openPage(`/?professional=ana-${professional.id}`, { timeZone: "Europe/Rome" });
  await page.getByRole("link", { name: "Haircut" }).waitFor();
  // A page that is loaded is read from its beginning.
  expect(await focused(page)).toBe("");

  await tabTo(page, 'a "Haircut"');
  await page.keyboard.press("Enter");
  await untilHeading(page, 'h1 "Choose a time"');

  await freeDays(page).first().waitFor();
  await tabTo(page, /^button "\d+ \w+"$/);
  const first = await focused(page);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => focused(page)).not.toBe(first);
  const day = await focused(page);
  // The arrows lead over the end of a month, whose free days come then.
  await freeDays(page).first().waitFor();
  await page.keyboard.press("Enter");
  await untilHeading(page, /^h2 "/);
  const chosen = page.locator("calendar-month [aria-pressed=true]");
  expect(`button "${await chosen.getAttribute("aria-label")}"`).toBe(day);

  await tabTo(page, /^button "10:30"$/);
  await page.keyboard.press("Enter");
  await untilHeading(page, 'h1 "Your details"');

  const email = `ann-${professional.id}@example.com`;
  await tabTo(page, 'input "Name"');
  await page.keyboard.type("Ann Lee");
  await tabTo(page, 'input "E-mail"');
  await page.keyboard.type(email);
  // In a field Enter sends the form.
  await page.keyboard.press("Enter");
  await untilHeading(page, 'h1 "You are booked"');

  const [booking] = await sql`
    select to_char(starts_at at time zone 'Europe/Rome', 'HH24:MI') as time, status, source
    from public.bookings where service_id = ${service.id}`;
  expect(booking).toEqual({ time: "10:30", status: "confirmed", source: "public" });
});

test("an error is said where it belongs, and the field that has it says so", async () => {
  const professional = await mailingProfessional();
  const service = await openService(professional);
  const page = await openPage(`/?professional=ana-${professional.id}&service=${service.id}`);
  await freeDays(page).first().click();
  await page.locator(".chip").first().click();
  await tabTo(page, 'input "Name"');
  await page.keyboard.type("Ann Lee");
  await tabTo(page, 'input "E-mail"');
  await page.keyboard.type("ann at example");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  const field = page.getByLabel("E-mail");
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  const said = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
  const texts = await Promise.all(said.map((id) => page.locator(`[id="${id}"]`).textContent()));
  expect(texts.join(" ")).toMatch(/an e-mail address that can be used/);
});

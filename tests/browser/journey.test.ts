/** One booking through all three pages and the mails between them: what one page does the next one shows. */
import { expect, test } from "vitest";
import {
  allowPassword,
  dayButton,
  freeDays,
  linkTo,
  mailTo,
  nextMonth,
  openPage,
  openTab,
  PASSWORD,
  pagesUrl,
} from "../support/browser.ts";
import { mailingProfessional } from "../support/mailbox.ts";
import { openService } from "../support/scheduling.ts";

test("booked, moved by the link in the mail, seen by the professional, cancelled, and free again", async () => {
  const professional = await mailingProfessional({ full_name: "Bea Neri" });
  await allowPassword(professional);
  const service = await openService(professional, { name: "Training", min_notice: 0 });
  const path = `/?professional=ana-${professional.id}`;
  const email = `sofia-${professional.id}@example.com`;

  // The visitor books the first free start of a month ahead.
  const visitor = await openPage(`${path}&service=${service.id}`);
  await freeDays(visitor).first().waitFor();
  await nextMonth(visitor).click();
  await freeDays(visitor).nth(9).click();
  await visitor.getByRole("button", { name: "09:00", exact: true }).waitFor();
  const date = new URL(visitor.url()).searchParams.get("day") ?? "";
  await visitor.getByRole("button", { name: "09:00", exact: true }).click();
  await visitor.getByLabel("Name").fill("Sofia Ricci");
  await visitor.getByLabel("E-mail").fill(email);
  await visitor.getByRole("button", { name: "Book" }).click();
  await visitor.getByRole("heading", { name: "You are booked" }).waitFor();

  // Nobody else is offered that time.
  const other = await openPage(`${path}&service=${service.id}&day=${date}`);
  await other.locator(".chip").first().waitFor();
  const nine = other.getByRole("button", { name: "09:00", exact: true });
  expect(await nine.count()).toBe(0);

  // The link in the mail leads to the portal, which moves it to what is free.
  const link = await linkTo(email, "manage");
  expect(link).toMatch(new RegExp(`^${pagesUrl}/portal/#manage=`));
  const client = await openPage(link);
  await client.getByRole("button", { name: "Open the booking" }).click();
  await client.getByRole("button", { name: /^Move/ }).click();
  await freeDays(client).first().waitFor();
  await nextMonth(client).click();
  await dayButton(client, date).and(freeDays(client)).click();
  await client.getByRole("button", { name: "14:00", exact: true }).click();
  await client.getByRole("button", { name: "Move to this time" }).click();
  await client.getByText("Your booking has been moved.").waitFor();

  // The professional finds it at its new time.
  const owner = await openPage(`/day/?day=${date}`);
  await owner.getByLabel("E-mail").fill(professional.email);
  await owner.getByLabel("Password").fill(PASSWORD);
  await owner.getByRole("button", { name: "Sign in", exact: true }).click();
  const entry = owner.getByRole("article").filter({ hasText: "Sofia Ricci" });
  await entry.getByText("14:00").waitFor();

  // And cancels it: the client hears of it, and the time is free again.
  await entry.getByRole("button", { name: /^Cancel/ }).click();
  await owner.getByRole("button", { name: "Cancel the booking" }).click();
  await mailTo(email, ({ Subject }) => /cancel/i.test(Subject));
  const again = await openTab(other, `${path}&service=${service.id}&day=${date}`);
  await again.getByRole("button", { name: "14:00", exact: true }).waitFor();
});

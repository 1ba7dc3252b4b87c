/** The professional's clock: seen from elsewhere, and on the days on which it is changed. */
import { describe, expect, test } from "vitest";
import { expectAccessible, expectToFit, type Page } from "../support/browser.ts";
import { sql } from "../support/database.ts";
import { appointment, createPractice, entryOf, openDay, type Practice } from "../support/day.ts";
import { createClientRow } from "../support/factories.ts";

const spans = (page: Page) => page.locator("article .when").allTextContents();

async function blockTime(page: Page, from: string, to: string): Promise<void> {
  await page.getByRole("button", { name: "Block time" }).click();
  const dialog = page.getByRole("dialog", { name: "Block time" });
  await dialog.getByLabel("From").fill(from);
  await dialog.getByLabel("To", { exact: true }).fill(to);
  await dialog.getByRole("button", { name: "Block", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

async function blocksOf({ professional }: Practice): Promise<string[][]> {
  const rows = await sql`
    select starts_at, ends_at from public.bookings
    where professional_id = ${professional.id} and client_id is null order by starts_at`;
  return rows.map(({ starts_at, ends_at }) =>
    [starts_at, ends_at].map((at) => new Date(at).toISOString().slice(0, 16)),
  );
}

describe("from New York", () => {
  const elsewhere = { timeZone: "America/New_York" };

  test("a day is Rome's, with Rome's times, and says so", async () => {
    const practice = await createPractice();
    await appointment(practice, "2027-03-01T22:30:00Z");
    await appointment(practice, "2027-03-01T08:00:00Z");
    await appointment(practice, "2027-03-01T23:30:00Z");
    const page = await openDay(practice, "?day=2027-03-01", { ...elsewhere, width: 360 });
    await page.getByText("Times are those of Rome.").waitFor();
    await entryOf(page, "Marta Rossi").first().waitFor();
    expect(await spans(page)).toEqual(["09:00 – 10:00", "23:30 – Tuesday 2 March, 00:30"]);
    await expectToFit(page);
    await expectAccessible(page);
    await blockTime(page, "14:00", "15:30");
    expect(await blocksOf(practice)).toEqual([["2027-03-01T13:00", "2027-03-01T14:30"]]);
  });

  test("in a browser of the same zone nothing is said of zones", async () => {
    const page = await openDay(await createPractice(), "?day=2027-03-01");
    await page.getByText("Nothing is booked.").waitFor();
    expect(await page.getByText("Times are those").count()).toBe(0);
  });
});

describe.each(["Europe/Rome", "America/New_York", "Pacific/Auckland"])(
  "seen from %s",
  (timeZone) => {
    test("the night in which clocks go back has 25 hours, and tells its two 02:30 apart", async () => {
      const practice = await createPractice();
      // 2027-10-31 in Rome lasts from 22:00Z to 23:00Z.
      for (const start of [
        "30T21:00",
        "30T22:00",
        "31T00:30",
        "31T01:30",
        "31T22:00",
        "31T23:00",
      ]) {
        const starts_at = `2027-10-${start}:00Z`;
        const ends_at = new Date(Date.parse(starts_at) + 1_800_000).toISOString();
        await appointment(practice, starts_at, { ends_at });
      }
      const page = await openDay(practice, "?day=2027-10-31", { timeZone });
      await entryOf(page, "Marta Rossi").first().waitFor();
      const shown = await spans(page);
      expect(shown.map((text) => text.slice(0, 5))).toEqual(["00:00", "02:30", "02:30", "23:00"]);
      expect(new Set(shown).size).toBe(4);
      await page.getByRole("button", { name: "Next day" }).click();
      await page.getByText("00:00 – 00:30").waitFor();
    });

    test("the night in which they go forward has 23, and a time that is skipped is moved on", async () => {
      const practice = await createPractice();
      const page = await openDay(practice, "?day=2027-03-28", { timeZone });
      await blockTime(page, "02:30", "04:00");
      await page.getByText("03:30 – 04:00").waitFor();
      expect(await blocksOf(practice)).toEqual([["2027-03-28T01:30", "2027-03-28T02:00"]]);
    });

    test("blocked over midnight it is on both days", async () => {
      const practice = await createPractice();
      const page = await openDay(practice, "?day=2027-10-30", { timeZone });
      await blockTime(page, "23:00", "03:00");
      expect(await blocksOf(practice)).toEqual([["2027-10-30T21:00", "2027-10-31T02:00"]]);
      await entryOf(page, "Blocked time").waitFor();
      await page.getByRole("button", { name: "Next day" }).click();
      await page.getByRole("heading", { name: "Sunday, 31 October 2027" }).waitFor();
      await entryOf(page, "Blocked time").waitFor();
    });
  },
);

test("a professional whose clocks change at midnight has no day without a beginning", async () => {
  const practice = await createPractice({ time_zone: "Africa/Cairo" });
  // Clocks go forward from 00:00 to 01:00 on 2027-04-30.
  await appointment(practice, "2027-04-29T22:00:00Z");
  await appointment(practice, "2027-04-29T20:30:00Z");
  const page = await openDay(practice, "?day=2027-04-30", { timeZone: "Europe/Rome" });
  await entryOf(page, "Marta Rossi").first().waitFor();
  expect(await spans(page)).toEqual(["01:00 – 02:00"]);
});

test("in a week a night before is not on the day that begins when it ends", async () => {
  const practice = await createPractice();
  // Monday 1 March in Rome ends at 23:00Z.
  await appointment(practice, "2027-03-01T22:00:00Z");
  const other = await createClientRow(practice.professional, { name: "Luca Conti" });
  await appointment({ ...practice, client: other }, "2027-03-01T23:00:00Z");
  const page = await openDay(practice, "?day=2027-03-03&view=week", {
    timeZone: "America/New_York",
  });
  await page.getByText("Luca Conti").waitFor();
  const days = await page.locator("section").allTextContents();
  expect(days.map((text) => text.match(/Marta|Luca/g))).toEqual([
    ["Marta"],
    ["Luca"],
    ...Array(5).fill(null),
  ]);
});

/** What comes between a visitor and a booking: others, the network, impatience, the clock. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { en } from "../../pages/booking/texts/en.ts";
import { it } from "../../pages/booking/texts/it.ts";
import { en as shared } from "../../pages/shared/texts/en.ts";
import { it as condivisi } from "../../pages/shared/texts/it.ts";
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
  dayButton,
  expectAccessible,
  expectFault,
  focused,
  freeDays,
  goOffline,
  goOnline,
  nextMonth,
  openPage,
  openTab,
  type Page,
  pagesUrl,
} from "../support/browser.ts";
import { everyDay } from "../support/calendar.ts";
import { anonymous, server } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import { book, openService } from "../support/scheduling.ts";

// A stack that was just made hears of it with its first mail; without it nobody may have holds.
beforeAll(async () => {
  const portal_url = `${pagesUrl}/portal/`;
  expect((await server().rpc("report_portal_address", { portal_url })).error).toBeNull();
});

const TEN = (days: number) => `${dayAhead(days)}T10:00:00.000Z`;

/** At the last step of a booking. */
async function atDetails(start = TEN(2), profile: Parameters<typeof bookable>[0] = {}) {
  const professional = await bookable(profile);
  const service = await openService(professional);
  const path = pathOf(professional, { service: service.id, start });
  const page = await openPage(path);
  await fillIn(page, newAddress());
  return { professional, service, path, page };
}

/** What is asked for is done, but its answer never comes. */
async function loseAnswers(page: Page): Promise<void> {
  expectFault(page, "net::ERR_FAILED");
  await page.route("**/create_booking", async (route) => {
    if (route.request().method() === "POST") await route.fetch();
    await route.abort();
  });
}

const next = (page: Page) => page.getByRole("alert").getByRole("button").first();

test("a start that was taken meanwhile is explained, others are offered, and nothing is lost", async () => {
  const { professional, service, page } = await atDetails();
  await page.getByLabel(en.notes).fill("Fringe");
  expect((await book(anonymous(), service, TEN(2))).error).toBeNull();
  await button(page, en.bookNow).click();
  await page.getByText(shared.errors.codes.slot_taken as string).waitFor();
  await expectAccessible(page);
  await page.reload();
  expect(await page.getByLabel(en.notes).inputValue()).toBe("Fringe");
  await button(page, en.bookNow).click();
  await next(page).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(await page.getByLabel(en.notes).inputValue()).toBe("Fringe");
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
  const starts = (await bookingsOf(professional)).map(({ starts_at }) => starts_at.toISOString());
  expect(starts).toEqual([TEN(2), TEN(2).replace("T10", "T11")]);
});

test.each([
  ["too_soon", { min_notice: 100_000 }],
  ["inactive", { active: false }],
])("a start that is %s now is explained", async (code, change) => {
  const { professional, service, page } = await atDetails();
  await professional.api.from("services").update(change).eq("id", service.id);
  await button(page, en.bookNow).click();
  await page.getByText(shared.errors.codes[code] as string).waitFor();
});

test("a double click books once", async () => {
  const { professional, page } = await atDetails();
  let calls = 0;
  page.on("request", (sent) => {
    if (sent.url().endsWith("/create_booking") && sent.method() === "POST") calls++;
  });
  await button(page, en.bookNow).dblclick();
  await heading(page, en.done.confirmed);
  expect(calls).toBe(1);
  expect(await bookingsOf(professional)).toHaveLength(1);
});

test("without a connection it says so, and the same booking is tried again", async () => {
  const { professional, page } = await atDetails();
  await goOffline(page);
  await button(page, en.bookNow).click();
  await page.getByText(shared.errors.network).waitFor();
  await goOnline(page);
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
  expect(await bookingsOf(professional)).toHaveLength(1);
});

test("an answer that got lost does not book twice, not even after a reload", async () => {
  const { professional, page } = await atDetails();
  await loseAnswers(page);
  await button(page, en.bookNow).click();
  await page.getByText(shared.errors.network).waitFor();
  expect(await bookingsOf(professional)).toHaveLength(1);
  await page.unroute("**/create_booking");
  await page.reload();
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
  expect(await bookingsOf(professional)).toHaveLength(1);
});

test("whoever changes the language after a lost answer still books once", async () => {
  const { professional, page } = await atDetails();
  await loseAnswers(page);
  await button(page, en.bookNow).click();
  await page.getByText(shared.errors.network).waitFor();
  await page.unroute("**/create_booking");
  await page.getByRole("link", { name: "Italiano" }).click();
  await button(page, it.bookNow).click();
  await heading(page, it.done.confirmed);
  expect(await bookingsOf(professional)).toHaveLength(1);
});

test("what became of a hold is seen in another language too", async () => {
  const { service, page } = await atDetails(TEN(2), { verify_public_email: true });
  await button(page, en.bookNow).click();
  await heading(page, en.done.check);
  await page.getByRole("link", { name: "Italiano" }).click();
  await heading(page, it.done.check);
  await sql`
    update public.bookings set status = 'confirmed', expires_at = null
    where service_id = ${service.id}`;
  await page.reload();
  await heading(page, it.done.confirmed);
});

test("a hold that is older than the API remembers is not asked for again", async () => {
  const { professional, service, page } = await atDetails(TEN(2), { verify_public_email: true });
  await button(page, en.bookNow).click();
  await heading(page, en.done.check);
  await page.evaluate(() => {
    for (const [name, value] of Object.entries(sessionStorage)) {
      const made = JSON.parse(value);
      if (!name.startsWith("made:")) continue;
      const expires_at = new Date(Date.now() - 6.5 * 86_400_000).toISOString();
      sessionStorage.setItem(
        name,
        JSON.stringify({ ...made, receipt: { ...made.receipt, expires_at } }),
      );
    }
  });
  await sql`delete from private.idempotency_keys where professional_id = ${professional.id}`;
  await sql`delete from public.bookings where service_id = ${service.id}`;
  await page.reload();
  await page.getByText(en.done.forgotten).waitFor();
  expect(await bookingsOf(professional)).toEqual([]);
});

test("what was written to one professional is not there at another", async () => {
  const { page } = await atDetails();
  await page.getByLabel(en.notes).fill("Between us");
  const other = await bookable();
  const service = await openService(other);
  const path = pathOf(other, { service: service.id, start: TEN(2) });
  await page.goto(new URL(path, page.url()).href);
  await heading(page, en.yourDetails);
  expect(await page.getByLabel(en.notes).inputValue()).toBe("");
  await page.goBack();
  await heading(page, en.yourDetails);
  expect(await page.getByLabel(en.notes).inputValue()).toBe("Between us");
  await page.getByRole("link", { name: en.allTimes }).click();
  await heading(page, en.chooseTime);
});

test.each([
  { start: "nonsense" },
  { start: "99999" },
  { day: "nonsense" },
  { day: "99999-01-01" },
  { day: "2027-13-45" },
  { day: "2027-01-05[u-ca=hebrew]" },
  { day: dayAhead(-300) },
  { day: dayAhead(3000) },
])("an address with %j shows the free times", async (query) => {
  const professional = await bookable();
  const service = await openService(professional);
  const page = await openPage(pathOf(professional, { service: service.id, ...query }));
  await freeDays(page).first().waitFor();
  // The month that is named is the one whose days are there.
  const [named, ofDays] = await Promise.all(
    ["calendar-date h2", "calendar-month #h"].map((at) => page.locator(at).textContent()),
  );
  expect(named).toContain(ofDays);
});

test.each<[string, () => void]>([
  [
    "keeps nothing for sites",
    () => {
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException("denied", "SecurityError");
          },
        });
      }
    },
  ],
  [
    "has no room for what sites keep",
    () => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    },
  ],
  [
    "cannot name its time zone",
    () => {
      const resolve = Intl.DateTimeFormat.prototype.resolvedOptions;
      Intl.DateTimeFormat.prototype.resolvedOptions = function () {
        return { ...resolve.call(this), timeZone: "Etc/Unknown" };
      };
    },
  ],
  ["holds what is none of ours", () => sessionStorage.setItem("portal.session", "{")],
])("in a browser that %s there are pages too", async (_, change) => {
  const professional = await bookable();
  const service = await openService(professional);
  const path = pathOf(professional, { service: service.id, start: TEN(2), lang: "en" });
  const before = (page: Page) => page.addInitScript(change);
  const page = await openPage(path, { before });
  await fillIn(page, newAddress());
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
  for (const other of ["/portal/", "/day/"]) {
    await (await openPage(other, { before })).getByRole("heading", { level: 1 }).waitFor();
  }
});

test("two tabs do not disturb each other", async () => {
  const { professional, service, page } = await atDetails();
  const tab = await openTab(page, pathOf(professional, { service: service.id, start: TEN(3) }));
  expect(await tab.getByLabel(en.name).inputValue()).toBe("");
  const other = newAddress();
  await fillIn(tab, other);
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
  await button(tab, en.bookNow).click();
  await heading(tab, en.done.confirmed);
  await tab.getByText(other).waitFor();
  await page.reload();
  await heading(page, en.done.confirmed);
  expect(await page.getByText(other).count()).toBe(0);
  expect(await bookingsOf(professional)).toHaveLength(2);
});

test("back and forward go from step to step, and not into a form that was sent", async () => {
  const professional = await bookable();
  await openService(professional, { name: "Cut" });
  const page = await openPage(pathOf(professional));
  await page.getByRole("link", { name: "Cut" }).click();
  await freeDays(page).first().click();
  const chosen = page.locator("calendar-month [aria-pressed=true]");
  const day = await chosen.getAttribute("aria-label");
  await page.locator(".chip").first().click();
  await heading(page, en.yourDetails);
  await page.goBack();
  await heading(page, en.chooseTime);
  expect(await chosen.getAttribute("aria-label")).toBe(day);
  await page.goBack();
  await heading(page, "Ana Bianchi");
  await page.goForward();
  await page.goForward();
  await heading(page, en.yourDetails);
  await fillIn(page, newAddress());
  await page.getByLabel(en.notes).fill("Fringe");
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
  await page.goBack();
  await heading(page, en.chooseTime);
  await page.goForward();
  await heading(page, en.done.confirmed);
  expect(await bookingsOf(professional)).toHaveLength(1);
  // Another booking is of the same client, with notes of its own.
  await page.goBack();
  await page.locator(".chip").last().click();
  expect(await page.getByLabel(en.name).inputValue()).toBe("Gio Verdi");
  expect(await page.getByLabel(en.notes).inputValue()).toBe("");
});

test("a way back over several steps leads to the times of the service that is named", async () => {
  const professional = await bookable();
  await openService(professional, { name: "Cut", max_advance_days: 20 });
  await openService(professional, { name: "Colour", min_notice: 60 * 24 * 60 });
  const page = await openPage(pathOf(professional));
  await page.getByRole("link", { name: "Cut" }).click();
  await dayButton(page, dayAhead(1)).or(nextMonth(page)).first().waitFor();
  await freeDays(page).first().waitFor();
  const month = await page.locator("calendar-date h2").textContent();
  await page.getByRole("link", { name: "Ana Bianchi" }).click();
  await page.getByRole("link", { name: "Colour" }).click();
  await freeDays(page).first().waitFor();
  expect(await page.locator("calendar-date h2").textContent()).not.toBe(month);
  await page.evaluate(() => history.go(-2));
  await page.getByText("Cut").waitFor();
  await freeDays(page).first().waitFor();
  expect(await page.locator("calendar-date h2").textContent()).toBe(month);
});

test("notes of a booking that waits for its mail are not in the next one", async () => {
  const { service, page } = await atDetails(TEN(2), { verify_public_email: true });
  await page.getByLabel(en.notes).fill("Fringe");
  await button(page, en.bookNow).click();
  await heading(page, en.done.check);
  await page.getByRole("link", { name: en.done.more }).click();
  await page.getByRole("link", { name: service.name }).click();
  await freeDays(page).first().click();
  await page.locator(".chip").first().click();
  expect(await page.getByLabel(en.name).inputValue()).toBe("Gio Verdi");
  expect(await page.getByLabel(en.notes).inputValue()).toBe("");
});

test("a calendar file that cannot be made is told, and made at the next try", async () => {
  const { page } = await atDetails();
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
  expectFault(page, "net::ERR_FAILED");
  await page.route("**/assets/**", (route) => route.abort());
  await button(page, en.done.calendar).click();
  await page.getByText(shared.errors.unknown).waitFor();
  await expectAccessible(page);
  await page.unroute("**/assets/**");
  const downloading = page.waitForEvent("download");
  await button(page, en.done.calendar).click();
  const file = readFileSync(await (await downloading).path(), "utf8");
  expect(file.endsWith("\r\nEND:VCALENDAR\r\n")).toBe(true);
});

test("a last month without free days does not say so of those before it", async () => {
  const availability = { weekly: {}, overrides: { [dayAhead(2)]: [["09:00", "10:00"]] } };
  const professional = await bookable({ availability: availability as never });
  const service = await openService(professional, { max_advance_days: 35 });
  const page = await openPage(pathOf(professional, { service: service.id }));
  await freeDays(page).first().waitFor();
  while ((await nextMonth(page).getAttribute("aria-disabled")) === null) {
    await nextMonth(page).click();
    await page.locator(".month[aria-busy=false]").waitFor();
  }
  await page.getByText(shared.slots.none).waitFor();
  expect(await button(page, shared.slots.search).count()).toBe(0);
});

test("from a month without free days the next one is found, and the focus is at its name", async () => {
  const hours = [["09:00", "10:00"]];
  const days = [dayAhead(2), dayOfMonth(3, 9)];
  const overrides = Object.fromEntries(days.map((day) => [day, hours]));
  const professional = await bookable({ availability: { weekly: {}, overrides } as never });
  const service = await openService(professional, { max_advance_days: 150 });
  const page = await openPage(pathOf(professional, { service: service.id }));
  await freeDays(page).first().waitFor();
  await nextMonth(page).click();
  await button(page, shared.slots.search).click();
  await dayButton(page, dayOfMonth(3, 9)).and(freeDays(page)).waitFor();
  const month = new Date(dayOfMonth(3, 9)).toLocaleDateString("en-GB", {
    ...{ month: "long", year: "numeric", timeZone: "UTC" },
  });
  expect(await focused(page)).toBe(`h2 "${month}"`);
});

test("when nothing is free it says so; what is free later is found", async () => {
  const professional = await bookable({ availability: { weekly: {}, overrides: {} } as never });
  const service = await openService(professional, { max_advance_days: 100 });
  const path = pathOf(professional, { service: service.id });
  const page = await openPage(path);
  await page.getByText(shared.slots.noneAtAll).waitFor();
  await expectAccessible(page);
  const [first, day] = [dayOfMonth(2, 0), dayOfMonth(2, 4)];
  const hours = [["09:00", "10:00"]];
  const availability = { weekly: {}, overrides: { [first]: hours, [day]: hours } };
  await professional.api.from("profiles").update({ availability }).eq("id", professional.id);
  await page.reload();
  await freeDays(page).first().waitFor();
  const other = dayButton(page, dayOfMonth(2, 2));
  expect(await other.getAttribute("aria-disabled")).toBe("true");
  await dayButton(page, day).and(freeDays(page)).click();
  await button(page, "09:00").waitFor();
});

test("an API that does not answer is told, with a way to try again", async () => {
  const professional = await bookable();
  const page = await openPage(pathOf(professional));
  await heading(page, "Ana Bianchi");
  expectFault(page, "net::ERR_FAILED");
  await page.route("**/booking_page", (route) => route.abort());
  await page.reload();
  await page.getByText(shared.errors.network).waitFor();
  await expectAccessible(page);
  await page.unroute("**/booking_page");
  let answer = { status: 429, json: { code: "x", message: "Wait." } };
  await page.route("**/booking_page", (route) => route.fulfill(answer));
  await button(page, shared.tryAgain).click();
  await page.getByText(shared.errors.busy).waitFor();
  // What has no words of ours is said in English to nobody else.
  answer = { ...answer, status: 400 };
  await page.getByRole("link", { name: "Italiano" }).click();
  await page.getByText(condivisi.errors.unknown).waitFor();
  await page.unroute("**/booking_page");
  await page.getByRole("link", { name: "English" }).click();
  await heading(page, "Ana Bianchi");
});

/** The next last Sunday of October, on which clocks in Rome are put back at three. */
function nightOfTheChange(): string {
  for (let day = 0; ; day++) {
    const date = dayAhead(day + 2);
    const [, month, of] = date.split("-").map(Number);
    if (month === 10 && (of ?? 0) > 24 && new Date(date).getUTCDay() === 0) return date;
  }
}

describe("the night in which clocks are put back", () => {
  const night = nightOfTheChange();
  const [first, second] = [`${night}T00:30:00.000Z`, `${night}T01:30:00.000Z`];

  async function open(timeZone: string, day: string, width = 1200) {
    const professional = await bookable({ availability: everyDay(["00:00", "06:00"]) as never });
    const service = await openService(professional, { duration: 30, slot_step: 30 });
    const path = pathOf(professional, { service: service.id, day });
    const page = await openPage(path, { timeZone, width });
    await page.locator(".chip").first().waitFor();
    return { professional, page };
  }
  const chips = (page: Page) => page.locator(".chip").allTextContents();

  test("at home has 02:30 twice, which can be told apart", async () => {
    const { professional, page } = await open("Europe/Rome", night);
    const twice = (await chips(page)).filter((text) => text.startsWith("02:30"));
    expect(twice).toEqual(["02:30 CEST", "02:30 CET"]);
    expect(await page.locator(".zones").count()).toBe(0);
    await button(page, "02:30 CET").click();
    await page.getByText("02:30 CET").waitFor();
    await fillIn(page, newAddress());
    await button(page, en.bookNow).click();
    await heading(page, en.done.confirmed);
    const [booking] = await bookingsOf(professional);
    expect(booking?.starts_at.toISOString()).toBe(second);
  });

  test("from New York is an evening, with the clock of Rome beside it", async () => {
    const evening = new Date(Date.parse(night) - 86_400_000).toISOString().slice(0, 10);
    const { professional, page } = await open("America/New_York", evening, 360);
    const texts = await chips(page);
    expect(texts).toContain("20:3002:30 CEST in Rome");
    expect(texts).toContain("21:3002:30 CET in Rome");
    await page.getByText("New York").first().waitFor();
    await expectAccessible(page);
    await button(page, /^20:30/).click();
    await page.getByText(shared.slots.inZone("Rome")).waitFor();
    await page.getByText(/02:30 CEST$/).waitFor();
    await fillIn(page, newAddress());
    await button(page, en.bookNow).click();
    await heading(page, en.done.confirmed);
    const [booking] = await bookingsOf(professional);
    expect(booking?.starts_at.toISOString()).toBe(first);
  });
});

/** So many days after the first of a month that is so many months from now. */
function dayOfMonth(months: number, days: number): string {
  const date = new Date(dayAhead(2));
  date.setUTCMonth(date.getUTCMonth() + months, 1 + days);
  return date.toISOString().slice(0, 10);
}

// Whose month begins while Rome's is the one before, and ends when it is the next already.
test.each([
  ["Pacific/Auckland", dayOfMonth(1, 0)],
  ["Pacific/Honolulu", dayOfMonth(2, -1)],
])(
  "a visitor in %s sees all starts of a month's edge, on dates of that zone",
  async (zone, day) => {
    const professional = await bookable();
    const service = await openService(professional, { duration: 60, slot_step: 60 });
    const page = await openPage(pathOf(professional, { service: service.id, day }), {
      timeZone: zone,
    });
    await page.locator(".chip").first().waitFor();
    const rows = await sql<{ time: string }[]>`
    select to_char(at at time zone ${zone}, 'HH24:MI') as time
    from generate_series(-30, 60) as h,
      lateral (select (${day}::date + h * interval '1 hour') at time zone 'Europe/Rome' as at) as s
    where (at at time zone ${zone})::date = ${day}::date
      and extract(hour from at at time zone 'Europe/Rome') between 9 and 17
    order by at`;
    const chips = await page.locator(".chip").allTextContents();
    expect(chips.map((text) => text.slice(0, 5))).toEqual(rows.map((r) => r.time));
    // From one day to another the focus goes to its times.
    await freeDays(page).nth(9).click();
    await expect.poll(() => focused(page)).toMatch(/^h2/);
  },
);

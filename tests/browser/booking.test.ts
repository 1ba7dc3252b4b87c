/** A visitor books, from the services to the mail. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { en } from "../../pages/booking/texts/en.ts";
import { it } from "../../pages/booking/texts/it.ts";
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
  expectToFit,
  focused,
  freeDays,
  linksIn,
  linkTo,
  mailTo,
  nextMonth,
  openPage,
  type Page,
  pagesUrl,
} from "../support/browser.ts";
import { sql } from "../support/database.ts";
import { createService } from "../support/factories.ts";
import { openService } from "../support/scheduling.ts";

async function expectGood(page: Page) {
  await expectAccessible(page);
  await expectToFit(page);
}

describe.each([
  { locale: "en-GB", width: 1200, texts: en },
  { locale: "it-IT", width: 360, texts: it },
])("in $locale at $width pixels", ({ locale, width, texts }) => {
  test("service, day, time, details; then it is booked and the mail has a link", async () => {
    const professional = await bookable({ bio: "مرحبا\nTrastevere" });
    const service = await openService(professional, {
      name: "Taglio",
      location: "Via Roma 1\rATTACH:x",
    });
    const email = newAddress();
    const page = await openPage(pathOf(professional), { locale, width });

    await heading(page, "Ana Bianchi");
    expect(await page.title()).toBe("Ana Bianchi");
    expect(await page.getByText("Trastevere").getAttribute("dir")).toBe("auto");
    await expectGood(page);
    await page.getByRole("link", { name: "Taglio" }).click();

    await heading(page, texts.chooseTime);
    expect(await focused(page)).toBe(`h1 "${texts.chooseTime}"`);
    const day = dayAhead(3);
    await freeDays(page).first().waitFor();
    const chosen = dayButton(page, day, locale);
    if (!(await chosen.isVisible())) await nextMonth(page).click();
    await chosen.and(freeDays(page)).click();
    await button(page, "10:15").waitFor();
    expect(await focused(page)).toMatch(/^h2/);
    expect(await page.locator(".zones").count()).toBe(0);
    await expectGood(page);
    await button(page, "10:15").click();

    await heading(page, texts.yourDetails);
    expect(await focused(page)).toBe(`h1 "${texts.yourDetails}"`);
    await expectGood(page);
    await page.getByLabel(texts.name).fill("Gio Verdi");
    await page.getByLabel(texts.email).fill(email);
    await page.getByLabel(texts.notes).fill("Frangia");
    await button(page, texts.bookNow).click();

    await heading(page, texts.done.confirmed);
    expect(await focused(page)).toBe(`h1 "${texts.done.confirmed}"`);
    const [link = ""] = texts.done.mailLink("|").split("|");
    await page.getByText(`${texts.done.mail(email)} ${link}`).waitFor();
    await expectGood(page);
    const [booking] = await bookingsOf(professional);
    const [row] = await sql`
      select b.notes, c.name, c.language from public.bookings b join public.clients c on c.id = b.client_id
      where b.id = ${booking?.id ?? ""}`;
    expect(row).toEqual({ notes: "Frangia", name: "Gio Verdi", language: locale.slice(0, 2) });

    const downloading = page.waitForEvent("download");
    await button(page, texts.done.calendar).click();
    const file = readFileSync(await (await downloading).path(), "utf8");
    const start = booking?.starts_at.toISOString().replace(/[-:]|\.\d+/g, "");
    expect(file.split("\r\n")).toEqual(
      expect.arrayContaining([
        `UID:${booking?.id}`,
        "SEQUENCE:1",
        "STATUS:CONFIRMED",
        `DTSTART:${start}`,
        "LOCATION:Via Roma 1\\nATTACH:x",
      ]),
    );

    // It still is what it was after a reload, and the mail leads to the portal of these pages.
    await page.reload();
    await heading(page, texts.done.confirmed);
    expect(await linkTo(email, "manage")).toContain(`${pagesUrl}/portal/#manage=`);
    expect(service.id).toBeTruthy();
  });
});

test.each([320, 360])("months are turned by whole words on %i pixels", async (width) => {
  const professional = await bookable();
  const service = await openService(professional);
  const path = pathOf(professional, { service: service.id });
  const page = await openPage(path, { width, locale: "it-IT" });
  const lines = (selector: string) =>
    page.locator(selector).evaluateAll((all) =>
      all.map((each) => {
        const range = document.createRange();
        range.selectNodeContents(each);
        return range.getClientRects().length;
      }),
    );
  for (let turned = 0; turned < 12; turned++) {
    await freeDays(page).first().waitFor();
    await expectToFit(page);
    expect(await lines("calendar-date > span")).toEqual([1, 1]);
    // Of two words, of which neither is broken.
    expect((await lines("calendar-date > h2"))[0]).toBeLessThanOrEqual(2);
    await nextMonth(page).click();
  }
});

test("keys alone lead from the services to the booking", async () => {
  const professional = await bookable();
  await openService(professional, { name: "Cut" });
  const page = await openPage(pathOf(professional));
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const tabTo = async (name: RegExp) => {
    for (let tries = 0; tries < 30; tries++) {
      if (name.test(await focused(page))) return;
      await press("Tab");
    }
    expect(await focused(page)).toMatch(name);
  };
  await heading(page, "Ana Bianchi");
  await tabTo(/Cut/);
  await press("Enter");
  await freeDays(page).first().waitFor();
  await tabTo(/^button "\d+ \w+"/);
  const first = await focused(page);
  await press("ArrowRight");
  await expect.poll(() => focused(page)).not.toBe(first);
  // The arrows lead over the end of a month, whose free days come then.
  await freeDays(page).first().waitFor();
  await press("Enter");
  await page.locator(".chip").first().waitFor();
  await tabTo(/:\d\d/);
  await press("Enter");
  await heading(page, en.yourDetails);
  await tabTo(/Name/);
  await page.keyboard.type("Gio");
  await press("Tab");
  await page.keyboard.type(newAddress());
  await press("Enter");
  await heading(page, en.done.confirmed);
});

test("what has to be confirmed by the professional is asked for, and says so", async () => {
  const professional = await bookable();
  const asked = { requires_confirmation: true, cancellation_notice: 10_000 };
  const service = await openService(professional, asked);
  const start = `${dayAhead(2)}T09:00:00.000Z`;
  const page = await openPage(pathOf(professional, { service: service.id, start }));
  const email = newAddress();
  await fillIn(page, email);
  await button(page, en.bookAsk).click();
  await heading(page, en.done.asked);
  await page.getByText(en.done.askedText("Ana Bianchi")).waitFor();
  // It is too late to change it already.
  await page.getByText(en.done.mail(email), { exact: true }).waitFor();
  await expectAccessible(page);
});

test("where addresses are verified it waits for the link of the mail, and can look again", async () => {
  const professional = await bookable({ verify_public_email: true });
  const service = await openService(professional);
  const start = `${dayAhead(2)}T09:00:00.000Z`;
  const email = newAddress();
  const page = await openPage(pathOf(professional, { service: service.id, start }));
  await fillIn(page, email);
  let asked = 0;
  page.on("request", (sent) => {
    if (sent.method() === "POST" && sent.url().endsWith("/create_booking")) asked++;
  });
  await button(page, en.bookNow).click();
  await heading(page, en.done.check);
  await expectAccessible(page);
  const mail = await mailTo(email);
  // Each look is a try of the public: there is none before somebody wants it.
  expect(asked).toBe(1);
  expect(linksIn(mail).some((link) => link.includes("/portal/#confirm="))).toBe(true);
  // As the owner, who may say so by hand.
  await professional.api
    .from("bookings")
    .update({ status: "confirmed" })
    .eq("service_id", service.id);
  await button(page, en.done.look).click();
  await heading(page, en.done.confirmed);
  expect(await focused(page)).toBe(`h1 "${en.done.confirmed}"`);
});

test("an address that cannot be is marked at its field, and nothing is lost", async () => {
  const professional = await bookable();
  const service = await openService(professional);
  const start = `${dayAhead(2)}T09:00:00.000Z`;
  const page = await openPage(pathOf(professional, { service: service.id, start }));
  await fillIn(page, "gio@");
  await button(page, en.bookNow).click();
  await page.getByRole("alert").waitFor();
  const field = page.getByLabel(en.email);
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByLabel(en.name).getAttribute("aria-invalid")).toBe("false");
  await expectAccessible(page);
  await page.reload();
  expect(await field.inputValue()).toBe("gio@");
  await field.fill(newAddress());
  await button(page, en.bookNow).click();
  await heading(page, en.done.confirmed);
});

test("services show their category, length, price and what is paid", async () => {
  const professional = await bookable();
  await createService(professional, { name: "Cut", category: "Hair", price: 38, duration: 90 });
  await createService(professional, {
    name: "Dye",
    category: "Colour",
    payment: "deposit",
    deposit: 15,
    requires_confirmation: true,
  });
  await createService(professional, { name: "Talk", payment: "full", price: 0 });
  const page = await openPage(pathOf(professional));
  await page.getByRole("heading", { level: 3, name: "Colour" }).waitFor();
  const offer = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  expect(await offer("Cut").textContent()).toMatch(/1 h 30 min[\s\S]*€38\.00/);
  expect(await offer("Dye").textContent()).toContain(en.payDeposit("€15.00"));
  expect(await offer("Dye").textContent()).toContain(en.asksFirst);
  expect(await offer("Talk").textContent()).toBe("Talk1 hfree");
  // Like any link, it opens in another tab too.
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    page.getByRole("link", { name: "Cut" }).click({ modifiers: ["ControlOrMeta"] }),
  ]);
  await heading(tab, en.chooseTime);
  await heading(page, "Ana Bianchi");
});

test.each([
  ["nobody", "?professional=nobody-at-all"],
  ["no name at all", `?professional=${"x".repeat(70)}`],
])("a page of %s says so", async (_, query) => {
  const page = await openPage(`/${query}`);
  await heading(page, en.unknownTitle);
  await expectAccessible(page);
});

test("of a professional who accepts nothing there is no page; without a service it says so", async () => {
  const closed = await bookable({ accepts_bookings: false });
  await heading(await openPage(pathOf(closed)), en.unknownTitle);
  const empty = await bookable();
  const page = await openPage(pathOf(empty));
  await heading(page, "Ana Bianchi");
  await page.getByText(en.nothing).waitFor();
});

test.each(["service", "product"])("a %s that is gone says so, and shows the others", async (it) => {
  const professional = await bookable();
  await openService(professional, { name: "Cut" });
  const page = await openPage(pathOf(professional, { [it]: crypto.randomUUID() }));
  await page.getByText(en.gone).waitFor();
  await page.getByRole("link", { name: "Cut" }).waitFor();
});

test("another language keeps the step and what was typed", async () => {
  const professional = await bookable();
  const service = await openService(professional);
  const start = `${dayAhead(2)}T09:00:00.000Z`;
  const page = await openPage(pathOf(professional, { service: service.id, start }));
  await page.getByLabel(en.name).fill("Gio");
  await page.getByRole("link", { name: "Italiano" }).click();
  await heading(page, it.yourDetails);
  expect(await page.getByLabel(it.name).inputValue()).toBe("Gio");
  expect(await page.locator("html").getAttribute("lang")).toBe("it");
  await page.goto(new URL(pathOf(professional), pagesUrl).href);
  await page.getByRole("heading", { name: it.book }).waitFor();
});

test("in the dark axe finds nothing either", async () => {
  const professional = await bookable({ bio: "Since 2009" });
  const service = await openService(professional);
  const page = await openPage(pathOf(professional), { locale: "en-US" });
  await page.emulateMedia({ colorScheme: "dark" });
  await heading(page, "Ana Bianchi");
  await expectAccessible(page);
  await page.goto(new URL(pathOf(professional, { service: service.id }), pagesUrl).href);
  await freeDays(page).first().click();
  await page.locator(".chip").first().waitFor();
  // Where weeks begin with it.
  expect(await page.locator("calendar-month th").first().textContent()).toContain("Sun");
  await expectAccessible(page);
  await page.locator(".chip").first().click();
  await button(page, en.bookNow).click();
  await page.getByRole("alert").waitFor();
  await expectAccessible(page);
});

test("a professional without a name goes by the username", async () => {
  const professional = await bookable({ full_name: "" });
  const page = await openPage(pathOf(professional));
  await heading(page, `ana-${professional.id}`);
});

test("without JavaScript the page says what it needs, in both languages", async () => {
  const page = await openPage("/");
  const html = await (await page.request.get(page.url())).text();
  expect(/<noscript>[\s\S]*JavaScript[\s\S]*lang="it"[\s\S]*<\/noscript>/.test(html)).toBe(true);
});

/**
 * Pages in a real browser. A page that logs an error, breaks its content security policy, or asks anybody but
 * its own host, the API and the payment page for something fails the test at its end, unless the test has
 * said so before (`expectFault`).
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { afterEach, expect } from "vitest";
import { request } from "./callers.ts";
import { findChromium } from "./chromium.ts";
import { closeAtTheEnd } from "./closing.ts";
import { sql } from "./database.ts";
import type { Professional } from "./factories.ts";
import { stripe } from "./pages-control.ts";
import { type Mail, mailsTo } from "./portal.ts";
import { stack } from "./stack.ts";
import { answerOf, until } from "./webhooks.ts";

export { type Page, stripe };

/** Where the pages are, and where the fake Stripe's page is. */
export const pagesUrl = process.env.PAGES_URL ?? "";
export const checkoutUrl = process.env.CHECKOUT_URL ?? "";

const WAIT_MS = 10_000;

/** One for each file; a context of its own for each `openPage`. */
let launching: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  if (!launching) {
    const executablePath = findChromium();
    if (!executablePath) throw new Error("there is no Chromium: run the suite with npm test");
    // Root has no sandbox, and what is opened here is our own.
    launching = chromium.launch({ executablePath, chromiumSandbox: false });
    closeAtTheEnd(async () => (await launching)?.close());
  }
  return launching;
}

/** What went wrong in a context so far, and what of it the test has named. */
interface Watch {
  context: BrowserContext;
  faults: string[];
  expected: (string | RegExp)[];
  isOffline: boolean;
}

const watches: Watch[] = [];

const matches = (text: string, pattern: string | RegExp) =>
  typeof pattern === "string" ? text.includes(pattern) : pattern.test(text);

function watchContext(context: BrowserContext, more: string[]): Watch {
  const origins = [pagesUrl, stack.apiUrl, checkoutUrl, ...more].map((url) => new URL(url).origin);
  const watch: Watch = { context, faults: [], expected: [], isOffline: false };
  context.on("weberror", (error) => watch.faults.push(`uncaught: ${error.error()}`));
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    const text = message.text();
    const { url } = message.location();
    // Chromium logs each refusal of an API; what the page makes of it is the test's business.
    const status = Number(/^Failed to load resource: .* status of (\d+)/.exec(text)?.[1]);
    if (url.startsWith(stack.apiUrl) && status >= 400 && status < 500) return;
    if (watch.isOffline && text.includes("net::ERR_INTERNET_DISCONNECTED")) return;
    watch.faults.push(`console: ${text} (${url})`);
  });
  context.on("request", (sent) => {
    const { protocol, origin } = new URL(sent.url());
    if (protocol.startsWith("http") && !origins.includes(origin)) {
      watch.faults.push(`third party: ${sent.method()} ${sent.url()}`);
    }
  });
  watches.push(watch);
  return watch;
}

function watchOf(page: Page): Watch {
  const watch = watches.find(({ context }) => context === page.context());
  if (!watch) throw new Error("this page was not opened by openPage");
  return watch;
}

afterEach(async () => {
  const ended = watches.splice(0);
  await Promise.all(ended.map(({ context }) => context.close()));
  const faults = ended.flatMap((watch) =>
    watch.faults.filter((text) => !watch.expected.some((pattern) => matches(text, pattern))),
  );
  expect(faults, "what the pages did wrong").toEqual([]);
});

export interface PageOptions {
  /** 1200 by 800 unless given. */
  width?: number;
  height?: number;
  /** Of the browser: what `navigator.languages` says. English unless given. */
  locale?: string;
  /** Of the visitor; Rome unless given. */
  timeZone?: string;
  /** The visitor prefers dark colours. */
  dark?: boolean;
  /** Entries of `sessionStorage`, there before the page is. */
  session?: Record<string, string>;
  /** Other hosts that this page may ask, such as one with images. */
  origins?: string[];
  /** Prepares the page before it goes anywhere: a clock, an answer of another host. */
  before?: (page: Page) => Promise<unknown>;
}

/** Opens a path of the pages, or a whole address such as one in a mail, as a visitor who was never here. */
export async function openPage(path: string, options: PageOptions = {}): Promise<Page> {
  const { width = 1200, height = 800, locale = "en-GB", timeZone = "Europe/Rome" } = options;
  const url = new URL(path, pagesUrl);
  const browser = await launch();
  const context = await browser.newContext({
    viewport: { width, height },
    locale,
    timezoneId: timeZone,
    colorScheme: options.dark ? "dark" : "light",
    // Nothing moves that a test would have to wait for.
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(WAIT_MS);
  const more = [...(options.origins ?? []), ...(url.origin === pagesUrl ? [] : [url.origin])];
  watchContext(context, more);
  const entries = Object.entries(options.session ?? {});
  if (entries.length > 0) {
    await context.addInitScript((given: [string, string][]) => {
      for (const [name, value] of given) sessionStorage.setItem(name, value);
    }, entries);
  }
  const page = await context.newPage();
  await options.before?.(page);
  await page.goto(url.href);
  return page;
}

/** Another tab of the same visitor. */
export async function openTab(page: Page, path: string): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(new URL(path, pagesUrl).href);
  return tab;
}

/** A console error or another fault that this test is about: it does not fail for it. */
export function expectFault(page: Page, pattern: string | RegExp): void {
  watchOf(page).expected.push(pattern);
}

/** Faults so far, which then fail no test: for tests of faults. */
export function faultsOf(page: Page): string[] {
  return watchOf(page).faults.splice(0);
}

export async function goOffline(page: Page): Promise<void> {
  watchOf(page).isOffline = true;
  await page.context().setOffline(true);
}

export async function goOnline(page: Page): Promise<void> {
  await page.context().setOffline(false);
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** What axe finds in the page as it stands now: nothing. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const { axe: checker } = window as unknown as { axe: typeof axe };
    const { violations } = await checker.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
    );
  });
  expect(found, `axe at ${page.url()}`).toEqual([]);
}

/** Nothing is wider than the window, so nobody has to scroll sideways. */
export async function expectToFit(page: Page): Promise<void> {
  const tooWide = await page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.body.querySelectorAll("*")].filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return right > clientWidth + 0.5 || left < -0.5;
    });
    return [
      `${scrollWidth} of ${clientWidth}`,
      ...wide.map(({ outerHTML }) => outerHTML.slice(0, 120)),
    ];
  });
  expect(tooWide, `wider than the window at ${page.url()}`).toEqual([]);
}

/** The days of the month shown that have a free start. */
export const freeDays = (page: Page): Locator => page.locator("calendar-month [part~=free]");

/** A day of the month shown, by its name in the language of the page. */
export function dayButton(page: Page, date: string, locale = "en-GB"): Locator {
  const options = { day: "numeric", month: "long", timeZone: "UTC" } as const;
  const name = new Date(date).toLocaleDateString(locale, options);
  return page.locator("calendar-month").getByRole("button", { name, exact: true });
}

/** Turns the calendar to the next month. */
export const nextMonth = (page: Page): Locator => page.locator("calendar-date [part~=next]");

/** What has the focus, as a screen reader names it: `button "Book"`, `h1 "Your details"`. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    let element = document.activeElement as HTMLElement | null;
    while (element?.shadowRoot?.activeElement) {
      element = element.shadowRoot.activeElement as HTMLElement;
    }
    if (!element || element === document.body) return "";
    const label = (element as HTMLInputElement).labels?.[0]?.textContent;
    const name = element.getAttribute("aria-label") ?? label ?? element.textContent ?? "";
    return `${element.localName} "${name.replace(/\s+/g, " ").trim()}"`;
  });
}

/** Presses Tab until the focus is at something of this name, as `focused` says it; no mouse is needed. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const met: string[] = [];
  while (!matches(await focused(page), name)) {
    if (met.length === 100)
      throw new Error(`Tab never comes to ${name}, only to ${met.join(", ")}`);
    await page.keyboard.press("Tab");
    met.push(await focused(page));
  }
}

/** Waits for a mail to an address that is as wanted, and returns the newest such. */
export async function mailTo(
  address: string,
  wanted: (mail: Mail) => boolean = () => true,
): Promise<Mail> {
  const mails = await until(
    () => mailsTo(address),
    (found) => found.some(wanted),
    20,
  );
  return mails.find(wanted) as Mail;
}

/** All addresses in a mail's text. */
export const linksIn = ({ Text }: Pick<Mail, "Text">): string[] =>
  Text.match(/https?:\/\/[^\s<>"]+/g) ?? [];

/** Waits for a mail with a link of this purpose (`manage`, `confirm`, `unsubscribe` …), the newest one's. */
export async function linkTo(address: string, purpose: string): Promise<string> {
  const find = (mail: Mail) => linksIn(mail).find((link) => link.includes(`#${purpose}=`));
  return find(await mailTo(address, (mail) => find(mail) !== undefined)) as string;
}

export const PASSWORD = "correct horse";

/** Lets a professional of the factories sign in with `PASSWORD`. */
export async function allowPassword({ id, email }: Professional): Promise<void> {
  await sql`
    update auth.users set
      instance_id = '00000000-0000-0000-0000-000000000000',
      encrypted_password = extensions.crypt(${PASSWORD}, extensions.gen_salt('bf', 4)),
      email_confirmed_at = now(), confirmation_token = '', recovery_token = '',
      email_change = '', email_change_token_new = ''
    where id = ${id}`;
  await sql`
    insert into auth.identities (
      id, provider_id, user_id, identity_data, provider, created_at, updated_at
    )
    values (gen_random_uuid(), ${id}, ${id}, ${sql.json({ sub: id, email })}, 'email', now(), now())`;
}

/** Connects a professional to the fake Stripe, with the form filled in: may be paid. */
export async function connectStripe({ token }: Pick<Professional, "token">): Promise<void> {
  const body = JSON.stringify({ return_url: `${pagesUrl}/day/` });
  const account = (init: RequestInit) =>
    request("/functions/v1/payments/account", { token, ...init });
  const { url } = await answerOf<{ url: string }>(account({ method: "POST", body }));
  await stripe.onboard(/acct_\w+/.exec(url)?.[0] ?? "");
  const { can_charge } = await answerOf<{ can_charge: boolean }>(account({ method: "GET" }));
  if (!can_charge) throw new Error("the account cannot charge");
}

/**
 * `npm run screenshots`: pictures of the pages and of some mails, for README and docs, from a stack of its own with
 * the demo data.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { UserError } from "../local/ports.ts";
import { PROJECT_DIR } from "../local/state.ts";
import { findChromium } from "../tests/support/chromium.ts";
import { type PagesStack, startPagesStack } from "../tests/support/pages-stack.ts";

const OUT = join(PROJECT_DIR, "docs", "images");
const MOST_BYTES = 150_000;
const PAGE = { width: 1200, height: 800 };
const MAIL = { width: 640, height: 160 };

const PROFESSIONAL = "a0000000-0000-4000-8000-000000000001";
const HAIRCUT = "a0000000-0000-4000-8000-000000000011";
const SHAMPOO = "a0000000-0000-4000-8000-000000000033";
const MARTA = "marta@example.com";

function save(name: string, picture: Buffer): void {
  if (picture.length > MOST_BYTES) throw new UserError(`${name}.png has ${picture.length} bytes.`);
  writeFileSync(join(OUT, `${name}.png`), picture);
  console.log(`docs/images/${name}.png: ${Math.ceil(picture.length / 1000)} kB`);
}

async function open(browser: Browser, viewport = PAGE): Promise<Page> {
  const context = await browser.newContext({
    viewport,
    locale: "en-GB",
    timezoneId: "Europe/Rome",
    colorScheme: "light",
    reducedMotion: "reduce",
  });
  return context.newPage();
}

/** Without a caret that blinks or a field that is lit up. */
async function take(name: string, page: Page, fullPage = false): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  save(name, await page.screenshot({ fullPage }));
  await page.context().close();
}

async function post(stack: PagesStack, path: string, body: object) {
  const { API_URL, PUBLISHABLE_KEY } = stack.env;
  const response = await fetch(`${API_URL}${path}`, {
    method: "POST",
    headers: { apikey: PUBLISHABLE_KEY, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

interface Mail {
  ID: string;
  Subject: string;
  Text: string;
  HTML: string;
}

/** The newest mail to an address whose subject is as wanted, as soon as it is there. */
async function mailTo(stack: PagesStack, address: string, subject: RegExp): Promise<Mail> {
  const { MAILPIT_URL } = stack.env;
  const query = new URLSearchParams({ query: `to:"${address}"` });
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const list = await fetch(`${MAILPIT_URL}/api/v1/search?${query}`);
    const { messages } = (await list.json()) as { messages: Mail[] };
    const found = messages.find(({ Subject }) => subject.test(Subject));
    if (found) return (await fetch(`${MAILPIT_URL}/api/v1/message/${found.ID}`)).json();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no mail to ${address} with ${subject}`);
}

/** What of the demo begins next on this day of the week, as a date in Rome. */
function next(weekday: string): string {
  const format = (options: Intl.DateTimeFormatOptions, at: number) =>
    new Intl.DateTimeFormat("sv", { timeZone: "Europe/Rome", ...options }).format(at);
  const days = [1, 2, 3, 4, 5, 6, 7].map((day) => Date.now() + day * 86_400_000);
  const english = (at: number) =>
    new Intl.DateTimeFormat("en", { timeZone: "Europe/Rome", weekday: "short" }).format(at);
  return format({}, days.find((at) => english(at) === weekday) ?? 0);
}

async function pages(browser: Browser, stack: PagesStack): Promise<void> {
  const { PAGES_URL } = stack.env;
  const booking = await open(browser);
  await booking.goto(`${PAGES_URL}/?professional=ana`);
  await booking.getByRole("link", { name: "Haircut" }).click();
  // A whole month, whatever day it is.
  await booking.locator("calendar-month [part~=free]").first().waitFor();
  await booking.locator("calendar-date [part~=next]").click();
  await booking.locator("calendar-month [part~=free]").nth(7).click();
  await booking.locator(".chip").first().waitFor();
  await take("booking", booking);

  const portal = await open(browser);
  await portal.goto(`${PAGES_URL}/portal/?professional=ana`);
  await portal.getByLabel("E-mail address").fill(MARTA);
  await portal.getByRole("button", { name: "Mail me a code" }).click();
  const { Text } = await mailTo(stack, MARTA, /code/i);
  await portal.getByLabel("Code").fill(/\b\d{6}\b/.exec(Text)?.[0] ?? "");
  await portal.getByRole("button", { name: "Sign in" }).click();
  await portal.getByRole("button", { name: /^Move/ }).first().waitFor();
  await take("portal", portal);

  const day = await open(browser);
  await day.goto(`${PAGES_URL}/day/?day=${next("Mon")}`);
  await day.getByLabel("E-mail").fill("ana@example.com");
  await day.getByLabel("Password").fill("demo-password");
  await day.getByRole("button", { name: "Sign in", exact: true }).click();
  await day.getByRole("article").first().waitFor();
  await take("day", day);
}

async function mails(browser: Browser, stack: PagesStack): Promise<void> {
  const rpc = (name: string, args: object) => post(stack, `/rest/v1/rpc/${name}`, args);
  const { days } = await rpc("available_slots", {
    service_id: HAIRCUT,
    from_date: next("Tue"),
    to_date: next("Tue"),
  });
  const client = { client_name: "Sofia Ricci", client_email: "sofia@example.com" };
  await rpc("create_booking", {
    service_id: HAIRCUT,
    starts_at: days[0].slots.at(-1).starts_at,
    ...client,
  });
  await rpc("place_order", {
    professional_id: PROFESSIONAL,
    items: [{ product_id: SHAMPOO, quantity: 2 }],
    ...client,
  });
  const wanted: [string, Mail][] = [
    ["mail-confirmation", await mailTo(stack, client.client_email, /haircut/i)],
    ["mail-order", await mailTo(stack, client.client_email, /order/i)],
    ["mail-code", await mailTo(stack, MARTA, /code/i)],
  ];
  for (const [name, mail] of wanted) {
    const page = await open(browser, MAIL);
    await page.setContent(mail.HTML);
    await take(name, page, true);
  }
}

async function main(): Promise<void> {
  const executablePath = findChromium({ ...process.env, REQUIRE_BROWSER: "1" }) ?? "";
  mkdirSync(OUT, { recursive: true });
  const stack = await startPagesStack();
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
  try {
    await pages(browser, stack);
    await mails(browser, stack);
  } finally {
    await browser.close();
    await stack.stop();
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof UserError ? error.message : error);
    process.exit(1);
  },
);

import { beforeAll, expect, test } from "vitest";
import {
  expectAccessible,
  expectToFit,
  focused,
  goOffline,
  goOnline,
  linksIn,
  mailTo,
  openPage,
} from "../support/browser.ts";
import { request } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import { createClientRow, type Professional } from "../support/factories.ts";
import { codeIn, mailsTo, sendCode, wrongCode } from "../support/portal.ts";
import {
  codeFor,
  keptElsewhere,
  keptHere,
  portalOf,
  signInHere,
  tokenOf,
} from "../support/portal-page.ts";
import { openProfessional, openService } from "../support/scheduling.ts";

let ana: Professional;
const newClient = () => createClientRow(ana);

beforeAll(async () => {
  ana = await openProfessional();
  await openService(ana);
});

test("a client signs in with a mailed code, and the tab alone has the token", async () => {
  const client = await newClient();
  const page = await openPage(await portalOf(ana), { width: 360 });
  await page.getByText("Enter the e-mail address that Ana Bianchi has of you").waitFor();
  await expectToFit(page);
  await expectAccessible(page);

  const email = client.email as string;
  const code = await codeFor(page, email, ` ${email.toUpperCase()} `);
  const field = page.getByLabel("Code");
  expect(await focused(page)).toBe('h1 "Enter the code"');
  expect(await field.getAttribute("autocomplete")).toBe("one-time-code");
  expect(await field.getAttribute("inputmode")).toBe("numeric");
  await expectToFit(page);
  await expectAccessible(page);

  // As mail programs let it be copied.
  const entries = () => page.evaluate(() => history.length);
  const before = await entries();
  await field.fill(`${code.slice(0, 3)} ${code.slice(3)}\n`);
  await field.press("Enter");
  await page.getByText("You have no bookings to come.").waitFor();
  expect(await entries(), "no way back to the code").toBe(before);
  expect(await focused(page)).toBe('h2 "Upcoming"');
  expect(await page.title()).toBe("Your bookings with Ana Bianchi");
  await expectToFit(page);
  await expectAccessible(page);

  const token = await tokenOf(page);
  expect(token).toMatch(/^eyJ/);
  expect(await keptElsewhere(page)).not.toContain(token);
  expect(page.url()).not.toContain(code);
  await page.reload();
  await page.getByText("You have no bookings to come.").waitFor();
});

test("a wrong code is explained, and the right one still opens", async () => {
  const client = await newClient();
  const page = await openPage(await portalOf(ana));
  const code = await codeFor(page, client.email as string);
  const field = page.getByLabel("Code");
  await field.fill(wrongCode(code));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This code does not open.").waitFor();
  await expectAccessible(page);
  await field.fill("12");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The code has six digits.").waitFor();
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  await field.fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Upcoming" }).waitFor();
});

test("what was said of a code is gone with it", async () => {
  const client = await newClient();
  const email = client.email as string;
  await sendCode({ email, professionalId: ana.id });
  const mail = await mailTo(email);
  const page = await openPage(linksIn(mail)[0] as string);
  await page.getByLabel("Code").fill(wrongCode(codeIn(mail)));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This code does not open.").waitFor();
  await page.getByRole("button", { name: "Ask for another code" }).click();
  await page.getByRole("button", { name: "Mail me a code" }).click();
  await page.getByText("a code of six digits is on its way").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.reload();
  await page.getByText("a code of six digits is on its way").waitFor();
  expect(await page.getByLabel("Code").inputValue()).toBe("");
});

test("whoever signs in after somebody else sees nothing of what they were about", async () => {
  const page = await openPage(await portalOf(ana));
  const enter = async (email: string) => {
    await page.getByLabel("Code").fill(await codeFor(page, email));
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  await enter((await newClient()).email as string);
  await page.getByRole("link", { name: "Orders" }).click();
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  await enter((await newClient()).email as string);
  await page.getByRole("heading", { name: "Upcoming" }).waitFor();
});

test.each([
  "#top",
  "#professional=1",
  "#email=eve@example.com",
  "#professional=1&code=1",
  "#manage=",
])("what is no link of a mail, such as %s, asks nothing of who is signed in", async (rubbish) => {
  const page = await signInHere(ana, await newClient());
  await page.evaluate((hash) => location.assign(hash), rubbish);
  await page.waitForURL(({ hash }) => hash === "");
  await page.getByText("You have no bookings to come.").waitFor();
  await page.reload();
  await page.getByText("You have no bookings to come.").waitFor();
});

test("an address that is none is marked, and says nothing of who is a client", async () => {
  // A code is asked for only where it is known for which address.
  const page = await openPage(`${await portalOf(ana)}&step=code`);
  await page.getByLabel("E-mail address").fill("marta@");
  await page.getByRole("button", { name: "Mail me a code" }).click();
  await page.getByText("Please enter an e-mail address that can be used.").waitFor();
  await expectAccessible(page);
  await page.getByLabel("E-mail address").fill("nobody@example.com");
  await page.getByRole("button", { name: "Mail me a code" }).click();
  await page.getByText("If nobody@example.com belongs to a client").waitFor();
});

test("another code makes the first one worthless, and a fourth in a minute has to wait", async () => {
  const client = await newClient();
  const page = await openPage(await portalOf(ana));
  const first = await codeFor(page, client.email as string);
  const ask = async () => {
    await page.getByRole("button", { name: "Ask for another code" }).click();
    const answered = page.waitForResponse(/send-portal-otp/);
    await page.getByRole("button", { name: "Mail me a code" }).click();
    await answered;
  };
  await ask();
  const second = codeIn(await mailTo(client.email as string, (mail) => codeIn(mail) !== first));
  await ask();
  await ask();
  await page.getByText("Too many tries.").waitFor();
  await page.goBack();
  // A refused request leaves the last code valid, and the second is not the last.
  await page.getByLabel("Code").fill(second);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This code does not open.").waitFor();
});

test("the link in the mail fills the code in, leaves the address, and waits for a click", async () => {
  const client = await newClient();
  const email = client.email as string;
  await sendCode({ email, professionalId: ana.id });
  const mail = await mailTo(email);
  const [link = ""] = linksIn(mail);
  expect(link).toContain("/portal/#professional=");

  const page = await openPage(link);
  await page.getByText("The code from your mail is filled in.").waitFor();
  expect(new URL(page.url()).hash).toBe("");
  expect(await keptElsewhere(page)).not.toContain(codeIn(mail));
  const [code] = await sql`
    select from private.portal_codes where client_id = ${client.id} and code_hmac is not null`;
  expect(code, "opening it used nothing up").toBeDefined();

  // Also after a reload, and in another language.
  await page.reload();
  await page.getByRole("link", { name: "Italiano" }).click();
  await page.getByRole("button", { name: "Accedi" }).click();
  await page.getByRole("heading", { name: "In arrivo" }).waitFor();
  expect(page.url()).toContain("professional=ana-");
  expect(await keptHere(page)).not.toContain(codeIn(mail));
});

test("who asks for another code than that of the mail gets it from the same professional", async () => {
  const client = await newClient();
  const email = client.email as string;
  await sendCode({ email, professionalId: ana.id });
  const first = await mailTo(email);
  // Without a name in its address the page is somebody else's.
  const page = await openPage("/portal/");
  await page.getByRole("heading", { name: "See your bookings" }).waitFor();
  await page.evaluate((link) => location.assign(new URL(link).hash), linksIn(first)[0] as string);
  await page.getByText("The code from your mail is filled in.").waitFor();
  await page.getByRole("button", { name: "Ask for another code" }).click();
  const code = await codeFor(page, email);
  expect(await page.getByLabel("Code").inputValue(), "not the first one").toBe("");
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Upcoming" }).waitFor();
  expect(page.url()).toContain("professional=ana-");
});

test("a late refusal of an earlier session does not end the one that there is now", async () => {
  const client = await newClient();
  const page = await signInHere(ana, client);
  let refuse: (() => unknown) | undefined;
  const asked = new Promise<void>((resolve) => {
    void page.route("**/rest/v1/bookings?*", (route) => {
      if (refuse || route.request().method() === "OPTIONS") return route.continue();
      refuse = () => route.fulfill({ status: 401, json: { code: "session_not_found" } });
      resolve();
    });
  });
  await page.getByRole("link", { name: "Past" }).click();
  await asked;

  const before = await tokenOf(page);
  const email = client.email as string;
  const old = (await mailsTo(email)).map(({ ID }) => ID);
  await sendCode({ email, professionalId: ana.id });
  const [link = ""] = linksIn(await mailTo(email, ({ ID }) => !old.includes(ID)));
  await page.evaluate((address) => location.assign(new URL(address).hash), link);
  await page.getByText("The code from your mail is filled in.").waitFor();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 2 }).waitFor();
  expect(await tokenOf(page)).not.toBe(before);
  const refused = page.waitForResponse((response) => response.status() === 401);
  await refuse?.();
  await refused;
  await page.getByRole("link", { name: "Orders" }).click();
  await page.getByRole("heading", { name: "Orders" }).waitFor();
});

test("at the address of another professional nobody is signed in, and the way back is open", async () => {
  const other = await openProfessional({ full_name: "Bruno Neri" });
  await openService(other);
  const page = await signInHere(ana, await newClient());
  const address = page.url();
  await page.goto(new URL(await portalOf(other), address).href);
  await page.getByText("Enter the e-mail address that Bruno Neri has of you").waitFor();
  expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
  await page.goto(address);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
});

test("without a name, or with one of nobody, the page says what it needs", async () => {
  const page = await openPage("/portal/?professional=nobody-at-all");
  await page.getByText("There is nobody here by this name").waitFor();
  expect(await page.getByRole("textbox").count()).toBe(0);
  await expectAccessible(page);
});

test("signing out ends the session at the server, in other tabs too, and forgets whom this tab was used by", async () => {
  const client = await newClient();
  const page = await signInHere(ana, client);
  const token = await tokenOf(page);
  const [other] = await Promise.all([
    page.waitForEvent("popup"),
    page.evaluate(() => void window.open(location.href)),
  ]);
  await other.getByText("You have no bookings to come.").waitFor();

  // What the booking page keeps in the same tab.
  await page.evaluate(() => sessionStorage.setItem("details:1", '{"client_name":"Ann Lee"}'));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  expect(await page.getByLabel("E-mail address").inputValue()).toBe("");
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
  const { status } = await request("/rest/v1/bookings?select=id", { token });
  expect(status).toBe(401);

  await other.getByRole("link", { name: "Past" }).click();
  await other.getByText("You have been signed out: after an hour, in another tab").waitFor();
  expect(await other.getByLabel("E-mail address").inputValue()).toBe(client.email);
  expect(await keptHere(other)).not.toContain(token);
  await expectAccessible(other);
});

test("after an hour the session is over: it is said, and the address is kept", async () => {
  const client = await newClient();
  const page = await openPage(await portalOf(ana));
  await page.clock.install();
  await page.reload();
  const code = await codeFor(page, client.email as string);
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Upcoming" }).waitFor();
  await page.clock.fastForward("59:00");
  await page.getByRole("link", { name: "Past" }).click();
  await page.getByText("You have no past bookings.").waitFor();
  await page.clock.fastForward("01:01");
  await page.getByText("You have been signed out: after an hour").waitFor();
  expect(await page.getByLabel("E-mail address").inputValue()).toBe(client.email);
  await page.reload();
  expect(await page.getByLabel("E-mail address").inputValue()).toBe(client.email);
});

test("without a connection nothing typed is lost", async () => {
  const client = await newClient();
  const page = await openPage(await portalOf(ana));
  const code = await codeFor(page, client.email as string);
  await page.getByLabel("Code").fill(code);
  await goOffline(page);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("There is no connection.").waitFor();
  expect(await page.getByLabel("Code").inputValue()).toBe(code);
  await goOnline(page);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Upcoming" }).waitFor();
});

test("back from the code leads to the address, and a click that is two asks once", async () => {
  const client = await newClient();
  const page = await openPage(await portalOf(ana));
  const asked: string[] = [];
  page.on("request", (sent) => {
    if (sent.method() === "POST" && sent.url().includes("otp")) asked.push(sent.url());
  });
  await page.getByLabel("E-mail address").fill(client.email as string);
  await page.getByRole("button", { name: "Mail me a code" }).dblclick();
  const code = codeIn(await mailTo(client.email as string));
  expect(asked).toHaveLength(1);
  await page.goBack();
  expect(await page.getByLabel("E-mail address").inputValue()).toBe(client.email);
  await page.goForward();
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Sign in" }).dblclick();
  await page.getByRole("heading", { name: "Upcoming" }).waitFor();
  expect(asked).toHaveLength(2);
});

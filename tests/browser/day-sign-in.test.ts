/** How a professional comes in: by password, Google and the mail that helps who forgot the password. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  expectAccessible,
  expectFault,
  expectToFit,
  focused,
  goOffline,
  linksIn,
  mailTo,
  openPage,
  openTab,
  PASSWORD,
  type Page,
  pagesUrl,
} from "../support/browser.ts";
import { sql } from "../support/database.ts";
import { createPractice, enter, openDay } from "../support/day.ts";
import { stack } from "../support/stack.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const isIn = (page: Page) => button(page, "Sign out").waitFor();
const isOut = (page: Page) => page.getByRole("heading", { name: "Sign in" }).waitFor();

describe("password", () => {
  test("a wrong one is explained, the right one opens the day, and a reload stays", async () => {
    const { professional } = await createPractice();
    const page = await openPage("/day/?day=2027-03-01", { width: 360, height: 740 });
    await enter(page, professional.email, "wrong horse");
    await page.getByRole("alert").getByText("do not fit together").waitFor();
    await expectToFit(page);
    await expectAccessible(page);
    await enter(page, ` ${professional.email} `);
    await isIn(page);
    expect(await focused(page)).toBe('h1 "Monday, 1 March 2027"');
    await page.reload();
    await page.getByText("Monday, 1 March 2027").first().waitFor();
  });

  test("without a connection nothing is lost", async () => {
    const { professional } = await createPractice();
    const page = await openPage("/day/");
    await page.getByLabel("E-mail").waitFor();
    await goOffline(page);
    // supabase-js logs what its fetch throws.
    expectFault(page, "Failed to fetch");
    await enter(page, professional.email);
    await page.getByRole("alert").getByText("no connection").waitFor();
    expect(await page.getByLabel("Password").inputValue()).toBe(PASSWORD);
  });

  test("signing out ends it in all tabs, and on the server", async () => {
    const practice = await createPractice();
    const page = await openDay(practice);
    const tab = await openTab(page, "/day/?day=2027-03-01");
    await isIn(tab);
    await button(page, "Sign out").click();
    await isOut(page);
    await page.getByText("You are signed out.").waitFor();
    await isOut(tab);
    const sessions = await sql`
      select id from auth.sessions where user_id = ${practice.professional.id}`;
    expect(sessions, "what is signed in elsewhere stays").toEqual([
      { id: practice.professional.sessionId },
    ]);
    await page.reload();
    await isOut(page);
  });

  test("a session that was ended elsewhere ends here at the next look", async () => {
    const practice = await createPractice();
    const page = await openDay(practice);
    await sql`delete from auth.sessions where user_id = ${practice.professional.id}`;
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.getByText("You are signed out.").waitFor();
  });

  test("one professional after another sees only what is theirs", async () => {
    const [one, other] = [await createPractice(), await createPractice()];
    await sql`update public.profiles set full_name = 'Bruno' where id = ${other.professional.id}`;
    const page = await openDay(one);
    await button(page, "Sign out").click();
    await enter(page, other.professional.email);
    await page.getByText("Bruno").waitFor();
    expect(await page.getByText("Ana Bianchi").count()).toBe(0);
  });

  test("who is signed in here is nobody on the booking page", async () => {
    const page = await openDay(await createPractice());
    const [asked] = await Promise.all([
      page.context().waitForEvent("request", (sent) => sent.url().endsWith("/booking_page")),
      openTab(page, "/?professional=ana"),
    ]);
    expect(asked.headers().authorization ?? stack.publishableKey).toContain(stack.publishableKey);
  });
});

/** Google's part, which ends at its address here: a test says what comes back. */
async function google(page: Page): Promise<URL> {
  expectFault(page, "accounts.google.com");
  const asked = page.waitForRequest("https://accounts.google.com/**");
  await page.route("https://accounts.google.com/**", (route) => route.fulfill({ body: "Google" }));
  await button(page, "Continue with Google").click();
  return new URL((await asked).url());
}

describe("Google", () => {
  test("leads there, and back with a code that is worth a session once", async () => {
    const { professional } = await createPractice();
    const page = await openPage("/day/?day=2027-03-01");
    const state = (await google(page)).searchParams.get("state") ?? "";
    const [flow] = await sql`
      select code_challenge_method, referrer from auth.flow_state where id = ${state}`;
    expect(flow).toEqual({ code_challenge_method: "s256", referrer: `${pagesUrl}/day/` });

    // The rest of the callback, for the person whom Google has named.
    const [{ auth_code } = {}] = await sql`
      update auth.flow_state
      set user_id = ${professional.id}, auth_code_issued_at = now(),
        provider_access_token = 'g', provider_refresh_token = 'r'
      where id = ${state} returning auth_code`;
    await page.goto(`${pagesUrl}/day/?code=${auth_code}`);
    await isIn(page);
    expect(page.url()).toBe(`${pagesUrl}/day/`);

    const other = await openPage(`/day/?code=${auth_code}`);
    await other.getByRole("alert").getByText("in another browser").waitFor();
    expect(other.url()).toBe(`${pagesUrl}/day/`);
    await expectAccessible(other);
  });

  test("a refusal there is explained here", async () => {
    const page = await openPage("/day/", { width: 360, height: 740 });
    const state = (await google(page)).searchParams.get("state") ?? "";
    const refusal = new URLSearchParams({ error: "access_denied", error_description: "No", state });
    await page.goto(`${stack.apiUrl}/auth/v1/callback?${refusal}`);
    await page.getByRole("alert").getByText("Google was not allowed").waitFor();
    expect(page.url()).toBe(`${pagesUrl}/day/`);
    await expectToFit(page);
    await expectAccessible(page);
  });

  test.each([
    ["?error=server_error&error_code=bad_oauth_state", "did not work"],
    ["#error=access_denied&error_code=otp_expired&error_description=x", "ask for a new one"],
    [`?code=${randomUUID()}`, "in another browser"],
    ["?error=__proto__", "Something went wrong"],
    ["?error=constructor", "Something went wrong"],
  ])("an address with %s explains itself", async (address, text) => {
    const page = await openPage(`/day/${address}`);
    await page.getByRole("alert").getByText(text).waitFor();
    expect(page.url()).toBe(`${pagesUrl}/day/`);
  });

  test("an address puts no words of its own into the page", async () => {
    const query = new URLSearchParams({ error: "23502", error_description: '"Call_555_0101_now"' });
    const page = await openPage(`/day/?${query}`);
    expect(await page.getByRole("alert").textContent()).not.toContain("555");
  });
});

describe("a forgotten password", () => {
  async function ask(page: Page, email: string): Promise<void> {
    await page.getByText("Forgot the password?").click();
    await page.getByRole("heading", { name: "A new password" }).waitFor();
    await page.getByLabel("E-mail").fill(email);
    await button(page, "Send the link").click();
    await page.getByText("If there is an account").waitFor();
  }
  const linkFor = async (email: string) =>
    linksIn(await mailTo(email)).find((link) => link.includes("/verify")) ?? "";

  test("the mail's link leads to a new one, which is the only one then", async () => {
    const { professional } = await createPractice();
    const page = await openPage("/day/", { width: 360, height: 740 });
    await ask(page, professional.email);
    await expectToFit(page);
    await expectAccessible(page);
    const link = await linkFor(professional.email);
    await page.goto(link);
    await page.getByLabel("New password").fill("short");
    await expectAccessible(page);
    await button(page, "Save").click();
    await page.getByRole("alert").getByText("too short or too easy").waitFor();
    await page.reload();
    await page.getByLabel("New password").fill("new horse 2027");
    await button(page, "Save").dblclick();
    await isIn(page);
    expect(page.url()).toBe(`${pagesUrl}/day/`);

    const other = await openPage("/day/");
    await enter(other, professional.email);
    await other.getByRole("alert").waitFor();
    await enter(other, professional.email, "new horse 2027");
    await isIn(other);

    const again = await openPage(link, { origins: [pagesUrl] });
    await again.getByRole("alert").getByText("ask for a new one").waitFor();
  });

  test("in another browser it is explained, and opens nothing", async () => {
    const { professional } = await createPractice();
    await ask(await openPage("/day/"), professional.email);
    const other = await openPage(await linkFor(professional.email));
    await other.getByRole("alert").getByText("in another browser").waitFor();
    await isOut(other);
  });

  test("an address without an account is told the same", async () => {
    const page = await openPage("/day/");
    await ask(page, `nobody-${randomUUID()}@example.com`);
    await page.goBack();
    await isOut(page);
  });
});

test("in Italian", async () => {
  const { professional } = await createPractice();
  const page = await openPage("/day/", { locale: "it-IT" });
  await enter(page, professional.email, "wrong horse");
  await page.getByRole("alert").getByText("non corrispondono").waitFor();
  await enter(page, professional.email);
  await page.getByRole("button", { name: "Esci" }).waitFor();
  await page.getByText("English").click();
  await isIn(page);
});

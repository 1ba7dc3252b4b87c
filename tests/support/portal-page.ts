/** What the tests of the portal's page share. */
import { mailTo, openPage, type Page, type PageOptions } from "./browser.ts";
import { sql } from "./database.ts";
import type { Professional, Row } from "./factories.ts";
import { codeIn, type Mail, mailsTo } from "./portal.ts";

type Client = Pick<Row<"clients">, "email">;

/** The address of a professional's portal. */
export async function portalOf({ id }: Pick<Professional, "id">): Promise<string> {
  const [row] = await sql<{ username: string }[]>`
    select username from public.profiles where id = ${id}`;
  return `/portal/?professional=${row?.username}`;
}

/** Asks the page for a code, and takes it from the mail; `typed` where the address is written otherwise. */
export async function codeFor(page: Page, email: string, typed = email): Promise<string> {
  const isCode = ({ Subject }: Mail) => Subject.startsWith("Your code");
  const before = (await mailsTo(email)).filter(isCode).map(({ ID }) => ID);
  await page.getByLabel("E-mail address").fill(typed);
  await page.getByRole("button", { name: "Mail me a code" }).click();
  return codeIn(await mailTo(email, (mail) => isCode(mail) && !before.includes(mail.ID)));
}

/** Opens the portal of a professional, and signs a client in by a mailed code. */
export async function signInHere(
  professional: Pick<Professional, "id">,
  client: Client,
  options: PageOptions = {},
): Promise<Page> {
  const page = await openPage(await portalOf(professional), options);
  const code = await codeFor(page, client.email as string);
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 2 }).first().waitFor();
  return page;
}

/** Everything that the page could have kept a token in, but for this tab's own memory. */
export function keptElsewhere(page: Page): Promise<string> {
  return page.evaluate(() =>
    JSON.stringify([location.href, history.state, { ...localStorage }, document.cookie]),
  );
}

/** All that this tab keeps for itself. */
export function keptHere(page: Page): Promise<string> {
  return page.evaluate(() => JSON.stringify({ ...sessionStorage }));
}

/** The token of who is signed in in this tab. */
export function tokenOf(page: Page): Promise<string> {
  return page.evaluate(
    () => JSON.parse(sessionStorage.getItem("portal.session") ?? "{}").access_token,
  );
}

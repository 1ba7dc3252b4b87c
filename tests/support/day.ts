/** What the tests of the professional's page share: a practice, and being signed in. */
import { allowPassword, openPage, PASSWORD, type Page, type PageOptions } from "./browser.ts";
import { sql } from "./database.ts";
import {
  createBooking,
  createClientRow,
  type Insert,
  type Professional,
  type Row,
} from "./factories.ts";
import { openProfessional, openService } from "./scheduling.ts";

export interface Practice {
  professional: Professional;
  service: Row<"services">;
  client: Row<"clients">;
}

/** In Rome, open every day from 09:00 to 18:00, with a service of an hour and a client. */
export async function createPractice(
  profile: Parameters<typeof openProfessional>[0] = {},
): Promise<Practice> {
  const professional = await openProfessional(profile);
  await allowPassword(professional);
  const service = await openService(professional);
  const client = await createClientRow(professional, { phone: "+39 06 5550101" });
  return { professional, service, client };
}

/** An appointment of the practice's client. */
export const appointment = (
  { professional, service, client }: Practice,
  starts_at: string,
  values: Partial<Insert<"bookings">> = {},
): Promise<Row<"bookings">> =>
  createBooking(professional, {
    client_id: client.id,
    service_id: service.id,
    starts_at,
    ...values,
  });

export async function enter(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: /^(Sign in|Accedi)$/ }).click();
}

/** The page of a professional who has signed in. */
export async function openDay(
  { professional }: Pick<Practice, "professional">,
  query = "",
  options: PageOptions = {},
): Promise<Page> {
  const page = await openPage(`/day/${query}`, options);
  await enter(page, professional.email);
  await page.getByRole("button", { name: /^(Sign out|Esci)$/ }).waitFor();
  return page;
}

/** The card of a booking. */
export const entryOf = (page: Page, name: string) => page.getByRole("article", { name });

/** A booking as it is in the table. */
export async function stored({ id }: { id: string }): Promise<Row<"bookings">> {
  const [row] = await sql`select * from public.bookings where id = ${id}`;
  return row as unknown as Row<"bookings">;
}

/** Requests of a page from now on that change something, as `METHOD path`. */
export function writesOf(page: Page): string[] {
  const writes: string[] = [];
  page.on("request", (sent) => {
    const { pathname } = new URL(sent.url());
    if (!["GET", "OPTIONS", "HEAD"].includes(sent.method()))
      writes.push(`${sent.method()} ${pathname}`);
  });
  return writes;
}

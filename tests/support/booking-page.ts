/** What the tests of the booking page share: who is booked, and a visitor's way through the steps. */
import type { Page } from "./browser.ts";
import { sql } from "./database.ts";
import type { Professional } from "./factories.ts";
import { confirmOwner } from "./mail.ts";
import { openProfessional } from "./scheduling.ts";

/** Open every day in Rome, and may send mail. */
export async function bookable(
  profile: Parameters<typeof openProfessional>[0] = {},
): Promise<Professional> {
  const professional = await openProfessional(profile);
  await confirmOwner(professional);
  return professional;
}

export const pathOf = ({ id }: Professional, query: Record<string, string> = {}) =>
  `/?${new URLSearchParams({ professional: `ana-${id}`, ...query })}`;

/** A date of Rome's calendar, this many days from now. */
export const dayAhead = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toLocaleDateString("sv", { timeZone: "Europe/Rome" });

export const newAddress = () => `gio-${crypto.randomUUID()}@example.com`;

export async function fillIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("Name").fill("Gio Verdi");
  await page.getByLabel("E-mail").fill(email);
}

export const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();

export const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

/** How many live bookings a professional has. */
export async function bookingsOf({ id }: Professional) {
  return sql<{ id: string; starts_at: Date; status: string; expires_at: Date | null }[]>`
    select id, starts_at, status, expires_at from public.bookings
    where professional_id = ${id} and status <> 'cancelled' order by starts_at`;
}

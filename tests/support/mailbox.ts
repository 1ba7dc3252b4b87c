/** Mails that arrive: from whom, and what of them a mail program sees. */
import PostalMime, { type Email } from "postal-mime";
import { expect } from "vitest";
import { sql } from "./database.ts";
import type { Professional } from "./factories.ts";
import { confirmOwner, mailsOf, type Mail as QueuedMail } from "./mail.ts";
import { type Mail, mailsTo } from "./portal.ts";
import { openProfessional } from "./scheduling.ts";
import { stack } from "./stack.ts";
import { until } from "./webhooks.ts";

/** Accepts bookings, and has the own address confirmed before anything asks for that. */
export async function mailingProfessional(
  profile: Parameters<typeof openProfessional>[0] = {},
): Promise<Professional> {
  const professional = await openProfessional({ ...profile, accepts_bookings: false });
  await confirmOwner(professional);
  await sql`update public.profiles set accepts_bookings = true where id = ${professional.id}`;
  return professional;
}

export interface ReadMail extends Email {
  id: string;
  /** Lines of the calendar entry, unfolded; none without one. */
  entry: string[];
  /** By lower-case name. */
  header: Map<string, string>;
}

/** A caught mail as a mail program reads it. */
export async function readMail({ ID }: Pick<Mail, "ID">): Promise<ReadMail> {
  const raw = await fetch(`${stack.mailUrl}/api/v1/message/${ID}/raw`);
  const email = await PostalMime.parse(await raw.text());
  const file = email.attachments.find(({ mimeType }) => mimeType === "text/calendar");
  const text = file ? new TextDecoder().decode(file.content as ArrayBuffer) : "";
  return {
    ...email,
    id: ID,
    entry: text ? text.replace(/\r?\n[ \t]/g, "").split(/\r?\n/) : [],
    header: new Map(email.headers.map(({ key, value }) => [key, value])),
  };
}

/** The mails to an address, oldest first, once there are `count`; no more may have come. */
export async function inbox(address: string, count: number): Promise<ReadMail[]> {
  const mails = await until(
    () => mailsTo(address),
    (found) => found.length >= count,
    20,
  );
  expect(mails.map(({ Subject }) => Subject)).toHaveLength(count);
  return Promise.all(mails.reverse().map(readMail));
}

/** Waits until nothing of a professional is queued any more. */
export function queueIsDone(professional: Pick<Professional, "id">): Promise<QueuedMail[]> {
  return until(
    () => mailsOf(professional),
    (rows) => rows.every(({ status }) => status !== "queued"),
    20,
  );
}

/** Makes what waits, for quiet or its next try, due now. */
export async function makeMailsDue({ id }: Pick<Professional, "id">): Promise<void> {
  await sql`
    update private.mails set due_at = now()
    where professional_id = ${id} and status = 'queued'`;
}

/** The token of a link in a mail's text. */
export function tokenIn({ text = "" }: Pick<ReadMail, "text">, purpose: string): string {
  const token = new RegExp(`#${purpose}=([\\w-]+\\.[\\w-]+\\.[\\w-]+)`).exec(text)?.[1];
  if (!token) throw new Error(`there is no link to ${purpose} in the mail`);
  return token;
}

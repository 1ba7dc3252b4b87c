/** What a client of the portal does: asks for a code, reads the mail, signs in with it. */
import { expect, vi } from "vitest";
import { sql } from "./database.ts";
import type { Row } from "./factories.ts";
import { stack } from "./stack.ts";

/** Whom a code is for, as callers say it. */
export interface PortalAddress {
  email: string;
  professionalId: string;
}

export function addressOf(
  client: Pick<Row<"clients">, "email" | "professional_id">,
): PortalAddress {
  return { email: client.email as string, professionalId: client.professional_id };
}

export interface PortalAnswer {
  access_token: string;
  token_type: string;
  expires_in: number;
  expires_at: number;
  client: { id: string; name: string; email: string };
  professional: Record<string, string>;
}

/** A POST with nothing but its Content-Type, as the reference usage has it. */
export function callFunction(path: string, body: unknown): Promise<Response> {
  return fetch(`${stack.apiUrl}/functions/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export function sendCode({ email, professionalId }: PortalAddress): Promise<Response> {
  return callFunction("send-portal-otp", { email, professionalId });
}

export function verifyCode(
  { email, professionalId }: PortalAddress,
  code: string,
): Promise<Response> {
  return callFunction("verify-portal-otp", { email, code, professionalId });
}

export interface Mail {
  ID: string;
  From: { Address: string };
  To: { Address: string }[];
  Subject: string;
  Text: string;
  HTML: string;
}

/** Mails to an address so far, newest first. */
export async function mailsTo(address: string): Promise<Mail[]> {
  const query = new URLSearchParams({ query: `to:"${address}"` });
  const list = await fetch(`${stack.mailUrl}/api/v1/search?${query}`);
  const { messages } = (await list.json()) as { messages: Mail[] };
  return Promise.all(
    messages.map(async ({ ID }) => {
      const mail = await fetch(`${stack.mailUrl}/api/v1/message/${ID}`);
      return (await mail.json()) as Mail;
    }),
  );
}

/** The mails to an address, newest first, as soon as there are `count`; they come after the answer. */
export function waitForMails(address: string, count: number): Promise<Mail[]> {
  return vi.waitFor(
    async () => {
      const mails = await mailsTo(address);
      expect(mails.length).toBeGreaterThanOrEqual(count);
      return mails;
    },
    { timeout: 10_000, interval: 20 },
  );
}

export function codeIn(mail: Mail | undefined): string {
  const code = /\b[0-9]{6}\b/.exec(mail?.Text ?? "")?.[0];
  if (!code) throw new Error("there is no code in the mail");
  return code;
}

/** Asks for a code and takes it from the mail; `mailbox` where that is written otherwise. */
export async function receiveCode(
  address: PortalAddress,
  mailbox = address.email,
): Promise<string> {
  const before = (await mailsTo(mailbox)).length;
  const response = await sendCode(address);
  expect(response.status).toBe(200);
  return codeIn((await waitForMails(mailbox, before + 1))[0]);
}

/** Another code than the right one. */
export function wrongCode(code: string, by = 1): string {
  return String((Number(code) + by) % 1_000_000).padStart(6, "0");
}

/** Signs a client in with a mailed code. */
export async function signIn(address: PortalAddress): Promise<PortalAnswer> {
  const response = await verifyCode(address, await receiveCode(address));
  expect(response.status).toBe(200);
  return (await response.json()) as PortalAnswer;
}

/** Moves what was asked for an address into the past, so that more may be asked. */
export async function ageRequests(
  { email, professionalId }: PortalAddress,
  interval: string,
): Promise<void> {
  await sql`
    update private.portal_code_requests set created_at = created_at - ${interval}::interval
    where address_digest = private.portal_address_digest(${professionalId}, ${email})`;
}

/** Status and code of an answer. */
export async function outcome(response: Response): Promise<{ status: number; code?: string }> {
  const text = await response.text();
  const { code } = text ? (JSON.parse(text) as { code?: string }) : {};
  return { status: response.status, ...(code !== undefined && { code }) };
}

export const INVALID_OTP = { status: 401, code: "invalid_otp" };

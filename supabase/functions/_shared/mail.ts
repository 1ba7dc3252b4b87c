/** Mail over HTTP, because hosted functions cannot use SMTP: Resend, or Mailpit on a local stack. */
import { Resend } from "resend";
import { isEmail } from "./email-address.ts";
import { EnvError, optional, type ReadEnv, required, webAddress } from "./env.ts";

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Sends one mail; rejects when the provider did not take it. Errors name no address. */
export type SendMail = (mail: Mail) => Promise<void>;

/** Text as HTML, also inside of a quoted attribute. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}

const TIMEOUT_MS = 10_000;

interface Sender {
  Name: string;
  Email: string;
}

/** `Name <address>` or an address, as `MAIL_FROM` has it. */
function parseFrom(from: string): Sender {
  const [, Name = "", Email = from] = /^(.*?)\s*<(.*)>$/.exec(from) ?? [];
  if (!isEmail(Email)) throw new EnvError("MAIL_FROM is neither an address nor Name <address>");
  return { Name, Email };
}

/** `RESEND_API_KEY` chooses Resend, else `MAILPIT_URL` Mailpit; without either it does not start. */
export function mailSender(read: ReadEnv): SendMail {
  const from = required(read, "MAIL_FROM");
  const sender = parseFrom(from);
  const resendKey = optional(read, "RESEND_API_KEY");
  const mailpitUrl = webAddress(read, "MAILPIT_URL");
  if (resendKey) return viaResend(resendKey, from);
  if (mailpitUrl) return viaMailpit(mailpitUrl, sender);
  throw new EnvError("neither RESEND_API_KEY nor MAILPIT_URL is set");
}

/** No idempotency key: nothing here sends a mail a second time. */
function viaResend(key: string, from: string): SendMail {
  const { emails } = new Resend(key);
  return async (mail) => {
    // Never rejects; what goes wrong, a time-out included, is in the answer.
    const { data, error } = await emails.send(
      { from, ...mail },
      { signal: AbortSignal.timeout(TIMEOUT_MS) },
    );
    // Not its message, which may quote the mail. The status is null without an answer.
    if (!data) throw new Error(`the mail service did not take it, status ${error?.statusCode}`);
  };
}

function viaMailpit(url: string, From: Sender): SendMail {
  const endpoint = `${url.replace(/\/+$/, "")}/api/v1/send`;
  return async ({ to, subject, text, html }) => {
    const answer = await fetch(endpoint, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ From, To: [{ Email: to }], Subject: subject, Text: text, HTML: html }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the mail service did not take it, status ${answer.status}`);
  };
}

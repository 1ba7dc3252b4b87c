/** Mail over HTTP, because hosted functions cannot use SMTP: Resend, or Mailpit on a local stack. */
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

const TIMEOUT_MS = 10_000;

/** `Name <address>` or an address, as `MAIL_FROM` has it. */
function parseFrom(from: string): { Name: string; Email: string } {
  const [, Name = "", Email = from] = /^(.*?)\s*<(.*)>$/.exec(from) ?? [];
  if (!isEmail(Email)) throw new EnvError("MAIL_FROM is neither an address nor Name <address>");
  return { Name, Email };
}

/** `RESEND_API_KEY` chooses Resend, else `MAILPIT_URL` Mailpit; without either it does not start. */
export function mailSender(read: ReadEnv, fetcher: typeof fetch = fetch): SendMail {
  const from = required(read, "MAIL_FROM");
  const sender = parseFrom(from);
  const resendKey = optional(read, "RESEND_API_KEY");
  const mailpitUrl = webAddress(read, "MAILPIT_URL");

  const post = async (url: string, headers: Record<string, string>, body: unknown) => {
    const answer = await fetcher(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the mail service answered ${answer.status}`);
  };

  if (resendKey) {
    const headers = { Authorization: `Bearer ${resendKey}` };
    return ({ to, subject, text, html }) =>
      post("https://api.resend.com/emails", headers, { from, to: [to], subject, text, html });
  }
  if (mailpitUrl) {
    return ({ to, subject, text, html }) =>
      post(
        `${mailpitUrl.replace(/\/+$/, "")}/api/v1/send`,
        {},
        {
          From: sender,
          To: [{ Email: to }],
          Subject: subject,
          Text: text,
          HTML: html,
        },
      );
  }
  throw new EnvError("neither RESEND_API_KEY nor MAILPIT_URL is set");
}

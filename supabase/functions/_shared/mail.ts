/** Mail over HTTP, because hosted functions cannot use SMTP: Resend, or Mailpit on a local stack. */
import { Buffer } from "node:buffer";
import { Resend } from "resend";
import { isEmail } from "./email-address.ts";
import { EnvError, optional, type ReadEnv, required, webAddress } from "./env.ts";
import { retryAfter } from "./retry-after.ts";

export interface Person {
  /** Empty where there is none. */
  name: string;
  email: string;
}

export interface Attachment {
  filename: string;
  /** With its parameters, such as `text/calendar; charset=utf-8; method=REQUEST`. */
  content_type: string;
  /** Text; goes out as UTF-8. */
  content: string;
}

export interface Mail {
  to: string | Person;
  /** Who sends it; `MAIL_FROM` when this is not given. */
  from?: Person;
  /** Where answers go; to the sender when this is not given. */
  replyTo?: string | null;
  subject: string;
  text: string;
  html: string;
  headers?: Record<string, string>;
  attachments?: Attachment[];
}

/** How handing a mail over ended. `reason` is for the log: it names neither address nor content. */
export type MailOutcome =
  | { result: "sent"; id: string | null }
  /** `retry`: maybe later. `quota`: nothing goes out for now. `refused`: it would be again. */
  | { result: "retry" | "quota" | "refused"; reason: string; retryAfter: number | null };

export interface MailProvider {
  /** `MAIL_FROM`: our address, and the service's name if it has one. */
  sender: Person;
  /** Hands a mail over; never rejects. One that goes out again under its id is not sent twice. */
  deliver(mail: Mail, id?: string): Promise<MailOutcome>;
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
/**
 * When a spent quota may be there again, asking costs one request. What the provider says may be about the
 * requests of a second.
 */
const QUOTA_SECONDS = 3_600;

/** Names the tag that holds a mail's id; mails that go at once have none. */
export const MAIL_TAG = "mail";

/** `Name <address>` or an address, as `MAIL_FROM` has it. */
function parseFrom(from: string): Person {
  const [, name = "", email = from] = /^(.*?)\s*<(.*)>$/.exec(from) ?? [];
  if (!isEmail(email)) throw new EnvError("MAIL_FROM is neither an address nor Name <address>");
  return { name, email };
}

/** `RESEND_API_KEY` chooses Resend, else `MAILPIT_URL` Mailpit; without either it does not start. */
export function mailProvider(read: ReadEnv): MailProvider {
  const from = required(read, "MAIL_FROM");
  const sender = parseFrom(from);
  const resendKey = optional(read, "RESEND_API_KEY");
  const resendUrl = webAddress(read, "RESEND_BASE_URL");
  const mailpitUrl = webAddress(read, "MAILPIT_URL");
  if (resendKey) return { sender, deliver: viaResend(resendKey, resendUrl, from) };
  if (mailpitUrl) return { sender, deliver: viaMailpit(mailpitUrl, sender) };
  throw new EnvError("neither RESEND_API_KEY nor MAILPIT_URL is set");
}

/** For mails that go at once or not at all. */
export function mailSender(read: ReadEnv): SendMail {
  const { deliver } = mailProvider(read);
  return async (mail) => {
    const outcome = await deliver(mail);
    if (outcome.result !== "sent") {
      throw new Error(`the mail service did not take it, ${outcome.reason}`);
    }
  };
}

const person = (who: string | Person): Person =>
  typeof who === "string" ? { name: "", email: who } : who;

/** `"Name" <address>` (RFC 5322, 3.4); quoted, so that a name cannot be taken for an address. */
function mailbox(who: string | Person): string {
  const { name, email } = person(who);
  return name === "" ? email : `"${name.replace(/["\\]/g, "\\$&")}" <${email}>`;
}

const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");

/**
 * The key that tells the provider what is the same mail: its id, and a digest of what is sent, because
 * one key with two contents is an error there, and the facts of a mail may have changed since the last try.
 */
async function idempotencyKey(id: string, sent: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(sent));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `${id}-${Buffer.from(digest).toString("hex")}`;
}

function viaResend(
  key: string,
  baseUrl: string | undefined,
  from: string,
): MailProvider["deliver"] {
  const { emails } = new Resend(key, { ...(baseUrl && { baseUrl: baseUrl.replace(/\/+$/, "") }) });
  return async (mail, id) => {
    const sent = {
      from: mail.from ? mailbox(mail.from) : from,
      to: mailbox(mail.to),
      ...(mail.replyTo && { replyTo: mail.replyTo }),
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      ...(mail.headers && { headers: mail.headers }),
      ...(mail.attachments && {
        attachments: mail.attachments.map(({ filename, content_type, content }) => ({
          filename,
          contentType: content_type,
          content: base64(content),
        })),
      }),
      // Comes back with the events of the mail.
      ...(id !== undefined && { tags: [{ name: MAIL_TAG, value: id }] }),
    };
    // Never rejects; what goes wrong, a time-out included, is in the answer.
    const { data, error, headers } = await emails.send(sent, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(id !== undefined && { idempotencyKey: await idempotencyKey(id, sent) }),
    });
    if (data?.id) return { result: "sent", id: data.id };
    return resendFault(error, headers?.["retry-after"]);
  };
}

/** Not the error's message, which may quote the mail. The status is null without an answer. */
function resendFault(
  error: { statusCode: number | null; name: string } | null,
  retryAfterHeader: string | undefined,
): MailOutcome {
  const status = error?.statusCode ?? null;
  const name = /^[a-z_]{1,50}$/.test(error?.name ?? "") ? error?.name : "unknown";
  const reason = `status ${status}, ${name}`;
  const wait = retryAfter(retryAfterHeader ?? null, new Date());
  if (name === "daily_quota_exceeded" || name === "monthly_quota_exceeded") {
    return { result: "quota", reason, retryAfter: Math.max(wait ?? 0, QUOTA_SECONDS) };
  }
  const result = isFaultOfTheMail(status, name) ? "refused" : "retry";
  return { result, reason, retryAfter: wait };
}

/**
 * What would be the same the next time. A wrong key, a domain that is not verified (401, 403), or a wrong
 * address of the service (404, 405) is ours to put right, and takes no mail with it until then.
 */
function isFaultOfTheMail(status: number | null, name?: string): boolean {
  // Two tries met: the other one says how it ends.
  if (name === "concurrent_idempotent_requests") return false;
  return (
    status !== null &&
    status >= 400 &&
    status < 500 &&
    ![401, 403, 404, 405, 408, 429].includes(status)
  );
}

function viaMailpit(url: string, sender: Person): MailProvider["deliver"] {
  const endpoint = `${url.replace(/\/+$/, "")}/api/v1/send`;
  const shown = ({ name, email }: Person) => ({ ...(name && { Name: name }), Email: email });
  return async (mail) => {
    const body = {
      From: { Name: (mail.from ?? sender).name, Email: (mail.from ?? sender).email },
      To: [shown(person(mail.to))],
      ...(mail.replyTo && { ReplyTo: [{ Email: mail.replyTo }] }),
      Subject: mail.subject,
      Text: mail.text,
      HTML: mail.html,
      ...(mail.headers && { Headers: mail.headers }),
      ...(mail.attachments && {
        Attachments: mail.attachments.map(({ filename, content_type, content }) => ({
          Filename: filename,
          ContentType: content_type,
          Content: base64(content),
        })),
      }),
    };
    try {
      const answer = await fetch(endpoint, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const { ID } = (await answer.json().catch(() => ({}))) as { ID?: string };
      if (answer.ok) return { result: "sent", id: ID ?? null };
      const reason = `status ${answer.status}`;
      const result = isFaultOfTheMail(answer.status) ? "refused" : "retry";
      return { result, reason, retryAfter: null };
    } catch {
      return { result: "retry", reason: "status null", retryAfter: null };
    }
  };
}

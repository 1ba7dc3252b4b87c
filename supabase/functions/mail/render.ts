/**
 * One mail from its facts. The same facts make the same bytes, without a clock and without chance: a mail
 * that is tried again has to be the same mail for the provider.
 */
import { isEmail } from "../_shared/email-address.ts";
import type { Content } from "./blocks.ts";
import { type Attachment, calendarEntry } from "./calendar.ts";
import { clientContent } from "./client-content.ts";
import type { Context, MailLinks } from "./context.ts";
import type { MailFacts } from "./facts.ts";
import { toHtml } from "./html.ts";
import { money } from "./money.ts";
import { type Person, professionalName, serviceName } from "./names.ts";
import { professionalContent } from "./professional-content.ts";
import { toText } from "./text.ts";
import { TEXTS } from "./texts/index.ts";
import { times } from "./times.ts";
import { clientNameOnly, headerName } from "./words.ts";

export interface Rendered {
  to: Person;
  from: Person;
  replyTo: string | null;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
  attachments: Attachment[];
}

/**
 * Throws where a link is missing that the mail is about. `sender` is our address, with the name of the
 * service.
 */
export function render(mail: MailFacts, links: MailLinks, sender: Person): Rendered {
  const texts = TEXTS[mail.language];
  const replyTo = replyAddress(mail);
  const context: Context = {
    texts,
    links,
    replyTo,
    times: times(texts.locale, mail.professional.time_zone),
    money: (amount, currency) => money(texts.locale, amount, currency),
    professional: professionalName(mail.professional, sender),
    service: serviceName(sender),
  };
  const content: Content =
    mail.audience === "client" ? clientContent(mail, context) : professionalContent(mail, context);
  const entry =
    mail.audience === "client" && "booking" in mail ? calendarEntry(mail, texts, sender) : null;
  return {
    to: recipient(mail),
    from: { name: fromName(mail, context), email: sender.email },
    replyTo,
    subject: content.subject,
    text: toText(content),
    html: toHtml(content, mail.language),
    headers: headers(mail, links),
    attachments: entry === null ? [] : [entry],
  };
}

function recipient(mail: MailFacts): Person {
  // What is confirmed is the address that it goes to, and its owner need not know the name typed with it.
  if (mail.kind === "confirm_address") {
    return { name: "", email: mail.professional.email_to_confirm };
  }
  const { name, email } = mail.to;
  if (mail.audience === "professional") return { name: headerName(name ?? ""), email };
  return { name: mail.may_quote ? headerName(clientNameOnly(name ?? "")) : "", email };
}

function fromName(mail: MailFacts, { professional, service }: Context): string {
  if (mail.audience === "professional" || professional.header === service) return service;
  return `${professional.header} (via ${service})`;
}

function replyAddress({ audience, professional }: MailFacts): string | null {
  const { email } = professional;
  return audience === "client" && email !== null && isEmail(email) ? email : null;
}

/** RFC 3834: so that no out-of-office note answers. RFC 8058: one click ends reminders. */
function headers(mail: MailFacts, { unsubscribe }: MailLinks): Record<string, string> {
  const automatic = { "Auto-Submitted": "auto-generated" };
  if (mail.kind !== "booking_reminder" || unsubscribe === undefined) return automatic;
  return {
    ...automatic,
    "List-Unsubscribe": `<${new URL(unsubscribe.url).href}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  };
}

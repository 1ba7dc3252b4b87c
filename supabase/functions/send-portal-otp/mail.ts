/**
 * The mail that carries a code. The client's name is not in it: whoever books on a public page
 * chooses name and address, and could have our mails say anything to anybody.
 */
import { escapeHtml, type Mail } from "../_shared/mail.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { Recipient } from "../_shared/portal/store.ts";

/**
 * With `portalUrl` also a link. Address and code are in its fragment, which is never sent to a
 * server, so a mail scanner that opens it uses nothing up.
 */
export function codeMail(
  to: Recipient,
  code: string,
  professionalId: string,
  portalUrl: string | undefined,
): Mail {
  // A name that could be taken for an address, or goes on and on, is not one.
  const professional = oneLine(to.professional_name).replaceAll("@", " (at) ").slice(0, 100);
  const values = new URLSearchParams({ professional: professionalId, email: to.email, code });
  const link = portalUrl && `${portalUrl}#${values}`;
  const lines = [
    `Your code for ${professional} is ${code}.`,
    "It is valid for ten minutes and works once. If you asked more than once, use the newest mail.",
    ...(link ? [`Or open this link: ${link}`] : []),
    "If you did not ask for a code, you can ignore this mail.",
  ];
  const paragraphs = [
    `Your code for ${escapeHtml(professional)} is <strong style="font-size:1.5em;letter-spacing:.15em">${code}</strong>`,
    escapeHtml(lines[1] as string),
    ...(link ? [`<a href="${escapeHtml(link)}">Sign in with this link</a>`] : []),
    escapeHtml(lines.at(-1) as string),
  ];
  return {
    to: to.email,
    subject: `Your code for ${professional}`,
    text: `${lines.join("\n\n")}\n`,
    html: paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join("\n"),
  };
}

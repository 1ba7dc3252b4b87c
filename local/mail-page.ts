/** The mail catcher's pages for people: the list, and one mail. */
import { html } from "hono/html";
import type { Address, Mail } from "./mail.ts";

/** The policy stops scripts and requests even if a mail got out of its frame. */
export const PAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:",
  "referrer-policy": "no-referrer",
};

const who = (list: Address[]) => list.map(({ Address }) => Address).join(", ");

/** `html` escapes what it is given. */
const page = (title: string, body: unknown) => html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<style>body{font:16px system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}
td{padding:.3rem 1rem .3rem 0}pre{white-space:pre-wrap}
iframe{width:100%;height:30rem;border:1px solid #ccc}</style>
</head><body><h1>${title}</h1>${body}</body></html>`;

const titleOf = (mail: Mail) => mail.Subject || "(no subject)";

/** All mails, the newest first. */
export function listPage(mails: Mail[]) {
  const rows = mails.map(
    (mail) => html`<tr><td>${mail.Created}</td><td>${who(mail.To)}</td>
<td><a href="/view/${mail.ID}">${titleOf(mail)}</a></td></tr>`,
  );
  return page(
    mails.length === 1 ? "1 mail" : `${mails.length} mails`,
    html`<table>${rows}</table>`,
  );
}

/** One mail; its HTML in a frame that runs no script and shares no origin. */
export function mailPage(mail: Mail | undefined) {
  if (!mail) return page("No such mail", "");
  const frame = mail.HTML && html`<iframe sandbox title="HTML" srcdoc="${mail.HTML}"></iframe>`;
  return page(
    titleOf(mail),
    html`<p>${mail.From.Address} → ${who(mail.To)}, ${mail.Created}</p>
<pre>${mail.Text}</pre>${frame}<p><a href="/">All mails</a></p>`,
  );
}

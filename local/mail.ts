/**
 * A mailbox for everything the stack sends, kept in memory. It answers those HTTP routes of Mailpit,
 * which `supabase start` runs, that code and tests use, with Mailpit's shapes.
 */
import { randomUUID } from "node:crypto";
import { html } from "hono/html";
import MailComposer from "nodemailer/lib/mail-composer";
import { z } from "zod";
import { isEmail } from "../supabase/functions/_shared/email-address.ts";
import { createApp, serve } from "./http.ts";

/** Older mails are dropped: a test run or a forgotten loop must not fill the memory. */
const KEPT = 1000;
const LISTED = 50;

const person = z
  .strictObject({
    Email: z.string().refine(isEmail, "is not an address"),
    Name: z.string().default(""),
  })
  .transform(({ Email, Name }) => ({ Name, Address: Email }));
type Person = z.output<typeof person>;

const attachment = z.strictObject({
  Filename: z.string().min(1),
  ContentType: z.string().default("application/octet-stream"),
  Content: z.base64().transform((text) => Buffer.from(text, "base64")),
});

/** Body of `POST /api/v1/send`. Stricter than Mailpit: a misspelt key is a bug in the sender. */
const outgoing = z.strictObject({
  From: person,
  To: z.array(person).min(1),
  ReplyTo: z.array(person).default([]),
  Subject: z.string().default(""),
  Text: z.string().default(""),
  HTML: z.string().default(""),
  Headers: z.record(z.string(), z.string()).default({}),
  Attachments: z.array(attachment).default([]),
});

export type OutgoingMail = z.input<typeof outgoing>;
type Mail = z.output<typeof outgoing> & { ID: string; Created: string };

function list(mails: Mail[]) {
  const messages = mails.slice(0, LISTED).map(({ Text, HTML, Headers: _, ...mail }) => {
    const text = Text || HTML.replace(/<[^>]*>/g, " ");
    const Snippet = text.replace(/\s+/g, " ").trim().slice(0, 250);
    return { ...mail, Attachments: mail.Attachments.length, Snippet };
  });
  return { messages_count: mails.length, count: messages.length, start: 0, messages };
}

/** One mail as `GET /api/v1/message/:id` shows it; headers are in the raw one. */
function shown({ Headers: _, Attachments, ...mail }: Mail) {
  const attachments = Attachments.map(({ Filename, ContentType, Content }, i) => {
    return { PartID: String(i + 2), FileName: Filename, ContentType, Size: Content.length };
  });
  return { ...mail, Date: mail.Created, Attachments: attachments, Inline: [] };
}

/** The mail as it goes over the wire (RFC 5322), the same each time. */
function raw({ ID, Created, From, To, ReplyTo, Subject, Text, HTML, ...mail }: Mail) {
  const mailbox = ({ Name, Address }: Person) => ({ name: Name, address: Address });
  const composer = new MailComposer({
    from: mailbox(From),
    to: To.map(mailbox),
    replyTo: ReplyTo.map(mailbox),
    subject: Subject,
    text: Text,
    html: HTML,
    date: new Date(Created),
    messageId: `<${ID}@localhost>`,
    baseBoundary: ID,
    headers: mail.Headers,
    attachments: mail.Attachments.map(({ Filename, ContentType, Content }) => ({
      filename: Filename,
      contentType: ContentType,
      content: Content,
    })),
  });
  return composer.compile().build();
}

/**
 * The part of Mailpit's search language that is used here, `to:` and an address or its part. Undefined for
 * anything else, since a filter that is silently ignored would make a test pass for the wrong reason.
 */
function search(mails: Mail[], query: string): Mail[] | undefined {
  const [, wanted] = /^to:"?([^\s":]+)"?$/.exec(query.toLowerCase()) ?? [];
  if (!wanted) return undefined;
  return mails.filter(({ To }) => To.some((to) => to.Address.toLowerCase().includes(wanted)));
}

/** The policy stops scripts and requests even if a mail got out of its frame. */
const PAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:",
  "referrer-policy": "no-referrer",
};

/** What is typed as an address in a text, to be opened as in a mail program. */
function linked(text: string) {
  return text
    .split(/(https?:\/\/\S+)/)
    .map((part, i) => (i % 2 ? html`<a href="${part}" target="_blank">${part}</a>` : part));
}

/** A mail's HTML in a frame that runs no script and shares no origin; its links open beside it. */
function framed(mail: string) {
  const opening = mail.replace(/<head>/i, '$&<base target="_blank">');
  return html`<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="HTML"
srcdoc="${opening}"></iframe>`;
}

/** All mails. `html` escapes. */
function page(mails: Mail[]) {
  const entries = mails.slice(0, LISTED).map(
    ({
      ID,
      Created,
      From,
      To,
      Subject,
      Text,
      HTML,
      Attachments,
    }) => html`<details><summary>${Created}
${To.map(({ Address }) => Address).join(", ")}: ${Subject}</summary><p>From ${From.Address}</p>
<pre>${linked(Text)}</pre>${HTML && framed(HTML)}
${Attachments.map(({ Filename, Content }) => html`<p>${Filename}</p><pre>${Content.toString()}</pre>`)}
<p><a href="/api/v1/message/${ID}/raw">with all headers</a></p></details>`,
  );
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Mail</title>
<meta name="viewport" content="width=device-width">
<style>body{font:16px system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
pre{white-space:pre-wrap}
iframe{width:100%;height:30rem;border:1px solid #ccc}</style></head>
<body><h1>Mails: ${mails.length}</h1>${entries}</body></html>`;
}

/** Starts the mail catcher; `send` is its POST without HTTP and throws on a bad message. */
export async function startMail(port: number) {
  /** The newest first. */
  const mails: Mail[] = [];
  const keep = (sent: unknown) => {
    const mail = { ...outgoing.parse(sent), ID: randomUUID(), Created: new Date().toISOString() };
    mails.unshift(mail);
    mails.length = Math.min(mails.length, KEPT);
    return mail.ID;
  };
  const app = createApp();
  app.post("/api/v1/send", async (c) => {
    try {
      return c.json({ ID: keep(await c.req.json()) });
    } catch (error) {
      return c.json({ Error: String(error) }, 400);
    }
  });
  app.get("/api/v1/messages", (c) => c.json(list(mails)));
  app.get("/api/v1/search", (c) => {
    const found = search(mails, c.req.query("query") ?? "");
    return found ? c.json(list(found)) : c.json({ Error: "cannot search for this" }, 400);
  });
  const find = (id: string) => (id === "latest" ? mails[0] : mails.find(({ ID }) => ID === id));
  app.get("/api/v1/message/:id", (c) => {
    const mail = find(c.req.param("id"));
    return mail ? c.json(shown(mail)) : c.notFound();
  });
  app.get("/api/v1/message/:id/raw", async (c) => {
    const mail = find(c.req.param("id"));
    return mail ? c.text((await raw(mail)).toString()) : c.notFound();
  });
  app.delete("/api/v1/messages", (c) => {
    mails.length = 0;
    return c.text("ok");
  });
  app.get("/", (c) => c.html(page(mails), 200, PAGE_HEADERS));
  return { ...(await serve(app, port)), send: (mail: OutgoingMail) => keep(mail) };
}

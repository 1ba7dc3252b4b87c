/**
 * A mailbox for everything the stack sends, kept in memory. It answers the HTTP routes of Mailpit
 * that `supabase start` runs, with Mailpit's shapes, so that code and tests use either.
 */
import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { z } from "zod";
import { isEmail } from "../supabase/functions/_shared/email-address.ts";
import { type Listener, serve } from "./http-server.ts";
import { listPage, mailPage, PAGE_HEADERS } from "./mail-page.ts";

/** Older mails are dropped: a test run or a forgotten loop must not fill the memory. */
const KEPT = 1000;
const MAX_BODY = 1024 * 1024;
const SNIPPET = 250;

const email = z.string().refine(isEmail, "is not an address");
const person = z.strictObject({ Email: email, Name: z.string().default("") });

/** Body of `POST /api/v1/send`. Stricter than Mailpit: a misspelt key is a bug in the sender. */
const sendSchema = z.strictObject({
  From: person,
  To: z.array(person).min(1),
  Cc: z.array(person).default([]),
  Bcc: z.array(email).default([]),
  ReplyTo: z.array(person).default([]),
  Subject: z.string().default(""),
  Text: z.string().default(""),
  HTML: z.string().default(""),
  Tags: z.array(z.string()).default([]),
  Headers: z.record(z.string(), z.string()).default({}),
});

const deleteSchema = z.strictObject({ IDs: z.array(z.string()).default([]) });

/** Undefined, which no schema accepts, for text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type OutgoingMail = z.input<typeof sendSchema>;

export interface Address {
  Name: string;
  Address: string;
}

export interface Mail {
  ID: string;
  MessageID: string;
  Read: boolean;
  From: Address;
  To: Address[];
  Cc: Address[];
  Bcc: Address[];
  ReplyTo: Address[];
  Subject: string;
  Created: string;
  Tags: string[];
  Text: string;
  HTML: string;
}

const toAddress = (given: z.output<typeof person>): Address => ({
  Name: given.Name,
  Address: given.Email,
});

function toMail(sent: z.output<typeof sendSchema>): Mail {
  const id = randomBytes(16).toString("base64url");
  return {
    ID: id,
    MessageID: `${id}@mail.local`,
    Read: false,
    From: toAddress(sent.From),
    To: sent.To.map(toAddress),
    Cc: sent.Cc.map(toAddress),
    Bcc: sent.Bcc.map((address) => ({ Name: "", Address: address })),
    ReplyTo: sent.ReplyTo.map(toAddress),
    Subject: sent.Subject,
    Created: new Date().toISOString(),
    Tags: sent.Tags,
    Text: sent.Text,
    HTML: sent.HTML,
  };
}

function summary({ Text, HTML, ...mail }: Mail) {
  const text = (Text || HTML.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ").trim();
  const Size = Buffer.byteLength(Text) + Buffer.byteLength(HTML);
  return { ...mail, Username: "", Size, Attachments: 0, Snippet: text.slice(0, SNIPPET) };
}

function message({ Read: _, Created, ...mail }: Mail) {
  const Size = Buffer.byteLength(mail.Text) + Buffer.byteLength(mail.HTML);
  return {
    ...mail,
    Date: Created,
    ReturnPath: mail.From.Address,
    Size,
    Inline: [],
    Attachments: [],
  };
}

/**
 * The part of Mailpit's search language that is used here: words and `to:`, `from:`, `subject:`,
 * each quoted or not, all of which must match, ignoring case. Undefined for anything else, since
 * a filter that is silently ignored would make a test pass for the wrong reason.
 */
function parseQuery(query: string): ((mail: Mail) => boolean) | undefined {
  const terms = [...query.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"|([^\s"]+))/gi)].map(
    ([, field = "text", quoted, plain = ""]) => ({
      field: field.toLowerCase(),
      value: (quoted ?? plain).toLowerCase(),
    }),
  );
  const fields: Record<string, (mail: Mail) => string> = {
    to: (mail) => mail.To.map(({ Name, Address }) => `${Name} ${Address}`).join("\n"),
    from: ({ From }) => `${From.Name} ${From.Address}`,
    subject: (mail) => mail.Subject,
    text: (mail) => JSON.stringify(mail),
  };
  if (terms.length === 0 || terms.some(({ field }) => !fields[field])) return undefined;
  return (mail) =>
    terms.every(({ field, value }) => fields[field]?.(mail).toLowerCase().includes(value));
}

/** The mailbox and its HTTP routes; `mails` has the newest first. */
function createApp(mails: Mail[], keep: (sent: z.output<typeof sendSchema>) => string): Hono {
  const app = new Hono();
  const find = (id: string) => (id === "latest" ? mails[0] : mails.find(({ ID }) => ID === id));
  const list = (found: Mail[], query: Record<string, string>) => {
    const paging = z.object({
      start: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(0).default(50),
    });
    const parsed = paging.safeParse(query);
    if (!parsed.success) return undefined;
    const { start, limit } = parsed.data;
    const messages = found.slice(start, start + limit).map(summary);
    return {
      total: mails.length,
      unread: mails.filter(({ Read }) => !Read).length,
      count: messages.length,
      messages_count: found.length,
      messages_unread: found.filter(({ Read }) => !Read).length,
      start,
      tags: [...new Set(mails.flatMap(({ Tags }) => Tags))].sort(),
      messages,
    };
  };

  app.post("/api/v1/send", async (c) => {
    const parsed = sendSchema.safeParse(parseJson(await c.req.text()));
    if (!parsed.success) return c.json({ Error: z.prettifyError(parsed.error) }, 400);
    return c.json({ ID: keep(parsed.data) });
  });
  app.get("/api/v1/messages", (c) => {
    const found = list(mails, c.req.query());
    return found ? c.json(found) : c.json({ Error: "start and limit are numbers" }, 400);
  });
  app.get("/api/v1/search", (c) => {
    const matches = parseQuery(c.req.query("query") ?? "");
    const found = matches && list(mails.filter(matches), c.req.query());
    return found ? c.json(found) : c.json({ Error: "cannot search for this" }, 400);
  });
  app.get("/api/v1/message/:id", (c) => {
    const mail = find(c.req.param("id"));
    if (!mail) return c.json({ Error: "message not found" }, 404);
    mail.Read = true;
    return c.json(message(mail));
  });
  app.delete("/api/v1/messages", async (c) => {
    const text = await c.req.text();
    const chosen = deleteSchema.safeParse(text ? parseJson(text) : {});
    if (!chosen.success) return c.json({ Error: z.prettifyError(chosen.error) }, 400);
    const { IDs } = chosen.data;
    // As in Mailpit, no ids means all of them.
    const kept = IDs.length === 0 ? [] : mails.filter(({ ID }) => !IDs.includes(ID));
    mails.splice(0, mails.length, ...kept);
    return c.text("ok");
  });

  app.get("/", (c) => c.html(listPage(mails), 200, PAGE_HEADERS));
  app.get("/view/:id", (c) => {
    const mail = find(c.req.param("id"));
    return c.html(mailPage(mail), mail ? 200 : 404, PAGE_HEADERS);
  });
  app.notFound((c) => c.json({ Error: "not found" }, 404));
  return app;
}

/** Starts the mail catcher; `send` is its POST without HTTP and throws on a bad message. */
export async function startMail(options: {
  port: number;
}): Promise<Listener & { send(mail: OutgoingMail): string }> {
  const mails: Mail[] = [];
  const keep = (sent: z.output<typeof sendSchema>) => {
    const mail = toMail(sent);
    mails.unshift(mail);
    mails.length = Math.min(mails.length, KEPT);
    return mail.ID;
  };
  const app = createApp(mails, keep);
  const listener = await serve({
    port: options.port,
    maxBody: MAX_BODY,
    fetch: (request) => app.fetch(request),
  });
  return { ...listener, send: (mail) => keep(sendSchema.parse(mail)) };
}

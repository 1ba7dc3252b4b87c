import PostalMime from "postal-mime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startMail } from "../../../local/mail.ts";
import { ADDRESSES, NO_ADDRESSES } from "../../support/email-addresses.ts";

let mail: Awaited<ReturnType<typeof startMail>>;

beforeEach(async () => {
  mail = await startMail(0);
});

afterEach(() => mail.close());

const sample = {
  From: { Email: "studio@example.com", Name: "Studio" },
  To: [{ Email: "ana@example.com", Name: "Ana" }],
  Subject: "Your code",
  Text: "012345",
  HTML: "<p>012345</p><script>alert(1)</script>",
};

const post = (body: unknown) =>
  fetch(`${mail.url}/api/v1/send`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const get = async (path: string) => (await fetch(mail.url + path)).json();

const find = (query: string) => get(`/api/v1/search?query=${encodeURIComponent(query)}`);

test("a sent mail is listed and read in Mailpit's shapes", async () => {
  const { ID } = await (await post(sample)).json();
  const from = { Name: "Studio", Address: "studio@example.com" };
  const to = [{ Name: "Ana", Address: "ana@example.com" }];
  const list = await get("/api/v1/messages");
  expect(list).toMatchObject({ messages_count: 1, count: 1, start: 0 });
  expect(list.messages).toEqual([
    expect.objectContaining({ ID, From: from, To: to, Subject: "Your code", Snippet: "012345" }),
  ]);
  expect(Date.parse(list.messages[0].Created)).not.toBeNaN();
  const { HTML, Text, Subject } = sample;
  const read = await get(`/api/v1/message/${ID}`);
  expect(read).toMatchObject({ ID, From: from, To: to, Subject, Text, HTML });
  expect(Date.parse(read.Date)).not.toBeNaN();
});

test("headers and attachments are kept: a mail parser finds them in the raw mail", async () => {
  const content = "BEGIN:VCALENDAR\r\nSUMMARY:Manicure \u{1F485}\r\nEND:VCALENDAR\r\n";
  const ID = mail.send({
    ...sample,
    From: { Name: 'Ana "A" (via Studio)', Email: "studio@example.com" },
    ReplyTo: [{ Email: "ana@example.com" }],
    Subject: "Conferma: manicure \u{1F485}",
    Headers: { "List-Unsubscribe": "<https://api.example/unsubscribe?t=1>" },
    Attachments: [
      {
        Filename: "booking.ics",
        ContentType: "text/calendar; charset=utf-8; method=REQUEST",
        Content: Buffer.from(content).toString("base64"),
      },
    ],
  });
  const shown = await get(`/api/v1/message/${ID}`);
  expect(shown.Attachments).toEqual([
    {
      PartID: "2",
      FileName: "booking.ics",
      ContentType: "text/calendar; charset=utf-8; method=REQUEST",
      Size: Buffer.byteLength(content),
    },
  ]);
  expect((await get("/api/v1/messages")).messages[0].Attachments).toBe(1);

  const raw = async () => (await fetch(`${mail.url}/api/v1/message/${ID}/raw`)).text();
  const parsed = await PostalMime.parse(await raw());
  expect(parsed).toMatchObject({
    from: { name: 'Ana "A" (via Studio)', address: "studio@example.com" },
    to: [{ name: "Ana", address: "ana@example.com" }],
    replyTo: [{ address: "ana@example.com" }],
    subject: "Conferma: manicure \u{1F485}",
    text: expect.stringContaining("012345"),
    html: expect.stringContaining("<p>012345</p>"),
    attachments: [{ filename: "booking.ics", mimeType: "text/calendar", method: "REQUEST" }],
  });
  // The parser has line feeds alone.
  const read = new TextDecoder().decode(parsed.attachments[0]?.content as ArrayBuffer);
  expect(read).toBe(content.replaceAll("\r\n", "\n"));
  expect(parsed.headers).toContainEqual({
    key: "list-unsubscribe",
    originalKey: "List-Unsubscribe",
    value: "<https://api.example/unsubscribe?t=1>",
  });
  expect(await raw()).toBe(await raw());
});

test("the newest comes first", async () => {
  for (const Subject of ["1", "2"]) mail.send({ ...sample, Subject });
  const { messages } = await get("/api/v1/messages");
  expect(messages.map(({ Subject }: { Subject: string }) => Subject)).toEqual(["2", "1"]);
  expect(await get("/api/v1/message/latest")).toMatchObject({ Subject: "2" });
});

test("a search finds by recipient, ignoring case", async () => {
  mail.send(sample);
  mail.send({ ...sample, To: [{ Email: "ben@example.com" }] });
  for (const query of ['to:"ANA@example.com"', "to:ana@example.com", "to:ana"]) {
    expect((await find(query)).messages).toHaveLength(1);
  }
  expect(await find("to:nobody@example.com")).toMatchObject({ messages_count: 0, messages: [] });
});

test.each(["", "has:attachment", "ana", "to:ana subject:code"])(
  "a search for %j, which is not understood, is 400",
  async (query) => {
    const response = await fetch(`${mail.url}/api/v1/search?query=${query}`);
    expect(response.status).toBe(400);
  },
);

test.each([
  "{",
  {},
  { ...sample, To: [] },
  { ...sample, To: [{ Email: "ana" }] },
  { ...sample, From: { Address: "studio@example.com" } },
  { ...sample, Html: "" },
  { ...sample, Text: 1 },
  { ...sample, Attachments: [{ Filename: "a.txt", Content: "no base64" }] },
])("%j is 400 and not kept", async (body) => {
  const response = await post(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ Error: expect.any(String) });
  expect(await get("/api/v1/messages")).toMatchObject({ messages_count: 0 });
});

test("a mail goes to an address, by the grammar of the database, and to nothing else", async () => {
  const statusFor = async (Email: string) => (await post({ ...sample, To: [{ Email }] })).status;
  for (const address of ADDRESSES)
    expect([address, await statusFor(address)]).toEqual([address, 200]);
  for (const text of NO_ADDRESSES) expect([text, await statusFor(text)]).toEqual([text, 400]);
});

test("only the last 1000 mails are kept", async () => {
  const first = mail.send(sample);
  for (let sent = 0; sent < 1000; sent += 1) mail.send(sample);
  expect(await get("/api/v1/messages")).toMatchObject({ messages_count: 1000, count: 50 });
  expect((await fetch(`${mail.url}/api/v1/message/${first}`)).status).toBe(404);
});

test("all mails are deleted", async () => {
  mail.send(sample);
  await fetch(`${mail.url}/api/v1/messages`, { method: "DELETE" });
  expect(await get("/api/v1/messages")).toMatchObject({ messages_count: 0 });
});

test("addresses in a mail's text are links, and its markup stays text", async () => {
  mail.send({ ...sample, Text: 'Open\nhttps://example.com/#a=1&b"c<i> now <b>' });
  const shown = await (await fetch(mail.url)).text();
  const address = "https://example.com/#a=1&amp;b&quot;c&lt;i&gt;";
  expect(shown).toContain(
    `Open\n<a href="${address}" target="_blank">${address}</a> now &lt;b&gt;`,
  );
});

test("a mail's frame opens links elsewhere, and is let do nothing else", async () => {
  mail.send({ ...sample, HTML: "<html><head></head><a href='https://example.com'>x</a></html>" });
  const shown = await (await fetch(mail.url)).text();
  expect(shown).toContain('sandbox="allow-popups allow-popups-to-escape-sandbox"');
  expect(shown).toContain("&lt;base target=&quot;_blank&quot;&gt;");
});

test("a mail's markup stays inside its frame", async () => {
  mail.send({ ...sample, Subject: "<b>hi</b>", HTML: '"><script>alert(1)</script>' });
  const response = await fetch(mail.url);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  const shown = await response.text();
  expect(shown).not.toContain("<script>");
  expect(shown).not.toContain("<b>hi</b>");
  expect(shown).toContain("&lt;b&gt;hi");
});

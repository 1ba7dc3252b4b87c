import { afterEach, beforeEach, expect, test } from "vitest";
import { startMail } from "../../../local/mail.ts";
import { ADDRESSES, NO_ADDRESSES } from "../../support/email-addresses.ts";

let mail: Awaited<ReturnType<typeof startMail>>;

beforeEach(async () => {
  mail = await startMail({ port: 0 });
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
  expect(list).toMatchObject({ total: 1, unread: 1, count: 1, messages_count: 1, start: 0 });
  expect(list.messages).toEqual([
    expect.objectContaining({ ID, From: from, To: to, Subject: "Your code", Snippet: "012345" }),
  ]);
  expect(Date.parse(list.messages[0].Created)).not.toBeNaN();
  const { HTML, Text, Subject } = sample;
  const read = await get(`/api/v1/message/${ID}`);
  expect(read).toMatchObject({ ID, From: from, To: to, Subject, Text, HTML });
  expect(Date.parse(read.Date)).not.toBeNaN();
  expect(await get("/api/v1/messages")).toMatchObject({ unread: 0 });
});

test("the newest comes first, in pages", async () => {
  for (const Subject of ["1", "2", "3"]) mail.send({ ...sample, Subject });
  const page = await get("/api/v1/messages?start=1&limit=1");
  expect(page).toMatchObject({ total: 3, count: 1, start: 1 });
  expect(page.messages[0].Subject).toBe("2");
  expect(await get("/api/v1/message/latest")).toMatchObject({ Subject: "3" });
  expect((await fetch(`${mail.url}/api/v1/messages?start=-1`)).status).toBe(400);
});

test("a search finds by recipient and subject, ignoring case", async () => {
  mail.send(sample);
  mail.send({ ...sample, To: [{ Email: "ben@example.com" }] });
  for (const query of [
    'to:"ANA@example.com"',
    "to:ana@example.com",
    'to:ana subject:"your code"',
  ]) {
    expect((await find(query)).messages).toHaveLength(1);
  }
  expect(await find("to:nobody@example.com")).toMatchObject({ messages_count: 0, messages: [] });
});

test.each(["", "has:attachment"])(
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
])("%j is 400 and not kept", async (body) => {
  const response = await post(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ Error: expect.any(String) });
  expect(await get("/api/v1/messages")).toMatchObject({ total: 0 });
});

test("a mail goes to an address, by the grammar of the database, and to nothing else", async () => {
  const statusFor = async (Email: string) => (await post({ ...sample, To: [{ Email }] })).status;
  for (const address of ADDRESSES)
    expect([address, await statusFor(address)]).toEqual([address, 200]);
  for (const text of NO_ADDRESSES) expect([text, await statusFor(text)]).toEqual([text, 400]);
});

test("a mail over 1 MB is 413", async () => {
  expect((await post({ ...sample, Text: "x".repeat(1024 * 1024) })).status).toBe(413);
});

test("only the last 1000 mails are kept", async () => {
  const first = mail.send(sample);
  for (let sent = 0; sent < 1000; sent += 1) mail.send(sample);
  expect(await get("/api/v1/messages?limit=1")).toMatchObject({ total: 1000 });
  expect((await fetch(`${mail.url}/api/v1/message/${first}`)).status).toBe(404);
});

test("chosen mails are deleted, and all of them without a choice", async () => {
  const chosen = mail.send(sample);
  const other = mail.send(sample);
  const url = `${mail.url}/api/v1/messages`;
  await fetch(url, { method: "DELETE", body: JSON.stringify({ IDs: [chosen] }) });
  expect((await get("/api/v1/messages")).messages).toEqual([
    expect.objectContaining({ ID: other }),
  ]);
  expect((await fetch(url, { method: "DELETE", body: "{" })).status).toBe(400);
  expect((await fetch(url, { method: "DELETE" })).status).toBe(200);
  expect(await get("/api/v1/messages")).toMatchObject({ total: 0 });
});

test("a mail's markup stays inside its frame", async () => {
  const id = mail.send({ ...sample, Subject: "<b>hi</b>", HTML: '"><script>alert(1)</script>' });
  for (const path of ["/", `/view/${id}`]) {
    const response = await fetch(mail.url + path);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const shown = await response.text();
    expect(shown).not.toContain("<script>");
    expect(shown).not.toContain("<b>hi</b>");
    expect(shown).toContain("&lt;b&gt;hi");
  }
});

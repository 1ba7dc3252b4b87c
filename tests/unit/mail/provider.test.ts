/** Handing a mail over: what Resend gets, how it may end, and that no mail goes out twice. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import {
  type Mail,
  type MailProvider,
  mailProvider,
} from "../../../supabase/functions/_shared/mail.ts";
import { type FakeResend, type Fault, RESEND_KEY, startResend } from "../../support/resend.ts";

const ID = "55555555-5555-4555-8555-555555555555";

const letter: Mail = {
  to: { name: "Marta Bianchi", email: "marta@example.com" },
  from: { name: "Ana (via Bookings)", email: "bookings@example.com" },
  replyTo: "ana@example.com",
  subject: "Your booking",
  text: "Tomorrow at ten",
  html: "<p>Tomorrow at ten</p>",
  headers: { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
  attachments: [
    {
      filename: "booking.ics",
      content_type: "text/calendar; charset=utf-8; method=REQUEST",
      content: "SUMMARY:Manicure 💅\r\n",
    },
  ],
};

let resend: FakeResend;
let provider: MailProvider;

const env = (changed: Record<string, string> = {}): Record<string, string> => ({
  MAIL_FROM: "Bookings <bookings@example.com>",
  RESEND_API_KEY: RESEND_KEY,
  RESEND_BASE_URL: resend.url,
  ...changed,
});

beforeEach(async () => {
  resend = await startResend();
  provider = mailProvider((name) => env()[name]);
});

afterEach(() => resend.close());

describe("a mail for Resend", () => {
  test("has sender, reply address, headers and attachment, and a key of its id", async () => {
    const outcome = await provider.deliver(letter, ID);
    expect(outcome).toEqual({ result: "sent", id: [...resend.sent.keys()][0] });
    const [{ key, body }] = resend.requests as [FakeResend["requests"][0]];
    expect(key).toMatch(new RegExp(`^${ID}-[0-9a-f]{64}$`));
    expect(body).toEqual({
      from: '"Ana (via Bookings)" <bookings@example.com>',
      to: '"Marta Bianchi" <marta@example.com>',
      reply_to: "ana@example.com",
      subject: "Your booking",
      text: "Tomorrow at ten",
      html: "<p>Tomorrow at ten</p>",
      headers: { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
      attachments: [
        {
          filename: "booking.ics",
          content_type: "text/calendar; charset=utf-8; method=REQUEST",
          content: Buffer.from("SUMMARY:Manicure 💅\r\n").toString("base64"),
        },
      ],
      tags: [{ name: "mail", value: ID }],
    });
  });

  test("that goes at once has the service as its sender, and no key", async () => {
    await provider.deliver({ to: "marta@example.com", subject: "s", text: "t", html: "h" });
    const [{ key, body }] = resend.requests as [FakeResend["requests"][0]];
    expect(key).toBeUndefined();
    expect(body).toEqual({
      from: "Bookings <bookings@example.com>",
      to: "marta@example.com",
      subject: "s",
      text: "t",
      html: "h",
    });
  });

  test("quotes a name, so that it is one name and no address", async () => {
    const name = 'Ana "x" <evil@example.com>, \\';
    await provider.deliver({ ...letter, from: { name, email: "bookings@example.com" } });
    expect(resend.requests[0]?.body.from).toBe(
      '"Ana \\"x\\" <evil@example.com>, \\\\" <bookings@example.com>',
    );
  });
});

describe("once more", () => {
  test("with the same content it has the same key, and is not sent again", async () => {
    resend.fault = () => "lose";
    expect(await provider.deliver(letter, ID)).toMatchObject({ result: "retry" });
    resend.fault = () => undefined;
    const again = await provider.deliver(structuredClone(letter), ID);
    expect(again).toMatchObject({ result: "sent" });
    expect(new Set(resend.requests.map(({ key }) => key)).size).toBe(1);
    expect(resend.sent.size).toBe(1);
  });

  test.each<[what: string, changed: Partial<Mail>]>([
    ["text", { text: "The day after" }],
    ["attachment", { attachments: [] }],
    ["address", { to: "marta.bianchi@example.com" }],
    ["header", { headers: {} }],
  ])("with another %s it has another key, which is no conflict", async (_, changed) => {
    await provider.deliver(letter, ID);
    expect(await provider.deliver({ ...letter, ...changed }, ID)).toMatchObject({ result: "sent" });
    expect(new Set(resend.requests.map(({ key }) => key)).size).toBe(2);
  });

  test("another mail of the same content is another mail", async () => {
    await provider.deliver(letter, ID);
    await provider.deliver(letter, ID.replace("5", "6"));
    expect(resend.sent.size).toBe(2);
  });
});

describe("a fault of Resend", () => {
  test.each<[fault: Fault, outcome: object]>([
    [
      { status: 500, name: "internal_server_error" },
      { result: "retry", retryAfter: null },
    ],
    [
      { status: 503, headers: { "retry-after": "30" } },
      { result: "retry", retryAfter: 30 },
    ],
    [
      { status: 502, text: "<html>bad gateway" },
      { result: "retry", retryAfter: null },
    ],
    [
      { status: 500, text: "null" },
      { result: "retry", retryAfter: null },
    ],
    [
      { status: 429, name: "rate_limit_exceeded", headers: { "retry-after": "2" } },
      { result: "retry", retryAfter: 2 },
    ],
    [
      { status: 429, name: "daily_quota_exceeded" },
      { result: "quota", retryAfter: 3600 },
    ],
    [
      { status: 429, name: "daily_quota_exceeded", headers: { "retry-after": "1" } },
      { result: "quota", retryAfter: 3600 },
    ],
    [
      { status: 429, name: "daily_quota_exceeded", headers: { "retry-after": "7200" } },
      { result: "quota", retryAfter: 7200 },
    ],
    [
      { status: 429, name: "monthly_quota_exceeded" },
      { result: "quota", retryAfter: 3600 },
    ],
    [{ status: 409, name: "concurrent_idempotent_requests" }, { result: "retry" }],
    [{ status: 409, name: "invalid_idempotent_request" }, { result: "refused" }],
    [{ status: 422, name: "validation_error" }, { result: "refused" }],
    [{ status: 413, text: "too large" }, { result: "refused" }],
    // Ours to put right: a revoked key, a domain that is not verified.
    [{ status: 401, name: "invalid_api_key" }, { result: "retry" }],
    [{ status: 403, name: "validation_error" }, { result: "retry" }],
  ])("%j ends as %j", async (fault, outcome) => {
    resend.fault = () => fault;
    expect(await provider.deliver(letter, ID)).toMatchObject(outcome);
  });

  test("that cuts the connection is a try for later", async () => {
    resend.fault = () => "cut";
    expect(await provider.deliver(letter, ID)).toMatchObject({ result: "retry", retryAfter: null });
  });

  test("that never answers is given up in time", async () => {
    resend.fault = () => "hang";
    const timeOut = AbortSignal.timeout(50);
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(timeOut);
    expect(await provider.deliver(letter, ID)).toMatchObject({ result: "retry" });
    expect(timeout).toHaveBeenCalledWith(10_000);
    timeout.mockRestore();
  });

  test("is told in words of ours, without the address that the answer quotes", async () => {
    resend.fault = () => ({ status: 422, name: "of someone@example.com" });
    const outcome = await provider.deliver(letter, ID);
    expect(outcome).toMatchObject({ reason: "status 422, unknown" });
  });
});

test("a key that is not ours is refused by the fake, as by Resend", async () => {
  const other = mailProvider((name) => env({ RESEND_API_KEY: "re_other" })[name]);
  expect(await other.deliver(letter, ID)).toMatchObject({
    result: "retry",
    reason: "status 401, invalid_api_key",
  });
  expect(resend.requests).toEqual([]);
});

test("the sender is our address with the service's name", () => {
  expect(provider.sender).toEqual({ name: "Bookings", email: "bookings@example.com" });
});

test("an address of Resend that is none is a start-up error", () => {
  expect(() => mailProvider((name) => env({ RESEND_BASE_URL: "resend" })[name])).toThrow(EnvError);
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { EnvError, webAddress } from "../../../supabase/functions/_shared/env.ts";
import { type Mail, mailSender } from "../../../supabase/functions/_shared/mail.ts";
import type { Recipient } from "../../../supabase/functions/_shared/portal/store.ts";
import { codeMail } from "../../../supabase/functions/send-portal-otp/mail.ts";

const PROFESSIONAL = "11111111-1111-4111-8111-111111111111";

const recipient: Recipient = {
  client_id: "22222222-2222-4222-8222-222222222222",
  generation: 1,
  email: "marta@example.com",
  professional_name: "Ana Bianchi",
};

const mail = (changed: Partial<Recipient> = {}, portalUrl?: string): Mail =>
  codeMail({ ...recipient, ...changed }, "012345", PROFESSIONAL, portalUrl);

describe("the mail with a code", () => {
  test("goes to the stored address, with the professional in the subject and the code in both forms", () => {
    const { to, subject, text, html } = mail();
    expect(to).toBe("marta@example.com");
    expect(subject).toContain("Ana Bianchi");
    expect(subject).not.toContain("012345");
    for (const body of [text, html]) {
      expect(body).toContain("Ana Bianchi");
      expect(body).toContain("012345");
      expect(body).toMatch(/ten minutes/);
      expect(body).toMatch(/newest mail/);
    }
  });

  test.each([
    ["a line break", "Ana\r\nBcc: everybody@example.com"],
    ["a lone line feed", "Ana\nBcc: everybody@example.com"],
    ["a line separator", "Ana\u2028Bcc: everybody@example.com"],
    ["a next-line character", "Ana\u0085Bcc: everybody@example.com"],
    ["a NUL", "Ana\0Bcc: everybody@example.com"],
  ])("%s in a name starts no header and no line", (_, name) => {
    const { subject, text } = mail({ professional_name: name });
    expect(subject).toContain("Ana Bcc: everybody (at) example.com");
    expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(text.split(/\r|\n|\u2028/).some((line) => line.startsWith("Bcc:"))).toBe(false);
  });

  test("a name cannot turn the text around it", () => {
    const { subject, text, html } = mail({ professional_name: "\u202Eana\u2066 Bianchi" });
    for (const part of [subject, text, html]) expect(part).not.toMatch(/\p{Bidi_Control}/u);
  });

  test("a name is text in the HTML", () => {
    const { html, text } = mail({ professional_name: `<img src=x onerror="alert('&')">` });
    expect(html).toContain("&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;");
    expect(html).not.toContain("<img");
    expect(text).toContain("<img");
  });

  test("has a link only where there is a portal", () => {
    expect(mail().html).not.toContain("href");
    expect(mail().text).not.toContain("http");
  });

  test("the link carries professional, address and code in the fragment only", () => {
    const { text, html } = mail(
      { email: "marta+a&b=c#d@example.com" },
      "https://portal.example/sign-in?lang=it",
    );
    const [address = ""] = /https:\S+/.exec(text) ?? [];
    const link = new URL(address);
    expect(link.origin + link.pathname + link.search).toBe(
      "https://portal.example/sign-in?lang=it",
    );
    expect(Object.fromEntries(new URLSearchParams(link.hash.slice(1)))).toEqual({
      professional: PROFESSIONAL,
      email: "marta+a&b=c#d@example.com",
      code: "012345",
    });
    expect(html).toContain(`href="${address.replaceAll("&", "&amp;")}"`);
  });

  test("an address cannot break out of the link", () => {
    const { html } = mail({ email: `"'<x>@example.com` }, "https://portal.example/");
    expect(html.match(/<[^>]*>/g)).toEqual(
      expect.not.arrayContaining([expect.stringContaining("<x>")]),
    );
    expect(html.match(/"/g)).toHaveLength(
      mail({}, "https://portal.example/").html.match(/"/g)?.length ?? 0,
    );
  });
});

describe("PORTAL_URL", () => {
  const read = (value: string) => webAddress(() => value, "PORTAL_URL");

  test("may be absent", () => {
    expect(read("")).toBeUndefined();
    expect(read("https://portal.example/a/?b=1")).toBe("https://portal.example/a/?b=1");
  });

  test.each([
    "portal.example",
    "javascript:alert(1)",
    "https://portal.example/#/sign-in",
    "https://",
  ])("%s is a start-up error: the code would not be in the fragment", (value) => {
    expect(() => read(value)).toThrow(EnvError);
    expect(() => read(value)).toThrow("PORTAL_URL");
  });
});

describe("sending", () => {
  interface Sent {
    url: string;
    init: RequestInit;
    body: unknown;
  }

  /** A sender whose requests go nowhere but are kept. */
  function sender(
    env: Record<string, string>,
    answer: (sent: Sent) => Response | Promise<Response>,
  ) {
    const requests: Sent[] = [];
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      const sent = { url, init, body: JSON.parse(String(init.body)) };
      requests.push(sent);
      return answer(sent);
    });
    return { send: mailSender((name) => env[name]), sent: requests };
  }

  afterEach(() => {
    vi.unstubAllGlobals();
  });

  const letter: Mail = { to: "marta@example.com", subject: "s", text: "t", html: "<p>h</p>" };
  const FROM = { MAIL_FROM: "Salon Ana <salon@example.com>" };
  const ok = () => Response.json({ id: "1" });

  test("Resend gets its shape and its key", async () => {
    const { send, sent } = sender({ ...FROM, RESEND_API_KEY: "re_1" }, ok);
    await send(letter);
    expect(sent).toHaveLength(1);
    const [{ url, init, body }] = sent as [Sent];
    expect(url).toBe("https://api.resend.com/emails");
    expect(init.method).toBe("POST");
    expect(Object.fromEntries(new Headers(init.headers))).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer re_1",
    });
    expect(body).toEqual({
      from: "Salon Ana <salon@example.com>",
      to: "marta@example.com",
      subject: "s",
      text: "t",
      html: "<p>h</p>",
    });
  });

  test.each(["http://mail.test:8025", "http://mail.test:8025/"])(
    "Mailpit at %s gets its shape",
    async (address) => {
      const { send, sent } = sender({ ...FROM, MAILPIT_URL: address }, ok);
      await send(letter);
      const [{ url, init, body }] = sent as [Sent];
      expect(url).toBe("http://mail.test:8025/api/v1/send");
      expect(init.headers).toEqual({ "Content-Type": "application/json" });
      expect(body).toEqual({
        From: { Name: "Salon Ana", Email: "salon@example.com" },
        To: [{ Email: "marta@example.com" }],
        Subject: "s",
        Text: "t",
        HTML: "<p>h</p>",
      });
    },
  );

  test("a sender without a name is an address", async () => {
    const { send, sent } = sender({ MAIL_FROM: "salon@example.com", MAILPIT_URL: "http://m" }, ok);
    await send(letter);
    expect(sent[0]?.body).toMatchObject({ From: { Name: "", Email: "salon@example.com" } });
  });

  test("Resend is preferred where both are set", async () => {
    const { send, sent } = sender({ ...FROM, RESEND_API_KEY: "re_1", MAILPIT_URL: "http://m" }, ok);
    await send(letter);
    expect(sent.map(({ url }) => url)).toEqual(["https://api.resend.com/emails"]);
  });

  const RESEND = { ...FROM, RESEND_API_KEY: "re_1" };
  const MAILPIT = { ...FROM, MAILPIT_URL: "http://m" };
  const blocked = { name: "validation_error", message: "marta@example.com is blocked" };

  test.each<[name: string, env: Record<string, string>, answer: () => Response, told: string]>([
    [
      "a refusal of Resend",
      RESEND,
      () => Response.json({ ...blocked, statusCode: 422 }, { status: 422 }),
      "422",
    ],
    ["a proxy before Resend", RESEND, () => new Response("<html>marta", { status: 502 }), "502"],
    ["a refusal in no shape", RESEND, () => Response.json(null, { status: 500 }), "status"],
    ["an answer that is cut", RESEND, () => new Response('{"id": "marta'), "status"],
    ["a refusal of Mailpit", MAILPIT, () => Response.json(blocked, { status: 422 }), "422"],
  ])("%s is an error that quotes neither address nor answer", async (_, env, answer, told) => {
    const { send } = sender(env, answer);
    const error = await send(letter).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toContain(told);
    expect(String((error as Error).stack)).not.toMatch(/marta|blocked|re_1/);
  });

  describe.each([
    ["Resend", RESEND],
    ["Mailpit", MAILPIT],
  ])("%s", (_, env) => {
    test("that cannot be reached is an error", async () => {
      const { send } = sender(env, () => Promise.reject(new TypeError("fetch failed")));
      await expect(send(letter)).rejects.toThrow(Error);
    });

    test("that does not answer is given up after ten seconds", async () => {
      const timeOut = new AbortController();
      const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(timeOut.signal);
      const { send } = sender(
        env,
        ({ init: { signal } }) =>
          new Promise((_, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason));
            timeOut.abort();
          }),
      );
      await expect(send(letter)).rejects.toThrow();
      expect(timeout).toHaveBeenCalledWith(10_000);
      timeout.mockRestore();
    });
  });

  test.each<[name: string, env: Record<string, string>, variable: string]>([
    ["no provider", FROM, "RESEND_API_KEY"],
    ["an empty provider", { ...FROM, RESEND_API_KEY: " ", MAILPIT_URL: "" }, "MAILPIT_URL"],
    ["no sender", { RESEND_API_KEY: "re_1" }, "MAIL_FROM"],
    ["a sender that is a name", { MAIL_FROM: "Salon Ana", RESEND_API_KEY: "re_1" }, "MAIL_FROM"],
    [
      "a sender with two addresses",
      { MAIL_FROM: "a@example.com, b@example.com", RESEND_API_KEY: "re_1" },
      "MAIL_FROM",
    ],
    ["a Mailpit that is no address", { ...FROM, MAILPIT_URL: "mail:8025" }, "MAILPIT_URL"],
  ])("%s is a start-up error with the variable's name", (_, env, variable) => {
    const start = () => mailSender((name) => env[name]);
    expect(start).toThrow(EnvError);
    expect(start).toThrow(variable);
  });
});

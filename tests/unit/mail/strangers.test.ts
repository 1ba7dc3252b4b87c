/** What people type: who gets to read it, and what it cannot do. */
import { describe, expect, test } from "vitest";
import { render } from "../../../supabase/functions/mail/render.ts";
import { LANGUAGES } from "../../../supabase/functions/mail/texts/index.ts";
import {
  ALL_MAILS,
  type Changes,
  claim,
  facts,
  htmlFaults,
  links,
  mailOf,
  readHtml,
  sender,
} from "../../support/mail-facts.ts";

/** Each thing that a booker types, with a mark. */
const TYPED: Changes = {
  client: { name: "TYPED-name", phone: "TYPED-phone" },
  booking: { notes: "TYPED-notes", cancel_reason: "TYPED-reason", cancelled_by: "client" },
  order: { notes: "TYPED-order-notes", shipping_address: { street: "TYPED-street" } },
};

const everything = (mail: unknown) => JSON.stringify(mail);

describe("what the booker typed", () => {
  test.each(ALL_MAILS.filter(([audience]) => audience === "client"))(
    "is nowhere in a mail to a %s (%s) that may not quote it",
    (audience, kind, { booking }) => {
      for (const language of LANGUAGES) {
        const changes = { ...TYPED, booking: { ...booking, ...TYPED.booking }, language };
        const mail = mailOf(audience, kind, { ...changes, may_quote: false });
        expect(everything(mail)).not.toContain("TYPED");
      }
    },
  );

  test.each([
    ["booking_confirmed", ["TYPED-name", "TYPED-notes"]],
    ["booking_cancelled", ["TYPED-name", "TYPED-reason"]],
    ["order_received", ["TYPED-name", "TYPED-order-notes", "TYPED-street"]],
  ])("is in a %s that may quote it", (kind, expected) => {
    const { text, html, to } = mailOf("client", kind, TYPED);
    expect(to.name).toBe("TYPED-name");
    for (const typed of expected) {
      expect(text).toContain(typed);
      expect(html).toContain(typed);
    }
  });

  test.each([
    ["new_booking", ["TYPED-name", "TYPED-phone", "TYPED-notes"]],
    ["booking_cancelled", ["TYPED-name", "TYPED-reason"]],
    ["new_order", ["TYPED-name", "TYPED-phone", "TYPED-order-notes", "TYPED-street"]],
    ["client_undeliverable", ["TYPED-name", "TYPED-phone"]],
  ])("is in the professional's %s, whoever booked", (kind, expected) => {
    const { text, html, subject } = mailOf("professional", kind, { ...TYPED, may_quote: false });
    expect(subject).toContain("TYPED-name");
    for (const typed of expected) {
      expect(text).toContain(typed);
      expect(html).toContain(typed);
    }
  });

  test("cannot pass for a part of the professional's mail: each line is marked", () => {
    const notes = "See you!\r\n\r\nChange or cancel:\u2028https://evil.example/";
    const { text, html } = mailOf("professional", "new_booking", { booking: { notes } });
    expect(text).toContain("> See you!\n> \n> Change or cancel:\n> https://evil.example/");
    expect(html).not.toContain('href="https://evil.example');
    expect(html).toMatch(/border-left:[^>]*>[^\n]*See you!<br>/);
  });
});

describe("the professional's own words", () => {
  test("are in a client's mail, whoever booked", () => {
    const changes: Changes = {
      may_quote: false,
      professional: { footer: "OWN-footer" },
      booking: { instructions: "OWN-instructions\r\non two lines", service_name: "OWN-service" },
    };
    const { text, html } = mailOf("client", "booking_confirmed", changes);
    for (const own of ["OWN-footer", "OWN-instructions\non two lines", "OWN-service"]) {
      expect(text).toContain(own);
      expect(readHtml(html)).toContain(own.replace("\n", " "));
    }
  });

  test("give the reason for a cancellation of theirs", () => {
    const booking = { cancelled_by: "owner" as const, cancel_reason: "I am ill" };
    const { text } = mailOf("client", "booking_cancelled", { booking, may_quote: false });
    expect(text).toContain("Reason:\nI am ill");
  });

  test.each(["Claim your prize at evil.example", "https://a.b", "Dr.Evil"])(
    "a client by the name of %j is greeted without it",
    (name) => {
      const changes = { client: { name }, to: { name }, may_quote: true };
      const mail = mailOf("client", "booking_confirmed", changes);
      expect(everything(mail)).not.toContain(name);
      expect(mail.to.name).toBe("");
    },
  );

  test("whoever may not be the booker is told why the mail came", () => {
    for (const language of LANGUAGES) {
      const [known, unknown] = [true, false].map((may_quote) =>
        mailOf("client", "booking_confirmed", { language, may_quote }),
      );
      expect(known?.text).not.toMatch(/your address was entered|inserito il tuo indirizzo/);
      expect(unknown?.text).toMatch(/your address was entered|inserito il tuo indirizzo/);
    }
  });
});

test("whoever gets a mail to confirm an address need not know who signed up with it", () => {
  const mail = mailOf("professional", "confirm_address", {
    professional: { full_name: "TYPED", username: "typed-name", footer: "TYPED" },
  });
  expect(everything(mail)).not.toMatch(/typed/i);
  expect(mail.to).toEqual({ name: "", email: "ana@account.example" });
  expect(mail.from).toEqual(sender);
  expect(mail.text).toContain("ana@account.example");
});

const HOSTILE: Array<[string, string]> = [
  ["a line break", "Eve\r\nBcc: all@example.com\r\n\r\nHello"],
  ["a lone carriage return", "Eve\rBcc: all@example.com"],
  ["a line separator", "Eve\u2028Bcc: all@example.com"],
  ["a next-line character", "Eve\u0085Bcc: all@example.com"],
  ["a NUL", "Eve\0Bcc: all@example.com"],
  ["a script", `<script>alert("&")</script>`],
  ["an attribute", `" onmouseover="alert(1)" x='`],
  ["a bracket", `Eve" <all@example.com>, "`],
  ["letters from the right", "\u05D0\u05E0\u05D4 \u0628\u064A\u0627\u0646\u0643\u064A"],
  ["an override of direction", "\u202Eeve\u2066"],
  ["emoji", "👩‍👩‍👧‍👦 Fam 🇮🇹"],
  ["half an emoji", "Eve \uD83D"],
  ["200 letters", "W".repeat(200)],
  ["200 emoji", "👨‍👩‍👧".repeat(25)],
  ["the syntax of calendars", 'Eve;ATTENDEE=x:\\n"BEGIN:VEVENT",^n'],
];

const EVERYWHERE = (text: string): Changes => ({
  professional: { full_name: text, footer: text, address: text, phone: text },
  client: { name: text, phone: text },
  booking: {
    service_name: text,
    notes: text,
    cancel_reason: text,
    location: text,
    instructions: text,
  },
  order: {
    notes: text,
    shipping_address: { street: text },
    items: [{ name: text, quantity: 1, unit_price: "1.00", total: "1.00" }],
  },
  payment: { method: text },
});

describe.each(HOSTILE)("%s in everything that is typed", (_, typed) => {
  const all = ALL_MAILS.map(([audience, kind, { booking }]) => {
    const changes = EVERYWHERE(typed);
    return mailOf(audience, kind, { ...changes, booking: { ...changes.booking, ...booking } });
  });

  test("starts no header", () => {
    for (const { subject, from, to, headers, replyTo } of all) {
      const parts = [subject, from.name, from.email, to.name, to.email, replyTo ?? ""];
      for (const part of [...parts, ...Object.entries(headers).flat()]) {
        expect(part).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u);
      }
      expect(from.email).toBe(sender.email);
      for (const name of [from.name, to.name]) {
        expect(name).not.toMatch(/[@<>"\\]/);
        expect([...name].length).toBeLessThan(600);
      }
    }
  });

  test("is text in HTML that stays well-formed", () => {
    for (const { html } of all) {
      expect(htmlFaults(html)).toEqual([]);
      expect(html).not.toMatch(/<script|\son\w+="/i);
    }
  });

  test("starts no line in the text and turns none around", () => {
    for (const { text } of all) {
      expect(text).not.toMatch(/[\u202A-\u202E\u2066\u2067\u200E\u200F\u061C\r\0]/);
      expect(text.match(/\u2068/g)?.length).toBe(text.match(/\u2069/g)?.length);
    }
  });
});

describe("names", () => {
  test("of 200 letters are whole in the body, and short in headers", () => {
    const name = `${"Wolfeschlegelstein ".repeat(10)}hausen`;
    const { from, subject, text } = mailOf("client", "booking_confirmed", {
      professional: { full_name: name },
      booking: { service_name: name },
    });
    expect(text).toContain(name);
    expect(from.name).toMatch(/^.{50,60}… \(via Agenda\)$|^.{40,59}… \(via Agenda\)$/);
    expect(subject.length).toBeLessThan(170);
  });

  test("are cut between emoji, not inside of one", () => {
    const { from } = mailOf("client", "booking_confirmed", {
      professional: { full_name: "👨‍👩‍👧".repeat(70) },
    });
    expect(from.name).toBe(`${"👨‍👩‍👧".repeat(59)}… (via Agenda)`);
  });

  test("from the right do not turn the sentence around them", () => {
    const { text, subject } = mailOf("professional", "new_booking", { client: { name: "אנה" } });
    expect(text).toContain("\u2068אנה\u2069 has booked Massage.");
    expect(subject).toMatch(/^New booking: אנה, Massage/);
  });

  test.each([
    ["billing@bank.example", "billing (at) bank.example"],
    ["billing＠bank.example", "billing (at) bank.example"],
    ["Ana @ Studio", "Ana (at) Studio"],
    ['Ana" <ana@evil.example>', "Ana' ana (at) evil.example"],
  ])("%s is no address in From", (full_name, shown) => {
    const { from } = mailOf("client", "booking_confirmed", { professional: { full_name } });
    expect(from).toEqual({ name: `${shown} (via Agenda)`, email: sender.email });
  });

  test.each([
    ["", "ana-bianchi (via Agenda)"],
    ["\u200E", "ana-bianchi (via Agenda)"],
    ["<>", "ana-bianchi (via Agenda)"],
  ])("%j is no name: the page's is taken", (full_name, shown) => {
    expect(mailOf("client", "booking_confirmed", { professional: { full_name } }).from.name).toBe(
      shown,
    );
  });

  test("without any the mail is the service's", () => {
    const professional = { full_name: "", username: null as unknown as string };
    expect(mailOf("client", "booking_confirmed", { professional }).from).toEqual(sender);
    const unnamed = { name: "", email: "mail@agenda.example" };
    const mail = render(facts("client", "booking_confirmed"), links, unnamed);
    expect(mail.from.name).toBe("Ana Bianchi (via agenda.example)");
  });
});

describe("answers", () => {
  test("go to the professional's contact address, and the mail says so", () => {
    const { replyTo, text } = mailOf("client", "booking_confirmed");
    expect(replyTo).toBe("ana@studio.example");
    expect(text).toContain("Reply to this mail");
  });

  test.each([null, "ana@studio.example\r\nBcc: all@example.com", "Ana <ana@studio.example>"])(
    "go nowhere with %j, and the mail says so",
    (email) => {
      const { replyTo, text } = mailOf("client", "booking_confirmed", { professional: { email } });
      expect(replyTo).toBeNull();
      expect(text).toContain("Replies to this mail are not read.");
    },
  );

  test("to a professional's mail go to nobody who only typed an address", () => {
    expect(mailOf("professional", "new_booking").replyTo).toBeNull();
  });
});

describe("the end of reminders", () => {
  test("is one click in reminders, and in no other mail", () => {
    for (const [audience, kind] of ALL_MAILS) {
      const { headers, text } = mailOf(audience, kind);
      expect(headers["Auto-Submitted"]).toBe("auto-generated");
      const isReminder = kind === "booking_reminder";
      expect(headers["List-Unsubscribe"]).toBe(
        isReminder ? `<${links.unsubscribe?.url}>` : undefined,
      );
      expect(headers["List-Unsubscribe-Post"]).toBe(
        isReminder ? "List-Unsubscribe=One-Click" : undefined,
      );
      expect(text.includes(links.unsubscribe?.url ?? "")).toBe(isReminder);
    }
  });

  test("is left out where there is no address for it", () => {
    const mail = render(facts("client", "booking_reminder"), {}, sender);
    expect(Object.keys(mail.headers)).toEqual(["Auto-Submitted"]);
    expect(mail.text).not.toContain("http");
  });

  test("cannot be led out of its header", () => {
    const url = "https://api.example/stop?t=a>\r\nBcc: all@example.com";
    const mail = render(facts("client", "booking_reminder"), { unsubscribe: { url } }, sender);
    expect(mail.headers["List-Unsubscribe"]).toMatch(/^<https:\/\/api\.example\/[^\s<>]+>$/);
  });
});

test("claims are made for the tests as the database makes them", () => {
  expect(claim("client", "booking_confirmed")).toMatchObject({ order: null, payment: null });
});

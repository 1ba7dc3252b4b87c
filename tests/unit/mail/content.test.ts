/** What each mail says, and what of it only some are told. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { minorUnits, money } from "../../../supabase/functions/mail/money.ts";
import { type Changes, links, mailOf } from "../../support/mail-facts.ts";

const pending: Changes = { booking: { status: "pending" } };
const cancelledBy = (cancelled_by: "owner" | "client" | "system"): Changes => ({
  booking: { cancelled_by, cancel_reason: "No more time" },
});

describe("a client", () => {
  test.each<[string, Changes, RegExp, RegExp]>([
    ["booking_received", {}, /still has to confirm/, /deve ancora confermare/],
    ["booking_confirmed", {}, /Your booking is confirmed/, /prenotazione è confermata/],
    ["booking_moved", {}, /has moved and is confirmed/, /spostato ed è confermato/],
    [
      "booking_moved",
      pending,
      /still has to confirm the new time/,
      /deve ancora confermare il nuovo/,
    ],
    [
      "booking_cancelled",
      cancelledBy("owner"),
      /Ana Bianchi had to cancel/,
      /Ana Bianchi ha dovuto/,
    ],
    ["booking_cancelled", cancelledBy("client"), /You have cancelled/, /Hai annullato/],
    ["booking_cancelled", cancelledBy("system"), /no longer stands/, /non vale più/],
    ["booking_reminder", {}, /reminder of your time/, /promemoria del tuo/],
    ["booking_to_confirm", {}, /kept for 30 minutes/, /riservato per 30 minuti/],
    ["order_received", {}, /has received order 1012/, /ha ricevuto l'ordine 1012/],
    ["order_confirmed", {}, /has confirmed order 1012/, /ha confermato l'ordine 1012/],
    ["order_cancelled", {}, /1012 .* has been cancelled/, /1012 .* è stato annullato/],
    ["order_to_confirm", {}, /kept for 30 minutes/, /riservato per 30 minuti/],
    ["payment_received", {}, /has received €10\.00/, /ha ricevuto 10,00\s€/],
    ["payment_returned", {}, /€10\.00 .* goes back to you/, /10,00\s€ .* restituito per intero/],
    ["payment_refunded", {}, /has refunded €10\.00/, /ti ha rimborsato 10,00\s€/],
  ])("is told of %s %j in both languages", (kind, changes, english, italian) => {
    const inEnglish = mailOf("client", kind, changes);
    const inItalian = mailOf("client", kind, { ...changes, language: "it" });
    expect(inEnglish.text).toMatch(english);
    expect(inItalian.text).toMatch(italian);
    expect(inEnglish.subject).toContain("Ana Bianchi");
    expect(inItalian.subject).toContain("Ana Bianchi");
  });

  test("is told what, with whom, when, where and for how much", () => {
    const { text } = mailOf("client", "booking_confirmed");
    expect(text).toMatch(
      /What: Massage\nWith: Ana Bianchi\nWhen: .*\nWhere: Via Appia 7, 00183 Roma\nPrice: €45\.50\n/,
    );
  });

  test("is told no price that is nothing", () => {
    expect(
      mailOf("client", "booking_confirmed", { booking: { price: "0.00" } }).text,
    ).not.toContain("Price");
  });

  test("may change what has not ended, and confirm what waits", () => {
    const has = (kind: string, url: string | undefined, changes: Changes = {}) =>
      mailOf("client", kind, changes).text.includes(url ?? "none");
    for (const kind of [
      "booking_received",
      "booking_confirmed",
      "booking_moved",
      "booking_reminder",
    ]) {
      expect(has(kind, links.manage)).toBe(true);
      expect(has(kind, links.confirm)).toBe(false);
    }
    expect(has("booking_cancelled", links.manage)).toBe(false);
    for (const kind of ["booking_to_confirm", "order_to_confirm"]) {
      expect(has(kind, links.confirm)).toBe(true);
      expect(has(kind, links.manage)).toBe(false);
    }
  });
});

describe("a professional", () => {
  test.each<[string, Changes, RegExp, RegExp]>([
    ["new_booking", {}, /Marta Rossi has booked Massage/, /Marta Rossi ha prenotato Massage/],
    ["new_booking", pending, /would like to book/, /vorrebbe prenotare/],
    ["booking_moved", {}, /has moved the booking below\. It is confirmed/, /È confermata/],
    ["booking_moved", pending, /until you confirm or decline/, /finché non confermi o rifiuti/],
    ["booking_cancelled", cancelledBy("client"), /Marta Rossi has cancelled/, /ha annullato/],
    [
      "booking_cancelled",
      cancelledBy("owner"),
      /with Marta Rossi no longer stands/,
      /non vale più/,
    ],
    ["new_order", {}, /Marta Rossi has placed order 1012/, /ha inviato l'ordine 1012/],
    ["payment_received", {}, /has paid €10\.00 for order 1012/, /ha pagato 10,00\s€/],
    ["payment_returned", {}, /The money goes back by itself/, /viene restituito da solo/],
    [
      "payment_refund_failed",
      {},
      /payment of €10\.00 by Marta Rossi for order 1012, money should have gone back/,
      /pagamento di 10,00\s€ di Marta Rossi per l'ordine 1012, una somma doveva/,
    ],
    ["client_undeliverable", {}, /marta@example\.com could not be delivered/, /marta@example\.com/],
    [
      "confirm_address",
      {},
      /Confirm that ana@account\.example is yours/,
      /ana@account\.example è tuo/,
    ],
    [
      "calendar_disconnected",
      {},
      /Google no longer lets us into your calendar/,
      /Google non ci dà più accesso al tuo calendario/,
    ],
    [
      "calendar_failing",
      {},
      /Calendar: calendar\.example\nSince: Wed 18 Nov, 09:15\nCalendar: other\.example\n/,
      /Calendario: calendar\.example\nDal: mer 18 nov/,
    ],
  ])("is told of %s %j in both languages", (kind, changes, english, italian) => {
    expect(mailOf("professional", kind, changes).text).toMatch(english);
    expect(mailOf("professional", kind, { ...changes, language: "it" }).text).toMatch(italian);
  });

  test("is told how to reach the client, and why it was cancelled", () => {
    const { text } = mailOf("professional", "booking_cancelled", cancelledBy("client"));
    expect(text).toMatch(/Client: Marta Rossi\nE-mail: marta@example\.com\nPhone: \+39 333/);
    expect(text).toContain("Reason:\n> No more time");
  });

  test("is told of a client without address or telephone", () => {
    const { text } = mailOf("professional", "new_booking", {
      client: { email: null, phone: null },
    });
    expect(text).toContain("Client: Marta Rossi\n");
    expect(text).not.toMatch(/E-mail:|Phone:/);
  });

  test("has mail from the service, to the account's address", () => {
    const { from, to } = mailOf("professional", "new_booking");
    expect(from.name).toBe("Agenda");
    expect(to).toEqual({ name: "Ana Bianchi", email: "ana@account.example" });
  });
});

describe("where it is", () => {
  const where = (kind: string, changes: Changes) =>
    /^Where: (.*)$/m.exec(mailOf("client", kind, changes).text)?.[1];

  test("is the location of the service, and the address only without one", () => {
    expect(where("booking_confirmed", { booking: { location: "Room 2" } })).toBe("Room 2");
    expect(where("booking_confirmed", {})).toBe("Via Appia 7, 00183 Roma");
    expect(where("booking_confirmed", { professional: { address: null } })).toBeUndefined();
  });

  test("is told of what is confirmed if it is an address, that is maybe a home", () => {
    for (const kind of ["booking_received", "booking_to_confirm", "booking_cancelled"]) {
      expect(mailOf("client", kind).text).not.toContain("Via Appia");
    }
    expect(mailOf("client", "booking_moved", pending).text).not.toContain("Via Appia");
    expect(mailOf("client", "order_confirmed").text).not.toContain("Via Appia");
  });

  test.each([
    "https://meet.example/room",
    "Online: https://meet.example/room",
    "www.meet.example",
    "meet.example/room",
  ])("is told of what is confirmed if it is a link (%s)", (location) => {
    expect(where("booking_confirmed", { booking: { location } })).toBe(location);
    expect(where("booking_reminder", { booking: { location } })).toBe(location);
    for (const [kind, changes] of [
      ["booking_received", {}],
      ["booking_to_confirm", {}],
      ["booking_cancelled", {}],
      ["booking_moved", pending],
    ] as const) {
      const mail = mailOf("client", kind, { booking: { ...changes.booking, location } });
      expect(JSON.stringify(mail)).not.toContain("meet.example");
      // Nor is it the address instead.
      expect(JSON.stringify(mail)).not.toContain("Via Appia");
    }
  });

  test("is a link to click on only if it is nothing but one", () => {
    const html = (location: string) =>
      mailOf("client", "booking_confirmed", { booking: { location } }).html;
    expect(html("https://meet.example/a?b=1&c=2")).toContain(
      'href="https://meet.example/a?b=1&amp;c=2"',
    );
    for (const other of [
      "javascript:alert(1)//x.yy/",
      "http://meet.example/",
      "see https://meet.example/",
    ]) {
      expect(html(other)).not.toMatch(/href="(?!https:\/\/portal\.example)/);
    }
  });

  test.each(["booking_received", "booking_to_confirm"])("instructions wait too (%s)", (kind) => {
    expect(mailOf("client", kind).text).not.toContain("Bring a towel");
    expect(mailOf("client", "booking_reminder").text).toContain("Bring a towel");
  });

  test("a telephone is for clients of what is confirmed", () => {
    expect(mailOf("client", "booking_confirmed").text).toContain("or call +39 06 555 0100");
    expect(mailOf("client", "order_confirmed").text).toContain("or call +39 06 555 0100");
    for (const kind of ["booking_received", "booking_to_confirm", "booking_cancelled"]) {
      expect(mailOf("client", kind).text).not.toContain("555 0100");
    }
    const open: Changes = { order: { status: "pending" } };
    expect(mailOf("client", "order_received", open).text).not.toContain("555 0100");
  });
});

describe("an order", () => {
  test("has its lines and sums", () => {
    const { text } = mailOf("client", "order_confirmed");
    expect(text).toContain(
      [
        "Oil: 2 × €15.00 = €30.00",
        "Gift wrap: €2.50",
        "Subtotal: €32.50",
        "Discount: −€5.00",
        "Tax: €6.05",
        "Total: €33.55",
        "Paid: €10.00",
        "Still to pay: €23.55",
      ].join("\n"),
    );
  });

  test("says of a tax that prices include that they do", () => {
    const { text } = mailOf("client", "order_confirmed", { order: { total: "27.50" } });
    expect(text).toContain("Of which tax: €6.05\nTotal: €27.50");
  });

  test("without discount and tax is only a total", () => {
    const { text } = mailOf("client", "order_confirmed", {
      order: {
        discount: "0",
        tax: "0.00",
        total: "32.50",
        amount_paid: "0",
        payment_status: "unpaid",
      },
    });
    expect(text).toContain("Gift wrap: €2.50\nTotal: €32.50\nStill to pay: €32.50\n\n");
  });

  test.each<[string, string, Changes["order"]]>([
    ["paid", "order_confirmed", { payment_status: "paid", amount_paid: "33.55" }],
    [
      "refunded in part",
      "payment_refunded",
      { payment_status: "partially_refunded", amount_refunded: "1" },
    ],
    ["cancelled", "order_cancelled", { status: "cancelled" }],
  ])("that is %s has nothing still to pay", (_, kind, changes) => {
    expect(mailOf("client", kind, { order: { ...changes } }).text).not.toContain("Still to pay");
  });

  test("is sent to an address whose parts are in the order of an envelope", () => {
    const { text } = mailOf("client", "order_confirmed");
    expect(text).toContain("Deliver to:\nVia Nazionale 3\n00184\nRoma");
    const shipping_address = { to: { city: "Roma", name: "M" }, tags: ["a", 1, null], ok: true };
    expect(mailOf("client", "order_confirmed", { order: { shipping_address } }).text).toContain(
      "Deliver to:\nM\nRoma\na\n1\n",
    );
  });
});

describe("amounts", () => {
  test.each([
    ["en", "EUR", "1234.5", "€1,234.50"],
    ["it", "EUR", "1234.5", "1234,50 €"],
    ["it", "EUR", "12345.5", "12.345,50 €"],
    ["en", "JPY", "5000", "JP¥5,000"],
    ["it", "JPY", "5000", "5000 JPY"],
    ["en", "KWD", "5.25", "KWD 5.250"],
    ["it", "KWD", "5.250", "5,250 KWD"],
    ["en", "IQD", "5.250", "IQD 5.250"],
    ["en", "EUR", "999999999999.99", "€999,999,999,999.99"],
    ["en", "KWD", "999999999999.999", "KWD 999,999,999,999.999"],
  ])("are written as %s has them, in %s", (language, currency, price, expected) => {
    const { text } = mailOf("client", "booking_confirmed", {
      language,
      booking: { currency, price },
    });
    const shown = /^(?:Price|Prezzo): (.*)$/m.exec(text)?.[1];
    expect(shown?.replace(/[\u00A0\u202F]/g, " ")).toBe(expected);
  });

  test("of an order are in the order's currency", () => {
    const items = [{ name: "Tea", quantity: 3, unit_price: "500", total: "1500" }];
    const yen = {
      currency: "JPY",
      items,
      subtotal: "1500",
      discount: "0",
      tax: "0",
      total: "1500",
    };
    const { text } = mailOf("client", "order_confirmed", {
      order: { ...yen, amount_paid: "0", payment_status: "unpaid" },
    });
    expect(text).toContain("Tea: 3 × JP¥500 = JP¥1,500\nTotal: JP¥1,500\nStill to pay: JP¥1,500\n");
  });

  test("have the minor units that the database has for their currency", () => {
    const folder = new URL("../../../supabase/migrations/", import.meta.url);
    const file = readdirSync(folder).find((name) => name.endsWith("_reference_tables.sql")) ?? "";
    const sql = readFileSync(new URL(file, folder), "utf8");
    const lists = [
      ...sql.matchAll(/select code, (\d)\nfrom unnest\(string_to_array\(([\s\S]*?)' '\n/g),
    ];
    const units = lists.flatMap(([, digits, codes]) =>
      (codes?.match(/\b[A-Z]{3}\b/g) ?? []).map((code) => [code, Number(digits)] as const),
    );
    expect(units.length).toBeGreaterThan(140);
    expect(units.map(([code]) => [code, minorUnits(code)])).toEqual(units.map((unit) => [...unit]));
    for (const [code, digits] of units) {
      expect(money("en-GB", "7.125", code).replace(/^\D*/, "").length).toBe(
        (digits && digits + 2) || 1,
      );
    }
  });
});

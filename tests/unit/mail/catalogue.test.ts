/** What holds for every mail, in every language. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LANGUAGES, TEXTS } from "../../../supabase/functions/mail/texts/index.ts";
import { ALL_KINDS, ALL_MAILS, htmlFaults, mailOf, readHtml } from "../../support/mail-facts.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const CONTRACT = {
  client: `booking_received booking_confirmed booking_moved booking_cancelled booking_reminder
    order_received order_confirmed order_cancelled payment_received payment_returned
    payment_refunded
    booking_to_confirm order_to_confirm`,
  professional: `new_booking booking_moved booking_cancelled new_order payment_received
    payment_returned payment_refund_failed client_undeliverable confirm_address calendar_failing calendar_disconnected`,
};

test.each(Object.entries(CONTRACT))("every kind of mail to a %s is made", (audience, kinds) => {
  const made = ALL_KINDS.filter(([to]) => to === audience).map(([, kind]) => kind);
  expect(made.sort()).toEqual(kinds.split(/\s+/).sort());
});

const everyMail = LANGUAGES.flatMap((language) =>
  ALL_MAILS.map(([audience, kind, changes]) => {
    const detail = Object.values(changes.booking ?? {}).join(" ");
    const title = [language, audience, kind, detail].join(" ").trim();
    return { title, mail: () => mailOf(audience, kind, { ...changes, language }), language };
  }),
);

describe.each(everyMail)("$title", ({ mail, language }) => {
  test("has a subject on one line, and says all of its values", () => {
    const { subject, text, html } = mail();
    expect(subject).toMatch(/^\S.*\S$/u);
    for (const part of [subject, text, html]) {
      expect(part).not.toMatch(/undefined|\bnull\b|\bNaN\b|\[object|\$\{|Invalid/);
    }
  });

  test("is well-formed HTML in its language", () => {
    const { html } = mail();
    expect(htmlFaults(html)).toEqual([]);
    expect(html).toMatch(new RegExp(`^<!DOCTYPE html>\n<html lang="${language}">`));
    expect(html).toContain('<meta charset="utf-8">');
  });

  test("says the same as text and as HTML", () => {
    const { text, html } = mail();
    const read = readHtml(html);
    const words = (from: string) => from.split(/\s+/).map((word) => word.replace(/:$/, ""));
    const missing = words(text).filter((word) => word !== ">" && !read.includes(word));
    expect(missing).toEqual([]);
    expect(words(read).filter((word) => !text.includes(word))).toEqual([]);
  });

  test("loads nothing, runs nothing, and leaves colours to the reader's program", () => {
    const { html } = mail();
    expect(html).not.toMatch(/<(img|script|style|link|iframe|object|form|video|svg)\b/i);
    expect(html).not.toMatch(/url\(|@import|\bsrc=|\bbackground|javascript:|\son\w+=/i);
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    const colours = [...html.matchAll(/#[0-9a-f]{3,8}\b(?=[;"])/gi)].map(([colour]) => colour);
    expect(new Set([...colours, "#808080"])).toEqual(new Set(["#808080"]));
    expect(html).not.toMatch(/[;"]color:/);
  });

  test("leads only where it was told to", () => {
    const { html } = mail();
    const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, target]) => target ?? "");
    for (const target of targets) expect(target).toMatch(/^https:\/\/(portal|api)\.example\//);
  });

  test("is the same bytes for the same facts, whenever it is made", () => {
    const madeIn = (year: number) => {
      vi.setSystemTime(Date.UTC(year, 0, 1));
      return JSON.stringify(mail());
    };
    expect(madeIn(2027)).toBe(madeIn(2031));
  });
});

/** Every text of a language by its path; functions with the names of their values. */
function everyText(texts: object, path = ""): Array<[string, string]> {
  const named = new Proxy({}, { get: (_, name) => `{${String(name)}}` });
  return Object.entries(texts).flatMap(([key, value]): Array<[string, string]> => {
    if (typeof value === "string") return [[`${path}${key}`, value]];
    if (typeof value !== "function") return everyText(value, `${path}${key}.`);
    const takesNames = /^\s*\(\{/.test(String(value));
    return [[`${path}${key}`, takesNames ? value(named) : value("{1}", "{2}")]];
  });
}

describe("the languages", () => {
  const [first, ...others] = LANGUAGES.map((language) => new Map(everyText(TEXTS[language])));

  test("have the same texts, with the same values in them", () => {
    const values = (text = "") => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
    for (const other of others) {
      expect([...other.keys()].sort()).toEqual([...(first?.keys() ?? [])].sort());
      for (const [key, text] of first ?? []) {
        expect([key, ...values(other.get(key))]).toEqual([key, ...values(text)]);
      }
    }
  });

  test("leave nothing in the words of another", () => {
    const SAME_IN_BOTH = ["labels.email"];
    for (const other of others) {
      const same = [...other].filter(([key, text]) => first?.get(key) === text);
      expect(same.map(([key]) => key)).toEqual(SAME_IN_BOTH);
    }
  });
});

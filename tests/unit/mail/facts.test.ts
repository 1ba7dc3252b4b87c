import { describe, expect, test } from "vitest";
import { MailFacts } from "../../../supabase/functions/mail/facts.ts";
import { render } from "../../../supabase/functions/mail/render.ts";
import { claim, facts, links, mailOf, sender } from "../../support/mail-facts.ts";

const taken = (value: unknown) => MailFacts.safeParse(value).success;

describe("claimed mails", () => {
  test("are taken, also with fields that are newer than the function", () => {
    const mail = claim("client", "booking_confirmed");
    expect(taken(mail)).toBe(true);
    expect(taken({ ...mail, news: 1, booking: { ...mail.booking, news: 1 } })).toBe(true);
  });

  test.each([
    ["without its booking", { booking: null }],
    ["of an unknown kind", { kind: "booking_forgotten" }],
    ["of a kind of the other audience", { audience: "professional" }],
    ["without a client", { client: null }],
    ["that does not say what may be quoted", { may_quote: undefined }],
  ])("%s are refused", (_, wrong) => {
    expect(taken({ ...claim("client", "booking_confirmed"), ...wrong })).toBe(false);
  });

  test.each([
    ["a time that is none", { starts_at: "soon" }],
    ["an amount that is none", { price: "NaN" }],
    ["an amount below nothing", { price: "-1" }],
    ["a currency that is none", { currency: "€" }],
  ])("%s is refused", (_, wrong) => {
    const mail = claim("client", "booking_confirmed");
    expect(taken({ ...mail, booking: { ...mail.booking, ...wrong } })).toBe(false);
  });

  test("in a language that the function does not have yet are told in English", () => {
    expect(mailOf("client", "booking_confirmed", { language: "eo" }).text).toContain(
      "Your booking is confirmed",
    );
  });
});

test.each([
  ["client", "booking_to_confirm", "confirm"],
  ["client", "order_to_confirm", "confirm"],
  ["professional", "confirm_address", "confirmAddress"],
] as const)("to a %s, %s is not sent without its link", (audience, kind, link) => {
  const mail = facts(audience, kind);
  expect(() => render(mail, { ...links, [link]: undefined }, sender)).toThrow(kind);
  const { text, html } = render(mail, { [link]: links[link] }, sender);
  expect(text).toContain(links[link]);
  expect(html).toContain(`href="${links[link]}"`);
});

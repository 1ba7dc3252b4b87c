/** The functions' grammar of addresses; tests/email-addresses.test.ts compares it with the database's. */
import { expect, test } from "vitest";
import { isEmail } from "../../supabase/functions/_shared/email-address.ts";
import { EnvError } from "../../supabase/functions/_shared/env.ts";
import { mailSender } from "../../supabase/functions/_shared/mail.ts";
import { ADDRESSES, NO_ADDRESSES } from "../support/email-addresses.ts";

const mailFrom = (MAIL_FROM: string) =>
  mailSender((name) => ({ MAIL_FROM, RESEND_API_KEY: "re_1" })[name]);

test.each(ADDRESSES)("%j is an address, and may send", (email) => {
  expect(isEmail(email)).toBe(true);
  expect(() => mailFrom(email)).not.toThrow();
  expect(() => mailFrom(`Salon <${email}>`)).not.toThrow();
});

test.each(NO_ADDRESSES)("%j is none, and may not", (email) => {
  expect(isEmail(email)).toBe(false);
  expect(() => mailFrom(`Salon <${email}>`)).toThrow(EnvError);
});

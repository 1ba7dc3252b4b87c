/** One grammar of addresses: database, RPCs and functions take the same ones and compare them alike. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { isEmail, trimInvisible } from "../supabase/functions/_shared/email-address.ts";
import { dateIn, instantOf, iso } from "./support/calendar.ts";
import { anonymous, request } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import { ADDRESSES, NO_ADDRESSES } from "./support/email-addresses.ts";
import type { Professional, Row } from "./support/factories.ts";
import { sendCode } from "./support/portal.ts";
import { openProfessional, openService, refusal } from "./support/scheduling.ts";

let owner: Professional;
let service: Row<"services">;

beforeAll(async () => {
  owner = await openProfessional();
  service = await openService(owner);
});

test.each(ADDRESSES)("%j is an address everywhere", async (email) => {
  expect(await sql`select private.is_email(${email}) as yes`).toEqual([{ yes: true }]);
  expect((await sendCode({ email, professionalId: owner.id })).status).toBe(200);
});

describe.each(NO_ADDRESSES)("%j is none", (email) => {
  test("for the database", async () => {
    expect(await sql`select private.is_email(${email}) as yes`).toEqual([{ yes: false }]);
  });

  test("for a table, 400 23514", async () => {
    const body = JSON.stringify({ name: "Marta", email });
    const answer = await request("/rest/v1/clients", { method: "POST", token: owner.token, body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "23514" });
  });

  test("for an RPC, 422 validation_failed", async () => {
    const day = dateIn(10, "Europe/Rome");
    const answer = await anonymous().rpc("create_booking", {
      service_id: service.id,
      starts_at: iso(instantOf(day, "10:00", "Europe/Rome")),
      client_name: "Marta",
      client_email: email,
    });
    expect(refusal(answer)).toEqual({ status: 422, code: "validation_failed" });
    expect(JSON.parse(answer.error?.details ?? "")).toEqual({ fields: ["client_email"] });
  });

  test("for a function, 422 validation_failed", async () => {
    const answer = await sendCode({ email, professionalId: owner.id });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: "validation_failed" });
  });
});

test("nothing but an address has the key of an address", async () => {
  const others = NO_ADDRESSES.filter((text) => /[^\0-\x7f]/.test(text));
  const rows = await sql<{ key: string }[]>`
    select private.email_key(text) as key from unnest(${others}::text[]) as text`;
  expect(rows.filter(({ key }) => isEmail(key))).toEqual([]);
});

test("whatever the text, both grammars agree, and so do both ways to trim", async () => {
  const odd = [..."@@..--__ab09AZ+'\"<>,;[]", "\u0130", "\u212a", "\u017f", "\u00fc", "\u00ad"];
  const space = [
    ..." \t\n\v\f\r\u0085\u00a0\u00ad\u061c\u1680\u180e\u2000\u200a\u200b\u200f\u2028\u202f\u205f\u2064\u206f",
    ..."\u2070\u2800\u3000\u3164\ufeff\ufe0f\uffa0\u001f",
  ];
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...odd), maxLength: 20 }),
    fc
      .tuple(
        fc.string({ unit: fc.constantFrom(...space), maxLength: 4 }),
        fc.constantFrom(...ADDRESSES, ...NO_ADDRESSES, ""),
        fc.string({ unit: fc.constantFrom(...space), maxLength: 4 }),
      )
      .map((parts) => parts.join("")),
    fc.string({ unit: "binary", maxLength: 20 }).filter((one) => !one.includes("\0")),
    fc.emailAddress(),
  );
  const texts = fc.sample(text, 5000);
  const rows = await sql<{ valid: boolean; trimmed: string }[]>`
    select private.is_email(text) as valid, private.trim_invisible(text) as trimmed
    from unnest(${texts}::text[]) with ordinality as t (text, place)
    order by place`;
  const ours = texts.map((one) => ({
    text: one,
    valid: isEmail(one),
    trimmed: trimInvisible(one),
  }));
  expect(rows.map((row, i) => ({ text: texts[i], ...row }))).toEqual(ours);
});

test("a code is asked for with whatever space is around the address", async () => {
  const email = "\u200b\u00a0Marta@Example.com\ufeff\n";
  expect((await sendCode({ email, professionalId: owner.id })).status).toBe(200);
});

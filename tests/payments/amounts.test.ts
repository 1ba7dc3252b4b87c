/** Amounts as Stripe counts them, and those that it does not take. */
import { describe, expect, test } from "vitest";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { anonymous } from "../support/callers.ts";
import { auditAfterEachTest, failure } from "../support/commerce.ts";
import { raised, sql } from "../support/database.ts";
import { canCharge } from "../support/payments.ts";
import { book, openProfessional, openService } from "../support/scheduling.ts";

auditAfterEachTest();

const NOT_PAYABLE = { status: 422, code: "amount_not_payable" };

async function minor(amount: number | string, currency: string): Promise<number> {
  const [row] = await sql<{ minor: string }[]>`
    select private.payment_amount(${String(amount)}::numeric, ${currency}) as minor`;
  return Number(row?.minor);
}

describe("an amount as Stripe counts it", () => {
  test.each([
    ["JPY", 500, 500],
    ["EUR", 30.5, 3050],
    ["EUR", 0.5, 50],
    ["EUR", "999999.99", 99_999_999],
    ["KWD", 1.23, 1230],
    ["TND", 0.01, 10],
    ["ISK", 500, 50_000],
    ["UGX", 1000, 100_000],
    ["MGA", 1000, 1000],
    ["HUF", 175.25, 17_525],
    ["TWD", 800.45, 80_045],
    ["XAF", 1, 1],
  ])("%s %s is %i", async (currency, amount, expected) => {
    expect(await minor(amount, currency)).toBe(expected);
    const [row] = await sql<{ amount: number }[]>`
      select private.amount_of_payment(${expected}, ${currency})::float8 as amount`;
    expect(row?.amount).toBe(Number(amount));
  });

  test.each([
    ["finer than its currency", "JPY", 500.5],
    ["finer than the last digit, which is 0", "KWD", 1.234],
    ["not whole", "ISK", 500.5],
    ["not whole", "UGX", 0.5],
    ["not whole, though the currency has two decimals", "MGA", 1000.5],
    ["below the floor", "EUR", 0.49],
    ["below the floor", "USD", 0.49],
    ["below the floor", "GBP", 0.29],
    ["below the floor", "JPY", 49],
    ["below the floor", "HUF", 174.99],
    ["below the floor", "MXN", 9.99],
    ["below the smallest unit", "XAF", 0],
    ["less than nothing", "EUR", -1],
    ["no number", "EUR", "NaN"],
    ["no number", "EUR", "Infinity"],
    ["more than is counted", "EUR", "10000000000"],
    ["of a currency that there is not", "XXX", 1],
  ])("that is %s is refused: %s %s", async (_, currency, amount) => {
    expect(await raised(minor(amount, currency))).toMatchObject(NOT_PAYABLE);
  });

  test("nothing, or of no currency, is refused", async () => {
    const nothing = sql`select private.payment_amount(null, 'EUR')`;
    expect(await raised(nothing)).toMatchObject(NOT_PAYABLE);
    expect(await raised(sql`select private.payment_amount(1, null)`)).toMatchObject(NOT_PAYABLE);
  });

  test("is not of these currencies, which a professional may have and Stripe has not", async () => {
    const rows = await sql<{ code: string }[]>`
      select code from private.currencies
      except select code from private.payment_currencies order by code`;
    expect(rows.map(({ code }) => code).join(" ")).toBe(
      "BTN CUP ERN GHS IQD IRR KPW LYD MRU SDG SSP STN SVC SYP TMT VED VES ZWG",
    );
    expect(await raised(minor(100, "IRR"))).toMatchObject(NOT_PAYABLE);
  });

  test("comes back as it was, in every currency, from the least on", async () => {
    const rows = await sql`
      select c.code, a.amount
      from private.payment_currencies p
      join private.currencies c using (code)
      cross join lateral (
        select (p.minimum + n * p.step) / 10::numeric ^ p.decimals as amount
        from unnest(array[0, 1, 7, 100, 123456]) as n
      ) as a
      where private.payment_amount(a.amount, c.code) % p.step <> 0
        or private.amount_of_payment(private.payment_amount(a.amount, c.code), c.code) <> a.amount`;
    expect(rows).toEqual([]);
  });

  test("to be given back may be less than could be charged, and is never more", async () => {
    const [row] = await sql`
      select private.minor_of_refund(0.01, 'EUR')::integer as cent,
        private.minor_of_refund(1.234, 'KWD')::integer as fils,
        private.minor_of_refund(0.009, 'KWD')::integer as none,
        private.minor_of_refund(10, 'ISK')::integer as kronur`;
    expect(row).toEqual({ cent: 1, fils: 1230, none: 0, kronur: 1000 });
  });
});

test("what nobody could pay is refused before it is held", async () => {
  const professional = await openProfessional({ currency: "KWD" });
  await canCharge(professional);
  const fine = await openService(professional, { price: 1.234, payment: "full" });
  const starts_at = iso(instantOf(dateIn(10, "Europe/Rome"), "10:00", "Europe/Rome"));
  expect(await failure(book(anonymous(), fine, starts_at))).toMatchObject({
    ...NOT_PAYABLE,
    details: { amount: 1.234, currency: "KWD" },
  });
  const rows = await sql`select from public.bookings where professional_id = ${professional.id}`;
  expect(rows).toHaveLength(0);
});

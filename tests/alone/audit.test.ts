/**
 * audit() must see what is wrong: each finding is provoked behind the rules' back and undone. Alone,
 * because switching rules off locks a table.
 */
import type { TransactionSql } from "postgres";
import { describe, expect, test } from "vitest";
import { anonymous, server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  findings,
  type Line,
  openShop,
  place,
} from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import { createProduct, type Professional } from "../support/factories.ts";

auditAfterEachTest();

/** What the shop's audit() finds after `spoil`, which is undone. */
async function findingsAfter(
  shop: Professional,
  spoil: (tx: TransactionSql) => Promise<unknown>,
): Promise<unknown[]> {
  const undo = new Error("undo");
  let found: object[] = [];
  const work = sql.begin(async (tx) => {
    await spoil(tx);
    await tx`select set_config('request.jwt.claims', ${JSON.stringify(shop.claims)}, true)`;
    const rows = await tx<object[]>`
      select finding, subject_id, expected::float8, actual::float8 from public.audit()`;
    found = rows.map((row) => ({ ...row }));
    throw undo;
  });
  await expect(work).rejects.toBe(undo);
  return found;
}

async function books() {
  const shop = await openShop({ tax_rate: 22 });
  const product = await createProduct(shop, { price: 10, stock: 9 });
  const line = { product_id: product.id, quantity: 1 };
  const order = await place(shop, [line, line]);
  await place(shop, [{ name: "Soap", unit_price: 1, quantity: 1 }]);
  await place(shop, [line]);
  await answer(shop.api.rpc("record_payment", { order_id: order.id, amount: 9, method: "cash" }));
  await answer(shop.api.rpc("refund_payment", { order_id: order.id, amount: 2 }));
  return { shop, product, order };
}

test("finds nothing in good books, nor what is wrong in somebody else's", async () => {
  const { shop, product } = await books();
  expect(await findings(shop)).toEqual([]);
  const other = await openShop();
  const found = await findingsAfter(
    other,
    (tx) => tx`delete from private.stock_ledger where product_id = ${product.id}`,
  );
  expect(found).toEqual([]);
});

test("is the owner's: the public and servers cannot call it", async () => {
  expect(await failure(anonymous().rpc("audit"))).toMatchObject({ status: 401, code: "42501" });
  expect(await failure(server().rpc("audit"))).toMatchObject({ status: 403, code: "42501" });
});

describe("finds", () => {
  test("stock that is not what the ledger adds up to", async () => {
    const { shop, product } = await books();
    const found = await findingsAfter(
      shop,
      (tx) => tx`
        insert into private.stock_ledger (professional_id, product_id, delta, reason)
        values (${shop.id}, ${product.id}, 1, 'made up')`,
    );
    expect(found).toEqual([
      { finding: "stock_is_ledger", subject_id: product.id, expected: 7, actual: 6 },
    ]);
  });

  test("an in_stock that is not what the stock says, or that of the variants", async () => {
    const { shop, product } = await books();
    const shirt = await createProduct(shop, { name: "Shirt" });
    await createProduct(shop, { name: "M", parent_id: shirt.id, stock: 0 });
    const found = await findingsAfter(shop, async (tx) => {
      await tx`alter table public.products disable trigger user`;
      await tx`
        update public.products set in_stock = not in_stock
        where id in (${product.id}, ${shirt.id})`;
    });
    const finding = { finding: "in_stock_is_stock" };
    expect(found).toHaveLength(2);
    expect(found).toContainEqual({ ...finding, subject_id: product.id, expected: 1, actual: 0 });
    expect(found).toContainEqual({ ...finding, subject_id: shirt.id, expected: 0, actual: 1 });
  });

  test("an order that took less, or gave back more, than its lines say", async () => {
    const { shop, product, order } = await books();
    const taken = async (delta: number) =>
      findingsAfter(
        shop,
        (tx) => tx`
          insert into private.stock_ledger (professional_id, product_id, order_id, delta, reason)
          values
            (${shop.id}, ${product.id}, ${order.id}, ${delta}, 'made up'),
            (${shop.id}, ${product.id}, null, ${-delta}, 'made up')`,
      );
    const finding = { finding: "stock_taken_is_ordered", subject_id: product.id, expected: 2 };
    expect(await taken(1)).toEqual([{ ...finding, actual: 1 }]);
    expect(await taken(3)).toEqual([{ ...finding, actual: -1 }]);
  });

  test("products that are held otherwise than the lines say", async () => {
    const { shop, product, order } = await books();
    const found = await findingsAfter(
      shop,
      (tx) => tx`update private.order_products set quantity = 3 where order_id = ${order.id}`,
    );
    expect(found).toContainEqual({
      finding: "order_products_are_its_lines",
      subject_id: product.id,
      expected: 2,
      actual: 3,
    });
    const none = await findingsAfter(
      shop,
      (tx) => tx`delete from private.order_products where order_id = ${order.id}`,
    );
    expect(none).toContainEqual({
      finding: "order_products_are_its_lines",
      subject_id: product.id,
      expected: 2,
      actual: 0,
    });
  });

  test("amounts that are not what the payments add up to", async () => {
    const { shop, order } = await books();
    const found = await findingsAfter(
      shop,
      (tx) => tx`delete from private.payments where order_id = ${order.id}`,
    );
    expect(found).toEqual([
      { finding: "order_paid_is_ledger", subject_id: order.id, expected: 0, actual: 9 },
      { finding: "order_refunded_is_ledger", subject_id: order.id, expected: 0, actual: 2 },
    ]);
  });

  test("a gap in the numbers", async () => {
    const { shop } = await books();
    const found = await findingsAfter(
      shop,
      (tx) => tx`delete from public.orders where professional_id = ${shop.id} and number = 2`,
    );
    expect(found).toEqual([
      { finding: "order_numbers_have_no_gap", subject_id: shop.id, expected: 3, actual: 2 },
    ]);
  });

  test("lines and totals that do not add up", async () => {
    const { shop, order } = await books();
    // The rule is off for this transaction only.
    const change = (column: "items" | "subtotal", value: unknown) =>
      findingsAfter(shop, async (tx) => {
        await tx`alter table public.orders disable trigger orders_2_change`;
        await tx`
          update public.orders set ${tx({ [column]: value } as never)} where id = ${order.id}`;
      });
    const [one, two] = order.items as [Line, Line];
    expect(await change("items", sql.json([one, { ...two, total: 11 }] as never))).toEqual([
      { finding: "order_lines_make_subtotal", subject_id: order.id, expected: 21, actual: 20 },
      {
        finding: "order_line_is_price_times_quantity",
        subject_id: order.id,
        expected: 20,
        actual: 21,
      },
    ]);
  });
});

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { anonymous, server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  openShop,
  outcome,
  place,
  stockOf,
} from "../support/commerce.ts";
import { asCaller, parallelConnections, raised, sql, tryAsCaller } from "../support/database.ts";
import { createProduct, type Professional } from "../support/factories.ts";

auditAfterEachTest();

const connections = parallelConnections(20);

describe("the ledger", () => {
  test("has a row for each change of stock, whichever path made it", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 10 });
    const patch = (values: { stock: number | null }) =>
      answer(shop.api.from("products").update(values).eq("id", product.id));

    await patch({ stock: 12 });
    await answer(
      shop.api.rpc("adjust_stock", { product_id: product.id, delta: -2, reason: "broken" }),
    );
    const order = await place(shop, [{ product_id: product.id, quantity: 3 }]);
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", order.id));
    await sql`update public.products set stock = 7 where id = ${product.id}`;
    await answer(server().from("products").update({ stock: 8 }).eq("id", product.id));
    await patch({ stock: null });
    await patch({ stock: 4 });

    expect(await stockOf(product)).toEqual({
      stock: 4,
      ledger: [
        { delta: 10, reason: "created" },
        { delta: 2, reason: "edited" },
        { delta: -2, reason: "broken" },
        { delta: -3, reason: "ordered" },
        { delta: 3, reason: "cancelled" },
        { delta: -3, reason: "edited" },
        { delta: 1, reason: "edited" },
        { delta: -8, reason: "edited" },
        { delta: 4, reason: "edited" },
      ],
    });
    const rows = await sql`
      select order_id from private.stock_ledger where product_id = ${product.id}
      and reason in ('ordered', 'cancelled')`;
    expect(rows.map((row) => row.order_id)).toEqual([order.id, order.id]);
  });

  test("has none for what is not tracked, and none for other changes", async () => {
    const shop = await openShop();
    const product = await createProduct(shop);
    await place(shop, [{ product_id: product.id, quantity: 3 }]);
    await answer(
      shop.api.from("products").update({ name: "Soap", stock: null }).eq("id", product.id),
    );
    expect(await stockOf(product)).toEqual({ stock: null, ledger: [] });
  });

  test("keeps no reason for the next change in the same transaction", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 1 });
    await asCaller(shop.claims, async (tx) => {
      await tx`select public.adjust_stock(${product.id}, 1, 'found one')`;
      await tx`update public.products set stock = 9 where id = ${product.id}`;
    });
    expect((await stockOf(product)).ledger).toEqual([
      { delta: 1, reason: "created" },
      { delta: 1, reason: "found one" },
      { delta: 7, reason: "edited" },
    ]);
  });

  test.each(["stock_ledger", "order_products", "payments"])(
    "private.%s is closed to every API role and open to the database's owner",
    async (table) => {
      const shop = await openShop();
      for (const claims of [shop.claims, { role: "anon" }, { role: "service_role" }] as const) {
        for (const statement of [`select * from`, `delete from`, `truncate`]) {
          const call = tryAsCaller(claims, (tx) => tx.unsafe(`${statement} private.${table}`));
          expect((await raised(call)).code).toBe("42501");
        }
      }
      expect(await sql.unsafe(`select from private.${table} limit 0`)).toEqual([]);
    },
  );
});

describe("adjust_stock", () => {
  const adjust = (
    shop: { api: Professional["api"] },
    product_id: string,
    delta: number,
    values: { reason?: string; expected_stock?: number } = {},
  ) => shop.api.rpc("adjust_stock", { product_id, delta, reason: "counted", ...values });

  test("adds and takes, and answers with what is left", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    expect(await answer(adjust(shop, product.id, 3))).toEqual({ product_id: product.id, stock: 8 });
    expect(await answer(adjust(shop, product.id, -8))).toEqual({
      product_id: product.id,
      stock: 0,
    });
    expect(await answer(adjust({ api: server() }, product.id, 1))).toEqual({
      product_id: product.id,
      stock: 1,
    });
  });

  test("refuses a wrong expected_stock and tells the right one", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    expect(await failure(adjust(shop, product.id, 1, { expected_stock: 4 }))).toEqual({
      status: 409,
      code: "stock_changed",
      details: { stock: 5 },
    });
    expect(await answer(adjust(shop, product.id, 1, { expected_stock: 5 }))).toMatchObject({
      stock: 6,
    });
  });

  test("never goes below zero", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 2 });
    expect(await failure(adjust(shop, product.id, -3))).toEqual({
      status: 409,
      code: "insufficient_stock",
      details: [{ product_id: product.id, requested: 3, available: 2 }],
    });
    const negative = shop.api.from("products").update({ stock: -1 }).eq("id", product.id);
    expect(await failure(negative)).toMatchObject({ status: 400, code: "23514" });
    expect((await stockOf(product)).stock).toBe(2);
  });

  test("wants tracked stock, a number and a reason", async () => {
    const shop = await openShop();
    const untracked = await createProduct(shop);
    const product = await createProduct(shop, { stock: 2 });
    const code = async (call: ReturnType<typeof adjust>) => {
      const { status, code } = await failure(call);
      return [status, code];
    };
    expect(await code(adjust(shop, untracked.id, 1))).toEqual([422, "stock_not_tracked"]);
    expect(await code(adjust(shop, product.id, null as never))).toEqual([422, "delta_required"]);
    expect(await code(adjust(shop, product.id, 0))).toEqual([422, "delta_required"]);
    expect(await code(adjust(shop, product.id, 2 ** 31 - 1))).toEqual([422, "stock_too_large"]);
    expect(await code(adjust(shop, product.id, 1, { reason: " " }))).toEqual([
      422,
      "reason_required",
    ]);
    expect(await code(adjust(shop, product.id, 1, { reason: "x".repeat(201) }))).toEqual([
      422,
      "validation_failed",
    ]);
    expect((await stockOf(product)).ledger).toEqual([{ delta: 2, reason: "created" }]);
  });

  test("answers the same for a product of somebody else as for none, and not at all to the public", async () => {
    const shop = await openShop();
    const other = await openShop();
    const product = await createProduct(other, { stock: 2 });

    const foreign = await failure(adjust(shop, product.id, 1));
    expect(foreign).toEqual({ status: 404, code: "PGRST301", details: null });
    expect(await failure(adjust(shop, randomUUID(), 1))).toEqual(foreign);
    expect(await failure(adjust({ api: anonymous() }, product.id, 1))).toMatchObject({
      status: 401,
      code: "42501",
    });
    expect(await answer(adjust(other, product.id, 1))).toMatchObject({ stock: 3 });
  });

  test("is compare-and-set: of 20 who counted the same stock one is right", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    const results = await Promise.all(
      connections.map((connection) =>
        outcome(
          asCaller(
            shop.claims,
            (tx) => tx`select public.adjust_stock(${product.id}, 1, 'counted', 5)`,
            connection,
          ),
        ),
      ),
    );
    expect(results.sort()).toEqual(["done", ...Array(19).fill("stock_changed")]);
    expect((await stockOf(product)).stock).toBe(6);
  });

  test("loses no change: of 20 who take one of 12 at once, 12 get one", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 12 });
    const results = await Promise.all(
      connections.map((connection) =>
        outcome(
          asCaller(
            shop.claims,
            (tx) => tx`select public.adjust_stock(${product.id}, -1, 'sold at the counter')`,
            connection,
          ),
        ),
      ),
    );
    expect(results.sort()).toEqual([
      ...Array(12).fill("done"),
      ...Array(8).fill("insufficient_stock"),
    ]);
    expect((await stockOf(product)).stock).toBe(0);
  });
});

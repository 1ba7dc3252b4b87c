/** in_stock of a product with variants; audit() compares it with their stock after each test. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { server } from "../support/callers.ts";
import { answer, auditAfterEachTest, findings, openShop, place } from "../support/commerce.ts";
import { parallelConnections, sql } from "../support/database.ts";
import { createProduct, type Insert, type Professional, type Row } from "../support/factories.ts";

auditAfterEachTest();

const connections = parallelConnections(8);

const read = async ({ id }: { id: string }) => {
  const [row] = await sql<{ in_stock: boolean; updated_at: string }[]>`
    select in_stock, updated_at::text from public.products where id = ${id}`;
  if (!row) throw new Error("there is no such product");
  return row;
};
const inStock = async (product: { id: string }) => (await read(product)).in_stock;

const patch = (shop: Professional, { id }: { id: string }, values: object) =>
  answer(shop.api.from("products").update(values).eq("id", id));

/** A product with one variant for each stock. */
async function heading(shop: Professional, ...stocks: (number | null)[]) {
  const shirt = await createProduct(shop, { name: "Shirt" });
  const variants: Row<"products">[] = [];
  for (const stock of stocks) {
    variants.push(await createProduct(shop, { name: "Variant", parent_id: shirt.id, stock }));
  }
  return { shirt, variants, first: variants[0] as Row<"products"> };
}

test.each([
  [[0], false],
  [[0, 0], false],
  [[0, 3], true],
  [[3, 0], true],
  [[0, null], true],
])("with variants whose stock is %j, in_stock is %s", async (stocks, expected) => {
  const { shirt } = await heading(await openShop(), ...stocks);
  expect(await inStock(shirt)).toBe(expected);
});

describe("it follows", () => {
  test("the stock of a variant, set by hand or counted", async () => {
    const shop = await openShop();
    const { shirt, first } = await heading(shop, 2, 0);
    const counted = (delta: number) =>
      answer(shop.api.rpc("adjust_stock", { product_id: first.id, delta, reason: "counted" }));

    await patch(shop, first, { stock: 0 });
    expect(await inStock(shirt)).toBe(false);
    await counted(1);
    expect(await inStock(shirt)).toBe(true);
    await counted(-1);
    expect(await inStock(shirt)).toBe(false);
    await patch(shop, first, { stock: null });
    expect(await inStock(shirt)).toBe(true);
  });

  test("an order that takes the last piece, and its cancellation", async () => {
    const shop = await openShop();
    const { shirt, first } = await heading(shop, 2, 0);
    const order = await place(shop, [{ product_id: first.id, quantity: 2 }]);
    expect(await inStock(shirt)).toBe(false);
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", order.id));
    expect(await inStock(shirt)).toBe(true);
  });

  test("which variants are active", async () => {
    const shop = await openShop();
    const { shirt, first } = await heading(shop, 2, 0);
    await patch(shop, first, { active: false });
    expect(await inStock(shirt)).toBe(false);
    await patch(shop, first, { active: true });
    expect(await inStock(shirt)).toBe(true);
  });

  test("which variants there are: after the last one its own stock counts again", async () => {
    const shop = await openShop();
    const { shirt, variants } = await heading(shop, 2, 0);
    await patch(shop, shirt, { stock: 0 });
    expect(await inStock(shirt)).toBe(true);
    for (const [index, expected] of [false, false].entries()) {
      await answer(
        shop.api
          .from("products")
          .delete()
          .eq("id", variants[index]?.id ?? ""),
      );
      expect(await inStock(shirt)).toBe(expected);
    }
    await patch(shop, shirt, { stock: 5 });
    expect(await inStock(shirt)).toBe(true);
    await createProduct(shop, { name: "L", parent_id: shirt.id, stock: 0 });
    expect(await inStock(shirt)).toBe(false);
  });

  test("a variant that a server hangs on another product", async () => {
    const shop = await openShop();
    const [from, to] = [await heading(shop, 2, 0), await heading(shop, 0)];
    const move = (parent_id: string | null) =>
      answer(server().from("products").update({ parent_id }).eq("id", from.first.id));

    await move(to.shirt.id);
    expect([await inStock(from.shirt), await inStock(to.shirt)]).toEqual([false, true]);
    await move(null);
    expect([await inStock(to.shirt), await inStock(from.first)]).toEqual([false, true]);
    await move(from.shirt.id);
    expect(await inStock(from.shirt)).toBe(true);
  });

  test("one statement on product and variants at once, in any order", async () => {
    const shop = await openShop();
    const [id, other] = [randomUUID(), randomUUID()];
    const row = (values: Partial<Insert<"products">>) => ({
      professional_id: shop.id,
      name: "A",
      price: 1,
      id: randomUUID(),
      parent_id: null,
      stock: null,
      ...values,
    });
    const rows = [
      row({ parent_id: id, stock: 0 }),
      row({ id }),
      row({ id: other, stock: 0 }),
      row({ parent_id: other, stock: 1 }),
    ];
    await sql`insert into public.products ${sql(rows)}`;
    expect([await inStock({ id }), await inStock({ id: other })]).toEqual([false, true]);
    const mine = sql`professional_id = ${shop.id}`;
    await sql`update public.products set stock = coalesce(1 - stock, 1) where ${mine}`;
    expect([await inStock({ id }), await inStock({ id: other })]).toEqual([true, false]);
    await sql`delete from public.products where ${mine} and parent_id is not null`;
    expect([await inStock({ id }), await inStock({ id: other })]).toEqual([true, true]);
  });
});

test("a product that it changes of keeps its updated_at", async () => {
  const shop = await openShop();
  const { shirt, first } = await heading(shop, 0);
  const before = await read(shirt);
  await patch(shop, first, { stock: 1 });
  expect(await read(shirt)).toEqual({ ...before, in_stock: !before.in_stock });
});

describe("a server that writes it is overruled", () => {
  test("on insert, update and upsert, of what has stock of its own and of a heading", async () => {
    const shop = await openShop();
    const { shirt, first } = await heading(shop, 2);
    const soldOut = await createProduct(shop, { stock: 0 });
    const products = () => server().from("products");
    const values = { professional_id: shop.id, name: "A", price: 1, in_stock: false };
    const inserted = products().insert(values).select("id, in_stock").single();
    expect(await answer(inserted)).toMatchObject({ in_stock: true });

    await answer(products().update({ in_stock: false }).in("id", [shirt.id, first.id]));
    await answer(products().upsert({ ...values, id: shirt.id }));
    await answer(products().update({ in_stock: true, name: "B" }).eq("id", soldOut.id));
    expect([await inStock(shirt), await inStock(first), await inStock(soldOut)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

test("it is true after sales, counts and archiving at the same time", async () => {
  const shop = await openShop();
  const { shirt, variants } = await heading(shop, 1, 1, 0, 0);
  for (let round = 0; round < 12; round += 1) {
    await Promise.all(
      connections.map((connection, index) => {
        const id = variants[(index + round) % variants.length]?.id ?? "";
        return index % 2 === 0
          ? connection`update public.products set stock = 1 - stock where id = ${id}`
          : connection`update public.products set active = not active where id = ${id}`;
      }),
    );
    expect(await findings(shop)).toEqual([]);
  }
  await sql`update public.products set stock = 0 where parent_id = ${shirt.id}`;
  expect(await inStock(shirt)).toBe(false);
});

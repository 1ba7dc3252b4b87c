import { describe, expect, test } from "vitest";
import { anonymous } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  findings,
  openShop,
  place,
} from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import {
  createClientRow,
  createProduct,
  createProfessional,
  type Row,
} from "../support/factories.ts";

auditAfterEachTest();

/** A T-shirt in two sizes. */
async function shirts() {
  const shop = await openShop();
  const shirt = await createProduct(shop, { name: "T-shirt", price: 20, sku: "T" });
  const [small, medium] = await Promise.all(
    ["S", "M"].map((size) =>
      createProduct(shop, {
        parent_id: shirt.id,
        name: `T-shirt ${size}`,
        price: 21,
        sku: `T-${size}`,
        options: { size },
      }),
    ),
  );
  return { shop, shirt, small: small as Row<"products">, medium: medium as Row<"products"> };
}

describe("variants", () => {
  test("a product is read with its variants, one without any with an empty list", async () => {
    const { shop, shirt } = await shirts();
    await createProduct(shop, { name: "Shampoo" });

    const products = await answer<(Row<"products"> & { variants: Row<"products">[] })[]>(
      shop.api.from("products").select("*,variants(*)").is("parent_id", null).order("name"),
    );
    expect(products.map(({ name }) => name)).toEqual(["Shampoo", "T-shirt"]);
    expect(products[0]?.variants).toEqual([]);
    expect(products[1]?.variants.map((variant) => variant.name).sort()).toEqual([
      "T-shirt M",
      "T-shirt S",
    ]);
    expect(products[1]?.variants.map((variant) => variant.parent_id)).toEqual([shirt.id, shirt.id]);
  });

  test("a variant is read with its product, a product without one with null", async () => {
    const { shop, shirt, medium } = await shirts();

    const products = await answer<(Row<"products"> & { parent: Row<"products"> | null })[]>(
      shop.api.from("products").select("*,parent(*)").in("id", [shirt.id, medium.id]).order("sku"),
    );
    expect(products.map((product) => [product.sku, product.parent?.sku ?? null])).toEqual([
      ["T", null],
      ["T-M", "T"],
    ]);
  });

  test("have one level, belong to a product of the same professional, and stay where they are", async () => {
    const { shop, shirt, medium } = await shirts();
    const elsewhere = await shirts();
    const variantOf = (parent_id: string) =>
      shop.api.from("products").insert({ name: "Variant", price: 1, parent_id });

    expect(await failure(variantOf(medium.id))).toMatchObject({
      status: 422,
      code: "variant_of_variant",
    });
    expect(await failure(variantOf(elsewhere.shirt.id))).toMatchObject({
      status: 409,
      code: "23503",
    });
    expect((await variantOf(shirt.id)).status).toBe(201);

    const move = shop.api
      .from("products")
      .update({ parent_id: null } as never)
      .eq("id", medium.id);
    expect(await failure(move)).toMatchObject({ status: 403, code: "42501" });
    const rename = shop.api.from("products").update({ name: "M" }).eq("id", medium.id).select("id");
    expect(await answer(rename)).toHaveLength(1);
  });

  test("a variant can be ordered, the product they hang on cannot", async () => {
    const { shop, shirt, medium } = await shirts();
    const client = await createClientRow(shop);
    const order = (product: { id: string }) =>
      shop.api.from("orders").insert({
        client_id: client.id,
        items: [{ product_id: product.id, quantity: 1 }],
      });

    expect((await order(medium)).status).toBe(201);
    expect(await failure(order(shirt))).toEqual({
      status: 422,
      code: "product_unavailable",
      details: { product_ids: [shirt.id] },
    });
  });

  test("neither an archived variant nor one of an archived product can be ordered", async () => {
    const { shop, shirt, small, medium } = await shirts();
    const client = await createClientRow(shop);
    const order = (product: { id: string }) =>
      shop.api.from("orders").insert({
        client_id: client.id,
        items: [{ product_id: product.id, quantity: 1 }],
      });
    const archive = (product: { id: string }) =>
      answer(shop.api.from("products").update({ active: false }).eq("id", product.id));

    await archive(small);
    expect((await failure(order(small))).code).toBe("product_unavailable");
    expect((await order(medium)).status).toBe(201);

    await archive(shirt);
    expect((await failure(order(medium))).code).toBe("product_unavailable");
  });
});

describe("archived products", () => {
  test("are hidden from the public and kept for the owner", async () => {
    const shop = await openShop();
    const product = await createProduct(shop);
    const seen = (api: ReturnType<typeof anonymous>) =>
      answer(api.from("products").select("id,name,active").eq("id", product.id));

    expect(await seen(anonymous())).toHaveLength(1);
    await answer(shop.api.from("products").update({ active: false }).eq("id", product.id));
    expect(await seen(anonymous())).toEqual([]);
    expect(await seen(shop.api)).toEqual([{ id: product.id, name: "Shampoo", active: false }]);
  });

  test("leave the lines of an old order as they were", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { name: "Shampoo", price: 12.5, sku: "SH" });
    const order = await place(shop, [{ product_id: product.id, quantity: 2 }]);

    await answer(
      shop.api
        .from("products")
        .update({ active: false, name: "Old shampoo", price: 99, sku: "OLD" })
        .eq("id", product.id),
    );
    const [now] = await answer<Row<"orders">[]>(
      shop.api.from("orders").select("*").eq("id", order.id),
    );
    expect(now).toEqual(order);
    expect(now?.items).toEqual([
      {
        product_id: product.id,
        name: "Shampoo",
        sku: "SH",
        options: {},
        unit_price: 12.5,
        quantity: 2,
        total: 25,
      },
    ]);
  });
});

describe("deleting a product", () => {
  test("is refused while an order holds it, also a cancelled one, and possible otherwise", async () => {
    const shop = await openShop();
    const ordered = await createProduct(shop, { stock: 3 });
    const unordered = await createProduct(shop, { stock: 3 });
    const order = await place(shop, [{ product_id: ordered.id, quantity: 1 }]);
    const remove = (product: { id: string }) =>
      shop.api.from("products").delete().eq("id", product.id).select("id");

    expect(await failure(remove(ordered))).toMatchObject({ status: 409, code: "23503" });
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", order.id));
    expect(await failure(remove(ordered))).toMatchObject({ status: 409, code: "23503" });
    expect(await answer(remove(unordered))).toEqual([{ id: unordered.id }]);
  });

  test("is refused while it has variants", async () => {
    const { shop, shirt, small, medium } = await shirts();
    const remove = (...ids: string[]) => shop.api.from("products").delete().in("id", ids);

    expect(await failure(remove(shirt.id))).toMatchObject({ status: 409, code: "23503" });
    expect((await remove(small.id, medium.id)).status).toBe(204);
    expect((await remove(shirt.id)).status).toBe(204);
  });
});

describe("article numbers", () => {
  test("are unique for one professional, ignoring case and outer space", async () => {
    const shop = await openShop();
    const other = await openShop();
    const add = (api: typeof shop.api, sku: string | null) =>
      api.from("products").insert({ name: "T-shirt", price: 20, sku });

    expect((await add(shop.api, "T-S")).status).toBe(201);
    expect((await add(other.api, "T-S")).status).toBe(201);
    expect(await failure(add(shop.api, " t-s "))).toMatchObject({ status: 409, code: "23505" });
    expect((await add(shop.api, "T-M")).status).toBe(201);
    expect((await add(shop.api, null)).status).toBe(201);
    expect((await add(shop.api, null)).status).toBe(201);
  });
});

describe("prices", () => {
  test.each([
    ["JPY", 500, 500.5],
    ["EUR", 30.55, 30.555],
    ["KWD", 1.234, 1.2345],
  ])("%s takes %d and not %d", async (currency, fits, tooFine) => {
    const shop = await openShop({ currency });
    const add = (price: number) =>
      shop.api.from("products").insert({ name: "Shampoo", price }).select("price").single();

    expect(await answer(add(fits))).toEqual({ price: fits });
    const refused = await failure(add(tooFine));
    // Four decimals are none of any currency: the type refuses them first.
    expect([refused.status, refused.code]).toEqual(
      currency === "KWD" ? [400, "23514"] : [422, "too_many_decimals"],
    );
  });
});

test("an account with products, orders, stock and payments can be deleted", async () => {
  // Not openShop(): afterwards there are no books to audit.
  const shop = await createProfessional({ accepts_orders: true });
  const product = await createProduct(shop, { stock: 5 });
  const variant = await createProduct(shop, {
    parent_id: (await createProduct(shop)).id,
    stock: 2,
  });
  const order = await place(shop, [
    { product_id: product.id, quantity: 2 },
    { product_id: variant.id, quantity: 1 },
  ]);
  await answer(shop.api.rpc("record_payment", { order_id: order.id, amount: 10, method: "cash" }));
  await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", order.id));

  expect(await findings(shop)).toEqual([]);

  await sql`delete from auth.users where id = ${shop.id}`;

  const [left] = await sql`
    select
      (select count(*)::int from public.products where professional_id = ${shop.id}) as products,
      (select count(*)::int from public.orders where professional_id = ${shop.id}) as orders,
      (select count(*)::int from private.order_products where professional_id = ${shop.id}) as held,
      (select count(*)::int from private.stock_ledger where professional_id = ${shop.id}) as stock,
      (select count(*)::int from private.payments where professional_id = ${shop.id}) as payments`;
  expect(left).toEqual({ products: 0, orders: 0, held: 0, stock: 0, payments: 0 });
});

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { anonymous } from "./support/callers.ts";
import {
  insertRefusedBy,
  serverClaims,
  updateRefusedBy,
  type Values,
} from "./support/constraints.ts";
import { createProduct, createProfessional, type Professional } from "./support/factories.ts";
import { type Bounds, chars, testBounds, testIdentity } from "./support/table-tests.ts";

let owner: Professional;

beforeAll(async () => {
  owner = await createProfessional();
});

const insert = (values: Values) =>
  insertRefusedBy(owner.claims, "products", { name: "Shampoo", price: 12.5, ...values });

const LIMITS: Bounds[] = [
  ["products_name_has_1_to_200_characters", "name", ["a", chars(200)], ["", " \t", chars(201)]],
  [
    "products_description_has_at_most_10000_characters",
    "description",
    [null, chars(10_000)],
    [chars(10_001)],
  ],
  ["products_category_has_at_most_100_characters", "category", [null, chars(100)], [chars(101)]],
  [
    "products_image_url_is_a_web_address",
    "image_url",
    [null, `https://a/${chars(2038)}`],
    ["", "javascript:alert(1)", "https://a b", `https://a/${chars(2039)}`],
  ],
  ["products_sku_has_1_to_100_characters", "sku", [null, "a", chars(100)], ["", " ", chars(101)]],
  [
    "products_options_are_an_object_of_at_most_2_kb",
    "options",
    [{}, { size: "M" }, { a: chars(2038) }],
    [[], [1], { a: chars(2040) }],
  ],
  [
    "money_amount_is_between_0_and_999999999999_999",
    "price",
    [0, "999999999999.99"],
    [-0.01, "NaN", "1e400"],
  ],
  ["products_stock_is_never_negative", "stock", [null, 0, 2_147_483_647], [-1]],
  ["products_low_stock_at_is_never_negative", "low_stock_at", [null, 0, 5], [-1]],
  [
    "products_metadata_is_an_object_of_at_most_8_kb",
    "metadata",
    [{}, { a: chars(8182) }],
    [[], [1], { a: chars(8184) }],
  ],
];

testBounds(LIMITS, insert);

test.each(["name", "price", "options", "active", "metadata"])(
  "%s is never null",
  async (column) => {
    expect(await insert({ [column]: null })).toBe("23502");
  },
);

test.each([
  [null, true],
  [0, false],
  [1, true],
])("with a stock of %s, in_stock is %s", async (stock, in_stock) => {
  expect((await createProduct(owner, { stock })).in_stock).toBe(in_stock);
});

test("the price fits the currency, on insert and on update", async () => {
  const professional = await createProfessional({ currency: "JPY" });
  const product = await createProduct(professional, { price: 500 });
  const { claims } = professional;
  expect([
    await insertRefusedBy(claims, "products", { name: "A", price: 500.5 }),
    await updateRefusedBy(claims, "products", product.id, { price: 500.5 }),
    await updateRefusedBy(serverClaims, "products", product.id, { price: 500.5 }),
    await updateRefusedBy(claims, "products", product.id, { price: 501 }),
  ]).toEqual(["too_many_decimals", "too_many_decimals", "too_many_decimals", null]);
});

describe("the article number", () => {
  test.each(["sku-1", "SKU-1", " sku-1 ", "\u00a0Sku-1\ufeff", "\tsku-1\n"])(
    "%j is the same as Sku-1 for one professional",
    async (sku) => {
      const professional = await createProfessional();
      await createProduct(professional, { sku: "Sku-1" });
      expect(
        await insertRefusedBy(professional.claims, "products", { name: "A", price: 1, sku }),
      ).toBe("products_professional_id_sku_key");
      expect(await insert({ sku })).toBeNull();
    },
  );

  test("is kept as written, and many products have none", async () => {
    const professional = await createProfessional();
    expect((await createProduct(professional, { sku: "Sku-1" })).sku).toBe("Sku-1");
    await createProduct(professional);
    await createProduct(professional);
  });
});

describe("variants", () => {
  test("have one level, for a server too", async () => {
    const shirt = await createProduct(owner, { name: "Shirt" });
    const medium = await createProduct(owner, { name: "M", parent_id: shirt.id });
    const other = await createProduct(owner, { name: "Scarf" });
    const below = { name: "M long", price: 1, parent_id: medium.id };
    expect(await insert(below)).toBe("variant_of_variant");
    const own = { ...below, professional_id: owner.id };
    expect(await insertRefusedBy(serverClaims, "products", own)).toBe("variant_of_variant");
    expect(
      await updateRefusedBy(serverClaims, "products", other.id, { parent_id: medium.id }),
    ).toBe("variant_of_variant");
    // One that has variants cannot become one.
    expect(await updateRefusedBy(serverClaims, "products", shirt.id, { parent_id: other.id })).toBe(
      "variant_of_variant",
    );
    expect(
      await updateRefusedBy(serverClaims, "products", other.id, { parent_id: shirt.id }),
    ).toBeNull();
  });

  test("are never their own parent", async () => {
    const id = randomUUID();
    expect(await insert({ id, parent_id: id })).toBe("products_are_not_their_own_parent");
  });

  test("belong to a product of the same professional", async () => {
    const foreign = await createProduct(await createProfessional());
    for (const parent_id of [foreign.id, randomUUID()]) {
      expect(await insert({ parent_id })).toBe("products_professional_id_parent_id_fkey");
      const values = { professional_id: owner.id, name: "M", price: 1, parent_id };
      expect(await insertRefusedBy(serverClaims, "products", values)).toBe(
        "products_professional_id_parent_id_fkey",
      );
    }
  });

  test("keep their product from being deleted", async () => {
    const shirt = await createProduct(owner, { name: "Shirt" });
    const medium = await createProduct(owner, { name: "M", parent_id: shirt.id });
    const refused = await owner.api.from("products").delete().eq("id", shirt.id);
    expect([refused.status, refused.error?.code]).toEqual([409, "23503"]);
    await owner.api.from("products").delete().eq("id", medium.id);
    expect((await owner.api.from("products").delete().eq("id", shirt.id)).error).toBeNull();
  });
});

describe("a row keeps its identity", () => {
  testIdentity("products", () => createProduct(owner));

  test("an update that changes nothing keeps updated_at", async () => {
    const product = await createProduct(owner, { stock: 3 });
    const update = (values: object) =>
      owner.api.from("products").update(values).eq("id", product.id).select("*").single();
    expect((await update({ name: product.name, stock: 3, price: 12.5 })).data).toEqual(product);
    const changed = (await update({ stock: 0 })).data;
    expect(changed).toMatchObject({ stock: 0, in_stock: false });
    expect((changed?.updated_at ?? "") > product.updated_at).toBe(true);
  });
});

test("a product of a professional who does not exist is refused for a server too", async () => {
  const values = { professional_id: randomUUID(), name: "Shampoo", price: 1 };
  expect(await insertRefusedBy(serverClaims, "products", values)).toBe(
    "products_professional_id_fkey",
  );
});

test("the public reads a variant while it and its product are active", async () => {
  const open = await createProfessional({ accepts_orders: true });
  const shirt = await createProduct(open, { name: "Shirt" });
  const medium = await createProduct(open, { name: "M", parent_id: shirt.id });
  const scarf = await createProduct(open, { name: "Scarf", active: false });
  await createProduct(open, { name: "Red", parent_id: scarf.id });
  const set = (id: string, active: boolean) =>
    open.api.from("products").update({ active }).eq("id", id);
  const seen = async () => {
    const rows = await anonymous()
      .from("products")
      .select("id")
      .eq("professional_id", open.id)
      .order("created_at");
    return rows.data?.map(({ id }) => id);
  };

  expect(await seen()).toEqual([shirt.id, medium.id]);
  await set(shirt.id, false);
  expect(await seen()).toEqual([]);
  await set(shirt.id, true);
  await set(medium.id, false);
  expect(await seen()).toEqual([shirt.id]);
});

test("the public reads the listed columns and embeds neither variants nor parent", async () => {
  const open = await createProfessional({ accepts_orders: true });
  const product = await createProduct(open, { stock: 3, options: { size: "M" } });
  const columns =
    `id, created_at, updated_at, professional_id, parent_id, name, description, category,
    image_url, sku, options, price, in_stock, active` as const;
  const { data } = await anonymous().from("products").select(columns).eq("id", product.id).single();
  const { stock: _, low_stock_at: __, metadata: ___, ...shown } = product;
  expect(data).toEqual(shown);
  const embedded = await anonymous()
    .from("products")
    .select("id, variants(id)")
    .eq("id", product.id);
  expect([embedded.status, embedded.error?.code]).toEqual([401, "42501"]);
});

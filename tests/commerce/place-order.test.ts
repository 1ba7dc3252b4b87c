/** What the public may do: ask for a price and order. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { anonymous, request, server } from "../support/callers.ts";
import {
  ANON,
  answer,
  auditAfterEachTest,
  failure,
  numbersOf,
  openShop,
  outcome,
  place,
  placeOrder,
  type Quote,
  type Receipt,
  stockOf,
  upTo,
} from "../support/commerce.ts";
import { asCaller, parallelConnections } from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";

auditAfterEachTest();

const connections = parallelConnections(30);

function quoteOrder(api: ReturnType<typeof anonymous>, shop: Professional, items: unknown) {
  return api.rpc("quote_order", { professional_id: shop.id, items: items as never });
}

async function shopWith(stock: number | null, profile: object = {}) {
  const shop = await openShop(profile);
  const product = await createProduct(shop, { price: 12.5, stock });
  const one = [{ product_id: product.id, quantity: 1 }];
  return { shop, product, one };
}

describe("place_order", () => {
  test("orders and answers with the receipt", async () => {
    const { shop, product } = await shopWith(5, { tax_rate: 22 });
    const receipt = await answer<Receipt>(
      placeOrder(anonymous(), shop, [{ product_id: product.id, quantity: 2 }], {
        client_name: "Marta Rossi",
        client_email: " Marta@Example.com ",
        client_phone: "+39 06 1234",
        notes: "Ring twice",
        shipping_address: { street: "Via Roma 1" },
        expected_total: 30.5,
      }),
    );
    expect(receipt).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      professional_id: shop.id,
      number: 1,
      kind: "product",
      status: "pending",
      payment_status: "unpaid",
      items: [
        {
          product_id: product.id,
          name: "Shampoo",
          sku: null,
          options: {},
          unit_price: 12.5,
          quantity: 2,
          total: 25,
        },
      ],
      subtotal: 25,
      discount: 0,
      tax: 5.5,
      total: 30.5,
      amount_paid: 0,
      amount_refunded: 0,
      currency: "EUR",
      version: 1,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at: null,
      checkout_token: null,
      amount_due: null,
    });
    expect((await stockOf(product)).stock).toBe(3);

    const seen = await answer(
      shop.api
        .from("orders")
        .select("id,source,notes,shipping_address,client:clients(name,email,phone)")
        .single(),
    );
    expect(seen).toEqual({
      id: receipt.id,
      source: "public",
      notes: "Ring twice",
      shipping_address: { street: "Via Roma 1" },
      client: { name: "Marta Rossi", email: "Marta@Example.com", phone: "+39 06 1234" },
    });
  });

  test("its order is never read by the public, nor by another professional", async () => {
    const { shop, one } = await shopWith(null);
    const receipt = await answer<Receipt>(placeOrder(anonymous(), shop, one));
    const read = (api: ReturnType<typeof anonymous>) =>
      api.from("orders").select("id").eq("id", receipt.id);
    expect(await failure(read(anonymous()))).toMatchObject({ status: 401, code: "42501" });
    expect(await answer(read((await openShop()).api))).toEqual([]);
    expect(await answer(read(shop.api))).toEqual([{ id: receipt.id }]);
  });

  test("the public cannot insert an order itself, whatever the body", async () => {
    const { shop, one } = await shopWith(null);
    const client = await createClientRow(shop);
    const order = { professional_id: shop.id, client_id: client.id, items: one };
    for (const body of [order, { ...order, items: [] }]) {
      expect(
        await failure(
          anonymous()
            .from("orders")
            .insert(body as never),
        ),
      ).toMatchObject({
        status: 401,
        code: "42501",
      });
    }
    expect(await numbersOf(shop)).toEqual([]);
  });

  test("knows a client by e-mail and leaves the data the professional has", async () => {
    const { shop, one } = await shopWith(null);
    const client = await createClientRow(shop, { name: "Ann", email: "ann@x.it", phone: "1" });
    await answer(
      placeOrder(anonymous(), shop, one, {
        client_name: "Somebody Else",
        client_email: " Ann@X.it ",
        client_phone: "2",
      }),
    );
    const clients = await answer(shop.api.from("clients").select("id,name,email,phone"));
    expect(clients).toEqual([{ id: client.id, name: "Ann", email: "ann@x.it", phone: "1" }]);
  });

  test("wants a name and an address that can be written to", async () => {
    const { shop, product, one } = await shopWith(5);
    for (const values of [
      { client_name: "" },
      { client_email: "nobody" },
      { client_email: "" },
      { client_phone: "1".repeat(41) },
    ]) {
      expect(await failure(placeOrder(anonymous(), shop, one, values))).toMatchObject({
        status: 422,
        code: "validation_failed",
      });
    }
    const nameless = anonymous().rpc("place_order", {
      professional_id: shop.id,
      items: one as never,
    });
    expect((await failure(nameless)).code).toBe("validation_failed");
    expect((await stockOf(product)).stock).toBe(5);
  });

  test("takes product lines only: what is not for the public to say is unexpected", async () => {
    const { shop, product, one } = await shopWith(5);
    const service = await createService(shop);
    const cases: [unknown, string][] = [
      [[{ name: "Discount", unit_price: 0, quantity: 1 }], "unexpected_field"],
      [[{ ...one[0], unit_price: 0.01 }], "unexpected_field"],
      [[{ ...one[0], price: 0.01 }], "unexpected_field"],
      [[{ ...one[0], total: 0.01 }], "unexpected_field"],
      [[{ service_id: service.id, quantity: 1 }], "unexpected_field"],
      [[{ product_id: product.id }], "invalid_items"],
      [[{ product_id: product.id, quantity: "2" }], "invalid_items"],
      [[{ product_id: product.id, quantity: 1.5 }], "invalid_items"],
      [[{ product_id: product.id, quantity: 0 }], "invalid_items"],
      [[{ product_id: product.id, quantity: -1 }], "invalid_items"],
      [[{ product_id: product.id, quantity: 1e10 }], "invalid_items"],
      [Array(201).fill(one[0]), "invalid_items"],
      [[], "invalid_items"],
      [null, "invalid_items"],
      [[{ product_id: randomUUID(), quantity: 1 }], "product_unavailable"],
    ];
    for (const [items, code] of cases) {
      for (const call of [placeOrder, quoteOrder]) {
        const refused = await failure(call(anonymous(), shop, items));
        expect([items, refused.status, refused.code]).toEqual([items, 422, code]);
      }
    }
    expect(await numbersOf(shop)).toEqual([]);
  });

  test("wants a professional who accepts orders", async () => {
    const closed = await createProfessional({ accepts_orders: false, accepts_bookings: true });
    const product = await createProduct(closed);
    const one = [{ product_id: product.id, quantity: 1 }];
    for (const call of [placeOrder, quoteOrder]) {
      expect(await failure(call(anonymous(), closed, one))).toMatchObject({
        status: 422,
        code: "not_accepting",
      });
      const nobody = { ...closed, id: randomUUID() };
      expect(await failure(call(anonymous(), nobody, one))).toEqual({
        status: 404,
        code: "PGRST301",
        details: null,
      });
    }
    await answer(closed.api.from("profiles").update({ accepts_orders: true }).eq("id", closed.id));
    expect((await placeOrder(anonymous(), closed, one)).status).toBe(200);
  });

  test("cannot order a product of another professional", async () => {
    const { shop } = await shopWith(5);
    const other = await shopWith(5);
    expect(await failure(placeOrder(anonymous(), shop, other.one))).toEqual({
      status: 422,
      code: "product_unavailable",
      details: { product_ids: [other.product.id] },
    });
    expect((await placeOrder(anonymous(), other.shop, other.one)).status).toBe(200);
  });

  test("refuses a total that is not the expected one, and takes nothing", async () => {
    const { shop, product, one } = await shopWith(5);
    await answer(shop.api.from("products").update({ price: 13 }).eq("id", product.id));
    expect(await failure(placeOrder(anonymous(), shop, one, { expected_total: 12.5 }))).toEqual({
      status: 409,
      code: "total_changed",
      details: { expected_total: 12.5, total: 13 },
    });
    expect((await stockOf(product)).stock).toBe(5);
    expect(await numbersOf(shop)).toEqual([]);
    expect(await answer(shop.api.from("clients").select("id"))).toEqual([]);
    expect((await placeOrder(anonymous(), shop, one, { expected_total: 13 })).status).toBe(200);
  });

  test("short stock: the public learns of which product, the owner and servers how much is left", async () => {
    const { shop, product } = await shopWith(3);
    const other = await openShop();
    const four = [{ product_id: product.id, quantity: 4 }];
    const short = { product_id: product.id, requested: 4 };
    for (const [api, details] of [
      [anonymous(), [short]],
      [other.api, [short]],
      [shop.api, [{ ...short, available: 3 }]],
      [server(), [{ ...short, available: 3 }]],
    ] as const) {
      for (const call of [placeOrder, quoteOrder]) {
        expect(await failure(call(api, shop, four))).toEqual({
          status: 409,
          code: "insufficient_stock",
          details,
        });
      }
    }
  });

  test("another professional orders like anybody", async () => {
    const { shop, one } = await shopWith(5);
    const other = await openShop();
    const receipt = await answer<Receipt>(placeOrder(other.api, shop, one));
    expect(receipt).toMatchObject({ professional_id: shop.id, number: 1 });
    expect(await answer(other.api.from("orders").select("id"))).toEqual([]);
  });
});

/** A client signed in to the portal of a shop, and an order there without saying who it is. */
async function signedIn(shop: Professional) {
  const client = await createClientRow(shop);
  const { api } = await createPortalSession(client);
  const order = (at: Professional, items: unknown, values: object = {}) =>
    api.rpc("place_order", { professional_id: at.id, items: items as never, ...values });
  return { client, api, order };
}

describe("five open unpaid orders", () => {
  const update = (shop: Professional, order: Receipt, status: string) =>
    answer(shop.api.from("orders").update({ status }).eq("id", order.id));

  test("are all that a client of the portal may have at a professional", async () => {
    const { shop, one } = await shopWith(null);
    const { order } = await signedIn(shop);
    const receipts: Receipt[] = [];
    for (const _order of upTo(5)) receipts.push(await answer<Receipt>(order(shop, one)));
    expect(await failure(order(shop, one))).toMatchObject({ status: 422, code: "too_many_open" });
    expect(await numbersOf(shop)).toEqual(upTo(5));

    const [first, second, third] = receipts as [Receipt, Receipt, Receipt];
    await update(shop, first, "cancelled");
    expect((await order(shop, one)).status).toBe(200);
    expect((await failure(order(shop, one))).code).toBe("too_many_open");

    const paid = { order_id: second.id, amount: 0.01, method: "cash" };
    await answer(shop.api.rpc("record_payment", paid));
    expect((await order(shop, one)).status).toBe(200);
    expect((await failure(order(shop, one))).code).toBe("too_many_open");

    await update(shop, third, "confirmed");
    expect((await failure(order(shop, one))).code).toBe("too_many_open");
    await update(shop, third, "fulfilled");
    expect((await order(shop, one)).status).toBe(200);
  });

  test("are counted over the client's own: strangers who type the address use none up", async () => {
    const { shop, one } = await shopWith(null);
    const { client, order } = await signedIn(shop);
    for (const _order of upTo(6)) await place(shop, one, { client_id: client.id });
    for (const _order of upTo(6)) {
      const values = { client_email: client.email as string };
      expect((await placeOrder(anonymous(), shop, one, values)).status).toBe(200);
    }
    for (const _order of upTo(5)) expect((await order(shop, one)).status).toBe(200);
    expect((await failure(order(shop, one))).code).toBe("too_many_open");
  });

  test("at once by 20: five", async () => {
    const { shop, product, one } = await shopWith(50);
    const { claims } = await createPortalSession(await createClientRow(shop));
    const results = await Promise.all(
      connections
        .slice(0, 20)
        .map((connection) =>
          outcome(
            asCaller(
              claims,
              (tx) => tx`select public.place_order(${shop.id}, ${tx.json(one)})`,
              connection,
            ),
          ),
        ),
    );
    expect(results.sort()).toEqual([...Array(5).fill("done"), ...Array(15).fill("too_many_open")]);
    expect((await stockOf(product)).stock).toBe(45);
    expect(await numbersOf(shop)).toEqual(upTo(5));
  });
});

describe("30 buyers of 5 units at once", () => {
  const expectFiveSold = async (
    { shop, product }: Awaited<ReturnType<typeof shopWith>>,
    results: string[],
  ) => {
    expect(results.sort()).toEqual([
      ...Array(5).fill("done"),
      ...Array(25).fill("insufficient_stock"),
    ]);
    const { stock, ledger } = await stockOf(product);
    expect(stock).toBe(0);
    expect(ledger).toEqual([
      { delta: 5, reason: "created" },
      ...Array(5).fill({ delta: -1, reason: "ordered" }),
    ]);
    expect(await numbersOf(shop)).toEqual(upTo(5));
  };

  test("over 30 database connections: 5 orders, 25 refused", async () => {
    const goods = await shopWith(5);
    const results = await Promise.all(
      connections.map((connection, n) =>
        outcome(
          asCaller(
            ANON,
            (tx) => tx`
              select public.place_order(
                ${goods.shop.id}, ${tx.json(goods.one)}, 'Buyer', ${`buyer-${n}@example.com`}
              )`,
            connection,
          ),
        ),
      ),
    );
    await expectFiveSold(goods, results);
  });

  test("over HTTP: 5 × 200, 25 × 409", async () => {
    const goods = await shopWith(5);
    const results = await Promise.all(
      upTo(30).map(async (n) => {
        const { status, error } = await placeOrder(anonymous(), goods.shop, goods.one, {
          client_email: `buyer-${n}@example.com`,
        });
        expect(status).toBe(error ? 409 : 200);
        return error?.code ?? "done";
      }),
    );
    await expectFiveSold(goods, results);
  });
});

describe("idempotency_key", () => {
  test("20 times at once: one order, and everybody gets its receipt", async () => {
    const { shop, product, one } = await shopWith(20);
    const answers = await Promise.all(
      connections.slice(0, 20).map((connection) =>
        asCaller(
          ANON,
          async (tx) => {
            const [row] = await tx<{ id: string }[]>`
              select id from public.place_order(
                ${shop.id}, ${tx.json(one)}, 'Marta', 'marta@example.com', idempotency_key => 'k'
              )`;
            return row?.id;
          },
          connection,
        ),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect((await stockOf(product)).stock).toBe(19);
    expect(await numbersOf(shop)).toEqual([1]);
  });

  test("a replay answers with the order as it is now; other input is refused", async () => {
    const { shop, one } = await shopWith(20);
    const call = (values = {}) =>
      placeOrder(anonymous(), shop, one, { idempotency_key: "k", ...values });
    const first = await answer<Receipt>(call());
    await answer(shop.api.from("orders").update({ status: "confirmed" }).eq("id", first.id));
    await answer(shop.api.from("profiles").update({ accepts_orders: false }).eq("id", shop.id));

    expect(await answer(call())).toEqual({ ...first, status: "confirmed", version: 2 });
    expect(await failure(call({ notes: "other" }))).toMatchObject({
      status: 422,
      code: "idempotency_key_reused",
    });
  });

  test("is not used up by a call that failed, and is each professional's own", async () => {
    const { shop, product, one } = await shopWith(0);
    const other = await shopWith(20);
    const call = () => placeOrder(anonymous(), shop, one, { idempotency_key: "k" });
    expect((await failure(call())).code).toBe("insufficient_stock");
    await answer(shop.api.from("products").update({ stock: 1 }).eq("id", product.id));
    expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(200);
    expect((await stockOf(product)).stock).toBe(0);

    await answer(placeOrder(anonymous(), other.shop, other.one, { idempotency_key: "k" }));
    expect(await numbersOf(other.shop)).toEqual([1]);
  });
});

describe("quote_order", () => {
  test("says what place_order will charge, and changes nothing", async () => {
    const { shop, product } = await shopWith(5, { tax_rate: 10.75, prices_include_tax: true });
    const items = [{ product_id: product.id, quantity: 3 }];
    const quote = await answer<Quote>(quoteOrder(anonymous(), shop, items));
    expect(quote).toEqual({
      items: [
        {
          product_id: product.id,
          name: "Shampoo",
          sku: null,
          options: {},
          unit_price: 12.5,
          quantity: 3,
          total: 37.5,
        },
      ],
      subtotal: 37.5,
      discount: 0,
      tax: 3.64,
      total: 37.5,
      currency: "EUR",
    });
    expect((await stockOf(product)).stock).toBe(5);
    expect(await numbersOf(shop)).toEqual([]);

    const receipt = await answer<Receipt>(placeOrder(anonymous(), shop, items));
    expect(receipt).toMatchObject(quote);
  });

  test("runs in a read-only transaction, by GET as well", async () => {
    const { shop, one } = await shopWith(5);
    const quoted = await asCaller(ANON, async (tx) => {
      await tx`set transaction read only`;
      return tx`select total from public.quote_order(${shop.id}, ${tx.json(one)})`;
    });
    expect(Number(quoted[0]?.total)).toBe(12.5);

    const query = new URLSearchParams({ professional_id: shop.id, items: JSON.stringify(one) });
    const response = await request(`/rest/v1/rpc/quote_order?${query}`);
    expect([response.status, await response.json()]).toMatchObject([200, { total: 12.5 }]);
  });
});

describe("a client in the portal", () => {
  test("need not say who it is, and reads its order", async () => {
    const { shop, one } = await shopWith(null);
    const { client, api, order } = await signedIn(shop);
    const quote = await answer<Quote>(quoteOrder(api, shop, one));
    const receipt = await answer<Receipt>(order(shop, one));
    expect(receipt).toMatchObject(quote);
    expect(await answer(api.from("orders").select("id"))).toEqual([{ id: receipt.id }]);
    expect(await answer(shop.api.from("orders").select("client_id,source"))).toEqual([
      { client_id: client.id, source: "portal" },
    ]);
  });

  test("is nobody at another professional: refused without name and e-mail like the public", async () => {
    const { shop } = await shopWith(null);
    const { order } = await signedIn(shop);
    const other = await shopWith(null);
    const nameless = { professional_id: other.shop.id, items: other.one as never };
    for (const call of [order(other.shop, other.one), anonymous().rpc("place_order", nameless)]) {
      expect(await failure(call)).toMatchObject({ status: 422, code: "validation_failed" });
    }
    expect(await numbersOf(other.shop)).toEqual([]);
  });

  test("does not get the order of another client by choosing the same key", async () => {
    const { shop, one } = await shopWith(null);
    const first = await signedIn(shop);
    const second = await signedIn(shop);
    const key = { idempotency_key: "mine" };
    const receipt = await answer<Receipt>(first.order(shop, one, key));
    expect(await failure(second.order(shop, one, key))).toMatchObject({
      status: 422,
      code: "idempotency_key_reused",
    });
    expect(await answer(first.order(shop, one, key))).toEqual(receipt);
  });

  test("who types another address orders for that one, and is the public", async () => {
    const { shop, one } = await shopWith(null);
    const { order } = await signedIn(shop);
    await answer(order(shop, one, { client_name: "Ann", client_email: "ann@example.com" }));
    expect(await answer(shop.api.from("orders").select("source,client:clients(email)"))).toEqual([
      { source: "public", client: { email: "ann@example.com" } },
    ]);
  });

  test("does not see how much is left", async () => {
    const { shop, product } = await shopWith(3);
    const { api, order } = await signedIn(shop);
    const four = [{ product_id: product.id, quantity: 4 }];
    for (const call of [order(shop, four), quoteOrder(api, shop, four)]) {
      expect(await failure(call)).toEqual({
        status: 409,
        code: "insufficient_stock",
        details: [{ product_id: product.id, requested: 4 }],
      });
    }
  });
});

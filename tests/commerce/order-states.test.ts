/** What may become of an order, by whom, and what follows from it. */
import { describe, expect, test } from "vitest";
import { type Api, anonymous, server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  numbersOf,
  openShop,
  outcome,
  place,
  stockOf,
  upTo,
} from "../support/commerce.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProduct,
  type Professional,
  type Row,
} from "../support/factories.ts";

auditAfterEachTest();

const connections = parallelConnections(20);
const items = [{ name: "Soap", unit_price: 1, quantity: 1 }];

const STATES = ["pending", "confirmed", "fulfilled", "cancelled"] as const;
type State = (typeof STATES)[number];

/** How an order gets into each state. */
const WAYS: Record<State, State[]> = {
  pending: [],
  confirmed: ["confirmed"],
  fulfilled: ["confirmed", "fulfilled"],
  cancelled: ["cancelled"],
};

const ALLOWED: Record<State, State[]> = {
  pending: ["pending", "confirmed", "cancelled"],
  confirmed: ["confirmed", "fulfilled", "cancelled"],
  fulfilled: ["fulfilled"],
  cancelled: ["cancelled"],
};

async function orderIn(shop: Professional, state: State) {
  const order = await place(shop, items);
  for (const status of WAYS[state]) await answer(change(shop.api, order, { status }));
  return order;
}

function change(api: Api, order: { id: string }, values: object) {
  return api.from("orders").update(values).eq("id", order.id).select("*");
}

const PAIRS = STATES.flatMap((from) => STATES.map((to) => [from, to] as const));

describe.each(["owner", "server", "SQL"])("for the %s", (caller) => {
  test.each(PAIRS)("%s → %s", async (from, to) => {
    const shop = await openShop();
    const order = await orderIn(shop, from);
    const before = await answer<Row<"orders">>(
      shop.api.from("orders").select("*").eq("id", order.id).single(),
    );

    const code =
      caller === "SQL"
        ? await outcome(sql`update public.orders set status = ${to} where id = ${order.id}`.then())
        : await change(caller === "owner" ? shop.api : server(), order, { status: to }).then(
            ({ status, error }) => {
              if (error) expect([status, error.code]).toEqual([409, "invalid_transition"]);
              return error?.code ?? "done";
            },
          );

    const after = await answer<Row<"orders">>(
      shop.api.from("orders").select("*").eq("id", order.id).single(),
    );
    if (ALLOWED[from].includes(to)) {
      expect(code).toBe("done");
      expect(after.status).toBe(to);
      if (from === to) expect(after).toEqual(before);
      else expect(after.version).toBe(before.version + 1);
    } else {
      expect(code).toBe("invalid_transition");
      expect(after).toEqual(before);
    }
  });
});

test("a refused change says from what to what; an unknown state is the constraint's to refuse", async () => {
  const shop = await openShop();
  const order = await orderIn(shop, "fulfilled");
  expect(await failure(change(shop.api, order, { status: "pending" }))).toEqual({
    status: 409,
    code: "invalid_transition",
    details: { from: "fulfilled", to: "pending" },
  });
  expect(await failure(change(shop.api, order, { status: "lost" }))).toMatchObject({
    status: 400,
    code: "23514",
  });
});

describe("nobody else changes the state", () => {
  const CALLERS = {
    "the public": async (_order: object) => anonymous(),
    "another professional": async () => (await openShop()).api,
    "the client in the portal": async (order: { client_id: string; professional_id: string }) =>
      (await createPortalSession({ id: order.client_id, professional_id: order.professional_id }))
        .api,
  };
  const EXPECTED = {
    "the public": [401, "42501"],
    "another professional": [200, []],
    "the client in the portal": [403, "42501"],
  };

  test.each(Object.keys(CALLERS) as (keyof typeof CALLERS)[])("%s", async (caller) => {
    const shop = await openShop();
    for (const from of STATES) {
      const order = await orderIn(shop, from);
      const api = await CALLERS[caller](order);
      for (const status of STATES) {
        const result = await change(api, order, { status });
        expect([result.status, result.error?.code ?? result.data]).toEqual(EXPECTED[caller]);
      }
      const [after] = await sql`select status from public.orders where id = ${order.id}`;
      expect(after?.status).toBe(from);
      expect(await answer(change(shop.api, order, { notes: "mine" }))).toHaveLength(1);
    }
  });
});

describe("what was placed", () => {
  test("the owner edits notes, address and metadata, and nothing else", async () => {
    const shop = await openShop();
    const order = await place(shop, items);
    const values = {
      notes: "seen by the client",
      internal_notes: "not seen",
      shipping_address: { street: "Via Roma 1" },
      metadata: { colour: "red" },
    };
    const [changed] = await answer<Row<"orders">[]>(change(shop.api, order, values));
    expect(changed).toMatchObject({ ...values, version: 2 });

    for (const column of [
      "id",
      "client_id",
      "number",
      "kind",
      "booking_id",
      "items",
      "subtotal",
      "discount",
      "tax",
      "total",
      "currency",
      "amount_paid",
      "amount_refunded",
      "source",
      "version",
    ]) {
      expect(await failure(change(shop.api, order, { [column]: null }))).toMatchObject({
        status: 403,
        code: "42501",
      });
    }
  });

  test.each<[string, unknown]>([
    ["number", 7],
    ["kind", "service"],
    ["items", []],
    ["subtotal", 2],
    ["discount", 1],
    ["tax", 1],
    ["total", 2],
    ["currency", "USD"],
    ["source", "public"],
    ["amount_paid", 1],
    ["amount_refunded", 1],
  ])("a server cannot change %s either: 400 23514", async (column, value) => {
    const shop = await openShop();
    const order = await place(shop, items);
    expect(await failure(change(server(), order, { [column]: value }))).toMatchObject({
      status: 400,
      code: "23514",
    });
    expect(await answer(change(server(), order, { internal_notes: "packed" }))).toHaveLength(1);
  });

  test("cannot be deleted: no grant for the owner, and products hold it for servers", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 2 });
    const order = await place(shop, [{ product_id: product.id, quantity: 1 }]);
    const remove = (api: Api) => api.from("orders").delete().eq("id", order.id);
    expect(await failure(remove(shop.api))).toMatchObject({ status: 403, code: "42501" });
    expect(await failure(remove(server()))).toMatchObject({ status: 409, code: "23503" });
  });

  test("changes that change nothing raise no version and no date", async () => {
    const shop = await openShop();
    const order = await place(shop, items, { notes: "fast, please" });
    const [same] = await answer<Row<"orders">[]>(
      change(shop.api, order, { status: "pending", notes: "fast, please" }),
    );
    expect(same).toEqual(order);
  });

  test("version is compare-and-set", async () => {
    const shop = await openShop();
    const order = await place(shop, items);
    const confirm = () =>
      answer(change(shop.api, order, { status: "confirmed" }).eq("version", order.version));
    expect(await confirm()).toMatchObject([{ status: "confirmed", version: 2 }]);
    expect(await confirm()).toEqual([]);
  });
});

describe("cancelling", () => {
  test("gives the stock back once, however often it is asked for", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    const order = await place(shop, [{ product_id: product.id, quantity: 2 }]);
    expect((await stockOf(product)).stock).toBe(3);

    for (const _time of [1, 2]) {
      await answer(change(shop.api, order, { status: "cancelled" }));
      expect((await stockOf(product)).stock).toBe(5);
    }
  });

  test("at once by 20: the stock comes back once", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    const order = await place(shop, [{ product_id: product.id, quantity: 5 }]);
    const results = await Promise.all(
      connections.map((connection) =>
        outcome(
          asCaller(
            shop.claims,
            (tx) => tx`update public.orders set status = 'cancelled' where id = ${order.id}`,
            connection,
          ),
        ),
      ),
    );
    expect(results).toEqual(Array(20).fill("done"));
    expect((await stockOf(product)).stock).toBe(5);
  });

  test("a confirmed order gives back, a fulfilled one cannot be cancelled", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    const line = [{ product_id: product.id, quantity: 1 }];
    const confirmed = await place(shop, line);
    const fulfilled = await place(shop, line);
    await answer(change(shop.api, confirmed, { status: "confirmed" }));
    await answer(change(shop.api, fulfilled, { status: "confirmed" }));
    await answer(change(shop.api, fulfilled, { status: "fulfilled" }));

    await answer(change(shop.api, confirmed, { status: "cancelled" }));
    expect((await stockOf(product)).stock).toBe(4);
    expect((await failure(change(shop.api, fulfilled, { status: "cancelled" }))).code).toBe(
      "invalid_transition",
    );
    expect((await stockOf(product)).stock).toBe(4);
  });

  test("gives back only what was taken: nothing to a product that was not tracked then, or is not now", async () => {
    const shop = await openShop();
    const later = await createProduct(shop);
    const before = await createProduct(shop, { stock: 5 });
    const order = await place(shop, [
      { product_id: later.id, quantity: 2 },
      { product_id: before.id, quantity: 2 },
    ]);
    await answer(shop.api.from("products").update({ stock: 10 }).eq("id", later.id));
    await answer(shop.api.from("products").update({ stock: null }).eq("id", before.id));

    await answer(change(shop.api, order, { status: "cancelled" }));
    expect((await stockOf(later)).stock).toBe(10);
    expect((await stockOf(before)).stock).toBeNull();
  });

  test("succeeds when the stock can rise no further", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    const order = await place(shop, [{ product_id: product.id, quantity: 2 }]);
    const most = 2 ** 31 - 1;
    await answer(shop.api.from("products").update({ stock: most }).eq("id", product.id));
    expect(await answer(change(shop.api, order, { status: "cancelled" }))).toHaveLength(1);
    expect((await stockOf(product)).stock).toBe(most);
  });

  test("gives archived products back too", async () => {
    const shop = await openShop();
    const product = await createProduct(shop, { stock: 5 });
    const order = await place(shop, [{ product_id: product.id, quantity: 2 }]);
    await answer(shop.api.from("products").update({ active: false }).eq("id", product.id));
    await answer(change(shop.api, order, { status: "cancelled" }));
    expect((await stockOf(product)).stock).toBe(5);
  });
});

describe("at the same time", () => {
  test("40 orders of two professionals of which 8 fail: each has the numbers 1 to n", async () => {
    const shops = await Promise.all([openShop(), openShop()]);
    const clients = await Promise.all(shops.map((shop) => createClientRow(shop)));
    const work = upTo(40).map((n) => {
      const which = n % 2;
      const shop = shops[which] as Professional;
      const client = clients[which] as Row<"clients">;
      // Half of those that fail do so after they have had their number.
      const sold = n % 10 === 0 ? [{ ...items[0], quantity: -1 }] : items;
      const order = asCaller(
        shop.claims,
        async (tx) => {
          await tx`
            insert into public.orders (client_id, items)
            values (${client.id}, ${tx.json(sold as never)})`;
          if (n % 10 === 5) throw new Error("the connection is lost");
        },
        connections[n % connections.length],
      );
      return order.then(
        () => 1,
        () => 0,
      );
    });
    const placed = (await Promise.all(work)).reduce((sum: number, one) => sum + one, 0);
    expect(placed).toBe(32);

    const numbers = await Promise.all(shops.map(numbersOf));
    for (const list of numbers) expect(list).toEqual(upTo(list.length));
    expect(numbers.flat()).toHaveLength(32);
  });

  test("40 orders of two products in opposite order: no deadlock, and stock for all", async () => {
    const shop = await openShop();
    const client = await createClientRow(shop);
    const a = await createProduct(shop, { stock: 40 });
    const b = await createProduct(shop, { stock: 40 });
    const line = (product: { id: string }) => ({ product_id: product.id, quantity: 1 });
    const results = await Promise.all(
      upTo(40).map((n) => {
        const lines = n % 2 ? [line(a), line(b)] : [line(b), line(a)];
        return outcome(
          asCaller(
            shop.claims,
            (tx) => tx`
              insert into public.orders (client_id, items)
              values (${client.id}, ${tx.json(lines)})`,
            connections[n % connections.length],
          ),
        );
      }),
    );
    expect(results).toEqual(Array(40).fill("done"));
    expect((await stockOf(a)).stock).toBe(0);
    expect((await stockOf(b)).stock).toBe(0);
    expect(await numbersOf(shop)).toEqual(upTo(40));
  });

  test("orders, stock edits and cancellations of one product: no deadlock, and the books add up", async () => {
    const shop = await openShop();
    const client = await createClientRow(shop);
    const product = await createProduct(shop, { stock: 1000 });
    const line = [{ product_id: product.id, quantity: 1 }];
    const results = await Promise.all(
      upTo(60).map((n) =>
        outcome(
          asCaller(
            n % 5 === 0 ? { role: "service_role" } : shop.claims,
            async (tx) => {
              if (n % 3 === 0) {
                await tx`update public.products set stock = stock + 1 where id = ${product.id}`;
              } else if (n % 3 === 1) {
                await tx`
                  insert into public.orders (professional_id, client_id, items)
                  values (${shop.id}, ${client.id}, ${tx.json(line)})`;
              } else {
                await tx`
                  update public.orders set status = 'cancelled' where professional_id = ${shop.id}`;
              }
            },
            connections[n % connections.length],
          ),
        ),
      ),
    );
    expect(results).toEqual(Array(60).fill("done"));
    await sql`update public.orders set status = 'cancelled' where professional_id = ${shop.id}`;
    expect((await stockOf(product)).stock).toBe(1020);
  });
});

/** Orders of the public that wait for the link in their mail. */
import type { Sql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { anonymous, server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  findings,
  numbersOf,
  openShop,
  outcome,
  place,
  placeOrder,
  type Receipt,
  stockOf,
} from "../support/commerce.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProduct,
  type Insert,
} from "../support/factories.ts";
import {
  confirmHold,
  isOver,
  reportPortalAddress,
  rowOf,
  sweep,
  undisturbed,
} from "../support/holds.ts";
import { eventsOf, record } from "../support/webhooks.ts";

const MINUTE = 60_000;
const anon = anonymous();
const connections = parallelConnections(8);
const alone = undisturbed();
auditAfterEachTest();

beforeAll(reportPortalAddress);

type Order = Receipt & { expires_at: string | null };

/** A shop whose public orders are holds, with five pieces of one product; events are recorded. */
async function carefulShop(values: Partial<Insert<"products">> = {}) {
  const shop = await openShop({ verify_public_email: true });
  const product = await createProduct(shop, { stock: 5, ...values });
  const client = await createClientRow(shop);
  await record(shop);
  const before = (await eventsOf(shop)).at(-1)?.sequence ?? 0;
  const news = async () =>
    (await eventsOf(shop, before)).filter(({ type }) => !type.startsWith("product."));
  const types = async () => (await news()).map(({ type }) => type);
  const items = (quantity: number) => [{ product_id: product.id, quantity }];
  const hold = (quantity = 2, client_email = `ann-${crypto.randomUUID()}@example.com`) =>
    answer<Order>(placeOrder(anon, shop, items(quantity), { client_email }));
  const stock = async () => (await stockOf(product)).stock;
  return { shop, product, client, news, types, items, hold, stock };
}

describe("an order of the public", () => {
  test("is a hold of 30 minutes where addresses are verified: it has its number and its stock", async () => {
    const { hold, shop, product } = await carefulShop();
    const receipt = await hold(2);

    expect(receipt).toMatchObject({ status: "pending", number: 1, version: 1 });
    const row = await rowOf("orders", receipt);
    expect(receipt.expires_at).toBe(row.expires_at.toISOString());
    expect(row.expires_at - row.created_at).toBe(30 * MINUTE);
    expect(row.email_confirmed_at).toBe(null);
    expect(await stockOf(product)).toEqual({
      stock: 3,
      ledger: [
        { delta: 5, reason: "created" },
        { delta: -2, reason: "ordered" },
      ],
    });
    expect(await numbersOf(shop)).toEqual([1]);
  });

  test("is none where they are not, by a portal client for itself, and by the owner", async () => {
    const { shop, client, items } = await carefulShop();
    const portal = await createPortalSession(client);
    const call = { professional_id: shop.id, items: items(1) as never };
    expect(await answer(portal.api.rpc("place_order", call))).toMatchObject({ expires_at: null });
    expect(await place(shop, items(1))).toMatchObject({ expires_at: null });
    const other = await answer<Order>(placeOrder(portal.api, shop, items(1)));
    expect(other.expires_at).not.toBe(null);

    const plain = await openShop();
    const product = await createProduct(plain, { stock: 5 });
    const order = placeOrder(anon, plain, [{ product_id: product.id, quantity: 1 }]);
    expect(await answer(order)).toMatchObject({ status: "pending", expires_at: null });
  });

  test("keeps its stock until it is over, and not after that", async () => {
    const { shop, items, hold, stock } = await carefulShop();
    const receipt = await hold(4);
    const quote = () =>
      anon.rpc("quote_order", { professional_id: shop.id, items: items(3) as never });
    expect(await failure(quote())).toMatchObject({ status: 409, code: "insufficient_stock" });
    expect(await failure(placeOrder(anon, shop, items(3)))).toMatchObject({
      status: 409,
      code: "insufficient_stock",
    });

    await isOver("orders", receipt);
    expect((await quote()).error).toBe(null);
    await hold(3);
    expect(await rowOf("orders", receipt)).toMatchObject({ status: "cancelled" });
    expect(await stock()).toBe(2);
  });

  test("gives its stock back once, and its number stays with it", async () => {
    const { shop, product, hold } = await carefulShop();
    const receipt = await hold(2);
    await isOver("orders", receipt);
    await sweep("orders", receipt);
    await sql`select private.sweep_holds()`;
    expect(await stockOf(product)).toEqual({
      stock: 5,
      ledger: [
        { delta: 5, reason: "created" },
        { delta: -2, reason: "ordered" },
        { delta: 2, reason: "cancelled" },
      ],
    });
    await hold(1);
    expect(await numbersOf(shop)).toEqual([1, 2]);
  });

  test("replayed by its key is the same hold, as it is now", async () => {
    const { shop, items } = await carefulShop();
    const call = () =>
      answer<Order>(placeOrder(anon, shop, items(1), { idempotency_key: shop.id }));
    const receipt = await call();
    expect(await call()).toEqual(receipt);
    await isOver("orders", receipt);
    expect(await call()).toMatchObject({ id: receipt.id, status: "cancelled", expires_at: null });
  });
});

describe("nobody hears of a hold", () => {
  test("when it is made, edited, cancelled, over, and swept; its client neither", async () => {
    const { shop, hold, types } = await carefulShop();
    const [over, cancelled] = [await hold(1), await hold(1)];
    await answer(shop.api.from("orders").update({ notes: "?" }).eq("id", over.id));
    await isOver("orders", over);
    await sweep("orders", over);
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", cancelled.id));
    expect(await types()).toEqual([]);
  });

  test("until it is an order: then it is created, after the client who was made for it", async () => {
    const { hold, news } = await carefulShop();
    const receipt = await hold(1, "new@example.com");
    await answer(confirmHold("order", receipt));
    expect(await news()).toMatchObject([
      { type: "client.created", data: { email: "new@example.com" }, previous: null },
      {
        type: "order.created",
        data: { id: receipt.id, number: 1, status: "pending", expires_at: null },
        previous: null,
      },
    ]);
  });

  test("or until the owner confirms it, or records that it was paid", async () => {
    const { shop, client, hold, types } = await carefulShop();
    const email = client.email as string;
    const [confirmed, paid] = [await hold(1, email), await hold(1, email)];
    await answer(shop.api.from("orders").update({ status: "confirmed" }).eq("id", confirmed.id));
    await answer(shop.api.rpc("record_payment", { order_id: paid.id, amount: 1, method: "cash" }));
    expect(await types()).toEqual(["order.created", "order.created", "payment.succeeded"]);
    expect(await rowOf("orders", paid)).toMatchObject({ status: "pending", expires_at: null });
  });

  test("what products have in stock is told as it is: receivers that keep count would go wrong", async () => {
    const { shop, hold } = await carefulShop({ stock: 2 });
    const receipt = await hold(2);
    await isOver("orders", receipt);
    await sweep("orders", receipt);
    const told = (await eventsOf(shop)).filter(({ type }) => type.startsWith("product."));
    expect(told.slice(-2)).toMatchObject([
      { type: "product.out_of_stock", data: { stock: 0, in_stock: false } },
      { type: "product.updated", data: { stock: 2, in_stock: true } },
    ]);
  });
});

describe("the client's portal", () => {
  test("shows a hold until it is over, and never after that", async () => {
    const { client, hold } = await carefulShop();
    const portal = await createPortalSession(client);
    const receipt = await hold(1, client.email as string);
    const list = () => answer(portal.api.from("orders").select("id, expires_at"));
    expect(await list()).toEqual([{ id: receipt.id, expires_at: receipt.expires_at }]);
    await isOver("orders", receipt);
    expect(await list()).toEqual([]);
    await sweep("orders", receipt);
    expect(await list()).toEqual([]);
  });

  test("does not count holds of the public as unpaid orders of the client's own making", async () => {
    const { shop, client, hold, items } = await carefulShop({ stock: 10 });
    for (let n = 0; n < 5; n++) await hold(1, client.email as string);
    const portal = await createPortalSession(client);
    const call = { professional_id: shop.id, items: items(1) as never };
    expect((await portal.api.rpc("place_order", call)).error).toBe(null);
  });
});

describe("confirm_hold", () => {
  test("makes it an order, and twice is once", async () => {
    const { hold, types, stock } = await carefulShop();
    const receipt = await hold(2);
    const confirmed = await answer(confirmHold("order", receipt));
    expect(confirmed).toEqual({
      kind: "order",
      booking: null,
      order: { ...receipt, expires_at: null, version: 2 },
    });
    const { email_confirmed_at } = await rowOf("orders", receipt);
    expect(email_confirmed_at).toBeInstanceOf(Date);
    expect(await answer(confirmHold("order", receipt))).toEqual(confirmed);
    expect(await rowOf("orders", receipt)).toMatchObject({ email_confirmed_at, version: 2 });
    expect(await types()).toEqual(["client.created", "order.created"]);
    expect(await stock()).toBe(3);
  });

  test("confirms one that is over while it has its stock, and none that gave it back", async () => {
    const { shop, hold } = await carefulShop();
    const [kept, gone] = [await hold(1), await hold(1)];
    await alone(shop, async (connection) => {
      await isOver("orders", kept, connection);
      await asCaller(
        { role: "service_role" },
        (tx) => tx`select public.confirm_hold('order', ${kept.id}, 1)`,
        connection,
      );
    });
    expect(await rowOf("orders", kept)).toMatchObject({ status: "pending", expires_at: null });

    await isOver("orders", gone);
    await sweep("orders", gone);
    expect(await failure(confirmHold("order", gone))).toMatchObject({
      status: 409,
      code: "hold_expired",
    });
  });

  test("refuses one that somebody cancelled, and knows none of another epoch", async () => {
    const { shop, hold } = await carefulShop();
    const receipt = await hold(1);
    const call = { kind: "order", id: receipt.id, link_epoch: 2 };
    expect(await failure(server().rpc("confirm_hold", call))).toMatchObject({
      status: 404,
      code: "PGRST301",
    });
    await answer(shop.api.from("orders").update({ status: "cancelled" }).eq("id", receipt.id));
    expect(await failure(confirmHold("order", receipt))).toMatchObject({
      status: 409,
      code: "invalid_transition",
    });
  });

  test("notes the link of one that the owner confirmed by hand, and tells nobody", async () => {
    const { shop, hold, types } = await carefulShop();
    const receipt = await hold(1);
    await answer(shop.api.from("orders").update({ status: "confirmed" }).eq("id", receipt.id));
    const before = await types();
    await answer(confirmHold("order", receipt));
    const row = await rowOf("orders", receipt);
    expect(row.status).toBe("confirmed");
    expect(row.email_confirmed_at).toBeInstanceOf(Date);
    expect(await types()).toEqual(before);
  });
});

describe("the owner and holds that are over", () => {
  test("in bulk, those that are over and those that are not become orders", async () => {
    const { shop, hold } = await carefulShop();
    const rows = [await hold(1), await hold(1), await hold(1)];
    await alone(shop, async (connection) => {
      await isOver("orders", rows[0] as Order, connection);
      await isOver("orders", rows[2] as Order, connection);
      await asCaller(
        shop.claims,
        (tx) => tx`
          update public.orders set status = 'confirmed'
          where id in ${tx(rows.map(({ id }) => id))}`,
        connection,
      );
    });
    for (const row of rows) {
      expect(await rowOf("orders", row)).toMatchObject({ status: "confirmed", expires_at: null });
    }
  });

  test("an order of the owner ends them when it needs their stock, and only then", async () => {
    const { shop, client, hold, items, stock } = await carefulShop();
    const held = await hold(3);
    const order = (connection: Sql, quantity: number) =>
      asCaller(
        shop.claims,
        (tx) => tx`
          insert into public.orders (client_id, items)
          values (${client.id}, ${tx.json(items(quantity) as never)})`,
        connection,
      );
    await alone(shop, async (connection) => {
      expect(await outcome(order(connection, 3))).toBe("insufficient_stock");
      await isOver("orders", held, connection);
      await order(connection, 2);
      expect((await rowOf("orders", held)).status).toBe("pending");
      expect(await outcome(order(connection, 4))).toBe("insufficient_stock");
      await order(connection, 3);
    });
    expect((await rowOf("orders", held)).status).toBe("cancelled");
    expect(await stock()).toBe(0);
  });

  test("stock is counted without them", async () => {
    const { shop, product, hold } = await carefulShop();
    await isOver("orders", await hold(2));
    const call = { product_id: product.id, delta: 1, reason: "counted", expected_stock: 5 };
    expect(await answer(shop.api.rpc("adjust_stock", call))).toMatchObject({ stock: 6 });
  });

  test("a payment makes one that is over an order, or stays with one that has ended", async () => {
    const { shop, hold } = await carefulShop();
    const [kept, ended] = [await hold(1), await hold(1)];
    const pay = (row: Order, connection: Sql) =>
      asCaller(
        shop.claims,
        (tx) => tx`select public.record_payment(${row.id}, 1, 'cash')`,
        connection,
      );
    await alone(shop, async (connection) => {
      await isOver("orders", kept, connection);
      await pay(kept, connection);
    });
    expect(await rowOf("orders", kept)).toMatchObject({ status: "pending", expires_at: null });

    await isOver("orders", ended);
    await sweep("orders", ended);
    await pay(ended, sql);
    expect(await rowOf("orders", ended)).toMatchObject({ status: "cancelled", amount_paid: "1" });
  });
});

describe("jobs", () => {
  test("the one for unpaid orders leaves holds alone, and takes orders that were holds", async () => {
    const { shop, client, items } = await carefulShop();
    const placed = async () => {
      const [row] = await sql<{ id: string }[]>`
        insert into public.orders
          (professional_id, client_id, items, source, created_at, expires_at)
        values (${shop.id}, ${client.id}, ${sql.json(items(1))}, 'public',
          now() - interval '49 hours', now() + interval '1 hour')
        returning id`;
      return row as { id: string };
    };
    const [held, confirmed] = [await placed(), await placed()];
    await answer(confirmHold("order", confirmed));
    while ((await sql`select private.cancel_unpaid_orders() as did`)[0]?.did);
    expect((await rowOf("orders", held)).status).toBe("pending");
    expect((await rowOf("orders", confirmed)).status).toBe("cancelled");
  });
});

describe("at the same time", () => {
  const confirmInSql = (connection: Sql, row: { id: string }) =>
    asCaller(
      { role: "service_role" },
      (tx) => tx`select public.confirm_hold('order', ${row.id}, 1)`,
      connection,
    );

  test("eight confirm one hold: all are told the same, it is created once", async () => {
    const { hold, types } = await carefulShop();
    const receipt = await hold(1);
    const answers = await Promise.all(
      connections.map((connection) => confirmInSql(connection, receipt)),
    );
    expect(new Set(answers.map((rows) => JSON.stringify(rows))).size).toBe(1);
    expect(await types()).toEqual(["client.created", "order.created"]);
  });

  test("confirmations, others who want the stock, bulk edits and the job: the books add up", async () => {
    const { shop, hold, items, stock } = await carefulShop({ stock: 6 });
    const rows: Order[] = [];
    for (let n = 0; n < 6; n++) rows.push(await hold(1));
    for (const row of rows) await isOver("orders", row);

    const outcomes = await Promise.all(
      Array.from({ length: 48 }, (_, n) => {
        const connection = connections[n % 8] as Sql;
        switch (n % 4) {
          case 0:
            return outcome(confirmInSql(connection, rows[(n / 4) % 6] as Order));
          case 1:
            return outcome(
              asCaller(
                { role: "anon" },
                (tx) => tx`
                  select public.place_order(
                    ${shop.id}, ${tx.json(items(1) as never)}, 'Ann', 'ann@example.com'
                  )`,
                connection,
              ),
            );
          case 2:
            return outcome(
              asCaller(
                shop.claims,
                (tx) => tx`
                  update public.orders set notes = ${String(n)}
                  where professional_id = ${shop.id}`,
                connection,
              ),
            );
          default:
            return outcome(connection`select private.sweep_holds()`);
        }
      }),
    );

    const typed = ["done", "hold_expired", "insufficient_stock"];
    expect(outcomes.filter((code) => !typed.includes(code))).toEqual([]);
    const [live] = await sql`
      select count(*)::integer from public.orders
      where professional_id = ${shop.id} and status = 'pending'`;
    expect((await stock()) as number).toBe(6 - live?.count);
    expect(await findings(shop)).toEqual([]);
  });
});

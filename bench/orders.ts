/**
 * What an order by the public costs: it prices its lines, takes the stock of each and keeps a ledger of
 * it. Compared with writing the same rows into tables with the same columns, constraints and indexes
 * but without rules, and with the insert of the row of the order alone.
 */
import { randomUUID } from "node:crypto";
import { asSuperuser, type Context, compareBoth } from "./context.ts";
import { clientEmail, clientId, copyTable, productId, professionalId } from "./data.ts";
import type { Request, Side } from "./measure.ts";
import { type Row, row } from "./table.ts";

const SECTION = "Orders of 3 lines";
const CALL = "select * from public.place_order($1::uuid, $2::text::jsonb, $3, $4) as pgrst_call";
const ORDER = `insert into bench.orders (id, professional_id, client_id, number, items, subtotal, tax,
    total, currency, source)
  values ($1, $2, $3, $4, $5::text::jsonb, 37.5, 8.25, 45.75, 'EUR', 'public')
  returning id, professional_id, number, kind, status, payment_status, items, subtotal, discount, tax,
    total, amount_paid, amount_refunded, currency, version, created_at`;
const HELD = `insert into bench.order_products (professional_id, order_id, product_id, quantity)
  values ($2, $1, $3, 1), ($2, $1, $4, 1), ($2, $1, $5, 1)`;
const STOCK = `update bench.products set stock = stock - 1
  where professional_id = $1 and id in ($2, $3, $4)`;
const LEDGER = `insert into bench.stock_ledger (professional_id, product_id, order_id, delta, reason)
  values ($2, $3, $1, -1, 'ordered'), ($2, $4, $1, -1, 'ordered'), ($2, $5, $1, -1, 'ordered')`;

const COPIED = [
  "public.orders",
  "public.products",
  "private.order_products",
  "private.stock_ledger",
];

/** Three products of a professional. */
const products = (p: number, n: number) =>
  [0, 1, 2].map((k) => productId(p, 1 + ((3 * n + k) % 60)));
const asked = (p: number, n: number) =>
  products(p, n).map((product_id) => ({ product_id, quantity: 1 }));
const finished = { name: "Product 1", sku: "SKU-1", options: {}, unit_price: 12.5, total: 12.5 };
const kept = (p: number, n: number) => asked(p, n).map((line) => ({ ...line, ...finished }));

/** Takes away what was ordered, stock included, so that every row starts from the same books. */
async function clear(url: string): Promise<void> {
  await asSuperuser(
    url,
    async (sql) => {
      const [copy] = await sql`select to_regclass('bench.orders') is not null as exists`;
      const schemas = [["private", "public"], ...(copy?.exists ? [["bench", "bench"]] : [])];
      for (const [books = "", shop = ""] of schemas) {
        const orders = sql`${sql(shop)}.orders`;
        for (const table of ["stock_ledger", "order_products"]) {
          const kept = sql`${sql(books)}.${sql(table)}`;
          await sql`
            delete from ${kept}
            where order_id in (select id from ${orders} where source = 'public')`;
          await sql`vacuum ${kept}`;
        }
        await sql`delete from ${orders} where source = 'public'`;
        await sql`update ${sql(shop)}.products set stock = 1000000 where stock <> 1000000`;
        await sql`vacuum ${orders}, ${sql(shop)}.products`;
      }
    },
    "off",
  );
}

/** Orders at professionals one after the other, or at one and of the same products. */
function sides(only?: number) {
  const counters = new Map<string, number>();
  const turn = (kind: string, worker: number, index: number) => {
    const p = only ?? 1 + ((worker + index) % 16);
    const n = counters.get(kind + p) ?? 0;
    counters.set(kind + p, n + 1);
    return { p, n, basket: only === undefined ? n : 0 };
  };
  const rpc = (url: string): Side => ({
    url,
    request: (worker, index): Request => {
      const { p, n, basket } = turn(`rpc ${url}`, worker, index);
      const items = JSON.stringify(asked(p, basket));
      const email = clientEmail(1 + (n % 200));
      return {
        role: "anon",
        headers: { "cf-connecting-ip": `10.0.${worker}.${index % 250}` },
        method: "POST",
        statements: [[CALL, professionalId(p), items, "Marta Rossi", email]],
      };
    },
  });
  const bare = (url: string, everything: boolean): Side => ({
    url,
    request: (worker, index) => {
      const { p, n, basket } = turn(`bare ${url} ${everything}`, worker, index);
      const [id, owner, items] = [randomUUID(), professionalId(p), JSON.stringify(kept(p, basket))];
      // The number is unique; the other side makes its own.
      const number = 100_000 + 2 * n + Number(everything);
      const order: [string, ...unknown[]] = [
        ORDER,
        ...[id, owner, clientId(p, 1 + (n % 200)), number, items],
      ];
      const of = products(p, basket);
      return {
        role: "service_role",
        method: "POST",
        statements: everything
          ? [order, [HELD, id, owner, ...of], [STOCK, owner, ...of], [LEDGER, id, owner, ...of]]
          : [order],
      };
    },
  });
  return { rpc, bare };
}

export async function measureOrders(context: Context): Promise<Row[]> {
  const { small, middle, large } = context;
  for (const table of COPIED) await copyTable(middle.url, table);
  const rows: Row[] = [];

  const distinct = sides();
  rows.push(
    row(
      SECTION,
      "place_order, 16 professionals",
      "the same ten writes, bare",
      "throughput",
      await compareBoth(context, distinct.rpc(middle.url), distinct.bare(middle.url, true)),
      [{ of: "ratio", atLeast: 0.5 }],
    ),
  );
  await clear(middle.url);
  const alone = sides();
  rows.push(
    row(
      SECTION,
      "place_order, 16 professionals",
      "bare insert of the order alone",
      "throughput",
      await compareBoth(context, alone.rpc(middle.url), alone.bare(middle.url, false)),
    ),
  );
  await clear(middle.url);
  const contended = sides(1);
  rows.push(
    row(
      SECTION,
      "place_order, the same products",
      "the same ten writes, bare",
      "throughput",
      await compareBoth(context, contended.rpc(middle.url), contended.bare(middle.url, true), {
        rounds: 9,
        requests: 20,
      }),
    ),
  );
  await clear(middle.url);
  const levels = sides();
  rows.push(
    row(
      SECTION,
      `place_order, ${large.bookings} bookings`,
      `${small.bookings} bookings`,
      "p50",
      await compareBoth(context, levels.rpc(large.url), levels.rpc(small.url)),
      [{ of: "ratio", atMost: 1.2 }],
    ),
  );
  for (const url of new Set([small.url, large.url])) await clear(url);
  return rows;
}

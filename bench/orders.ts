/**
 * What an order by the public costs against the insert of the finished row into a table without rules:
 * the order prices its lines, takes the stock of each and keeps a ledger of it.
 */
import { asSuperuser, type Context, compareBoth } from "./context.ts";
import { clientEmail, clientId, copyTable, productId, professionalId } from "./data.ts";
import type { Request, Side } from "./measure.ts";
import { type Row, row } from "./table.ts";

const CALL = "select * from public.place_order($1::uuid, $2::text::jsonb, $3, $4) as pgrst_call";
const BARE = `insert into bench.orders (professional_id, client_id, number, items, subtotal, tax, total,
    currency, source)
  values ($1, $2, $3, $4::text::jsonb, 37.5, 8.25, 45.75, 'EUR', 'public')
  returning id, professional_id, number, kind, status, payment_status, items, subtotal, discount, tax,
    total, amount_paid, amount_refunded, currency, version, created_at`;

/** Three products of a professional. */
const lines = (p: number, n: number) => [0, 1, 2].map((k) => productId(p, 1 + ((3 * n + k) % 60)));
const asked = (p: number, n: number) =>
  lines(p, n).map((product_id) => ({ product_id, quantity: 1 }));
const kept = (p: number, n: number) =>
  lines(p, n).map((product_id) => ({
    product_id,
    name: "Product 1",
    sku: "SKU-1",
    options: {},
    unit_price: 12.5,
    quantity: 1,
    total: 12.5,
  }));

/** Takes away what was ordered, stock included, so that every row starts from the same books. */
async function clear(url: string): Promise<void> {
  await asSuperuser(
    url,
    async (sql) => {
      await sql`
        delete from private.stock_ledger
        where order_id in (select id from public.orders where source = 'public')`;
      await sql`
        delete from private.order_products
        where order_id in (select id from public.orders where source = 'public')`;
      await sql`delete from public.orders where source = 'public'`;
      await sql`delete from bench.orders where source = 'public'`;
      await sql`update public.products set stock = 1000000 where stock <> 1000000`;
      await sql`
        vacuum public.orders, bench.orders, public.products, private.stock_ledger,
          private.order_products`;
    },
    "off",
  );
}

export async function measureOrders(context: Context): Promise<Row[]> {
  const { small, middle, large } = context;
  for (const url of new Set([small.url, middle.url, large.url])) await copyTable(url, "orders");
  const rows: Row[] = [];

  const sides = (only?: { p: number; n: number }) => {
    const counters = new Map<string, number>();
    const next = (kind: string, p: number) => {
      const n = counters.get(kind + p) ?? 0;
      counters.set(kind + p, n + 1);
      return n;
    };
    const turn = (worker: number, index: number) => only?.p ?? 1 + ((worker + index) % 16);
    const rpc = (url: string): Side => ({
      url,
      request: (worker, index): Request => {
        const p = turn(worker, index);
        const n = next(`rpc ${url}`, p);
        const items = JSON.stringify(asked(p, only?.n ?? n));
        return {
          role: "anon",
          headers: { "cf-connecting-ip": `10.0.${worker}.${index % 250}` },
          method: "POST",
          statements: [[CALL, professionalId(p), items, "Marta Rossi", clientEmail(1 + (n % 200))]],
        };
      },
    });
    const bare = (url: string): Side => ({
      url,
      request: (worker, index) => {
        const p = turn(worker, index);
        const n = next(`bare ${url}`, p);
        const items = JSON.stringify(kept(p, only?.n ?? n));
        return {
          role: "service_role",
          method: "POST",
          statements: [[BARE, professionalId(p), clientId(p, 1 + (n % 200)), 100_000 + n, items]],
        };
      },
    });
    return { rpc, bare };
  };

  const distinct = sides();
  rows.push(
    row(
      "Orders",
      "place_order of 3 lines, 16 professionals",
      "bare insert",
      "throughput",
      await compareBoth(context, distinct.rpc(middle.url), distinct.bare(middle.url)),
      [
        { of: "ratio", atLeast: 0.5 },
        { of: "ratioAt16", atLeast: 0.5 },
      ],
    ),
  );
  await clear(middle.url);
  const contended = sides({ p: 1, n: 0 });
  rows.push(
    row(
      "Orders",
      "place_order of 3 lines, the same products",
      "bare insert",
      "throughput",
      await compareBoth(context, contended.rpc(middle.url), contended.bare(middle.url), {
        rounds: 9,
        requests: 20,
      }),
    ),
  );
  await clear(middle.url);
  const levels = sides();
  rows.push(
    row(
      "Orders",
      `place_order of 3 lines, ${large.bookings} bookings`,
      `${small.bookings} bookings`,
      "p50",
      await compareBoth(context, levels.rpc(large.url), levels.rpc(small.url)),
      [{ of: "ratio", atMost: 1.2 }],
    ),
  );
  for (const url of new Set([small.url, large.url])) await clear(url);
  return rows;
}

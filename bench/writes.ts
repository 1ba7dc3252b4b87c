/**
 * What a booking and an order by the public cost against the same rows written into a database with the
 * same columns, constraints and indexes but without rules.
 */
import { randomUUID } from "node:crypto";
import { dateIn, instantOf, iso, weekday } from "../tests/support/calendar.ts";
import { type Databases, growth, id, type Level } from "./databases.ts";
import type { Request, Row, Side, Statement } from "./measure.ts";

/** Of each measured professional, in data.sql. */
const [CLIENTS, PRODUCTS] = [200, 60];

const emailOf = (n: number) => `client-${1 + (n % CLIENTS)}@example.com`;
const clientOf = (p: number, n: number) => id("client", p, 1 + (n % CLIENTS));

/** Makes the statements of one write; `n` counts the writes of this side for professional p. */
type Write = (p: number, n: number) => Statement[];

function side({ url }: Level, role: Request["role"], write: Write): Side {
  /** By the number of the professional. */
  const written: number[] = [];
  return {
    url,
    request: ({ p, index }): Request => {
      const n = written[p] ?? 0;
      written[p] = n + 1;
      const headers = { "cf-connecting-ip": `10.0.${p}.${index % 250}` };
      return { role, headers, method: "POST", statements: write(p, n) };
    },
  };
}

/** Free for everybody who is measured: half hours of the usual week, beyond the half-full months. */
export const FREE_STARTS = Array.from({ length: 900 }, (_, day) => dateIn(70 + day))
  .filter((date) => !["sat", "sun"].includes(weekday(date)))
  .flatMap((date) => {
    const first = instantOf(date, "09:00", "Europe/Rome");
    return Array.from({ length: 16 }, (_, half) => iso(first + half * 30 * 60_000));
  });

const CREATE_BOOKING = "select * from public.create_booking($1::uuid, $2, $3, $4) as pgrst_call";

export const createBooking = (p: number, n: number): Statement => {
  return [CREATE_BOOKING, id("service", p, 1), FREE_STARTS[n], "Marta Rossi", emailOf(n)];
};

const INSERT_BOOKING = `insert into public.bookings (professional_id, client_id, service_id, service_name,
    starts_at, ends_at, buffer_before, buffer_after, status, price, currency, source)
  values ($1, $2, $3, 'Service 1', $4::timestamptz, $4::timestamptz + interval '30 minutes', 0, 0, 'confirmed',
    30, 'EUR', 'public')
  returning id, professional_id, service_id, service_name, status, starts_at, ends_at, price, currency,
    notes, version`;

const againstBare = (name: string, measured: Side, dividedBy: string, by: Side): Row => {
  return { name, measured, dividedBy, by, of: "throughput", goals: ["≥ 0.5×"] };
};

export async function bookings(databases: Databases): Promise<Row[]> {
  const { middle, bare } = databases;
  const create = (level: Level) => side(level, "anon", (p, n) => [createBooking(p, n)]);
  const insert = side(bare, "service_role", (p, n) => [
    [INSERT_BOOKING, id("professional", p), clientOf(p, n), id("service", p, 1), FREE_STARTS[n]],
  ]);
  return [
    growth(databases, "create_booking", create),
    againstBare("create_booking", create(middle), "bare insert", insert),
  ];
}

const PLACE_ORDER =
  "select * from public.place_order($1::uuid, $2::text::jsonb, $3, $4) as pgrst_call";
const INSERT_ORDER = `insert into public.orders (id, professional_id, client_id, number, items, subtotal, tax,
    total, currency, source)
  values ($1, $2, $3, $4, $5::text::jsonb, 37.5, 8.25, 45.75, 'EUR', 'public')
  returning id, professional_id, number, kind, status, payment_status, items, subtotal, discount, tax,
    total, amount_paid, amount_refunded, currency, version, created_at`;
const INSERT_HELD = `insert into private.order_products (professional_id, order_id, product_id, quantity)
  values ($2, $1, $3, 1), ($2, $1, $4, 1), ($2, $1, $5, 1)`;
const TAKE_STOCK = `update public.products set stock = stock - 1
  where professional_id = $1 and id in ($2, $3, $4)`;
const INSERT_LEDGER = `insert into private.stock_ledger (professional_id, product_id, order_id, delta, reason)
  values ($2, $3, $1, -1, 'ordered'), ($2, $4, $1, -1, 'ordered'), ($2, $5, $1, -1, 'ordered')`;

/** Three of a professional's products. */
const basket = (p: number, n: number) =>
  [0, 1, 2].map((k) => id("product", p, 1 + ((3 * n + k) % PRODUCTS)));

const placeOrder: Write = (p, n) => {
  const items = basket(p, n).map((product_id) => ({ product_id, quantity: 1 }));
  return [[PLACE_ORDER, id("professional", p), JSON.stringify(items), "Marta Rossi", emailOf(n)]];
};

/** The ten writes of an order of three lines. */
const insertOrder: Write = (p, n) => {
  const [order, owner, products] = [randomUUID(), id("professional", p), basket(p, n)];
  const line = { name: "Product 1", sku: "SKU-1", options: {}, unit_price: 12.5, total: 12.5 };
  const items = products.map((product_id) => ({ product_id, quantity: 1, ...line }));
  return [
    [INSERT_ORDER, order, owner, clientOf(p, n), 100_000 + n, JSON.stringify(items)],
    [INSERT_HELD, order, owner, ...products],
    [TAKE_STOCK, owner, ...products],
    [INSERT_LEDGER, order, owner, ...products],
  ];
};

export async function orders(databases: Databases): Promise<Row[]> {
  const { middle, bare } = databases;
  const place = (level: Level) => side(level, "anon", placeOrder);
  const insert = side(bare, "service_role", insertOrder);
  return [
    growth(databases, "place_order of 3 lines", place),
    againstBare("place_order of 3 lines", place(middle), "the same ten writes, bare", insert),
  ];
}

/** The query that takes due deliveries, beside as many finished ones as there are bookings. */
export async function claims(databases: Databases): Promise<Row[]> {
  const side = ({ url }: Level): Side => ({
    url,
    request: () => ({
      role: "service_role",
      method: "POST",
      statements: [["select public.claim_webhook_deliveries($1)", 16]],
      rollback: true,
    }),
  });
  return [{ ...growth(databases, "claim of 16 deliveries", side), requests: 20 }];
}

/**
 * What is measured on: 1 000 professionals, of whom 16 hold the same rows at every level while the
 * history of the others grows, so that a ratio between levels compares like with like. Written by SQL
 * with the triggers off, in the order of time, as life would have written it.
 */
import { createHash } from "node:crypto";
import postgres from "postgres";

/** One for each connection of a measurement. */
export const MEASURED = 16;
const OTHERS = 984;

/** Rows that each measured professional holds. */
const HELD = { bookings: 1000, clients: 200, services: 50, products: 60, orders: 500 };

/** Ids are hashes of what they are of, so that every statement and every request can name them. */
const uuid = (text: string) =>
  createHash("md5")
    .update(text)
    .digest("hex")
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");

export const professionalId = (p: number) => uuid(`professional ${p}`);
export const serviceId = (p: number, k: number) => uuid(`service ${p} ${k}`);
export const clientId = (p: number, k: number) => uuid(`client ${p} ${k}`);
export const productId = (p: number, k: number) => uuid(`product ${p} ${k}`);
export const clientEmail = (k: number) => `client-${k}@example.com`;

/** Pairs of a professional (p, from 1) and the number of a row there (k, from 1). */
function rows(held: number, eachOther: number): string {
  return `(
    select p, k from generate_series(1, ${MEASURED}) p, generate_series(1, ${held}) k
    union all
    select ${MEASURED} + p, k from generate_series(1, ${OTHERS}) p, generate_series(1, ${eachOther}) k
  ) as r`;
}

/** How many rows each of the others holds when all of them together have `bookings`. */
function perOther(bookings: number) {
  const each = Math.round(bookings / OTHERS);
  return {
    bookings: each,
    clients: Math.max(2, Math.round(each / 5)),
    services: Math.max(5, Math.round(each / 20)),
    products: Math.max(3, Math.round((each * 6) / 100)),
    orders: Math.round(each / 2),
  };
}

const id = (kind: string, k = "k") => `md5('${kind} ' || p || ' ' || ${k})::uuid`;
const owner = "md5('professional ' || p)::uuid";
/** The k-th row is k times three hours old, a little different for everybody. */
const age = "now() - k * interval '3 hours' - p * interval '7 seconds'";

/** The statements that fill a database up to a level; an earlier commit has no notice on bookings. */
function statements(bookings: number, hasNotice: boolean): string[] {
  const other = perOther(bookings);
  const notice = hasNotice
    ? { column: "cancellation_notice, ", value: "0, " }
    : { column: "", value: "" };
  const pick = (count: { measured: number; other: number }) =>
    `1 + k % case when p <= ${MEASURED} then ${count.measured} else ${count.other} end`;
  const client = id("client", `(${pick({ measured: HELD.clients, other: other.clients })})`);
  const service = id("service", `(${pick({ measured: HELD.services, other: other.services })})`);
  const product = id("product", `(${pick({ measured: HELD.products, other: other.products })})`);
  return [
    `insert into auth.users (id, aud, role, email, created_at, updated_at)
      select ${owner}, 'authenticated', 'authenticated', 'pro-' || p || '@example.com', now(), now()
      from generate_series(1, ${MEASURED + OTHERS}) p`,
    `insert into public.profiles (id, full_name, username, time_zone, accepts_bookings, accepts_orders, tax_rate, tier)
      select ${owner}, 'Professional ' || p, 'pro-' || p, 'Europe/Rome', true, true, 22, 'ultra'
      from generate_series(1, ${MEASURED + OTHERS}) p`,
    `insert into public.services (id, professional_id, created_at, name, price, duration, slot_step, max_advance_days)
      select ${id("service")}, ${owner}, ${age}, 'Service ' || k, 30, 30, 15, 1095
      from ${rows(HELD.services, other.services)} order by k desc, p`,
    `insert into public.clients (id, professional_id, created_at, name, email, phone)
      select ${id("client")}, ${owner}, ${age},
        initcap(translate(left(md5('name ' || k || p), 9), '0123456789', 'aeiouaeiou')) || ' Rossi',
        'client-' || k || '@example.com', '+39 055 ' || k
      from ${rows(HELD.clients, other.clients)} order by k desc, p`,
    `insert into public.products (id, professional_id, created_at, name, sku, price, stock)
      select ${id("product")}, ${owner}, ${age}, 'Product ' || k, 'SKU-' || k, 12.5, 1000000
      from ${rows(HELD.products, other.products)} order by k desc, p`,
    // History: it blocks nothing any more.
    `insert into public.bookings (id, professional_id, client_id, service_id, service_name, created_at,
        starts_at, ends_at, buffer_before, buffer_after, ${notice.column}status, price, currency, cancelled_at, cancelled_by)
      select ${id("booking")}, ${owner}, ${client}, ${service}, 'Service', t - interval '7 days', t,
        t + interval '30 minutes', 0, 0, ${notice.value}s.status, 30, 'EUR',
        case when s.status = 'cancelled' then t end, case when s.status = 'cancelled' then 'client' end
      from ${rows(HELD.bookings, other.bookings)}
      cross join lateral (select ${age} as t) times
      cross join lateral (select case k % 10 when 0 then 'cancelled' when 1 then 'no_show' else 'completed' end as status) s
      order by k desc, p`,
    // The half-full calendar of the measured: every other hour of 62 days; a few days of the others.
    `insert into public.bookings (id, professional_id, client_id, service_id, service_name, starts_at,
        ends_at, buffer_before, buffer_after, ${notice.column}status, price, currency)
      select md5('live ' || p || ' ' || d || ' ' || h)::uuid, ${owner}, ${client}, ${service}, 'Service', t,
        t + interval '1 hour', 0, 0, ${notice.value}'confirmed', 30, 'EUR'
      from generate_series(1, ${MEASURED + OTHERS}) p
      cross join generate_series(1, 62) d
      cross join unnest(array[9, 11, 13, 15]) h
      cross join lateral (select d * 4 + h as k) numbers
      cross join lateral (
        select (current_date + d + make_interval(hours => h)) at time zone 'Europe/Rome' as t
      ) times
      where p <= ${MEASURED} or d * 4 < ${other.bookings / 20}`,
    `insert into public.orders (id, professional_id, client_id, number, created_at, items, subtotal, tax,
        total, currency, status, amount_paid)
      select ${id("order")}, ${owner}, ${client}, k, ${age},
        jsonb_build_array(jsonb_build_object('product_id', ${product}, 'name', 'Product', 'sku', 'SKU',
          'options', '{}'::jsonb, 'unit_price', 12.5, 'quantity', 1, 'total', 12.5)),
        12.5, 2.75, 15.25, 'EUR', 'fulfilled', 15.25
      from ${rows(HELD.orders, other.orders)} order by k desc, p`,
    `insert into private.order_products (professional_id, order_id, product_id, quantity)
      select ${owner}, ${id("order")}, ${product}, 1
      from ${rows(HELD.orders, other.orders)} order by k desc, p`,
    `insert into private.stock_ledger (professional_id, product_id, order_id, delta, reason)
      select ${owner}, ${product}, ${id("order")}, -1, 'ordered'
      from ${rows(HELD.orders, other.orders)} order by k desc, p`,
    `insert into private.payments (professional_id, order_id, kind, amount, method)
      select ${owner}, ${id("order")}, 'payment', 15.25, 'card'
      from ${rows(HELD.orders, other.orders)} order by k desc, p`,
  ];
}

/** Fills a database. `url` connects as the superuser. */
export async function load(url: string, bookings: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`set session_replication_role = replica`;
    await sql`set synchronous_commit = off`;
    const [found] = await sql`
      select exists (
        select from pg_attribute
        where attrelid = 'public.bookings'::regclass and attname = 'cancellation_notice'
      ) as yes`;
    for (const statement of statements(bookings, found?.yes)) await sql.unsafe(statement);
    await sql`vacuum analyze`;
    await sql`update private.settings set value = 'ultra' where name = 'anon_tier'`;
    // All of them call from one network.
    await sql`update private.settings set value = '1000' where name = 'rest_pool_size'`;
    // Few people do here what many do in life.
    await sql`
      update private.settings set value = '1000000' where name ~ '^public_.*_hour$'`;
  } finally {
    await sql.end();
  }
}

/** A table with the rows, columns, constraints and indexes of one of ours, without its triggers. */
export async function copyTable(url: string, name: string): Promise<void> {
  const table = `bench.${name.split(".")[1]}`;
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`create schema if not exists bench`;
    await sql`grant usage on schema bench to service_role`;
    await sql.unsafe(
      `drop table if exists ${table} cascade; create table ${table} (like ${name} including all)`,
    );
    const [columns] = await sql<{ list: string }[]>`
      select string_agg(quote_ident(attname), ', ') as list from pg_attribute
      where attrelid = ${name}::regclass and attnum > 0 and attgenerated = '' and attidentity = ''`;
    await sql.unsafe(
      `insert into ${table} (${columns?.list}) select ${columns?.list} from ${name}`,
    );
    // What `like` leaves out.
    const keys = await sql<{ name: string; definition: string }[]>`
      select conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where conrelid = ${name}::regclass and contype = 'f'`;
    const copies = (
      await sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'bench'::regnamespace and relkind = 'r'`
    ).map((copy) => copy.name);
    for (const { name: key, definition } of keys) {
      const bare = definition.replace(/REFERENCES (?:\w+\.)?(\w+)/, (reference, referenced) =>
        copies.includes(referenced) ? `REFERENCES bench.${referenced}` : reference,
      );
      await sql.unsafe(`alter table ${table} add constraint ${key} ${bare}`);
    }
    await sql.unsafe(`grant select, insert, update on ${table} to service_role`);
    await sql.unsafe(`vacuum analyze ${table}`);
  } finally {
    await sql.end();
  }
}

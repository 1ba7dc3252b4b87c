/** What must be true when everything has settled. Each check returns what is wrong, so nothing is well. */
import type { Sql } from "postgres";
import { request } from "../people.ts";
import type { World } from "./world.ts";

export type Check = (world: World, sql: Sql) => Promise<string[]>;

const ids = (rows: readonly Record<string, unknown>[]): string[] =>
  rows.map((row) => Object.values(row).join(" "));

const booksAddUp: Check = async ({ env, shops }) => {
  const wrong: string[] = [];
  for (const { id, token } of shops) {
    const answer = await request(env, "GET", "/rest/v1/rpc/audit", { token });
    const text = await answer.text();
    if (answer.status !== 200 || text !== "[]") wrong.push(`${id}: ${answer.status} ${text}`);
  }
  return wrong;
};

const nothingOverlaps: Check = async (_, sql) =>
  ids(
    await sql`
    select a.id, b.id as other
    from public.bookings a
    join public.bookings b on b.professional_id = a.professional_id and b.id > a.id
    where a.status in ('pending', 'confirmed') and b.status in ('pending', 'confirmed')
      and tstzrange(
        a.starts_at - make_interval(mins => a.buffer_before),
        a.ends_at + make_interval(mins => a.buffer_after)
      ) && tstzrange(
        b.starts_at - make_interval(mins => b.buffer_before),
        b.ends_at + make_interval(mins => b.buffer_after)
      )`,
  );

/** Events of erased clients are gone on purpose. */
const NOT_ERASED =
  "not exists (select from public.clients c where c.id = t.client_id and c.name = 'Erased')";

/** Each version of a booking or an order is a change, and each change is one event. */
const everyChangeHasItsEvent: Check = async ({ shops }, sql) => {
  const owners = shops.map(({ id }) => id);
  const found: string[] = [];
  for (const [table, object] of [
    ["bookings", "booking"],
    ["orders", "order"],
  ] as const) {
    const rows = await sql.unsafe(
      `with told as (
        select coalesce(body::jsonb -> 'data' -> 'order' ->> 'id', body::jsonb -> 'data' ->> 'id') as id, count(*)
        from private.webhook_events
        where type like '${object}.%' or ('${object}' = 'order' and type like 'payment.%')
        group by 1
      )
      select '${table}', t.id, t.version, told.count
      from public.${table} t left join told on told.id = t.id::text
      where t.professional_id = any($1) and t.client_id is not null and ${NOT_ERASED}
        and t.version is distinct from told.count`,
      [owners],
    );
    found.push(...ids(rows));
  }
  const payments = await sql`
    select 'payment', p.id from private.payments p
    where p.professional_id = any(${owners}) and (
      select count(*) from private.webhook_events v
      where v.professional_id = p.professional_id and v.type like 'payment.%'
        and v.body::jsonb -> 'data' ->> 'id' = p.id::text
    ) <> 1`;
  return [...found, ...ids(payments)];
};

/** The last event of a row shows the row as it is, and of a deleted one that it was deleted. */
const lastEventShowsTheRow: Check = async ({ shops }, sql) => {
  const owners = shops.map(({ id }) => id);
  const found: string[] = [];
  for (const table of ["services", "clients", "products", "bookings", "orders"]) {
    const object = table.slice(0, -1);
    const aside = "'{amount_paid,amount_refunded,payment_status,version,updated_at}'::text[]";
    const rows = await sql.unsafe(
      `with last as (
        select distinct on (i.id) i.id, v.type, d.data
        from private.webhook_events v
        cross join lateral (select v.body::jsonb -> 'data' as data) d
        cross join lateral (select d.data ->> 'id' as id) i
        where v.professional_id = any($1) and v.type like '${object}.%'
        order by i.id, v.sequence desc
      ),
      shown as (
        select t.id::text as id, private.event_data('public.${table}', to_jsonb(t)) as data
        from public.${table} t
        where t.professional_id = any($1) ${
          table === "bookings" || table === "orders"
            ? `and t.client_id is not null and ${NOT_ERASED}`
            : ""
        }
      )
      select '${table}', coalesce(shown.id, last.id), last.type
      from shown full join last on last.id = shown.id
      where case
        when shown.id is null then last.type <> '${object}.deleted' and '${object}' not in ('booking', 'order')
        else (last.data - ${aside}) is distinct from (shown.data - ${aside})
      end`,
      [owners],
    );
    found.push(...ids(rows));
  }
  return found;
};

/** Each event was delivered to each endpoint that wants it, and the receiver has seen it. */
const everyDeliveryArrived: Check = async ({ shops, receiver }, sql) => {
  const missing: string[] = [];
  for (const shop of shops) {
    for (const { path, events } of shop.endpoints) {
      const rows = await sql<{ id: string; type: string; status: string | null }[]>`
        select v.id, v.type, d.status
        from private.webhook_events v
        join private.webhook_endpoints e
          on e.professional_id = v.professional_id and e.url = ${receiver.url(path)}
        left join private.webhook_deliveries d on d.event_id = v.id and d.endpoint_id = e.id
        where v.professional_id = ${shop.id} and v.type <> 'webhook.test'
          and private.webhook_filters(v.type) && ${events}::text[]`;
      if (rows.length === 0) missing.push(`${path}: no event at all`);
      for (const { id, type, status } of rows) {
        const arrived = receiver.received.get(path)?.has(id) ?? false;
        if (!arrived || status !== "succeeded") {
          missing.push(`${path} ${type} ${id}: ${status}, ${arrived ? "" : "not "}arrived`);
        }
      }
    }
  }
  return missing;
};

const nothingToldOfIsLost: Check = async ({ recorder }, sql) => {
  const lost: string[] = [];
  for (const table of ["bookings", "orders"] as const) {
    const told = [...recorder.acknowledged[table]];
    const rows = await sql`
      select told.id from unnest(${told}::uuid[]) as told (id)
      where not exists (select from public.${sql(table)} t where t.id = told.id)`;
    lost.push(...ids(rows).map((id) => `${table} ${id}`));
  }
  const payments = await sql`
    select told.reference from unnest(${[...recorder.payments]}::text[]) as told (reference)
    where not exists (select from private.payments p where p.reference = told.reference)`;
  return [...lost, ...ids(payments).map((reference) => `payment ${reference}`)];
};

const keysHadOneEffect: Check = async ({ recorder }, sql) =>
  ids(
    await sql`
    select key, (
      select count(*) from (
        select notes from public.bookings union all select notes from public.orders
      ) as t where t.notes = told.key
    ) as effects
    from unnest(${[...recorder.keys]}::text[]) as told (key)
    group by key
    having (
      select count(*) from (
        select notes from public.bookings union all select notes from public.orders
      ) as t where t.notes = told.key
    ) <> 1`,
  );

const noFaultWhileAllWasUp: Check = async ({ recorder }) =>
  recorder
    .unexcused()
    .map(
      ({ name, status, text, from, to }) =>
        `${name} ${status} at ${(from / 1000).toFixed(1)} s for ${(to - from).toFixed(0)} ms: ${text}`,
    );

export const CHECKS: readonly [name: string, check: Check][] = [
  ["audit() is empty for every professional", booksAddUp],
  ["no two live bookings overlap, buffers included", nothingOverlaps],
  ["every committed change has its event", everyChangeHasItsEvent],
  ["the last event of every row shows the row", lastEventShowsTheRow],
  ["every event arrived at every endpoint that wants it", everyDeliveryArrived],
  ["no row that a caller was told of is lost", nothingToldOfIsLost],
  ["every idempotency key had one effect", keysHadOneEffect],
  ["no 5xx but while a component was down", noFaultWhileAllWasUp],
];

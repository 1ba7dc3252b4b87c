/** What must be true when everything has settled. Each check returns what is wrong, so nothing is well. */
import { quantile } from "simple-statistics";
import { busyTimesOf } from "../../tests/support/busy.ts";
import { sql } from "../../tests/support/database.ts";
import { readCalendar } from "../../tests/support/feeds.ts";
import { filled } from "./attacker.ts";
import { busyElsewhere } from "./calendars.ts";
import { busyAtGoogle } from "./google.ts";
import { wentOn } from "./people.ts";
import { fares, told, unexcused } from "./recorder.ts";
import { fake } from "./stripe.ts";
import { received, send, shops } from "./world.ts";

/** How much slower the others' slowest answers may become beside the attacker. */
const MOST_TIMES = 3;
/** And the share of them that are refused for want of a place or a lock. */
const MOST_REFUSED = 0.05;

const lines = async (rows: PromiseLike<readonly object[]> | readonly object[]) =>
  (await rows).map((row) => Object.values(row).join(" "));
const owners = () => shops.map(({ id }) => id);

/** Events of erased clients are gone on purpose. */
const NOT_ERASED = `t.client_id is not null
  and not exists (select from public.clients c where c.id = t.client_id and c.name = 'Erased')`;

/** Nobody is told of a hold: what was one has an event for each change since, and at least that it came. */
const WAS_HOLD = `exists (
  select from private.payment_holds h
  where h.professional_id = t.professional_id and t.id in (h.order_id, h.booking_id)
)`;

/** Each version of a booking or an order is a change, each change and each payment is one event. */
const changesWithoutEvent = () =>
  lines(sql`
    with told as (
      select coalesce(body::jsonb #>> '{data,order,id}', body::jsonb #>> '{data,id}') as id, count(*)
      from private.webhook_events where type ~ '^(booking|order|payment)[.]' group by 1
    ),
    rows as (
      select id, professional_id, client_id, version, expires_at from public.bookings
      union all
      select id, professional_id, client_id, version, expires_at from public.orders
    )
    select t.id, t.version, told.count
    from rows t left join told on told.id = t.id::text
    where t.professional_id = any (${owners()}) and ${sql.unsafe(NOT_ERASED)}
      and case
        when ${sql.unsafe(WAS_HOLD)} then t.expires_at is null and told.count is null
        else t.version is distinct from told.count
      end
    union all
    select p.id, 1, count(v.id)
    from private.payments p left join private.webhook_events v
      on v.type like 'payment.%' and v.body::jsonb #>> '{data,id}' = p.id::text
    where p.professional_id = any (${owners()}) group by p.id having count(v.id) <> 1`);

/** The last event of a row shows the row as it is, and of a deleted one that it was deleted. */
async function rowsTheirEventDoesNotShow(): Promise<string[]> {
  const found: object[] = [];
  for (const table of ["services", "clients", "products", "bookings", "orders"]) {
    const object = table.slice(0, -1);
    const isKept = table === "bookings" || table === "orders";
    // What payments and variants do to a row is told by events of their own, and an open page by none.
    const aside =
      "'{amount_paid,amount_refunded,payment_status,checkout_open,in_stock,version,updated_at}'::text[]";
    const query = `
      with last as (
        select distinct on (data ->> 'id') data ->> 'id' as id, type, data
        from private.webhook_events
        cross join lateral (select body::jsonb -> 'data' as data) d
        where professional_id = any ($1) and type like '${object}.%'
        order by data ->> 'id', sequence desc
      ),
      shown as (
        select t.id::text as id, private.event_data('public.${table}', to_jsonb(t)) as data
        from public.${table} t
        where t.professional_id = any ($1) and ${isKept ? `${NOT_ERASED} and t.expires_at is null` : "true"}
          ${table === "clients" ? "and t.id not in (select client_id from private.unheard_clients)" : ""}
      )
      select '${table}', coalesce(shown.id, last.id), last.type
      from shown full join last on last.id = shown.id
      where case
        when shown.id is null then last.type <> '${object}.deleted' and not ${isKept}
        else (last.data - ${aside}) is distinct from (shown.data - ${aside})
      end`;
    found.push(...(await sql.unsafe(query, [owners()])));
  }
  return lines(found);
}

/** Each event was delivered to each endpoint that wants it, and the receiver has seen it. */
async function missingDeliveries(): Promise<string[]> {
  const rows = await sql<{ url: string; id: string; type: string; status: string | null }[]>`
    select e.url, v.id, v.type, d.status
    from private.webhook_endpoints e
    join private.webhook_events v using (professional_id)
    left join private.webhook_deliveries d on d.event_id = v.id and d.endpoint_id = e.id
    where e.url = any (${[...received.keys()]}) and v.type <> 'webhook.test'
      and private.webhook_filters(v.type) && e.events`;
  const idle = [...received.keys()].filter((of) => !rows.some(({ url }) => url === of));
  const lost = rows.filter(
    ({ url, id, status }) => status !== "succeeded" || !received.get(url)?.has(id),
  );
  return [...idle.map((url) => `${url}: no event at all`), ...(await lines(lost))];
}

/** What Stripe has received, given back and lost to disputes of each shop, in cents, is what the ledger says. */
async function booksThatDiffer(): Promise<string[]> {
  const rows = await sql<{ id: string; ours: string }[]>`
    with entries as (
      select professional_id, kind, sum(amount * 100)::integer as sum
      from private.payments where provider = 'stripe' group by 1, 2
    )
    select a.id, format(
      '%s received, %s refunded, %s disputed',
      coalesce(sum(e.sum) filter (where kind = 'payment'), 0),
      coalesce(sum(e.sum) filter (where kind = 'refund'), 0)
        - coalesce(sum(e.sum) filter (where kind = 'refund_reversal'), 0),
      coalesce(sum(e.sum) filter (where kind = 'dispute'), 0)
        - coalesce(sum(e.sum) filter (where kind = 'dispute_reversal'), 0)
    ) as ours
    from private.payment_accounts a left join entries e using (professional_id)
    group by a.id`;
  const ours = new Map(rows.map((row) => [row.id, row.ours]));
  const sales = shops.map(({ account }) => Object.values(fake.books(account)).length);
  const idle = sales.some((count) => count > 0) ? [] : ["nobody has paid anything"];
  return idle.concat(
    shops.flatMap(({ account }) => {
      const sum = { received: 0, refunded: 0, disputed: 0 };
      for (const book of Object.values(fake.books(account))) {
        sum.received += book.received;
        sum.refunded += book.refunded;
        sum.disputed += book.disputed;
      }
      const { received: got, refunded, disputed } = sum;
      const theirs = `${got} received, ${refunded} refunded, ${disputed} disputed`;
      const mine = ours.get(account);
      return mine === theirs ? [] : [`${account}: ${theirs} at Stripe, ${mine} here`];
    }),
  );
}

/** What is in one list only. */
const differences = (place: string, theirs: string[], ours: string[]) => [
  ...theirs.filter((line) => !ours.includes(line)).map((line) => `${place}: ${line} is not ours`),
  ...ours.filter((line) => !theirs.includes(line)).map((line) => `${place}: ${line} is missing`),
];

/** Both feeds and the Google calendar of each shop have every booking once, where it is. */
async function calendarsThatDiffer(): Promise<string[]> {
  const found = shops.map(async ({ id: owner, feeds, google }) => {
    const rows = await sql<{ id: string; start: Date }[]>`
      select id, starts_at as start from public.bookings
      where professional_id = ${owner} and status <> 'cancelled' and expires_at is null`;
    const line = (id: string, start: string) => `${id.replaceAll("-", "")} ${start}`;
    const ours = rows.map(({ id, start }) => line(id, start.toISOString()));
    const entries = [...google.events.values()]
      .filter(({ id, status }) => /^[\da-f]{32}g\d+$/.test(id) && status !== "cancelled")
      .map(({ id, start }) => line(id.slice(0, 32), String(start.dateTime)));
    const wrong = differences(`Google of ${owner}`, entries, ours);
    if (new Set(entries).size < entries.length)
      wrong.push(`Google of ${owner}: one is there twice`);
    for (const path of feeds) {
      const { events } = readCalendar(await (await send(["GET", path])).text());
      const shown = events.map(({ uid, start }) => line(uid, start));
      wrong.push(...differences(`a feed of ${owner}`, shown, ours));
    }
    return ours.length > 0 ? wrong : [...wrong, `${owner} has no booking at all`];
  });
  return (await Promise.all(found)).flat();
}

/** After all faults it is busy where the calendars say, and by no booking of ours. */
async function busyTimesThatDiffer(): Promise<string[]> {
  const connections = await sql<{ id: string; owner: string }[]>`
    select id, professional_id as owner from private.calendar_connections`;
  const found = shops.map(async ({ id, busyCalendar }) => {
    const atGoogle = { id: connections.find(({ owner }) => owner === id)?.id ?? id };
    return [
      ...differences(id, [busyElsewhere()], await busyTimesOf({ id: busyCalendar })),
      ...differences(id, [busyAtGoogle], await busyTimesOf(atGoogle)),
    ];
  });
  return (await Promise.all(found)).flat();
}

/** Nobody here keeps money on purpose. */
const keptMoney = () =>
  lines(sql`
    select o.id, o.amount_paid, o.amount_refunded
    from public.orders o
    join private.payments p on p.professional_id = o.professional_id and p.order_id = o.id
    where o.professional_id = any (${owners()}) and o.status = 'cancelled'
      and p.provider = 'stripe' and o.amount_refunded < p.amount
      and p.kind = 'payment'
      and not exists (
        select from private.provider_refunds r
        where r.payment_id = p.id and r.status in ('failed', 'canceled')
      )`);

const lostRows = () =>
  lines(sql`
    select id::text from unnest(${[...told.rows]}::uuid[]) as told (id)
    where id not in (select id from public.bookings union all select id from public.orders)
    union all
    select reference from unnest(${[...told.payments]}::text[]) as told (reference)
    where reference not in (select reference from private.payments where reference is not null)`);

/** Each part of the API: its 95th percentile in both phases, in milliseconds. */
export function percentiles() {
  const { quiet, attacked } = fares;
  const p95 = (times: number[] = []) => (times.length > 0 ? quantile(times, 0.95) : Number.NaN);
  return Object.keys(quiet.times).map((part) => {
    const [before, during] = [p95(quiet.times[part]), p95(attacked.times[part])];
    const text = `${part}: p95 ${before.toFixed(0)} ms, with the attacker ${during.toFixed(0)} ms`;
    return { isFair: during <= MOST_TIMES * before, text };
  });
}

/** By what must hold. */
export const CHECKS: Record<string, () => Promise<string[]> | string[]> = {
  "audit() is empty for every professional": async () => {
    const answers = shops.map(({ token }) => send(["GET", "/rest/v1/rpc/audit"], token));
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
    return texts.filter((text) => text !== "[]");
  },

  "no key goes on after it was revoked": () => wentOn,

  "no two live bookings overlap, buffers included": () =>
    lines(sql`
      with live as (
        select id, professional_id, tstzrange(
          starts_at - make_interval(mins => buffer_before),
          ends_at + make_interval(mins => buffer_after)
        ) as taken
        from public.bookings where status in ('pending', 'confirmed')
      )
      select a.id, b.id as other
      from live a join live b using (professional_id)
      where b.id > a.id and a.taken && b.taken`),

  "every committed change has its event": changesWithoutEvent,
  "the last event of every row shows the row": rowsTheirEventDoesNotShow,
  "every event arrived at every endpoint that wants it": missingDeliveries,
  "nothing that a caller was told of is lost": lostRows,
  "the ledger has what Stripe has": booksThatDiffer,
  "nothing that was cancelled is still paid": keptMoney,
  "both feeds and Google have every booking": calendarsThatDiffer,
  "it is busy where calendars elsewhere say": busyTimesThatDiffer,

  "every idempotency key had one effect": () =>
    lines(sql`
      select key, count(written.notes)
      from unnest(${[...told.keys]}::text[]) as told (key) left join (
        select notes from public.bookings union all select notes from public.orders
      ) as written on written.notes = told.key
      group by key having count(written.notes) <> 1`),

  "no 5xx but while a component was down": () =>
    unexcused().map(({ from, to, ...call }) =>
      JSON.stringify({ ...call, at: Math.round(from), took: Math.round(to - from) }),
    ),

  [`the others waited at most ${MOST_TIMES} times as long beside the attacker`]: () =>
    percentiles().flatMap(({ isFair, text }) => (isFair ? [] : [text])),

  "nearly nobody was refused because of it": () => {
    const { refused, answered } = fares.attacked;
    return refused <= MOST_REFUSED * answered ? [] : [`${refused} of ${answered}`];
  },

  "it filled no calendar": async () => {
    const [found] = await sql<{ most: number }[]>`
      select least(public_writes_per_network_hour, public_tries_per_network_hour) as most
      from private.settings`;
    return lines(Object.entries(filled).filter(([, count]) => count > (found?.most ?? 0)));
  },
};

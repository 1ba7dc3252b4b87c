/**
 * Lists as a dashboard asks for them: what row-level security costs against a filter written by hand, and
 * whether a list of the same rows gets slower when everybody else has a hundred times more.
 */
import { asProfessional, asSuperuser, type Context, compareBoth } from "./context.ts";
import type { Side } from "./measure.ts";
import { type Row, row } from "./table.ts";

interface List {
  name: string;
  /** What is selected, from where, in which order; `filter` is put in front of the other conditions. */
  query(filter: (table: string) => string): string;
  parameters?: unknown[];
  isLong?: boolean;
}

/** The columns of a table as the REST server selects them: instants go through their representation. */
async function columnsOf(url: string, table: string): Promise<string> {
  return asSuperuser(url, async (sql) => {
    const [found] = await sql<{ list: string }[]>`
      select string_agg(
        case domain_name when 'timestamp_ms' then format('private.timestamp_json(%1$I.%2$I) as %2$I', table_name, column_name)
          else format('%I.%I', table_name, column_name) end, ', ' order by ordinal_position) as list
      from information_schema.columns where table_schema = 'public' and table_name = ${table}`;
    return found?.list ?? "";
  });
}

/** As the REST server builds its answer. */
const answer = (source: string) => `with pgrst_source as (${source})
  select null::bigint as total_result_set, count(_postgrest_t) as page_total,
    coalesce(json_agg(_postgrest_t), '[]')::text as body,
    nullif(current_setting('response.headers', true), '') as response_headers,
    nullif(current_setting('response.status', true), '') as response_status
  from (select * from pgrst_source) _postgrest_t`;

async function lists(url: string, bound: { at: string; id: string }): Promise<List[]> {
  const columns = Object.fromEntries(
    await Promise.all(
      ["services", "bookings", "orders", "clients"].map(
        async (table) => [table, await columnsOf(url, table)] as const,
      ),
    ),
  );
  const newest = (table: string): List => ({
    name: `newest 50 ${table}`,
    query: (filter) =>
      `select ${columns[table]} from public.${table} where ${filter(table)} order by ${table}.created_at desc limit 50`,
  });
  return [
    newest("services"),
    newest("bookings"),
    newest("orders"),
    {
      name: "50 clients with their bookings",
      isLong: true,
      query: (filter) => `select ${columns.clients}, coalesce(embedded.bookings, '[]') as bookings
        from public.clients
        left join lateral (
          select json_agg(b) as bookings from (
            select ${columns.bookings} from public.bookings
            where ${filter("bookings")} and bookings.professional_id = clients.professional_id
              and bookings.client_id = clients.id
          ) b
        ) embedded on true
        where ${filter("clients")} order by clients.created_at desc limit 50`,
    },
    {
      name: "clients by a part of their name",
      query: (filter) =>
        `select ${columns.clients} from public.clients
         where ${filter("clients")} and name ilike '%eba%' order by clients.name limit 50`,
    },
    {
      name: "page of 1000 bookings after a key",
      query: (filter) =>
        `select ${columns.bookings} from public.bookings
         where ${filter("bookings")} and created_at <= $1
           and (created_at < $1 or (created_at = $1 and id > $2))
         order by bookings.created_at desc, bookings.id limit 1000`,
      parameters: [bound.at, bound.id],
      isLong: true,
    },
  ];
}

export async function measureLists(context: Context): Promise<Row[]> {
  const { small, middle, large, professionals } = context;
  // The page after the newest booking: the other 999 and what is live.
  const [bound] = await asSuperuser(
    middle.url,
    (sql) =>
      sql`select created_at::text as at, id from public.bookings
      where professional_id = ${professionals[0] ?? ""} order by created_at desc, id limit 1`,
  );
  const rows: Row[] = [];
  for (const list of await lists(middle.url, bound as never)) {
    const parameters = list.parameters ?? [];
    const own = (url: string): Side => ({
      url,
      request: (worker, index) => ({
        ...asProfessional(professionals[(worker + index) % professionals.length]),
        method: "GET",
        statements: [[answer(list.query(() => "true")), ...parameters]],
      }),
    });
    const byHand: Side = {
      url: middle.url,
      request: (worker, index) => ({
        role: "service_role",
        method: "GET",
        statements: [
          [
            answer(list.query((table) => `${table}.professional_id = $${parameters.length + 1}`)),
            ...parameters,
            professionals[(worker + index) % professionals.length],
          ],
        ],
      }),
    };
    // Hundreds of rows take their time to be written as JSON.
    const scale = list.isLong
      ? { rounds: 5, requests: 16, isLong: true }
      : { requests: 60, isLong: true };
    rows.push(
      row(
        "Lists",
        list.name,
        "filter by hand, no RLS",
        "p50",
        await compareBoth(context, own(middle.url), byHand, scale),
        [{ of: "ratio", atMost: 1.15 }],
      ),
      row(
        "Lists",
        `${list.name}, ${large.bookings} bookings`,
        `${small.bookings} bookings`,
        "p50",
        await compareBoth(context, own(large.url), own(small.url), scale),
        [{ of: "ratio", atMost: 1.2 }],
      ),
    );
  }
  return rows;
}

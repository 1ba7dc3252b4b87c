/**
 * Lists as a dashboard asks for them: what row-level security costs against a filter written by hand, and
 * whether a list of the same rows gets slower when everybody else has a hundred times more.
 */
import type { Sql } from "postgres";
import { withDatabase } from "../local/postgres.ts";
import { dateIn } from "../tests/support/calendar.ts";
import { type Databases, growth, id, type Level, professional } from "./databases.ts";
import type { Row, Side } from "./measure.ts";

interface List {
  name: string;
  /** `filter` names whose rows of a table are wanted: in front of the other conditions. */
  query(filter: (table: string) => string): string;
  parameters?: unknown[];
  /** Fewer where hundreds of rows take their time to be written as JSON. */
  requests?: number;
}

const newest = (table: string): List => ({
  name: `newest 50 ${table}`,
  query: (filter) =>
    `select * from public.${table} where ${filter(table)} order by created_at desc limit 50`,
});

const LISTS: List[] = [
  newest("services"),
  newest("bookings"),
  newest("orders"),
  {
    name: "50 clients with their bookings",
    requests: 16,
    query: (filter) => `
      select clients.*, (
        select coalesce(json_agg(bookings), '[]') from public.bookings
        where ${filter("bookings")} and bookings.professional_id = clients.professional_id
          and bookings.client_id = clients.id
      ) as bookings
      from public.clients where ${filter("clients")} order by created_at desc limit 50`,
  },
  {
    name: "clients by a part of their name",
    query: (filter) => `
      select * from public.clients
      where ${filter("clients")} and name ilike '%eba%' order by name limit 50`,
  },
  {
    name: "page of 1000 bookings after a key",
    requests: 16,
    query: (filter) => `
      select * from public.bookings
      where ${filter("bookings")} and created_at <= $1
        and (created_at < $1 or (created_at = $1 and id > $2))
      order by created_at desc, id limit 1000`,
    // The page after what is live.
    parameters: [new Date().toISOString(), id("nothing")],
  },
];

/** As the REST server builds its answer. */
const asJson = (source: string) => `select json_agg(row)::text from (${source}) row`;

export async function lists(databases: Databases): Promise<Row[]> {
  return LISTS.flatMap(({ name, query, parameters = [], requests = 60 }) => {
    const own = ({ url }: Level): Side => ({
      url,
      request: ({ p }) => ({
        ...professional(p),
        statements: [[asJson(query(() => "true")), ...parameters]],
      }),
    });
    const byHand = asJson(query((table) => `${table}.professional_id = $${parameters.length + 1}`));
    const filtered: Side = {
      url: databases.middle.url,
      request: ({ p }) => ({
        role: "service_role",
        statements: [[byHand, ...parameters, id("professional", p)]],
      }),
    };
    const withFilter: Row = {
      name,
      measured: own(databases.middle),
      dividedBy: "filter by hand, no RLS",
      by: filtered,
      goals: ["≤ 1.15×"],
    };
    const rows = [withFilter, growth(databases, name, own)];
    return rows.map((row) => ({ ...row, requests, isOneOfMany: true }));
  });
}

const SLOTS = "select public.available_slots($1::uuid, $2, $3) as body";

const BUSY_A_DAY = 6;

/**
 * Three calendars of everybody who is measured, for 400 days, at night: what they block is looked up and
 * taken off, and as many starts are left to be shown as without them.
 */
async function makeBusy(sql: Sql): Promise<void> {
  await sql`
    select private.replace_busy_times(
      md5('professional ' || p)::uuid,
      md5('calendar ' || p || ' ' || n % 3)::uuid,
      jsonb_agg(
        jsonb_build_object('start', t.starts_at, 'end', t.starts_at + interval '10 minutes')
      )
    )
    from generate_series(1, 16) as p
    cross join generate_series(0, ${BUSY_A_DAY - 1}::integer) as n
    cross join generate_series(0, 399) as d
    cross join lateral (
      select date_trunc('day', now()) + make_interval(days => d, mins => 20 * n)
    ) as t (starts_at)
    group by p, n % 3`;
  await sql`vacuum analyze private.busy_times`;
}

/** A month from tomorrow, on the half-full calendar that every measured professional has. */
export async function slots(databases: Databases): Promise<Row[]> {
  const side = ({ url }: Level): Side => ({
    url,
    request: ({ p }) => ({
      role: "anon",
      statements: [[SLOTS, id("service", p, 1), dateIn(1), dateIn(31)]],
    }),
  });
  const row = growth(databases, "free slots of 31 days", side);
  const { bare, middle } = databases;
  await withDatabase(bare.url, makeBusy);
  const busy: Row = {
    name: `free slots of 31 days, ${BUSY_A_DAY} busy times a day`,
    measured: side(bare),
    dividedBy: "without",
    by: side(middle),
  };
  return [
    { ...row, goals: ["≤ 5 ms", "≤ 1.2×"], requests: 30 },
    { ...busy, goals: ["≤ 1.2×"], requests: 30 },
  ];
}

import type { AnyAST, IntrospectResult } from "@supabase/lite";
import { sql } from "kysely";
import { currentRequest } from "./context.ts";
import type { Queries } from "./rest-transaction.ts";

type Values = Record<string, unknown>;

const isJson = (type: string) => /^jsonb?$/.test(type);
const isArray = (type: string) => type.startsWith("_") || type.endsWith("[]");

/** Functions that read a value of a domain from JSON, by the domain's name. */
export type DomainCasts = ReadonlyMap<string, string>;

/**
 * Bend: casts of domains.
 * Where a domain has an implicit cast from json, the platform reads each value of a body with it. Postgres
 * itself ignores such a cast, and so does upstream. Filters are read without it on both.
 */
export async function readDomainCasts(db: Queries): Promise<DomainCasts> {
  const { rows } = await sql<{ domain: string; function: string }>`
    select t.typname as domain, c.castfunc::regproc::text as function
    from pg_cast c
    join pg_type t on t.oid = c.casttarget
    where c.castsource = 'json'::regtype and c.castcontext = 'i' and t.typtype = 'd'
      and has_function_privilege('authenticator', c.castfunc, 'execute')`.execute(db);
  return new Map(rows.map((row) => [row.domain, row.function]));
}

/**
 * Bend: values of payloads.
 * Upstream hands most values to a driver that guesses their types: an object in a text column is stored as
 * "[object Object]", a string in a jsonb column is read as JSON or refused. The platform lets the database
 * read each value of the JSON body. So here each becomes what the database reads.
 */
export function withReadableValues(
  call: AnyAST,
  catalogue: IntrospectResult,
  casts: DomainCasts,
): AnyAST {
  if (call.type === "rpc") return withReadableArguments(call, catalogue);
  if (!call.values || !call.from) return call;
  const schema = call.schema ?? "public";
  const columns = catalogue.columns.filter((c) => c.table === call.from && c.schema === schema);
  const write = (value: unknown, name: string) => {
    if (value === undefined || value === null) return value;
    const { type = "", pg_type = type } = columns.find((column) => column.name === name) ?? {};
    const cast = casts.get(pg_type);
    if (cast !== undefined) return sql`${sql.raw(cast)}(${JSON.stringify(value)}::json)`;
    const text = readable(value, isArray(pg_type) ? pg_type : type);
    return isJson(type) ? JSON.stringify(text) : text; // upstream parses it once
  };
  const values = withAllColumns(call);
  return { ...call, values: eachRow(values, (row) => mapValues(row, write)) };
}

/**
 * Bend: columns that a row leaves out.
 * With `columns=…` upstream inserts their defaults and answers null. The platform inserts null, or with
 * `Prefer: missing=default` the default, and answers what it inserted.
 */
function withAllColumns({ values, $meta }: AnyAST): unknown {
  const columns = $meta?.columns;
  if (!columns) return values;
  // Undefined makes the default for upstream, and counts as sent when it answers.
  const missing = currentRequest().headers.prefer?.includes("missing=default") ? undefined : null;
  const blank = Object.fromEntries(columns.map((name: string) => [name, missing]));
  return eachRow(values, (row) => ({ ...blank, ...row }));
}

function withReadableArguments(call: AnyAST, { functions = [] }: IntrospectResult): AnyAST {
  const { args } = call;
  if (call.httpMethod !== "POST" || !args || Array.isArray(args)) return call;
  const called = functions.filter((f) => f.name === call.function);
  const typeOf = (name: string) =>
    called.map((f) => f.arg_types[f.arg_names.indexOf(name)]).find((type) => type) ?? "json";
  return {
    ...call,
    args: mapValues(args as Values, (value, name) => readable(value, typeOf(name))),
  };
}

function readable(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (isJson(type)) return JSON.stringify(value);
  if (isArray(type) && Array.isArray(value)) return value;
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "boolean" && type !== "boolean" ? String(value) : value;
}

const eachRow = (rows: unknown, change: (row: Values) => Values) =>
  Array.isArray(rows) ? rows.map(change) : change(rows as Values);

function mapValues(values: Values, change: (value: unknown, name: string) => unknown): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, change(value, name)]),
  );
}

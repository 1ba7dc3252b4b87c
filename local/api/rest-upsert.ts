import type { AnyAST } from "@supabase/lite";
import { sql } from "kysely";
import type { RequestContext } from "./context.ts";
import type { Queries } from "./rest-transaction.ts";

/** The table and columns of an upsert that updates rows in its way. */
export interface Upsert {
  table: string;
  columns: string[];
}

export function upsertOf(call: AnyAST): Upsert | null {
  const merges = call.type === "put" || (call.type === "upsert" && !call.ignoreDuplicates);
  if (!merges || !call.from || !call.values) return null;
  const [first = {}] = Array.isArray(call.values) ? call.values : [call.values];
  const quoted = [call.schema ?? "public", call.from].map((n) => `"${n.replaceAll('"', '""')}"`);
  return { table: quoted.join("."), columns: call.$meta?.columns ?? Object.keys(first) };
}

/**
 * Bend: privileges of an upsert.
 * Upstream updates the columns that are not in the key. The platform's UPDATE names every column of the
 * payload, so it needs the privilege on each, also when the row is new.
 */
export async function requireUpdate(transaction: Queries, upsert: Upsert): Promise<void> {
  const { rows } = await sql<{ denied: boolean }>`
    select bool_or(not has_column_privilege(to_regclass(${upsert.table}), attname, 'UPDATE')) as denied
    from pg_attribute
    where attrelid = to_regclass(${upsert.table}) and attname = any (${upsert.columns})`.execute(
    transaction,
  );
  if (!rows[0]?.denied) return;
  const name = upsert.table.split('"').at(-2);
  throw Object.assign(new Error(`permission denied for table ${name}`), { code: "42501" });
}

/**
 * Bend: status of an upsert.
 * Upstream looks for rows with the payload's conflict columns first, and says 201 when one of these is
 * generated. The platform says 201 when a row was inserted, else 200; the session's counters know.
 */
export async function insertedRows(transaction: Queries, upsert: Upsert): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select pg_stat_get_xact_tuples_inserted(to_regclass(${upsert.table})) as count`.execute(
    transaction,
  );
  return rows[0]?.count ?? 0;
}

export async function runUpsert(
  transaction: Queries,
  { upsert }: RequestContext,
  run: () => Promise<Response>,
): Promise<Response> {
  if (!upsert) return run();
  await requireUpdate(transaction, upsert);
  const before = await insertedRows(transaction, upsert);
  const answer = await run();
  if (answer.status !== 201 || (await insertedRows(transaction, upsert)) > before) return answer;
  return new Response(answer.body, { status: 200, headers: answer.headers });
}

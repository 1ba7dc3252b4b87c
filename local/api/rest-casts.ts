import { type RawBuilder, sql } from "kysely";
import type { Queries } from "./rest-transaction.ts";

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

export function castFromJson(cast: string, value: unknown): RawBuilder<unknown> {
  return sql`${sql.raw(cast)}(${JSON.stringify(value)}::json)`;
}

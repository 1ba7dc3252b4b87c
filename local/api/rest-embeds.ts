import type { AnyAST, IntrospectResult } from "@supabase/lite";
import { isoInstant } from "./database.ts";

type Select = NonNullable<AnyAST["select"]>;
type Row = Record<string, unknown>;

/**
 * Bend: timestamps of embedded rows.
 * The database writes embedded rows as JSON, where our timestamps look like `…+00:00`; upstream passes them
 * on. The platform renders them as it does at the top level.
 */
export function withEmbeddedInstants(row: Row, select: Select, instants: Instants): Row {
  const mapped = { ...row };
  for (const [alias, entry] of aliased(select)) {
    if (!("select" in entry) || !(alias in row)) continue;
    const map = (item: unknown) => withInstants(item, entry.select ?? [], instants);
    mapped[alias] = Array.isArray(row[alias]) ? row[alias].map(map) : map(row[alias]);
  }
  return mapped;
}

/** Names of columns that hold instants, in any table. */
export type Instants = ReadonlySet<string>;

export function instantsOf({ columns }: IntrospectResult): Instants {
  const instants = columns.filter(({ type }) => type === "timestamp with time zone");
  return new Set(instants.map(({ name }) => name));
}

function withInstants(item: unknown, select: Select, instants: Instants): unknown {
  if (typeof item !== "object" || item === null) return item;
  const row: Row = { ...item };
  const renamed = new Map(
    aliased(select).map(([alias, entry]) => [alias, "column" in entry ? entry.column : alias]),
  );
  for (const [key, value] of Object.entries(row)) {
    const column = renamed.get(key) ?? key;
    if (typeof value === "string" && instants.has(column)) row[key] = isoInstant(value);
  }
  return withEmbeddedInstants(row, select, instants);
}

function aliased(select: Select) {
  return select.flatMap((entry) => (typeof entry === "string" ? [] : Object.entries(entry)));
}

import type { AnyAST } from "@supabase/lite";
import { isoInstant } from "./database.ts";

type Row = Record<string, unknown>;

/**
 * Bend: timestamps of embedded rows.
 * The database writes embedded rows as JSON, where our timestamps look like `…+00:00`; upstream passes them
 * on. The platform renders them as it does at the top level. `instants`: the names of such columns.
 */
export function withEmbeddedInstants(
  row: Row,
  select: NonNullable<AnyAST["select"]>,
  instants: ReadonlySet<string>,
): Row {
  const embedded = new Set(
    select
      .flatMap((entry) => (typeof entry === "string" ? [] : Object.entries(entry)))
      .flatMap(([name, entry]) => ("select" in entry ? [name] : [])),
  );
  const show = (name: string, value: unknown) =>
    typeof value === "string" && instants.has(name) ? isoInstant(value) : value;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      embedded.has(name) ? JSON.parse(JSON.stringify(value), show) : value,
    ]),
  );
}

import type { AnyAST, IntrospectResult } from "@supabase/lite";
import { isoInstant } from "./database.ts";

type Select = NonNullable<AnyAST["select"]>;
type Row = Record<string, unknown>;
type IsInstant = (column: string) => boolean;

/**
 * Bend: timestamps of embedded rows.
 * The database writes embedded rows as JSON, where our timestamps look like `…+00:00`; upstream passes them
 * on. The platform renders them as it does at the top level.
 */
export function withEmbeddedInstants(row: Row, call: AnyAST, catalogue: IntrospectResult): Row {
  if (!call.select?.some((entry) => typeof entry === "object")) return row;
  const instants = instantsOf(catalogue);
  return mapEmbeds(row, call.select, (column) => instants.has(column));
}

const known = new WeakMap<IntrospectResult, Set<string>>();

/** Names of columns that hold instants, in any table. */
function instantsOf(catalogue: IntrospectResult): Set<string> {
  const names =
    known.get(catalogue) ??
    new Set(
      catalogue.columns
        .filter(({ type }) => type === "timestamp with time zone")
        .map(({ name }) => name),
    );
  known.set(catalogue, names);
  return names;
}

function mapEmbeds(row: Row, select: Select, isInstant: IsInstant): Row {
  const mapped = { ...row };
  for (const [alias, definition] of definitions(select)) {
    if (!("select" in definition) || !(alias in mapped)) continue;
    const value = mapped[alias];
    const map = (item: unknown) => mapEmbedded(item, definition.select ?? [], isInstant);
    mapped[alias] = Array.isArray(value) ? value.map(map) : map(value);
  }
  return mapped;
}

function mapEmbedded(item: unknown, select: Select, isInstant: IsInstant): unknown {
  if (typeof item !== "object" || item === null) return item;
  const columns = new Map(
    definitions(select).map(([alias, definition]) => [
      alias,
      "column" in definition ? (definition.column ?? alias) : alias,
    ]),
  );
  const row = Object.entries(item).map(([key, value]) =>
    typeof value === "string" && isInstant(columns.get(key) ?? key)
      ? [key, isoInstant(value)]
      : [key, value],
  );
  return mapEmbeds(Object.fromEntries(row), select, isInstant);
}

function definitions(select: Select) {
  return select.flatMap((entry) => (typeof entry === "string" ? [] : Object.entries(entry)));
}

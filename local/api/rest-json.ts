import type { AnyAST, IntrospectResult } from "@supabase/lite";

type Values = Record<string, unknown>;

const isJson = (type: string | undefined) => /^jsonb?$/.test(type ?? "");

/**
 * Bend: JSON in payloads.
 * Upstream turns some values for json and jsonb into text and some not, reads text of columns as JSON, and
 * leaves strings and booleans to a driver that knows better. The platform stores what the caller sent. So
 * the driver takes text for JSON (see `jsonTypes`), and here everything else becomes text in time.
 */
export function withJsonText(call: AnyAST, catalogue: IntrospectResult): AnyAST {
  if (call.type === "rpc") return withJsonArguments(call, catalogue);
  if (!call.values || !call.from) return call;
  const columns = catalogue.columns
    .filter(({ table, schema }) => table === call.from && schema === (call.schema ?? "public"))
    .filter(({ pg_type, type }) => isJson(pg_type ?? type))
    .map(({ name }) => name);
  if (columns.length === 0) return call;
  // Twice: upstream parses text for such a column once.
  const write = (row: object) =>
    mapValues(row as Values, (value, name) =>
      value === null || !columns.includes(name) ? value : JSON.stringify(JSON.stringify(value)),
    );
  return {
    ...call,
    values: Array.isArray(call.values) ? call.values.map(write) : write(call.values),
  };
}

/** Upstream writes arguments as text itself, except strings. */
function withJsonArguments(call: AnyAST, { functions = [] }: IntrospectResult): AnyAST {
  const { args } = call;
  if (call.httpMethod !== "POST" || !args || Array.isArray(args)) return call;
  const called = functions.filter((f) => f.name === call.function);
  const takesJson = (name: string) =>
    called.some((f) => isJson(f.arg_types[f.arg_names.indexOf(name)]));
  const write = (value: unknown, name: string) =>
    typeof value === "string" && takesJson(name) ? JSON.stringify(value) : value;
  return { ...call, args: mapValues(args as Values, write) };
}

function mapValues(values: Values, change: (value: unknown, name: string) => unknown): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, change(value, name)]),
  );
}

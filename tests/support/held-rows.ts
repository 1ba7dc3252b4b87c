/** Holds the JSON columns of rows that the tables answer with to reference/shapes/columns.ts. */
import { COLUMNS } from "../../reference/shapes/columns.ts";

const TABLE = /^\/rest\/v1\/(\w+)$/;

/** What is in a column under its own name and is not of its shape; nothing is good. */
export function rowProblems(url: URL, body: string): string[] {
  const [, table] = TABLE.exec(url.pathname) ?? [];
  // Another name, a cast, a part of the JSON: no column as it is.
  if (table === undefined || /:|->/.test(url.searchParams.get("select") ?? "")) return [];
  const answer: unknown = body === "" ? [] : JSON.parse(body);
  const rows = Array.isArray(answer) ? answer : [answer];
  return rows.flatMap((row: Record<string, unknown>) =>
    Object.entries(row).flatMap(([column, value]) => {
      const shape = value === null ? undefined : COLUMNS[`${table}.${column}`];
      const { error } = shape?.safeParse(value) ?? {};
      return error ? [`${table}.${column}: ${error.message}`] : [];
    }),
  );
}

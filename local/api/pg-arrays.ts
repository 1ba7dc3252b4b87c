import type postgres from "postgres";

/** An array as Postgres reads it. */
export function arrayText(items: readonly unknown[], ofJson = false): string {
  return `{${items.map((item) => itemText(item, ofJson)).join(",")}}`;
}

function itemText(item: unknown, ofJson: boolean): string {
  if (item === null) return "NULL";
  if (Array.isArray(item) && !ofJson) return arrayText(item);
  const text = ofJson || typeof item === "object" ? JSON.stringify(item) : String(item);
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

function readArray(text: string, read: (item: string) => unknown): unknown {
  const open: unknown[][] = [[]];
  for (const [token] of text.matchAll(/[{}]|"(?:[^"\\]|\\.)*"|[^{},"]+/gs)) {
    if (token === "{") open.push([]);
    else if (token === "}") open.at(-2)?.push(open.pop());
    else if (token === "NULL") open.at(-1)?.push(null);
    else open.at(-1)?.push(read(token.replace(/^"(.*)"$/s, "$1").replaceAll(/\\(.)/gs, "$1")));
  }
  return open[0]?.at(-1);
}

/**
 * Bend: NULL in arrays.
 * The driver reads a NULL item as the text "NULL".
 */
export function arrayType(oid: number, read: (item: string) => unknown): postgres.PostgresType {
  return {
    to: oid,
    from: [oid],
    serialize: (value: unknown) => (Array.isArray(value) ? arrayText(value) : String(value)),
    parse: (text: string) => readArray(text, read),
  };
}

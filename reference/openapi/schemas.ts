/** Zod shapes and columns as the JSON Schemas of an OpenAPI document. */
import { z } from "zod";
import type { Column, Table } from "../model.ts";
import { typeName } from "../print.ts";
import { COLUMNS, WRITTEN_COLUMNS } from "../shapes/columns.ts";

export type JsonSchema = { [key: string]: unknown };

/** By their paths, such as `rpc/create_booking/answer`. */
export interface Shapes {
  /** What is sent: what is not in it is refused. */
  inputs: Map<string, z.ZodType>;
  /** What is answered: fields may be added to it. */
  outputs: Map<string, z.ZodType>;
}

const PREFIX = "#/$defs/";
const reference = (name: string) => `#/components/schemas/${name}`;

/** As OpenAPI has it: names in components, and nothing that says the same twice. */
function tidy(value: unknown, isOpen: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => tidy(item, isOpen));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value as JsonSchema).flatMap(([key, item]) => {
    const { type, format } = value as JsonSchema;
    if (key === "$ref" && typeof item === "string" && item.startsWith(PREFIX)) {
      return [[key, reference(typeName(item.slice(PREFIX.length)))]];
    }
    if (isOpen && key === "additionalProperties" && item === false) return [];
    if (type === "integer" && Math.abs(Number(item)) === Number.MAX_SAFE_INTEGER) return [];
    if (key === "pattern" && (format === "uuid" || format === "date-time" || format === "date")) {
      return [];
    }
    // Names are always texts; which ones they may be is worth saying.
    if (key === "propertyNames" && !(item as JsonSchema).enum) return [];
    return [[key, tidy(item, isOpen)]];
  });
  return orNullInOne(Object.fromEntries(entries));
}

/** `type: ["string", "null"]` for a choice between the two. */
function orNullInOne(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const [some, none, ...more] = (anyOf ?? []) as JsonSchema[];
  const isSimple = typeof some?.type === "string" && !some.enum && some.type !== "object";
  if (!isSimple || none?.type !== "null" || more.length > 0) return schema;
  return { ...some, ...rest, type: [some.type, "null"] };
}

function convert(shapes: Map<string, z.ZodType>, io: "input" | "output") {
  const { properties = {}, $defs = {} } = z.toJSONSchema(z.object(Object.fromEntries(shapes)), {
    io,
    // What a transform makes of a query is nobody's business outside.
    unrepresentable: "any",
  });
  const isOpen = io === "output";
  const named = Object.entries($defs).map(([name, { id: _, ...schema }]) => [
    typeName(name),
    tidy(schema, isOpen) as JsonSchema,
  ]);
  const single = Object.entries(properties).map(([name, schema]) => [name, tidy(schema, isOpen)]);
  return {
    named: Object.fromEntries(named) as Record<string, JsonSchema>,
    single: Object.fromEntries(single) as Record<string, JsonSchema>,
  };
}

export type Schemas = ReturnType<typeof schemasOf>;

/** Schemas of all of them, and those with names, which the others refer to. */
export function schemasOf({ inputs, outputs }: Shapes) {
  const sent = convert(inputs, "input");
  const answered = convert(outputs, "output");
  const components = { ...sent.named, ...answered.named };
  return {
    components,
    /** The name of a list of values, where there is one. */
    listOf: (values: string[]) => {
      const names = Object.keys(components).filter(
        (name) => String(components[name]?.enum) === String(values),
      );
      return names.length === 1 ? { $ref: reference(names[0] as string) } : undefined;
    },
    input: (path: string) => found(sent.single, path),
    output: (path: string) => found(answered.single, path),
  };
}

function found(schemas: Record<string, JsonSchema>, path: string): JsonSchema {
  const schema = schemas[path];
  if (!schema) throw new Error(`${path} has no schema.`);
  return schema;
}

const SCALARS: Record<string, JsonSchema> = {
  bigint: { type: "integer" },
  boolean: { type: "boolean" },
  date: { type: "string", format: "date" },
  integer: { type: "integer" },
  jsonb: {},
  numeric: { type: "number" },
  smallint: { type: "integer" },
  text: { type: "string" },
  "timestamp with time zone": { type: "string", format: "date-time" },
  uuid: { type: "string", format: "uuid" },
};

export function scalarSchema(type: string): JsonSchema {
  const isArray = type.endsWith("[]");
  const schema = SCALARS[isArray ? type.slice(0, -2) : type];
  if (!schema) throw new Error(`${type} needs a schema.`);
  return isArray ? { type: "array", items: schema } : schema;
}

/** Of JSON columns, for `Shapes`. */
export const columnPath = (table: Table, column: Column) => `columns/${table.name}.${column.name}`;

export function addColumns({ inputs, outputs }: Shapes): void {
  for (const [name, shape] of Object.entries(COLUMNS)) {
    outputs.set(`columns/${name}`, shape);
    inputs.set(`columns/${name}`, WRITTEN_COLUMNS[name] ?? shape);
  }
}

/** `null` beside what a schema allows. */
export const orNull = (schema: JsonSchema): JsonSchema =>
  Object.keys(schema).length === 0 ? schema : orNullInOne({ anyOf: [schema, { type: "null" }] });

/** A column's schema, with what its comment says. */
export function columnSchema(
  table: Table,
  column: Column,
  shape: Schemas["input"],
  listOf: Schemas["listOf"],
): JsonSchema {
  const isJson = `${table.name}.${column.name}` in COLUMNS;
  let schema = isJson ? shape(columnPath(table, column)) : scalarSchema(column.baseType);
  if (column.values) {
    const values = listOf(column.values) ?? { type: "string", enum: column.values };
    schema = column.type.endsWith("[]") ? { type: "array", items: values } : values;
  }
  if (column.nullable) schema = orNull(schema);
  return column.comment ? { ...schema, description: column.comment } : schema;
}

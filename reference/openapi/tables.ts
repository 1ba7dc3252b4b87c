/** The plain operations of the six tables. What a client library adds to them is PostgREST's. */

import type { Model, Role, Table } from "../model.ts";
import { rowName } from "../types.ts";
import { errorResponses } from "./errors.ts";
import { ROLE_NAMES } from "./roles.ts";
import { columnSchema, type JsonSchema, type Schemas } from "./schemas.ts";

const USERS: Role[] = ["anon", "authenticated", "portal_client", "portal_booking"];

const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });

/** What lists take, and what writes do. */
export const TABLE_PARAMETERS = {
  select: {
    name: "select",
    in: "query",
    schema: { type: "string" },
    description:
      "Columns, separated by commas; related rows as `clients(name)`. The public, clients and links have to name them.",
    example: "id,starts_at,clients(name)",
  },
  order: {
    name: "order",
    in: "query",
    schema: { type: "string" },
    example: "starts_at.asc,id.asc",
  },
  limit: { name: "limit", in: "query", schema: { type: "integer", minimum: 0, maximum: 1000 } },
  offset: { name: "offset", in: "query", schema: { type: "integer", minimum: 0 } },
  or: {
    name: "or",
    in: "query",
    schema: { type: "string" },
    description: "Filters of which one has to hold.",
    example: "(status.eq.pending,status.eq.confirmed)",
  },
  readPrefer: {
    name: "Prefer",
    in: "header",
    schema: { type: "string" },
    description: "`count=exact` answers with `Content-Range: 0-9/57`.",
    example: "count=exact",
  },
  writePrefer: {
    name: "Prefer",
    in: "header",
    schema: { type: "string" },
    description:
      "`return=representation` answers with the rows; `missing=default` gives the columns that some rows of a list leave out their defaults.",
    example: "return=representation",
  },
};

const readable = (table: Table) =>
  table.columns.filter((column) => table.grants.authenticated.select.includes(column.name));

/** A filter for each column that can be read. */
export function filterParameters(table: Table) {
  const filters = readable(table).map((column) => [
    `${table.name}.${column.name}`,
    {
      name: column.name,
      in: "query",
      schema: { type: "string" },
      description: `A filter: \`${column.type.endsWith("[]") ? "cs.{a}" : "eq.value"}\` and others of PostgREST.`,
    },
  ]);
  return Object.fromEntries(filters);
}

const rows = (name: string) => ({ type: "array", items: { $ref: `#/components/schemas/${name}` } });
const json = (schema: JsonSchema) => ({ "application/json": { schema } });

/** Row, Insert and Update of a table, of what its professional may see and write. */
export function tableSchemas(
  table: Table,
  { input, output, listOf }: Schemas,
): Record<string, JsonSchema> {
  const { select, insert, update } = table.grants.authenticated;
  const object = (names: string[], shape: Schemas["input"]) => ({
    type: "object",
    properties: Object.fromEntries(
      table.columns
        .filter((column) => names.includes(column.name))
        .map((column) => [column.name, columnSchema(table, column, shape, listOf)]),
    ),
  });
  const written = (names: string[]) => ({
    ...object(names, input),
    additionalProperties: false,
  });
  const required = table.columns
    .filter(({ name, nullable, default: value }) => insert.includes(name) && !nullable && !value)
    .map(({ name }) => name);
  const name = rowName(table.name);
  return {
    [name]: {
      ...object(select, output),
      ...(table.comment && { description: table.comment }),
    },
    ...(insert.length > 0 && { [`${name}Insert`]: { ...written(insert), required } }),
    ...(update.length > 0 && { [`${name}Update`]: written(update) }),
  };
}

function who(table: Table, command: "select" | "insert" | "update" | "delete"): string {
  const columns = table.grants.authenticated;
  const words = USERS.flatMap((role) => {
    const granted = table.grants[role][command];
    if (granted === false || (Array.isArray(granted) && granted.length === 0)) return [];
    const isPart =
      command === "select" && Array.isArray(granted) && granted.length < columns.select.length;
    const isFew = command === "update" && role === "portal_client";
    return isPart || isFew
      ? [`${ROLE_NAMES[role]} (${(granted as string[]).map((name) => `\`${name}\``).join(", ")})`]
      : [ROLE_NAMES[role]];
  });
  return `For ${words.join("; ")}.`;
}

export function tablePath(table: Table, model: Model): Record<string, unknown> {
  const { insert, update, delete: mayDelete } = table.grants.authenticated;
  const name = rowName(table.name);
  const filters = readable(table).map(({ name }) => parameter(`${table.name}.${name}`));
  const has = (kind: string) =>
    model.constraints.some((one) => one.table === table.name && one.kind === kind);
  const refusals = [
    "42501",
    "23514",
    "23502",
    ...(has("unique") ? ["23505"] : []),
    ...(has("foreign key") ? ["23503"] : []),
  ] as Parameters<typeof errorResponses>[0];
  const written = {
    "204": { description: "Done; without `return=representation` there is no body." },
    "200": { description: "The rows, where they were asked for.", content: json(rows(name)) },
    ...errorResponses(refusals),
  };
  const common = { tags: [table.name] };
  return {
    get: {
      ...common,
      operationId: `list_${table.name}`,
      summary: `Read ${table.name}`,
      description: `${who(table, "select")} Rows of others are not there.`,
      parameters: [
        ...["select", "order", "limit", "offset", "or", "readPrefer"].map(parameter),
        ...filters,
      ],
      responses: {
        "200": { description: "A list, empty where nothing matches.", content: json(rows(name)) },
        "206": { description: "A part of a counted list.", content: json(rows(name)) },
        ...errorResponses(["42501", "PGRST100", "42703", "22P02"]),
      },
    },
    ...(insert.length > 0 && {
      post: {
        ...common,
        operationId: `insert_${table.name}`,
        summary: `Add to ${table.name}`,
        description: who(table, "insert"),
        parameters: ["select", "writePrefer"].map(parameter),
        requestBody: {
          required: true,
          content: json({
            anyOf: [{ $ref: `#/components/schemas/${name}Insert` }, rows(`${name}Insert`)],
          }),
        },
        responses: {
          "201": {
            description: "Made; the rows where they were asked for.",
            content: json(rows(name)),
          },
          ...errorResponses(refusals),
        },
      },
    }),
    ...(update.length > 0 && {
      patch: {
        ...common,
        operationId: `update_${table.name}`,
        summary: `Change ${table.name}`,
        description: `${who(table, "update")} Every row that the filters match.`,
        parameters: [...["select", "or", "writePrefer"].map(parameter), ...filters],
        requestBody: {
          required: true,
          content: json({ $ref: `#/components/schemas/${name}Update` }),
        },
        responses: written,
      },
    }),
    ...(mayDelete && {
      delete: {
        ...common,
        operationId: `delete_${table.name}`,
        summary: `Delete from ${table.name}`,
        description: `${who(table, "delete")} Every row that the filters match.`,
        parameters: [...["select", "or", "writePrefer"].map(parameter), ...filters],
        responses: written,
      },
    }),
  };
}

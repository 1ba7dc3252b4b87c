/** The types of the client package: `Database` for supabase-js, and a name for everything in it. */
import { z } from "zod";
import { singular } from "./constraints.ts";
import type { Column, Fn, Model, Table } from "./model.ts";
import { comment, nameOf, Printer, pascal } from "./print.ts";
import { routeName } from "./routes.ts";
import { COLUMNS, WRITTEN_COLUMNS } from "./shapes/columns.ts";
import * as common from "./shapes/common.ts";
import { ERRORS } from "./shapes/errors.ts";
import { ROUTES } from "./shapes/routes.ts";
import { RPCS, type RpcShape } from "./shapes/rpc.ts";
import { EVENT_SCHEMAS } from "./webhook-events.ts";

const SCALARS: Record<string, string> = {
  bigint: "number",
  boolean: "boolean",
  date: "LocalDate",
  integer: "number",
  numeric: "number",
  smallint: "number",
  text: "string",
  "timestamp with time zone": "Instant",
  uuid: "string",
};

function scalar(type: string): string {
  const isArray = type.endsWith("[]");
  const name = SCALARS[isArray ? type.slice(0, -2) : type];
  if (!name) throw new Error(`${type} needs a shape.`);
  return isArray ? `${name}[]` : name;
}

/** Names of arguments that are text, so that nothing but an instant or a date is taken for one. */
export const INSTANTS = /(_at|^since)$/;
export const DATES = /_date$/;

const sameValues = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((value) => b.includes(value));

/** The shapes in common that list values and have a name, so that columns of these have it too. */
const NAMED_LISTS = Object.values(common)
  .filter((shape) => shape instanceof z.ZodEnum)
  .flatMap((shape) => {
    const name = nameOf(shape);
    return name ? [{ name, shape, values: shape.options as string[] }] : [];
  });

export const rowName = (table: string) => pascal(singular(table));

/** The names of the shapes that an answer is made of, in whatever list or union. */
function namesIn(schema: z.core.$ZodType): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "array") return namesIn(def.element);
  if (def.type === "union") return def.options.flatMap(namesIn);
  if (def.type === "nullable") return namesIn(def.innerType);
  const name = nameOf(schema);
  return name ? [name] : [];
}

/** What the catalogue says about the fields of what its composite types answer. */
export function commentsOf(model: Model) {
  const composites = new Map<string, Column[]>();
  for (const { name, returns } of model.functions) {
    const composite = model.composites.find((type) => type.name === returns);
    const shape = RPCS[name];
    if (!composite || !shape) continue;
    for (const of of namesIn(shape.answer)) composites.set(of, composite.columns);
  }
  return (name: string, field: string) =>
    composites.get(name)?.find((column) => column.name === field)?.comment;
}

class Types {
  readonly printer: Printer;

  constructor(readonly model: Model) {
    this.printer = new Printer(commentsOf(model));
  }

  /** The name of the list of a column's values, which gets declared. */
  #listName(table: Table, column: Column, values: string[]): string {
    const known = NAMED_LISTS.filter((list) => sameValues(list.values, values));
    const shape = known.length === 1 ? known[0]?.shape : undefined;
    if (shape) return this.printer.type(shape);
    const isShared = this.model.tables.some(
      (other) =>
        other.name !== table.name && other.columns.some(({ name }) => name === column.name),
    );
    const name = isShared ? pascal(column.name) : `${rowName(table.name)}${pascal(column.name)}`;
    this.printer.declare(name, values.map((value) => JSON.stringify(value)).join(" | "));
    return name;
  }

  columnType(table: Table, column: Column): string {
    const shape = COLUMNS[`${table.name}.${column.name}`];
    if (shape) {
      const { def } = (shape as z.core.$ZodType as z.core.$ZodTypes)._zod;
      return this.printer.type(def.type === "nullable" ? def.innerType : shape);
    }
    if (column.values) {
      const name = this.#listName(table, column, column.values);
      return column.type.endsWith("[]") ? `${name}[]` : name;
    }
    return scalar(column.baseType);
  }

  /** Row, and what of it a professional may write. */
  table(table: Table): void {
    const name = rowName(table.name);
    const fields = table.columns.map((column) => {
      const type = `${this.columnType(table, column)}${column.nullable ? " | null" : ""}`;
      return `${comment(column.comment, "  ")}  ${column.name}: ${type};\n`;
    });
    this.printer.declare(name, `{\n${fields.join("")}}`, table.comment);

    const { insert, update } = table.grants.authenticated;
    this.printer.declare(
      `${name}Insert`,
      this.#written(table, insert, (column) => !column.nullable && column.default === null),
      insert.length > 0
        ? "What a professional may write into a new row; any other column is refused with 42501."
        : "Nobody makes one: signing up does.",
    );
    const clients = table.grants.portal_client.update;
    this.printer.declare(
      `${name}Update`,
      this.#written(table, update, () => false),
      `What a professional may change; any other column is refused with 42501.${
        clients.length > 0
          ? ` In the portal a client may change ${clients.join(" and ")} alone.`
          : ""
      }`,
    );
  }

  /** Columns of the row, so that their comments come along, and those that are written otherwise. */
  #written(table: Table, names: string[], isNeeded: (column: Column) => boolean): string {
    const columns = table.columns.filter((column) => names.includes(column.name));
    const other = (column: Column) => WRITTEN_COLUMNS[`${table.name}.${column.name}`];
    const pick = (some: Column[]) =>
      some.length > 0
        ? `Pick<${rowName(table.name)}, ${some.map((column) => `"${column.name}"`).join(" | ")}>`
        : "";
    const alike = columns.filter((column) => !other(column));
    const optional = pick(alike.filter((column) => !isNeeded(column)));
    const others = columns.flatMap((column) => {
      const shape = other(column);
      if (!shape) return [];
      const mark = isNeeded(column) ? "" : "?";
      return [`${comment(column.comment)}${column.name}${mark}: ${this.printer.input(shape)};`];
    });
    const parts = [
      pick(alike.filter(isNeeded)),
      optional && `Partial<${optional}>`,
      others.length > 0 ? `{ ${others.join(" ")} }` : "",
    ];
    return parts.filter(Boolean).join(" & ") || "Record<string, never>";
  }

  #argument(fn: Fn, shape: RpcShape, { name, type }: Fn["arguments"][number]): string {
    const described = shape.args?.[name];
    if (described) return this.printer.input(described);
    if (type === "text" && INSTANTS.test(name)) return "Instant";
    if (type === "text" && DATES.test(name)) return "LocalDate";
    if (/^jsonb?$/.test(type)) throw new Error(`${fn.name}(${name}) needs a shape.`);
    return scalar(type);
  }

  rpc(fn: Fn): string {
    const shape = RPCS[fn.name];
    if (!shape) throw new Error(`${fn.name}() has no shape in reference/shapes.`);
    const name = pascal(fn.name);
    if (fn.arguments.length > 0) {
      const fields = fn.arguments.map((argument) => {
        const acceptsNull =
          argument.default?.startsWith("NULL") || shape.nullable?.includes(argument.name);
        const type = this.#argument(fn, shape, argument);
        return `  ${argument.name}${argument.default === null ? "" : "?"}: ${type}${
          acceptsNull && !/\| null$/.test(type) ? " | null" : ""
        };\n`;
      });
      this.printer.declare(`${name}Args`, `{\n${fields.join("")}}`);
    }
    let answer = this.printer.type(shape.answer);
    if (answer.startsWith("{")) {
      this.printer.declare(`${name}Answer`, answer);
      answer = `${name}Answer`;
    }
    const args = fn.arguments.length > 0 ? `${name}Args` : "never";
    return `${comment(fn.comment, "      ")}      ${fn.name}: { Args: ${args}; Returns: ${answer} };\n`;
  }

  /** What supabase-js needs to know to type what is embedded by it. */
  relationship(fn: Fn): string {
    const row = rowName(fn.returns);
    return `${comment(fn.comment, "      ")}      ${fn.name}: {
        Args: { "": ${rowName(fn.relationshipOf ?? "")} };
        Returns: ${fn.isOne ? row : `${row}[]`};
        SetofOptions: {
          from: "${fn.relationshipOf}";
          to: "${fn.returns}";
          isOneToOne: ${fn.isOne};
          isSetofReturn: true;
        };
      };\n`;
  }

  errors(): void {
    const codes = [...new Set(ERRORS.map(({ code }) => code))];
    const details = codes.map((code) => {
      const shapes = ERRORS.filter((entry) => entry.code === code);
      const types = shapes.flatMap(({ details }) => (details ? [this.printer.type(details)] : []));
      // Without a shape it is a text of Postgres or of the platform, if anything.
      const type = [...new Set(types.length > 0 ? types : ["string"]), "null"].join(" | ");
      return `  ${JSON.stringify(code)}: ${type};\n`;
    });
    this.printer.declare(
      "ErrorDetails",
      `{\n${details.join("")}}`,
      "By code: what `details` holds once it is parsed. Null where there is nothing to say.",
    );
    this.printer.declare("ErrorCode", "keyof ErrorDetails", "Every code that an answer may have.");
  }

  events(): void {
    const names = Object.values(EVENT_SCHEMAS).map((schema) => this.printer.type(schema));
    this.printer.declare(
      "WebhookEvent",
      names.join(" | "),
      "The body of a webhook, by its `type`.",
    );
    this.printer.declare("WebhookEventType", 'WebhookEvent["type"]');
  }

  routes(): void {
    const audience = ["professional", "client", "public"];
    const entries = ROUTES.filter((route) => audience.includes(route.for)).map((route) => {
      const name = routeName(route);
      /** What has no name gets that of its route. */
      const part = (suffix: string, type: string) => {
        if (!type.startsWith("{")) return type;
        this.printer.declare(`${name}${suffix}`, type);
        return `${name}${suffix}`;
      };
      const answers = Object.entries(route.answers)
        .filter(([status]) => Number(status) < 300)
        .map(([, shape]) => (shape ? this.printer.type(shape) : "undefined"));
      const parts = [
        route.body && `body: ${part("Body", this.printer.input(route.body))};`,
        route.query && `query: ${part("Query", this.printer.input(route.query))};`,
        `answer: ${part("Answer", [...new Set(answers)].join(" | ") || "undefined")};`,
      ];
      return `${comment(`${route.summary}. For ${route.who}.`, "  ")}  "${route.method} /${route.function}${route.path}": {
    ${parts.filter(Boolean).join("\n    ")}
  };\n`;
    });
    this.printer.declare(
      "Routes",
      `{\n${entries.join("")}}`,
      "The routes of the functions, behind /functions/v1: what each takes and answers with.",
    );
  }
}

/** Everybody but servers, who have other types (supabase/functions/_shared). */
export const isForUsers = ({ roles }: Fn) => roles.some((role) => role !== "service_role");

export function clientTypes(model: Model): string {
  const types = new Types(model);
  for (const table of model.tables) types.table(table);
  const functions = model.functions
    .filter(isForUsers)
    .map((fn) => (fn.relationshipOf ? types.relationship(fn) : types.rpc(fn)));
  types.errors();
  types.routes();
  types.events();

  const tables = model.tables.map(({ name, relationships }) => {
    const row = rowName(name);
    return `      ${name}: {
        Row: ${row};
        Insert: ${row}Insert;
        Update: ${row}Update;
        Relationships: ${JSON.stringify(relationships)};
      };\n`;
  });
  return `// Written by \`npm run reference\`. Do not edit.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

/** What its owner keeps there; nothing here reads it. */
export type JsonObject = { [key: string]: Json | undefined };

/** As answered: UTC, with milliseconds and Z. Any RFC 3339 text with an offset is taken. */
export type Instant = string;

/** YYYY-MM-DD, a date of the professional's time zone where nothing else is said. */
export type LocalDate = string;

/** A part of a list: what follows begins at \`next_cursor\`, null on the last page. */
export type Page<Row, Cursor = string> = { data: Row[]; next_cursor: Cursor | null };

/** A list that is short enough to come whole. */
export type List<Row> = { data: Row[]; next_cursor: null };

${[...types.printer.declarations.values()].join("\n")}
type None = { [_ in never]: never };

/** For \`createClient<Database>()\` of supabase-js: what users may do, and nothing of servers. */
export type Database = {
  __InternalSupabase: { PostgrestVersion: "14.5" };
  public: {
    Tables: {
${tables.join("")}    };
    Views: None;
    Functions: {
${functions.join("")}    };
    Enums: None;
    CompositeTypes: None;
  };
};
`;
}

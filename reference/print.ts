/**
 * A zod shape as a TypeScript type. `zod-to-ts` does nearly that, but writes strict objects with an
 * index signature of `never` and knows no names: the types here are read by people.
 */
import { z } from "zod";
import { date, instant } from "./shapes/common.ts";

/** What a shape says in the types where it has no name of its own. */
const ALIASES = new Map<z.core.$ZodTypeDef, string>([
  [instant._zod.def, "Instant"],
  [date._zod.def, "LocalDate"],
]);

type Io = "input" | "output";

const meta = (schema: z.core.$ZodType) => z.globalRegistry.get(schema) ?? {};

/** The shape's own name, also where the same shape has only been described anew. */
export function nameOf(schema: z.core.$ZodType): string | undefined {
  for (let at: z.core.$ZodType | undefined = schema; at; at = at._zod.parent) {
    if (at._zod.def !== schema._zod.def) return undefined;
    const { id } = meta(at);
    if (id) return typeName(id);
  }
  return undefined;
}

export const pascal = (text: string) =>
  text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Names of events and of what is in them are lower-case: `booking.created` is `BookingCreatedEvent`. */
export function typeName(id: string): string {
  if (/^[A-Z]\w*$/.test(id)) return id;
  return /^[a-z]+\.(?!previous$)/.test(id) ? `${pascal(id)}Event` : `Event${pascal(id)}`;
}

/** What is said about a shape itself; nothing where its name's own declaration says it. */
export function descriptionOf(schema: z.core.$ZodType): string | undefined {
  if (ALIASES.has(schema._zod.def) && !meta(schema).id) return undefined;
  const { description } = meta(schema);
  if (!nameOf(schema)) return description;
  const declared = named(schema);
  return description === meta(declared).description ? undefined : description;
}

/** The named list of the same values, of one that is long enough to be no other by chance. */
function sameList(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (!(schema instanceof z.ZodEnum) || schema.options.length < 4 || nameOf(schema)) return;
  const values = JSON.stringify(schema.options);
  return [...z.globalRegistry._idmap.values()].find(
    (other) => other instanceof z.ZodEnum && JSON.stringify(other.options) === values,
  );
}

/** The shape that has the name. */
function named(schema: z.core.$ZodType): z.core.$ZodType {
  let at = schema;
  while (!meta(at).id && at._zod.parent) at = at._zod.parent;
  return at;
}

/** A comment in the form of TypeScript, its lines at most a hundred columns long. */
export function comment(text: string | null | undefined, indent = ""): string {
  if (!text) return "";
  const safe = text.replaceAll("*/", "*\\/").replace(/\s+/g, " ").trim();
  const one = `${indent}/** ${safe} */\n`;
  if (one.length <= 101) return one;
  const lines: string[] = [""];
  for (const word of safe.split(" ")) {
    const line = lines.at(-1) as string;
    if (line && `${indent} * ${line} ${word}`.length > 100) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** What the catalogue says about a field of a named shape, which wins over what the shape says. */
type CommentOf = (name: string, field: string) => string | null | undefined;

/** Prints shapes, and collects those with names on the way. */
export class Printer {
  /** Texts by name, in the order in which they were met. */
  readonly declarations = new Map<string, string>();
  readonly #met = new Map<string, Set<Io | z.core.$ZodTypeDef>>();
  readonly #commentOf: CommentOf;
  /** Whether it is what is sent or what comes back: a default is optional only in the former. */
  #io: Io = "output";

  constructor(commentOf: CommentOf = () => null) {
    this.#commentOf = commentOf;
  }

  /** Of what is sent: there a field with a default may be left out. */
  input(schema: z.core.$ZodType): string {
    this.#io = "input";
    try {
      return this.type(schema);
    } finally {
      this.#io = "output";
    }
  }

  /** A reference to the shape's name, which gets declared; without one the type itself. */
  type(given: z.core.$ZodType, indent = ""): string {
    const schema = sameList(given) ?? given;
    const alias = ALIASES.get(schema._zod.def);
    const name = nameOf(schema) ?? alias;
    if (!name) return this.body(schema, indent);
    if (name !== alias) this.#declare(name, named(schema));
    return name;
  }

  #declare(name: string, schema: z.core.$ZodType): void {
    const met = this.#met.get(name) ?? new Set();
    if (met.has(schema._zod.def) && met.has(this.#io)) return;
    this.#met.set(name, met.add(schema._zod.def).add(this.#io));
    const { description } = meta(schema);
    this.declare(name, `${this.body(schema, "", name)}`, description);
  }

  /** Notes a type that is no shape; two of one name have to be the same. */
  declare(name: string, type: string, description?: string | null): void {
    const text = `export type ${name} = ${type};\n`;
    const known = this.declarations.get(name);
    if (known === undefined) this.declarations.set(name, `${comment(description)}${text}`);
    else if (!known.endsWith(text))
      throw new Error(`Two types are called ${name}:\n${known}${text}`);
  }

  #optional(schema: z.core.$ZodType): boolean {
    return (this.#io === "input" ? schema._zod.optin : schema._zod.optout) !== undefined;
  }

  /** A field's own type: that it may be left out is said by its question mark. */
  #field(schema: z.core.$ZodType, indent: string): string {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    return def.type === "optional" ? this.type(def.innerType, indent) : this.type(schema, indent);
  }

  /** Of fields in the form `name: type`, with their comments. */
  fields(shape: z.core.$ZodShape, indent: string, name?: string): string {
    return Object.entries(shape)
      .map(([field, schema]) => {
        const about = (name && this.#commentOf(name, field)) || descriptionOf(schema);
        const mark = this.#optional(schema) ? "?" : "";
        return `${comment(about, indent)}${indent}${key(field)}${mark}: ${this.#field(schema, indent)};\n`;
      })
      .join("");
  }

  #union(options: readonly z.core.$ZodType[], indent: string): string {
    return [...new Set(options.map((option) => this.type(option, indent)))].join(" | ");
  }

  #record(def: z.core.$ZodRecordDef, indent: string): string {
    const value = def.valueType as z.core.$ZodTypes;
    if (value._zod.def.type === "unknown") return "JsonObject";
    const keys = (def.keyType as z.core.$ZodTypes)._zod;
    const type = this.type(value, indent);
    if (keys.def.type !== "enum" && keys.def.type !== "literal") {
      return `{ [key: string]: ${type} }`;
    }
    const mark = def.partial ? "?" : "";
    return `{ [Key in ${this.type(def.keyType)}]${mark}: ${type} }`;
  }

  /** What lists answer with, by what is in them; undefined for any other object. */
  #list(shape: z.core.$ZodShape, indent: string): string | undefined {
    const { data, next_cursor: cursor, ...others } = shape as { [key: string]: z.core.$ZodTypes };
    if (data?._zod.def.type !== "array" || !cursor || Object.keys(others).length > 0) return;
    const row = this.type(data._zod.def.element, indent);
    const next = this.type(cursor, indent);
    if (next === "null") return `List<${row}>`;
    return next === "string | null"
      ? `Page<${row}>`
      : `Page<${row}, ${next.replace(" | null", "")}>`;
  }

  /** The type, whatever the shape's name. */
  body(schema: z.core.$ZodType, indent = "", name?: string): string {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    const inner = (type: z.core.$ZodType) => this.type(type, indent);
    const grouped = (type: z.core.$ZodType) => {
      const text = inner(type);
      return text.includes(" | ") && !text.startsWith("{") ? `(${text})` : text;
    };
    switch (def.type) {
      case "string":
      case "template_literal":
        return "string";
      case "number":
        return "number";
      case "boolean":
        return "boolean";
      case "null":
        return "null";
      case "undefined":
      case "void":
        return "undefined";
      case "unknown":
      case "any":
        return "Json";
      case "literal":
        return def.values.map((value) => JSON.stringify(value)).join(" | ");
      case "enum":
        return Object.values(def.entries)
          .map((value) => JSON.stringify(value))
          .join(" | ");
      case "array":
        return `${grouped(def.element)}[]`;
      case "tuple":
        return `[${def.items.map(inner).join(", ")}]`;
      case "record":
        return this.#record(def, indent);
      case "object": {
        const list = this.#list(def.shape, indent);
        if (list) return list;
        const fields = this.fields(def.shape, `${indent}  `, name);
        return fields ? `{\n${fields}${indent}}` : "Record<string, never>";
      }
      case "union":
        return this.#union(def.options, indent);
      case "nullable":
        return `${inner(def.innerType)} | null`;
      case "optional":
        return `${inner(def.innerType)} | undefined`;
      case "default":
      case "prefault":
      case "readonly":
      case "nonoptional":
        return inner(def.innerType);
      case "lazy":
        return inner(def.getter());
      case "pipe": {
        const type = inner(this.#io === "input" ? def.in : def.out);
        // A number in a query, which is text by the time that it is sent.
        const isRead = (def.out as z.core.$ZodTypes)._zod.def.type === "transform";
        return type === "string" && isRead ? "number | string" : type;
      }
      default:
        throw new Error(`No TypeScript type for a shape of kind ${def.type}.`);
    }
  }
}

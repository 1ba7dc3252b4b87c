/**
 * What the client says when a constraint refuses: a sentence for a person, made of the constraint's
 * name (names are sentences) or of its columns, and the column that Postgres does not name.
 */
import type { Column, Constraint, Model, Role, Table } from "./model.ts";

/** Names of columns as people would say them, where the name itself is not that. */
const LABELS: Record<string, string> = {
  bio: "text about you",
  client_id: "client",
  contact_email: "contact e-mail address",
  contact_phone: "contact phone number",
  email: "e-mail address",
  ends_at: "end",
  full_name: "name",
  image_url: "picture's address",
  low_stock_at: "low-stock mark",
  max_advance_days: "days that can be booked ahead",
  min_notice: "notice before a booking",
  niche: "trade",
  parent_id: "product that it is a variant of",
  phone: "phone number",
  public_contact: "public contact",
  reminders: "reminders",
  service_id: "service",
  sku: "article number",
  slot_step: "step between starts",
  starts_at: "start",
  tier: "plan",
  unpaid_order_hours: "hours until an unpaid order is cancelled",
};

/** Where the rule is more than its name can say to a person. */
const SENTENCES: Record<string, string> = {
  bookings_cancellation_is_recorded:
    "A cancelled booking says when and by whom it was cancelled, and no other does.",
  bookings_have_client_and_service_or_neither:
    "An appointment has a client and a service; blocked time has neither.",
  bookings_never_overlap: "This time overlaps another booking or its buffers.",
  clients_tags_are_at_most_50_of_50_characters:
    "There may be at most 50 tags of at most 50 characters each.",
  orders_one_live_order_per_booking: "This booking has an order that is not cancelled.",
  orders_total_adds_up: "The total must be the subtotal less the discount, with or without the tax.",
  products_are_not_their_own_parent: "A product cannot be a variant of itself.",
  profiles_availability_is_valid:
    "Working hours must be periods of a day that do not overlap, such as 09:00 to 17:00.",
  profiles_full_name_is_empty_or_can_be_seen: "Name must be empty or have something to be seen.",
  profiles_mail_settings_are_switches_of_known_kinds:
    "Mail settings must be switches of mails that there are.",
  profiles_public_contact_is_of_email_phone_and_address:
    "Public contact must be of e-mail address, phone number and address.",
  profiles_reminders_are_at_most_2_of_30_to_20160_minutes:
    "There may be at most 2 reminders, 30 to 20160 minutes before the start.",
  profiles_username_is_a_slug:
    "Username must be lower-case letters, digits and single hyphens between them, at most 60.",
  services_location_is_a_text_or_a_https_link: "Location must be a text or a https:// link.",
};

export const singular = (table: string) => table.replace(/s$/, "");

export const label = (column: string) =>
  LABELS[column] ?? column.replace(/_id$/, "").replaceAll("_", " ");

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const VERBS: [RegExp, string][] = [
  [/^(is|are)_never_/, "must never be "],
  [/^(is|are)_/, "must be "],
  [/^(has|have)_/, "must have "],
  [/^last_/, "must last "],
  [/^never_/, "must never "],
  [/^adds_up/, "must add up"],
];

const words = (text: string) =>
  text
    .replace(/(\d)_(\d)/g, "$1.$2")
    .replaceAll("_", " ")
    .replace(/\bkb\b/, "kB");

/** The column whose name, or whose name for people, the text begins with. */
function subjectOf(text: string, columns: string[]): { column: string; length: number } | undefined {
  const named = columns.flatMap((column) =>
    [column, label(column).replaceAll(" ", "_")]
      .filter((name) => text.startsWith(`${name}_`))
      .map((name) => ({ column, length: name.length + 1 })),
  );
  return named.sort((a, b) => b.length - a.length)[0];
}

function checkSentence(name: string, owner: string, columns: Column[]): string {
  const rest = name.slice(owner.length + 1);
  const subject = subjectOf(
    rest,
    columns.map((column) => column.name),
  );
  const at = subject?.length ?? rest.search(/(?<=^|_)(is|are|has|have|last|never|adds)_/);
  const verb = VERBS.find(([pattern]) => pattern.test(rest.slice(at)));
  if (!verb) throw new Error(`${name} is no sentence that can be said to a person.`);
  const who = subject ? label(subject.column) : words(`${at > 0 ? "" : owner}${rest.slice(0, at)}`);
  const values = columns.length === 1 ? columns[0]?.values : null;
  const what = rest.slice(at).replace(verb[0], "");
  return `${capital(who.trim())} ${verb[1]}${what === "known" && values ? `one of ${values.join(", ")}` : words(what)}.`;
}

/** What a person can change where the constraint is about a generated column. */
function source(table: Table, name: string): string {
  const column = table.columns.find((column) => column.name === name);
  if (!column?.generated) return name;
  return table.columns.find((other) => column.default?.includes(`(${other.name})`))?.name ?? name;
}

interface Said {
  table: string | null;
  column: string | null;
  columns: string[];
  sentence: string;
  referenced?: string;
}

function say(model: Model, constraint: Constraint): Said {
  const table = model.tables.find(({ name }) => name === constraint.table);
  // A row is always its professional's; nobody wonders about that part of a key.
  const parts = constraint.columns.filter((name) => name !== "professional_id");
  const keys = parts.length > 0 ? parts : constraint.columns;
  const columns = table ? keys.map((name) => source(table, name)) : [];
  const about = columns.map((name) => table?.columns.find((column) => column.name === name));
  const owner = constraint.table ?? constraint.domain ?? "";
  const subject = subjectOf(constraint.name.slice(owner.length + 1), columns)?.column;
  const said = {
    table: constraint.table,
    column: subject ?? (columns.length === 1 ? (columns[0] as string) : null),
    columns,
  };
  const written = SENTENCES[constraint.name];
  if (written) return { ...said, sentence: written };
  const one = singular(constraint.table ?? "");
  const names = columns.map(label).join(" and ");
  switch (constraint.kind) {
    case "primary key":
    case "unique":
      return { ...said, sentence: `Another ${one} has this ${names} already.` };
    case "foreign key": {
      const target = /REFERENCES (?:\w+\.)?(\w+)\(/.exec(constraint.definition)?.[1] ?? "";
      const isOurs = model.tables.some(({ name }) => name === target);
      return {
        ...said,
        sentence: `There is no such ${names === "id" || names === "professional" ? "account" : names}.`,
        ...(isOurs ? { referenced: `${capital(constraint.table ?? "")} refer to this ${singular(target)}.` } : {}),
      };
    }
    case "check":
      return {
        ...said,
        sentence: checkSentence(
          constraint.name,
          owner,
          about.filter((column) => column !== undefined),
        ),
      };
    default:
      throw new Error(`${constraint.name} needs a sentence of its own.`);
  }
}

/** What users may read and write of each table, by role; a server may everything. */
function rights(model: Model, commands: ("select" | "insert" | "update")[], roles: Role[]) {
  const ofRole = (role: Role) =>
    model.tables
      .map(({ name, grants }) => [
        name,
        Object.fromEntries(
          commands.flatMap((command) =>
            grants[role][command].length > 0 ? [[command, grants[role][command]]] : [],
          ),
        ),
      ])
      .filter(([, found]) => Object.keys(found as object).length > 0);
  return Object.fromEntries(roles.map((role) => [role, Object.fromEntries(ofRole(role))]));
}

export function constraintsText(model: Model): string {
  const said = Object.fromEntries(
    model.constraints.map((constraint) => [constraint.name, say(model, constraint)]),
  );
  const writable = rights(model, ["insert", "update"], ["authenticated", "portal_client"]);
  const readable = rights(model, ["select"], ["anon", "portal_client", "portal_booking"]);
  const labels = Object.fromEntries(
    [...new Set(model.tables.flatMap((table) => table.columns.map((column) => column.name)))]
      .sort()
      .map((name) => [name, label(name)])
      .filter(([name, text]) => name !== text),
  );
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return `// Written by \`npm run reference\`. Do not edit.

/** What a constraint demands, for a person, and of which column. */
export type ConstraintInfo = {
  /** Null for a constraint of a type, which several tables have. */
  readonly table: string | null;
  /** The one that a person would change; null where it is about several alike. */
  readonly column: string | null;
  readonly columns: readonly string[];
  readonly sentence: string;
  /** Of a foreign key: what to say when a row is to go that others refer to. */
  readonly referenced?: string;
};

export const CONSTRAINTS: { readonly [name: string]: ConstraintInfo } = ${json(said)};

type Rights<Command extends string> = {
  readonly [role: string]: {
    readonly [table: string]: { readonly [Key in Command]?: readonly string[] };
  };
};

/** The columns that may be written, by role, table and command: any other is refused with 42501. */
export const WRITABLE: Rights<"insert" | "update"> = ${json(writable)};

/** The columns that may be read by those who may not read all, by role and table. */
export const READABLE: Rights<"select"> = ${json(readable)};

/** What a column is called in sentences, where that is not its name. */
export const LABELS: { readonly [column: string]: string } = ${json(labels)};
`;
}

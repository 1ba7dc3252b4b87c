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
  parent_id: "product to be a variant of",
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
  clients_email_is_an_address: "This is no e-mail address.",
  money_amount_has_at_most_3_decimals: "An amount must have at most 3 decimals.",
  money_amount_is_between_0_and_999999999999_999:
    "An amount must be between 0 and 999999999999.999.",
  orders_one_live_order_per_booking: "This booking has an order that is not cancelled.",
  orders_total_adds_up:
    "The total must be the subtotal less the discount, with or without the tax.",
  products_are_not_their_own_parent: "A product cannot be a variant of itself.",
  profiles_availability_is_valid:
    "Working hours must be periods of a day that do not overlap, such as 09:00 to 17:00.",
  profiles_contact_email_is_an_address: "This is no e-mail address.",
  profiles_full_name_is_empty_or_can_be_seen: "Name must be empty or have something to be seen.",
  profiles_mail_settings_are_switches_of_known_kinds:
    "Mail settings must be switches of mails that there are.",
  profiles_public_contact_is_of_email_phone_and_address:
    "Public contact must be of e-mail address, phone number and address.",
  profiles_reminders_are_at_most_2_of_30_to_20160_minutes:
    "There may be at most 2 reminders, 30 to 20160 minutes before the start.",
  profiles_username_is_a_slug:
    "Username must be lower-case letters, digits and single hyphens between them, at most 60.",
  percentage_has_at_most_4_decimals: "A percentage must have at most 4 decimals.",
  percentage_is_between_0_and_100: "A percentage must be between 0 and 100.",
  services_location_is_a_text_or_a_https_link: "Location must be a text or a https:// link.",
  timestamp_ms_is_finite: "A time must be an instant.",
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
function subjectOf(
  text: string,
  columns: string[],
): { column: string; length: number } | undefined {
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
  const who = subject ? label(subject.column) : words(`${owner}_${rest.slice(0, at)}`);
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

/** Its sentence: the one written for it, else one made of its name or columns. */
function sentenceOf(constraint: Constraint, columns: string[], about: Column[]): string {
  const written = SENTENCES[constraint.name];
  if (written) return written;
  const names = columns.map(label).join(" and ");
  switch (constraint.kind) {
    case "primary key":
    case "unique":
      return `Another ${singular(constraint.table ?? "")} has this ${names} already.`;
    case "foreign key":
      return `There is no such ${["id", "professional"].includes(names) ? "account" : names}.`;
    case "check":
      return checkSentence(constraint.name, constraint.table ?? constraint.domain ?? "", about);
    default:
      throw new Error(`${constraint.name} needs a sentence of its own.`);
  }
}

export function say(model: Model, constraint: Constraint): Said {
  const table = model.tables.find(({ name }) => name === constraint.table);
  // A row is always its professional's; nobody wonders about that part of a key.
  const parts = constraint.columns.filter((name) => name !== "professional_id");
  const keys = parts.length > 0 || constraint.kind === "exclusion" ? parts : constraint.columns;
  const columns = table ? keys.map((name) => source(table, name)) : [];
  const about = table?.columns.filter((column) => columns.includes(column.name)) ?? [];
  const owner = constraint.table ?? constraint.domain ?? "";
  const subject = subjectOf(constraint.name.slice(owner.length + 1), columns)?.column;
  const target = /REFERENCES (?:public\.)?(\w+)\(/.exec(constraint.definition)?.[1];
  const isOurs = model.tables.some(({ name }) => name === target);
  return {
    table: constraint.table,
    column: subject ?? (columns.length === 1 ? (columns[0] as string) : null),
    columns,
    sentence: sentenceOf(constraint, columns, about),
    ...(target && isOurs
      ? { referenced: `${capital(constraint.table ?? "")} refer to this ${singular(target)}.` }
      : {}),
  };
}

type Commands = { insert?: string[]; update?: string[] };

/** What a role may write, of each table that it writes at all; a server may everything. */
function writable(model: Model, role: Role): Record<string, Commands> {
  const found: Record<string, Commands> = {};
  for (const { name, grants } of model.tables) {
    const { insert, update } = grants[role];
    if (insert.length + update.length === 0) continue;
    found[name] = { ...(insert.length > 0 && { insert }), ...(update.length > 0 && { update }) };
  }
  return found;
}

const byName = (entries: [string, unknown][]) => JSON.stringify(Object.fromEntries(entries));

export function constraintsText(model: Model): string {
  const columns = model.tables.flatMap((table) => table.columns.map((column) => column.name));
  const labels = [...new Set(columns)]
    .sort()
    .map((name): [string, string] => [name, label(name)])
    .filter(([name, text]) => name !== text);
  const reading = model.functions
    .filter((fn) => fn.volatility !== "volatile" && !fn.relationshipOf)
    .filter((fn) => fn.roles.some((role) => role !== "service_role"))
    .map((fn) => fn.name);
  return `// Written by \`npm run reference\`. Do not edit.

/** What a constraint demands, for a person, and of which column. */
export type ConstraintText = {
  /** Null for a constraint of a type, which several tables have. */
  readonly table: string | null;
  /** The one that a person would change; null where it is about several alike. */
  readonly column: string | null;
  readonly columns: readonly string[];
  readonly sentence: string;
  /** Of a foreign key: what to say when a row is to go that others refer to. */
  readonly referenced?: string;
};

/** By the constraint's name, as Postgres says it. */
export const CONSTRAINTS: { readonly [name: string]: ConstraintText } = ${byName(
    model.constraints.map((constraint) => [constraint.name, say(model, constraint)]),
  )};

type Writable = {
  readonly [table: string]: {
    readonly insert?: readonly string[];
    readonly update?: readonly string[];
  };
};

/** The columns that a professional may write; any other is refused with 42501. */
export const WRITABLE: Writable = ${JSON.stringify(writable(model, "authenticated"))};

/** The columns that a client may write in the portal. */
export const PORTAL_WRITABLE: Writable = ${JSON.stringify(writable(model, "portal_client"))};

/** What a column is called in sentences, where that is not its name. */
export const LABELS: { readonly [column: string]: string } = ${byName(labels)};

/** RPCs that change nothing, so that a call whose answer was lost may be repeated. */
export const READING_RPCS: readonly string[] = ${JSON.stringify(reading)};
`;
}

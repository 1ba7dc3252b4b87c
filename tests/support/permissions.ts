/**
 * Who may do what with the six tables: one matrix that the permission tests are generated from and
 * that README shows. The rows in question are the owner's; a portal client is one of the owner's, and
 * `link` has opened the link in the mail of one of the bookings.
 */
export const TABLES = [
  "profiles",
  "services",
  "clients",
  "products",
  "bookings",
  "orders",
] as const;
export type Table = (typeof TABLES)[number];

export const CALLERS = ["anon", "owner", "other", "portal", "link", "server"] as const;
export type Caller = (typeof CALLERS)[number];

/** The database role behind each caller. */
export const ROLES = {
  anon: "anon",
  owner: "authenticated",
  other: "authenticated",
  portal: "portal_client",
  link: "portal_booking",
  server: "service_role",
} as const satisfies Record<Caller, string>;

export const COMMANDS = ["select", "insert", "update", "delete"] as const;
export type Command = (typeof COMMANDS)[number];

/**
 * - `allowed`: every column.
 * - `listed`: the columns of a list (tests/columns.test.ts has them), 42501 for the others.
 * - `no grant`: 42501, whatever the row.
 * - `with check`: 42501, because the row would be somebody else's.
 * - `no rows`: no error, and none of the owner's rows.
 */
export type Outcome = "allowed" | "listed" | "no grant" | "with check" | "no rows";

type Row = Record<Command, Outcome>;

function row(select: Outcome, insert: Outcome, update: Outcome, remove: Outcome): Row {
  return { select, insert, update, delete: remove };
}

const NOTHING = row("no grant", "no grant", "no grant", "no grant");
const EVERYTHING = row("allowed", "allowed", "allowed", "allowed");
/** Another professional: the own rows only, so these are out of reach. */
const STRANGER = row("no rows", "with check", "no rows", "no rows");

export const PERMISSIONS: Record<Table, Record<Caller, Row>> = {
  profiles: {
    anon: NOTHING,
    owner: row("allowed", "no grant", "listed", "no grant"),
    other: row("no rows", "no grant", "no rows", "no grant"),
    portal: NOTHING,
    link: NOTHING,
    server: EVERYTHING,
  },
  services: {
    anon: row("listed", "no grant", "no grant", "no grant"),
    owner: row("allowed", "listed", "listed", "allowed"),
    other: STRANGER,
    portal: NOTHING,
    link: NOTHING,
    server: EVERYTHING,
  },
  clients: {
    anon: NOTHING,
    owner: row("allowed", "listed", "listed", "allowed"),
    other: STRANGER,
    portal: row("listed", "no grant", "listed", "no grant"),
    link: NOTHING,
    server: EVERYTHING,
  },
  products: {
    anon: row("listed", "no grant", "no grant", "no grant"),
    owner: row("allowed", "listed", "listed", "allowed"),
    other: STRANGER,
    portal: NOTHING,
    link: NOTHING,
    server: EVERYTHING,
  },
  bookings: {
    anon: NOTHING,
    owner: row("allowed", "listed", "listed", "no grant"),
    other: { ...STRANGER, delete: "no grant" },
    portal: row("listed", "no grant", "no grant", "no grant"),
    link: row("listed", "no grant", "no grant", "no grant"),
    server: EVERYTHING,
  },
  orders: {
    anon: NOTHING,
    owner: row("allowed", "listed", "listed", "no grant"),
    other: { ...STRANGER, delete: "no grant" },
    portal: row("listed", "no grant", "no grant", "no grant"),
    link: NOTHING,
    server: EVERYTHING,
  },
};

export function isPermitted(outcome: Outcome): boolean {
  return outcome === "allowed" || outcome === "listed";
}

const HEADINGS: Record<Caller, string> = {
  anon: "public (`anon`)",
  owner: "professional, own rows",
  other: "professional, rows of others",
  portal: "portal client, own rows",
  link: "link of a booking, that row",
  server: "`service_role`",
};

/** The matrix as README shows it. */
export function permissionTable(): string {
  const cell = (permissions: Row) =>
    COMMANDS.filter((command) => isPermitted(permissions[command]))
      .map((command) => `${command}${permissions[command] === "listed" ? "\\*" : ""}`)
      .join(", ") || "—";
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(["table", ...CALLERS.map((caller) => HEADINGS[caller])]),
    line(["---", ...CALLERS.map(() => "---")]),
    ...TABLES.map((table) =>
      line([`\`${table}\``, ...CALLERS.map((caller) => cell(PERMISSIONS[table][caller]))]),
    ),
    "",
    "\\* listed columns only. The public sees active rows of professionals who accept bookings or orders.",
  ].join("\n");
}

/** Until it is generated: what a constraint is about, and what may be written. */

export interface ConstraintText {
  table: string | null;
  column: string | null;
  sentence: string;
}

/** By the constraint's name, as Postgres says it. */
export const CONSTRAINTS: Readonly<Record<string, ConstraintText>> = {
  clients_professional_id_email_key_key: {
    table: "clients",
    column: "email",
    sentence: "There is a client with this e-mail address already.",
  },
};

/** Columns that the caller may write, by table and command. */
export const WRITABLE: Readonly<
  Record<string, { insert: readonly string[]; update: readonly string[] }>
> = {};

/** RPCs that change nothing, so that a call whose answer was lost may be repeated. */
export const READING_RPCS: readonly string[] = [
  "booking_page",
  "available_slots",
  "explain_slot",
  "quote_order",
];

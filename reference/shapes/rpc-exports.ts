/** RPCs that answer with all that is kept: of a client, or of the whole account in pages. */
import { z } from "zod";
import {
  amount,
  count,
  currency,
  date,
  id,
  instant,
  paymentFlag,
  paymentKind,
  paymentProvider,
  text,
  timeZone,
} from "./common.ts";
import { BookingRow, ClientRow, OrderRow, ProductRow, ProfileRow, ServiceRow } from "./rows.ts";
import type { RpcShape } from "./rpc.ts";
import { feedDetail } from "./rpc-calendar.ts";
import { mailAudience, mailKind, mailOutcome, mailStatus } from "./rpc-data.ts";
import { deliveryStatus, eventFilter, eventType } from "./rpc-webhooks.ts";

const maybe = { id: id.nullable(), instant: instant.nullable(), text: text.nullable() };
const number = z.int().min(1);
const minor = count.describe("The amount in the unit that Stripe counts in");
const mine = { professional_id: id };
const made = { created_at: instant, ...mine };
const session = { id, ...made, link_epoch: number, expires_at: instant, revoked_at: maybe.instant };
const parameters = z.record(z.string(), z.unknown());

/** Gives each row a name: `ExportedPayment` is one of `payments`. */
function named<Rows extends Record<string, z.ZodType>>(rows: Rows): Rows {
  const entries = Object.entries(rows).map(([table, row]) => {
    const words = table
      .replace(/ies$/, "y")
      .replace(/(?<=s[hs])es$|(?<!s)s$/, "")
      .split("_");
    const id = `Exported${words.map((word) => word.replace(/^./, (c) => c.toUpperCase())).join("")}`;
    return [table, row.meta({ id })];
  });
  return Object.fromEntries(entries) as Rows;
}

/** By table; those that are of clients are in the export of one, too. */
const OF_CLIENTS = named({
  clients: ClientRow,
  bookings: BookingRow,
  orders: OrderRow,
  payments: z.strictObject({
    id,
    ...made,
    order_id: id,
    kind: paymentKind,
    amount,
    method: maybe.text,
    reference: maybe.text,
    reason: maybe.text,
    provider: paymentProvider,
    flag: paymentFlag.nullable(),
    return_cause: z.enum(["cancelled", "overpaid", "late"]).nullable(),
  }),
  payment_holds: z.strictObject({
    order_id: id,
    ...made,
    booking_id: maybe.id,
    prolonged: z.boolean(),
    prolonged_at: maybe.instant,
    prolonged_from: maybe.instant,
    lapsed: z.boolean(),
  }),
  checkouts: z.strictObject({
    id,
    ...made,
    order_id: id,
    account_id: text,
    amount,
    currency,
    minor,
    params: parameters.describe("As they went to Stripe"),
    session_id: maybe.text,
    url: maybe.text,
    payment_intent: maybe.text,
    status: z.enum(["creating", "open", "complete", "expired", "failed"]),
    failure: maybe.text,
    expires_at: instant,
  }),
  provider_refunds: z.strictObject({
    id,
    ...made,
    payment_id: id,
    account_id: text,
    amount,
    minor,
    status: z.enum(["due", "pending", "succeeded", "failed", "canceled"]),
    provider_id: maybe.text,
    cause: z.enum(["route", "cancelled", "overpaid", "late"]).nullable(),
    reason: maybe.text,
    failure: maybe.text,
  }),
  disputes: z.strictObject({
    id: text,
    ...made,
    payment_id: id,
    account_id: text,
    status: text.describe("In Stripe's words"),
    reason: maybe.text,
  }),
  order_products: z.strictObject({ ...mine, order_id: id, product_id: id, quantity: number }),
  stock_ledger: z.strictObject({
    id: number,
    ...made,
    product_id: id,
    order_id: maybe.id,
    delta: z.int(),
    reason: text,
  }),
  mails: z.strictObject({
    id,
    ...made,
    audience: mailAudience,
    kind: mailKind,
    client_id: maybe.id,
    booking_id: maybe.id,
    order_id: maybe.id,
    payment_id: maybe.id,
    detail: parameters,
    status: mailStatus,
    due_at: maybe.instant,
    attempts: count,
    told_starts_at: maybe.instant,
    told_ends_at: maybe.instant,
    recipient: maybe.text,
    provider_id: maybe.text,
    outcome: mailOutcome.nullable(),
    finished_at: maybe.instant,
  }),
  proven_addresses: z.strictObject({ ...mine, proven_at: instant }),
  portal_codes: z.strictObject({
    ...mine,
    client_id: id,
    link_epoch: number,
    generation: number,
    expires_at: instant,
    attempts: count,
    failures: count,
    locked_until: maybe.instant,
  }),
  portal_sessions: z.strictObject({ ...session, client_id: id }),
  booking_sessions: z.strictObject({ ...session, booking_id: id }),
  unheard_clients: z.strictObject({ ...mine, client_id: id }),
  idempotency_keys: z.strictObject({
    ...made,
    function: z.enum(["create_booking", "place_order"]),
    key: text,
    result_id: id,
  }),
  webhook_events: z.strictObject({
    id,
    ...made,
    sequence: number,
    type: eventType,
    client_id: maybe.id,
    of_erasure: z.boolean(),
    body: text.describe("JSON of the event"),
  }),
  webhook_deliveries: z.strictObject({
    id,
    ...made,
    endpoint_id: id,
    event_id: id,
    status: deliveryStatus,
    attempts: count,
    next_attempt_at: maybe.instant,
    last_status: z.int().nullable(),
  }),
  webhook_attempts: z.strictObject({
    id,
    ...mine,
    delivery_id: id,
    started_at: instant,
    duration_ms: count.nullable(),
    status: z.int().nullable(),
    response: maybe.text,
    error: maybe.text,
  }),
  calendar_pushes: z.strictObject({
    connection_id: id,
    booking_id: id,
    ...mine,
    due_at: maybe.instant,
    revision: number,
    attempts: count,
    generation: count,
    may_exist: z.boolean(),
    is_there: z.boolean(),
    error: maybe.text,
  }),
});

const OTHERS = named({
  profiles: ProfileRow,
  services: ServiceRow,
  products: ProductRow,
  payment_accounts: z.strictObject({
    id: text,
    ...made,
    livemode: z.boolean(),
    can_charge: z.boolean(),
    missing: z.array(text),
    checked_at: maybe.instant,
    detached_at: maybe.instant,
    deauthorized_at: maybe.instant,
  }),
  payment_account_attempts: z.strictObject({ id, ...made }),
  webhook_endpoints: z.strictObject({
    id,
    ...made,
    url: text,
    events: z.array(eventFilter),
    description: maybe.text,
    enabled: z.boolean(),
    disabled_reason: z.enum(["owner", "gone", "failing"]).nullable(),
    failing_since: maybe.instant,
    failed_tries: count,
    slow_tries: count,
  }),
  webhook_owner_mails: z.strictObject({ id: number, ...made, endpoint_id: id }),
  webhook_expired_events: z.strictObject({ ...mine, sequence: count, highest: count }),
  confirmed_owners: z.strictObject({ ...mine, confirmed_at: instant }),
  suspended_owners: z.strictObject({ ...mine, reason: text, suspended_at: instant }),
  calendar_feeds: z.strictObject({ id, ...made, name: text, detail: feedDetail }),
  api_keys: z.strictObject({
    id,
    ...made,
    name: text,
    access: z.enum(["read", "write"]),
    expires_at: maybe.instant,
    last_used_on: date.nullable(),
    revoked_at: maybe.instant,
  }),
  busy_calendars: z.strictObject({
    id,
    ...made,
    name: maybe.text,
    host: text,
    status: z.enum(["pending", "ok", "failing"]),
    error: maybe.text,
    error_detail: maybe.text,
    last_synced_at: maybe.instant,
    failing_since: maybe.instant,
    told_at: maybe.instant,
    due_at: instant,
    read_at: maybe.instant,
    time_zone: timeZone.nullable(),
  }),
  calendar_connections: z.strictObject({
    id,
    ...made,
    push: z.boolean(),
    busy: z.boolean(),
    status: z.enum(["active", "revoked"]),
    error: maybe.text,
    last_synced_at: maybe.instant,
    busy_due_at: instant,
    paused_until: maybe.instant,
    pauses: count,
    failing_since: maybe.instant,
    told_at: maybe.instant,
  }),
  busy_times: z.strictObject({
    ...mine,
    source_id: id,
    week: instant,
    during: text.describe("Ranges as Postgres writes them"),
  }),
});

function lists<Rows extends Record<string, z.ZodType>>(rows: Rows) {
  const entries = Object.entries(rows).map(([table, row]) => [table, z.array(row)]);
  return z.strictObject(
    Object.fromEntries(entries) as { [Table in keyof Rows]: z.ZodArray<Rows[Table]> },
  );
}

const account = z.strictObject({ id, email: text });

const ClientExport = z
  .strictObject({ exported_at: instant, data: lists(OF_CLIENTS).describe("Rows by table") })
  .meta({ id: "ClientExport" });

const AccountExport = z
  .strictObject({
    exported_at: instant,
    account: account.optional().describe("On the first page"),
    data: lists({ ...OF_CLIENTS, ...OTHERS })
      .partial()
      .describe("Rows by table, 500 on a page; a table may go on on the next one"),
    next_cursor: text.nullable().describe("The cursor of the next page; null: this is the last"),
  })
  .meta({ id: "AccountExport" });

export const exports = {
  export_client: { answer: ClientExport, errors: ["PGRST301", "validation_failed"] },
  export_account: { answer: AccountExport, errors: ["validation_failed"] },
} satisfies Record<string, RpcShape>;

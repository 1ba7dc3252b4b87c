/** RPCs of the other functions and of operators, for nobody but the server. */
import { z } from "zod";
import {
  bookingStatus,
  cancelledBy,
  currency,
  id,
  instant,
  language,
  orderKind,
  orderStatus,
  paymentKind,
  paymentStatus,
  text,
  timeZone,
  version,
} from "./common.ts";
import { shippingAddress } from "./rows.ts";
import type { RpcShape } from "./rpc.ts";
import { BookingReceipt } from "./rpc-bookings.ts";
import { mailAudience, mailKind, mailStatus } from "./rpc-data.ts";
import { OrderReceipt } from "./rpc-orders.ts";

const seconds = z.int().min(1).describe("Seconds");
const unix = z.int().describe("Unix seconds");
const linkEpoch = z.int().min(1);
const generation = z.int().min(0);

const checked = ["validation_failed"] as const;

const session = {
  session_id: id,
  issued_at: unix,
  expires_at: unix,
  professional: z.strictObject({
    id,
    full_name: text,
    username: text,
    time_zone: timeZone,
    currency,
  }),
};

const decimal = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .describe("An amount, with the decimals of its currency");

const MailBooking = z.strictObject({
  id,
  version,
  status: bookingStatus,
  service_name: text,
  starts_at: instant,
  ends_at: instant,
  price: decimal,
  currency,
  notes: text.nullable(),
  cancel_reason: text.nullable(),
  cancelled_by: cancelledBy.nullable(),
  location: text.nullable(),
  instructions: text.nullable(),
  cancel_until: instant,
  updated_at: instant,
  created_at: instant,
});

const MailOrder = z.strictObject({
  id,
  number: z.int().min(1),
  kind: orderKind,
  status: orderStatus,
  items: z.array(
    z.strictObject({
      name: text,
      quantity: z.int().min(1),
      unit_price: decimal,
      total: decimal,
    }),
  ),
  subtotal: decimal,
  discount: decimal,
  tax: decimal,
  total: decimal,
  currency,
  payment_status: paymentStatus,
  amount_paid: decimal,
  amount_refunded: decimal,
  shipping_address: shippingAddress.nullable(),
  notes: text.nullable(),
  updated_at: instant,
});

const ClaimedMail = z.strictObject({
  mail_id: id,
  claim_token: id,
  attempt: z.int().min(1).max(5),
  audience: mailAudience,
  kind: mailKind,
  language,
  to: z.strictObject({ email: text, name: text.nullable() }),
  professional: z.strictObject({
    id,
    full_name: text,
    username: text,
    email: text.nullable(),
    phone: text.nullable(),
    address: text.nullable(),
    footer: text.nullable(),
    time_zone: timeZone,
    email_to_confirm: text.optional().describe("With confirm_address"),
    failing_calendars: z
      .array(z.strictObject({ host: text, failing_since: instant }))
      .optional()
      .describe("With calendar_failing"),
  }),
  client: z
    .strictObject({
      id,
      name: text,
      email: text.nullable(),
      phone: text.nullable(),
      link_epoch: linkEpoch,
      proven: z.boolean().describe("Whether the address has proved itself"),
    })
    .nullable(),
  may_quote: z.boolean(),
  booking: MailBooking.nullable(),
  order: MailOrder.nullable(),
  payment: z
    .strictObject({
      id,
      kind: paymentKind,
      amount: decimal,
      currency,
      method: text.nullable(),
      created_at: instant,
    })
    .nullable(),
  address_token_subject: z.null(),
  endpoint: z.null(),
});

const status = text.describe("ok, or what is wrong");

export const servers = {
  confirm_hold: {
    answer: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("booking"), booking: BookingReceipt, order: z.null() }),
      z.strictObject({ kind: z.literal("order"), booking: z.null(), order: OrderReceipt }),
    ]),
    errors: [...checked, "PGRST301", "slot_taken", "hold_expired", "invalid_transition"],
  },
  start_portal_code: {
    answer: z.union([
      z.strictObject({ retry_after: seconds, recipient: z.null() }),
      z.strictObject({
        retry_after: z.null(),
        recipient: z
          .strictObject({ client_id: id, generation, email: text, professional_name: text })
          .describe("Made up where nobody has the address"),
      }),
    ]),
    errors: [...checked],
  },
  set_portal_code: {
    answer: z.boolean().describe("false: a newer one was asked for, or nobody has the address"),
    errors: [...checked],
  },
  count_link_use: {
    answer: z.int().min(0).describe("Seconds to wait; 0: none"),
    errors: [...checked],
  },
  start_booking_session: {
    answer: z
      .strictObject({ ...session, booking_id: id, client: z.strictObject({ id, name: text }) })
      .nullable()
      .describe("null: the link opens nothing"),
    errors: [...checked],
  },
  start_portal_verification: {
    answer: z.union([
      z.strictObject({ retry_after: seconds, client_id: z.null(), generation: z.null() }),
      z.strictObject({ retry_after: z.null(), client_id: id, generation }),
    ]),
    errors: [...checked],
  },
  finish_portal_verification: {
    answer: z
      .strictObject({
        ...session,
        booking_id: z.null(),
        client: z.strictObject({ id, name: text, email: text }),
      })
      .nullable()
      .describe("null: the code is wrong"),
    errors: [...checked],
  },
  end_portal_session: { answer: z.undefined(), errors: [...checked] },
  exchange_api_key: {
    answer: z.union([
      z.strictObject({ retry_after: seconds, session: z.null() }),
      z.strictObject({
        retry_after: z.null(),
        session: z
          .strictObject({ key_id: id, professional_id: id, issued_at: unix, expires_at: unix })
          .nullable()
          .describe("null: the key does not count"),
      }),
    ]),
    errors: [...checked],
  },
  report_portal_address: {
    answer: z.undefined(),
    nullable: ["portal_url"],
    errors: [...checked],
  },
  claim_account_deletions: {
    answer: z.array(
      z.strictObject({
        account_id: id,
        claim_token: id,
        recipient: text.nullable().describe("null: no mail may go"),
        language,
      }),
    ),
    nullable: ["account_id"],
    errors: [...checked],
  },
  finish_account_deletion: { answer: z.undefined(), errors: [...checked] },
  confirm_professional_address: {
    answer: z.boolean().describe("false: the account has another address by now"),
    errors: [...checked],
  },
  claim_mails: { answer: z.array(ClaimedMail), errors: [...checked] },
  finish_mail: {
    answer: z
      .strictObject({
        status: mailStatus,
        next_attempt_at: instant.nullable().describe("null: there is none"),
      })
      .nullable()
      .describe("null: the claim has been lost"),
    errors: [...checked],
  },
  record_mail_event: {
    answer: z.boolean().describe("false: no mail has this id"),
    args: { detail: z.record(z.string(), z.unknown()) },
    errors: [...checked],
  },
  unsubscribe_client: {
    answer: z.boolean().describe("false: the link is of an earlier epoch"),
    errors: [...checked],
  },
  claim_webhook_deliveries: {
    answer: z.array(
      z.strictObject({
        delivery_id: id,
        claim_token: id,
        event_id: id,
        url: text,
        secrets: z.array(text).min(1),
        body: text,
      }),
    ),
    errors: [...checked],
  },
  finish_webhook_delivery: {
    answer: z
      .strictObject({
        reason: z.enum(["gone", "failing"]),
        host: text.nullable(),
        email: text.describe("Of the owner, who is to be told"),
      })
      .nullable()
      .describe("null: nobody is to be told"),
    errors: [...checked],
  },
  health: {
    answer: z
      .strictObject({
        pre_request: status,
        request_counter: status,
        deliveries: status,
        dispatcher: status,
        mail: status,
        payments: status,
        calendar: status,
        accounts: status,
        jobs: status,
        time_zones: status,
        secrets: status,
        triggers: status,
        roles: status,
        links: status,
        grants: status,
      })
      .describe("State of the installation"),
    errors: [],
  },
} satisfies Record<string, RpcShape>;

/** RPCs about mails that were sent, and clients who want to be forgotten. */
import { z } from "zod";
import { id, idOnly, instant, text } from "./common.ts";
import type { RpcShape } from "./rpc.ts";

export const mailKind = z
  .enum([
    "booking_received",
    "booking_confirmed",
    "booking_moved",
    "booking_cancelled",
    "booking_reminder",
    "booking_to_confirm",
    "order_received",
    "order_confirmed",
    "order_cancelled",
    "order_to_confirm",
    "payment_received",
    "payment_returned",
    "payment_refunded",
    "new_booking",
    "new_order",
    "payment_refund_failed",
    "client_undeliverable",
    "calendar_failing",
    "calendar_disconnected",
    "confirm_address",
  ])
  .meta({ id: "MailKind" });

export const mailAudience = z.enum(["client", "professional"]).meta({ id: "MailAudience" });

export const mailStatus = z
  .enum(["queued", "sent", "dropped", "failed"])
  .meta({ id: "MailStatus" });

export const mailOutcome = z
  .enum([
    "delivered",
    "bounced",
    "complained",
    "suppressed",
    "failed",
    "refused",
    "gave_up",
    "too_late",
    "outdated",
    "already_told",
    "switched_off",
    "no_address",
    "unsubscribed",
    "suspended",
    "owner_not_confirmed",
    "undeliverable",
    "daily_limit",
  ])
  .meta({ id: "MailOutcome" });

const MailRecord = z
  .strictObject({
    id,
    audience: mailAudience,
    kind: mailKind,
    recipient: text.nullable().describe("null: it was not tried yet"),
    status: mailStatus,
    outcome: mailOutcome
      .nullable()
      .describe("Why it was dropped or has failed, or what the provider said of it since"),
    client_id: id.nullable(),
    booking_id: id.nullable(),
    order_id: id.nullable(),
    created_at: instant,
    due_at: instant.nullable().describe("When it goes; null unless queued"),
    finished_at: instant.nullable().describe("null while queued"),
  })
  .meta({ id: "MailRecord" });

export const data = {
  mails: { answer: z.array(MailRecord), errors: ["PGRST301", "validation_failed"] },
  erase_client: { answer: idOnly, errors: ["PGRST301", "validation_failed"] },
} satisfies Record<string, RpcShape>;

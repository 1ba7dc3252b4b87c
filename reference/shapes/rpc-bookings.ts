/** RPCs about when somebody can be booked, and bookings. */
import { z } from "zod";
import {
  amount,
  availability,
  bookingStatus,
  count,
  currency,
  date,
  id,
  instant,
  language,
  minutes,
  productOptions,
  servicePayment,
  text,
  timeZone,
  version,
} from "./common.ts";
import type { RpcShape } from "./rpc.ts";

const AvailableSlots = z
  .strictObject({
    time_zone: timeZone.describe("The professional's, in which the days are"),
    duration: z.number().min(0).describe("Minutes; of a booking that moves, its own"),
    days: z.array(
      z.strictObject({
        date,
        slots: z.array(z.strictObject({ starts_at: instant, ends_at: instant })),
      }),
    ),
  })
  .meta({ id: "AvailableSlots" });

/** Why a start cannot be booked; each is also the code of the error of whoever tries. */
const SLOT_REASONS = [
  "not_accepting",
  "inactive",
  "past",
  "too_soon",
  "too_far",
  "closed_date",
  "outside_hours",
  "not_on_grid",
  "slot_taken",
] as const;

const SlotExplanation = z
  .strictObject({
    reason: z.enum(["available", ...SLOT_REASONS, "busy"]).meta({
      id: "SlotReason",
      description: "busy: for the professional by whose calendar it is",
    }),
    next_starts: z.array(instant).max(3).describe("The next free ones, within 62 days"),
  })
  .meta({ id: "SlotExplanation" });

const hold = {
  expires_at: instant
    .nullable()
    .describe("Of a hold: until when it has to be confirmed or paid; null: it is none"),
  checkout_token: text.nullable().describe("Opens a payment page; null: nothing is due"),
  amount_due: amount.nullable().describe("For how much that page is; null: nothing is due"),
};

const booked = {
  id,
  professional_id: id,
  status: bookingStatus,
  starts_at: instant,
  ends_at: instant,
  price: amount,
  currency,
  notes: text.nullable(),
  version,
};

export const BookingReceipt = z
  .strictObject({
    ...booked,
    service_id: id,
    service_name: text,
    cancel_until: instant.describe("The last moment at which the client may cancel or move"),
    ...hold,
    order_id: id.nullable().describe("The order that was made with it, by which it is paid"),
  })
  .meta({ id: "BookingReceipt" });

const BlockedTimeReceipt = z
  .strictObject({
    ...booked,
    service_id: z.null(),
    service_name: z.null(),
    cancel_until: z.null(),
    expires_at: z.null(),
    order_id: z.null(),
    checkout_token: z.null(),
    amount_due: z.null(),
  })
  .meta({ id: "BlockedTimeReceipt" });

const ChangedBooking = z.union([BookingReceipt, BlockedTimeReceipt]);

const product = {
  id,
  name: text,
  description: text.nullable(),
  category: text.nullable(),
  image_url: text.nullable(),
  sku: text.nullable(),
  options: productOptions,
  price: amount,
  in_stock: z.boolean(),
};

const PublicVariant = z.strictObject(product).meta({ id: "PublicVariant" });

const BookingPage = z
  .strictObject({
    professional: z
      .strictObject({
        id,
        username: text,
        full_name: text,
        niche: text.nullable(),
        bio: text.nullable(),
        image_url: text.nullable(),
        time_zone: timeZone,
        currency,
        prices_include_tax: z.boolean(),
        orders_need_payment: z.boolean(),
        hours: availability,
        contact_email: text.nullable(),
        contact_phone: text.nullable(),
        address: text.nullable(),
      })
      .meta({ id: "PublicProfessional" }),
    services: z.array(
      z
        .strictObject({
          id,
          name: text,
          description: text.nullable(),
          category: text.nullable(),
          image_url: text.nullable(),
          price: amount,
          payment: servicePayment,
          deposit: amount.nullable().describe("Where payment is deposit"),
          duration: minutes,
          min_notice: minutes,
          max_advance_days: count,
          cancellation_notice: minutes,
          requires_confirmation: z.boolean(),
          location: text.nullable().describe("null also where it is a link"),
        })
        .meta({ id: "PublicService" }),
    ),
    products: z.array(
      z
        .strictObject({
          ...product,
          variants: z.array(PublicVariant).describe("With some of them, only these can be ordered"),
        })
        .meta({ id: "PublicProduct" }),
    ),
  })
  .meta({ id: "BookingPage" });

export const bookings = {
  available_slots: {
    answer: AvailableSlots,
    errors: ["PGRST301", "invalid_date", "invalid_range", "range_too_long", "validation_failed"],
  },
  explain_slot: {
    answer: SlotExplanation,
    errors: ["PGRST301", "invalid_time", "validation_failed"],
  },
  create_booking: {
    answer: BookingReceipt,
    args: { language },
    errors: [
      "PGRST301",
      ...SLOT_REASONS,
      "busy",
      "invalid_time",
      "validation_failed",
      "invalid_idempotency_key",
      "idempotency_key_reused",
      "payments_unavailable",
      "amount_not_payable",
      "total_too_large",
      "too_many_open",
      "rate_limit_exceeded",
    ],
  },
  cancel_booking: {
    answer: ChangedBooking,
    errors: ["PGRST301", "invalid_transition", "too_late", "validation_failed"],
  },
  reschedule_booking: {
    answer: ChangedBooking,
    errors: [
      "PGRST301",
      ...SLOT_REASONS,
      "23514",
      "invalid_transition",
      "invalid_time",
      "too_late",
      "validation_failed",
    ],
  },
  booking_page: {
    answer: BookingPage,
    errors: ["PGRST301", "validation_failed"],
  },
} satisfies Record<string, RpcShape>;

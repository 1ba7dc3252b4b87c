/**
 * What `claim_mails` says of one mail, checked where it comes in. Keys that are not named here are left
 * out instead of refused: the database may be newer than the function that is running.
 */
import { z } from "zod";
import { LANGUAGES } from "./texts/index.ts";

/** Kinds of mail by what they are about. */
export const KINDS = {
  client: {
    booking: [
      "booking_received",
      "booking_confirmed",
      "booking_moved",
      "booking_cancelled",
      "booking_reminder",
      "booking_to_confirm",
    ],
    order: ["order_received", "order_confirmed", "order_cancelled", "order_to_confirm"],
    payment: ["payment_received", "payment_returned", "payment_refunded"],
  },
  professional: {
    booking: ["new_booking", "booking_moved", "booking_cancelled"],
    order: ["new_order"],
    payment: ["payment_received", "payment_returned", "payment_refund_failed"],
    client: ["client_undeliverable"],
    address: ["confirm_address"],
    calendars: ["calendar_failing"],
    google: ["calendar_disconnected"],
  },
} as const;

const text = z.string();
const instant = z.iso.datetime();
/** As a decimal text; lines of an order may have JSON numbers. */
const amount = z
  .union([z.string(), z.number().transform(String)])
  .pipe(z.string().regex(/^\d{1,15}(\.\d+)?$/, { error: "is not an amount" }));
const currency = z.string().regex(/^[A-Z]{3}$/);

const Professional = z.object({
  id: text,
  full_name: text,
  username: text.nullable(),
  /** `contact_email`: where answers go. */
  email: text.nullable(),
  phone: text.nullable(),
  address: text.nullable(),
  footer: text.nullable(),
  time_zone: text,
});

const Client = z.object({
  id: text,
  name: text,
  email: text.nullable(),
  phone: text.nullable(),
  link_epoch: z.int(),
  /** Whether the address has proved itself to this professional. */
  proven: z.boolean(),
});

const Booking = z.object({
  id: text,
  version: z.int().min(0),
  status: z.enum(["pending", "confirmed", "cancelled", "completed", "no_show"]),
  service_name: text,
  starts_at: instant,
  ends_at: instant,
  price: amount,
  currency,
  notes: text.nullable(),
  cancel_reason: text.nullable(),
  cancelled_by: z.enum(["owner", "client", "system"]).nullable(),
  location: text.nullable(),
  instructions: text.nullable(),
  /** Until when the client may move or cancel it. */
  cancel_until: instant.nullable(),
  updated_at: instant,
});

const Order = z.object({
  id: text,
  number: z.int(),
  status: z.enum(["pending", "confirmed", "fulfilled", "cancelled"]),
  items: z.array(z.object({ name: text, quantity: z.number(), unit_price: amount, total: amount })),
  subtotal: amount,
  discount: amount,
  tax: amount,
  total: amount,
  currency,
  payment_status: text,
  amount_paid: amount,
  amount_refunded: amount,
  shipping_address: z.record(z.string(), z.unknown()).nullable(),
  notes: text.nullable(),
});

const Payment = z.object({
  id: text,
  kind: z.enum(["payment", "refund"]),
  amount,
  currency,
  method: text.nullable(),
});

const mail = {
  mail_id: text,
  claim_token: text,
  attempt: z.int(),
  /** One that is newer than this function is better told in English than not at all. */
  language: z.enum(LANGUAGES).catch("en"),
  to: z.object({ email: text, name: text.nullable() }),
  professional: Professional,
  client: Client.nullable(),
  /** Whether what the booker typed may go to the client; the professional always sees it. */
  may_quote: z.boolean(),
};

const toClient = { ...mail, audience: z.literal("client"), client: Client };
const toProfessional = { ...mail, audience: z.literal("professional") };

const ClientMail = z.discriminatedUnion("kind", [
  z.object({ ...toClient, kind: z.enum(KINDS.client.booking), booking: Booking }),
  z.object({ ...toClient, kind: z.enum(KINDS.client.order), order: Order }),
  z.object({ ...toClient, kind: z.enum(KINDS.client.payment), order: Order, payment: Payment }),
]);

const ProfessionalMail = z.discriminatedUnion("kind", [
  z.object({
    ...toProfessional,
    kind: z.enum(KINDS.professional.booking),
    client: Client,
    booking: Booking,
  }),
  z.object({
    ...toProfessional,
    kind: z.enum(KINDS.professional.order),
    client: Client,
    order: Order,
  }),
  z.object({
    ...toProfessional,
    kind: z.enum(KINDS.professional.payment),
    client: Client,
    order: Order,
    payment: Payment,
  }),
  z.object({ ...toProfessional, kind: z.enum(KINDS.professional.client), client: Client }),
  z.object({
    ...toProfessional,
    kind: z.enum(KINDS.professional.address),
    professional: Professional.extend({ email_to_confirm: text }),
  }),
  z.object({ ...toProfessional, kind: z.enum(KINDS.professional.google) }),
  z.object({
    ...toProfessional,
    kind: z.enum(KINDS.professional.calendars),
    professional: Professional.extend({
      failing_calendars: z.array(z.object({ host: text, failing_since: instant })).min(1),
    }),
  }),
]);

/** One claimed mail. Parse them one by one: a broken one must not keep the others. */
export const MailFacts = z.discriminatedUnion("audience", [ClientMail, ProfessionalMail]);

export type MailFacts = z.infer<typeof MailFacts>;
export type ClientMail = z.infer<typeof ClientMail>;
export type ProfessionalMail = z.infer<typeof ProfessionalMail>;
export type Professional = z.infer<typeof Professional>;
export type Client = z.infer<typeof Client>;
export type Booking = z.infer<typeof Booking>;
export type Order = z.infer<typeof Order>;
export type Payment = z.infer<typeof Payment>;

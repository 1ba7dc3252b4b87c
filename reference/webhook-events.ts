/**
 * What receivers can rely on: a schema for each type of event, written to
 * docs/webhook-events.schema.json. Tests hold real events against them.
 */
import { z } from "zod";
import { EVENT_TYPES, type EventType } from "../supabase/functions/webhooks/event-types.ts";
import {
  amount,
  bookingStatus,
  cancelledBy,
  count,
  currency,
  id,
  instant,
  language,
  metadata,
  minutes,
  orderKind,
  orderStatus,
  paymentFlag,
  paymentKind,
  paymentProvider,
  paymentStatus,
  productOptions,
  servicePayment,
  source,
  text,
  version,
} from "./shapes/common.ts";

const row = { id, created_at: instant, updated_at: instant, professional_id: id };

const Service = z
  .strictObject({
    ...row,
    name: text,
    description: text.nullable(),
    category: text.nullable(),
    image_url: text.nullable(),
    price: amount,
    payment: servicePayment,
    deposit: amount.nullable().describe("Where payment is deposit"),
    duration: minutes,
    buffer_before: minutes,
    buffer_after: minutes,
    slot_step: minutes.nullable(),
    min_notice: minutes,
    max_advance_days: count,
    cancellation_notice: minutes,
    requires_confirmation: z.boolean(),
    active: z.boolean(),
    location: text.nullable().describe("A text, or a https link"),
    instructions: text.nullable(),
    metadata,
  })
  .meta({ id: "service" });

const Client = z
  .strictObject({
    ...row,
    name: text,
    email: text.nullable(),
    phone: text.nullable(),
    notes: text.nullable(),
    tags: z.array(text),
    archived: z.boolean(),
    metadata,
    language: language.nullable().describe("Of mails; null: the professional's"),
    reminders: z.boolean().describe("Whether the client wants reminders"),
    mail_status: z.enum(["ok", "undeliverable"]),
    link_epoch: z.int().min(1).describe("Rises when portal sessions of the client end for good"),
    email_key: text.nullable().describe("The e-mail address in the form it is compared in"),
  })
  .meta({ id: "client" });

const Product = z
  .strictObject({
    ...row,
    parent_id: id.nullable().describe("Of a variant: the product it is one of"),
    name: text,
    description: text.nullable(),
    category: text.nullable(),
    image_url: text.nullable(),
    sku: text.nullable(),
    options: productOptions,
    price: amount,
    stock: count.nullable().describe("null: not tracked"),
    low_stock_at: count.nullable(),
    in_stock: z.boolean().describe("Of a product with variants: whether any active one is"),
    active: z.boolean(),
    metadata,
  })
  .meta({ id: "product" });

const Booking = z
  .strictObject({
    ...row,
    client_id: id,
    service_id: id,
    service_name: text,
    starts_at: instant,
    ends_at: instant,
    buffer_before: minutes,
    buffer_after: minutes,
    cancellation_notice: minutes,
    status: bookingStatus,
    price: amount,
    currency,
    notes: text.nullable().describe("The client sees these"),
    internal_notes: text.nullable(),
    source,
    cancel_reason: text.nullable(),
    cancelled_at: instant.nullable(),
    cancelled_by: cancelledBy.nullable(),
    expires_at: z.null().describe("What has an expiry is no booking yet, and nobody is told of it"),
    checkout_open: z.literal(false),
    email_confirmed_at: instant.nullable().describe("The link in its own mail was opened"),
    version,
    metadata,
  })
  .meta({ id: "booking" });

const Line = z
  .strictObject({
    product_id: id.optional(),
    service_id: id.optional(),
    name: text,
    sku: text.nullable(),
    options: productOptions,
    unit_price: amount,
    quantity: z.int().min(1),
    total: amount,
  })
  .meta({ id: "line" });

const Order = z
  .strictObject({
    ...row,
    client_id: id,
    number: z.int().min(1),
    kind: orderKind,
    booking_id: id.nullable(),
    items: z.array(Line),
    subtotal: amount,
    discount: amount,
    tax: amount,
    total: amount,
    deposit: amount.nullable().describe("What had to be paid first; null: all of it"),
    currency,
    status: orderStatus,
    amount_paid: amount,
    amount_refunded: amount,
    payment_status: paymentStatus,
    shipping_address: metadata.nullable(),
    notes: text.nullable().describe("The client sees these"),
    internal_notes: text.nullable(),
    source,
    expires_at: z.null().describe("What has an expiry is no order yet, and nobody is told of it"),
    checkout_open: z.boolean().describe("While pending: a payment page may be open"),
    email_confirmed_at: instant.nullable().describe("The link in its own mail was opened"),
    version,
    metadata,
  })
  .meta({ id: "order" });

const Payment = z
  .strictObject({
    id,
    kind: paymentKind,
    amount,
    method: text.nullable().describe("null but for a payment"),
    reference: text.nullable(),
    reason: text.nullable(),
    created_at: instant,
    provider: paymentProvider,
    flag: paymentFlag.nullable().describe("What should be looked at"),
    order: z.strictObject({
      id,
      number: z.int().min(1),
      currency,
      payment_status: paymentStatus,
    }),
  })
  .meta({ id: "payment" });

const FailedRefund = Payment.extend({
  refund: z
    .strictObject({
      amount,
      cause: z.enum(["cancelled", "overpaid", "late"]).describe("Why it should have gone back"),
      failure: text.nullable().describe("In the provider's words"),
    })
    .describe("What of the payment should have gone back by itself"),
}).meta({ id: "failed_refund" });

const Undeliverable = z
  .strictObject({
    reason: z.enum(["bounced", "complained", "suppressed"]),
    mail: z.strictObject({
      id,
      kind: text.describe("Such as booking_confirmed"),
      booking_id: id.nullable(),
      order_id: id.nullable(),
    }),
    client: z.strictObject({ id, name: text, email: text }),
  })
  .meta({ id: "undeliverable" });

const Test = z.strictObject({ endpoint_id: id }).meta({ id: "test" });

/**
 * The changed fields as they were. What never changes is not among them, nor what changes with
 * everything else.
 */
const FIXED = ["id", "created_at", "updated_at", "professional_id", "version"];

function changeable(row: z.ZodObject, name: string) {
  const fields = Object.entries(row.partial().shape).filter(([field]) => !FIXED.includes(field));
  return z
    .strictObject(Object.fromEntries(fields))
    .meta({ id: `${name}.previous` })
    .nullable();
}

const OBJECTS: Record<string, { data: z.ZodObject; previous: z.ZodType }> = {
  booking: { data: Booking, previous: changeable(Booking, "booking") },
  order: { data: Order, previous: changeable(Order, "order") },
  client: { data: Client, previous: changeable(Client, "client") },
  product: { data: Product, previous: changeable(Product, "product") },
  service: { data: Service, previous: changeable(Service, "service") },
  payment: { data: Payment, previous: z.null() },
  mail: { data: Undeliverable, previous: z.null() },
  webhook: { data: Test, previous: z.null() },
};

/** Types that say something else than the others of their object. */
const OTHER_DATA: { [Type in EventType]?: z.ZodObject } = { "payment.refund_failed": FailedRefund };

function eventSchema(type: EventType): z.ZodType {
  const [object, kind] = type.split(".") as [string, string];
  const { data, previous } = OBJECTS[object] as (typeof OBJECTS)[string];
  return z
    .strictObject({
      id: id.describe("The same on every try and in the header webhook-id"),
      type: z.literal(type),
      timestamp: instant,
      version: z.literal(1).describe("Of this format"),
      professional_id: id,
      sequence: z.int().min(1).describe("Later changes of a professional have higher numbers"),
      data: OTHER_DATA[type] ?? data,
      previous: kind === "created" || kind === "deleted" ? z.null() : previous,
    })
    .meta({ id: type });
}

/** The schema of each type's body. */
export const EVENT_SCHEMAS = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, eventSchema(type)]),
) as Record<EventType, z.ZodType>;

/**
 * The text of the file: JSON Schema of an event of any type; those of the types are in `$defs` under their names. Fields may
 * be added, so they allow for more than there is; the schemas here do not, so that tests find out.
 */
export function schemasText(): string {
  const schema = z.toJSONSchema(z.union(Object.values(EVENT_SCHEMAS)), {
    override({ jsonSchema }) {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // The format says it already, in fewer words.
      if (jsonSchema.format === "uuid") delete jsonSchema.pattern;
      if (jsonSchema.format === "date-time") jsonSchema.pattern = "\\.\\d{3}Z$";
    },
  });
  return `${JSON.stringify({ title: "Webhook events", ...schema }, null, 2)}\n`;
}

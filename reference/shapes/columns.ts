/**
 * What is in the JSON columns of the six tables, where they are not null, as it is read. Lists of values
 * are in the catalogue (checks, tables behind foreign keys), and so is all else of a column.
 */
import { z } from "zod";
import { amount, availability, id, metadata, productOptions } from "./common.ts";
import { OrderLine, shippingAddress } from "./rows.ts";

/** Of `private.mail_kinds()`, which a test compares: what can be switched off. */
export const CLIENT_MAILS = [
  "booking_received",
  "booking_confirmed",
  "booking_moved",
  "booking_cancelled",
  "booking_reminder",
  "order_received",
  "order_confirmed",
  "order_cancelled",
  "payment_received",
  "payment_returned",
  "payment_refunded",
] as const;

export const PROFESSIONAL_MAILS = [
  "new_booking",
  "booking_moved",
  "booking_cancelled",
  "new_order",
  "payment_received",
  "payment_returned",
  "payment_refund_failed",
  "client_undeliverable",
  "calendar_failing",
  "calendar_disconnected",
] as const;

const switches = <Kind extends string>(kinds: readonly Kind[]) =>
  z.partialRecord(z.enum(kinds as [Kind, ...Kind[]]), z.boolean());

const MailSettings = z
  .strictObject({
    client: switches(CLIENT_MAILS).optional().describe("To clients"),
    professional: switches(PROFESSIONAL_MAILS).optional().describe("To the professional"),
  })
  .meta({ id: "MailSettings", description: "What is false is not sent; what is left out is" });

export const COLUMNS: Record<string, z.ZodType> = {
  "profiles.availability": availability,
  "profiles.mail_settings": MailSettings,
  "services.metadata": metadata,
  "clients.metadata": metadata,
  "products.options": productOptions,
  "products.metadata": metadata,
  "bookings.metadata": metadata,
  "orders.items": z.array(OrderLine).min(1).max(200),
  "orders.shipping_address": shippingAddress,
  "orders.metadata": metadata,
};

const quantity = z.int().min(1).max(100_000);

/** Of the catalogue: name and price are looked up and kept. */
const LineOfProduct = z
  .strictObject({ product_id: id, quantity })
  .meta({ id: "NewProductLine", description: "In orders of kind product" });

const LineOfService = z
  .strictObject({ service_id: id, quantity })
  .meta({ id: "NewServiceLine", description: "In orders of kind service" });

const LineOfAnything = z
  .strictObject({
    name: z.string().min(1).max(200),
    unit_price: amount.max(999_999_999_999.999),
    quantity,
  })
  .meta({ id: "NewFreeLine", description: "Of something that is not in the catalogue" });

/** What is written, where it is not what is read. */
export const WRITTEN_COLUMNS: Record<string, z.ZodType> = {
  "orders.items": z
    .array(
      z
        .union([LineOfProduct, LineOfService, LineOfAnything])
        .meta({ id: "NewOrderLine", description: "What is written into items of an order" }),
    )
    .min(1)
    .max(200),
};

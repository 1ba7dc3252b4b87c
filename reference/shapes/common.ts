/** Shapes that answers have in common. */
import { z } from "zod";

/** Of any version, as Postgres takes it. */
export const id = z.guid();

export const instant = z.iso
  .datetime({ precision: 3 })
  .describe("UTC, with milliseconds and Z: 2027-03-01T09:00:00.000Z");

export const date = z.iso.date().describe("A day: 2027-03-01");

export const text = z.string();

export const amount = z.number().min(0).describe("In the currency of the row, exact");

export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .describe("ISO 4217");

export const minutes = z.int().min(0).describe("Minutes");

export const count = z.int().min(0);

export const version = z.int().min(1).describe("Rises with every change of the row");

export const timeZone = text.describe("IANA name of a time zone: Europe/Rome");

export const language = z
  .enum(["en", "it"])
  .meta({ id: "Language", description: "In which mails are written" });

/** What the owner of a row keeps there; nothing reads it. */
export const metadata = z.record(z.string(), z.unknown()).describe("Yours: nothing reads it");

/** What tells a variant from the others of its product. */
export const productOptions = z
  .record(z.string(), z.unknown())
  .describe('What tells a variant apart: {"size": "M"}');

export const bookingStatus = z
  .enum(["pending", "confirmed", "cancelled", "completed", "no_show"])
  .meta({ id: "BookingStatus" });

export const orderStatus = z
  .enum(["pending", "confirmed", "fulfilled", "cancelled"])
  .meta({ id: "OrderStatus" });

export const orderKind = z.enum(["product", "service"]).meta({ id: "OrderKind" });

export const paymentStatus = z
  .enum(["unpaid", "partially_paid", "paid", "partially_refunded", "refunded"])
  .meta({ id: "PaymentStatus" });

/** Who made a booking or an order. */
export const source = z.enum(["owner", "public", "portal"]).meta({ id: "Source" });

/** `system` ends holds that are over. */
export const cancelledBy = z.enum(["owner", "client", "system"]).meta({ id: "CancelledBy" });

/** What of a service has to be paid to book it. */
export const servicePayment = z.enum(["none", "deposit", "full"]).meta({ id: "ServicePayment" });

export const paymentKind = z
  .enum(["payment", "refund", "refund_reversal", "dispute", "dispute_reversal"])
  .meta({ id: "PaymentKind" });

export const paymentProvider = z.enum(["manual", "stripe"]).meta({ id: "PaymentProvider" });

export const paymentFlag = z
  .enum(["exceeds_total", "refund_exceeds_paid", "amount_differs", "refund_failed"])
  .meta({ id: "PaymentFlag" });

const windows = z
  .array(z.tuple([text, text]))
  .describe("From and until, as HH:MM; an end at or before its start is on the next day");

/** Working hours by the local time of the professional. */
export const availability = z
  .strictObject({
    weekly: z
      .partialRecord(z.enum(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]), windows)
      .describe("A day that is left out is closed"),
    overrides: z
      .record(date, windows)
      .optional()
      .describe("Dates that have other hours; none: closed"),
  })
  .meta({ id: "Availability" });

/** What the rules answer where there is nothing to say but which row it was. */
export const idOnly = z.strictObject({ id });

/** A list in pages: what follows begins at `next_cursor`. */
export function page<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    data: z.array(row),
    next_cursor: id.nullable().describe("The cursor of the next page; null: this is the last"),
  });
}

/** A list that is short enough to come whole, in the form of those in pages. */
export function list<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ data: z.array(row), next_cursor: z.null() });
}

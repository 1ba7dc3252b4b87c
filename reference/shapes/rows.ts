/** Rows of tables, as RPCs answer them whole. */
import { z } from "zod";
import {
  amount,
  availability,
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
  paymentStatus,
  productOptions,
  servicePayment,
  source,
  text,
  timeZone,
  version,
} from "./common.ts";

const row = { id, created_at: instant, updated_at: instant, professional_id: id };

export const ProfileRow = z.strictObject({
  id,
  created_at: instant,
  updated_at: instant,
  full_name: text,
  username: text,
  niche: text.nullable(),
  bio: text.nullable(),
  image_url: text.nullable(),
  time_zone: timeZone,
  currency,
  availability,
  accepts_bookings: z.boolean(),
  accepts_orders: z.boolean(),
  tax_rate: z.number().min(0).max(100).describe("Percent"),
  prices_include_tax: z.boolean(),
  unpaid_order_hours: z.int().min(1).nullable(),
  verify_public_email: z.boolean(),
  payment_minutes: minutes,
  orders_need_payment: z.boolean(),
  tier: z.enum(["free", "plus", "pro", "max", "ultra"]),
  language,
  mail_settings: z.record(z.string(), z.unknown()),
  reminders: z.array(minutes),
  contact_email: text.nullable(),
  contact_phone: text.nullable(),
  address: text.nullable(),
  public_contact: z.array(z.enum(["contact_email", "contact_phone", "address"])),
  mail_footer: text.nullable(),
});

export const ServiceRow = z.strictObject({
  ...row,
  name: text,
  description: text.nullable(),
  category: text.nullable(),
  image_url: text.nullable(),
  price: amount,
  payment: servicePayment,
  deposit: amount.nullable(),
  duration: minutes,
  buffer_before: minutes,
  buffer_after: minutes,
  slot_step: minutes.nullable(),
  min_notice: minutes,
  max_advance_days: count,
  cancellation_notice: minutes,
  requires_confirmation: z.boolean(),
  active: z.boolean(),
  location: text.nullable(),
  instructions: text.nullable(),
  metadata,
});

export const ProductRow = z.strictObject({
  ...row,
  parent_id: id.nullable(),
  name: text,
  description: text.nullable(),
  category: text.nullable(),
  image_url: text.nullable(),
  sku: text.nullable(),
  options: productOptions,
  price: amount,
  stock: count.nullable(),
  low_stock_at: count.nullable(),
  in_stock: z.boolean(),
  active: z.boolean(),
  metadata,
});

export const ClientRow = z.strictObject({
  ...row,
  name: text,
  email: text.nullable(),
  phone: text.nullable(),
  notes: text.nullable(),
  tags: z.array(text),
  archived: z.boolean(),
  metadata,
  language: language.nullable(),
  reminders: z.boolean(),
  mail_status: z.enum(["ok", "undeliverable"]),
  link_epoch: z.int().min(1),
  email_key: text.nullable(),
});

export const BookingRow = z.strictObject({
  ...row,
  client_id: id.nullable(),
  service_id: id.nullable(),
  service_name: text.nullable(),
  starts_at: instant,
  ends_at: instant,
  buffer_before: minutes,
  buffer_after: minutes,
  cancellation_notice: minutes,
  status: bookingStatus,
  price: amount,
  currency,
  notes: text.nullable(),
  internal_notes: text.nullable(),
  source,
  cancel_reason: text.nullable(),
  cancelled_at: instant.nullable(),
  cancelled_by: cancelledBy.nullable(),
  expires_at: instant.nullable(),
  checkout_open: z.boolean(),
  email_confirmed_at: instant.nullable(),
  version,
  metadata,
});

const line = {
  name: text,
  unit_price: amount,
  quantity: z.int().min(1),
  total: amount,
};

export const ProductLine = z
  .strictObject({ product_id: id, ...line, sku: text.nullable(), options: productOptions })
  .meta({ id: "ProductLine" });

const noOptions = z.strictObject({});

const ServiceLine = z
  .strictObject({ service_id: id, ...line, sku: z.null(), options: noOptions })
  .meta({ id: "ServiceLine" });

const FreeLine = z
  .strictObject({ ...line, sku: z.null(), options: noOptions })
  .meta({ id: "FreeLine", description: "Of something that is not in the catalogue" });

export const OrderLine = z
  .union([ProductLine, ServiceLine, FreeLine])
  .meta({ id: "OrderLine", description: "As ordered; it never changes" });

export const shippingAddress = z.record(z.string(), z.unknown());

export const OrderRow = z.strictObject({
  ...row,
  client_id: id,
  number: z.int().min(1),
  kind: orderKind,
  booking_id: id.nullable(),
  items: z.array(OrderLine),
  subtotal: amount,
  discount: amount,
  tax: amount,
  total: amount,
  deposit: amount.nullable(),
  currency,
  status: orderStatus,
  amount_paid: amount,
  amount_refunded: amount,
  payment_status: paymentStatus,
  shipping_address: shippingAddress.nullable(),
  notes: text.nullable(),
  internal_notes: text.nullable(),
  source,
  expires_at: instant.nullable(),
  checkout_open: z.boolean(),
  email_confirmed_at: instant.nullable(),
  version,
  metadata,
});

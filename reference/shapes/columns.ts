import { z } from "zod";
import { availability, metadata, productOptions } from "./common.ts";
export const COLUMNS: Record<string, z.ZodType> = {
  "profiles.availability": availability,
  "profiles.mail_settings": z.record(z.string(), z.record(z.string(), z.boolean())),
  "products.options": productOptions,
  "orders.items": z.array(z.string()),
  "orders.shipping_address": metadata,
};
for (const t of ["bookings", "clients", "orders", "products", "services"])
  COLUMNS[`${t}.metadata`] = metadata;

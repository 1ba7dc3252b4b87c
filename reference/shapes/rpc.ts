/** What every function of schema `public` answers, and which errors it raises. */
import type { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import { bookings } from "./rpc-bookings.ts";
import { calendar } from "./rpc-calendar.ts";
import { data } from "./rpc-data.ts";
import { exports } from "./rpc-exports.ts";
import { keys } from "./rpc-keys.ts";
import { orders } from "./rpc-orders.ts";
import { payments } from "./rpc-payments.ts";
import { servers } from "./rpc-servers.ts";
import { serverCalendar } from "./rpc-servers-calendar.ts";
import { serverPayments } from "./rpc-servers-payments.ts";
import { webhooks } from "./rpc-webhooks.ts";

export interface RpcShape {
  /** Of the answer; undefined for void. Rows of `returns setof` are a list. */
  answer: z.ZodType;
  /** Of JSON arguments and of those with listed values, by name; the catalogue has the others. */
  args?: Record<string, z.ZodType>;
  /** Arguments that may be null although they have no default. */
  nullable?: string[];
  /** Codes beside those that any call may be answered with. */
  errors: ErrorCode[];
}

export const RPCS: Record<string, RpcShape> = {
  ...bookings,
  ...orders,
  ...payments,
  ...calendar,
  ...keys,
  ...webhooks,
  ...data,
  ...exports,
  ...servers,
  ...serverPayments,
  ...serverCalendar,
};

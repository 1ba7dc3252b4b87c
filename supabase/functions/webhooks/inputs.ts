/** Shapes of what professionals send to the webhooks function. */
import { z } from "zod";
import { EVENT_FILTERS, EVENT_TYPES } from "./event-types.ts";

/** Longest body, in bytes. */
export const BODY_LIMIT = 20_000;

const endpoint = {
  // A parser of addresses would accept white space, and the database would not.
  url: z.string().max(2048).regex(/^\S+$/, { error: "is empty or has white space in it" }),
  events: z
    .array(z.enum(EVENT_FILTERS, { error: "is not a type of event" }))
    .min(1)
    .max(50),
  description: z.string().max(500).nullable(),
  enabled: z.boolean(),
};

export const NewEndpoint = z.strictObject({
  ...endpoint,
  description: endpoint.description.default(null),
  enabled: endpoint.enabled.default(true),
});

export const EndpointChanges = z.strictObject(endpoint).partial();

/** Seconds that the old secret goes on signing, at most a day. */
export const Rotation = z.strictObject({ grace: z.int().min(0).max(86_400).default(86_400) });

export const Redelivery = z.strictObject({ since: z.string().max(40) });

const limit = z
  .string()
  .regex(/^([1-9]\d?|100)$/, { error: "is not 1 to 100" })
  .default("100")
  .transform(Number);

export const DeliveriesQuery = z.strictObject({
  endpoint_id: z.guid().optional(),
  status: z.enum(["pending", "succeeded", "failed", "cancelled"]).optional(),
  cursor: z.guid().optional(),
  limit,
});

export const EventsQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, { error: "is not a sequence" })
    .transform(Number)
    .optional(),
  type: z.enum(EVENT_TYPES, { error: "is not a type of event" }).optional(),
  limit,
});

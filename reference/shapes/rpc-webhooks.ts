/** RPCs about webhooks. */
import { z } from "zod";
import { EVENT_FILTERS, EVENT_TYPES } from "../../supabase/functions/webhooks/event-types.ts";
import { EVENT_SCHEMAS } from "../webhook-events.ts";
import { count, id, instant, list, page, text } from "./common.ts";
import type { RpcShape } from "./rpc.ts";

export const eventType = z.enum(EVENT_TYPES).meta({ id: "EventType" });

export const eventFilter = z
  .enum(EVENT_FILTERS as [string, ...string[]])
  .meta({ id: "EventFilter", description: "All, those of an object, or one type" });

export const deliveryStatus = z
  .enum(["pending", "succeeded", "failed", "cancelled"])
  .meta({ id: "DeliveryStatus" });

export const WebhookEndpoint = z
  .strictObject({
    id,
    url: text,
    events: z.array(eventFilter),
    description: text.nullable(),
    enabled: z.boolean(),
    disabled_reason: z
      .enum(["owner", "gone", "failing"])
      .nullable()
      .describe("gone: it answered 410; failing: no success in five days; null while enabled"),
    created_at: instant,
  })
  .meta({ id: "WebhookEndpoint" });

export const WebhookEndpointWithSecret = WebhookEndpoint.extend({
  secret: text.describe("Not shown again"),
}).meta({ id: "WebhookEndpointWithSecret" });

const WebhookDelivery = z
  .strictObject({
    id,
    endpoint_id: id,
    event_id: id,
    type: eventType,
    status: deliveryStatus,
    attempts: count,
    next_attempt_at: instant.nullable().describe("null unless pending"),
    last_status: z.int().nullable().describe("HTTP; null: there was no answer yet"),
    created_at: instant,
  })
  .meta({ id: "WebhookDelivery" });

const WebhookAttempt = z
  .strictObject({
    started_at: instant,
    duration_ms: count.nullable().describe("null while it runs, or when its end was never told"),
    status: z.int().nullable().describe("HTTP; null without an answer"),
    response: text.nullable().describe("Its beginning"),
    error: text.nullable().describe("What went wrong before there was an answer"),
  })
  .meta({ id: "WebhookAttempt" });

const [first, ...others] = Object.values(EVENT_SCHEMAS) as [z.ZodObject, ...z.ZodObject[]];

export const WebhookEvent = z
  .discriminatedUnion("type", [first, ...others])
  .meta({ id: "WebhookEvent" });

const WebhookEndpointChanges = z
  .strictObject({
    url: text,
    events: z.array(eventFilter).min(1).max(50),
    description: text.nullable(),
    enabled: z.boolean(),
  })
  .partial()
  .meta({ id: "WebhookEndpointChanges" });

const queued = z.strictObject({ queued: count.describe("How many deliveries") });

const ofOne = ["PGRST301", "validation_failed"] as const;

export const webhooks = {
  create_webhook_endpoint: {
    answer: WebhookEndpointWithSecret,
    errors: ["person_required", "too_many_endpoints", "validation_failed"],
  },
  webhook_endpoints: { answer: list(WebhookEndpoint), errors: [] },
  webhook_endpoint: { answer: WebhookEndpoint, errors: ["PGRST301", "validation_failed"] },
  update_webhook_endpoint: {
    answer: WebhookEndpoint,
    args: { changes: WebhookEndpointChanges },
    errors: [...ofOne, "person_required"],
  },
  delete_webhook_endpoint: { answer: z.undefined(), errors: [...ofOne] },
  rotate_webhook_secret: {
    answer: WebhookEndpointWithSecret,
    errors: [...ofOne, "person_required", "too_many_secrets"],
  },
  test_webhook_endpoint: { answer: queued, errors: [...ofOne, "endpoint_disabled"] },
  redeliver_webhook: { answer: queued, errors: [...ofOne, "endpoint_disabled"] },
  redeliver_webhooks: {
    answer: queued,
    errors: [...ofOne, "endpoint_disabled", "invalid_time"],
  },
  webhook_deliveries: {
    answer: page(WebhookDelivery),
    errors: ["PGRST301", "cursor_expired", "validation_failed"],
  },
  webhook_attempts: { answer: list(WebhookAttempt), errors: ["PGRST301", "validation_failed"] },
  webhook_events: {
    answer: z.strictObject({
      data: z.array(WebhookEvent),
      next_cursor: text
        .regex(/^\d+$/)
        .nullable()
        .describe("The value of after for what follows; null: this is the last"),
    }),
    errors: ["cursor_expired", "validation_failed"],
  },
} satisfies Record<string, RpcShape>;

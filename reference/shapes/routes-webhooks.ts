/** Webhooks: endpoints, what was sent to them, and all events. */
import { z } from "zod";
import {
  DeliveriesQuery,
  EndpointChanges,
  EventsQuery,
  NewEndpoint,
  Redelivery,
  Rotation,
} from "../../supabase/functions/webhooks/inputs.ts";
import type { RouteShape } from "./routes.ts";
import {
  BODY_ERRORS,
  dispatchRoute,
  PERSON,
  PROFESSIONAL,
  USER_ERRORS,
  WRITE_ERRORS,
  WRITER,
} from "./routes-common.ts";
import { webhooks } from "./rpc-webhooks.ts";

const route = { function: "webhooks", for: "professional" } as const;
/** The functions read these out of text. */
const limit = z.int().min(1).max(100).default(100).describe("Rows of a page");
const after = z
  .int()
  .min(0)
  .optional()
  .describe("`sequence` of the last event that is known, or `next_cursor` as a number");

const { answer: queued } = webhooks.redeliver_webhook;

export const WEBHOOK_ROUTES = [
  {
    ...route,
    method: "GET",
    path: "/endpoints",
    who: PROFESSIONAL,
    summary: "All endpoints",
    answers: { 200: webhooks.webhook_endpoints.answer },
    errors: USER_ERRORS,
  },
  {
    ...route,
    method: "POST",
    path: "/endpoints",
    who: PERSON,
    summary: "Makes an endpoint; its secret is shown this once",
    body: NewEndpoint.meta({ id: "NewWebhookEndpoint" }),
    answers: { 201: webhooks.create_webhook_endpoint.answer },
    errors: [
      ...WRITE_ERRORS,
      ...BODY_ERRORS,
      "person_required",
      "url_not_allowed",
      "too_many_endpoints",
    ],
  },
  {
    ...route,
    method: "GET",
    path: "/endpoints/{id}",
    who: PROFESSIONAL,
    summary: "One endpoint",
    answers: { 200: webhooks.webhook_endpoint.answer },
    errors: [...USER_ERRORS, "PGRST301"],
  },
  {
    ...route,
    method: "PATCH",
    path: "/endpoints/{id}",
    who: `${WRITER}; another url: not with a key`,
    summary: "Changes what is given; also enables and disables",
    body: EndpointChanges.meta({ id: "WebhookEndpointPatch" }),
    answers: { 200: webhooks.update_webhook_endpoint.answer },
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "person_required", "PGRST301", "url_not_allowed"],
  },
  {
    ...route,
    method: "DELETE",
    path: "/endpoints/{id}",
    who: WRITER,
    summary: "Deletes an endpoint, with its deliveries",
    answers: { 204: null },
    errors: [...WRITE_ERRORS, "PGRST301"],
  },
  {
    ...route,
    method: "POST",
    path: "/endpoints/{id}/rotate-secret",
    who: PERSON,
    summary: "A new secret; the old one goes on signing for a while",
    body: Rotation.meta({ id: "SecretRotation" }),
    bodyOptional: true,
    answers: { 200: webhooks.rotate_webhook_secret.answer },
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "person_required", "PGRST301", "too_many_secrets"],
  },
  {
    ...route,
    method: "POST",
    path: "/endpoints/{id}/test",
    who: WRITER,
    summary: "Sends `webhook.test`",
    answers: { 202: webhooks.test_webhook_endpoint.answer },
    errors: [...WRITE_ERRORS, "PGRST301", "endpoint_disabled"],
  },
  {
    ...route,
    method: "POST",
    path: "/endpoints/{id}/redeliver",
    who: WRITER,
    summary: "Sends again what has failed since an instant",
    body: Redelivery.meta({ id: "WebhookRedelivery" }),
    answers: { 202: webhooks.redeliver_webhooks.answer },
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "PGRST301", "endpoint_disabled", "invalid_time"],
  },
  {
    ...route,
    method: "GET",
    path: "/deliveries",
    who: PROFESSIONAL,
    summary: "What was sent, newest first",
    query: DeliveriesQuery.extend({ limit }).meta({ id: "WebhookDeliveriesQuery" }),
    answers: { 200: webhooks.webhook_deliveries.answer },
    errors: [...USER_ERRORS, "validation_failed", "PGRST301", "cursor_expired"],
  },
  {
    ...route,
    method: "GET",
    path: "/deliveries/{id}/attempts",
    who: PROFESSIONAL,
    summary: "Every try of a delivery, and what was answered",
    answers: { 200: webhooks.webhook_attempts.answer },
    errors: [...USER_ERRORS, "PGRST301"],
  },
  {
    ...route,
    method: "POST",
    path: "/deliveries/{id}/redeliver",
    who: WRITER,
    summary: "Sends one again",
    answers: { 202: queued },
    errors: [...WRITE_ERRORS, "PGRST301", "endpoint_disabled"],
  },
  {
    ...route,
    method: "GET",
    path: "/events",
    who: PROFESSIONAL,
    summary: "All events of the last 30 days, oldest first",
    query: EventsQuery.extend({ after, limit }).meta({ id: "WebhookEventsQuery" }),
    answers: { 200: webhooks.webhook_events.answer },
    errors: [...USER_ERRORS, "validation_failed", "cursor_expired"],
  },
  dispatchRoute("webhooks", "Sends what is due"),
] as const satisfies readonly RouteShape[];

/** The types of events, the same as `private.webhook_event_types()`, and what an endpoint may list. */
export const EVENT_TYPES = [
  "booking.created",
  "booking.confirmed",
  "booking.rescheduled",
  "booking.cancelled",
  "booking.completed",
  "booking.no_show",
  "booking.updated",
  "order.created",
  "order.confirmed",
  "order.fulfilled",
  "order.cancelled",
  "order.updated",
  "payment.succeeded",
  "payment.refunded",
  "payment.refund_reversed",
  "payment.refund_failed",
  "payment.disputed",
  "payment.dispute_reversed",
  "client.created",
  "client.updated",
  "client.deleted",
  "product.created",
  "product.updated",
  "product.deleted",
  "product.low_stock",
  "product.out_of_stock",
  "service.created",
  "service.updated",
  "service.deleted",
  "mail.undeliverable",
  "webhook.test",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** `*`, `<object>.*`, and every type. */
export const EVENT_FILTERS: readonly string[] = [
  "*",
  ...new Set(EVENT_TYPES.map((type) => `${type.split(".")[0]}.*`)),
  ...EVENT_TYPES,
];

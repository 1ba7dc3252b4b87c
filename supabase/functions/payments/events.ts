/** Stripe's webhooks: which of them ring, and for what. What they say is not read: the object is asked for. */
import { z } from "zod";
import type { TaskKind } from "./store.ts";

export interface Bell {
  accountId: string;
  kind: TaskKind;
  objectId: string;
  livemode: boolean;
}

/** Other types are answered and forgotten. */
const KINDS = new Map<string, TaskKind>([
  ["checkout.session.completed", "checkout"],
  ["checkout.session.async_payment_succeeded", "checkout"],
  ["checkout.session.async_payment_failed", "checkout"],
  ["checkout.session.expired", "checkout"],
  ["refund.created", "refund"],
  ["refund.updated", "refund"],
  ["refund.failed", "refund"],
  ["charge.dispute.created", "dispute"],
  ["charge.dispute.closed", "dispute"],
  ["charge.dispute.funds_withdrawn", "dispute"],
  ["charge.dispute.funds_reinstated", "dispute"],
  ["account.application.deauthorized", "account"],
]);

const id = z.string().regex(/^\w{1,255}$/);

const Event = z.object({
  id,
  type: z.string().max(100),
  livemode: z.boolean(),
  /** The connected account; an event of the platform's own has none. */
  account: id,
  data: z.object({ object: z.object({ id }) }),
});

/** What an event rings for; null for one that is no business of ours. */
export function bellOf(event: unknown): Bell | null {
  const { success, data } = Event.safeParse(event);
  const kind = success ? KINDS.get(data.type) : undefined;
  if (!success || kind === undefined) return null;
  return {
    accountId: data.account,
    kind,
    objectId: kind === "account" ? data.account : data.data.object.id,
    livemode: data.livemode,
  };
}

/** For the log: what of an event tells which it was. */
export function nameOf(event: unknown): { event: string; type: string } {
  const { id: event_id, type } = (event ?? {}) as { id?: unknown; type?: unknown };
  const shown = (value: unknown) =>
    typeof value === "string" && /^[\w.]{1,100}$/.test(value) ? value : "unknown";
  return { event: shown(event_id), type: shown(type) };
}

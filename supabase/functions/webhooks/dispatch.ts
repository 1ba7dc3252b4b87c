/**
 * The dispatcher: claims what is due into free slots, sends it, says how it went. It keeps claiming
 * while slow receivers occupy some of the slots, so that they hold up nobody else.
 */
import type { ServerRpc } from "../_shared/data-api.ts";
import type { Message, Outcome } from "./send.ts";

export interface Delivery extends Message {
  delivery_id: string;
  claim_token: string;
}

/** An endpoint that a try has disabled, and whose it is; only where the owner is to be told. */
export interface Disabled {
  reason: "gone" | "failing";
  /** Null where the address does not plainly have one. */
  host: string | null;
  email: string | null;
}

export interface DeliveryQueue {
  /** Up to `count` due deliveries; each is ours for a minute. */
  claim(count: number): Promise<Delivery[]>;
  finish(delivery: Delivery, outcome: Outcome): Promise<Disabled | null>;
}

/** The queue behind the project's API. */
export function deliveryQueue(rpc: ServerRpc): DeliveryQueue {
  return {
    claim: (max_count) => rpc("claim_webhook_deliveries", { max_count }),
    finish: ({ delivery_id, claim_token }, outcome) =>
      rpc("finish_webhook_delivery", { delivery_id, claim_token, ...outcome }),
  };
}

export interface DispatchDeps {
  queue: DeliveryQueue;
  send(message: Message): Promise<Outcome>;
  tellOwner(disabled: Disabled): Promise<void>;
  /** Told of what went wrong on our side; the delivery comes again when its lease is over. */
  onError(cause: unknown): void;
  now(): Date;
  pause(milliseconds: number): Promise<void>;
}

/** Tries at a time. How many of them for one professional or endpoint is the claim's to say. */
const SLOTS = 16;
/** Claims nothing more after this: with the last tries it ends before a minute is over. */
const BUDGET_MS = 45_000;
/** How soon new work is found while slots are busy. */
const POLL_MS = 500;

/** Works until nothing is due, or the time is up. Any number may work beside each other. */
export async function dispatch(deps: DispatchDeps): Promise<void> {
  const end = deps.now().getTime() + BUDGET_MS;
  const inFlight = new Set<Promise<void>>();

  const attempt = async (delivery: Delivery) => {
    try {
      const disabled = await deps.queue.finish(delivery, await deps.send(delivery));
      if (disabled) await deps.tellOwner(disabled);
    } catch (cause) {
      deps.onError(cause);
    }
  };

  try {
    while (deps.now().getTime() < end) {
      const free = SLOTS - inFlight.size;
      const claimed = free > 0 ? await deps.queue.claim(free) : [];
      for (const delivery of claimed) {
        const task: Promise<void> = attempt(delivery).finally(() => inFlight.delete(task));
        inFlight.add(task);
      }
      if (inFlight.size === 0) break;
      const pause = inFlight.size < SLOTS ? [deps.pause(POLL_MS)] : [];
      await Promise.race([...inFlight, ...pause]);
    }
  } finally {
    await Promise.all(inFlight);
  }
}

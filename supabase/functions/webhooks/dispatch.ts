/** The dispatcher of deliveries: what is claimed is sent, and how it went is noted. */
import type { ServerRpc } from "../_shared/data-api.ts";
import { type DrainDeps, drain } from "../_shared/dispatcher.ts";
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

export interface DispatchDeps extends DrainDeps {
  queue: DeliveryQueue;
  send(message: Message): Promise<Outcome>;
  tellOwner(disabled: Disabled): Promise<void>;
}

/** Tries at a time. How many of them for one professional or endpoint is the claim's to say. */
const SLOTS = 16;
/** How soon new work is found while slots are busy. */
const POLL_MS = 500;

/** Works until nothing is due, or the time is up. Any number may work beside each other. */
export function dispatch({ queue, send, tellOwner, ...deps }: DispatchDeps): Promise<void> {
  return drain<Delivery>(
    {
      slots: SLOTS,
      pollMs: POLL_MS,
      claim: (count) => queue.claim(count),
      work: async (delivery) => {
        const disabled = await queue.finish(delivery, await send(delivery));
        if (disabled) await tellOwner(disabled);
      },
    },
    deps,
  );
}

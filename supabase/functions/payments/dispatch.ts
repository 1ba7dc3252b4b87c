/** The dispatcher of payments: what is claimed is asked for at Stripe, or done there, and recorded. */
import { type DrainDeps, drain } from "../_shared/dispatcher.ts";
import { refresh } from "./account.ts";
import { settle } from "./checkout.ts";
import { settleRefund } from "./refunds.ts";
import type { Attempt, PaymentStore, Task } from "./store.ts";
import { type PaymentProvider, ProviderError } from "./stripe.ts";

export interface WorkDeps {
  provider: PaymentProvider;
  store: PaymentStore;
  onError(cause: unknown): void;
  now(): Date;
}

/** Tasks at a time. How many of them for one professional is the claim's to say. */
const SLOTS = 10;
/** How soon new work is found while slots are busy. */
const POLL_MS = 500;
/** Tasks of a run, so that it stays within the processor time of a call. */
const MOST = 100;
/** Seconds until what is unclear is tried again: a minute, then twice as long each time, to an hour. */
const RETRY_SECONDS = 60;
const MOST_RETRY_SECONDS = 3_600;
/**
 * A key of the other mode would be told that there is no such account, and nothing of what became of it. But time is
 * not kept for a page that has ended by the clock; if it was paid, that comes late, when the right key is back.
 */
const OTHER_MODE_SECONDS = 86_400;

/** Works until nothing is due, or the time is up. Any number may work beside each other. */
export function dispatch(deps: WorkDeps & DrainDeps): Promise<void> {
  return drain<Task>(
    {
      slots: SLOTS,
      pollMs: POLL_MS,
      most: MOST,
      claim: (count) => deps.store.claim(count),
      work: async (task) => {
        await work(task, deps).catch(deps.onError);
      },
    },
    deps,
  );
}

/**
 * Works a task off and finishes it; gives a refund's status. Rejects with what went wrong at Stripe, which has
 * been seen to.
 */
export async function work(task: Task, deps: WorkDeps): Promise<string | null> {
  if (task.livemode !== deps.provider.livemode) {
    await deps.store.finish(task, await waitForOtherKey(task, deps));
    return null;
  }
  let status: string | null;
  try {
    status = await look(task, deps);
  } catch (error) {
    // A fault of ours: the task comes again when its lease is over.
    if (!(error instanceof ProviderError)) throw error;
    await deps.store.finish(task, error.outcome === "refused" ? null : waitAfter(error, task));
    throw error;
  }
  await deps.store.finish(task, null);
  return status;
}

async function waitForOtherKey({ checkout }: Task, { store, now }: WorkDeps): Promise<number> {
  if (!checkout) return OTHER_MODE_SECONDS;
  const seconds = Math.ceil((Date.parse(checkout.expires_at) - now().getTime()) / 1000);
  if (seconds > 0) return seconds;
  await store.failCheckout(checkout.id, "other_mode");
  return OTHER_MODE_SECONDS;
}

function waitAfter({ retryAfter }: ProviderError, { attempts }: Task): number {
  const seconds = RETRY_SECONDS * 2 ** Math.min(attempts, 10);
  return Math.max(retryAfter ?? 0, Math.min(seconds, MOST_RETRY_SECONDS));
}

/** Every kind ends in recording what Stripe says now, so repetition, order and delay do not matter. */
async function look(task: Task, deps: WorkDeps): Promise<string | null> {
  const { kind, account_id, object_id, checkout } = task;
  const { provider, store } = deps;
  switch (kind) {
    case "checkout":
      if (checkout) await settle(withSession(checkout, object_id), deps);
      else await store.recordSession(account_id, await provider.session(account_id, object_id));
      return null;
    case "refund":
      return (await settleRefund(task, deps)).status;
    case "dispute":
      await store.recordDispute(account_id, await provider.dispute(account_id, object_id));
      return null;
    case "account":
      await refresh(account_id, deps);
      return null;
  }
}

/** An event may know the session before the attempt that made it does. */
const withSession = (attempt: Attempt, objectId: string): Attempt => ({
  ...attempt,
  session_id: attempt.session_id ?? (objectId.startsWith("cs_") ? objectId : null),
});

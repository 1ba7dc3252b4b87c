/** Refunds: made once under their own key, then looked at until they are final. */
import { ApiError } from "../_shared/errors.ts";
import type { DueRefund, PaymentStore } from "./store.ts";
import { type PaymentProvider, ProviderError, type Refund } from "./stripe.ts";

export interface RefundDeps {
  provider: PaymentProvider;
  store: PaymentStore;
}

export interface RefundTask {
  account_id: string;
  object_id: string;
  refund: DueRefund | null;
}

/**
 * What has become of a refund, recorded. Rejects with a ProviderError; a refused one has been recorded as
 * failed, an unclear one has to be tried again, under the same key.
 */
export async function settleRefund(
  task: RefundTask,
  { provider, store }: RefundDeps,
): Promise<Refund> {
  const { account_id, object_id, refund: due } = task;
  const id = due?.provider_id ?? (object_id.startsWith("re_") ? object_id : null);
  let refund: Refund;
  if (id !== null) {
    refund = await provider.refund(account_id, id);
  } else if (due) {
    refund = await make(account_id, due, { provider, store });
  } else {
    throw new Error("a refund that is neither ours nor Stripe's");
  }
  await store.recordRefund(account_id, refund);
  return refund;
}

async function make(
  accountId: string,
  { id, payment_intent, minor }: DueRefund,
  { provider, store }: RefundDeps,
): Promise<Refund> {
  // Stripe forgets keys after a day: what an earlier try has made would be made again.
  const made = await provider.findRefund(accountId, id, payment_intent);
  if (made) return made;
  try {
    return await provider.createRefund(accountId, id, { payment_intent, amount: minor });
  } catch (error) {
    // A failure that was answered may still have had its effect: never a second key, which could pay twice.
    if (error instanceof ProviderError && error.outcome === "refused") {
      await store.failRefund(id, error.code);
    }
    throw error;
  }
}

/** What the professional is told of a refund that Stripe has refused. */
export function refundRefusal({ code }: ProviderError): ApiError {
  if (code === "charge_disputed") {
    return new ApiError(409, "payment_disputed", "The payment is disputed");
  }
  if (code === "charge_already_refunded") {
    return new ApiError(422, "refund_exceeds_payment", "More than is left of the payment");
  }
  return new ApiError(422, "refund_refused", "Stripe does not pay this back", {
    details: { reason: code },
  });
}

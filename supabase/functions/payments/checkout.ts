/**
 * Checkout Sessions. The database says which one and what for; here it is made, ended or looked at, and what
 * Stripe says is recorded before anything else is asked.
 */
import { ApiError } from "../_shared/errors.ts";
import { type AccountDeps, refresh } from "./account.ts";
import type { Attempt, CheckoutRequest } from "./store.ts";
import { ProviderError, type Session } from "./stripe.ts";

export interface OpenCheckout {
  url: string | null;
  amount: number;
  currency: string;
  expires_at: string;
}

export interface CheckoutDeps extends AccountDeps {
  /** Told of what Stripe refuses although it should not. */
  onError(cause: unknown): void;
}

/** An old session ended, a failed attempt given up, a new one made, and one more of each. */
const ROUNDS = 6;
/** The database's clock and Stripe's need not be the same. */
const CLOCKS_SECONDS = 60;
/** Stripe makes no session that is to end sooner. */
const LEAST_PAGE_SECONDS = 1_800;

/** The page on which what is due now is paid: the open one, or a new one. */
export async function openCheckout(
  request: CheckoutRequest,
  deps: CheckoutDeps,
): Promise<OpenCheckout> {
  let cause: unknown = new Error("the checkout does not come to rest");
  for (let round = 0; round < ROUNDS; round++) {
    const { state, checkout } = await deps.store.beginCheckout(request);
    if (state === "open") {
      const { url, amount, currency, expires_at } = checkout;
      return { url, amount, currency, expires_at };
    }
    if (state === "create") cause = (await createSession(checkout, deps)) ?? cause;
    else await settle({ ...checkout, expire: state === "expire" }, deps);
  }
  throw unavailable(cause);
}

/** 502: the same call again may succeed. */
function unavailable(cause: unknown): ApiError {
  return new ApiError(502, "payment_provider_unavailable", "The payment page could not be made", {
    cause,
    hint: "Try again in a moment.",
  });
}

/** Makes the session of an attempt. Gives the failure after which another attempt may do better. */
async function createSession(attempt: Attempt, deps: CheckoutDeps): Promise<ProviderError | null> {
  const { provider, store } = deps;
  const { id, account_id, params } = attempt;
  try {
    await store.recordSession(account_id, await provider.createSession(account_id, id, params));
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // It may be there all the same; the next try asks with the same key.
    if (error.outcome === "unclear") throw unavailable(error);
    const found = await find(attempt, deps).catch((cause: unknown) => {
      throw unavailable(cause);
    });
    if (found) {
      await store.recordSession(account_id, found);
      return null;
    }
    // Had it been made after all, nobody would know where to pay on it.
    await store.failCheckout(id, error.code);
    if (error.outcome === "answered") return error;
    throw await refusal(error, attempt, deps);
  }
}

const find = ({ id, account_id, created_at, expires_at }: Attempt, { provider }: CheckoutDeps) =>
  provider.findSession(account_id, id, {
    since: created_at - CLOCKS_SECONDS,
    until: Math.ceil(Date.parse(expires_at) / 1000) - LEAST_PAGE_SECONDS + CLOCKS_SECONDS,
  });

/** What the payer is told when Stripe will not take the money. */
async function refusal(
  error: ProviderError,
  { account_id }: Attempt,
  deps: CheckoutDeps,
): Promise<ApiError> {
  if (error.code === "amount_too_small" || error.code === "amount_too_large") {
    return new ApiError(422, "amount_not_payable", "Stripe does not take this amount");
  }
  const isAble = await refresh(account_id, deps).then(
    ({ can_charge }) => can_charge,
    () => true,
  );
  // An account that can charge should be able to; the code says why it was not.
  if (isAble) deps.onError(error);
  return new ApiError(422, "payments_unavailable", "The professional cannot take payments now");
}

/** Asks what has become of an attempt, ends its session where nobody may pay on it, and records it. */
export async function settle(attempt: Attempt, deps: CheckoutDeps): Promise<void> {
  const { provider, store } = deps;
  const { id, account_id } = attempt;
  const session = await currentSession(attempt, deps).catch((error: unknown) => {
    if (error instanceof ProviderError && error.outcome === "refused") return error;
    throw error;
  });
  if (session === null) {
    await store.failCheckout(id, "not_found");
  } else if (session instanceof ProviderError) {
    // Somebody has taken the account away from us, or it is of the other mode.
    deps.onError(session);
    await refresh(account_id, deps);
    await store.failCheckout(id, session.code);
  } else if (attempt.expire && session.status === "open") {
    await store.recordSession(account_id, await provider.expireSession(account_id, session.id));
  } else {
    await store.recordSession(account_id, session);
  }
}

async function currentSession(attempt: Attempt, deps: CheckoutDeps): Promise<Session | null> {
  const { account_id, session_id, expire } = attempt;
  if (session_id === null) return find(attempt, deps);
  // Expired first, asked second: between the two somebody might pay.
  return expire
    ? deps.provider.expireSession(account_id, session_id)
    : deps.provider.session(account_id, session_id);
}

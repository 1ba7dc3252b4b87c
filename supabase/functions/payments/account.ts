/** The professional's account at Stripe: connected by a link, asked about, and let go. */
import { decodeJwt } from "jose";
import { notFound } from "../_shared/errors.ts";
import type { PaymentStore } from "./store.ts";
import { type AccountFacts, type PaymentProvider, ProviderError } from "./stripe.ts";

export interface AccountDeps {
  provider: PaymentProvider;
  store: PaymentStore;
}

export interface OnboardingRequest {
  returnUrl: string;
  refreshUrl: string;
  country: string | undefined;
}

/** A page of Stripe where the professional says what Stripe has to know. Used once, soon too old. */
export async function onboard(
  token: string,
  request: OnboardingRequest,
  { provider, store }: AccountDeps,
): Promise<{ url: string; expires_at: string }> {
  const link = async () => {
    const { account_id, attempt_id, email, name } = await store.connect(token);
    let id = account_id;
    if (id === null) {
      id = await provider.createAccount(attempt_id, { email, name, country: request.country });
      // The token has been checked; the subject is whose it is.
      await store.attach(decodeJwt(token).sub as string, attempt_id, id, provider.livemode);
    }
    try {
      return await provider.onboardingLink(id, request.returnUrl, request.refreshUrl);
    } catch (error) {
      const isLost = (await lookAt(id, error, { provider, store }))?.deauthorized;
      if (isLost) return null;
      throw error;
    }
  };
  // An account that does not let us act any more, or that the other mode's key has made, is replaced.
  const made = (await link()) ?? (await link());
  if (made === null) throw new Error("a new account was refused at once");
  return made;
}

/** What Stripe says of an account that it has refused something for; null where it has refused nothing. */
export async function lookAt(
  accountId: string,
  error: unknown,
  { provider, store }: AccountDeps,
): Promise<AccountFacts | null> {
  if (!(error instanceof ProviderError && error.outcome === "refused")) return null;
  return refresh(accountId, { provider, store });
}

/** Asks Stripe about an account, and notes what it says. */
export async function refresh(
  accountId: string,
  { provider, store }: AccountDeps,
): Promise<AccountFacts> {
  const facts = await provider.accountFacts(accountId);
  await store.recordAccount(accountId, facts);
  return facts;
}

/** The account as Stripe knows it now, as JSON; of the other mode as it was, for this key may not ask. */
export async function currentAccount(token: string, deps: AccountDeps): Promise<string> {
  const known = await deps.store.account(token);
  if (known?.livemode === deps.provider.livemode) await refresh(known.id, deps);
  const account = known && (await deps.store.account(token));
  if (!account) throw notFound("No account is connected");
  return account.body;
}

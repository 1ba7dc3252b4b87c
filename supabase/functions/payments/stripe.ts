/**
 * Stripe, as far as this function needs it; the only file that knows its package. What an account holds is
 * asked for with `Stripe-Account`: the charges are direct, the professional is the merchant.
 */
import Stripe from "stripe";
import { EnvError, optional, type ReadEnv, webAddress } from "../_shared/env.ts";

/** A Checkout Session, as the database records it. Amounts are in the currency's smallest unit. */
export interface Session {
  id: string;
  /** Which attempt made it; null for one that is not ours. */
  attempt_id: string | null;
  status: string | null;
  payment_status: string;
  payment_intent: string | null;
  amount_total: number | null;
  currency: string | null;
  url: string | null;
  /** Unix seconds. */
  expires_at: number;
}

export interface Refund {
  id: string;
  /** Which attempt made it; null for one made in Stripe's dashboard. */
  attempt_id: string | null;
  payment_intent: string | null;
  amount: number;
  currency: string;
  status: string;
  /** Why it failed, or why it was made. */
  reason: string | null;
}

export interface Dispute {
  id: string;
  payment_intent: string | null;
  status: string;
  reason: string;
  amount: number;
  currency: string;
  /** What moved, in the dispute's currency: less than 0 was taken, more than 0 came back. */
  entries: { id: string; amount: number }[];
}

export interface AccountFacts {
  can_charge: boolean;
  /** What Stripe waits for, in its own words; empty where it is Stripe's turn. */
  missing: string[];
  /** Stripe does not let us act for it any more. */
  deauthorized: boolean;
}

export interface NewAccount {
  email: string | null;
  name: string;
  /** ISO 3166-1, two letters; Stripe asks for it when this is not given. */
  country: string | undefined;
}

export interface PaymentProvider {
  /** Whether the key moves real money. */
  livemode: boolean;
  /** The id of the account that the attempt has made, now or before. */
  createAccount(attemptId: string, account: NewAccount): Promise<string>;
  onboardingLink(
    accountId: string,
    returnUrl: string,
    refreshUrl: string,
  ): Promise<{ url: string; expires_at: string }>;
  /** Rejects only where it is unclear. */
  accountFacts(accountId: string): Promise<AccountFacts>;
  createSession(accountId: string, attemptId: string, params: object): Promise<Session>;
  session(accountId: string, sessionId: string): Promise<Session>;
  /** The session as it is then: no longer open, or complete because somebody was faster. */
  expireSession(accountId: string, sessionId: string): Promise<Session>;
  /** The session that an attempt has made, among those made within these Unix seconds; null without one. */
  findSession(
    accountId: string,
    attemptId: string,
    made: { since: number; until: number },
  ): Promise<Session | null>;
  createRefund(accountId: string, attemptId: string, refund: NewRefund): Promise<Refund>;
  refund(accountId: string, refundId: string): Promise<Refund>;
  findRefund(accountId: string, attemptId: string, paymentIntent: string): Promise<Refund | null>;
  dispute(accountId: string, disputeId: string): Promise<Dispute>;
}

export interface NewRefund {
  payment_intent: string;
  amount: number;
}

/** A call that did not succeed. Says neither what was sent nor what Stripe wrote, which quotes the key. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /**
   * `refused`: nothing was done, and would not be the next time. `answered`: Stripe failed, or has seen the
   * key with other parameters, and says so each time. `unclear`: it may have been done or not.
   */
  readonly outcome: "refused" | "answered" | "unclear";
  /** Stripe's, such as `amount_too_small`. */
  readonly code: string;
  /** Seconds that Stripe asks to wait, if it does. */
  readonly retryAfter: number | null;

  constructor(call: string, error: unknown) {
    const { statusCode, code, rawType, requestId, headers } =
      error instanceof Stripe.errors.StripeError ? error : new Stripe.errors.StripeError();
    const shown = (text: unknown, form: RegExp) =>
      typeof text === "string" && form.test(text) ? text : "none";
    const type = shown(rawType, /^[a-z_]{1,60}$/);
    const safeCode = shown(code, /^[a-z0-9_]{1,80}$/);
    const request = shown(requestId, /^req_\w{1,60}$/);
    super(
      `Stripe ${call}: status ${statusCode ?? "none"}, type ${type}, code ${safeCode}, request ${request}`,
    );
    this.outcome = outcomeOf(statusCode, safeCode, type);
    this.code = safeCode;
    const wait = headers?.["retry-after"];
    this.retryAfter = wait !== undefined && /^\d{1,5}$/.test(wait) ? Number(wait) : null;
  }
}

/**
 * A wrong key (401), a permission that the key lacks (403) and too many requests (429) are no refusal: they are
 * ours to put right or to wait for, and take no payment with them until then. A key in use (409) is another
 * try of ours, which knows how it ends.
 */
function outcomeOf(
  status: number | undefined,
  code: string,
  type: string,
): ProviderError["outcome"] {
  if (status === undefined) return "unclear";
  if (status >= 500 || (status === 400 && type === "idempotency_error")) return "answered";
  if (status === 403) return code === "account_invalid" ? "refused" : "unclear";
  return [400, 402, 404].includes(status) ? "refused" : "unclear";
}

/** Answers of another version might have other fields. */
const API_VERSION = "2026-10-28.endive";
const TIMEOUT_MS = 15_000;
/** Most sessions that a look-up goes through: those of a day of one professional. */
const MOST_SESSIONS = 1_000;
const MOST_MISSING = 50;
const MISSING_CHARACTERS = 200;

/** With `STRIPE_SECRET_KEY`; undefined without it, and then nobody pays here. */
export function paymentProvider(read: ReadEnv, fetcher = fetch): PaymentProvider | undefined {
  const key = optional(read, "STRIPE_SECRET_KEY");
  if (key === undefined) return undefined;
  const [, mode] = /^[sr]k_(test|live)_\w+$/.exec(key) ?? [];
  if (mode === undefined) throw new EnvError("STRIPE_SECRET_KEY is not a secret or restricted key");
  const stripe = new Stripe(key, {
    apiVersion: API_VERSION,
    httpClient: Stripe.createFetchHttpClient(fetcher),
    maxNetworkRetries: 1,
    timeout: TIMEOUT_MS,
    telemetry: false,
    ...apiAddress(read),
  });

  const call = async <Answer>(name: string, ask: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await ask();
    } catch (error) {
      throw new ProviderError(name, error);
    }
  };
  const on = (stripeAccount: string, idempotencyKey?: string) => ({
    stripeAccount,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });

  const provider: PaymentProvider = {
    livemode: mode === "live",

    createAccount: (attemptId, { email, name, country }) =>
      call("accounts.create", async () => {
        const params = {
          ...(email !== null && { contact_email: email }),
          display_name: name,
          dashboard: "full" as const,
          ...(country !== undefined && { identity: { country } }),
          defaults: {
            responsibilities: {
              fees_collector: "stripe" as const,
              losses_collector: "stripe" as const,
            },
          },
          configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
          metadata: { attempt_id: attemptId },
        };
        // Another name or country is another account, since Stripe refuses changed parameters.
        const idempotencyKey = `${attemptId}-${await digest(JSON.stringify(params))}`;
        return (await stripe.v2.core.accounts.create(params, { idempotencyKey })).id;
      }),

    onboardingLink: (account, return_url, refresh_url) =>
      call("account_links.create", async () => {
        const { url, expires_at } = await stripe.v2.core.accountLinks.create({
          account,
          use_case: {
            type: "account_onboarding",
            account_onboarding: { return_url, refresh_url },
          },
        });
        return { url, expires_at: new Date(expires_at).toISOString() };
      }),

    async accountFacts(accountId) {
      try {
        return factsOf(
          await call("accounts.retrieve", () =>
            stripe.v2.core.accounts.retrieve(accountId, {
              include: ["configuration.merchant", "requirements"],
            }),
          ),
        );
      } catch (error) {
        if (!(error instanceof ProviderError && error.outcome === "refused")) throw error;
        // Nothing is asked but the id, so what is refused is to act for this account.
        return { can_charge: false, missing: [], deauthorized: true };
      }
    },

    createSession: (accountId, attemptId, params) =>
      call("checkout.sessions.create", async () =>
        sessionOf(await stripe.checkout.sessions.create(params, on(accountId, attemptId))),
      ),
    session: (accountId, sessionId) =>
      call("checkout.sessions.retrieve", async () =>
        sessionOf(await stripe.checkout.sessions.retrieve(sessionId, {}, on(accountId))),
      ),
    async expireSession(accountId, sessionId) {
      try {
        return await call("checkout.sessions.expire", async () =>
          sessionOf(await stripe.checkout.sessions.expire(sessionId, {}, on(accountId))),
        );
      } catch (error) {
        if (!(error instanceof ProviderError && error.outcome === "refused")) throw error;
        // Only an open one can be expired.
        return provider.session(accountId, sessionId);
      }
    },
    findSession: (accountId, attemptId, { since, until }) =>
      call("checkout.sessions.list", async () => {
        const params = { created: { gte: since, lte: until }, limit: 100 };
        let seen = 0;
        for await (const session of stripe.checkout.sessions.list(params, on(accountId))) {
          if (attemptOf(session) === attemptId) return sessionOf(session);
          if (++seen >= MOST_SESSIONS) throw new Error("too many sessions");
        }
        return null;
      }),

    createRefund: (accountId, attemptId, { payment_intent, amount }) =>
      call("refunds.create", async () => {
        const params = { payment_intent, amount, metadata: { attempt_id: attemptId } };
        return refundOf(await stripe.refunds.create(params, on(accountId, attemptId)));
      }),
    refund: (accountId, refundId) =>
      call("refunds.retrieve", async () =>
        refundOf(await stripe.refunds.retrieve(refundId, {}, on(accountId))),
      ),
    findRefund: (accountId, attemptId, payment_intent) =>
      call("refunds.list", async () => {
        const params = { payment_intent, limit: 100 };
        for await (const refund of stripe.refunds.list(params, on(accountId))) {
          if (refund.metadata?.attempt_id === attemptId) return refundOf(refund);
        }
        return null;
      }),

    dispute: (accountId, disputeId) =>
      call("disputes.retrieve", async () =>
        disputeOf(await stripe.disputes.retrieve(disputeId, {}, on(accountId))),
      ),
  };
  return provider;
}

/** Where another server stands in for Stripe. */
function apiAddress(read: ReadEnv) {
  const address = webAddress(read, "STRIPE_API_URL");
  if (address === undefined) return {};
  const { protocol, hostname, port } = new URL(address);
  const scheme = protocol === "http:" ? ("http" as const) : ("https" as const);
  return { protocol: scheme, host: hostname, port: port || (scheme === "http" ? "80" : "443") };
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes).slice(0, 16)]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

const idOf = (object: string | { id: string } | null): string | null =>
  typeof object === "string" ? object : (object?.id ?? null);

function factsOf(account: Stripe.V2.Core.Account): AccountFacts {
  const { merchant } = account.configuration ?? {};
  const due = (account.requirements?.entries ?? [])
    .filter((entry) => entry.awaiting_action_from === "user")
    .filter((entry) => entry.minimum_deadline.status !== "eventually_due")
    .map((entry) => entry.description.slice(0, MISSING_CHARACTERS));
  return {
    can_charge: !account.closed && merchant?.capabilities?.card_payments?.status === "active",
    missing: [...new Set(due)].slice(0, MOST_MISSING),
    deauthorized: false,
  };
}

/** Not `client_reference_id`: whoever pays by a link of the professional's may write that into its address. */
const attemptOf = ({ metadata }: Stripe.Checkout.Session): string | null =>
  metadata?.attempt_id ?? null;

function sessionOf(session: Stripe.Checkout.Session): Session {
  return {
    id: session.id,
    attempt_id: attemptOf(session),
    status: session.status,
    payment_status: session.payment_status,
    payment_intent: idOf(session.payment_intent),
    amount_total: session.amount_total,
    currency: session.currency,
    url: session.url,
    expires_at: session.expires_at,
  };
}

function refundOf(refund: Stripe.Refund): Refund {
  return {
    id: refund.id,
    attempt_id: refund.metadata?.attempt_id ?? null,
    payment_intent: idOf(refund.payment_intent),
    amount: refund.amount,
    currency: refund.currency,
    status: refund.status ?? "pending",
    reason: refund.failure_reason ?? refund.reason,
  };
}

/** What moves on the account is in its own currency, maybe not the one that was paid in. */
function disputeOf(dispute: Stripe.Dispute): Dispute {
  const { amount, currency } = dispute;
  return {
    id: dispute.id,
    payment_intent: idOf(dispute.payment_intent),
    status: dispute.status,
    reason: dispute.reason,
    amount,
    currency,
    entries: dispute.balance_transactions.map((entry) => ({
      id: entry.id,
      amount: entry.currency === currency ? entry.amount : Math.sign(entry.amount) * amount,
    })),
  };
}

/** What somebody sent to the webhook was not signed by Stripe, or too long ago. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

/** The event in a body that Stripe has signed within five minutes; a SignatureError for any other. */
export type VerifyEvent = (body: Uint8Array, signature: string | null) => Promise<unknown>;

const TOLERANCE_SECONDS = 300;

/** With `STRIPE_WEBHOOK_SECRETS`, one for each endpoint; undefined without it, and then no event is taken. */
export function eventVerifier(read: ReadEnv, now: () => Date): VerifyEvent | undefined {
  const secrets = optional(read, "STRIPE_WEBHOOK_SECRETS")
    ?.split(",")
    .map((secret) => secret.trim());
  if (secrets === undefined) return undefined;
  if (!secrets.every((secret) => /^whsec_\w{16,}$/.test(secret))) {
    throw new EnvError(
      "STRIPE_WEBHOOK_SECRETS is not a list of signing secrets that begin with whsec_",
    );
  }
  // Deno has no other; Node has both.
  const cryptoProvider = Stripe.createSubtleCryptoProvider();
  return async (body, signature) => {
    const text = decode(body);
    for (const secret of secrets) {
      try {
        return await Stripe.webhooks.constructEventAsync(
          text,
          signature ?? "",
          secret,
          TOLERANCE_SECONDS,
          cryptoProvider,
          now().getTime(),
        );
      } catch (error) {
        // Signed by Stripe, but of a kind that we did not ask for.
        if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) return null;
      }
    }
    throw new SignatureError();
  };
}

/** The signature is over bytes: others that would be read alike were not signed. Nothing is never signed. */
function decode(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return "";
  }
}

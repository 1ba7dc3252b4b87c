/** What the function asks of the database: as the user, or with the secret key. */
import { type ServerRpc, ServerRpcError, type UserRpc } from "../_shared/data-api.ts";
import { notFound } from "../_shared/errors.ts";
import type { AccountFacts, Dispute, Refund, Session } from "./stripe.ts";

export interface Connection {
  /** Null before there is one; then the attempt is to make it. */
  account_id: string | null;
  attempt_id: string;
  email: string | null;
  name: string;
}

/** One try to make a Checkout Session; its id is the idempotency key. */
export interface Attempt {
  id: string;
  account_id: string;
  /** Null until Stripe has said it. */
  session_id: string | null;
  url: string | null;
  amount: number;
  currency: string;
  expires_at: string;
  /** Unix seconds. */
  created_at: number;
  /** What Stripe is asked for, to the last parameter. */
  params: object;
  /** Nobody may pay on its page any more. */
  expire?: boolean;
}

/** `open`: its page may be used. `create`, `expire`, `check`: that is to be done first, then ask again. */
export interface CheckoutState {
  state: "open" | "create" | "expire" | "check";
  checkout: Attempt;
}

export interface CheckoutRequest {
  order_id: string;
  /** Null where the caller has been authorized. */
  token: string | null;
  success_url: string;
  cancel_url: string;
  livemode: boolean;
}

/** One refund of ours; its id is the idempotency key. */
export interface DueRefund {
  id: string;
  payment_intent: string;
  /** In the currency's smallest unit, as Stripe counts it. */
  minor: number;
  /** Null until Stripe has said it. */
  provider_id: string | null;
}

export type TaskKind = "checkout" | "refund" | "dispute" | "account";

/** One object to look at. */
export interface Task {
  task_id: string;
  claim_token: string;
  kind: TaskKind;
  account_id: string;
  /** The mode of the key that the account was connected with. */
  livemode: boolean;
  /** Stripe's id; ours where there is none yet. */
  object_id: string;
  /** Claims of this task before this one since it was last done. */
  attempts: number;
  checkout: Attempt | null;
  refund: DueRefund | null;
}

export interface PaymentStore {
  /** As the user. */
  connect(token: string): Promise<Connection>;
  /** The professional's account as JSON, and what of it decides; null without one. */
  account(token: string): Promise<{ id: string; livemode: boolean; body: string } | null>;
  detach(token: string): Promise<void>;
  beginRefund(
    token: string,
    refund: { payment_id: string; amount?: number | undefined; reason?: string | undefined },
  ): Promise<{ refund_id: string; status: string }>;
  /** Rejects unless the order is the caller's. */
  authorizeCheckout(token: string, orderId: string): Promise<void>;

  /** With the secret key. What the caller can do something about is an `ApiError`. */
  attach(
    professionalId: string,
    attemptId: string,
    accountId: string,
    livemode: boolean,
  ): Promise<void>;
  recordAccount(accountId: string, facts: AccountFacts): Promise<void>;
  /** Nothing is held for accounts of the other mode from then on. */
  reportMode(livemode: boolean): Promise<void>;
  beginCheckout(request: CheckoutRequest): Promise<CheckoutState>;
  recordSession(accountId: string, session: Session): Promise<void>;
  /** Only where Stripe has no such session and never will have. */
  failCheckout(attemptId: string, code: string): Promise<void>;
  recordRefund(accountId: string, refund: Refund): Promise<void>;
  failRefund(refundId: string, code: string): Promise<void>;
  recordDispute(accountId: string, dispute: Dispute): Promise<void>;
  /** Whether the account is known; then the object will be looked at. */
  ring(accountId: string, kind: TaskKind, objectId: string, livemode: boolean): Promise<boolean>;
  /** Up to `count` due tasks, or that of one object; each is ours for a minute. */
  claim(count: number, objectId?: string): Promise<Task[]>;
  /** Null: done, until it is due by what was recorded. */
  finish(task: Task, retryAfter: number | null): Promise<void>;
}

export function paymentStore(user: UserRpc, rpc: ServerRpc): PaymentStore {
  /** Somebody is in the way: whoever called may come again. Anything else is a fault of ours. */
  const server: ServerRpc = async (name, args) => {
    try {
      return await rpc(name, args);
    } catch (error) {
      throw (error instanceof ServerRpcError && error.refusal) || error;
    }
  };
  /** What was asked for is the caller's own, and so is what is wrong with it. */
  const asked = (error: unknown): never => {
    if (!(error instanceof ServerRpcError)) throw error;
    throw (error.isNotFound && notFound()) || error.unprocessable || error;
  };

  return {
    connect: async (token) => JSON.parse(await user(token, "connect_payment_account", {})),
    async account(token) {
      const body = await user(token, "payment_account", {});
      const account: { account_id: string; livemode: boolean } | null = JSON.parse(body);
      return account && { id: account.account_id, livemode: account.livemode, body };
    },
    async detach(token) {
      await user(token, "detach_payment_account", {});
    },
    beginRefund: async (token, refund) => JSON.parse(await user(token, "begin_refund", refund)),
    async authorizeCheckout(token, order_id) {
      await user(token, "authorize_checkout", { order_id });
    },

    attach: (professional_id, attempt_id, account_id, livemode) =>
      server<"attach_payment_account", void>("attach_payment_account", {
        professional_id,
        attempt_id,
        account_id,
        livemode,
      }).catch(asked),
    recordAccount: (account_id, facts) =>
      server("record_payment_account", { account_id, facts: { ...facts } }),
    reportMode: (livemode) => server("report_payment_mode", { livemode }),
    beginCheckout: (request) =>
      server<"begin_checkout", CheckoutState>("begin_checkout", request).catch(asked),
    recordSession: (account_id, session) =>
      server("record_session", { account_id, session: { ...session } }),
    failCheckout: (checkout_id, code) => server("fail_checkout", { checkout_id, code }),
    recordRefund: (account_id, refund) =>
      server("record_refund", { account_id, refund: { ...refund } }),
    failRefund: (refund_id, code) => server("fail_refund", { refund_id, code }),
    recordDispute: (account_id, dispute) =>
      server("record_dispute", { account_id, dispute: { ...dispute } }),
    ring: (account_id, kind, object_id, livemode) =>
      server("ring_payment", { account_id, kind, object_id, livemode }),
    claim: (max_count, objectId) =>
      server("claim_payment_tasks", { max_count, object_id: objectId ?? null }),
    finish: ({ task_id, claim_token }, retry_after) =>
      server("finish_payment_task", { task_id, claim_token, retry_after }),
  };
}

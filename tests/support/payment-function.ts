/** The payments function with a Stripe and a database that tests tell what to answer. */

import { Stripe } from "stripe";
import { createHandler, type PaymentsDeps } from "../../supabase/functions/payments/handler.ts";
import { returnUrls } from "../../supabase/functions/payments/return-urls.ts";
import type {
  Attempt,
  CheckoutState,
  PaymentStore,
  Task,
} from "../../supabase/functions/payments/store.ts";
import {
  type AccountFacts,
  eventVerifier,
  type PaymentProvider,
  ProviderError,
  type Refund,
  type Session,
} from "../../supabase/functions/payments/stripe.ts";

export const NOW = new Date("2027-02-01T09:00:00Z");
export const ACCOUNT = "acct_1";
export const ANA = "11111111-1111-4111-8111-111111111111";
export const ORDER = "22222222-2222-4222-8222-222222222222";
export const PAYMENT = "33333333-3333-4333-8333-333333333333";
export const REFUND = "44444444-4444-4444-8444-444444444444";
export const ATTEMPT = "55555555-5555-4555-8555-555555555555";
export const SECRETS = ["whsec_of_the_connect_endpoint", "whsec_that_came_before_it"];

/** What Stripe's package throws, as `stripe.ts` passes it on. */
export function failure(status: number | undefined, code?: string, headers = {}) {
  const type = "invalid_request_error";
  const raw = { statusCode: status, code, type, headers, message: "not to be seen" };
  return new ProviderError("call", new Stripe.errors.StripeError(raw as never));
}

export const attempt: Attempt = {
  id: ATTEMPT,
  account_id: ACCOUNT,
  session_id: "cs_1",
  url: "https://checkout.stripe.example/cs_1",
  amount: 30.5,
  currency: "EUR",
  expires_at: "2027-02-01T09:40:00.000Z",
  created_at: NOW.getTime() / 1000 - 5,
  params: { expires_at: NOW.getTime() / 1000 + 2400 },
};

export const session: Session = {
  id: "cs_1",
  attempt_id: ATTEMPT,
  status: "open",
  payment_status: "unpaid",
  payment_intent: null,
  amount_total: 3050,
  currency: "eur",
  url: "https://checkout.stripe.example/cs_1",
  expires_at: NOW.getTime() / 1000 + 2400,
};

export const refund: Refund = {
  id: "re_1",
  attempt_id: REFUND,
  payment_intent: "pi_1",
  amount: 1000,
  currency: "eur",
  status: "succeeded",
  reason: null,
};

export const facts: AccountFacts = { can_charge: true, missing: [], deauthorized: false };

export const task = (changed: Partial<Task> = {}): Task => ({
  task_id: "66666666-6666-4666-8666-666666666666",
  claim_token: "77777777-7777-4777-8777-777777777777",
  kind: "checkout",
  account_id: ACCOUNT,
  livemode: false,
  object_id: "cs_1",
  attempts: 0,
  checkout: null,
  refund: null,
  ...changed,
});

const PROVIDER: PaymentProvider = {
  livemode: false,
  createAccount: async () => ACCOUNT,
  onboardingLink: async () => ({
    url: "https://connect.stripe.example/1",
    expires_at: "2027-02-01T09:05:00.000Z",
  }),
  accountFacts: async () => facts,
  createSession: async () => session,
  session: async () => session,
  expireSession: async () => ({ ...session, status: "expired" }),
  findSession: async () => null,
  createRefund: async () => refund,
  refund: async () => refund,
  findRefund: async () => null,
  dispute: async (_, id) => ({
    id,
    payment_intent: "pi_1",
    status: "needs_response",
    reason: "general",
    amount: 3050,
    currency: "eur",
    entries: [],
  }),
};

const STORE: PaymentStore = {
  connect: async () => ({
    account_id: ACCOUNT,
    attempt_id: ATTEMPT,
    email: "ana@example.com",
    name: "Ana",
  }),
  account: async () => ({
    id: ACCOUNT,
    livemode: false,
    body: '{"account_id": "acct_1", "can_charge": true}',
  }),
  detach: async () => {},
  beginRefund: async () => ({ refund_id: REFUND, status: "due" }),
  authorizeCheckout: async () => {},
  attach: async () => {},
  recordAccount: async () => {},
  reportMode: async () => {},
  beginCheckout: async (): Promise<CheckoutState> => ({ state: "open", checkout: attempt }),
  recordSession: async () => {},
  failCheckout: async () => {},
  recordRefund: async () => {},
  failRefund: async () => {},
  recordDispute: async () => {},
  ring: async () => true,
  claim: async () => [],
  finish: async () => {},
};

type Called = [name: string, ...args: unknown[]];

/** Notes each call, in the order in which they come, and answers as told. */
function watched<T extends object>(target: T, calls: Called[]): T {
  const entries = Object.entries(target).map(([name, value]) => [
    name,
    typeof value !== "function"
      ? value
      : (...args: unknown[]) => {
          calls.push([name, ...args]);
          return value(...args);
        },
  ]);
  return Object.fromEntries(entries) as T;
}

export function setUp(
  changed: {
    provider?: Partial<PaymentProvider>;
    store?: Partial<PaymentStore>;
    deps?: Partial<PaymentsDeps>;
  } = {},
) {
  const calls: Called[] = [];
  const logged: unknown[] = [];
  const debugged: Record<string, string>[] = [];
  const tasks: Promise<void>[] = [];
  const provider = watched({ ...PROVIDER, ...changed.provider }, calls);
  const modes: boolean[] = [];
  const { reportMode, ...rest } = { ...STORE, ...changed.store };
  const store: PaymentStore = {
    ...watched(rest, calls),
    // Beside what a route does.
    reportMode: (livemode) => {
      modes.push(livemode);
      return reportMode(livemode);
    },
  };
  const now = () => NOW;
  const handle = createHandler({
    corsOrigins: "*",
    newRequestId: () => "request-1",
    log: ({ cause }) => logged.push(cause),
    payments: {
      provider,
      checkReturnUrl: returnUrls(() => "https://app.example/pay"),
      verifyEvent: eventVerifier(() => SECRETS.join(", "), now),
    },
    store,
    userToken: async (request) => (request.headers.get("authorization") ?? "").slice(7),
    isDispatchSecret: async (key) => key === "right",
    background: (work) => tasks.push(work),
    debug: (entry) => debugged.push(entry),
    now,
    pause: async () => {},
    ...changed.deps,
  });
  const call = (method: string, path: string, body?: unknown, headers: HeadersInit = {}) =>
    handle(
      new Request(`https://api.example/payments/${path}`, {
        method,
        headers: {
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  return { handle, call, calls, modes, provider, store, logged, debugged, tasks };
}

/** Status and code of an answer that is an error. */
export async function errorOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { code: string }).code];
}

export const named = (calls: Called[], ...names: string[]) =>
  calls.filter(([name]) => names.includes(name));

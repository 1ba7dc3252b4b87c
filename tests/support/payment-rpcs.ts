/** The RPCs of the payments function, called as it calls them, with answers of Stripe that a test makes up. */
import { expect } from "vitest";
import { server } from "./callers.ts";
import { answer, openShop, place } from "./commerce.ts";
import { sql } from "./database.ts";
import type { Professional } from "./factories.ts";
import { providerId } from "./payments.ts";

const rpcs = server();

export interface Seller extends Professional {
  account: string;
}

/** Connects an account as POST /account does; it can charge unless told otherwise. */
export async function connectAccount(
  professional: Professional,
  { livemode = false, ...facts } = {},
): Promise<string> {
  const { attempt_id } = await answer<{ attempt_id: string }>(
    professional.api.rpc("connect_payment_account"),
  );
  const account_id = providerId("acct");
  const attached = { professional_id: professional.id, attempt_id, account_id, livemode };
  await answer(rpcs.rpc("attach_payment_account", attached));
  await recordAccount(account_id, facts);
  return account_id;
}

export const recordAccount = (account_id: string, facts: object = {}) =>
  answer(
    rpcs.rpc("record_payment_account", {
      account_id,
      facts: { can_charge: true, missing: [], deauthorized: false, ...facts },
    }),
  );

/** A shop that takes money online. Its books must add up when the test is over. */
export async function openSeller(profile: Parameters<typeof openShop>[0] = {}): Promise<Seller> {
  const shop = await openShop(profile);
  return { ...shop, account: await connectAccount(shop) };
}

/** An order of one line. */
export const orderFor = (seller: Professional, price = 60.5, name = "Wax") =>
  place(seller, [{ name, unit_price: price, quantity: 1 }]);

export interface Checkout {
  id: string;
  account_id: string;
  session_id: string | null;
  url: string | null;
  amount: number;
  currency: string;
  minor: number;
  expires_at: string;
  created_at: number;
  params: {
    line_items: {
      quantity: number;
      price_data: { unit_amount: number; currency: string; product_data: { name: string } };
    }[];
    expires_at: number;
    [name: string]: unknown;
  };
  expire?: boolean;
}

export const URLS = {
  success_url: "https://app.example/paid",
  cancel_url: "https://app.example/back",
};

export const askCheckout = (order: { id: string }, values: object = {}) =>
  rpcs.rpc("begin_checkout", { order_id: order.id, ...URLS, livemode: false, ...values });

export const beginCheckout = (order: { id: string }, values: object = {}) =>
  answer<{ state: string; checkout: Checkout }>(askCheckout(order, values));

/** What Stripe has of a try: an open session unless told otherwise. */
export const sessionOf = (checkout: Checkout, values: object = {}) => ({
  id: checkout.session_id ?? providerId("cs"),
  attempt_id: checkout.id,
  status: "open",
  payment_status: "unpaid",
  payment_intent: null as string | null,
  amount_total: checkout.minor,
  currency: checkout.currency.toLowerCase(),
  url: `https://checkout.stripe.example/${checkout.id}`,
  expires_at: checkout.params.expires_at,
  ...values,
});
export type Session = ReturnType<typeof sessionOf>;

export const recordSession = (account_id: string, session: object) =>
  answer(rpcs.rpc("record_session", { account_id, session: session as never }));

/** The page of an order, open at Stripe. */
export async function openPage(order: { id: string }, values: object = {}) {
  const { state, checkout } = await beginCheckout(order, values);
  expect(state).toBe("create");
  const session = sessionOf(checkout);
  await recordSession(checkout.account_id, session);
  return { checkout, session };
}

export const paidAs = (session: Session, values: object = {}) => ({
  ...session,
  status: "complete",
  payment_status: "paid",
  payment_intent: providerId("pi"),
  url: null,
  ...values,
});

/** An order of 60.50 that was paid on its page. */
export async function paidOrder(profile: Parameters<typeof openShop>[0] = {}, price = 60.5) {
  const seller = await openSeller(profile);
  const order = await orderFor(seller, price);
  const { checkout, session } = await openPage(order);
  const paid = paidAs(session);
  await recordSession(seller.account, paid);
  const [payment] = await ledger(order);
  if (!payment) throw new Error("nothing was paid");
  return { seller, order, checkout, paid, payment, intent: paid.payment_intent };
}

export interface Entry {
  id: string;
  kind: string;
  amount: number;
  method: string | null;
  provider: string;
  reference: string | null;
  reason: string | null;
  flag: string | null;
}

/** What the ledger has of an order, oldest first. */
export async function ledger({ id }: { id: string }): Promise<Entry[]> {
  const rows = await sql<Entry[]>`
    select id, kind, amount::float8 as amount, method, provider, reference, reason, flag
    from private.payments where order_id = ${id} order by created_at, id`;
  return [...rows];
}

/** `payment 60.5`, oldest first. */
export const movements = async (order: { id: string }) =>
  (await ledger(order)).map(({ kind, amount }) => `${kind} ${amount}`);

/** `paid 60.5 -10`: the status, what was paid and what went back. */
export async function standing({ id }: { id: string }): Promise<string> {
  const [row] = await sql<{ text: string }[]>`
    select format('%s %s -%s', payment_status, trim_scale(amount_paid), trim_scale(amount_refunded))
      as text
    from public.orders where id = ${id}`;
  return row?.text ?? "gone";
}

export const askRefund = (seller: Professional, payment_id: string, values: object = {}) =>
  seller.api.rpc("begin_refund", { payment_id, ...values });

export const beginRefund = (seller: Professional, payment_id: string, values: object = {}) =>
  answer<{ refund_id: string; status: string; amount: number }>(
    askRefund(seller, payment_id, values),
  );

/** A refund as Stripe has it. */
export const refundOf = (payment_intent: string, amount: number, values: object = {}) => ({
  id: providerId("re"),
  attempt_id: null as string | null,
  payment_intent,
  amount,
  currency: "eur",
  status: "succeeded",
  reason: null as string | null,
  ...values,
});

export const recordRefund = (account_id: string, refund: object) =>
  answer(rpcs.rpc("record_refund", { account_id, refund: refund as never }));

/** A dispute as Stripe has it: what was taken is negative. */
export const disputeOf = (payment_intent: string, moved: number[], values: object = {}) => ({
  id: providerId("du"),
  payment_intent,
  status: "needs_response",
  reason: "fraudulent",
  amount: 6050,
  currency: "eur",
  entries: moved.map((amount) => ({ id: providerId("txn"), amount })),
  ...values,
});

export const recordDispute = (account_id: string, dispute: object) =>
  answer(rpcs.rpc("record_dispute", { account_id, dispute: dispute as never }));

export const ring = (account_id: string, kind: string, object_id: string, livemode = false) =>
  answer<boolean>(rpcs.rpc("ring_payment", { account_id, kind, object_id, livemode }));

export interface Task {
  task_id: string;
  claim_token: string;
  kind: string;
  account_id: string;
  livemode: boolean;
  object_id: string;
  attempts: number;
  checkout: Checkout | null;
  refund: {
    id: string;
    payment_intent: string;
    minor: number;
    provider_id: string | null;
  } | null;
}

/** The task of one object, unless somebody has it. */
export async function claim(object_id: string): Promise<Task | undefined> {
  const [task] = await answer<Task[]>(rpcs.rpc("claim_payment_tasks", { max_count: 1, object_id }));
  return task;
}

export const claimMany = (max_count: number) =>
  answer<Task[]>(rpcs.rpc("claim_payment_tasks", { max_count }));

export const finish = ({ task_id, claim_token }: Task, retry_after?: number) =>
  answer(
    rpcs.rpc("finish_payment_task", {
      task_id,
      claim_token,
      ...(retry_after !== undefined && { retry_after }),
    }),
  );

/** In how many minutes an object is looked at, rounded; null when there is no task. */
export async function lookIn(object_id: string): Promise<number | null> {
  const [row] = await sql<{ minutes: number }[]>`
    select round(extract(epoch from due_at - now()) / 60)::integer as minutes
    from private.payment_tasks where object_id = ${object_id}`;
  return row?.minutes ?? null;
}

/** Whether somebody who is told of nothing would find an object due. */
export async function isRung(object_id: string): Promise<boolean> {
  const rows = await sql`
    select from private.payment_tasks where object_id = ${object_id} and due_at <= now()`;
  return rows.length > 0;
}

/** The next look is due, and whoever had the task is dead. */
export const lookNow = (object_id: string) =>
  sql`update private.payment_tasks set due_at = now() where object_id = ${object_id}`;

export const failCheckout = (checkout_id: string, code = "not_found") =>
  answer(rpcs.rpc("fail_checkout", { checkout_id, code }));

export const failRefund = (refund_id: string, code = "charge_disputed") =>
  answer(rpcs.rpc("fail_refund", { refund_id, code }));

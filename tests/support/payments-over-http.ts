/** What the tests of payments share: who takes money, what clients do, and what the ledger says. */
import { expect } from "vitest";
import { dateIn, instantOf, iso } from "./calendar.ts";
import { anonymous, request } from "./callers.ts";
import { answer, placeOrder } from "./commerce.ts";
import { sql } from "./database.ts";
import type { Professional, Row } from "./factories.ts";
import { mailingProfessional } from "./mailbox.ts";
import { RETURN_URL } from "./payments-stack.ts";
import { book, openService } from "./scheduling.ts";
import type { FakeStripe } from "./stripe.ts";
import { answerOf, until } from "./webhooks.ts";

export const anon = anonymous();
const day = dateIn(10, "Europe/Rome");
export const at = (time: string, date = day) => iso(instantOf(date, time, "Europe/Rome"));

/** One request to the function. */
export function payments(
  path: string,
  { method = "POST", token, body }: { method?: string; token?: string; body?: unknown } = {},
): Promise<Response> {
  return request(`/functions/v1/payments${path}`, {
    method,
    token,
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

export interface Merchant extends Professional {
  account: string;
}

/** Sells at Stripe: connected, and the form filled in. */
export async function merchant(
  fake: FakeStripe,
  profile: Parameters<typeof mailingProfessional>[0] = {},
): Promise<Merchant> {
  const professional = await mailingProfessional({ accepts_orders: true, ...profile });
  const { url } = await answerOf<{ url: string }>(connect(professional));
  const [account = ""] = /acct_\w+/.exec(url) ?? [];
  fake.onboard(account);
  expect(await accountOf(professional)).toMatchObject({ account_id: account, can_charge: true });
  return { ...professional, account };
}

export const connect = ({ token }: Pick<Professional, "token">, values = {}) =>
  payments("/account", { token, body: { return_url: RETURN_URL, ...values } });

export function accountOf({ token }: Pick<Professional, "token">) {
  return answerOf<Record<string, unknown>>(payments("/account", { method: "GET", token }));
}

export interface Hold {
  id: string;
  status: string;
  expires_at: string | null;
  order_id: string;
  checkout_token: string;
  amount_due: number;
}

/** A service that is paid when it is booked: 60.50, all of it by default. */
export const paidService = (
  professional: Professional,
  values: Parameters<typeof openService>[1] = {},
) => openService(professional, { price: 60.5, payment: "full", ...values } as never);

/** A booking of the public. */
export const hold = (
  service: { id: string },
  time = "10:00",
  values: Parameters<typeof book>[3] = {},
) => answer<Hold>(book(anon, service, at(time), values));

/** An order of the public. */
export const orderHold = (
  shop: Professional,
  items: Parameters<typeof placeOrder>[2],
  values: Parameters<typeof placeOrder>[3] = {},
) =>
  answer<Omit<Hold, "order_id">>(placeOrder(anon, shop, items, values)).then(
    (receipt): Hold => ({ ...receipt, order_id: receipt.id }),
  );

export interface Page {
  url: string;
  amount: number;
  currency: string;
  expires_at: string;
}

export function askToPay(
  { order_id, checkout_token: token }: { order_id: string; checkout_token?: string },
  { caller, ...values }: Record<string, unknown> & { caller?: { token: string } } = {},
): Promise<Response> {
  const urls = { success_url: `${RETURN_URL}/done`, cancel_url: `${RETURN_URL}/back` };
  const body = { order_id, ...(!caller && { token }), ...urls, ...values };
  return payments("/checkout", { body, ...(caller && { token: caller.token }) });
}

/** The page for what is due, and the session behind it. */
export async function openPage(
  of: Parameters<typeof askToPay>[0],
  values: Parameters<typeof askToPay>[1] = {},
): Promise<Page & { session: string }> {
  const page = await answerOf<Page>(askToPay(of, values));
  const [session = ""] = /cs_test_\w+/.exec(page.url) ?? [];
  return { ...page, session };
}

export const refund = (
  { token }: Pick<Professional, "token">,
  body: { payment_id: string; amount?: number; reason?: string },
) => payments("/refunds", { token, body });

export interface Entry {
  id: string;
  kind: string;
  amount: number;
  provider: string;
  reference: string | null;
  flag: string | null;
}

/** What the ledger has of an order, oldest first. */
export async function ledger({ order_id }: { order_id: string }): Promise<Entry[]> {
  const rows = await sql<Entry[]>`
    select id, kind, amount::float8 as amount, provider, reference, flag from private.payments
    where order_id = ${order_id} order by created_at, id`;
  return [...rows];
}

/** `payment 60.5`, sorted. */
export async function movements(of: { order_id: string }): Promise<string[]> {
  return (await ledger(of)).map(({ kind, amount }) => `${kind} ${amount}`).sort();
}

export const untilMovements = async (
  of: { order_id: string },
  wanted: string[],
): Promise<Entry[]> => {
  const sorted = JSON.stringify([...wanted].sort());
  await until(
    () => movements(of),
    (found) => JSON.stringify(found) === sorted,
    20,
  );
  return ledger(of);
};

export async function bookingOf({ id }: { id: string }): Promise<Row<"bookings">> {
  const [row] = await sql<Row<"bookings">[]>`select * from public.bookings where id = ${id}`;
  if (!row) throw new Error("no such booking");
  return row;
}

export async function orderOf({ order_id }: { order_id: string }): Promise<Row<"orders">> {
  const [row] = await sql<Row<"orders">[]>`
    select *, amount_paid::float8, amount_refunded::float8, total::float8
    from public.orders where id = ${order_id}`;
  if (!row) throw new Error("no such order");
  return row;
}

/** `confirmed`, or `cancelled by system`. */
export async function statusOf(of: { id: string }): Promise<string> {
  const { status, cancelled_by } = await bookingOf(of);
  return cancelled_by ? `${status} by ${cancelled_by}` : status;
}

export const untilStatus = (of: { id: string }, wanted: string) =>
  until(
    () => statusOf(of),
    (status) => status === wanted,
    20,
  );

/** The hold's time is over, and so is that of its session: whoever waits for them looks now. */
export async function hasEnded({ id, order_id }: { id: string; order_id: string }): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update public.bookings set expires_at = now() - interval '1 second'
      where id = ${id} and expires_at is not null`;
    await tx`
      update public.orders set expires_at = now() - interval '1 second'
      where id = ${order_id} and expires_at is not null`;
    await tx`
      update private.payment_tasks set due_at = now()
      where object_id in (
        select coalesce(session_id, id::text) from private.checkouts where order_id = ${order_id}
        union select id::text from private.checkouts where order_id = ${order_id}
      )`;
  });
}

/** What waits for its next look is due now. */
export const lookNow = () => sql`update private.payment_tasks set due_at = now()`;

/** Until the dispatcher has nothing left to do. */
export const isQuiet = () =>
  until(
    () => sql<{ due: number }[]>`
      select count(*)::integer as due from private.payment_tasks
      where claim_token is not null or due_at <= now()`,
    ([row]) => row?.due === 0,
    30,
  );

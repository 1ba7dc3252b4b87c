/** What the tests of payments share: accounts that can charge, and money that a provider has collected. */
import type { Sql } from "postgres";
import { asCaller, sql } from "./database.ts";

/** What the provider calls things. */
export const providerId = (prefix: string) =>
  `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;

/** As the provider's last answer about the account of a professional; its id. */
export async function canCharge({ id }: { id: string }): Promise<string> {
  const account = providerId("acct");
  await sql`
    insert into private.payment_accounts (id, professional_id, livemode, can_charge)
    values (${account}, ${id}, false, true)`;
  return account;
}

/** Works on an order under the write lock, as the definers of the payments' RPCs do. */
export async function underTheLock<T>(
  order: { id: string },
  work: (tx: Sql) => Promise<T>,
  connection: Sql = sql,
): Promise<T> {
  return (await connection.begin(async (tx) => {
    await tx`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
    await tx`
      select private.lock_professional(professional_id) from public.orders where id = ${order.id}`;
    await tx`set local role rules`;
    return work(tx as unknown as Sql);
  })) as T;
}

/** A payment page of the provider on which this amount was paid, as the dispatcher reports it. */
export async function collect(
  order: { id: string },
  amount: number,
  connection: Sql = sql,
): Promise<void> {
  const session = {
    id: providerId("cs"),
    status: "complete",
    payment_status: "paid",
    payment_intent: providerId("pi"),
    amount_total: Math.round(amount * 100),
    currency: "eur",
    url: null,
    expires_at: Math.floor(Date.now() / 1000) + 1800,
  };
  const [checkout] = await connection<{ id: string; account_id: string }[]>`
    insert into private.checkouts (
      professional_id, order_id, account_id, amount, currency, minor, params, status, expires_at
    )
    select o.professional_id, o.id, a.id, ${amount}, o.currency, ${session.amount_total}, '{}',
      'creating', now() + interval '30 minutes'
    from public.orders o
    join private.payment_accounts a on a.professional_id = o.professional_id
    where o.id = ${order.id}
    returning id, account_id`;
  if (!checkout) throw new Error("nobody can collect for this order");
  const reported = { ...session, attempt_id: checkout.id };
  await asCaller(
    { role: "service_role" },
    (tx) => tx`select public.record_session(${checkout.account_id}, ${tx.json(reported)})`,
    connection,
  );
}

/** A payment page is opened for an order; the end of its hold. */
export async function openCheckout(order: { id: string }): Promise<Date | null> {
  return underTheLock(order, async (tx) => {
    const [row] = await tx`select private.open_checkout_of(${order.id}) as ends_at`;
    return row?.ends_at;
  });
}

/** Nobody can pay on the page of an order any more; the end of its hold. */
export async function closeCheckout(order: { id: string }): Promise<Date | null> {
  return underTheLock(order, async (tx) => {
    const [row] = await tx`select private.close_checkout_of(${order.id}) as ends_at`;
    return row?.ends_at;
  });
}

/** As the dispatcher does, once a page is known to be closed. */
export const endUnpaidHold = (order: { id: string }) =>
  underTheLock(order, (tx) => tx`select private.end_unpaid_hold(${order.id})`);

/** What goes back of an order's payments: `late 30`. */
export async function refundsOf(order: { id: string }): Promise<string[]> {
  const rows = await sql<{ cause: string; amount: string }[]>`
    select r.cause, r.amount
    from private.provider_refunds r
    join private.payments p on p.id = r.payment_id
    where p.order_id = ${order.id}
    order by r.created_at`;
  return rows.map(({ cause, amount }) => `${cause} ${Number(amount)}`);
}

/** What the tests of payments share: accounts that can charge, and money that a provider has collected. */
import type { Sql } from "postgres";
import { sql } from "./database.ts";

/** As the provider's last answer about the account of a professional. */
export async function canCharge({ id }: { id: string }): Promise<void> {
  await sql`
    insert into private.payment_accounts (id, professional_id, livemode, can_charge)
    values (${`acct_${crypto.randomUUID()}`}, ${id}, false, true)`;
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

/** A payment that a provider has collected: recorded, and settled. */
export function collect(
  order: { id: string },
  amount: number,
  connection: Sql = sql,
): Promise<{ id: string }> {
  return underTheLock(
    order,
    async (tx) => {
      const [payment] = await tx<{ id: string }[]>`
        insert into private.payments (
          professional_id, order_id, kind, amount, method, provider, reference
        )
        select professional_id, id, 'payment', ${amount}, 'card', 'stripe',
          ${`pi_${crypto.randomUUID()}`}
        from public.orders where id = ${order.id}
        returning id`;
      await tx`select private.settle_order(${order.id})`;
      return payment as { id: string };
    },
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

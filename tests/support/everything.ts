/** An account that has something in every table there is. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { makeBusy } from "./busy.ts";
import { anonymous, request, server } from "./callers.ts";
import { sql } from "./database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "./factories.ts";
import { createKey } from "./keys.ts";
import { confirmOwner } from "./mail.ts";
import { disputeOf } from "./payment-rpcs.ts";
import { canCharge, collect, openCheckout } from "./payments.ts";

/** Every table of ours that knows a professional, and how many rows of this one it has. */
export async function rowsOf(professional: Professional): Promise<Record<string, number>> {
  const tables = await sql<{ name: string; column: string }[]>`
    select c.oid::regclass::text as name, a.attname as column
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
    where c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
      -- What a crash may lose holds numbers, for a day at most.
      and c.relkind = 'r' and c.relpersistence = 'p'
      and (a.attname = 'professional_id' or (c.oid = 'public.profiles'::regclass and a.attname = 'id'))`;
  const counts: Record<string, number> = {};
  for (const { name, column } of tables) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::integer as count from ${sql(name)} t where ${sql(column)} = ${professional.id}`;
    counts[name] = row?.count ?? 0;
  }
  return counts;
}

const hours = (from: string) => ({
  weekly: Object.fromEntries(
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map((day) => [day, [[from, "24:00"]]]),
  ),
  overrides: {},
});

export async function accountWithEverything(): Promise<Professional> {
  const professional = await createProfessional({
    accepts_bookings: true,
    accepts_orders: true,
    availability: hours("00:00"),
  });
  const [service, client, product] = await Promise.all([
    createService(professional),
    createClientRow(professional),
    createProduct(professional, { stock: 5 }),
  ]);
  await createProduct(professional, {
    parent_id: (await createProduct(professional)).id,
    stock: 2,
  });
  const booking = await createBooking(professional, {
    client_id: client.id,
    service_id: service.id,
    starts_at: "2100-01-01T09:00:00Z",
  });
  await createBooking(professional, {
    starts_at: "2100-01-02T09:00:00Z",
    ends_at: "2100-01-02T10:00:00Z",
  });
  const order = await createOrder(professional, {
    client_id: client.id,
    items: [{ product_id: product.id, quantity: 2 }],
  });
  await createOrder(professional, { client_id: client.id, booking_id: booking.id });
  await createPortalSession(client);
  await confirmOwner(professional);
  await createKey(professional, "read");

  const ok = (answer: { error: unknown }) => expect(answer.error).toBeNull();
  ok(
    await professional.api.rpc("record_payment", {
      order_id: order.id,
      amount: 5,
      method: "cash",
      reference: randomUUID(),
    }),
  );
  ok(
    await professional.api.rpc("adjust_stock", {
      product_id: product.id,
      delta: 1,
      reason: "found",
    }),
  );
  ok(
    await server().rpc("start_booking_session", {
      booking_id: booking.id,
      link_epoch: client.link_epoch,
    }),
  );
  ok(
    await server().rpc("start_portal_code", {
      professional_id: professional.id,
      email: client.email ?? "",
      ip: "192.0.2.1",
      ip_limit: 1000,
    }),
  );
  ok(await professional.api.rpc("create_calendar_feed", { name: "Phone", detail: "full" }));
  await sql`
    insert into private.busy_calendars (professional_id, sealed_address, host, due_at)
    values (${professional.id}, 'sealed', 'calendar.example', '2100-01-01')`;
  await makeBusy(professional, ["2099-01-01T09:00:00Z", "2099-01-01T10:00:00Z"]);
  // One that was revoked, so that no dispatcher takes it.
  await sql`
    with connection as (
      insert into private.calendar_connections (professional_id, sealed_token, status)
      values (${professional.id}, 'sealed', 'revoked') returning id
    )
    insert into private.calendar_pushes
      (connection_id, booking_id, professional_id, due_at, may_exist, is_there)
    select id, ${booking.id}, ${professional.id}, null, true, true from connection`;
  // As a hold leaves it where there is a webhook endpoint.
  await sql`
    insert into private.unheard_clients (professional_id, client_id)
    values (${professional.id}, ${client.id})`;
  // A public booking with a key, so that a key is kept too.
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const { status } = await request("/rest/v1/rpc/create_booking", {
    method: "POST",
    body: JSON.stringify({
      service_id: service.id,
      starts_at: `${tomorrow}T12:00:00Z`,
      client_name: "Bruno",
      client_email: `bruno-${randomUUID()}@example.com`,
      idempotency_key: randomUUID(),
    }),
  });
  expect(status).toBe(200);
  // An order that was paid online, which is disputed, and some of which is to go back.
  ok(await professional.api.rpc("connect_payment_account"));
  const account = await canCharge(professional);
  await collect(order, 10);
  const [payment] = await sql<{ id: string; reference: string }[]>`
    select id, reference from private.payments
    where order_id = ${order.id} and provider = 'stripe'`;
  ok(await professional.api.rpc("begin_refund", { payment_id: payment?.id ?? "", amount: 1 }));
  ok(
    await server().rpc("record_dispute", {
      account_id: account,
      dispute: disputeOf(payment?.reference ?? "", [-200]),
    }),
  );
  // And one that waits for its payment, on a page that is open.
  const costly = await createService(professional, { payment: "full" });
  const { data: held, error } = await anonymous().rpc("create_booking", {
    service_id: costly.id,
    starts_at: `${tomorrow}T14:00:00Z`,
    client_name: "Bruno",
    client_email: `bruno-${randomUUID()}@example.com`,
  });
  expect(error).toBeNull();
  await openCheckout({ id: held?.order_id ?? "" });
  // Last, for it ends codes and mails.
  await sql`
    insert into private.suspended_owners (professional_id, reason)
    values (${professional.id}, 'spam')`;
  return professional;
}

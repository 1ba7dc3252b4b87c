/** An account that has something in every table there is. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { request, server } from "./callers.ts";
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
  // Last, for it ends codes and mails.
  await sql`
    insert into private.suspended_owners (professional_id, reason)
    values (${professional.id}, 'spam')`;
  return professional;
}

/** An account that has everything goes without a trace, and takes nothing of anybody else along. */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, describe, expect, test } from "vitest";
import { makeBusy } from "./support/busy.ts";
import { request, server } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "./support/factories.ts";
import { confirmOwner } from "./support/mail.ts";
import { stack } from "./support/stack.ts";

/** The platform's auth service, which deletes users. */
const url = new URL(stack.dbUrl);
url.username = "supabase_auth_admin";
const auth = postgres(url.href, { max: 1, onnotice: () => {} });
afterAll(() => auth.end());

/** Every table of ours that knows a professional, and how many rows of this one it has. */
async function rowsOf(professional: Professional): Promise<Record<string, number>> {
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

async function accountWithEverything(): Promise<Professional> {
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
  await makeBusy(professional, ["2027-01-01T09:00:00Z", "2027-01-01T10:00:00Z"]);
  await sql`
    insert into private.busy_calendars (professional_id, sealed_address, host, due_at)
    values (${professional.id}, 'sealed', 'calendar.example', '2100-01-01')`;
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

/** Tables that this account leaves empty; the tests of webhooks delete one that does not. */
const LEFT_EMPTY = /^private\.webhook/;

describe("deleting an account that has everything", () => {
  test("as the auth service does it succeeds and leaves no row in any table", async () => {
    const [doomed, neighbour] = await Promise.all([
      accountWithEverything(),
      accountWithEverything(),
    ]);
    const before = await rowsOf(doomed);
    for (const [table, count] of Object.entries(before)) {
      if (!LEFT_EMPTY.test(table)) expect([table, count > 0]).toEqual([table, true]);
    }
    const neighbourBefore = await rowsOf(neighbour);

    await auth`delete from auth.users where id = ${doomed.id}`;

    for (const [table, count] of Object.entries(await rowsOf(doomed))) {
      expect([table, count]).toEqual([table, 0]);
    }
    expect(await rowsOf(neighbour)).toEqual(neighbourBefore);
    const sessions = await sql`select from auth.sessions where user_id = ${doomed.id}`;
    expect(sessions).toHaveLength(0);
  });

  test("ends its tokens and frees its username", async () => {
    const doomed = await createProfessional();
    const { data } = await doomed.api.from("profiles").select("username").single();
    await auth`delete from auth.users where id = ${doomed.id}`;
    const response = await request("/rest/v1/profiles?select=id", { token: doomed.token });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: "session_not_found" });
    const next = await createProfessional({ username: data?.username ?? "" });
    expect((await next.api.from("profiles").select("username").single()).data).toEqual(data);
  });

  test("works for many accounts in one statement", async () => {
    const accounts = await Promise.all([1, 2, 3].map(() => createProfessional()));
    await Promise.all(accounts.map((account) => createService(account)));
    const ids = accounts.map((account) => account.id);
    await auth`delete from auth.users where id in ${auth(ids)}`;
    expect(
      await sql`select from public.services where professional_id in ${sql(ids)}`,
    ).toHaveLength(0);
  });
});

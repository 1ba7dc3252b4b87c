/** Our own server creates, reads and updates one row of each table; it names the professional itself. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { server } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import {
  createClientRow,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "./support/factories.ts";
import { TABLES, type Table } from "./support/permissions.ts";

let owner: Professional;
/** A user whose profile was lost. */
let userId: string;
let values: Record<Table, Record<string, unknown>>;

beforeAll(async () => {
  owner = await createProfessional({ currency: "USD" });
  userId = (await createProfessional()).id;
  await sql`delete from public.profiles where id = ${userId}`;
  const [client, service, product] = await Promise.all([
    createClientRow(owner),
    createService(owner, { duration: 45, buffer_after: 10 }),
    createProduct(owner),
  ]);
  const own = { professional_id: owner.id };
  values = {
    profiles: { id: userId, username: `server-${userId}`, tier: "plus" },
    services: { ...own, name: "Haircut", price: 30.5, duration: 60 },
    clients: { ...own, name: "Marta Rossi", email: `marta-${randomUUID()}@example.com` },
    products: { ...own, name: "Shampoo", price: 12.5, stock: 3 },
    bookings: {
      ...own,
      client_id: client.id,
      service_id: service.id,
      starts_at: "2100-01-01T09:00:00.000Z",
    },
    orders: { ...own, client_id: client.id, items: [{ product_id: product.id, quantity: 2 }] },
  };
});

const CHANGES: Record<Table, Record<string, unknown>> = {
  profiles: { tier: "pro", bio: "x" },
  services: { price: 31 },
  clients: { notes: "x" },
  products: { stock: 5 },
  bookings: { internal_notes: "x" },
  orders: { internal_notes: "x" },
};

/** What the rules fill in, for a server as for the owner. */
const FILLED: Partial<Record<Table, Record<string, unknown>>> = {
  profiles: { currency: "EUR", time_zone: "UTC", accepts_bookings: false },
  bookings: {
    ends_at: "2100-01-01T09:45:00.000Z",
    buffer_after: 10,
    price: 30,
    currency: "USD",
    status: "confirmed",
    source: "owner",
  },
  orders: { number: 1, subtotal: 25, total: 25, currency: "USD", payment_status: "unpaid" },
};

describe.each(TABLES)("%s", (table) => {
  test("create, read, update", async () => {
    const { items: _, ...plain } = values[table];
    const created = await server()
      .from(table)
      .insert(values[table] as never)
      .select("*")
      .single();
    expect(created.error).toBeNull();
    expect(created.data).toMatchObject({ ...plain, ...FILLED[table] });

    const id = created.data?.id ?? "";
    const read = await server().from(table).select("*").eq("id", id).single();
    expect(read.data).toEqual(created.data);

    const updated = await server()
      .from(table)
      .update(CHANGES[table] as never)
      .eq("id", id)
      .select("*")
      .single();
    expect(updated.data).toMatchObject(CHANGES[table]);
    expect(updated.data?.created_at).toBe(created.data?.created_at);
  });
});

test.each(["services", "clients", "products", "bookings", "orders"] as const)(
  "a row of %s without a professional is refused",
  async (table) => {
    const { professional_id: _, ...without } = values[table];
    const { status, error } = await server()
      .from(table)
      .insert(without as never);
    expect([status, error?.code]).toEqual([400, "23502"]);
  },
);

test("sees the rows of every professional", async () => {
  const other = await createProfessional();
  await createService(other);
  const { data } = await server()
    .from("services")
    .select("professional_id")
    .in("professional_id", [owner.id, other.id]);
  expect(new Set(data?.map((row) => row.professional_id))).toEqual(new Set([owner.id, other.id]));
});

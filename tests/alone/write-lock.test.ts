/**
 * Two writers of one professional are never at work at the same time, and none waits for ever. Alone,
 * because a server that writes for another test would make anybody wait.
 */
import { randomUUID } from "node:crypto";
import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { server } from "../support/callers.ts";
import { asCaller, type Claims, parallelConnections, raised, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import { openProfessional, openService } from "../support/scheduling.ts";

const [holder, waiter] = parallelConnections(2) as [typeof sql, typeof sql];
const serverRole: Claims = { role: "service_role" };

let owner: Professional;
let other: Professional;

beforeAll(async () => {
  [owner, other] = await Promise.all([createProfessional(), createProfessional()]);
});

/** Whether `second` has to wait for a lock until `first` ends its transaction. */
async function waitsFor(
  first: [Claims, (tx: TransactionSql) => Promise<unknown>],
  second: [Claims, (tx: TransactionSql) => Promise<unknown>],
): Promise<boolean> {
  return asCaller(
    first[0],
    async (tx) => {
      await first[1](tx);
      try {
        await asCaller(
          second[0],
          async (inner) => {
            await inner`set local lock_timeout = '100ms'`;
            await second[1](inner);
          },
          waiter,
        );
        return false;
      } catch (error) {
        expect(await raised(Promise.reject(error))).toMatchObject({ status: 429, code: "busy" });
        return true;
      }
    },
    holder,
  );
}

type Work = (tx: TransactionSql) => Promise<unknown>;

const addClient: Work = (tx) => tx`insert into public.clients (name) values ('Marta')`;
const nothingOf = (table: string, command: "update" | "delete"): Work => {
  const statement = {
    update: (tx: TransactionSql) =>
      tx`update ${tx(`public.${table}`)} set ${tx(table === "profiles" ? "bio" : "metadata")} = ${
        table === "profiles" ? "bio" : "{}"
      } where false`,
    delete: (tx: TransactionSql) => tx`delete from ${tx(`public.${table}`)} where false`,
  };
  return statement[command];
};

describe("a write of a professional", () => {
  test("waits for another one of the same professional", async () => {
    expect(await waitsFor([owner.claims, addClient], [owner.claims, addClient])).toBe(true);
  });

  test("does not wait for another professional, nor does the public at one", async () => {
    expect(await waitsFor([owner.claims, addClient], [other.claims, addClient])).toBe(false);
    const shop = await openProfessional();
    const { id } = await openService(shop);
    const start = iso(instantOf(dateIn(10, "Europe/Rome"), "10:00", "Europe/Rome"));
    const book: Work = (tx) =>
      tx`select from public.create_booking(${id}, ${start}, 'Ann', 'ann@example.com')`;
    expect(await waitsFor([owner.claims, addClient], [{ role: "anon" }, book])).toBe(false);
    expect(await waitsFor([shop.claims, addClient], [{ role: "anon" }, book])).toBe(true);
  });

  test("waits when it is about orders or products", async () => {
    const [client, product] = await Promise.all([createClientRow(owner), createProduct(owner)]);
    const items = [{ name: "Soap", unit_price: 1, quantity: 1 }];
    const order: Work = (tx) =>
      tx`insert into public.orders (client_id, items) values (${client.id}, ${tx.json(items)})`;
    const writes: Work[] = [
      order,
      (tx) => tx`update public.orders set notes = 'x' where client_id = ${client.id}`,
      (tx) => tx`insert into public.products (name, price) values ('Soap', 1)`,
      (tx) => tx`update public.products set name = 'Soap' where id = ${product.id}`,
      (tx) => tx`delete from public.products where id = ${product.id}`,
    ];
    for (const write of writes) {
      expect(await waitsFor([owner.claims, order], [owner.claims, write])).toBe(true);
      expect(await waitsFor([other.claims, addClient], [owner.claims, write])).toBe(false);
    }
  });

  test("waits for a server, and a server for it", async () => {
    const serve: Work = (tx) =>
      tx`insert into public.clients (professional_id, name) values (${other.id}, 'Marta')`;
    expect(await waitsFor([serverRole, serve], [owner.claims, addClient])).toBe(true);
    expect(await waitsFor([owner.claims, addClient], [serverRole, serve])).toBe(true);
  });

  test("does not keep anybody from reading", async () => {
    const read: Work = (tx) => tx`select from public.clients`;
    expect(await waitsFor([owner.claims, addClient], [owner.claims, read])).toBe(false);
    expect(await waitsFor([serverRole, nothingOf("clients", "update")], [owner.claims, read])).toBe(
      false,
    );
  });

  test("waits for the own portal client", async () => {
    const client = await createClientRow(owner);
    const portal = await createPortalSession(client);
    const rename: Work = (tx) =>
      tx`update public.clients set name = 'Marta' where id = ${client.id}`;
    expect(await waitsFor([portal.claims, rename], [owner.claims, addClient])).toBe(true);
  });
});

// The lock is taken by the statement, before any row: so the statement of no row has to take it.
describe.each(["profiles", "services", "clients", "products", "bookings", "orders"])(
  "%s",
  (table) => {
    test.each(["update", "delete"] as const)(
      "%s takes the lock before it looks at a row",
      async (command) => {
        expect(
          await waitsFor([owner.claims, addClient], [serverRole, nothingOf(table, command)]),
        ).toBe(true);
      },
    );

    if (table === "profiles") return;

    test("insert takes the lock before it looks at a row", async () => {
      const insert: Work = (tx) =>
        tx`insert into ${tx(`public.${table}`)} (professional_id) select ${owner.id}::uuid where false`;
      expect(await waitsFor([owner.claims, addClient], [serverRole, insert])).toBe(true);
    });
  },
);

describe("the deletion of an account", () => {
  test("waits for a writer of it, and for no other", async () => {
    const doomed = await createProfessional();
    const remove: Work = async (tx) => {
      await tx`reset role`;
      await tx`delete from auth.users where id = ${doomed.id}`;
    };
    expect(await waitsFor([doomed.claims, addClient], [serverRole, remove])).toBe(true);
    expect(await waitsFor([owner.claims, addClient], [serverRole, remove])).toBe(false);
  });
});

describe("many at once", () => {
  test("200 calls of users and servers on the same rows end without a deadlock", async () => {
    const busy = await createProfessional();
    const [service, client, product] = await Promise.all([
      createService(busy),
      createClientRow(busy),
      createProduct(busy, { stock: 1000 }),
    ]);
    const portal = await createPortalSession(client);
    let hour = 0;
    const calls: (() => PromiseLike<{ status: number; error: unknown }>)[] = [
      () =>
        busy.api
          .from("services")
          .update({ name: `Cut ${randomUUID()}` })
          .eq("id", service.id),
      () =>
        server()
          .from("services")
          .update({ name: `Cut ${randomUUID()}` })
          .eq("id", service.id),
      () => busy.api.from("products").update({ price: 10 }).eq("professional_id", busy.id),
      () => server().from("products").update({ active: true }).eq("id", product.id),
      () =>
        portal.api
          .from("clients")
          .update({ name: `Marta ${randomUUID()}` })
          .eq("id", client.id),
      () => server().from("clients").update({ notes: randomUUID() }).eq("id", client.id),
      () =>
        busy.api.from("bookings").insert({
          client_id: client.id,
          service_id: service.id,
          starts_at: new Date(Date.UTC(2100, 0, 1, ++hour)).toISOString(),
        }),
      () =>
        busy.api
          .from("orders")
          .insert({ client_id: client.id, items: [{ product_id: product.id, quantity: 1 }] }),
      () => server().from("profiles").update({ bio: randomUUID() }).eq("id", busy.id),
      () => busy.api.from("profiles").update({ bio: randomUUID() }).eq("id", busy.id),
    ];
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => calls[i % calls.length]?.()),
    );
    for (const answer of answers) {
      expect(answer?.error).toBeNull();
      expect([201, 204]).toContain(answer?.status);
    }
    const [orders] = await sql`
      select count(*)::integer as count, max(number) as last from public.orders
      where professional_id = ${busy.id}`;
    expect(orders).toEqual({ count: 20, last: 20 });
  });

  test("writers and the deletion of their profile end without a deadlock", async () => {
    for (let round = 0; round < 6; round++) {
      const doomed = await createProfessional();
      const [service, client] = await Promise.all([createService(doomed), createClientRow(doomed)]);
      await createBooking(doomed, {
        client_id: client.id,
        service_id: service.id,
        starts_at: "2100-01-01T09:00:00Z",
      });
      await createOrder(doomed, {
        client_id: client.id,
        items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
      });
      // As many as the limits let who has no profile, and so no tier, send at once.
      const write = () => doomed.api.from("clients").insert({ name: "Marta" });
      const answers = await Promise.all([
        ...Array.from({ length: 2 }, write),
        server().from("profiles").delete().eq("id", doomed.id),
        ...Array.from({ length: 2 }, write),
      ]);
      // Whoever came too late is refused: the profile is gone.
      for (const { status } of answers) expect([201, 204, 409]).toContain(status);
      expect(
        await sql`select from public.clients where professional_id = ${doomed.id}`,
      ).toHaveLength(0);
    }
  });
});

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { request, signToken } from "./support/callers.ts";
import { sql, tryAsCaller } from "./support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type PortalSession,
  type Professional,
} from "./support/factories.ts";
import {
  CALLERS,
  type Caller,
  COMMANDS,
  type Command,
  isPermitted,
  PERMISSIONS,
  permissionTable,
  ROLES,
  TABLES,
  type Table,
} from "./support/permissions.ts";
import { stack } from "./support/stack.ts";

let owner: Professional;
let other: Professional;
let portal: PortalSession;
let link: PortalSession;
/** A service and a client of the owner that stay. */
let serviceId: string;
let clientId: string;
/** The one that the holder of the link has. */
let linkedId: string;
let bookedHours = 0;

beforeAll(async () => {
  [owner, other] = await Promise.all([
    createProfessional({ accepts_bookings: true, accepts_orders: true }),
    createProfessional(),
  ]);
  const [service, client] = await Promise.all([createService(owner), createClientRow(owner)]);
  serviceId = service.id;
  clientId = client.id;
  portal = await createPortalSession(client);
  const booking = await createBooking(owner, {
    client_id: clientId,
    service_id: serviceId,
    starts_at: "2120-01-01T09:00:00Z",
  });
  linkedId = booking.id;
  link = await createBookingSession(booking);
});

interface Answer {
  status: number;
  body: { code?: string; id?: string }[] & { code?: string };
}

async function send(
  caller: Caller,
  method: string,
  path: string,
  body?: object,
  prefer = "return=representation",
): Promise<Answer> {
  const tokens: Partial<Record<Caller, string>> = {
    owner: owner.token,
    other: other.token,
    portal: portal.token,
    link: link.token,
  };
  const response = await request(`/rest/v1/${path}`, {
    method,
    token: tokens[caller],
    headers: {
      prefer,
      apikey: caller === "server" ? stack.secretKey : stack.publishableKey,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text || "[]") as Answer["body"] };
}

/** Values for a new row of the owner; bookings each at an hour of their own. */
async function newRow(table: Table): Promise<Record<string, unknown>> {
  const own = { professional_id: owner.id };
  bookedHours += 2;
  const startsAt = new Date(Date.UTC(2100, 0, 1, bookedHours)).toISOString();
  const rows: Record<Exclude<Table, "profiles">, Record<string, unknown>> = {
    services: { ...own, name: "Haircut", price: 30, duration: 60 },
    clients: { ...own, name: "Marta Rossi" },
    products: { ...own, name: "Shampoo", price: 12.5 },
    bookings: { ...own, client_id: clientId, service_id: serviceId, starts_at: startsAt },
    // A line without a product: nothing in the stock ledger keeps such an order.
    orders: {
      ...own,
      client_id: clientId,
      items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
    },
  };
  return table === "profiles" ? newProfile() : rows[table];
}

/** Every user has a profile; only a server could take it away and give a new one. */
async function newProfile(): Promise<Record<string, unknown>> {
  const { id } = await createProfessional();
  await sql`delete from public.profiles where id = ${id}`;
  return { id, username: `new-${id}` };
}

/** Something that each who may update the table may change. */
const CHANGES: Record<Table, Record<string, unknown>> = {
  profiles: { bio: "Twenty years of scissors." },
  services: { name: "Long haircut" },
  clients: { name: "Marta Bianchi" },
  products: { name: "Conditioner" },
  bookings: { notes: "Ring twice." },
  orders: { notes: "Gift wrap." },
};

/** The id of a row of the owner that the test may use up. */
async function existingRow(table: Table, caller: Caller, command: Command): Promise<string> {
  if (table === "profiles") {
    if (command !== "delete") return owner.id;
    return (await createProfessional()).id;
  }
  // A portal client has one client row; with bookings and orders nobody could delete it.
  if (table === "clients" && caller === "portal" && command !== "delete") return clientId;
  if (table === "bookings" && caller === "link" && command === "select") return linkedId;
  const { status, body } = await send("server", "POST", table, await newRow(table));
  expect(status).toBe(201);
  return body[0]?.id as string;
}

async function attempt(
  caller: Caller,
  command: Command,
  table: Table,
  id: string,
  prefer = "return=representation",
): Promise<Answer> {
  // Also what to return would be read.
  const select = prefer === "return=minimal" ? "" : "&select=id";
  switch (command) {
    case "select":
      return send(caller, "GET", `${table}?id=eq.${id}&select=id`);
    case "insert":
      return send(caller, "POST", `${table}?${select}`, await newRow(table), prefer);
    case "update":
      return send(caller, "PATCH", `${table}?id=eq.${id}${select}`, CHANGES[table], prefer);
    case "delete":
      return send(caller, "DELETE", `${table}?id=eq.${id}${select}`, undefined, prefer);
  }
}

/** The same with a column outside the caller's list. */
async function attemptUnlisted(
  caller: Caller,
  command: Command,
  table: Table,
  id: string,
): Promise<Answer> {
  if (command === "select") return send(caller, "GET", `${table}?id=eq.${id}&select=*`);
  const unlisted =
    caller === "portal"
      ? { email: "another@example.com" }
      : table === "profiles"
        ? { tier: "ultra" }
        : { created_at: "2020-01-01T00:00:00Z" };
  return command === "insert"
    ? send(caller, "POST", table, { ...(await newRow(table)), ...unlisted })
    : send(caller, "PATCH", `${table}?id=eq.${id}`, unlisted);
}

async function hasPrivilege(caller: Caller, command: Command, table: Table): Promise<boolean> {
  const [found] =
    command === "delete"
      ? await sql`select has_table_privilege(${ROLES[caller]}, ${`public.${table}`}, 'delete') as yes`
      : await sql`
          select has_any_column_privilege(${ROLES[caller]}, ${`public.${table}`}, ${command}) as yes`;
  return found?.yes;
}

function expectRefused(answer: Answer, caller: Caller): void {
  expect(answer.body.code).toBe("42501");
  expect(answer.status).toBe(caller === "anon" ? 401 : 403);
}

describe.each(TABLES)("%s", (table) => {
  describe.each(CALLERS)("%s", (caller) => {
    for (const command of COMMANDS) {
      const outcome = PERMISSIONS[table][caller][command];

      test(`${command}: ${outcome}`, async () => {
        const id = await existingRow(table, caller, command);
        if (isPermitted(outcome)) {
          const answer = await attempt(caller, command, table, id);
          expect(answer.status).toBe(command === "insert" ? 201 : 200);
          expect(answer.body).toHaveLength(1);
          if (outcome === "allowed") return;
          // The grant is a list: what is not on it is refused on the same row.
          expectRefused(await attemptUnlisted(caller, command, table, id), caller);
          return;
        }

        // To return a row takes the policy for reading too, which would refuse as well.
        const prefer = outcome === "no rows" ? "return=representation" : "return=minimal";
        const answer = await attempt(caller, command, table, id, prefer);
        if (outcome === "no rows") {
          expect(answer.status).toBe(200);
          expect(answer.body).toEqual([]);
        } else {
          expectRefused(answer, caller);
          expect(await hasPrivilege(caller, command, table)).toBe(outcome === "with check");
        }

        // The same request works for who may make it: it was refused for who asked, not for what.
        const twin = isPermitted(PERMISSIONS[table].owner[command]) ? "owner" : "server";
        const permitted = await attempt(twin, command, table, id);
        expect(permitted.status).toBe(command === "insert" ? 201 : 200);
        expect(permitted.body).toHaveLength(1);
      });
    }
  });
});

describe("whose rows", () => {
  test("the public sees active services and products only, and only of who accepts bookings or orders", async () => {
    const closed = await createProfessional();
    await Promise.all([
      createService(owner, { name: "Retired", active: false }),
      createProduct(owner, { name: "Retired", active: false }),
      createService(closed),
      createProduct(closed),
    ]);
    for (const table of ["services", "products"]) {
      const shown = `${table}?select=name,active,professional_id&professional_id=in.(${owner.id},${closed.id})`;
      const { body } = await send("anon", "GET", shown);
      const rows = body as unknown as { name: string; active: boolean; professional_id: string }[];
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows)
        expect(row).toMatchObject({ active: true, professional_id: owner.id });
    }
  });

  test.each(["accepts_bookings", "accepts_orders"])(
    "the public sees the catalogue of a professional with only %s",
    async (column) => {
      const professional = await createProfessional({ [column]: true });
      const [service, product] = await Promise.all([
        createService(professional),
        createProduct(professional),
      ]);
      const services = await send("anon", "GET", `services?id=eq.${service.id}&select=id`);
      const products = await send("anon", "GET", `products?id=eq.${product.id}&select=id`);
      expect([services.body.length, products.body.length]).toEqual([1, 1]);
    },
  );

  test("a portal client sees neither another client of the same professional nor what is theirs", async () => {
    const neighbour = await createClientRow(owner);
    const startsAt = new Date(Date.UTC(2110, 0, 1)).toISOString();
    await send("owner", "POST", "bookings", {
      client_id: neighbour.id,
      service_id: serviceId,
      starts_at: startsAt,
    });
    await createOrder(owner, {
      client_id: neighbour.id,
      items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
    });
    // Of the same kind, so that there is something to see.
    await send("owner", "POST", "bookings", {
      client_id: clientId,
      service_id: serviceId,
      starts_at: new Date(Date.UTC(2110, 0, 2)).toISOString(),
    });
    await createOrder(owner, {
      client_id: clientId,
      items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
    });

    for (const [table, column] of [
      ["clients", "id"],
      ["bookings", "client_id"],
      ["orders", "client_id"],
    ]) {
      const { body } = await send("portal", "GET", `${table}?select=${column}`);
      const seen = new Set(body.map((row) => (row as Record<string, string>)[column as string]));
      expect(seen).toEqual(new Set([clientId]));
    }
    const update = await send("portal", "PATCH", `clients?id=eq.${neighbour.id}&select=id`, {
      name: "Mine now",
    });
    expect(update).toEqual({ status: 200, body: [] });
  });

  test("a portal token that names another professional than its session is refused", async () => {
    const stranger = await createClientRow(other);
    const session = await createPortalSession(stranger);
    const token = await signToken({ ...session.claims, professional_id: owner.id });
    const response = await request("/rest/v1/clients?select=id", { token });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: "session_not_found" });
  });

  // A filter reads, and reading has a policy of its own; without one the command's own policy is alone.
  test.each([
    ["update", "profiles", "other"],
    ["update", "services", "other"],
    ["update", "clients", "other"],
    ["update", "clients", "portal"],
    ["update", "products", "other"],
    ["update", "bookings", "other"],
    ["update", "orders", "other"],
    ["delete", "services", "other"],
    ["delete", "clients", "other"],
    ["delete", "products", "other"],
  ] as const)(
    "%s of all %s in SQL reaches nobody else's rows as %s",
    async (command, table, caller) => {
      // The one row of their own, or none.
      const own = caller === "portal" || table === "profiles" ? 1 : 0;
      const { claims } = caller === "portal" ? portal : await createProfessional();
      const name = sql(`public.${table}`);
      const result = await tryAsCaller(claims, (tx) =>
        command === "delete"
          ? tx`delete from ${name}`
          : tx`update ${name} set ${tx(CHANGES[table] as Record<string, never>)}`,
      );
      expect(result.count).toBe(own);
    },
  );

  test("a write into somebody else's tenant is refused alike, whatever is there", async () => {
    const victim = await createProfessional({ currency: "JPY" });
    const [service, client, product] = await Promise.all([
      createService(victim, { price: 30 }),
      createClientRow(victim),
      createProduct(victim, { price: 500, stock: 1 }),
    ]);
    const variant = await createProduct(victim, { price: 500, parent_id: product.id });
    const starts_at = "2111-01-01T09:00:00Z";
    await createBooking(victim, { client_id: client.id, service_id: service.id, starts_at });

    // Each would meet a rule of the victim's own rows: a fine price, a taken time, a variant, no stock.
    const attempts: [Table, object][] = [
      ["services", { name: "A", price: 1.5, duration: 5 }],
      ["products", { name: "A", price: 1.5 }],
      ["products", { name: "A", price: 1, parent_id: variant.id }],
      ["products", { name: "A", price: 1, parent_id: randomUUID() }],
      ["bookings", { client_id: client.id, service_id: service.id, starts_at }],
      ["bookings", { client_id: client.id, service_id: randomUUID(), starts_at }],
      ["bookings", { starts_at }],
      ["orders", { client_id: client.id, items: [{ product_id: product.id, quantity: 9 }] }],
      ["orders", { client_id: client.id, items: [{ product_id: randomUUID(), quantity: 1 }] }],
      ["clients", { name: "A", email: client.email }],
    ];
    for (const [table, values] of attempts) {
      const body = { professional_id: victim.id, ...values };
      const answer = await send("other", "POST", table, body, "return=minimal");
      expect([table, values, answer.status, answer.body.code]).toEqual([
        table,
        values,
        403,
        "42501",
      ]);
    }
  });

  test("a professional cannot give an own row to another professional", async () => {
    for (const table of ["services", "clients", "products"] as const) {
      const id = await existingRow(table, "owner", "update");
      const answer = await send("owner", "PATCH", `${table}?id=eq.${id}`, {
        professional_id: other.id,
      });
      expectRefused(answer, "owner");
    }
  });
});

test("README shows the matrix", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, shown] = readme.split(/<!-- \/?permissions -->\n/);
  expect(shown?.trim()).toBe(permissionTable());
});

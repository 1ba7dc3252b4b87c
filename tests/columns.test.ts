import { beforeAll, describe, expect, test } from "vitest";
import { request } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type PortalSession,
  type Professional,
} from "./support/factories.ts";
import { TABLES, type Table } from "./support/permissions.ts";

const words = (text: string) => text.trim().split(/\s+/);

/** All columns of each table, in order. */
const COLUMNS: Record<Table, string[]> = {
  profiles:
    words(`id created_at updated_at full_name username niche bio image_url time_zone currency
    availability accepts_bookings accepts_orders tax_rate prices_include_tax unpaid_order_hours
    verify_public_email payment_minutes orders_need_payment tier language mail_settings reminders contact_email contact_phone address
    public_contact mail_footer`),
  services:
    words(`id created_at updated_at professional_id name description category image_url price
    payment deposit duration buffer_before buffer_after slot_step min_notice max_advance_days cancellation_notice
    requires_confirmation active location instructions metadata`),
  clients: words(`id created_at updated_at professional_id name email phone notes tags archived
    metadata language reminders mail_status link_epoch email_key`),
  products: words(`id created_at updated_at professional_id parent_id name description category
    image_url sku options price stock low_stock_at in_stock active metadata`),
  bookings:
    words(`id created_at updated_at professional_id client_id service_id service_name starts_at
    ends_at buffer_before buffer_after cancellation_notice status price currency notes
    internal_notes source cancel_reason cancelled_at cancelled_by expires_at checkout_open email_confirmed_at version
    metadata`),
  orders: words(`id created_at updated_at professional_id client_id number kind booking_id items
    subtotal discount tax total deposit currency status amount_paid amount_refunded payment_status
    shipping_address notes internal_notes source expires_at checkout_open email_confirmed_at version metadata`),
};

type Grants = Partial<Record<"select" | "insert" | "update", string[]>>;

/** What a professional writes; each reads every column of the own rows. */
const WRITABLE: Record<Table, { insert?: string[]; update: string[] }> = {
  profiles: {
    update: words(`full_name username niche bio image_url time_zone currency availability
      accepts_bookings accepts_orders tax_rate prices_include_tax unpaid_order_hours
      verify_public_email payment_minutes orders_need_payment language mail_settings reminders contact_email contact_phone address
      public_contact mail_footer`),
  },
  services: {
    insert:
      words(`id professional_id name description category image_url price payment deposit duration
      buffer_before buffer_after slot_step min_notice max_advance_days cancellation_notice
      requires_confirmation active location instructions metadata`),
    update:
      words(`name description category image_url price payment deposit duration buffer_before buffer_after
      slot_step min_notice max_advance_days cancellation_notice requires_confirmation active
      location instructions metadata`),
  },
  clients: {
    insert: words(
      "id professional_id name email phone notes tags archived metadata language reminders",
    ),
    update: words("name email phone notes tags archived metadata language reminders"),
  },
  products: {
    insert: words(`id professional_id parent_id name description category image_url sku options
      price stock low_stock_at active metadata`),
    update: words(`name description category image_url sku options price stock low_stock_at active
      metadata`),
  },
  bookings: {
    insert: words(`id professional_id client_id service_id starts_at ends_at buffer_before
      buffer_after status price notes internal_notes metadata`),
    update: words("starts_at ends_at status notes internal_notes cancel_reason metadata"),
  },
  orders: {
    insert: words(`id professional_id client_id kind booking_id items discount shipping_address
      notes internal_notes metadata`),
    update: words("status shipping_address notes internal_notes metadata"),
  },
};

const EVERYTHING: Record<Table, Grants> = Object.fromEntries(
  TABLES.map((table) => [
    table,
    { select: COLUMNS[table], insert: COLUMNS[table], update: COLUMNS[table] },
  ]),
) as Record<Table, Grants>;

const GRANTS: Record<string, Partial<Record<Table, Grants>>> = {
  anon: {
    services: {
      select: COLUMNS.services.filter(
        (column) => !["location", "instructions", "metadata"].includes(column),
      ),
    },
    products: {
      select: words(`id created_at updated_at professional_id parent_id name description category
        image_url sku options price in_stock active`),
    },
  },
  authenticated: Object.fromEntries(
    TABLES.map((table) => [table, { select: COLUMNS[table], ...WRITABLE[table] }]),
  ),
  portal_client: {
    clients: { select: words("id name email phone"), update: words("name phone") },
    bookings: {
      select: words(`id created_at updated_at professional_id client_id service_id service_name
        starts_at ends_at cancellation_notice status price currency notes source cancel_reason cancelled_at
        cancelled_by expires_at version`),
    },
    orders: {
      select: words(`id created_at updated_at professional_id client_id number kind booking_id items
        subtotal discount tax total deposit currency status amount_paid amount_refunded payment_status
        shipping_address notes expires_at version`),
    },
  },
  portal_booking: {
    bookings: {
      select: words(`id created_at updated_at professional_id client_id service_id service_name
        starts_at ends_at cancellation_notice status price currency notes source cancel_reason cancelled_at
        cancelled_by expires_at version`),
    },
  },
  service_role: EVERYTHING,
};

describe.each(Object.keys(GRANTS))("%s", (role) => {
  test("has exactly the listed column grants, none to refer to a column", async () => {
    const rows = await sql<{ table: Table; command: keyof Grants; columns: string[] }[]>`
      select p.table_name as table, lower(p.privilege_type) as command,
        array_agg(p.column_name::text order by c.ordinal_position) as columns
      from information_schema.column_privileges p
      join information_schema.columns c using (table_schema, table_name, column_name)
      where p.table_schema = 'public' and p.grantee = ${role}
      group by 1, 2`;
    const found: Partial<Record<Table, Grants>> = {};
    for (const { table, command, columns } of rows) {
      found[table] = { ...found[table], [command]: columns };
    }
    expect(found).toEqual(GRANTS[role]);
  });
});

/** A row's place in the table and who wrote it last count rows and writes of everybody. */
describe("columns that Postgres adds", () => {
  const SYSTEM_COLUMNS = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];

  test("are granted to servers only", async () => {
    const roles = Object.keys(GRANTS).filter((role) => role !== "service_role");
    const rows = await sql`
      select role, format('%I', t) as table, c as column
      from unnest(${roles}::text[]) as role, unnest(${[...TABLES]}::text[]) as t,
        unnest(${SYSTEM_COLUMNS}::text[]) as c
      where has_column_privilege(role, 'public.' || t, c, 'select')`;
    expect(rows).toEqual([]);
  });

  test.each(TABLES)("are neither shown of %s, nor do rows stand in their order", async (table) => {
    const { token } = await createProfessional();
    for (const query of ["select=ctid", "select=xmin", "select=id&order=ctid", "ctid=eq.(0,1)"]) {
      const response = await request(`/rest/v1/${table}?${query}`, { token });
      expect([query, response.status, (await response.json()).code]).toEqual([query, 403, "42501"]);
    }
    expect((await request(`/rest/v1/${table}?select=*`, { token })).status).toBe(200);
  });
});

describe("a professional's own rows", () => {
  let owner: Professional;
  let portal: PortalSession;
  const ids = {} as Record<Table, string>;

  beforeAll(async () => {
    owner = await createProfessional();
    const [service, client, product] = await Promise.all([
      createService(owner),
      createClientRow(owner),
      createProduct(owner),
    ]);
    const booking = await createBooking(owner, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2100-01-01T09:00:00Z",
    });
    const order = await createOrder(owner, {
      client_id: client.id,
      items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
    });
    portal = await createPortalSession(client);
    Object.assign(ids, {
      profiles: owner.id,
      services: service.id,
      clients: client.id,
      products: product.id,
      bookings: booking.id,
      orders: order.id,
    });
  });

  async function refusal(method: string, path: string, token: string, body?: object) {
    const init = body ? { body: JSON.stringify(body) } : {};
    const response = await request(`/rest/v1/${path}`, { method, token, ...init });
    const { code } = response.status >= 400 ? await response.json() : { code: null };
    return { status: response.status, code };
  }
  const REFUSED = { status: 403, code: "42501" };
  /** Postgres finds that a column is generated before it looks at grants. */
  const GENERATED = ["email_key", "payment_status"];

  // The value is the one the column has: it is the name that is refused.
  describe.each(TABLES)("%s", (table) => {
    const readOnly = COLUMNS[table].filter((column) => !WRITABLE[table].update.includes(column));

    test.each(readOnly)("refuses an update of %s", async (column) => {
      const [row] =
        await sql`select ${sql(column)} as value from ${sql(`public.${table}`)} where id = ${ids[table]}`;
      const body = { [column]: row?.value };
      const answer = await refusal("PATCH", `${table}?id=eq.${ids[table]}`, owner.token, body);
      expect(answer).toEqual(GENERATED.includes(column) ? { status: 400, code: "428C9" } : REFUSED);
    });

    test("accepts an update of each listed column with the value it has", async () => {
      const { data } = await owner.api.from(table).select("*").eq("id", ids[table]).single();
      const row = data as unknown as Record<string, unknown>;
      // A confirmed booking's times are followed by rules of their own; all at once they stay.
      const same = Object.fromEntries(
        WRITABLE[table].update.map((column) => [column, row[column]]),
      );
      const answer = await refusal("PATCH", `${table}?id=eq.${ids[table]}`, owner.token, same);
      expect(answer).toEqual({ status: 204, code: null });
    });
  });

  test.each([
    ["services", "created_at", "2020-01-01T00:00:00Z"],
    ["services", "updated_at", "2020-01-01T00:00:00Z"],
    ["clients", "created_at", "2020-01-01T00:00:00Z"],
    ["clients", "link_epoch", 1],
    ["products", "updated_at", "2020-01-01T00:00:00Z"],
    ["products", "in_stock", true],
    ["bookings", "service_name", "Something else"],
    ["bookings", "currency", "JPY"],
    ["bookings", "source", "public"],
    ["bookings", "version", 7],
    ["bookings", "cancellation_notice", 7],
    ["bookings", "cancelled_by", "client"],
    ["bookings", "expires_at", "2100-01-01T00:00:00Z"],
    ["bookings", "email_confirmed_at", "2100-01-01T00:00:00Z"],
    ["orders", "number", 7],
    ["orders", "subtotal", 1],
    ["orders", "tax", 1],
    ["orders", "total", 1],
    ["orders", "currency", "JPY"],
    ["orders", "status", "fulfilled"],
    ["orders", "amount_paid", 20],
    ["orders", "amount_refunded", 20],
    ["orders", "source", "public"],
    ["orders", "expires_at", "2100-01-01T00:00:00Z"],
    ["orders", "email_confirmed_at", "2100-01-01T00:00:00Z"],
    ["orders", "version", 7],
  ] as const)("refuses an insert into %s that gives %s", async (table, column, value) => {
    const rows = {
      services: { name: "Haircut", price: 30, duration: 60 },
      clients: { name: "Marta Rossi" },
      products: { name: "Shampoo", price: 12.5 },
      bookings: {
        client_id: ids.clients,
        service_id: ids.services,
        starts_at: "2100-01-02T09:00:00Z",
      },
      orders: {
        client_id: ids.clients,
        items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
      },
    };
    const body = { ...rows[table], [column]: value };
    expect(await refusal("POST", table, owner.token, body)).toEqual(REFUSED);
  });

  test("the tier is not for the professional to set, whatever else is in the update", async () => {
    const body = { full_name: "Ana", tier: "ultra" };
    const path = `profiles?id=eq.${owner.id}`;
    expect(await refusal("PATCH", path, owner.token, body)).toEqual(REFUSED);
    const [profile] = await sql`select full_name from public.profiles where id = ${owner.id}`;
    expect(profile?.full_name).toBe("Ana Bianchi");
  });

  test.each(["internal_notes", "metadata", "buffer_before", "buffer_after", "email_confirmed_at"])(
    "a portal client cannot read %s of an own booking, nor filter or order by it",
    async (column) => {
      for (const query of [
        `select=${column}`,
        `select=id&${column}=is.null`,
        `select=id&order=${column}`,
      ]) {
        expect(await refusal("GET", `bookings?${query}`, portal.token)).toEqual(REFUSED);
      }
      const allowed = await refusal("GET", "bookings?select=notes&order=starts_at", portal.token);
      expect(allowed.status).toBe(200);
    },
  );

  test.each(["notes", "tags", "metadata", "archived", "link_epoch"])(
    "a portal client cannot read %s of the own client row",
    async (column) => {
      expect(await refusal("GET", `clients?select=${column}`, portal.token)).toEqual(REFUSED);
    },
  );

  test.each(["email", "notes", "archived"])(
    "a portal client cannot change %s of the own client row",
    async (column) => {
      const path = `clients?id=eq.${ids.clients}`;
      const answer = await refusal("PATCH", path, portal.token, { [column]: null });
      expect(answer).toEqual(REFUSED);
    },
  );

  test.each(["stock", "low_stock_at", "metadata"])(
    "the public cannot read %s of a product, nor filter or order by it",
    async (column) => {
      for (const query of [
        `select=${column}`,
        `select=id&${column}=is.null`,
        `select=id&order=${column}`,
      ]) {
        const response = await request(`/rest/v1/products?${query}`);
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({ code: "42501" });
      }
      expect((await request("/rest/v1/products?select=id,in_stock&limit=1")).status).toBe(200);
    },
  );
});

/** Taking data out: all of an account, or all of one client, and nothing of anybody else. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { sql } from "./support/database.ts";
import { accountWithEverything, rowsOf } from "./support/everything.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProfessional,
  createService,
  type Professional,
  type Row,
} from "./support/factories.ts";
import { createProgram } from "./support/keys.ts";
import { TABLES } from "./support/permissions.ts";
import { record } from "./support/webhooks.ts";

/** Columns that no export shows. */
const LEFT_OUT: Record<string, string[]> = {
  // Hashes: what they stand for is beside them, or nobody here knows it.
  "private.api_keys": ["key_digest"],
  "private.calendar_feeds": ["token_hash"],
  "private.confirmed_owners": ["address_digest"],
  "private.idempotency_keys": ["request_digest"],
  "private.portal_codes": ["code_hmac"],
  "private.proven_addresses": ["address_digest"],
  // Secrets, and what proves a claim of the dispatcher.
  "private.mails": ["claim_token"],
  "private.webhook_deliveries": ["claim_token"],
  "private.webhook_endpoints": ["secret"],
};

/** Tables that no export shows. */
const LEFT_OUT_TABLES = [
  // Secrets.
  "private.webhook_previous_secrets",
  // Whose turn it is, and what is under way: gone within the hour.
  "private.mail_turns",
  "private.webhook_budgets",
  "private.webhook_leases",
  // Of no professional: reference data, settings, how fast the queues go, counters by hash of an address,
  // an account that goes.
  "private.account_deletions",
  "private.currencies",
  "private.dispatches",
  "private.granted",
  "private.mail_pace",
  "private.portal_code_requests",
  "private.request_counters",
  "private.settings",
  "private.suppressed_addresses",
  "private.tiers",
  "private.time_zones",
];

type Rows = Record<string, unknown>[];

interface Page {
  exported_at: string;
  account?: { id: string; email: string };
  data: Record<string, Rows>;
  next_cursor: string | null;
}

async function pagesOf({ api }: Pick<Professional, "api">): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, error } = await api.rpc("export_account", cursor === undefined ? {} : { cursor });
    if (error) throw new Error(JSON.stringify(error));
    const page = data as unknown as Page;
    pages.push(page);
    cursor = page.next_cursor;
  }
  return pages;
}

function together(pages: Page[]): Record<string, Rows> {
  const all: Record<string, Rows> = {};
  for (const { data } of pages) {
    for (const [name, rows] of Object.entries(data)) all[name] = [...(all[name] ?? []), ...rows];
  }
  return all;
}

async function clientExport({ api }: Pick<Professional, "api">, client_id: string) {
  const { data, error } = await api.rpc("export_client", { client_id });
  if (error) throw new Error(JSON.stringify(error));
  return data as unknown as { exported_at: string; data: Record<string, Rows> };
}

/** As a dispatcher leaves a delivery of the client's last event. */
async function deliver(professional: Professional, client: Row<"clients">): Promise<void> {
  const [event] = await sql`
    select id from private.webhook_events where client_id = ${client.id} order by sequence desc limit 1`;
  const [delivery] = await sql`
    insert into private.webhook_deliveries (professional_id, endpoint_id, event_id, status, attempts, next_attempt_at)
    select professional_id, id, ${event?.id}, 'succeeded', 1, null
    from private.webhook_endpoints where professional_id = ${professional.id} returning id`;
  await sql`
    insert into private.webhook_attempts (id, professional_id, delivery_id, started_at, duration_ms, status, response)
    values (gen_random_uuid(), ${professional.id}, ${delivery?.id}, now(), 1, 200, ${`answer about ${client.name}`})`;
}

const byId = (rows: Rows) => [...rows].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test("each column of each table is in an export, or known to be left out", async () => {
  const tables = await sql<{ name: string; columns: string[]; shown: string[] | null }[]>`
    select n.nspname || '.' || c.relname as name, array_agg(a.attname::text order by a.attname) as columns,
      (select e.columns from private.exports() e where e.source = c.oid) as shown
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace in ('public'::regnamespace, 'private'::regnamespace) and c.relkind in ('r', 'p')
    group by c.oid, n.nspname`;
  for (const { name, columns, shown } of tables) {
    const known = shown === null ? [] : [...shown, ...(LEFT_OUT[name] ?? [])].sort();
    const expected = LEFT_OUT_TABLES.includes(name) ? [] : columns;
    expect([name, known]).toEqual([name, expected]);
  }
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining([...LEFT_OUT_TABLES, ...Object.keys(LEFT_OUT)]),
  );
});

test("what is shown of a row holds no hash or secret by its type or name", async () => {
  const columns = await sql`
    select e.source::text, c.name
    from private.exports() e
    cross join unnest(e.columns) as c (name)
    join pg_attribute a on a.attrelid = e.source and a.attname = c.name
    where a.atttypid = 'bytea'::regtype or c.name ~ '(secret|digest|hmac|token|cipher|password)'`;
  expect(columns).toEqual([]);
});

describe("the export of an account", () => {
  let ana: Professional;
  let neighbour: Professional;
  beforeAll(async () => {
    [ana, neighbour] = await Promise.all([accountWithEverything(), accountWithEverything()]);
    for (const professional of [ana, neighbour]) {
      await record(professional);
      await deliver(professional, await createClientRow(professional));
    }
  });

  test("has every row of every table, in the form of the API", async () => {
    const pages = await pagesOf(ana);
    expect(pages[0]).toMatchObject({
      exported_at: expect.stringMatching(INSTANT),
      account: { id: ana.id, email: ana.email },
    });
    const all = together(pages);
    const counts = await rowsOf(ana);
    for (const [name, count] of Object.entries(counts)) {
      if (LEFT_OUT_TABLES.includes(name)) continue;
      const table = name.replace(/^\w+\./, "");
      expect([name, all[table]?.length ?? 0]).toEqual([name, count]);
    }
    for (const table of TABLES) {
      const { data } = await ana.api.from(table).select("*");
      expect(byId(all[table] ?? [])).toEqual(byId(data as Rows));
    }
    for (const event of all.webhook_events ?? []) {
      expect(event.created_at).toMatch(INSTANT);
    }
    expect(all.webhook_events?.length).toBeGreaterThan(0);
    expect(all.webhook_deliveries?.length).toBeGreaterThan(0);
  });

  test("has nothing of another account, and no secret", async () => {
    const text = JSON.stringify(await pagesOf(ana));
    expect(text).not.toContain(neighbour.id);
    expect(text).not.toContain(neighbour.email);
    expect(text).not.toContain("whsec_");
  });

  test("may be taken by a program that only reads", async () => {
    const { api } = await createProgram(ana, "read");
    expect(together(await pagesOf({ api })).clients).toEqual(together(await pagesOf(ana)).clients);
  });

  test("comes in pages of 500 rows, each row once", async () => {
    const eva = await createProfessional();
    await sql`
      insert into public.clients (professional_id, name)
      select ${eva.id}, 'Client ' || n from generate_series(1, 1100) n`;
    await sql`
      insert into private.idempotency_keys (professional_id, function, key, request_digest, result_id)
      select ${eva.id}, 'place_order', repeat(chr(200 + n % 50), 200) || n, '', gen_random_uuid()
      from generate_series(1, 700) n`;
    const pages = await pagesOf(eva);
    const sizes = pages.map(({ data }) =>
      Object.values(data).reduce((sum, rows) => sum + rows.length, 0),
    );
    expect(sizes.slice(0, -1)).toEqual(Array(pages.length - 1).fill(500));
    const all = together(pages);
    expect(new Set(all.clients?.map(({ id }) => id)).size).toBe(1100);
    expect(all.clients).toHaveLength(1100);
    expect(new Set(all.idempotency_keys?.map(({ key }) => key)).size).toBe(700);
    expect(all.idempotency_keys).toHaveLength(700);
    expect(pages.filter((page) => "account" in page)).toHaveLength(1);
  });

  test.each([
    "",
    "clients",
    "clients:",
    "clients:1",
    "nothing:00000000-0000-4000-8000-000000000000",
    "settings:x",
    "webhook_events:1' or true",
    "Clients:00000000-0000-4000-8000-000000000000",
  ])("refuses the cursor %j", async (cursor) => {
    const { error, status } = await ana.api.rpc("export_account", { cursor });
    expect([status, error?.code, error?.details?.replaceAll(" ", "")]).toEqual([
      422,
      "validation_failed",
      '{"fields":["cursor"]}',
    ]);
  });
});

describe("the export of a client", () => {
  let ana: Professional;
  let marta: Row<"clients">;
  let other: Row<"clients">;

  /** Whatever can be kept of a client. */
  async function live(client: Row<"clients">, hour: number): Promise<void> {
    const service = await createService(ana);
    const booking = await createBooking(ana, {
      client_id: client.id,
      service_id: service.id,
      starts_at: `2100-01-01T${hour}:00:00Z`,
      notes: `note of ${client.name}`,
      internal_notes: `thought of ${client.name}`,
    });
    const { data: product } = await ana.api
      .from("products")
      .insert({ name: "Wax", price: 5, stock: 10 })
      .select("id")
      .single();
    const order = await createOrder(ana, {
      client_id: client.id,
      items: [{ product_id: product?.id ?? "", quantity: 1 }],
    });
    const paid = await ana.api.rpc("record_payment", {
      order_id: order.id,
      amount: 1,
      method: "cash",
      reference: randomUUID(),
    });
    expect(paid.error).toBeNull();
    await createPortalSession(client);
    await sql`
      insert into private.booking_sessions (professional_id, booking_id, link_epoch, expires_at)
      values (${ana.id}, ${booking.id}, 1, now())`;
    await sql`
      insert into private.portal_codes (professional_id, client_id, link_epoch, expires_at, code_hmac)
      values (${ana.id}, ${client.id}, 1, now(), 'a-hash')`;
    await sql`
      insert into private.proven_addresses (professional_id, address_digest)
      values (${ana.id}, private.address_digest(${client.email})) on conflict do nothing`;
    await sql`
      insert into private.unheard_clients (professional_id, client_id)
      values (${ana.id}, ${client.id}) on conflict do nothing`;
    await sql`
      insert into private.idempotency_keys (professional_id, function, key, request_digest, result_id)
      values (${ana.id}, 'create_booking', ${randomUUID()}, '', ${booking.id})`;
    await sql`
      insert into private.mails (professional_id, audience, kind, client_id, booking_id, recipient)
      values (${ana.id}, 'client', 'booking_confirmed', ${client.id}, ${booking.id}, ${client.email})`;
    await deliver(ana, client);
  }

  beforeAll(async () => {
    ana = await createProfessional();
    await record(ana);
    marta = await createClientRow(ana, { name: "Marta Rossi", notes: "likes tea" });
    other = await createClientRow(ana, { name: "Otto Verdi" });
    await live(marta, 10);
    await live(other, 14);
  });

  test("has something of every table that keeps something of clients", async () => {
    const { exported_at, data } = await clientExport(ana, marta.id);
    expect(exported_at).toMatch(INSTANT);
    const names = await sql<{ name: string }[]>`
      select private.export_name(e) as name from private.exports() e where e.of_client is not null`;
    expect(Object.keys(data).sort()).toEqual(names.map(({ name }) => name).sort());
    for (const [name, rows] of Object.entries(data)) {
      expect([name, rows.length > 0]).toEqual([name, true]);
    }
    const { data: row } = await ana.api.from("clients").select("*").eq("id", marta.id).single();
    expect(data.clients).toEqual([row]);
    expect(data.bookings?.[0]).toMatchObject({
      notes: "note of Marta Rossi",
      internal_notes: "thought of Marta Rossi",
      starts_at: "2100-01-01T10:00:00.000Z",
    });
    expect(data.mails?.some(({ recipient }) => recipient === marta.email)).toBe(true);
    expect(data.webhook_attempts?.[0]?.response).toBe("answer about Marta Rossi");
  });

  test("has nothing of another client, and no hash", async () => {
    const text = JSON.stringify(await clientExport(ana, marta.id));
    for (const word of [other.id, "Otto Verdi", other.email ?? "", "a-hash"]) {
      expect(text).not.toContain(word);
    }
    expect(JSON.stringify(await clientExport(ana, other.id))).toContain("Otto Verdi");
  });

  test("shows a table with a client's column to be of clients", async () => {
    const tables = await sql`
      select e.source::text
      from private.exports() e
      where e.of_client is null and e.columns && array['client_id', 'booking_id', 'order_id', 'recipient']`;
    expect(tables).toEqual([]);
  });

  test("of somebody else, or of nobody, is 404", async () => {
    const ivo = await createProfessional();
    for (const client_id of [marta.id, randomUUID()]) {
      const { error, status } = await ivo.api.rpc("export_client", { client_id });
      expect([status, error?.code]).toEqual([404, "PGRST301"]);
    }
    const { error } = await ana.api.rpc("export_client", { client_id: null as never });
    expect(error?.code).toBe("validation_failed");
  });

  test("of one who was erased is what is left", async () => {
    expect((await ana.api.rpc("erase_client", { client_id: other.id })).error).toBeNull();
    const { data } = await clientExport(ana, other.id);
    expect(data.clients).toMatchObject([{ name: "Erased", email: null }]);
    expect(data.bookings).toMatchObject([{ notes: null, internal_notes: null }]);
    for (const name of ["mails", "portal_codes", "portal_sessions", "idempotency_keys"]) {
      expect([name, data[name]]).toEqual([name, []]);
    }
  });
});

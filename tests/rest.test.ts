import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { request } from "./support/callers.ts";
import { asCaller, sql, tryAsCaller } from "./support/database.ts";
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
  type Row,
} from "./support/factories.ts";
import { stack } from "./support/stack.ts";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let owner: Professional;
let stranger: Professional;
let service: Row<"services">;
let client: Row<"clients">;
let foreignClient: Row<"clients">;
let portal: PortalSession;

beforeAll(async () => {
  [owner, stranger] = await Promise.all([
    createProfessional({ currency: "USD", accepts_bookings: true }),
    createProfessional(),
  ]);
  [service, client, foreignClient] = await Promise.all([
    createService(owner, { price: 30.5, duration: 45 }),
    createClientRow(owner),
    createClientRow(stranger),
  ]);
  portal = await createPortalSession(client);
});

interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  token: string | undefined = owner.token,
): Promise<Answer> {
  const response = await request(`/rest/v1/${path}`, {
    method,
    token,
    headers,
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text ? JSON.parse(text) : null,
  };
}

const get = (path: string, headers?: Record<string, string>) =>
  send("GET", path, undefined, headers);
const RETURN = { prefer: "return=representation" };
let day = 0;
/** A start that no other booking of this file has. */
const nextStart = () => new Date(Date.UTC(2101, 0, ++day, 9)).toISOString();

describe("records", () => {
  test("a service is exactly as in the specification: milliseconds and Z, a decimal price, whole minutes", async () => {
    const path = `services?select=*&professional_id=eq.${owner.id}&order=created_at.desc`;
    const { status, headers, body } = await get(path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    const [record] = body as Row<"services">[];
    expect(record).toEqual({
      id: expect.stringMatching(UUID),
      created_at: expect.stringMatching(INSTANT),
      updated_at: expect.stringMatching(INSTANT),
      professional_id: owner.id,
      name: "Haircut",
      description: null,
      category: null,
      image_url: null,
      price: 30.5,
      payment: "none",
      deposit: null,
      duration: 45,
      buffer_before: 0,
      buffer_after: 0,
      slot_step: null,
      min_notice: 0,
      max_advance_days: 365,
      cancellation_notice: 0,
      requires_confirmation: false,
      active: true,
      location: null,
      instructions: null,
      metadata: {},
    });
  });

  test.each([0, 30, 30.5, 0.01, 999_999_999.99])("a price of %d is that number", async (price) => {
    const created = await createService(owner, { price });
    const { body } = await get(`services?id=eq.${created.id}&select=price`);
    expect(body).toEqual([{ price }]);
  });

  test.each([
    ["services", { name: "Haircut", price: 30, duration: 60 }],
    ["clients", { name: "Marta Rossi", email: "Marta.Rossi@example.com" }],
    ["products", { name: "Shampoo", price: 12.5 }],
  ])("the simple %s call works with and without the own professional_id", async (table, values) => {
    const without = await send("POST", table, values, RETURN);
    await send("DELETE", `${table}?id=eq.${(without.body as { id: string }[])[0]?.id}`);
    const own = { ...values, professional_id: owner.id };
    const withIt = await send("POST", table, own, RETURN);
    for (const { status, body } of [without, withIt]) {
      expect(status).toBe(201);
      expect(body).toEqual([expect.objectContaining(own)]);
    }
  });

  test("an id made by the caller is kept, and one that is taken is a conflict", async () => {
    const id = randomUUID();
    const first = await send("POST", "services", { id, name: "A", price: 1, duration: 5 }, RETURN);
    expect(first.body).toEqual([expect.objectContaining({ id })]);
    const second = await send("POST", "services", { id, name: "B", price: 1, duration: 5 });
    expect([second.status, (second.body as { code: string }).code]).toEqual([409, "23505"]);
  });

  test("an id that is taken by another tenant tells no more than one of one's own", async () => {
    const theirs = await send("POST", "clients", { id: foreignClient.id, name: "A" });
    const own = await send("POST", "clients", { id: client.id, name: "A" });
    expect(theirs.status).toBe(own.status);
    const text = JSON.stringify(theirs.body).replaceAll(foreignClient.id, client.id);
    expect(text).toBe(JSON.stringify(own.body));
  });

  test("writes answer without a body unless it is asked for", async () => {
    const insert = await send("POST", "clients", { name: "Marta" });
    const update = await send("PATCH", `clients?id=eq.${client.id}`, { notes: "Tea, no sugar." });
    const none = await send("DELETE", `clients?id=eq.${randomUUID()}`);
    expect([insert.status, update.status, none.status]).toEqual([201, 204, 204]);
    expect([insert.body, update.body, none.body]).toEqual([null, null, null]);
  });

  test("times of every table come in one form, whatever zone is preferred", async () => {
    const booking = await createBooking(owner, {
      client_id: client.id,
      service_id: service.id,
      starts_at: nextStart(),
    });
    await send("PATCH", `bookings?id=eq.${booking.id}`, { status: "cancelled" });
    await createProduct(owner);
    await createOrder(owner, {
      client_id: client.id,
      items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
    });
    for (const prefer of ["", "timezone=America/New_York"]) {
      for (const [table, columns] of [
        ["profiles", ["created_at", "updated_at"]],
        ["services", ["created_at", "updated_at"]],
        ["clients", ["created_at", "updated_at"]],
        ["products", ["created_at", "updated_at"]],
        ["bookings", ["created_at", "updated_at", "starts_at", "ends_at", "cancelled_at"]],
        ["orders", ["created_at", "updated_at"]],
      ] as const) {
        const filter = table === "bookings" ? "&status=eq.cancelled" : "";
        const { body } = await get(`${table}?select=${columns}&limit=1${filter}`, { prefer });
        const [row] = body as Record<string, string>[];
        for (const column of columns) expect(row?.[column]).toMatch(INSTANT);
      }
    }
  });
});

describe("reading", () => {
  let reader: Professional;
  let people: Row<"clients">[];

  beforeAll(async () => {
    reader = await createProfessional();
    const rows = [
      {
        name: "Ada",
        email: "ada@example.com",
        tags: ["vip", "colour"],
        metadata: { city: "Rome" },
      },
      { name: "Bea", phone: "+39 06 1234", tags: ["vip"], notes: "50% off, (always)" },
      { name: "Cleo", email: "cleo@example.com", archived: true },
      { name: "Dora, the second", email: "dora@example.com" },
    ];
    people = [];
    for (const row of rows) people.push(await createClientRow(reader, { email: null, ...row }));
  });

  async function names(query: string): Promise<string[]> {
    const { status, body } = await send(
      "GET",
      `clients?select=name&${query}`,
      undefined,
      {},
      reader.token,
    );
    expect(status).toBe(200);
    return (body as { name: string }[]).map((row) => row.name);
  }

  test.each([
    ["name=eq.Ada", ["Ada"]],
    ["name=neq.Ada&order=name", ["Bea", "Cleo", "Dora, the second"]],
    ["name=gt.Bea&order=name", ["Cleo", "Dora, the second"]],
    ["name=lte.Bea&order=name", ["Ada", "Bea"]],
    ['name=in.(Ada,"Dora, the second")&order=name', ["Ada", "Dora, the second"]],
    ["name=like.*e*&order=name", ["Bea", "Cleo", "Dora, the second"]],
    ["name=ilike.a*", ["Ada"]],
    ["archived=is.true", ["Cleo"]],
    ["email=is.null", ["Bea"]],
    ["email=not.is.null&order=name", ["Ada", "Cleo", "Dora, the second"]],
    ["or=(name.eq.Ada,name.eq.Bea)&order=name", ["Ada", "Bea"]],
    ["and=(archived.is.false,or(name.eq.Ada,name.eq.Cleo))", ["Ada"]],
    ["tags=cs.{vip}&order=name", ["Ada", "Bea"]],
    ['tags=cs.{"vip","colour"}', ["Ada"]],
    ["metadata->>city=eq.Rome", ["Ada"]],
    ["email_key=eq.ada@example.com", ["Ada"]],
    ["order=name.desc&limit=2", ["Dora, the second", "Cleo"]],
    ["order=name&limit=2&offset=1", ["Bea", "Cleo"]],
    ["order=phone.asc.nullsfirst,name.desc&limit=1", ["Dora, the second"]],
    ["order=phone.asc.nullslast&limit=1", ["Bea"]],
    ["phone=eq.%2B39%2006%201234", ["Bea"]],
    ["name=eq.ada", []],
  ])("filter and order %s", async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test("created_at filters by exactly the text that was read", async () => {
    const at = people[1]?.created_at as string;
    expect(await names(`created_at=eq.${at}`)).toContain("Bea");
    expect(await names(`created_at=gte.${at}&order=created_at,id`)).toContain("Cleo");
    expect(await names(`created_at=lt.${at}`)).not.toContain("Bea");
  });

  test("texts sort as in a dictionary, whatever their case and accents", async () => {
    const dictionary = ["apple", "Äpfel", "Banana", "éclair", "Eclair", "zebra"];
    const inOrder = ["Äpfel", "apple", "Banana", "Eclair", "éclair", "zebra"];
    const { api } = await createProfessional();
    const rows = dictionary.map((name) => ({ name }));
    expect((await api.from("clients").insert(rows)).error).toBeNull();
    const { data } = await api.from("clients").select("name").order("name");
    expect(data?.map(({ name }) => name)).toEqual(inOrder);
  });

  test("columns can be chosen and renamed", async () => {
    const path = "clients?select=who:name,email&name=eq.Ada";
    const { body } = await send("GET", path, undefined, {}, reader.token);
    expect(body).toEqual([{ who: "Ada", email: "ada@example.com" }]);
  });

  test("a single object is asked for by its media type, and nothing is 406 PGRST116", async () => {
    const accept = "application/vnd.pgrst.object+json";
    const one = await get(`clients?id=eq.${client.id}&select=id`, { accept });
    expect([one.status, one.body]).toEqual([200, { id: client.id }]);
    const none = await get(`clients?id=eq.${foreignClient.id}&select=id`, { accept });
    expect(none.status).toBe(406);
    expect(none.body).toMatchObject({ code: "PGRST116" });
  });

  test("Prefer: count=exact counts what the caller may see", async () => {
    const answer = await send(
      "GET",
      "clients?select=id&limit=3&order=name",
      undefined,
      {
        prefer: "count=exact",
      },
      reader.token,
    );
    expect(answer.status).toBe(206);
    expect(answer.headers.get("content-range")).toBe("0-2/4");
    const head = await send(
      "HEAD",
      "clients?select=id",
      undefined,
      { prefer: "count=exact" },
      reader.token,
    );
    expect(head.status).toBe(200);
    expect(head.headers.get("content-range")).toBe("0-3/4");
    expect(head.body).toBeNull();
  });
});

describe("counting by the planner, who is not bound by row-level security,", () => {
  const PATHS = [
    ["GET", "clients?select=id"],
    ["HEAD", "services?select=id"],
    ["POST", "rpc/booking_page"],
    ["PATCH", "profiles?id=eq.00000000-0000-4000-8000-000000000000"],
  ] as const;
  const SPELLINGS = [
    "count=planned",
    "count=estimated",
    "return=minimal,count=planned",
    "count=exact, count=estimated , return=minimal",
    "\tcount=planned\t",
  ];

  let link: string;
  beforeAll(async () => {
    const booking = await createBooking(owner, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2100-02-01T09:00:00Z",
    });
    link = (await createBookingSession(booking)).token;
  });

  const body = { username: `new-${randomUUID()}` };

  const ask = (method: string, path: string, prefer: string, token?: string) =>
    request(`/rest/v1/${path}`, {
      method,
      token,
      headers: { prefer },
      ...(["POST", "PATCH"].includes(method) && { body: JSON.stringify(body) }),
    });

  test.each(SPELLINGS)("Prefer: %s is refused to everybody but servers", async (prefer) => {
    const portal = await createPortalSession(client);
    for (const token of [undefined, owner.token, portal.token, link]) {
      const answer = await ask("GET", "services?select=id", prefer, token);
      expect([answer.status, await answer.json()]).toEqual([
        400,
        {
          code: "count_not_allowed",
          message: expect.any(String),
          details: null,
          hint: expect.any(String),
        },
      ]);
      expect(answer.headers.get("content-range")).toBeNull();
    }
  });

  test.each(PATHS)("%s %s with it is refused before it runs", async (method, path) => {
    for (const prefer of ["count=planned", "count=estimated"]) {
      const answer = await ask(method, path, prefer, owner.token);
      expect([prefer, answer.status]).toEqual([prefer, 400]);
      expect(answer.headers.get("content-range")).toBeNull();
    }
  });

  test("a write with it is not made", async () => {
    const professional = await createProfessional();
    const username = async () => {
      const [row] = await sql`select username from public.profiles where id = ${professional.id}`;
      return row?.username;
    };
    const before = await username();
    const path = `profiles?id=eq.${professional.id}`;
    expect((await ask("PATCH", path, "count=planned", professional.token)).status).toBe(400);
    expect(await username()).toBe(before);
    expect((await ask("PATCH", path, "count=exact", professional.token)).status).toBe(204);
    expect(await username()).toBe(body.username);
  });

  // Of lines in the other order the database sees only the harmless one: README, security model.
  test("a line of its own, after another one, is refused too", async () => {
    const lines = httpRequest(`${stack.apiUrl}/rest/v1/services?select=id`, {
      headers: { apikey: stack.publishableKey, prefer: ["return=minimal", "count=planned"] },
    }).end();
    const [answer] = await once(lines, "response");
    expect([answer.statusCode, JSON.parse(await text(answer)).code]).toEqual([
      400,
      "count_not_allowed",
    ]);
  });

  test.each(["count=planned", "count=estimated"])("a server may ask for %s", async (prefer) => {
    const answer = await request("/rest/v1/clients?select=id&limit=1", {
      headers: { apikey: stack.secretKey, prefer },
    });
    expect(answer.ok).toBe(true);
    expect(answer.headers.get("content-range")).toMatch(/^0-0\/\d+$/);
  });
});

describe("embedding", () => {
  test("clients with their bookings, and bookings with client and service", async () => {
    const professional = await createProfessional();
    const [haircut, marta] = await Promise.all([
      createService(professional),
      createClientRow(professional),
    ]);
    const idle = await createClientRow(professional);
    const booking = await createBooking(professional, {
      client_id: marta.id,
      service_id: haircut.id,
      starts_at: nextStart(),
    });

    const clients = await professional.api
      .from("clients")
      .select("*, bookings(*)")
      .order("created_at");
    expect(clients.data?.map((row) => [row.id, row.bookings.map((item) => item.id)])).toEqual([
      [marta.id, [booking.id]],
      [idle.id, []],
    ]);
    const instants = [booking.starts_at, clients.data?.[0]?.bookings[0]?.starts_at as string];
    expect(new Date(instants[1] as string)).toEqual(new Date(instants[0] as string));

    const bookings = await professional.api
      .from("bookings")
      .select("id, clients(name), services(name)");
    expect(bookings.data).toEqual([
      { id: booking.id, clients: { name: marta.name }, services: { name: haircut.name } },
    ]);
  });

  test("products with their variants, and variants with their parent", async () => {
    const professional = await createProfessional();
    const shirt = await createProduct(professional, { name: "Shirt" });
    const medium = await createProduct(professional, { name: "M", parent_id: shirt.id });
    const other = await createProduct(professional, { name: "Scarf" });
    const { body } = await send(
      "GET",
      "products?select=id,variants(id,price),parent(name)&order=created_at,id",
      undefined,
      {},
      professional.token,
    );
    const rows = Object.fromEntries((body as { id: string }[]).map((row) => [row.id, row]));
    expect(rows).toEqual({
      [shirt.id]: { id: shirt.id, variants: [{ id: medium.id, price: 12.5 }], parent: null },
      [medium.id]: { id: medium.id, variants: [], parent: { name: "Shirt" } },
      [other.id]: { id: other.id, variants: [], parent: null },
    });
  });

  test("what is embedded is the caller's own as well", async () => {
    const { body } = await get(
      "profiles?select=id,clients(professional_id),services(professional_id)",
    );
    const [profile] = body as { clients: object[]; services: object[] }[];
    expect(body).toHaveLength(1);
    for (const row of [...(profile?.clients ?? []), ...(profile?.services ?? [])]) {
      expect(row).toEqual({ professional_id: owner.id });
    }
  });
});

describe("pages", () => {
  test("150 rows of one instant: each id once by keyset and by offset", async () => {
    const professional = await createProfessional();
    await sql`
      insert into public.clients (professional_id, name, created_at)
      select ${professional.id}, 'Client ' || i, '2026-01-01T00:00:00.123456Z'
      from generate_series(1, 150) as i`;
    const page = async (query: string) => {
      const path = `clients?select=id,created_at&order=created_at.desc,id.desc&limit=40&${query}`;
      const { body } = await send("GET", path, undefined, {}, professional.token);
      return body as { id: string; created_at: string }[];
    };

    const byKeyset: string[] = [];
    for (let rows = await page(""); rows.length > 0; ) {
      byKeyset.push(...rows.map((row) => row.id));
      const last = rows.at(-1);
      rows = await page(
        `or=(created_at.lt.${last?.created_at},and(created_at.eq.${last?.created_at},id.lt.${last?.id}))`,
      );
    }
    const byOffset: string[] = [];
    for (let offset = 0; offset < 150; offset += 40) {
      byOffset.push(...(await page(`offset=${offset}`)).map((row) => row.id));
    }
    expect(new Set(byKeyset).size).toBe(150);
    expect(byKeyset).toHaveLength(150);
    expect(byOffset).toEqual(byKeyset);

    const counted = await send(
      "GET",
      "clients?select=id&order=id&limit=40&offset=120",
      undefined,
      { prefer: "count=exact" },
      professional.token,
    );
    expect(counted.headers.get("content-range")).toBe("120-149/150");
  });

  test("no answer is longer than 1000 rows", async () => {
    const professional = await createProfessional();
    await sql`
      insert into public.clients (professional_id, name)
      select ${professional.id}, 'Client ' || i from generate_series(1, 1001) as i`;
    const { body } = await send(
      "GET",
      "clients?select=id&limit=5000",
      undefined,
      {},
      professional.token,
    );
    expect(body).toHaveLength(1000);
  });
});

describe("upsert of a client by e-mail", () => {
  const merge = { prefer: "resolution=merge-duplicates,return=representation" };
  const path = "clients?on_conflict=professional_id,email_key";

  test("adds one that is new, and changes the one that is there however the address is written", async () => {
    const email = `Upsert.${randomUUID()}@Example.com`;
    const added = await send("POST", path, { name: "Marta", email }, merge);
    expect(added.status).toBe(201);
    const [row] = added.body as Row<"clients">[];
    const spelling = ` ${email.toUpperCase()}\u00a0`;
    const changed = await send("POST", path, { name: "Marta Rossi", email: spelling }, merge);
    // Hosted, 200 says that it was there; the local stack says 201 all the same.
    expect([200, 201]).toContain(changed.status);
    expect(changed.body).toEqual([
      { ...row, name: "Marta Rossi", email: email.toUpperCase(), updated_at: expect.any(String) },
    ]);
  });

  test("never touches a client of another professional with that address", async () => {
    const { status, body } = await send(
      "POST",
      path,
      { name: "Mine", email: foreignClient.email },
      merge,
    );
    expect(status).toBe(201);
    expect((body as Row<"clients">[])[0]?.id).not.toBe(foreignClient.id);
    const [theirs] = await sql`select name from public.clients where id = ${foreignClient.id}`;
    expect(theirs?.name).toBe(foreignClient.name);
  });

  test("may ignore the one that is there", async () => {
    const values = { name: "Somebody else", email: client.email };
    const { status, body } = await send("POST", path, values, {
      prefer: "resolution=ignore-duplicates,return=representation",
    });
    expect([[200, 201].includes(status), body]).toEqual([true, []]);
  });

  // The hosted REST server sets every column of the payload, so each needs the UPDATE grant.
  test("in SQL needs nothing but the granted columns", async () => {
    const email = `sql-${randomUUID()}@example.com`;
    const upsert = (name: string) =>
      asCaller(
        owner.claims,
        (tx) => tx`
        insert into public.clients (name, email, phone, notes, tags)
        values (${name}, ${email}, '1', 'n', '{a}')
        on conflict (professional_id, email_key) do update
        set name = excluded.name, email = excluded.email, phone = excluded.phone,
          notes = excluded.notes, tags = excluded.tags
        returning id`,
      );
    const [first] = await upsert("One");
    const [second] = await upsert("Two");
    expect(second?.id).toBe(first?.id);
  });

  test.each(["id", "professional_id"])(
    "in SQL with %s in the payload is refused",
    async (column) => {
      const work = tryAsCaller(
        owner.claims,
        (tx) => tx`
      insert into public.clients (name, email) values ('One', ${`${randomUUID()}@example.com`})
      on conflict (professional_id, email_key) do update
      set name = excluded.name, ${tx(column)} = excluded.${tx(column)}`,
      );
      await expect(work).rejects.toMatchObject({ code: "42501" });
    },
  );
});

describe("bulk insert", () => {
  test("fills what a row leaves out with defaults when asked to", async () => {
    const rows = [
      { name: "Marta", tags: ["vip"] },
      { name: "Bruno", archived: true },
    ];
    const { status, body } = await send("POST", "clients?columns=name,tags,archived", rows, {
      prefer: "missing=default,return=representation",
    });
    expect(status).toBe(201);
    expect(body).toMatchObject([
      { name: "Marta", tags: ["vip"], archived: false },
      { name: "Bruno", tags: [], archived: true },
    ]);
  });

  test("without that what a row leaves out is null, as it is for a single row", async () => {
    const rows = [{ name: "Marta", notes: "x" }, { name: "Bruno" }];
    const some = await send("POST", "clients?columns=name,notes", rows, RETURN);
    expect(some.body).toMatchObject([{ notes: "x" }, { notes: null }]);
    for (const body of [[{ name: "Marta" }], { name: "Marta" }]) {
      const none = await send("POST", "clients?columns=name,archived", body);
      expect([none.status, (none.body as { code: string }).code]).toEqual([400, "23502"]);
    }
  });

  test("ignores what is not among the columns", async () => {
    const rows = [{ name: "Marta", notes: "x" }];
    const { body } = await send("POST", "clients?columns=name", rows, RETURN);
    expect(body).toMatchObject([{ name: "Marta", notes: null }]);
  });

  test("is all or nothing", async () => {
    const marker = randomUUID();
    const rows = [
      { name: marker, price: 1, duration: 5 },
      { name: marker, price: -1, duration: 5 },
    ];
    expect((await send("POST", "services", rows)).status).toBe(400);
    expect((await get(`services?name=eq.${marker}`)).body).toEqual([]);
  });
});

describe("other origins", () => {
  const origin = "https://shop.example.com";

  test("a preflight is answered without a key", async () => {
    const response = await request("/rest/v1/services", {
      method: "OPTIONS",
      headers: {
        origin,
        apikey: "",
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "apikey, authorization, content-type, prefer",
      },
    });
    expect([200, 204]).toContain(response.status);
    expect(response.headers.get("access-control-allow-origin")).toMatch(
      /^(\*|https:\/\/shop\.example\.com)$/,
    );
    expect(response.headers.get("access-control-allow-methods")).toContain("PATCH");
    const allowed = response.headers.get("access-control-allow-headers")?.toLowerCase() ?? "";
    for (const name of ["apikey", "authorization", "content-type", "prefer"]) {
      expect(allowed).toContain(name);
    }
  });

  test("answers and errors may be read", async () => {
    const good = await get("services?select=id&limit=1", { origin });
    const bad = await get("services?select=nothing", { origin });
    expect([good.status, bad.status]).toEqual([200, 400]);
    for (const { headers } of [good, bad]) {
      expect(headers.get("access-control-allow-origin")).toMatch(
        /^(\*|https:\/\/shop\.example\.com)$/,
      );
    }
  });
});

describe("bad input", () => {
  const newService = (values: object) => ({ name: "Haircut", price: 30, duration: 60, ...values });

  function expectError(answer: Answer, status: number, code: string): void {
    expect(Object.keys(answer.body as object).sort()).toEqual([
      "code",
      "details",
      "hint",
      "message",
    ]);
    const body = answer.body as Record<string, unknown>;
    expect({ status: answer.status, code: body.code }).toEqual({ status, code });
    expect(typeof body.message).toBe("string");
    for (const key of ["details", "hint"]) {
      expect(body[key] === null || typeof body[key] === "string").toBe(true);
    }
  }

  test.each([
    ["a malformed uuid", "services?id=eq.42", 400, "22P02"],
    ["an unknown column to select", "services?select=secret", 400, "42703"],
    ["an unknown column to filter by", "services?secret=eq.1", 400, "42703"],
    ["an unknown column to order by", "services?order=secret", 400, "42703"],
    ["an unknown operator", "services?name=equals.x", 400, "PGRST100"],
    ["an operator named like a method", "services?name=toString.x", 400, "PGRST100"],
    ["one behind not", "services?name=not.constructor.x", 400, "PGRST100"],
    ["one in a group", "services?or=(name.hasOwnProperty.x)", 400, "PGRST100"],
    ["a column and an operator named like Object's", "services?__proto__=valueOf", 400, "PGRST100"],
    ["a lone quote to select", "services?select=%22", 400, "PGRST100"],
    ["an unknown table", "secrets", 404, "PGRST205"],
    ["a table that is not exposed", "portal_sessions", 404, "PGRST205"],
    ["an unknown relationship", "services?select=*,orders(*)", 400, "PGRST200"],
    ["an unknown function", "rpc/drop_everything", 404, "PGRST202"],
    ["a time that is none", "bookings?starts_at=gt.tomorrowish", 400, "22007"],
    ["a number that is none", "services?price=gt.abc", 400, "22P02"],
  ])("GET with %s", async (_what, path, status, code) => {
    expectError(await get(path), status, code);
  });

  test.each([
    ["price -1", { price: -1 }, 400, "23514"],
    ["price abc", { price: "abc" }, 400, "22P02"],
    ["price NaN", { price: "NaN" }, 400, "23514"],
    ["price Infinity", { price: "Infinity" }, 400, "23514"],
    ["price of a list", { price: [1] }, 400, "22P02"],
    ["price null", { price: null }, 400, "23502"],
    ["price 30.555 in USD", { price: 30.555 }, 422, "too_many_decimals"],
    ["a price out of range", { price: 1_000_000_000_000 }, 400, "23514"],
    ["duration 0", { duration: 0 }, 400, "23514"],
    ["duration -30", { duration: -30 }, 400, "23514"],
    ["duration 1441", { duration: 1441 }, 400, "23514"],
    ["duration 30.5", { duration: 30.5 }, 400, "22P02"],
    ["duration beyond an integer", { duration: 99_999_999_999 }, 400, "22003"],
    ["an empty name", { name: "" }, 400, "23514"],
    ["a name of blanks", { name: " \t\n" }, 400, "23514"],
    ["no name", { name: null }, 400, "23502"],
    ["a name of 201 characters", { name: "a".repeat(201) }, 400, "23514"],
    ["a picture that is no address", { image_url: "javascript:alert(1)" }, 400, "23514"],
    ["metadata that is a list", { metadata: [] }, 400, "23514"],
    ["metadata of 9 kB", { metadata: { a: "a".repeat(9000) } }, 400, "23514"],
    ["an unknown column", { secret: 1 }, 400, "PGRST204"],
    ["an id that is no uuid", { id: "42" }, 400, "22P02"],
    ["the professional of somebody else", () => ({ professional_id: stranger.id }), 403, "42501"],
    ["a professional that does not exist", () => ({ professional_id: randomUUID() }), 403, "42501"],
    ["no professional", { professional_id: null }, 403, "42501"],
  ])("a service with %s", async (_what, values, status, code) => {
    const body = newService(typeof values === "function" ? values() : values);
    expectError(await send("POST", "services", body), status, code);
  });

  test("a price of 1e400", async () => {
    const body = '{"name":"Haircut","price":1e400,"duration":60}';
    const answer = await send("POST", "services", body);
    // JavaScript in between makes null of it; Postgres finds it out of range.
    expect([400, 422]).toContain(answer.status);
    expect(["23514", "23502", "22003", "PGRST102"]).toContain(
      (answer.body as { code: string }).code,
    );
    expectError(answer, answer.status, (answer.body as { code: string }).code);
    expect((await get("services?name=eq.Haircut&price=gt.999999999999")).body).toEqual([]);
  });

  test.each([
    ["nothing", ""],
    ["half an object", '{"name":'],
    ["no JSON", "name=Haircut"],
  ])("a body that is %s", async (_what, body) => {
    const response = await request("/rest/v1/services", {
      method: "POST",
      token: owner.token,
      headers: { "content-type": "application/json" },
      body,
    });
    const answer = {
      status: response.status,
      headers: response.headers,
      body: await response.json(),
    };
    expectError(answer, 400, "PGRST102");
  });

  test("a NUL in the name", async () => {
    const answer = await send("POST", "services", newService({ name: "a\u0000b" }));
    // As JSON or as text, it is a character that Postgres does not have.
    expect(["22P05", "22021"]).toContain((answer.body as { code: string }).code);
    expectError(answer, 400, (answer.body as { code: string }).code);
  });

  test("a NUL in the name of a column", async () => {
    for (const path of ["services?na%00me=eq.a", "services?select=a%00b"]) {
      const answer = await get(path);
      expectError(answer, 400, (answer.body as { code: string }).code);
    }
  });

  test("a NUL in a value that is looked for", async () => {
    const answer = await get("services?name=eq.a%00b");
    // PostgREST cuts the value there; the local stack refuses it.
    if (answer.status === 200) expect(answer).toEqual(await get("services?name=eq.a"));
    else expectError(answer, 400, "22021");
  });

  const SCALARS = ["7", '"x"', "null", "true"];
  const NO_ROWS = ["[null]", "[[]]", "[7]", '["x"]', "[true]", "[{},7]"];

  describe.each([
    ["the public", stack.publishableKey, () => ""],
    ["a professional", stack.publishableKey, () => owner.token],
    ["a client in the portal", stack.publishableKey, () => portal.token],
    ["a server", stack.secretKey, () => ""],
  ])("rows that are no objects, from %s", (_who, apikey, token) => {
    test.each([
      ["POST", "services?", {}],
      ["POST", "services?", { prefer: "resolution=merge-duplicates" }],
      ["PATCH", "services?id=eq.00000000-0000-4000-8000-000000000000", {}],
      ["PUT", "services?id=eq.00000000-0000-4000-8000-000000000000", {}],
    ])("%s %s %j", async (method, path, headers) => {
      for (const body of [...SCALARS, ...NO_ROWS]) {
        for (const columns of ["", "&columns=name,price"]) {
          const answer = await send(method, path + columns, body, { ...headers, apikey }, token());
          // Where PostgREST reads the body itself, it takes a scalar for an empty list.
          if (answer.status < 300 && SCALARS.includes(body) && columns === "") continue;
          expectError(answer, 400, (answer.body as { code: string }).code);
        }
      }
    });
  });

  test("a body of 10 MB", async () => {
    const answer = await send(
      "POST",
      "services",
      newService({ description: "a".repeat(10_000_000) }),
    );
    expect([400, 413]).toContain(answer.status);
    expectError(answer, answer.status, (answer.body as { code: string }).code);
  });

  test.each([
    ["zone GMT+2", { time_zone: "GMT+2" }, 409, "23503"],
    ["zone Europe/Nowhere", { time_zone: "Europe/Nowhere" }, 409, "23503"],
    ["zone of an offset", { time_zone: "+02:00" }, 409, "23503"],
    ["currency XXQ", { currency: "XXQ" }, 409, "23503"],
    ["currency eur", { currency: "eur" }, 409, "23503"],
    ["a username with a space", { username: "ana bianchi" }, 400, "23514"],
    ["a tax rate of 101", { tax_rate: 101 }, 400, "23514"],
    ["the tier", { tier: "ultra" }, 403, "42501"],
  ])("a profile with %s", async (_what, values, status, code) => {
    const fresh = await createProfessional();
    const answer = await send("PATCH", `profiles?id=eq.${fresh.id}`, values, {}, fresh.token);
    expectError(answer, status, code);
  });

  test("an update or delete without a filter", async () => {
    expectError(await send("PATCH", "clients", { notes: "x" }), 400, "21000");
    expectError(await send("DELETE", "clients"), 400, "21000");
  });

  test("a second client with the address in other case", async () => {
    const email = `${client.email?.toUpperCase()}`;
    expectError(await send("POST", "clients", { name: "Twin", email }), 409, "23505");
  });

  test("deleting a client who has bookings", async () => {
    const busy = await createClientRow(owner);
    await createBooking(owner, {
      client_id: busy.id,
      service_id: service.id,
      starts_at: nextStart(),
    });
    expectError(await send("DELETE", `clients?id=eq.${busy.id}`), 409, "23503");
    const idle = await createClientRow(owner);
    expect((await send("DELETE", `clients?id=eq.${idle.id}`)).status).toBe(204);
  });

  test("a client of another professional in a booking is refused as one that does not exist", async () => {
    const book = (client_id: string) =>
      send("POST", "bookings", { client_id, service_id: service.id, starts_at: nextStart() });
    const nobody = randomUUID();
    const [foreign, missing] = [await book(foreignClient.id), await book(nobody)];
    expectError(foreign, 409, "23503");
    const text = JSON.stringify(foreign.body).replaceAll(foreignClient.id, nobody);
    expect(text).toBe(JSON.stringify(missing.body));
  });

  test("so is a service of another professional, and the parent of a product", async () => {
    const [foreignService, foreignProduct] = await Promise.all([
      createService(stranger),
      createProduct(stranger),
    ]);
    const nobody = randomUUID();
    const book = (service_id: string) =>
      send("POST", "bookings", { client_id: client.id, service_id, starts_at: nextStart() });
    const add = (parent_id: string) => send("POST", "products", { name: "M", price: 1, parent_id });
    for (const [attempt, id] of [
      [book, foreignService.id],
      [add, foreignProduct.id],
    ] as const) {
      const [foreign, missing] = [await attempt(id), await attempt(nobody)];
      expectError(foreign, 409, "23503");
      const text = JSON.stringify(foreign.body).replaceAll(id, nobody);
      expect(text).toBe(JSON.stringify(missing.body));
    }
  });

  test("the public learns from a row of somebody no more than from none", async () => {
    const closed = await createProfessional();
    const hidden = await createService(closed);
    const read = (id: string) => request(`/rest/v1/services?id=eq.${id}`);
    const [there, missing] = [await read(hidden.id), await read(randomUUID())];
    expect([there.status, await there.text()]).toEqual([missing.status, await missing.text()]);
  });
});

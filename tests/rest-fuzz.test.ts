/** Whatever is sent to a table: never a fault of the server, never a row of somebody else. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
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
import { FUZZ } from "./support/fuzz.ts";
import { TABLES, type Table } from "./support/permissions.ts";

/** In every text of the victim; nothing that others get may hold it. */
const MARKER = `secret${randomUUID().slice(0, 8)}`;

let attacker: Professional;
let portal: PortalSession;
let victim: Professional;
let victimIds: string[];

beforeAll(async () => {
  [attacker, victim] = await Promise.all([
    createProfessional(),
    createProfessional({ full_name: MARKER, bio: MARKER }),
  ]);
  const texts = { name: MARKER, metadata: { text: MARKER } };
  const [service, client, product, ownClient] = await Promise.all([
    createService(victim, texts),
    createClientRow(victim, { ...texts, notes: MARKER }),
    createProduct(victim, texts),
    createClientRow(attacker),
    createService(attacker),
    createProduct(attacker),
  ]);
  const booking = await createBooking(victim, {
    client_id: client.id,
    service_id: service.id,
    starts_at: "2100-01-01T09:00:00Z",
    notes: MARKER,
  });
  const order = await createOrder(victim, {
    client_id: client.id,
    items: [{ name: MARKER, unit_price: 20, quantity: 1 }],
  });
  victimIds = [victim.id, service.id, client.id, product.id, booking.id, order.id];
  portal = await createPortalSession(ownClient);
});

const COLUMNS =
  `id created_at updated_at professional_id name email phone notes tags archived metadata
  email_key link_epoch price duration active parent_id sku options stock in_stock client_id service_id starts_at
  ends_at status version number items total payment_status username tier availability time_zone currency
  full_name kind booking_id discount source internal_notes shipping_address nothing`.split(/\s+/);

const column = fc.constantFrom(...COLUMNS);
/** Picked late: the ids exist only once the tests run. */
const foreignId = fc.nat().map((n) => () => victimIds[n % victimIds.length] as string);
const text = fc.oneof(
  fc.constantFrom(
    "",
    "null",
    "true",
    "-1",
    "1e400",
    "NaN",
    "Infinity",
    "9".repeat(40),
    "\u0000",
    "\ud83c",
    "%00",
    "%",
    "'",
    '"',
    "\\",
    "(",
    ")",
    "{",
    "}",
    "()",
    "{}",
    ",",
    ".",
    "*",
    "a,b",
    "2027-01-01",
    "infinity",
    "2027-01-01T00:00:00+01:00",
    "294277-01-01",
    "00000000-0000-4000-8000-000000000000",
    "{a,b}",
    "[1]",
    "'; drop table public.clients; --",
    "$1",
    "a".repeat(5000),
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  text,
  fc.constantFrom(-1, 0, 1e308, 2 ** 53, 0.1 + 0.2, 1e-9, null, true),
);
const late = <T>(value: fc.Arbitrary<T>) => value.map((v) => () => v as unknown);

const filter = fc.tuple(
  fc.oneof({ weight: 8, arbitrary: column }, { weight: 1, arbitrary: text }),
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(
        "eq.",
        "neq.",
        "gt.",
        "lte.",
        "like.",
        "ilike.",
        "match.",
        "imatch.",
        "in.(",
        "is.",
        "cs.",
        "cd.",
        "ov.",
        "fts.",
        "not.eq.",
        "not.in.(",
        "eq(any).",
        "sl.",
        "adj.",
      ),
    },
    { weight: 1, arbitrary: text },
  ),
  fc.oneof(late(text), foreignId),
);
const SELECTS = [
  "*",
  "id",
  "*,bookings(*)",
  "*,clients(*)",
  "*,services(*),orders(*)",
  "*,variants(*),parent(*)",
  "profiles(*)",
  "id::text",
  "name:metadata->text",
  "metadata->>text",
  "count()",
  "id.count()",
  "...clients(name)",
  "*,clients!inner(*)",
  "((",
  "a(b(c(d",
  "",
  "price::money",
  "name::regclass",
  "*,variants(*,variants(*,variants(*)))",
];
const parameter = fc.oneof(
  {
    weight: 5,
    arbitrary: filter.map(([name, operator, value]) => [name, operator, value] as const),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...SELECTS).map((value) => ["select", "", () => value] as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          "order",
          "limit",
          "offset",
          "or",
          "and",
          "columns",
          "on_conflict",
          "not.or",
        ),
        fc.oneof(
          text,
          column,
          fc.constantFrom(
            "id.desc",
            "(id.is.null,name.eq.a)",
            "10",
            "-1",
            "professional_id,email_key",
          ),
        ),
      )
      .map(([name, value]) => [name, "", () => value] as const),
  },
);
const body = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(column, fc.oneof(late(json), foreignId), { maxKeys: 6 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "{",
      "[]",
      "[{}]",
      "[[]]",
      "null",
      "7",
      '"x"',
      "[null]",
      '{"a":}',
    ),
  },
);
const headers = fc.dictionary(
  fc.constantFrom(
    "prefer",
    "range",
    "range-unit",
    "accept",
    "accept-profile",
    "content-profile",
    "content-type",
  ),
  fc.constantFrom(
    "return=representation",
    "resolution=merge-duplicates,return=representation",
    "count=exact",
    "tx=rollback",
    "missing=default",
    "handling=strict,nonsense",
    "max-affected=0",
    "timezone=Nowhere",
    "0-9",
    "9-0",
    "items",
    "application/vnd.pgrst.object+json",
    "text/csv",
    "application/geo+json",
    "application/vnd.pgrst.plan",
    "*/*",
    "private",
    "auth",
    "public",
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
  ),
  { maxKeys: 2 },
);
const attack = fc.record({
  method: fc.constantFrom("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"),
  parameters: fc.array(parameter, { maxLength: 4 }),
  body,
  headers,
});

function resolve(value: unknown): unknown {
  if (typeof value === "function") return value();
  return value;
}

/** What the victim has, as one value: any change shows. */
async function victimState(): Promise<string> {
  const states: unknown[] = [];
  for (const table of TABLES) {
    const key = table === "profiles" ? "id" : "professional_id";
    const [row] = await sql`
      select md5(coalesce(string_agg(t::text, ' ' order by t.id), '')) as state
      from ${sql(`public.${table}`)} t where t.${sql(key)} = ${victim.id}`;
    states.push(row?.state);
  }
  return states.join(" ");
}

describe.each(["anon", "professional", "portal client"])("as %s", (caller) => {
  test.each(TABLES)("%s", async (table: Table) => {
    const before = await victimState();
    await fc.assert(
      fc.asyncProperty(attack, async ({ method, parameters, body, headers }) => {
        const query = parameters
          .map(([name, operator, value]) => {
            const written = `${operator}${resolve(value)}${operator.endsWith("(") ? ")" : ""}`;
            return `${encodeURIComponent(Buffer.from(name).toString())}=${encodeURIComponent(Buffer.from(written).toString())}`;
          })
          .join("&");
        const payload =
          typeof body === "string"
            ? body
            : JSON.stringify(
                Object.fromEntries(
                  Object.entries(body).map(([name, value]) => [name, resolve(value)]),
                ),
              );
        const token = { professional: attacker.token, "portal client": portal.token }[caller];
        const response = await request(`/rest/v1/${table}?${query}`, {
          method,
          headers,
          token,
          ...(method !== "GET" && method !== "HEAD" && { body: payload }),
        });
        const answer = await response.text();
        expect(response.status, answer).toBeLessThan(500);
        expect(answer).not.toContain(MARKER);
        if (response.status >= 400 && method !== "HEAD") {
          expect(Object.keys(JSON.parse(answer)).sort()).toEqual([
            "code",
            "details",
            "hint",
            "message",
          ]);
        }
      }),
      { ...FUZZ, numRuns: 60 },
    );
    expect(await victimState()).toBe(before);
  });
});

describe("the attack would show", () => {
  test("the victim sees the marker in each table", async () => {
    for (const table of TABLES) {
      const response = await request(`/rest/v1/${table}?select=*`, { token: victim.token });
      expect(await response.text()).toContain(MARKER);
    }
  });
});

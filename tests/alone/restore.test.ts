/**
 * A restore into another project, as docs/operations.md has it: migrations, then the data. Queries stand
 * in for pg_dump and psql, which no package has for PostgreSQL 17; what they leave out is read from
 * the commands of the docs. Alone: the data are those of the whole stack, with whatever tests have left.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql, type TransactionSql } from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { developmentEnv } from "../../local/config.ts";
import { type Stack, startStack } from "../../local/stack.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { freePorts } from "../../scripts/free-ports.ts";
import { dateIn, instantOf } from "../support/calendar.ts";
import { type Api, anonymous, bearer, server, signToken } from "../support/callers.ts";
import { answer } from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import {
  createClientRow,
  createOrder,
  createProduct,
  createProfessional,
  type Professional,
  type Row,
} from "../support/factories.ts";
import { reportPortalAddress } from "../support/holds.ts";
import { manageLink, signLink } from "../support/links.ts";
import { confirmOwner } from "../support/mail.ts";
import { book, openProfessional, openService } from "../support/scheduling.ts";

const LONG_MS = 120_000;

const docs = readFileSync(join(PROJECT_DIR, "docs/operations.md"), "utf8");
const given = (option: string) =>
  [...docs.matchAll(new RegExp(`--${option}='?([^' \n]+)`, "g"))].map(
    ([, value]) => value as string,
  );
const SCHEMAS = given("schema");
const LEFT_OUT = `^(${given("exclude-table").join("|").replaceAll(".", "\\.")})$`;

interface Table {
  name: string;
  columns: string;
}

let dataDir: string;
let stack: Stack;
let restored: Sql;
let owner: Professional;
let variant: Row<"products">;
let order: Row<"orders">;
/** The token of the link in the mail about a booking that is held. */
let confirmation: string;
/** The restored stack as its callers see it, and the owner there. */
let target: { apiUrl: string; publishableKey: string; secretKey: string };
let api: Api;
let before: Record<string, unknown>;
let after: Record<string, unknown>;

/** Rows and their contents, generated columns included, of each table. */
async function contents(tx: TransactionSql, tables: Table[]): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const { name } of tables) {
    const [row] = await tx.unsafe(
      `select count(*), sum(hashtextextended(t::text, 0)) as sum from ${name} t`,
    );
    found[name] = row;
  }
  return found;
}

function copiedTables(tx: TransactionSql): Promise<Table[]> {
  return tx<Table[]>`
    select format('%I.%I', n.nspname, c.relname) as name, string_agg(quote_ident(a.attname), ', ') as columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a
      on a.attrelid = c.oid and a.attnum > 0 and a.attgenerated = '' and not a.attisdropped
    where n.nspname in ${tx(SCHEMAS)} and c.relkind = 'r' and c.relpersistence = 'p'
      and n.nspname || '.' || c.relname !~ ${LEFT_OUT}
    group by n.nspname, c.relname`;
}

async function copy(from: TransactionSql, to: TransactionSql): Promise<void> {
  const tables = await copiedTables(from);
  for (const { name, columns } of tables) {
    const rows = await from.unsafe(`select t::text as row from ${name} t`);
    await to.unsafe(
      `insert into ${name} (${columns}) overriding system value
      select ${columns}
      from (select text::${name} as r from unnest($1::text[]) as text offset 0) as t
      cross join lateral (select (t.r).*) as shown`,
      [rows.map(({ row }) => row)],
    );
  }
  const sequences = await from<{ name: string; last: string }[]>`
    select format('%I.%I', schemaname, sequencename) as name, last_value as last
    from pg_sequences where schemaname in ${from(SCHEMAS)} and last_value is not null`;
  for (const { name, last } of sequences) await to`select setval(${name}, ${last})`;
  before = await contents(from, tables);
  after = await contents(to, tables);
}

/** A booking that waits for its address, and so the mail with its link. */
async function holdBooking(): Promise<void> {
  await reportPortalAddress();
  const professional = await openProfessional({ verify_public_email: true });
  await confirmOwner(professional);
  const service = await openService(professional);
  const startsAt = instantOf(dateIn(10, "Europe/Rome"), "10:00", "Europe/Rome");
  const held = await answer<{ id: string }>(book(anonymous(), service, startsAt));
  const [row] = await sql<[{ id: string; client_id: string }]>`
    select id, client_id from public.bookings where id = ${held.id}`;
  confirmation = await signLink({ ...(await manageLink(row)), purpose: "confirm" });
}

const callFunction = (path: string, init: RequestInit) =>
  fetch(`${target.apiUrl}/functions/v1/${path}`, { method: "POST", ...init });

beforeAll(async () => {
  await holdBooking();
  owner = await createProfessional({ accepts_orders: true });
  const client = await createClientRow(owner);
  const product = await createProduct(owner);
  variant = await createProduct(owner, { parent_id: product.id, stock: 5 });
  const items = [{ product_id: variant.id, quantity: 2 }];
  order = await createOrder(owner, { client_id: client.id, items });
  await owner.api.rpc("record_payment", { order_id: order.id, amount: 1, method: "cash" });

  dataDir = mkdtempSync(join(tmpdir(), "restored-"));
  stack = await startStack({
    ...(await freePorts()),
    projectDir: PROJECT_DIR,
    dataDir,
    seed: false,
    fsync: false,
  });
  const { API_URL, PUBLISHABLE_KEY, SECRET_KEY, JWT_SECRET } = stack.env;
  target = { apiUrl: API_URL, publishableKey: PUBLISHABLE_KEY, secretKey: SECRET_KEY };
  api = bearer(await signToken(owner.claims, JWT_SECRET), target);
  restored = postgres(stack.env.DB_URL, { max: 1, onnotice: () => {} });
  await sql.begin("isolation level repeatable read read only", (from) =>
    restored.begin(async (to) => {
      await to`set local session_replication_role = replica`;
      await copy(from, to);
    }),
  );
}, LONG_MS);

afterAll(async () => {
  await restored?.end();
  await stack?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}, LONG_MS);

test("brings every row as it was, and no trigger adds to it", () => {
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([
      "auth.users",
      "public.orders",
      "private.stock_ledger",
      "private.mails",
      "private.proven_addresses",
      "private.suppressed_addresses",
    ]),
  );
  expect(before["private.mails"]).not.toMatchObject({ count: "0" });
  expect(after).toEqual(before);
});

test("health finds nothing wrong once the dispatcher of mails was rung", async () => {
  const apikey = developmentEnv(PROJECT_DIR).DISPATCH_SECRET ?? "";
  expect((await callFunction("mail/dispatch", { headers: { apikey } })).status).toBe(202);
  await vi.waitFor(
    async () => {
      const { data, error } = await server(target).rpc("health");
      expect(error).toBeNull();
      // The zone data are the server's, and what other tests have left to be looked at is restored too.
      const { time_zones, payments, calendar, ...restored } = data as Record<string, string>;
      expect(new Set(Object.values(restored))).toEqual(new Set(["ok"]));
      expect([time_zones, payments, calendar]).toEqual(Array(3).fill(expect.any(String)));
    },
    { timeout: 10_000 },
  );
});

test("the link of a mail from before confirms what was held", async () => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ token: confirmation });
  const confirmed = await callFunction("verify-portal-otp/confirm", { headers, body });
  expect([confirmed.status, (await confirmed.json()).booking?.status]).toEqual([200, "confirmed"]);
});

test("a professional goes on where the old project ended", async () => {
  const client_id = order.client_id;
  const buy = (quantity: number) =>
    api
      .from("orders")
      .insert({ client_id, items: [{ product_id: variant.id, quantity }] })
      .select("number")
      .single();
  expect(await buy(3)).toMatchObject({ status: 201, data: { number: order.number + 1 } });
  expect((await buy(1)).error?.code).toBe("insufficient_stock");
  expect((await api.rpc("audit")).data).toEqual([]);
});

test("no table is open: a professional cannot set the own tier", async () => {
  const denied = await api
    .from("profiles")
    .update({ tier: "max" } as never)
    .eq("id", owner.id);
  expect([denied.status, denied.error?.code]).toEqual([403, "42501"]);
});

test("who signs up has a profile", async () => {
  const { data } = await anonymous(target).auth.signUp({
    email: "new@example.com",
    password: "correct horse battery staple",
    options: { data: { full_name: "Eva Neri" } },
  });
  const profiles = await restored`
    select full_name from public.profiles where id = ${data.user?.id ?? null}`;
  expect([...profiles]).toEqual([{ full_name: "Eva Neri" }]);
});

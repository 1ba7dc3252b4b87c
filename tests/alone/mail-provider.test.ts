/**
 * The queue of mails before a provider that fails: a stack of its own, whose running function sends to a
 * Resend that does as it is told.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { developmentEnv } from "../../local/config.ts";
import { type Stack, startStack } from "../../local/stack.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { freePorts } from "../../scripts/free-ports.ts";
import { killFunction } from "../support/function-processes.ts";
import { type FakeResend, RESEND_KEY, startResend } from "../support/resend.ts";
import { until } from "../support/webhooks.ts";

/** Ana of the seed, whose address is confirmed. */
const ANA = "a0000000-0000-4000-8000-000000000001";
const LONG_MS = 120_000;

let dataDir: string;
let resend: FakeResend;
let stack: Stack;
let sql: Sql;

beforeAll(async () => {
  // The function logs each mail that was not taken, and that is what these tests are about.
  for (const stream of ["log", "error"] as const) {
    vi.spyOn(console, stream).mockImplementation(() => {});
  }
  dataDir = mkdtempSync(join(tmpdir(), "stack-"));
  resend = await startResend();
  stack = await startStack({
    ...(await freePorts()),
    projectDir: PROJECT_DIR,
    dataDir,
    fsync: false,
    functionsEnv: { RESEND_API_KEY: RESEND_KEY, RESEND_BASE_URL: resend.url },
  });
  sql = postgres(stack.env.DB_URL, { max: 2, onnotice: () => {} });
  await sql`update public.profiles set tier = 'ultra' where id = ${ANA}`;
}, LONG_MS);

afterAll(async () => {
  vi.restoreAllMocks();
  await sql?.end();
  await stack?.stop();
  await resend?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

afterEach(async () => {
  resend.fault = () => undefined;
  await sql`delete from private.mails`;
  await sql`update private.mail_pace set full_at = now(), paused_until = null`;
  resend.requests.length = 0;
  resend.sent.clear();
});

/** Orders of new clients: a mail to each. */
async function order(count: number): Promise<void> {
  const items = [{ product_id: "a0000000-0000-4000-8000-000000000034", quantity: 1 }];
  await sql`
    with new_clients as (
      insert into public.clients (professional_id, name, email)
      select ${ANA}, 'Client ' || n, format('client-%s@example.com', gen_random_uuid())
      from generate_series(1, ${count}) n
      returning id, professional_id
    )
    insert into public.orders (professional_id, client_id, items)
    select professional_id, id, ${sql.json(items)} from new_clients`;
}

const mails = () =>
  sql<{ status: string; attempts: number }[]>`select status, attempts from private.mails`;

/** Waits until nothing is queued, and tells how each mail ended. */
async function ends(): Promise<string[]> {
  const rows = await until(mails, (found) => found.every(({ status }) => status !== "queued"), 30);
  return rows.map(({ status }) => status);
}

/** Waits until every mail has been tried so often, and waits for its next try. */
const untilTried = (attempts: number) =>
  until(
    () => sql<{ tried: boolean }[]>`
      select attempts = ${attempts} and claim_token is null as tried from private.mails`,
    (rows) => rows.every(({ tried }) => tried),
  );

const makeDue = () => sql`update private.mails set due_at = now() where status = 'queued'`;
const keys = () => resend.requests.map(({ key }) => key);

function dispatch(): Promise<Response> {
  const apikey = developmentEnv(PROJECT_DIR).DISPATCH_SECRET ?? "";
  return fetch(`${stack.env.API_URL}/functions/v1/mail/dispatch`, {
    method: "POST",
    headers: { apikey },
  });
}

test("two dispatchers and 100 mails are 100 sends", async () => {
  await order(100);
  const answers = await Promise.all([dispatch(), dispatch()]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  expect(await ends()).toEqual(Array(100).fill("sent"));
  expect(keys()).toHaveLength(100);
  expect(new Set(keys()).size).toBe(100);
});

test.each([
  ["before the provider took the mail", "hang"],
  ["after the provider took the mail", "stall"],
] as const)(
  "a dispatcher killed %s: once more with the same key, and sent once",
  async (_, fault) => {
    resend.fault = () => fault;
    await order(1);
    await until(keys, ({ length }) => length === 1);
    killFunction("mail");
    resend.fault = () => undefined;
    // The lease ends.
    await makeDue();
    expect(await ends()).toEqual(["sent"]);
    expect(await mails()).toEqual([{ status: "sent", attempts: 2 }]);
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
    expect(resend.sent.size).toBe(1);
  },
);

test("a provider that is down for an hour gets everything later, and nothing twice", async () => {
  resend.fault = () => "cut";
  await order(20);
  await untilTried(1);
  resend.fault = () => ({ status: 503 });
  await makeDue();
  await untilTried(2);
  // It takes the mails again, but its answers are lost.
  resend.fault = () => "lose";
  await makeDue();
  await untilTried(3);
  resend.fault = () => undefined;
  await makeDue();
  expect(await ends()).toEqual(Array(20).fill("sent"));
  expect(new Set(keys()).size).toBe(20);
  expect(resend.sent.size).toBe(20);
});

test("what the provider asks to wait is waited", async () => {
  resend.fault = () => ({
    status: 429,
    name: "rate_limit_exceeded",
    headers: { "retry-after": "900" },
  });
  await order(1);
  await untilTried(1);
  const [row] = await sql<[{ seconds: number }]>`
    select extract(epoch from due_at - now())::float8 as seconds from private.mails`;
  expect(row.seconds).toBeGreaterThan(840);
  expect(row.seconds).toBeLessThanOrEqual(900);
});

test("a spent quota pauses the queue, uses no try up, and shows in health()", async () => {
  resend.fault = () => ({ status: 429, name: "daily_quota_exceeded" });
  await order(15);
  const paused = () =>
    sql<{ paused: boolean }[]>`select paused_until > now() as paused from private.mail_pace`;
  await until(paused, ([row]) => row?.paused === true);
  await until(
    () => sql`select from private.mails where claim_token is not null`,
    ({ length }) => length === 0,
  );
  expect(await mails()).toEqual(Array(15).fill({ status: "queued", attempts: 0 }));
  const [health] = await sql<[{ mail: string }]>`select public.health() ->> 'mail' as mail`;
  expect(health.mail).toContain("quota");
  const asked = keys().length;

  // Nothing is asked of the provider meanwhile.
  expect((await dispatch()).status).toBe(202);
  await until(
    () => sql`
      select from private.dispatches where queue = 'mail' and last_at > now() - interval '1 second'`,
    ({ length }) => length === 1,
  );
  expect(keys()).toHaveLength(asked);

  resend.fault = () => undefined;
  await sql`update private.mail_pace set paused_until = now()`;
  expect(await ends()).toEqual(Array(15).fill("sent"));
  expect(resend.sent.size).toBe(15);
});

test("what the provider refuses for good is not tried again, and holds up nothing", async () => {
  let refused: string | undefined;
  resend.fault = ({ key }) => {
    refused ??= key;
    return key === refused ? { status: 422, name: "validation_error" } : undefined;
  };
  await order(10);
  expect((await ends()).sort()).toEqual(["failed", ...Array(9).fill("sent")]);
  expect(keys()).toHaveLength(10);
});

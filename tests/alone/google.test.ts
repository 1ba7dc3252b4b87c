/**
 * Google calendars from the token to the entry and back: a stack of its own, whose running function calls a
 * Google that does as it is told.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql, type TransactionSql } from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Stack, startStack } from "../../local/stack.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { freePorts } from "../../scripts/free-ports.ts";
import {
  type FakeAccount,
  type FakeEvent,
  type FakeGoogle,
  startGoogle,
} from "../support/google.ts";
import { until } from "../support/webhooks.ts";

/** Ana of the seed. */
const ANA = "a0000000-0000-4000-8000-000000000001";
const LONG_MS = 120_000;

let dataDir: string;
let google: FakeGoogle;
let stack: Stack;
let sql: Sql;
let token: string;
let service: string;
let client: string;

async function call(path: string, init: { method?: string; body?: unknown; token?: string } = {}) {
  const { method = "GET", body } = init;
  const answer = await fetch(`${stack.env.API_URL}${path}`, {
    method,
    headers: {
      apikey: stack.env.PUBLISHABLE_KEY,
      authorization: `Bearer ${init.token ?? token}`,
      "content-type": "application/json",
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}

const route = (method = "GET", body?: unknown) =>
  call("/functions/v1/calendar/google", { method, body });

async function signIn(): Promise<string> {
  const { body } = await call("/auth/v1/token?grant_type=password", {
    method: "POST",
    body: { email: "ana@example.com", password: "demo-password" },
    token: stack.env.PUBLISHABLE_KEY,
  });
  return body.access_token;
}

beforeAll(async () => {
  // The function logs what Google refuses, and that is what these tests are about.
  for (const stream of ["log", "error"] as const) {
    vi.spyOn(console, stream).mockImplementation(() => {});
  }
  dataDir = mkdtempSync(join(tmpdir(), "stack-"));
  google = await startGoogle();
  stack = await startStack({
    ...(await freePorts()),
    projectDir: PROJECT_DIR,
    dataDir,
    fsync: false,
    functionsEnv: google.env,
  });
  sql = postgres(stack.env.DB_URL, { max: 2, onnotice: () => {} });
  await sql`update public.profiles set tier = 'ultra', time_zone = 'Europe/Rome' where id = ${ANA}`;
  token = await signIn();
  const [row] = await sql`
    insert into public.services (professional_id, name, price, duration, location)
    values (${ANA}, 'Massage', 50, 60, E'Via Roma 1\nMilano') returning id`;
  service = row?.id;
}, LONG_MS);

afterAll(async () => {
  vi.restoreAllMocks();
  await sql?.end();
  await stack?.stop();
  await google?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

beforeEach(async () => {
  await sql`update public.bookings set status = 'cancelled' where status in ('pending', 'confirmed')`;
  const [row] = await sql`
    insert into public.clients (professional_id, name, email, phone)
    values (${ANA}, 'Marta Rossi', ${`marta-${crypto.randomUUID()}@example.com`}, '+39 333')
    returning id`;
  client = row?.id;
});

afterEach(async () => {
  google.fault = () => undefined;
  google.pageSize = 250;
  google.accounts.length = 0;
  await sql`delete from private.calendar_connections`;
  await sql`delete from private.mails`;
  // Connecting is limited by the hour.
  await sql`delete from private.request_counters`;
  google.requests.length = 0;
});

const DAY = "2027-03-10";
const at = (time: string, day = DAY) => `${day}T${time}:00.000Z`;

async function book(time = "09:00", values: Record<string, unknown> = {}): Promise<string> {
  const row = {
    professional_id: ANA,
    client_id: client,
    service_id: service,
    starts_at: at(time),
    ...values,
  };
  const [booking] = await sql`insert into public.bookings ${sql(row)} returning id`;
  return booking?.id;
}

const change = (id: string, values: Record<string, unknown>) =>
  sql`update public.bookings set ${sql(values)} where id = ${id}`;

async function connected(scope?: string): Promise<FakeAccount> {
  const account = google.grant(scope);
  const { status } = await route("POST", { refresh_token: account.refreshToken });
  expect(status).toBe(201);
  return account;
}

const eventId = (booking: string, generation = 0) => `${booking.replaceAll("-", "")}g${generation}`;

/** Everything that is due has been done, however it ended. */
const settled = () =>
  until(
    async () => {
      const [row] = await sql`
        select
          (select count(*)::integer from private.calendar_pushes where due_at <= now()) as pushes,
          (
            select count(*)::integer from private.calendar_connections
            where claim_token is not null or (status = 'active' and busy and busy_due_at <= now())
          ) as runs`;
      return row;
    },
    (row) => row?.pushes === 0 && row?.runs === 0,
    30,
  );

const pushOf = async (booking: string) => {
  const [row] = await sql`
    select generation, is_there, may_exist, attempts, error, due_at is not null as due
    from private.calendar_pushes where booking_id = ${booking}`;
  return row;
};
const calls = (...names: string[]) => google.requests.filter(({ call }) => names.includes(call));
const live = ({ events }: FakeAccount) =>
  [...events.values()].filter(({ status }) => status !== "cancelled");

const connection = async () => {
  const [row] =
    await sql`select *, paused_until > now() as paused from private.calendar_connections`;
  return row;
};

describe("connecting", () => {
  test("takes a token that Google refreshes, stores it sealed only, and shows no part of it", async () => {
    const account = google.grant();
    const { status, body } = await route("POST", { refresh_token: account.refreshToken });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        status: "active",
        push: true,
        busy: true,
        error: null,
        last_synced_at: null,
        created_at: expect.stringMatching(/Z$/),
        waiting: expect.any(Number),
        refused: 0,
      },
    });
    expect(calls("POST token")[0]?.body).toEqual({
      grant_type: "refresh_token",
      refresh_token: account.refreshToken,
      client_id: "client-1",
      client_secret: "client-secret-1",
    });
    const row = await connection();
    expect(row?.sealed_token).toMatch(/^k1\.[\w+/=]+\.[\w+/=]+$/);
    expect(JSON.stringify(row)).not.toContain(account.refreshToken);
    await settled();
    expect(await route()).toMatchObject({
      status: 200,
      body: { status: "active", last_synced_at: expect.stringMatching(/Z$/), waiting: 0 },
    });
  });

  test("is none before", async () => {
    expect(await route()).toMatchObject({ status: 200, body: { status: "none", push: null } });
    expect(await route("PATCH", { push: false })).toMatchObject({
      status: 404,
      body: { code: "PGRST301" },
    });
    expect(await route("DELETE")).toMatchObject({ status: 404, body: { code: "PGRST301" } });
  });

  test("without the scope is 422 scope_missing, and nothing is stored", async () => {
    const account = google.grant("openid email");
    expect(await route("POST", { refresh_token: account.refreshToken })).toMatchObject({
      status: 422,
      body: { code: "scope_missing" },
    });
    expect(await connection()).toBeUndefined();
  });

  test.each([
    ["a token that Google does not know", undefined, 422, "grant_refused"],
    ["a Google that fails", { status: 503 }, 503, "google_unavailable"],
    ["a Google that is asked too often", { status: 429 }, 503, "google_unavailable"],
    ["a Google that does not answer", "cut", 503, "google_unavailable"],
  ] as const)("with %s is refused", async (_, fault, status, code) => {
    if (fault) google.fault = () => fault;
    const answer = await route("POST", { refresh_token: "1//unknown" });
    expect(answer).toMatchObject({ status, body: { code } });
    expect(await connection()).toBeUndefined();
  });

  test.each([{}, { refresh_token: "" }, { refresh_token: "a b" }, { refresh_token: "a", x: 1 }])(
    "with %j is 422, and Google hears of nothing",
    async (body) => {
      expect(await route("POST", body)).toMatchObject({
        status: 422,
        body: { code: "validation_failed" },
      });
      expect(google.requests).toEqual([]);
    },
  );

  test("and disconnecting is a person's: a key is told so before Google hears of anything", async () => {
    await connected();
    const { body: made } = await call("/rest/v1/rpc/create_api_key", {
      method: "POST",
      body: { name: "program", access: "write" },
    });
    const exchanged = await fetch(`${stack.env.API_URL}/functions/v1/token`, {
      method: "POST",
      headers: { authorization: `Bearer ${made.key}`, apikey: stack.env.PUBLISHABLE_KEY },
    });
    const { access_token } = (await exchanged.json()) as { access_token: string };
    await settled();
    google.requests.length = 0;
    const asKey = (method: string, body?: unknown) =>
      call("/functions/v1/calendar/google", { method, body, token: access_token });
    for (const answer of [await asKey("POST", { refresh_token: "1//x" }), await asKey("DELETE")]) {
      expect(answer).toMatchObject({ status: 403, body: { code: "person_required" } });
    }
    expect(google.requests).toEqual([]);
    expect(await asKey("GET")).toMatchObject({ status: 200, body: { status: "active" } });
  });
});

describe("bookings", () => {
  test("that are to come are written at once, with all that a feed shows, once", async () => {
    const booking = await book("09:00", { notes: "Please ring" });
    const over = await book("09:00", {
      starts_at: "2026-01-10T09:00:00Z",
      ends_at: "2026-01-10T10:00:00Z",
    });
    const account = await connected();
    await settled();
    expect([...account.events.values()]).toEqual([
      {
        id: eventId(booking),
        iCalUID: `${eventId(booking)}@google.com`,
        status: "confirmed",
        summary: "Massage – Marta Rossi",
        description: expect.stringMatching(
          /^Client: Marta Rossi\nPhone: \+39 333\nE-mail: marta-.+\n\nPlease ring$/,
        ),
        location: "Via Roma 1, Milano",
        start: { dateTime: at("09:00") },
        end: { dateTime: at("10:00") },
        extendedProperties: { private: { booking } },
      },
    ]);
    expect(await pushOf(over)).toBeUndefined();
    expect(calls("POST", "PATCH", "DELETE")).toHaveLength(1);
    expect(calls("POST")[0]?.query).toEqual({ sendUpdates: "none" });
  });

  test("are followed: made, moved, renamed, cancelled, and confirmed again under another id", async () => {
    const account = await connected();
    await settled();
    const booking = await book("11:00", { status: "pending" });
    await settled();
    expect(live(account)).toMatchObject([{ id: eventId(booking), status: "tentative" }]);

    account.events.set(eventId(booking), {
      ...(account.events.get(eventId(booking)) as FakeEvent),
      colorId: "7",
    });
    await change(booking, { starts_at: at("13:00") });
    await settled();
    expect(live(account)).toMatchObject([
      { start: { dateTime: at("13:00") }, end: { dateTime: at("14:00") }, colorId: "7" },
    ]);

    await sql`update public.clients set name = 'Marta Bianchi' where id = ${client}`;
    await settled();
    expect(live(account)).toMatchObject([{ summary: "Massage – Marta Bianchi" }]);

    await change(booking, { status: "cancelled" });
    await settled();
    expect(live(account)).toEqual([]);
    expect(await pushOf(booking)).toMatchObject({ generation: 1, is_there: false, due: false });

    await change(booking, { status: "confirmed" });
    await settled();
    expect(live(account)).toMatchObject([{ id: eventId(booking, 1), status: "confirmed" }]);
    expect(calls("POST", "PATCH", "DELETE").map(({ call }) => call)).toEqual([
      "POST",
      "PATCH",
      "PATCH",
      "DELETE",
      "POST",
    ]);
  });

  test("that are held have no entry, and blocked time is called so", async () => {
    const account = await connected();
    await settled();
    const hold = await book("09:00", {
      status: "pending",
      expires_at: new Date(Date.now() + 3_600_000),
    });
    await sql`
      insert into public.bookings (professional_id, starts_at, ends_at)
      values (${ANA}, ${at("15:00")}, ${at("16:00")})`;
    await settled();
    expect(live(account)).toMatchObject([{ summary: "Blocked", description: "", location: "" }]);
    await change(hold, { expires_at: null, status: "confirmed" });
    await settled();
    expect(live(account)).toHaveLength(2);
  });

  test("of a client who is erased lose name, address and notes, also when they are over", async () => {
    const booking = await book("09:00", { notes: "Bad back" });
    const account = await connected();
    await settled();
    await sql`
      update public.bookings
      set starts_at = '2026-01-10T09:00:00Z', ends_at = '2026-01-10T10:00:00Z'
      where id = ${booking}`;
    await settled();
    const { status } = await call("/rest/v1/rpc/erase_client", {
      method: "POST",
      body: { client_id: client },
    });
    expect(status).toBe(200);
    await settled();
    expect(live(account)).toMatchObject([
      { summary: "Massage – Erased", description: "Client: Erased" },
    ]);
  });

  test("that the database loses lose their entry", async () => {
    const booking = await book();
    const account = await connected();
    await settled();
    await sql`delete from public.bookings where id = ${booking}`;
    await settled();
    expect(live(account)).toEqual([]);
  });
});

describe("an entry", () => {
  test("whose insert was done and lost is found again, and is one", async () => {
    const account = await connected();
    await settled();
    google.fault = ({ call }) => (call === "POST" ? "lose" : undefined);
    const booking = await book();
    await until(
      () => pushOf(booking),
      (push) => push?.attempts === 1,
    );
    expect(await pushOf(booking)).toMatchObject({ due: true, error: "no_answer", is_there: false });
    google.fault = () => undefined;
    await change(booking, { starts_at: at("10:00") });
    await settled();
    expect(live(account)).toMatchObject([
      { id: eventId(booking), start: { dateTime: at("10:00") } },
    ]);
    // The runtime itself may ask again on another connection.
    expect(
      calls("POST", "GET", "PATCH")
        .map(({ call }) => call)
        .slice(-3),
    ).toEqual(["POST", "GET", "PATCH"]);
    expect(account.events.size).toBe(1);
  });

  test.each([
    [
      "deleted in the calendar",
      (account: FakeAccount, id: string) => {
        account.events.set(id, { ...(account.events.get(id) as FakeEvent), status: "cancelled" });
      },
    ],
    [
      "unknown to the calendar",
      (account: FakeAccount, id: string) => {
        account.events.delete(id);
      },
    ],
  ] as const)(
    "that is %s comes back under the next id when its booking changes",
    async (_, lose) => {
      const booking = await book();
      const account = await connected();
      await settled();
      lose(account, eventId(booking));
      await change(booking, { starts_at: at("12:00") });
      await settled();
      expect(live(account)).toMatchObject([
        { id: eventId(booking, 1), start: { dateTime: at("12:00") } },
      ]);
      expect(await pushOf(booking)).toMatchObject({ generation: 1, is_there: true, error: null });
    },
  );

  test("that is gone already is removed", async () => {
    const booking = await book();
    const account = await connected();
    await settled();
    account.events.clear();
    await change(booking, { status: "cancelled" });
    await settled();
    expect(await pushOf(booking)).toMatchObject({ is_there: false, may_exist: false, due: false });
  });

  test("whose id was used up before we knew takes the next one", async () => {
    const booking = await book();
    const account = google.grant();
    const taken = { id: eventId(booking), status: "cancelled", start: {}, end: {} };
    account.events.set(taken.id, taken);
    await route("POST", { refresh_token: account.refreshToken });
    await settled();
    expect(live(account)).toMatchObject([{ id: eventId(booking, 1) }]);
  });

  test("that Google refuses waits for the next change, and holds up no other", async () => {
    const account = await connected();
    await settled();
    const refused = await book("09:00");
    google.fault = ({ call, body }) =>
      call === "POST" && (body as { id: string }).id === eventId(refused)
        ? { status: 400, reason: "invalid" }
        : undefined;
    const other = await book("11:00");
    await settled();
    expect(live(account)).toMatchObject([{ id: eventId(other) }]);
    expect(await pushOf(refused)).toMatchObject({ error: "http_400", due: false });
    expect((await route()).body).toMatchObject({ refused: 1, waiting: 0, error: null });
    google.fault = () => undefined;
    await change(refused, { notes: "x" });
    await settled();
    expect(live(account)).toHaveLength(2);
  });
});

describe("a Google that throttles", () => {
  test.each([
    ["429", { status: 429, headers: { "retry-after": "120" } }],
    [
      "403 with its reason",
      { status: 403, reason: "userRateLimitExceeded", headers: { "retry-after": "120" } },
    ],
  ])("by %s is left alone for as long as it says, and then has everything", async (_, fault) => {
    const account = await connected();
    await settled();
    google.fault = ({ call }) => (call === "POST" ? fault : undefined);
    const bookings = [await book("09:00"), await book("11:00")];
    const row = await until(connection, (now) => now?.paused === true && !now.claim_token);
    expect(row).toMatchObject({ status: "active", error: "rate_limited" });
    expect((row?.paused_until - Date.now()) / 1000).toBeGreaterThan(100);
    expect(calls("POST")).toHaveLength(1);
    expect(await pushOf(bookings[0] as string)).toMatchObject({ due: true, attempts: 0 });

    google.fault = () => undefined;
    await sql`update private.calendar_connections set paused_until = '-infinity'`;
    await settled();
    expect(live(account)).toHaveLength(2);
    expect(await connection()).toMatchObject({ error: null, pauses: 0 });
  });

  test("waits longer each time that it fails", async () => {
    await connected();
    await settled();
    const pauses: number[] = [];
    google.fault = ({ call }) => (call === "POST token" ? { status: 500 } : undefined);
    for (let n = 0; n < 3; n++) {
      await sql`
        update private.calendar_connections set paused_until = '-infinity', busy_due_at = now()`;
      const row = await until(connection, (now) => now?.pauses === n + 1 && !now.claim_token);
      pauses.push(Math.round((row?.paused_until - Date.now()) / 10_000));
    }
    expect(pauses).toEqual([3, 6, 12]);
  });
});

describe("what is in the calendar", () => {
  const busy = async () => {
    const rows = await sql`
      select lower(r.during) as start, upper(r.during) as end
      from (
        select unnest(range_agg(during)) as during
        from private.busy_times where professional_id = ${ANA}
      ) as r
      order by r.during`;
    return rows.map(({ start, end }) => `${start.toISOString()}/${end.toISOString()}`);
  };
  const put = (account: FakeAccount, id: string, event: Record<string, unknown>) =>
    account.events.set(id, {
      id,
      iCalUID: `${id}@google.com`,
      status: "confirmed",
      summary: "TITLE-nobody-may-see",
      start: { dateTime: "2027-03-10T10:00:00+01:00" },
      end: { dateTime: "2027-03-10T11:00:00+01:00" },
      ...event,
    } as never);
  const MEETING = "2027-03-10T09:00:00.000Z/2027-03-10T10:00:00.000Z";

  test.each<[string, Record<string, unknown>, string[]]>([
    ["an event", {}, [MEETING]],
    ["a tentative one", { status: "tentative" }, [MEETING]],
    ["time out of office", { eventType: "outOfOffice" }, [MEETING]],
    [
      "one that was accepted",
      { attendees: [{ self: true, responseStatus: "accepted" }] },
      [MEETING],
    ],
    ["one that another guest declined", { attendees: [{ responseStatus: "declined" }] }, [MEETING]],
    ["one that was declined", { attendees: [{ self: true, responseStatus: "declined" }] }, []],
    ["a transparent one", { transparency: "transparent" }, []],
    ["a place of work", { eventType: "workingLocation" }, []],
    ["a birthday", { eventType: "birthday" }, []],
    [
      "a whole day, of the professional's",
      { start: { date: "2027-03-28" }, end: { date: "2027-03-29" } },
      // The day the clocks go forward has 23 hours.
      ["2027-03-27T23:00:00.000Z/2027-03-28T22:00:00.000Z"],
    ],
  ])("blocks, or does not: %s", async (_, event, expected) => {
    const account = google.grant();
    put(account, "other1", event);
    await route("POST", { refresh_token: account.refreshToken });
    await settled();
    expect(await busy()).toEqual(expected);
    expect(JSON.stringify(calls("LIST")[0]?.query)).not.toMatch(/summary|description|syncToken/);
  });

  test("is read page by page, and merged", async () => {
    const account = google.grant();
    google.pageSize = 1;
    put(account, "other1", {});
    put(account, "other2", {
      start: { dateTime: "2027-03-10T09:30:00Z" },
      end: { dateTime: "2027-03-10T12:00:00Z" },
    });
    await route("POST", { refresh_token: account.refreshToken });
    await settled();
    expect(await busy()).toEqual(["2027-03-10T09:00:00.000Z/2027-03-10T12:00:00.000Z"]);
    expect(calls("LIST")).toHaveLength(2);
  });

  test("is not busy by our own entries, and not by invitations of our mails", async () => {
    const booking = await book("11:00");
    const account = google.grant();
    put(account, "invitation", {
      iCalUID: booking,
      start: { dateTime: at("13:00") },
      end: { dateTime: at("14:00") },
    });
    // Looks like one of ours, and is nobody's.
    put(account, `${"0".repeat(32)}g0`, {});
    await route("POST", { refresh_token: account.refreshToken });
    await settled();
    expect(live(account)).toHaveLength(3);
    expect(await busy()).toEqual([MEETING]);
  });

  test("stays as it was while Google fails, and is free when it is switched off", async () => {
    const account = google.grant();
    put(account, "other1", {});
    await route("POST", { refresh_token: account.refreshToken });
    await settled();
    google.fault = ({ call }) => (call === "LIST" ? { status: 500 } : undefined);
    account.events.clear();
    await sql`update private.calendar_connections set busy_due_at = now()`;
    await until(connection, (row) => row?.error === "no_answer");
    expect(await busy()).toEqual([MEETING]);

    expect((await route("PATCH", { busy: false })).body).toMatchObject({ busy: false, push: true });
    expect(await busy()).toEqual([]);
    google.fault = () => undefined;
    put(account, "other1", {});
    expect((await route("PATCH", { busy: true })).body).toMatchObject({ busy: true });
    await sql`update private.calendar_connections set paused_until = '-infinity'`;
    await settled();
    expect(await busy()).toEqual([MEETING]);
  });
});

describe("switched off", () => {
  test("nothing is pushed; switched on again, everything that changed is", async () => {
    const [kept, moved, gone] = [await book("09:00"), await book("11:00"), await book("13:00")];
    const account = await connected();
    await settled();
    await route("PATCH", { push: false });
    google.requests.length = 0;
    await change(moved, { starts_at: at("15:00") });
    await change(gone, { status: "cancelled" });
    const added = await book("17:00");
    expect((await route()).body).toMatchObject({ push: false, waiting: 0 });
    await route("PATCH", { push: true });
    await settled();
    expect(new Map(live(account).map(({ id, start }) => [id, start.dateTime]))).toEqual(
      new Map([
        [eventId(kept), at("09:00")],
        [eventId(moved), at("15:00")],
        [eventId(added), at("17:00")],
      ]),
    );
  });

  test.each([{}, { push: "yes" }, { push: true, x: 1 }])("with %j is 422", async (body) => {
    await connected();
    expect(await route("PATCH", body)).toMatchObject({
      status: 422,
      body: { code: "validation_failed" },
    });
  });
});

describe("access that is taken away", () => {
  const mails = () =>
    sql`select kind, recipient, status from private.mails where kind = 'calendar_disconnected'`;

  test.each<[string, (account: FakeAccount) => void]>([
    ["at Google's page", () => google.accounts.splice(0)],
    ["by leaving out the scope", (account) => Object.assign(account, { scope: "openid" })],
  ])("%s ends every try, and is told once; connecting again goes on", async (_, take) => {
    const account = await connected();
    await settled();
    take(account);
    const booking = await book();
    const row = await until(connection, (now) => now?.status === "revoked");
    expect(row?.error).toMatch(/^(access_revoked|scope_missing)$/);
    expect(await mails()).toHaveLength(1);
    google.requests.length = 0;
    await change(booking, { starts_at: at("10:00") });
    await sql`update private.calendar_connections set busy_due_at = now(), paused_until = '-infinity'`;
    expect((await sql`select * from private.google_work()`).length).toBe(0);
    expect(google.requests).toEqual([]);
    expect(await mails()).toHaveLength(1);
    expect((await route()).body).toMatchObject({ status: "revoked" });

    const again = await connected();
    await settled();
    expect(live(again)).toMatchObject([{ start: { dateTime: at("10:00") } }]);
    expect((await route()).body).toMatchObject({ status: "active", error: null });
  });
});

describe("disconnecting", () => {
  test("revokes, forgets the token and frees what was blocked", async () => {
    const account = await connected();
    await settled();
    expect(await route("DELETE")).toEqual({ status: 200, body: { revoked: true } });
    expect(calls("POST revoke").map(({ body }) => body)).toEqual([{ token: account.refreshToken }]);
    expect(google.accounts).toEqual([]);
    expect(await connection()).toBeUndefined();
    expect(await sql`select from private.calendar_pushes`).toHaveLength(0);
    expect(await sql`select from private.busy_times where professional_id = ${ANA}`).toHaveLength(
      0,
    );
  });

  test("is done also where Google does not answer, and says so", async () => {
    await connected();
    await settled();
    google.fault = ({ call }) => (call === "POST revoke" ? { status: 500 } : undefined);
    expect(await route("DELETE")).toEqual({ status: 200, body: { revoked: false } });
    expect(await connection()).toBeUndefined();
  });

  test("with the whole account revokes, too, and leaves nothing", async () => {
    const credentials = { email: "zoe@example.com", password: "correct horse battery" };
    const signedUp = await call("/auth/v1/signup", {
      method: "POST",
      body: credentials,
      token: stack.env.PUBLISHABLE_KEY,
    });
    const theirs = signedUp.body.access_token as string;
    const ask = (path: string, body: unknown) =>
      call(`/functions/v1/${path}`, { method: "POST", body, token: theirs });
    const account = google.grant();
    const body = { refresh_token: account.refreshToken };
    expect((await ask("calendar/google", body)).status).toBe(201);
    await settled();
    const refused = await ask("account/delete", {});
    expect(refused).toMatchObject({ status: 422, body: { code: "confirmation_required" } });
    expect(google.accounts).toEqual([account]);

    const { confirmation } = JSON.parse(refused.body.details);
    expect((await ask("account/delete", { confirmation })).body).toMatchObject({ deleted: true });
    expect(calls("POST revoke").map(({ body }) => body)).toEqual([{ token: account.refreshToken }]);
    expect(google.accounts).toEqual([]);
    expect(await connection()).toBeUndefined();
    expect(await sql`select from auth.users where email = ${credentials.email}`).toHaveLength(0);
  });

  test("is done where access was taken away already", async () => {
    await connected();
    await settled();
    google.accounts.length = 0;
    expect(await route("DELETE")).toEqual({ status: 200, body: { revoked: true } });
  });
});

test("a token under an older key is sealed under the current one when it is used", async () => {
  const account = await connected();
  await settled();
  const { sealer } = await import("../../supabase/functions/_shared/sealed.ts");
  const { developmentEnv } = await import("../../local/config.ts");
  const keys = JSON.parse(developmentEnv(PROJECT_DIR).INTEGRATIONS_KEYS ?? "");
  const older = sealer(() => JSON.stringify({ ...keys, current: "k0" }));
  const of = { professional_id: ANA, purpose: "google_token" };
  await sql`
    update private.calendar_connections
    set sealed_token = ${(await older?.seal(account.refreshToken, of)) ?? ""}, busy_due_at = now()`;
  await settled();
  const row = await connection();
  expect(row?.sealed_token).toMatch(/^k1\./);
  expect(await older?.open(row?.sealed_token, of)).toBe(account.refreshToken);
});

describe("a run", () => {
  class Undone extends Error {}

  /** In a transaction that is undone, so that the running function sees nothing of it. */
  async function alone(work: (tx: TransactionSql) => Promise<void>): Promise<void> {
    const undone = sql.begin(async (tx) => {
      await tx`
        insert into private.calendar_connections (professional_id, sealed_token, busy_due_at)
        values (${ANA}, 'sealed', 'infinity')`;
      await work(tx);
      throw new Undone();
    });
    await expect(undone).rejects.toThrow(Undone);
  }

  interface Claim {
    connection_id: string;
    claim_token: string;
    pushes: { booking_id: string; revision: number; event_id: string; entry: object | null }[];
  }
  const claim = async (tx: TransactionSql): Promise<Claim | null> =>
    (await tx`select public.claim_google_run() as run`)[0]?.run;
  const finishPush = async (tx: TransactionSql, run: Claim, n: number, result: string) => {
    const { booking_id, revision } = run.pushes[n] ?? { booking_id: "", revision: 0 };
    const [row] = await tx`
      select public.finish_google_push(
        ${run.connection_id}, ${run.claim_token}, ${booking_id}, ${revision}, ${result}, 'code'
      ) as done`;
    return row?.done;
  };
  const finish = async (tx: TransactionSql, run: Claim, result = "done") =>
    (
      await tx`
        select public.finish_google_run(
          ${run.connection_id}, ${run.claim_token}, ${result}, 'code'
        ) as done`
    )[0]?.done;
  const add = async (tx: TransactionSql): Promise<string> =>
    (
      await tx`
        insert into public.bookings (professional_id, client_id, service_id, starts_at)
        values (${ANA}, ${client}, ${service}, ${at("09:00")}) returning id`
    )[0]?.id;
  const dueOf = async (tx: TransactionSql) =>
    (
      await tx`
        select revision, attempts, generation, is_there, may_exist, due_at is not null as due
        from private.calendar_pushes`
    )[0];

  test("that finishes what has changed since leaves it due", async () => {
    await alone(async (tx) => {
      const booking = await add(tx);
      const run = (await claim(tx)) as Claim;
      expect(run.pushes).toMatchObject([{ booking_id: booking, revision: 1 }]);
      await tx`update public.bookings set notes = 'later' where id = ${booking}`;
      expect(await finishPush(tx, run, 0, "written")).toBe(true);
      expect(await dueOf(tx)).toMatchObject({ revision: 2, is_there: true, due: true });
      expect(await finish(tx, run)).toBe(true);
      const next = (await claim(tx)) as Claim;
      expect(next.pushes).toMatchObject([
        { revision: 2, is_there: true, entry: { notes: "later" } },
      ]);
      expect(await finishPush(tx, next, 0, "written")).toBe(true);
      expect(await dueOf(tx)).toMatchObject({ due: false });
    });
  });

  test("is one at a time; a lease that is over is taken again, and then the first is over", async () => {
    await alone(async (tx) => {
      await add(tx);
      const first = (await claim(tx)) as Claim;
      expect(await claim(tx)).toBeNull();
      await tx`update private.calendar_connections set leased_until = now()`;
      const second = (await claim(tx)) as Claim;
      expect(second.connection_id).toBe(first.connection_id);
      expect(await finishPush(tx, first, 0, "written")).toBe(false);
      expect(await finish(tx, first)).toBe(false);
      expect(await dueOf(tx)).toMatchObject({ due: true, is_there: false, may_exist: true });
      expect(await finishPush(tx, second, 0, "written")).toBe(true);
    });
  });

  test("is over when its token is about to be revoked, and none begins before that is done", async () => {
    await alone(async (tx) => {
      await add(tx);
      const run = (await claim(tx)) as Claim;
      const [grant] = await tx`select public.google_grant(${ANA}) as given`;
      expect(grant?.given).toEqual({
        connection_id: run.connection_id,
        sealed_token: "sealed",
      });
      expect(await finishPush(tx, run, 0, "written")).toBe(false);
      expect(await finish(tx, run, "revoked")).toBe(false);
      expect(await claim(tx)).toBeNull();
      expect(await tx`select from private.mails where kind = 'calendar_disconnected'`).toHaveLength(
        0,
      );
      // The one who was to do it may have died.
      await tx`update private.calendar_connections set leased_until = now()`;
      expect(await claim(tx)).toMatchObject({ connection_id: run.connection_id });
    });
  });

  test("that fails for a day is told, once a day at most, together with busy calendars", async () => {
    await alone(async (tx) => {
      const mails = async () =>
        (await tx`select from private.mails where kind = 'calendar_failing'`).length;
      /** Fails once more, so many hours after it began. */
      const failAfter = async (hours: number, result: string) => {
        await tx`
          update private.calendar_connections
          set
            failing_since = now() - make_interval(hours => ${hours}),
            paused_until = '-infinity',
            busy_due_at = now()`;
        expect(await finish(tx, (await claim(tx)) as Claim, result)).toBe(true);
      };
      const since = async () =>
        (await tx`select failing_since = now() as just from private.calendar_connections`)[0]?.just;

      await add(tx);
      await finish(tx, (await claim(tx)) as Claim, "failed");
      expect(await since()).toBe(true);
      await failAfter(23, "failed");
      expect(await mails()).toBe(0);
      await failAfter(25, "unread");
      expect(await mails()).toBe(1);
      await failAfter(26, "failed");
      expect(await mails()).toBe(1);
      const [mail] = await tx`
        select
          private.mail_facts(m, private.mail_subject(m), 'ana@example.com') as facts,
          private.mail_is_true(m, private.mail_subject(m)) as "true"
        from private.mails m where kind = 'calendar_failing'`;
      expect(mail?.facts.professional.failing_calendars).toMatchObject([
        { host: "calendar.google.com" },
      ]);
      expect(mail?.true).toBe(true);

      await tx`
        insert into private.busy_calendars
          (professional_id, sealed_address, host, due_at, status, error, failing_since)
        values
          (${ANA}, 'x', 'a.example', 'infinity', 'failing', 'http_error', now() - interval '2 days')`;
      await tx`select private.tell_of_failing_calendars(${ANA})`;
      expect(await mails()).toBe(1);
      await tx`
        update private.calendar_connections set told_at = told_at - interval '25 hours'`;
      await tx`select private.tell_of_failing_calendars(${ANA})`;
      expect(await mails()).toBe(2);
      await tx`delete from private.busy_calendars`;

      await failAfter(30, "done");
      expect(await since()).toBeNull();
      await failAfter(30, "revoked");
      expect(await since()).toBeNull();
      expect(await mails()).toBe(2);
    });
  });

  test("is over when the professional switches something", async () => {
    await alone(async (tx) => {
      await add(tx);
      const run = (await claim(tx)) as Claim;
      await tx`select set_config('request.jwt.claims', ${JSON.stringify({ sub: ANA, role: "authenticated" })}, true)`;
      await tx`select public.update_google_connection(push => false)`;
      expect(await finishPush(tx, run, 0, "written")).toBe(false);
      expect(await claim(tx)).toBeNull();
    });
  });

  test("hears nothing of what came and went before it", async () => {
    await alone(async (tx) => {
      const booking = await add(tx);
      await tx`update public.bookings set status = 'cancelled' where id = ${booking}`;
      expect((await claim(tx))?.pushes).toEqual([]);
      expect(await dueOf(tx)).toBeUndefined();
    });
  });

  test("tries what failed later each time", async () => {
    await alone(async (tx) => {
      await add(tx);
      const waits: number[] = [];
      for (let n = 0; n < 9; n++) {
        await tx`update private.calendar_pushes set due_at = now()`;
        const run = (await claim(tx)) as Claim;
        await finishPush(tx, run, 0, "failed");
        await finish(tx, run);
        const [row] = await tx`
          select extract(epoch from due_at - now())::integer as wait from private.calendar_pushes`;
        waits.push(row?.wait);
      }
      expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
    });
  });

  test("of the one that waits longest comes first", async () => {
    await alone(async (tx) => {
      const other = { id: crypto.randomUUID() };
      await tx`
        insert into auth.users (id, email, aud, role, raw_user_meta_data)
        values (${other.id}, 'ivo@example.com', 'authenticated', 'authenticated', '{}')`;
      await tx`
        insert into private.calendar_connections (professional_id, sealed_token, claimed_at)
        values (${other.id}, 'sealed', now() - interval '1 hour')`;
      await tx`update private.calendar_connections set claimed_at = now() where professional_id = ${ANA}`;
      await add(tx);
      expect(await claim(tx)).toMatchObject({ professional_id: other.id });
      expect(await claim(tx)).toMatchObject({ professional_id: ANA });
    });
  });
});

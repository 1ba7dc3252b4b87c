/**
 * Tier limits at the Data API. Alone, because the public's budget and the counter belong to the whole
 * stack.
 */
import { createServer, type Server } from "node:net";
import type { Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request, signToken } from "../support/callers.ts";
import { asCaller, parallelConnections, raised, sql, untilWaiting } from "../support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createPortalSession,
  createProfessional,
  createService,
} from "../support/factories.ts";
import { withWideLimits } from "../support/limits.ts";
import { changeSettings, setting } from "../support/settings.ts";
import { stack } from "../support/stack.ts";

/** Calls `send` `count` times, `width` at a time, and returns the answers. */
async function burst(
  count: number,
  width: number,
  send: (index: number) => Promise<Response>,
): Promise<Response[]> {
  const answers: Response[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) {
        const index = next++;
        answers[index] = await send(index);
      }
    }),
  );
  return answers;
}

const tally = (answers: Response[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

/** What may have come back to a budget of `perMinute` since `start`. */
const refilled = (start: number, perMinute: number) =>
  Math.ceil(((Date.now() - start) / 60_000) * perMinute) + 1;

/** A promise and what settles it. */
function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function errorOf(answer: Response | undefined): Promise<Record<string, string | null>> {
  return (await answer?.json()) as Record<string, string | null>;
}

/** Lets time pass for the callers of a key, without waiting. */
const advance = (key: string, seconds: number) => sql`
  update private.request_counters
  set full_at = full_at - make_interval(secs => ${seconds})
  where key like ${`%${key}%`}`;

describe("requests per minute", () => {
  // The first request of a database connection passes uncounted; here each has had one.
  beforeAll(async () => {
    const { token } = await createProfessional();
    const answers = await burst(200, 20, () => request("/rest/v1/services", { token }));
    expect(tally(answers, 200)).toBe(200);
  });

  test("of 200 reads on free 60 pass, the others are 429 until Retry-After is over", async () => {
    const professional = await createProfessional({ tier: "free" });
    const read = () => request("/rest/v1/services", { token: professional.token });
    const start = Date.now();
    const answers = await burst(200, 4, read);

    const passed = tally(answers, 200);
    expect(passed).toBeGreaterThanOrEqual(60);
    // Counted without waiting for the count: those in flight may pass too many.
    expect(passed).toBeLessThanOrEqual(60 + refilled(start, 60) + 4);
    expect(tally(answers, 429)).toBe(200 - passed);

    const refused = await read();
    expect(refused.status).toBe(429);
    const retryAfter = Number(refused.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    const body = await errorOf(refused);
    expect(body).toEqual({
      code: "rate_limit_exceeded",
      message: expect.any(String),
      details: expect.any(String),
      hint: expect.any(String),
    });
    expect(JSON.parse(body.details as string)).toEqual({ retry_after: retryAfter });

    await advance(professional.id, retryAfter);
    expect((await read()).status).toBe(200);
  });

  test.each([
    ["free", 60],
    ["pro", 1000],
  ])("requests that fail count too, on %s", async (tier, limit) => {
    const professional = await createProfessional({ tier });
    const start = Date.now();
    const answers = await burst(limit + 40, 4, () =>
      request("/rest/v1/services", {
        method: "POST",
        token: professional.token,
        body: JSON.stringify({ name: "No price" }),
      }),
    );
    expect(tally(answers, 400)).toBeGreaterThanOrEqual(limit);
    expect(tally(answers, 400)).toBeLessThanOrEqual(limit + refilled(start, limit) + 4);
    expect(tally(answers, 400) + tally(answers, 429)).toBe(limit + 40);
  });

  test("two professionals do not share a budget", async () => {
    const [one, other] = await Promise.all([
      createProfessional({ tier: "free" }),
      createProfessional({ tier: "free" }),
    ]);
    await burst(70, 4, () => request("/rest/v1/services", { token: one.token }));
    expect((await request("/rest/v1/services", { token: one.token })).status).toBe(429);
    expect((await request("/rest/v1/services", { token: other.token })).status).toBe(200);
  });

  test("a portal client has a budget of the professional's tier, and not of the professional", async () => {
    const professional = await createProfessional({ tier: "free" });
    const [client, other] = [
      await createPortalSession(await createClientRow(professional)),
      await createPortalSession(await createClientRow(professional)),
    ];
    const start = Date.now();
    const answers = await burst(100, 4, () =>
      request("/rest/v1/bookings?select=id", { token: client.token }),
    );
    expect(tally(answers, 200)).toBeGreaterThanOrEqual(60);
    expect(tally(answers, 200)).toBeLessThanOrEqual(60 + refilled(start, 60) + 4);
    expect(tally(answers, 429)).toBe(100 - tally(answers, 200));
    for (const token of [professional.token, other.token]) {
      expect((await request("/rest/v1/bookings?select=id", { token })).status).toBe(200);
    }
  });

  test("who opened a booking's link shares the budget of the client", async () => {
    const professional = await createProfessional({ tier: "free" });
    const [client, service] = [
      await createClientRow(professional),
      await createService(professional),
    ];
    const booking = await createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2100-01-01T09:00:00Z",
    });
    const [link, portal] = [await createBookingSession(booking), await createPortalSession(client)];
    const read = (token: string) => request("/rest/v1/bookings?select=id", { token });
    const start = Date.now();
    const answers = await burst(100, 4, () => read(link.token));
    expect(tally(answers, 200)).toBeGreaterThanOrEqual(60);
    expect(tally(answers, 200)).toBeLessThanOrEqual(60 + refilled(start, 60) + 4);
    expect(tally(answers, 200) + tally(answers, 429)).toBe(100);
    expect((await read(portal.token)).status).toBe(429);
    expect((await read(professional.token)).status).toBe(200);
  });

  test("a role that the check does not know is refused, however it got there", async () => {
    // As another project on the same database might bring one.
    await sql.unsafe(`
      create role limitless nologin noinherit;
      grant limitless to authenticator, postgres;
      grant usage on schema public, private to limitless;
      grant execute on function private.check_request() to limitless;
      grant execute on function public.booking_page(text), private.booking_page(text) to limitless`);
    try {
      for (const claims of [{ sub: crypto.randomUUID() }, {}]) {
        const token = await signToken({ role: "limitless", ...claims });
        const path = "/rest/v1/rpc/booking_page?username=ana";
        const answer = await request(path, { token });
        expect([answer.status, (await errorOf(answer)).code]).toEqual([403, "unknown_role"]);
        expect((await request(path)).status).toBe(200);
      }
    } finally {
      await sql.unsafe("drop owned by limitless; drop role limitless");
    }
  });

  test("the next 100 pass at once after a used-up free tier was raised to ultra", async () => {
    const professional = await createProfessional({ tier: "free" });
    const read = () => request("/rest/v1/services", { token: professional.token });
    await burst(70, 4, read);
    expect((await read()).status).toBe(429);

    await sql`update public.profiles set tier = 'ultra' where id = ${professional.id}`;
    expect(tally(await burst(100, 4, read), 200)).toBe(100);
  });

  test("each tier has the specification's numbers", async () => {
    const tiers = await sql`
      select name, requests_per_minute, concurrent_requests
      from private.tiers order by requests_per_minute`;
    expect(tiers.map((tier) => Object.values(tier))).toEqual([
      ["free", 60, 5],
      ["plus", 300, 20],
      ["pro", 1000, 50],
      ["max", 5000, 100],
      ["ultra", 10000, 200],
    ]);
  });

  test.each([
    ["plus", 300],
    ["max", 5000],
  ])(
    "a burst of a full minute on %s is %d requests, then they are refused",
    async (_tier, limit) => {
      const key = `test ${crypto.randomUUID()}`;
      const [counted] = await sql`
      select
        count(*) filter (where private.count_request(${key}, ${limit}, '1 minute') = 0)::integer as passed,
        extract(epoch from clock_timestamp() - statement_timestamp())::float as seconds
      from generate_series(1, ${limit} + 50)`;
      expect(counted?.passed).toBeGreaterThanOrEqual(limit);
      expect(counted?.passed).toBeLessThanOrEqual(
        limit + Math.ceil((counted?.seconds * limit) / 60),
      );
    },
  );

  describe("for the public", () => {
    let putBack: () => Promise<void>;
    beforeAll(async () => {
      putBack = await changeSettings(sql, { anon_tier: "free" });
      await sql`delete from private.request_counters where key like 'ip %'`;
    });
    afterAll(() => putBack());

    test("made-up addresses in headers do not buy a new budget", async () => {
      const start = Date.now();
      const answers = await burst(100, 4, (index) =>
        request("/rest/v1/services?select=id&limit=1", {
          headers: {
            "x-forwarded-for": `203.0.113.${index}`,
            "cf-connecting-ip": `198.51.100.${index}`,
          },
        }),
      );
      expect(tally(answers, 200)).toBeGreaterThanOrEqual(60);
      expect(tally(answers, 200)).toBeLessThanOrEqual(60 + refilled(start, 60) + 4);
      expect(tally(answers, 429)).toBe(100 - tally(answers, 200));
    });

    test("our own server has no limit", async () => {
      const answers = await burst(100, 4, () =>
        request("/rest/v1/services?limit=1", { headers: { apikey: stack.secretKey } }),
      );
      expect(tally(answers, 200)).toBe(100);
    });
  });

  test("without the edge's header the last hop counts, which the caller did not write", async () => {
    const ipOf = async (headers: Record<string, string>) => {
      const [row] = await sql.begin(async (tx) => {
        await tx`select set_config('request.headers', ${JSON.stringify(headers)}, true)`;
        return tx`select private.caller_network() as ip`;
      });
      return row?.ip;
    };
    expect(await ipOf({ "x-forwarded-for": "1.1.1.1, 2.2.2.2, 3.3.3.3" })).toBe("3.3.3.3");
    expect(await ipOf({ "x-forwarded-for": "1.1.1.1", "cf-connecting-ip": "9.9.9.9" })).toBe(
      "9.9.9.9",
    );
    expect(await ipOf({})).toBe("unknown");
  });
});

describe("requests at the same time", () => {
  test("the sixth on free is refused until one has ended, and costs no rate", async () => {
    const professional = await createProfessional({ tier: "free" });
    const slow: Promise<Response>[] = [];
    await sql.begin(async (tx) => {
      await tx`lock table public.clients in access exclusive mode`;
      for (let n = 0; n < 5; n++) {
        slow.push(request("/rest/v1/clients?select=id", { token: professional.token }));
      }
      await untilWaiting(5);

      const sixth = await request("/rest/v1/services", { token: professional.token });
      expect(sixth.status).toBe(429);
      expect(sixth.headers.get("retry-after")).toBe("1");
      expect((await errorOf(sixth)).code).toBe("too_many_connections");
    });
    expect((await Promise.all(slow)).map((answer) => answer.status)).toEqual(Array(5).fill(200));
    expect((await request("/rest/v1/services", { token: professional.token })).status).toBe(200);

    const [counter] = await sql`
      select extract(epoch from full_at - clock_timestamp())::float as used
      from private.request_counters where key like ${`%${professional.id}%`}`;
    // Six reads: the refused one is not among them.
    expect(counter?.used).toBeLessThanOrEqual(6);
  });

  test("the cap of plus holds in SQL, and a terminated backend frees its place", async () => {
    const professional = await createProfessional({ tier: "plus" });
    const [doomed, last, ...others] = parallelConnections(21) as [Sql, Sql, ...Sql[]];
    const claims = JSON.stringify(professional.claims);

    // Not in a transaction of the driver's, which would still talk to the backend after its end.
    const session = await doomed.reserve();
    await session`begin`;
    const [held] = await session`
      select pg_backend_pid() as pid, set_config('request.jwt.claims', ${claims}, true)`;
    await session`select private.check_request()`;

    const release = signal();
    const allHold = signal();
    let holding = 0;
    const holders = others.map((connection) =>
      asCaller(
        professional.claims,
        async (tx) => {
          await tx`select private.check_request()`;
          if (++holding === others.length) allHold.resolve();
          await release.promise;
        },
        connection,
      ),
    );
    await allHold.promise;

    const next = () =>
      asCaller(professional.claims, (tx) => tx`select private.check_request()`, last);
    expect(await raised(next())).toMatchObject({ status: 429, code: "too_many_connections" });

    await sql`select pg_terminate_backend(${held?.pid}, 5000)`;
    expect(await next()).toHaveLength(1);
    release.resolve();
    await Promise.all(holders);
  });
});

/** A request of the public; the first of a connection passes uncounted and leaves the counter alone. */
const meet = (connection: Sql) =>
  asCaller({ role: "anon" }, (tx) => tx`select private.check_request()`, connection);

describe("the counter never turns into an outage", () => {
  // Sessions that saw a fault say so for a while; the next files want theirs counted.
  afterAll(
    () => sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'authenticator'`,
  );

  describe("with a host that accepts and stays silent", () => {
    let silent: Server;
    let putBack: () => Promise<void>;

    beforeAll(async () => {
      silent = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => silent.once("listening", resolve));
      const { port } = silent.address() as { port: number };
      const [row] = await sql`
        select private.request_counter_conninfo('127.0.0.1', ${port}) as conninfo`;
      putBack = await changeSettings(sql, { request_counter: row?.conninfo });
    });

    afterAll(async () => {
      await putBack();
      silent.close();
    });

    test("one request waits until its statement times out and passes, the others pass at once", async () => {
      const professional = await createProfessional();
      const connections = parallelConnections(4);
      await Promise.all(connections.map(meet));
      const timed = (connection: (typeof connections)[number]) =>
        asCaller(
          professional.claims,
          async (tx) => {
            await tx`set local statement_timeout = '2s'`;
            const start = Date.now();
            await tx`select private.check_request()`;
            // The transaction goes on: the time-out was caught.
            expect(await tx`select 1 as one`).toEqual([{ one: 1 }]);
            return Date.now() - start;
          },
          connection,
        );
      const times = (await Promise.all(connections.map(timed))).sort((a, b) => a - b);
      expect(times.at(-1)).toBeLessThan(3000);
      expect(times.at(-2)).toBeLessThan(1000);

      const [status] = await sql`select private.request_counter_status() as text`;
      expect(status?.text).not.toBe("ok");
      const again = await Promise.all(connections.map(timed));
      expect(Math.max(...again)).toBeLessThan(1000);
    });
  });

  describe("with a login that is refused", () => {
    let password: string | null;
    const health = async () =>
      (await sql`select private.request_counter_status() as text`)[0]?.text as string;
    const refusedAt = () => setting<Date | null>(sql, "request_counter_refused_at");
    const job = () => sql`select private.check_request_counter()`;
    const ask = meet;
    /** Whether this session has a connection to the counter, and whether it has tried to get one. */
    const stateOf = async (connection: Sql) => {
      const [row] = await connection`
        select coalesce('request_counter' = any (extensions.dblink_get_connections()), false) as connected,
          coalesce(current_setting('private.request_counter_retry_at', true), '') <> '' as failed`;
      return row as { connected: boolean; failed: boolean };
    };

    beforeAll(async () => {
      // Sessions that still speak of the silent host.
      await sql`
        select pg_terminate_backend(pid, 5000) from pg_locks
        where locktype = 'advisory' and classid = 7305 and pid <> pg_backend_pid()`;
      password = await setting<string>(sql, "request_counter_password");
      await sql`alter role request_counter password 'another one'`;
    });
    afterAll(async () => {
      await sql.unsafe(`alter role request_counter password '${password}'`);
      await sql`update private.settings set request_counter_refused_at = null`;
    });

    test("one session finds out, requests pass, and nobody but the job tries again", async () => {
      const [first, second, third] = parallelConnections(3) as [Sql, Sql, Sql];
      await ask(first);
      expect(await stateOf(first)).toEqual({ connected: false, failed: false });
      await ask(first);
      expect(await stateOf(first)).toEqual({ connected: false, failed: true });
      expect(await health()).not.toBe("ok");

      // Told by a lock at once …
      await ask(second);
      await ask(second);
      expect(await stateOf(second)).toEqual({ connected: false, failed: false });
      // … and by the settings once the job has seen it, when that session may be gone.
      await job();
      const noted = await refusedAt();
      expect(noted).toEqual(expect.any(Date));
      await ask(first);
      expect(await stateOf(first)).toEqual({ connected: false, failed: false });
      await ask(second);
      expect(await stateOf(second)).toEqual({ connected: false, failed: false });
      expect(await health()).not.toBe("ok");

      // It tries every ten minutes, in vain and then not.
      await job();
      expect(await refusedAt()).toEqual(noted);
      const age = () => sql`
        update private.settings
        set request_counter_refused_at = now() - interval '11 minutes'`;
      await age();
      await job();
      expect(await refusedAt()).toEqual(expect.any(Date));
      await sql.unsafe(`alter role request_counter password '${password}'`);
      await age();
      await job();
      expect(await refusedAt()).toBeNull();
      expect(await health()).toBe("ok");
      await ask(third);
      await ask(third);
      expect(await stateOf(third)).toEqual({ connected: true, failed: false });
    });
  });

  test("a session takes back what it said of the counter, although a rollback took its setting", async () => {
    const [connection] = parallelConnections(1) as [Sql];
    const locks = async () =>
      (
        await connection`
        select from pg_locks
        where locktype = 'advisory' and classid = 7305 and pid = pg_backend_pid()`
      ).length;
    await meet(connection);
    await connection`select pg_try_advisory_lock(7305, 2)`;
    expect(await locks()).toBe(1);
    await meet(connection);
    expect(await locks()).toBe(0);
  });

  test("a password with space, quote and backslash is one", async () => {
    const before = await setting<string>(sql, "request_counter_password");
    const setPassword = async (password: string) => {
      const [quoted] = await sql`select quote_literal(${password}) as text`;
      await sql.unsafe(`alter role request_counter password ${quoted?.text}`);
    };
    const odd = "a b'c\\d = '";
    await setPassword(odd);
    const putBack = await changeSettings(sql, {
      request_counter_password: odd,
      request_counter: await setting<string>(sql, "request_counter"),
    });
    try {
      const { port } = new URL(stack.dbUrl);
      const [answer] = await sql`
        select private.configure_request_counter('127.0.0.1', ${Number(port)}) as text`;
      expect(answer?.text).toBe("ok");
    } finally {
      await setPassword(before);
      await putBack();
    }
  });

  test("an address that does not work is refused when it is configured", async () => {
    const before = await setting<string>(sql, "request_counter");
    expect(
      await raised(sql`select private.configure_request_counter('127.0.0.1', 1)`),
    ).toMatchObject({ code: "08001" });
    expect(await setting<string>(sql, "request_counter")).toBe(before);
  });

  test("while nothing is configured writes are limited and reads pass", async () => {
    const professional = await createProfessional({ tier: "free" });
    const putBack = await changeSettings(sql, { request_counter: null });
    try {
      const call = (readOnly: boolean) =>
        asCaller(professional.claims, async (tx) => {
          if (readOnly) await tx`set transaction read only`;
          return tx`select private.check_request()`;
        });
      for (let count = 0; count < 60; count++) await call(false);
      expect(await raised(call(false))).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
      expect(await call(true)).toHaveLength(1);
    } finally {
      await putBack();
    }
  });

  test("its role reads no table and executes nothing of ours but the counter", async () => {
    const tables = await sql`
      select c.oid::regclass::text as name
      from pg_class c
      where c.relkind in ('r', 'v', 'm', 'p', 'f')
        and c.relnamespace in ('public'::regnamespace, 'private'::regnamespace, 'auth'::regnamespace)
        and has_any_column_privilege('request_counter', c.oid, 'select, insert, update, references')`;
    expect(tables).toEqual([]);
    const functions = await sql`
      select p.oid::regprocedure::text as name
      from pg_proc p
      where p.pronamespace in ('public'::regnamespace, 'private'::regnamespace)
        and has_function_privilege('request_counter', p.oid, 'execute')`;
    expect(functions.map(({ name }) => name).sort()).toEqual([
      "private.count_request(text,integer,interval)",
      "private.count_requests(text[],integer[],interval)",
    ]);
  });

  // Last: whoever loses the counter does without it for 30 seconds.
  test("killing all its connections under load gives no 5xx", async () => {
    const professional = await createProfessional();
    await createService(professional);
    const answers = await burst(200, 8, async (index) => {
      if (index % 20 === 10) {
        await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'request_counter'`;
      }
      return request("/rest/v1/services", { token: professional.token });
    });
    expect(tally(answers, 200)).toBe(200);
  });
});

test("a run of the tests leaves the limits of somebody's stack as they were, also when it fails", async () => {
  const own = { anon_tier: "free", public_tries_per_address_hour: 7 };
  const putBack = await changeSettings(sql, own);
  const tier = () => setting<string>(sql, "anon_tier");
  try {
    let during: string | undefined;
    const run = withWideLimits(stack.dbUrl, async () => {
      during = await tier();
      throw new Error("a test failed");
    });
    await expect(run).rejects.toThrow("a test failed");
    expect(during).toBe("ultra");
    expect([await tier(), await setting(sql, "public_tries_per_address_hour")]).toEqual(
      Object.values(own),
    );
  } finally {
    await putBack();
  }
});

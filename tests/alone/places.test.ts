/**
 * Nobody takes all of the REST server's connections, running or waiting, and a lock that others keep
 * is a quick answer. Alone, with the settings as they are installed.
 */
import type { TransactionSql } from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dateIn, everyDay, instantOf, iso } from "../support/calendar.ts";
import { request, signToken } from "../support/callers.ts";
import {
  asCaller,
  type Claims,
  parallelConnections,
  raised,
  sql,
  untilWaiting,
} from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProfessional,
  createService,
  type PortalSession,
  type Professional,
} from "../support/factories.ts";
import { changeSettings } from "../support/settings.ts";
import { stack } from "../support/stack.ts";

const [holder] = parallelConnections(1) as [typeof sql];
let putBack: () => Promise<void>;

beforeAll(async () => {
  putBack = await changeSettings(sql, { rest_pool_size: 20, anon_per_network: 6 });
});
afterAll(() => putBack());

interface Answer {
  status: number;
  code: string | undefined;
  retryAfter: string | null;
}

async function answerOf(sent: Promise<Response>): Promise<Answer> {
  const response = await sent;
  const text = await response.text();
  const body = text === "" ? {} : JSON.parse(text);
  return {
    status: response.status,
    code: body.code,
    retryAfter: response.headers.get("retry-after"),
  };
}

const BUSY = { status: 429, code: "busy", retryAfter: "1" };
const read = (token: string) => answerOf(request("/rest/v1/services?select=id", { token }));
const tally = (answers: Answer[], code: string | undefined) =>
  answers.filter((answer) => answer.code === code).length;

/** Does `work` while a transaction of `claims` is open that has done `first`. */
const during = (
  claims: Claims,
  first: (tx: TransactionSql) => Promise<unknown>,
  work: () => Promise<void>,
) =>
  asCaller(
    claims,
    async (tx) => {
      await first(tx);
      await work();
    },
    holder,
  );

const addClient = (tx: TransactionSql) => tx`insert into public.clients (name) values ('Marta')`;

async function open() {
  const professional = await createProfessional({
    accepts_bookings: true,
    availability: everyDay(["00:00", "24:00"]) as never,
  });
  const [service, client] = await Promise.all([
    createService(professional),
    createClientRow(professional),
  ]);
  return { professional, service, client };
}

const book = (service: { id: string }, token?: string) =>
  answerOf(
    request("/rest/v1/rpc/create_booking", {
      method: "POST",
      token,
      body: JSON.stringify({
        service_id: service.id,
        starts_at: iso(instantOf(dateIn(20, "UTC"), "10:00", "UTC")),
        client_name: "Ann",
        client_email: "ann@example.com",
      }),
    }),
  );

const rename = (id: string, token: string, name: string) =>
  answerOf(
    request(`/rest/v1/clients?id=eq.${id}`, {
      method: "PATCH",
      token,
      body: JSON.stringify({ name }),
    }),
  );

/** `places` requests are under way, each begun while those before it last; the next one is refused. */
async function fill(places: number, callerOf: (n: number) => { claims: Claims; ip?: string }) {
  const connections = parallelConnections(places + 1);
  const begin = async (n: number): Promise<void> => {
    const { claims, ip } = callerOf(n);
    const headers = JSON.stringify(ip ? { "x-forwarded-for": ip } : {});
    const call = asCaller(
      claims,
      async (tx) => {
        await tx`select set_config('request.headers', ${headers}, true)`;
        await tx`select private.check_request()`;
        await begin(n + 1);
      },
      connections[n],
    );
    if (n === places) expect(await raised(call)).toMatchObject({ status: 429, code: "busy" });
    else await call;
  };
  await begin(0);
}

describe("places", () => {
  test("60 changes of one row that somebody holds take half the pool, and others go on", async () => {
    const [{ professional, client }, other] = await Promise.all([open(), open()]);
    const flood: Promise<Answer>[] = [];
    await sql.begin(async (tx) => {
      await tx`select from public.clients where id = ${client.id} for update`;
      for (let n = 0; n < 60; n++) flood.push(rename(client.id, professional.token, `Marta ${n}`));
      for (let n = 0; n < 10; n++) {
        expect((await read(other.professional.token)).status).toBe(200);
      }
    });
    const answers = await Promise.all(flood);
    expect(tally(answers, "busy")).toBeGreaterThanOrEqual(50);
    for (const answer of answers) {
      if (answer.code === "busy") expect(answer).toEqual(BUSY);
      else expect([204, 500]).toContain(answer.status);
    }
  });

  test("a page on free that opens with ten reads gets all of them; more at once are refused", async () => {
    const professional = await createProfessional({ tier: "free" });
    await createService(professional);
    const opened = await Promise.all(Array.from({ length: 10 }, () => read(professional.token)));
    expect(opened.map(({ status }) => status)).toEqual(Array(10).fill(200));

    // Five that last, five that wait, and one too many.
    const slow: Promise<Answer>[] = [];
    await sql.begin(async (tx) => {
      await tx`lock table public.clients in access exclusive mode`;
      for (let n = 0; n < 5; n++) {
        slow.push(answerOf(request("/rest/v1/clients?select=id", { token: professional.token })));
      }
      await untilWaiting(5);
      const more = await Promise.all(Array.from({ length: 6 }, () => read(professional.token)));
      expect(more).toEqual(
        Array(6).fill({ status: 429, code: "too_many_connections", retryAfter: "1" }),
      );
    });
    await Promise.all(slow);
    expect((await read(professional.token)).status).toBe(200);
  });

  test("an ultra tier within its number and over half the pool is busy, in SQL", async () => {
    const professional = await createProfessional({ tier: "ultra" });
    await fill(10, () => ({ claims: professional.claims }));
  });

  test("the public has six a network, 40 % of the pool together, and a second for a statement", async () => {
    const { professional } = await open();
    await sql`
      update public.services set description = repeat('a', 5000)
      where professional_id = ${professional.id}`;
    const pattern = encodeURIComponent("^(.+)(.+)(.+)(.+)\\4\\3\\2\\1$");
    const attack = Array.from({ length: 12 }, () =>
      answerOf(request(`/rest/v1/services?select=id&description=match.${pattern}`)),
    );
    const reads = await Promise.all(Array.from({ length: 8 }, () => read(professional.token)));
    expect(reads.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const answers = await Promise.all(attack);
    expect(tally(answers, "too_many_connections")).toBeGreaterThanOrEqual(6);
    for (const answer of answers) {
      if (answer.code !== "too_many_connections") expect([200, 500]).toContain(answer.status);
    }
    expect(tally(answers, "57014") + tally(answers, undefined)).toBeLessThanOrEqual(6);

    await fill(8, (n) => ({ claims: { role: "anon" }, ip: `192.0.2.${n % 4}` }));
  });
});

describe("a lock that others keep", () => {
  test("is waited for by five requests of a professional's; the others are told at once", async () => {
    const { professional, client } = await open();
    await during(professional.claims, addClient, async () => {
      const told: Answer[] = [];
      const calls = Array.from({ length: 8 }, (_, n) =>
        rename(client.id, professional.token, `Marta ${n}`).then((answer) => told.push(answer)),
      );
      // The other five still wait when these have their answer.
      while (told.length < 3) await untilWaiting(5);
      expect(told).toEqual(Array(3).fill(BUSY));
      await Promise.all(calls);
      expect(told).toEqual(Array(8).fill(BUSY));
    });
  });

  test("is 429 busy for the public within its second, for the owner and for a portal client", async () => {
    const { professional, service, client } = await open();
    const portal = await createPortalSession(client);
    await during(professional.claims, addClient, async () => {
      const answers = await Promise.all([
        book(service),
        rename(client.id, professional.token, "Marta"),
        rename(client.id, portal.token, "Marta"),
      ]);
      expect(answers).toEqual([BUSY, BUSY, BUSY]);
      expect((await read(professional.token)).status).toBe(200);
    });
    expect((await book(service)).status).toBe(200);
  });

  test("14 bookings that wait for one professional leave others their reads", async () => {
    const [shop, other] = await Promise.all([open(), open()]);
    await during(shop.professional.claims, addClient, async () => {
      const waiting = Promise.all(Array.from({ length: 14 }, () => book(shop.service)));
      for (let n = 0; n < 10; n++) expect((await read(other.professional.token)).status).toBe(200);
      expect((await waiting).map(({ status }) => status)).toEqual(Array(14).fill(429));
    });
  });

  test("by a server that writes for anybody: writes fail quickly, reads and the page go on", async () => {
    const { professional, service, client } = await open();
    const serve = (tx: TransactionSql) =>
      tx`insert into public.clients (professional_id, name) values (${professional.id}, 'Marta')`;
    await during({ role: "service_role" }, serve, async () => {
      expect(await book(service)).toEqual(BUSY);
      expect(await rename(client.id, professional.token, "Marta")).toEqual(BUSY);
      expect((await read(professional.token)).status).toBe(200);
      const page = await request(`/rest/v1/rpc/booking_page?username=ana-${professional.id}`);
      expect(page.status).toBe(200);
    });
  });

  test("keeps a server waiting for itself only: others write while it tries again", async () => {
    const [shop, other] = await Promise.all([open(), open()]);
    let serving: Promise<Answer> | undefined;
    await during(shop.professional.claims, addClient, async () => {
      serving = answerOf(
        request(`/rest/v1/services?id=eq.${shop.service.id}`, {
          method: "PATCH",
          headers: { apikey: stack.secretKey },
          body: JSON.stringify({ category: "hair" }),
        }),
      );
      for (let n = 0; n < 10; n++) {
        const { status } = await rename(other.client.id, other.professional.token, `Ann ${n}`);
        expect(status).toBe(204);
      }
    });
    expect((await serving)?.status).toBe(204);
  });

  test("on a row, which only SQL and servers hold so, stays the platform's 500 55P03", async () => {
    const { professional, client } = await open();
    await sql.begin(async (tx) => {
      await tx`select from public.clients where id = ${client.id} for update`;
      expect(await rename(client.id, professional.token, "Marta")).toMatchObject({
        status: 500,
        code: "55P03",
      });
    });
  });
});

describe("who may be anybody", () => {
  const REGEX = encodeURIComponent("^(.+)(.+)(.+)(.+)\\4\\3\\2\\1$");
  const LONG = "abcdefghij".repeat(399);

  test("keeps a write lock for a second at most, whatever is asked of the answer", async () => {
    const { professional, service, client } = await open();
    const stranger = await createProfessional();
    const portal = await createPortalSession(client);
    for (const { token } of [stranger, portal]) {
      const call = answerOf(
        request(`/rest/v1/rpc/create_booking?select=id,notes&notes=match.${REGEX}`, {
          method: "POST",
          token,
          body: JSON.stringify({
            service_id: service.id,
            starts_at: iso(instantOf(dateIn(20, "UTC"), "10:00", "UTC")),
            ...(token === stranger.token && {
              client_name: "Ann",
              client_email: "ann@example.com",
            }),
            notes: LONG,
          }),
        }),
      );
      expect(await call).toMatchObject({ status: 500, code: "57014" });
    }
    const short = await sql`
      select rolname from pg_roles
      where rolconfig @> array['statement_timeout=1s', 'lock_timeout=400ms'] order by rolname`;
    expect(short.map(({ rolname }) => rolname)).toEqual([
      "anon",
      "portal_booking",
      "portal_client",
    ]);
    expect((await rename(client.id, professional.token, "Marta")).status).toBe(204);
  });

  test("does not wait for a client whom somebody else is deleting, asking for a code or trying one", async () => {
    const { professional, client } = await open();
    await sql.begin(async (tx) => {
      await tx`select from public.clients where id = ${client.id} for update`;
      const [started] = await holder`
        select private.start_portal_code(
          ${professional.id}, ${client.email}, '0.1.2.3', 100) as code`;
      // What an address that is nobody's gets.
      expect(started?.code.recipient).toMatchObject({ generation: 0 });
      const [finished] = await holder`
        select private.finish_portal_verification(
          ${professional.id}, ${client.id}, 1, 'x') as session`;
      expect(finished?.session).toBeNull();
    });
  });

  test("signs up although another has not let go of the username", async () => {
    const { professional } = await open();
    const username = `squatted-${crypto.randomUUID()}`;
    await holder.begin(async (tx) => {
      await tx`update public.profiles set username = ${username} where id = ${professional.id}`;
      const id = crypto.randomUUID();
      await sql`
        insert into auth.users (id, email, raw_user_meta_data)
        values (${id}, ${`${id}@example.com`}, ${sql.json({ username })})`;
      const [profile] = await sql`select username from public.profiles where id = ${id}`;
      expect(profile?.username).toMatch(new RegExp(`^${username.slice(0, 50)}.*-[0-9a-f]{4}$`));
    });
  });

  test("has three fifths of the pool from one network, with however many accounts", async () => {
    const professionals = await Promise.all(
      Array.from({ length: 3 }, () => createProfessional({ tier: "free" })),
    );
    await fill(12, (n) => ({
      claims: professionals[n % 3]?.claims as Claims,
      ip: "192.0.2.77",
    }));
  });

  test("has half of the pool together with the other clients of a professional", async () => {
    const professional = await createProfessional({ tier: "ultra" });
    const portals: PortalSession[] = [];
    for (let n = 0; n < 3; n++) {
      portals.push(await createPortalSession(await createClientRow(professional)));
    }
    await fill(10, (n) => ({ claims: portals[n % 3]?.claims as Claims }));
  });
});

describe("a job", () => {
  test("cancels the unpaid orders of one professional a call, and passes over who is at work", async () => {
    const shops = await Promise.all([open(), open()]);
    for (const { professional, client } of shops) {
      await sql`
        insert into public.orders (professional_id, client_id, items, source, created_at)
        values (${professional.id}, ${client.id},
          ${sql.json([{ product_id: (await product(professional)).id, quantity: 1 }])},
          'public', now() - interval '3 days')`;
    }
    const [busy, idle] = shops as [(typeof shops)[number], (typeof shops)[number]];
    const cancelled = async (professional: Professional) =>
      (
        await sql`
          select from public.orders
          where professional_id = ${professional.id} and status = 'cancelled'`
      ).length;
    const run = async () =>
      (await sql`select private.cancel_unpaid_orders() as did`)[0]?.did as boolean;

    // The scheduler may have been quicker; nobody has touched those of who is at work.
    await during(busy.professional.claims, addClient, async () => {
      while (await run());
      expect([await cancelled(busy.professional), await cancelled(idle.professional)]).toEqual([
        0, 1,
      ]);
    });
    while (await run());
    expect(await cancelled(busy.professional)).toBe(1);
  });

  test("leaves a counter that a request is at to the next run", async () => {
    await sql`
      insert into private.request_counters (key, full_at)
      values ('job held', now() - interval '1 s'), ('job free', now() - interval '1 s')`;
    await holder.begin(async (tx) => {
      await tx`select from private.request_counters where key = 'job held' for update`;
      await sql`select private.forget_request_counters()`;
    });
    const left = await sql`
      delete from private.request_counters where key like 'job %' returning key`;
    expect(left.map(({ key }) => key)).toEqual(["job held"]);
  });
});

const product = async (professional: Professional) => {
  const [row] = await sql`
    insert into public.products (professional_id, name, price)
    values (${professional.id}, 'Wax', 1) returning id`;
  return row as { id: string };
};

test("a token without a known role is nobody's", async () => {
  const token = await signToken({ role: "rules", sub: crypto.randomUUID() });
  expect((await read(token)).status).toBe(403);
});

/** What runs by itself every night, and what somebody on call asks. Alone: both are of the whole stack. */
import { randomUUID } from "node:crypto";
import type { TransactionSql } from "postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anonymous, server } from "../support/callers.ts";
import { raised, rolledBack, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import { changeSettings } from "../support/settings.ts";

/** Runs the jobs of the night, and the one for unpaid orders until it has nothing left to do. */
async function cleanup(): Promise<void> {
  const jobs = await sql<{ command: string }[]>`
    select command from private.jobs()
    where name not in (
      'webhook-dispatch', 'mail-dispatch', 'payment-dispatch', 'unpaid-orders', 'expired-holds',
      'request-counter'
    )`;
  for (const { command } of jobs) await sql.unsafe(command);
  for (;;) {
    const [row] = await sql`select private.cancel_unpaid_orders() as did`;
    if (!row?.did) return;
  }
}

async function count(query: Promise<ArrayLike<unknown>>): Promise<number> {
  return (await query).length;
}

describe("clean-up", () => {
  test("cancels unpaid public orders past their professional's hours, once, and restocks", async () => {
    const impatient = await createProfessional({ unpaid_order_hours: 24 });
    const patient = await createProfessional({ unpaid_order_hours: null });
    const place = async (owner: Professional, source: string, hoursAgo: number) => {
      const product = await createProduct(owner, { stock: 5 });
      const client = await createClientRow(owner);
      const items = [{ product_id: product.id, quantity: 2 }];
      const [order] = await sql`
        insert into public.orders (professional_id, client_id, items, source, created_at)
        values (${owner.id}, ${client.id}, ${sql.json(items)}, ${source},
          now() - make_interval(hours => ${hoursAgo}))
        returning id`;
      return { order: order?.id as string, product: product.id };
    };
    const late = await place(impatient, "public", 25);
    const others = [
      await place(impatient, "public", 23),
      await place(impatient, "owner", 2500),
      await place(patient, "public", 2500),
    ];

    await cleanup();
    await cleanup();

    const status = async (id: string) =>
      (await sql`select status from public.orders where id = ${id}`)[0]?.status;
    const stock = async (id: string) =>
      (await sql`select stock from public.products where id = ${id}`)[0]?.stock;
    expect([await status(late.order), await stock(late.product)]).toEqual(["cancelled", 5]);
    for (const other of others) {
      expect([await status(other.order), await stock(other.product)]).toEqual(["pending", 3]);
    }
    for (const owner of [impatient, patient]) {
      expect((await owner.api.rpc("audit")).data).toEqual([]);
    }
  });

  test("forgets idempotency keys after seven days", async () => {
    const professional = await createProfessional();
    const insert = (age: string) => sql`
      insert into private.idempotency_keys
        (professional_id, function, key, request_digest, result_id, created_at)
      values (${professional.id}, 'create_booking', ${age}, '', ${randomUUID()},
        now() - ${age}::interval)`;
    await insert("6 days 23 hours");
    await insert("7 days 1 hour");
    await cleanup();
    const keys = await sql`
      select key from private.idempotency_keys where professional_id = ${professional.id}`;
    expect(keys.map(({ key }) => key)).toEqual(["6 days 23 hours"]);
  });

  test("forgets portal codes, requests and sessions a day after their time", async () => {
    const professional = await createProfessional();
    const [old, recent] = [
      await createClientRow(professional),
      await createClientRow(professional),
    ];
    const service = await createService(professional);
    const bookings: string[] = [];
    for (const [client, age, starts_at] of [
      [old, "25 hours", "2100-01-01T09:00:00Z"],
      [recent, "23 hours", "2100-01-02T09:00:00Z"],
    ] as const) {
      const { id } = await createBooking(professional, {
        client_id: client.id,
        service_id: service.id,
        starts_at,
      });
      bookings.push(id);
      await sql`
        insert into private.booking_sessions (professional_id, booking_id, link_epoch, expires_at)
        values (${professional.id}, ${id}, 1, now() - ${age}::interval)`;
      await sql`
        insert into private.portal_sessions (professional_id, client_id, link_epoch, expires_at)
        values (${professional.id}, ${client.id}, 1, now() - ${age}::interval)`;
      await sql`
        insert into private.portal_codes (professional_id, client_id, link_epoch, expires_at)
        values (${professional.id}, ${client.id}, 1, now() - ${age}::interval)`;
      await sql`
        insert into private.portal_code_requests (address_digest, network, created_at)
        values (${Buffer.from(professional.id + age)}, '203.0.113.1', now() - ${age}::interval)`;
    }
    await cleanup();
    const ids = { old: old.id, recent: recent.id };
    for (const table of ["portal_sessions", "portal_codes"]) {
      const left = await sql`
        select client_id from private.${sql(table)} where professional_id = ${professional.id}`;
      expect(left.map(({ client_id }) => client_id)).toEqual([ids.recent]);
    }
    const links = await sql`
      select booking_id from private.booking_sessions where professional_id = ${professional.id}`;
    expect(links.map(({ booking_id }) => booking_id)).toEqual([bookings[1]]);
    expect(
      await count(sql`
        select from private.portal_code_requests
        where address_digest in ${sql([
          Buffer.from(`${professional.id}25 hours`),
          Buffer.from(`${professional.id}23 hours`),
        ])}`),
    ).toBe(1);
  });

  test("forgets the addresses of callers whose budget is full again", async () => {
    await sql`
      insert into private.request_counters (key, full_at)
      values ('ip 203.0.113.7 1000', now() - interval '1 s'), ('ip 203.0.113.8 1000', now() + interval '1 h')`;
    await cleanup();
    const keys = await sql`
      delete from private.request_counters where key like 'ip 203.0.113.%' returning key`;
    expect(keys.map(({ key }) => key)).toEqual(["ip 203.0.113.8 1000"]);
  });
});

describe("time zones", () => {
  const zones = async (tx: TransactionSql) => {
    const rows = await tx`select name from private.time_zones order by name`;
    return rows.map(({ name }) => name);
  };

  test("learns the server's zones again, and none whose name is an abbreviation first", async () => {
    const { before, after } = await rolledBack(async (tx) => {
      const before = await zones(tx);
      await tx`
        delete from private.time_zones
        where not exists (select from public.profiles where time_zone = name)`;
      await tx`select private.learn_time_zones()`;
      return { before, after: await zones(tx) };
    });
    expect(after).toEqual(before);
    expect(after).not.toContain("CET");
  });
});

describe("health", () => {
  const health = async () => {
    const { data, error } = await server().rpc("health");
    expect(error).toBeNull();
    return data as Record<string, string>;
  };

  test("is ok in every entry on a sound stack", async () => {
    // How long mails, payments and calendars have waited here is their dispatchers': mail-queue.test.ts,
    // payment-queue.test.ts and busy-due.test.ts have these entries.
    const { request_counter, time_zones, mail, payments, calendar, ...others } = await health();
    expect(others).toEqual({
      pre_request: "ok",
      deliveries: "ok",
      dispatcher: "ok",
      accounts: "ok",
      jobs: "ok",
      secrets: "ok",
      triggers: "ok",
      roles: "ok",
      links: "ok",
      grants: "ok",
    });
    const texts = [request_counter, time_zones, mail, payments, calendar];
    expect(texts).toEqual(Array(5).fill(expect.any(String)));
  });

  describe("of the server's zone data", () => {
    const KNOWN = {
      "America/Vancouver": "05:00",
      "America/Edmonton": "06:00",
      "Africa/Casablanca": "12:00",
      "America/Inuvik": "06:00",
      "America/Winnipeg": "07:00",
      "America/Havana": "08:00",
    };

    test("names every zone whose clocks are not what they were in November 2026", async () => {
      const rows = await sql<{ zone: string; clock: string }[]>`
        select zone, to_char(timestamptz '2026-11-15 12:00Z' at time zone zone, 'HH24:MI') as clock
        from unnest(${Object.keys(KNOWN)}::text[]) as zone`;
      const stale = rows
        .filter(({ zone, clock }) => clock !== KNOWN[zone as keyof typeof KNOWN])
        .map(({ zone }) => zone);
      const { time_zones = "" } = await health();
      const named = Object.keys(KNOWN).filter((zone) => time_zones.includes(zone));
      expect(named.sort()).toEqual(stale.sort());
      expect(time_zones === "ok").toBe(stale.length === 0);
    });

    // Whatever data this server has: what it says today is taken for what was known.
    test("is ok where nothing has changed since, and else says which zone", async () => {
      const { same, other } = await rolledBack(async (tx) => {
        const know = async (clock: string) => {
          await tx.unsafe(`
            create or replace function private.known_zone_changes()
            returns table (zone text, clock timestamp) language sql as $$
              select z, ${clock}
              from unnest('{Africa/Casablanca, Europe/Rome}'::text[]) as z
            $$`);
          const [row] = await tx`select private.health() ->> 'time_zones' as status`;
          return row?.status as string;
        };
        const now = "timestamptz '2026-11-15 12:00Z' at time zone z";
        return {
          same: await know(now),
          other: await know(`${now} + case z when 'Europe/Rome' then interval '1 h' else '0' end`),
        };
      });
      expect(same).toBe("ok");
      expect(other).toContain("Europe/Rome");
      expect(other).not.toContain("Africa/Casablanca");
    });
  });

  test("is for our servers only", async () => {
    const professional = await createProfessional();
    expect((await anonymous().rpc("health")).status).toBe(401);
    expect((await professional.api.rpc("health")).error?.code).toBe("42501");
  });

  test("tells when the check before requests is gone", async () => {
    await sql`alter role authenticator reset pgrst.db_pre_request`;
    try {
      expect((await health()).pre_request).not.toBe("ok");
    } finally {
      await sql`alter role authenticator set pgrst.db_pre_request = 'private.check_request'`;
      await sql`notify pgrst, 'reload config'`;
    }
    expect((await health()).pre_request).toBe("ok");
  });

  describe("of the request counter", () => {
    let putBack: () => Promise<void>;
    beforeEach(async () => {
      putBack = await changeSettings(sql, { request_counter: null });
    });
    afterEach(() => putBack());

    test("tells when it is not configured", async () => {
      expect((await health()).request_counter).not.toBe("ok");
    });
  });

  describe("of the links in mails, while the functions have no portal address", () => {
    let putBack: () => Promise<void>;
    beforeEach(async () => {
      putBack = await changeSettings(sql, { portal_url: null, portal_reported_at: null });
    });
    afterEach(async () => {
      await sql`update public.profiles set verify_public_email = false where verify_public_email`;
      await putBack();
    });
    const report = async (portal_url: string | null) => {
      const call = server().rpc("report_portal_address", { portal_url: portal_url as string });
      expect((await call).error).toBeNull();
    };
    const verify = (professional: Professional) =>
      professional.api
        .from("profiles")
        .update({ verify_public_email: true })
        .eq("id", professional.id);

    test("nobody switches verification on: 422 links_not_configured", async () => {
      const professional = await createProfessional();
      const refused = await verify(professional);
      expect([refused.status, refused.error?.code]).toEqual([422, "links_not_configured"]);
      const inSql = sql`update public.profiles set verify_public_email = true
        where id = ${professional.id}`;
      expect(await raised(inSql)).toMatchObject({ status: 422, code: "links_not_configured" });
      const anew = rolledBack(async (tx) => {
        await tx`delete from public.profiles where id = ${professional.id}`;
        await tx`
          insert into public.profiles (id, username, verify_public_email)
          values (${professional.id}, ${professional.id}, true)`;
      });
      expect(await raised(anew)).toMatchObject({ status: 422, code: "links_not_configured" });

      await report("https://app.example");
      expect((await verify(professional)).error).toBeNull();
    });

    test("tells when it is gone while somebody needs it", async () => {
      await report("https://app.example");
      expect((await verify(await createProfessional())).error).toBeNull();
      expect((await health()).links).toBe("ok");
      await report(null);
      expect((await health()).links).not.toBe("ok");
    });

    test("who verifies already is not asked again", async () => {
      const professional = await createProfessional();
      await report("https://app.example");
      expect((await verify(professional)).error).toBeNull();
      await report(null);
      expect((await verify(professional)).error).toBeNull();
    });

    test("the address that is there already is written once an hour", async () => {
      const version = async () => {
        const [row] =
          await sql`select xmin::text as xmin, portal_reported_at from private.settings`;
        return row;
      };
      await report("https://app.example");
      const first = await version();
      await report("https://app.example");
      expect(await version()).toEqual(first);
      await sql`
        update private.settings set portal_reported_at = portal_reported_at - interval '61 minutes'`;
      await report("https://app.example");
      expect((await version())?.portal_reported_at.getTime()).toBeGreaterThan(
        first?.portal_reported_at.getTime(),
      );
    });
  });

  describe("tells what a restore may lose or open", () => {
    /** What the entries that are not ok say once `damage` was done. Nothing of it stays. */
    const faultsAfter = (...damage: string[]) =>
      rolledBack(async (tx) => {
        for (const statement of damage) await tx.unsafe(statement);
        const [row] = await tx<{ health: Record<string, string> }[]>`
          select private.health() as health`;
        const faults = Object.entries(row?.health ?? {}).filter(
          // The zone data are the server's, whatever is restored, and queues wait for a dispatcher.
          ([entry, said]) =>
            said !== "ok" && !["request_counter", "time_zones", "mail", "payments"].includes(entry),
        );
        return Object.fromEntries(faults);
      });

    // With their functions: to drop them alone takes the owner of the users.
    test.each([
      ["profiles_on_sign_up", "handle_new_user"],
      ["profiles_lock_on_account_deletion", "lock_deleted_user"],
      ["profiles_end_confirmation_on_address_change", "end_owner_confirmation"],
    ])("trigger %s on the users", async (trigger, of) => {
      expect(await faultsAfter(`drop function private.${of}() cascade`)).toMatchObject({
        triggers: expect.stringContaining(`${trigger} on auth.users`),
      });
    });

    test("a trigger that is switched off", async () => {
      expect(await faultsAfter("alter table public.orders disable trigger orders_1_fill")).toEqual({
        triggers: expect.stringContaining("orders_1_fill on public.orders"),
      });
    });

    test.each([
      ["portal_client", "authenticator"],
      ["portal_client", "postgres"],
      ["portal_booking", "authenticator"],
      ["portal_booking", "postgres"],
      ["rules", "postgres"],
    ])("role %s for %s", async (role, member) => {
      expect(await faultsAfter(`revoke ${role} from ${member}`)).toEqual({
        roles: expect.stringContaining(`${role} to ${member}`),
      });
    });

    test("rights of the rules that postgres does not inherit", async () => {
      expect(await faultsAfter("grant rules to postgres with inherit false")).toEqual({
        roles: expect.stringContaining("rules to postgres"),
      });
    });

    test.each([
      [
        "grant update on public.profiles to authenticated",
        "update on public.profiles to authenticated",
      ],
      [
        "grant update (tier) on public.profiles to authenticated",
        "update on public.profiles (tier) to authenticated",
      ],
      ["grant select on public.clients to anon", "select on public.clients to anon"],
      ["grant select on public.products to public", "select on public.products to public"],
      [
        "grant truncate on public.orders to service_role",
        "truncate on public.orders to service_role",
      ],
      [
        "grant select on private.settings to service_role",
        "select on private.settings to service_role",
      ],
      [
        "grant usage on sequence private.stock_ledger_id_seq to anon",
        "usage on private.stock_ledger_id_seq to anon",
      ],
      ["grant execute on function public.health() to anon", "execute on public.health() to anon"],
      ["create table public.extra ()", undefined],
      [
        "create function private.extra() returns integer language sql as 'select 1'",
        "execute on private.extra() to rules",
      ],
      [
        "grant create on schema private to authenticated",
        "create on schema private to authenticated",
      ],
    ])("%s", async (damage, privilege) => {
      expect(await faultsAfter(damage)).toEqual(
        privilege ? { grants: expect.stringContaining(privilege) } : {},
      );
    });

    test.each([
      [
        "revoke delete on public.services from authenticated",
        "delete on public.services to authenticated",
      ],
      [
        "revoke update (name) on public.clients from portal_client",
        "update on public.clients (name) to portal_client",
      ],
      [
        "revoke select (notes) on public.bookings from portal_booking",
        "select on public.bookings (notes) to portal_booking",
      ],
      [
        "revoke execute on function public.booking_page(text) from anon",
        "execute on public.booking_page(text) to anon",
      ],
      ["revoke usage on schema private from anon", "usage on schema private to anon"],
      ["drop function public.audit()", "execute on public.audit() to authenticated"],
    ])("%s", async (damage, privilege) => {
      expect(await faultsAfter(damage)).toEqual({ grants: expect.stringContaining(privilege) });
    });

    test("what the platform grants by default, in a sentence of bearable length", async () => {
      const faults = await faultsAfter(
        "grant all on all tables in schema public to anon, authenticated, service_role",
        "revoke usage on schema public from portal_client",
      );
      expect(faults).toEqual({
        grants: expect.stringContaining("usage on schema public to portal_client"),
      });
      expect(faults.grants?.length).toBeLessThan(300);
    });

    // Stand-ins for the extensions, which the local stack does not have.
    const scheduler = [
      "create schema cron",
      "create table cron.job (jobname text, active boolean)",
    ];
    const vault = ["create schema vault", "create table vault.decrypted_secrets (name text)"];

    test("jobs that are not scheduled, or switched off", async () => {
      const scheduled = (condition: string) =>
        `insert into cron.job select name, ${condition} from private.jobs()`;
      expect(await faultsAfter(...scheduler, scheduled("name <> 'webhook-dispatch'"))).toEqual({
        jobs: expect.stringMatching(/^[^,]*webhook-dispatch$/),
      });
      expect(await faultsAfter(...scheduler, `${scheduled("true")} limit 3`)).toEqual({
        jobs: expect.stringContaining("job-runs"),
      });
      expect(await faultsAfter(...scheduler, scheduled("true"))).toEqual({});
    });

    test("secrets that are not in the vault", async () => {
      expect(
        await faultsAfter(...vault, "insert into vault.decrypted_secrets values ('project_url')"),
      ).toEqual({ secrets: expect.stringMatching(/^(?!.*project_url).*dispatch_secret/) });
      expect(
        await faultsAfter(
          ...vault,
          "insert into vault.decrypted_secrets values ('project_url'), ('dispatch_secret')",
        ),
      ).toEqual({});
    });
  });

  test("tells since when a delivery has been due, and that nobody sends it", async () => {
    const professional = await createProfessional();
    // In a transaction that is rolled back: the scheduler must not send it meanwhile.
    const seen = await rolledBack(async (tx) => {
      await tx`
        insert into private.webhook_endpoints (professional_id, url, events, secret)
        values (${professional.id}, 'https://example.com/hook', '{*}', 'whsec_dGVzdA==')`;
      await tx`
        insert into public.services (professional_id, name, price, duration)
        values (${professional.id}, 'Cut', 30, 60)`;
      const [before] = await tx`select private.health() as health`;
      await tx`
        update private.webhook_deliveries set next_attempt_at = now() - interval '6 minutes'
        where professional_id = ${professional.id}`;
      await tx`delete from private.dispatches where queue = 'webhooks'`;
      const [after] = await tx`select private.health() as health`;
      // Four slow tries of its own are what it waits for.
      await tx`
        insert into private.webhook_leases (id, professional_id, endpoint_id, ends_at)
        select gen_random_uuid(), professional_id, id, now() + interval '1 minute'
        from private.webhook_endpoints, generate_series(1, 4)
        where professional_id = ${professional.id}`;
      const [waiting] = await tx`select private.health() as health`;
      return { before: before?.health, after: after?.health, waiting: waiting?.health };
    });
    expect(seen.before).toMatchObject({ deliveries: "ok", dispatcher: "ok" });
    expect(seen.after.deliveries).not.toBe("ok");
    expect(seen.after.dispatcher).not.toBe("ok");
    expect(seen.waiting).toMatchObject({ deliveries: "ok", dispatcher: "ok" });
  });
});

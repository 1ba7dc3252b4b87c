/** What the dispatcher of busy calendars asks of the database, in the server's role; undone afterwards. */
import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, it, test } from "vitest";
import { raised, rolledBack, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";

let ana: Professional;
let ivo: Professional;

beforeAll(async () => {
  [ana, ivo] = await Promise.all([
    createProfessional({ time_zone: "Europe/Rome", contact_email: "ana@studio.example" }),
    createProfessional(),
  ]);
});

interface Claim {
  calendar_id: string;
  claim_token: string;
  etag: string | null;
  last_modified: string | null;
  [fact: string]: unknown;
}

/** A calendar that is due before all others on the stack. */
async function due(
  tx: TransactionSql,
  who: Pick<Professional, "id"> = ana,
  values: Record<string, unknown> = {},
): Promise<string> {
  const row = {
    professional_id: who.id,
    sealed_address: "sealed",
    host: "calendar.example",
    due_at: "2000-01-01",
    ...values,
  };
  const [calendar] = await tx<{ id: string }[]>`
    insert into private.busy_calendars ${tx(row as never)} returning id`;
  return calendar?.id as string;
}

async function asServer<T>(tx: TransactionSql, work: () => Promise<T>): Promise<T> {
  await tx`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
  await tx`set local role service_role`;
  const result = await work();
  await tx`reset role`;
  return result;
}

const claim = (tx: TransactionSql): Promise<Claim | null> =>
  asServer(tx, async () => {
    const [row] = await tx<{ claim: Claim | null }[]>`select public.claim_busy_sync() as claim`;
    return row?.claim ?? null;
  });

/** Only what is due before everything that other tests have. */
async function claimOurs(tx: TransactionSql): Promise<Claim> {
  const found = await claim(tx);
  if (!found) throw new Error("nothing was due");
  return found;
}

async function finish(
  tx: TransactionSql,
  { calendar_id, claim_token }: Pick<Claim, "calendar_id" | "claim_token">,
  values: Record<string, unknown>,
): Promise<boolean> {
  const { ranges = null, ...rest } = values;
  return asServer(tx, async () => {
    const [row] = await tx<{ done: boolean }[]>`
      select public.finish_busy_sync(
        calendar_id => ${calendar_id},
        claim_token => ${claim_token},
        ranges => ${ranges === null ? null : tx.json(ranges as never)},
        result => f.result,
        time_zone => f.time_zone,
        etag => f.etag,
        last_modified => f.last_modified,
        sealed_address => f.sealed_address,
        error => f.error,
        error_detail => f.error_detail
      ) as done
      from jsonb_to_record(${tx.json(rest as never)}) as f (
        result text, time_zone text, etag text, last_modified text, sealed_address text,
        error text, error_detail text
      )`;
    return row?.done as boolean;
  });
}

const range = (start: string, end: string) => ({ start, end });
const FIRST = range("2027-01-01T09:00:00.000Z", "2027-01-01T10:00:00.000Z");
const SECOND = range("2027-01-12T09:00:00.000Z", "2027-01-12T10:00:00.000Z");
const read = (...ranges: object[]) => ({
  result: "read",
  ranges,
  time_zone: "Europe/Rome",
  etag: '"v1"',
  last_modified: "Sat, 28 Nov 2026 09:00:00 GMT",
});
const FAILED = { result: "failed", error: "http_error", error_detail: "500" };

async function stateOf(tx: TransactionSql, id: string) {
  const [row] = await tx`
    select
      status, error, error_detail, sealed_address, etag, last_modified, time_zone, claim_token,
      last_synced_at = now() as synced_now,
      round(extract(epoch from due_at - now()) / 60)::integer as due_in_minutes,
      round(extract(epoch from now() - failing_since) / 3600)::integer as failing_hours
    from private.busy_calendars where id = ${id}`;
  return row;
}

/** Each week's first range, and where its row is, which a row that was written again has left. */
const timesOf = async (tx: TransactionSql, id: string) =>
  tx<{ during: string; row: string }[]>`
    select to_char(lower(during) at time zone 'UTC', 'MM-DD HH24:MI') as during, ctid::text as row
    from private.busy_times where source_id = ${id} order by 1`;

describe("a claim", () => {
  it("says all that a reading needs, and no more", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx, ana, { name: "Private" });
      const claimed = await claimOurs(tx);
      const { from, to } = claimed as unknown as { from: string; to: string };
      expect(claimed).toEqual({
        calendar_id: id,
        claim_token: expect.any(String),
        professional_id: ana.id,
        sealed_address: "sealed",
        etag: null,
        last_modified: null,
        from: expect.any(String),
        to: expect.any(String),
        time_zone: "Europe/Rome",
        own_addresses: [ana.email, "ana@studio.example"],
      });
      const days = (instant: string) => (Date.parse(instant) - Date.now()) / 86_400_000;
      expect(days(from)).toBeCloseTo(-1, 1);
      expect(days(to)).toBeCloseTo(400, 1);
      expect(await stateOf(tx, id)).toMatchObject({ due_in_minutes: 1, status: "pending" });
    });
  });

  it("takes the one that has been due longest, and of each professional one at a time", async () => {
    await rolledBack(async (tx) => {
      const second = await due(tx, ana, { due_at: "2000-01-02" });
      const first = await due(tx, ana, { due_at: "2000-01-01" });
      const other = await due(tx, ivo, { due_at: "2000-01-03" });
      const claimed = await claimOurs(tx);
      expect(claimed.calendar_id).toBe(first);
      expect((await claimOurs(tx)).calendar_id).toBe(other);
      expect((await claim(tx))?.calendar_id).not.toBe(second);
      await finish(tx, claimed, read());
      expect((await claimOurs(tx)).calendar_id).toBe(second);
    });
  });

  it("asks for the version that is known, but as a whole once a day and in another zone", async () => {
    const known = {
      etag: '"v1"',
      last_modified: "yesterday",
      time_zone: "Europe/Rome",
      status: "ok",
    };
    const asked = (values: object, hours = 23) =>
      rolledBack(async (tx) => {
        const id = await due(tx, ana, { ...known, ...values });
        await tx`
          update private.busy_calendars set read_at = now() - make_interval(hours => ${hours})
          where id = ${id}`;
        const { etag, last_modified } = await claimOurs(tx);
        return { etag, last_modified };
      });
    expect(await asked({})).toEqual({ etag: '"v1"', last_modified: "yesterday" });
    const whole = { etag: null, last_modified: null };
    expect(await asked({}, 25)).toEqual(whole);
    expect(await asked({ time_zone: "Europe/London" })).toEqual(whole);
  });

  it("that nobody finished counts as a failure, and is not tried again at once", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx);
      const lost = await claimOurs(tx);
      await tx`update private.busy_calendars set due_at = '2000-01-01' where id = ${id}`;
      expect((await claim(tx))?.calendar_id).not.toBe(id);
      expect(await stateOf(tx, id)).toMatchObject({
        status: "failing",
        error: "interrupted",
        claim_token: null,
        due_in_minutes: 10,
      });
      expect(await finish(tx, lost, read(FIRST))).toBe(false);
      expect(await timesOf(tx, id)).toEqual([]);
    });
  });

  it("is lost to a sync that the professional asks for meanwhile, which reads the whole", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx, ana, {
        etag: '"v1"',
        time_zone: "Europe/Rome",
        read_at: new Date(),
      });
      const lost = await claimOurs(tx);
      await tx`select set_config('request.jwt.claims', ${JSON.stringify(ana.claims)}, true)`;
      await tx`set local role authenticated`;
      await tx`select public.sync_busy_calendar(${id})`;
      await tx`reset role`;
      await tx`update private.busy_calendars set due_at = '2000-01-01' where id = ${id}`;
      expect(await finish(tx, lost, read(FIRST))).toBe(false);
      expect(await claimOurs(tx)).toMatchObject({ calendar_id: id, etag: null });
    });
  });
});

describe("a reading", () => {
  it("replaces what the calendar blocks, and writes only what differs", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx);
      const other = await due(tx, ana, { due_at: "2100-01-01" });
      await tx`select private.replace_busy_times(${ana.id}, ${other}, ${tx.json([FIRST])})`;
      expect(await finish(tx, await claimOurs(tx), read(FIRST, SECOND))).toBe(true);
      const before = await timesOf(tx, id);
      expect(before.map(({ during }) => during)).toEqual(["01-01 09:00", "01-12 09:00"]);
      expect(await stateOf(tx, id)).toEqual({
        status: "ok",
        error: null,
        error_detail: null,
        sealed_address: "sealed",
        etag: '"v1"',
        last_modified: "Sat, 28 Nov 2026 09:00:00 GMT",
        time_zone: "Europe/Rome",
        claim_token: null,
        synced_now: true,
        due_in_minutes: 10,
        failing_hours: null,
      });

      await tx`update private.busy_calendars set due_at = '2000-01-01' where id = ${id}`;
      const third = range("2027-01-23T09:00:00.000Z", "2027-01-23T10:00:00.000Z");
      await finish(tx, await claimOurs(tx), read(SECOND, third));
      const after = await timesOf(tx, id);
      expect(after.map(({ during }) => during)).toEqual(["01-12 09:00", "01-23 09:00"]);
      expect(after[0]).toEqual(before[1]);
      expect(await timesOf(tx, other)).toHaveLength(1);
    });
  });

  it("that found the same version leaves all as it is, and is a success", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx);
      await finish(tx, await claimOurs(tx), read(FIRST));
      await tx`
        update private.busy_calendars
        set due_at = '2000-01-01', status = 'failing', error = 'http_error', failing_since = now()
        where id = ${id}`;
      expect(await finish(tx, await claimOurs(tx), { result: "unchanged" })).toBe(true);
      expect(await stateOf(tx, id)).toMatchObject({
        status: "ok",
        error: null,
        etag: '"v1"',
        time_zone: "Europe/Rome",
        due_in_minutes: 10,
      });
      expect(await timesOf(tx, id)).toHaveLength(1);
    });
  });

  it("that fails keeps what was busy and the version, and is tried less often with time", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx);
      await finish(tx, await claimOurs(tx), read(FIRST));
      for (const [hours, minutes] of [
        [0, 10],
        [2, 30],
        [30, 60],
      ]) {
        await tx`
          update private.busy_calendars
          set
            due_at = '2000-01-01',
            failing_since = case
              when status = 'failing' then now() - make_interval(hours => ${hours as number})
            end
          where id = ${id}`;
        await finish(tx, await claimOurs(tx), FAILED);
        expect(await stateOf(tx, id)).toMatchObject({
          status: "failing",
          error: "http_error",
          error_detail: "500",
          etag: '"v1"',
          due_in_minutes: minutes,
          failing_hours: hours,
          claim_token: null,
        });
      }
      expect(await timesOf(tx, id)).toHaveLength(1);
    });
  });

  it("keeps the address that was sealed anew, also when it fails", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx);
      await finish(tx, await claimOurs(tx), { ...FAILED, sealed_address: "anew" });
      expect(await stateOf(tx, id)).toMatchObject({ sealed_address: "anew" });
    });
  });

  it("is finished once, and with its own token", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx);
      const claimed = await claimOurs(tx);
      const wrong = { ...claimed, claim_token: crypto.randomUUID() };
      expect(await finish(tx, wrong, read(FIRST))).toBe(false);
      expect(await finish(tx, claimed, read(FIRST))).toBe(true);
      expect(await finish(tx, claimed, read(SECOND))).toBe(false);
      expect((await timesOf(tx, id)).map(({ during }) => during)).toEqual(["01-01 09:00"]);
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ["result", { result: "done" }],
    ["ranges", { ...read(), ranges: null }],
    ["ranges", { ...read(), ranges: {} }],
    ["ranges", { ...read(), ranges: Array(20_001).fill(FIRST) }],
    ["time_zone", { ...read(), time_zone: null }],
    ["etag", { ...read(), etag: "x".repeat(501) }],
    ["last_modified", { ...read(), last_modified: "x".repeat(101) }],
    ["sealed_address", { ...read(), sealed_address: "" }],
    ["error", { result: "failed" }],
    ["error", { result: "failed", error: "No such host" }],
    ["error_detail", { ...FAILED, error_detail: "x".repeat(201) }],
  ])("with a wrong %s is refused", async (field, values) => {
    const ids = { calendar_id: crypto.randomUUID(), claim_token: crypto.randomUUID() };
    const call = rolledBack((tx) => finish(tx, ids, values));
    const { details, ...refusal } = await raised(call);
    expect(refusal).toEqual({ status: 422, code: "validation_failed" });
    expect(JSON.parse(details ?? "")).toEqual({ fields: [field] });
  });

  it("needs no write lock of the professional", async () => {
    await rolledBack(async (tx) => {
      await due(tx);
      await finish(tx, await claimOurs(tx), read(FIRST));
      const [locks] = await tx`
        select count(*)::integer as held from pg_locks
        where pid = pg_backend_pid() and locktype = 'advisory' and objid = 7301`;
      const [setting] = await tx`
        select coalesce(current_setting('private.write_lock', true), '') as write_lock`;
      expect([locks?.held, setting?.write_lock]).toEqual([0, ""]);
    });
  });
});

describe("a professional whose calendar fails", () => {
  const mails = async (tx: TransactionSql) =>
    (
      await tx`
        select from private.mails
        where professional_id = ${ana.id} and kind = 'calendar_failing'`
    ).length;

  /** Fails once more, so many hours after it began. */
  async function failAfter(tx: TransactionSql, id: string, hours: number) {
    await tx`
      update private.busy_calendars
      set
        due_at = '2000-01-01',
        status = 'failing',
        error = 'http_error',
        failing_since = now() - make_interval(hours => ${hours})
      where id = ${id}`;
    await finish(tx, await claimOurs(tx), FAILED);
  }

  it("is told after a day, and once a day at most, whichever calendar it is", async () => {
    await rolledBack(async (tx) => {
      const first = await due(tx);
      await finish(tx, await claimOurs(tx), FAILED);
      const second = await due(tx, ana, { due_at: "2100-01-01" });
      await failAfter(tx, first, 23);
      expect(await mails(tx)).toBe(0);
      await failAfter(tx, first, 25);
      expect(await mails(tx)).toBe(1);
      await failAfter(tx, first, 26);
      await failAfter(tx, second, 26);
      expect(await mails(tx)).toBe(1);
      await tx`
        update private.busy_calendars set told_at = told_at - interval '25 hours'
        where professional_id = ${ana.id}`;
      await failAfter(tx, second, 50);
      expect(await mails(tx)).toBe(2);
      await failAfter(tx, first, 50);
      expect(await mails(tx)).toBe(2);
    });
  });

  it("is told of the host alone, of what still fails when the mail goes out", async () => {
    await rolledBack(async (tx) => {
      const id = await due(tx, ana, { name: "Private" });
      await due(tx, ana, { due_at: "2100-01-01", host: "other.example" });
      await failAfter(tx, id, 25);
      const [mail] = await tx<{ facts: Record<string, Record<string, unknown>>; true: boolean }[]>`
        select
          private.mail_facts(m, private.mail_subject(m), 'ana@example.com') as facts,
          private.mail_is_true(m, private.mail_subject(m)) as "true"
        from private.mails m where professional_id = ${ana.id} and kind = 'calendar_failing'`;
      expect(mail?.facts.professional?.failing_calendars).toEqual([
        { host: "calendar.example", failing_since: expect.stringMatching(/^20.*Z$/) },
      ]);
      expect(JSON.stringify(mail?.facts)).not.toMatch(/sealed|Private|other\.example/);
      expect(mail?.true).toBe(true);

      await tx`update private.busy_calendars set due_at = '2000-01-01' where id = ${id}`;
      await finish(tx, await claimOurs(tx), read());
      const [after] = await tx`
        select private.mail_is_true(m, private.mail_subject(m)) as "true"
        from private.mails m where professional_id = ${ana.id} and kind = 'calendar_failing'`;
      expect(after?.true).toBe(false);
    });
  });
});

describe("UIDs", () => {
  const own = (who: Professional, uids: string[]) =>
    rolledBack((tx) =>
      asServer(tx, async () => {
        const [row] = await tx`select public.own_calendar_uids(${who.id}, ${uids}) as uids`;
        return row?.uids as string[];
      }),
    );

  test("of the professional's own bookings are told from all others, cancelled ones included", async () => {
    const of = async (who: Professional) => {
      const [client, service] = await Promise.all([createClientRow(who), createService(who)]);
      const ids = { client_id: client.id, service_id: service.id };
      return createBooking(who, { ...ids, starts_at: "2027-03-01T10:00:00Z" });
    };
    const [mine, theirs] = await Promise.all([of(ana), of(ivo)]);
    await ana.api.rpc("cancel_booking", { booking_id: mine.id });
    const upper = mine.id.toUpperCase();
    const given = [mine.id, upper, theirs.id, crypto.randomUUID(), "event@example.com", ""];
    expect((await own(ana, given)).sort()).toEqual([mine.id, upper].sort());
    expect(await own(ivo, given)).toEqual([theirs.id]);
    expect(await own(ivo, [])).toEqual([]);
    // As Google names entries that we have put there.
    const [atGoogle, theirsThere] = [mine, theirs].map(
      ({ id }) => `${id.replaceAll("-", "")}g7@google.com`,
    ) as [string, string];
    expect(await own(ana, [atGoogle, theirsThere, `x${atGoogle}`])).toEqual([atGoogle]);
  });

  test("are at most 20 000", async () => {
    const ids = Array(20_001).fill("x");
    expect(await raised(own(ana, ids))).toMatchObject({ status: 422, code: "validation_failed" });
  });
});

test("nobody but the server may claim, finish or store", async () => {
  const rows = await sql<{ name: string; who: string }[]>`
    select p.proname as name, r.rolname as who
    from pg_proc p
    cross join pg_roles r
    where p.proname in (
        'claim_busy_sync', 'finish_busy_sync', 'own_calendar_uids', 'store_busy_calendar'
      )
      and p.pronamespace = 'public'::regnamespace
      and r.rolname in ('anon', 'authenticated', 'portal_client', 'portal_booking', 'service_role')
      and has_function_privilege(r.oid, p.oid, 'execute')`;
  expect(rows).toHaveLength(4);
  expect(new Set(rows.map(({ who }) => who))).toEqual(new Set(["service_role"]));
});

import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { dateAfter, dateIn } from "../support/calendar.ts";
import { asCaller, sql, tryAsCaller } from "../support/database.ts";
import { createClientRow, type Professional } from "../support/factories.ts";
import { openProfessional, openService, type Slots } from "../support/scheduling.ts";

const from = dateIn(100);
const to = dateAfter(from, 30);
/** Bookings of the professional that block something between the dates. */
const IN_RANGE = 31 * 4;

let professional: Professional;
let service: { id: string };

/** Four hours a day from 08:00 UTC on, on each of these days. */
async function fill(who: Professional, of: { id: string }, first: string, days: number) {
  const client = await createClientRow(who);
  await sql`
    insert into public.bookings (professional_id, client_id, service_id, starts_at, ends_at)
    select
      ${who.id}, ${client.id}, ${of.id}, t.starts_at, t.starts_at + interval '1 hour'
    from (
      select (${first}::date + d + time '08:00' + make_interval(hours => h)) at time zone 'UTC'
        as starts_at
      from generate_series(0, ${days - 1}::integer) as d, generate_series(0, 3) as h
    ) as t`;
}

beforeAll(async () => {
  professional = await openProfessional({ time_zone: "UTC" });
  service = await openService(professional);
  // The range asked for, the months around it, and the same range of others.
  await fill(professional, service, dateAfter(from, -200), 500);
  const others = await Promise.all(Array.from({ length: 8 }, () => openProfessional()));
  for (const other of others) {
    await fill(other, await openService(other), dateAfter(from, -50), 131);
  }
  // The same of calendars elsewhere: an hour a day from 06:00, before anybody works.
  for (const who of [professional, ...others]) {
    await sql`
      select private.replace_busy_times(${who.id}, ${crypto.randomUUID()}, jsonb_agg(
        jsonb_build_object('start', t.starts_at, 'end', t.starts_at + interval '1 hour')
      ))
      from (
        select (${dateAfter(from, -200)}::date + d + time '06:00') at time zone 'UTC' as starts_at
        from generate_series(0, 499) as d
      ) as t`;
  }
  await sql`analyze public.bookings, private.busy_times`;
}, 60_000);

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: Plan[];
}

const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

interface Reads {
  sequential: number;
  indexed: number;
}

/**
 * Rows that `work` reads of each table, by sequential scans and by indexes. It runs twice and the
 * second time counts, with plans made before: the planner reads a row or two at the ends of an index
 * itself, when statistics have grown old.
 */
async function readsOf(
  tx: TransactionSql,
  work: () => Promise<unknown>,
): Promise<Record<string, Reads>> {
  // Counted per backend, and passed on between transactions only.
  const counters = async () => {
    const [{ current_role: role } = {}] = await tx`select current_role`;
    await tx`reset role`;
    const rows = await tx<(Reads & { name: string })[]>`
      select
        relname as name,
        seq_tup_read::integer as sequential,
        coalesce(idx_tup_fetch, 0)::integer as indexed
      from pg_stat_xact_user_tables
      where schemaname in ('public', 'private')`;
    await tx.unsafe(`set local role ${role}`);
    return new Map(rows.map((row) => [row.name, row]));
  };
  await tx`set local plan_cache_mode = force_generic_plan`;
  await tx`savepoint planned`;
  await work();
  await tx`rollback to savepoint planned`;
  const before = await counters();
  await work();
  const after = await counters();
  return Object.fromEntries(
    [...after].map(([name, { sequential, indexed }]) => [
      name,
      {
        sequential: sequential - (before.get(name)?.sequential ?? 0),
        indexed: indexed - (before.get(name)?.indexed ?? 0),
      },
    ]),
  );
}

describe("available_slots", () => {
  it("finds busy time by the index of the exclusion constraint, and reads no other row", async () => {
    // The statement is the function's own, with values for its parameters.
    const [busy] = await sql<{ prosrc: string }[]>`
      select prosrc from pg_proc where oid = 'private.booked_time'::regproc`;
    const statement = Object.entries({
      p_professional_id: `'${professional.id}'::uuid`,
      p_from: `'${from}T00:00:00Z'::timestamptz`,
      p_to: `'${dateAfter(to, 1)}T00:00:00Z'::timestamptz`,
      p_except_booking_id: "null::uuid",
    }).reduce(
      (text, [name, value]) => text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), value),
      /return \((.*)\);/s.exec(busy?.prosrc ?? "")?.[1] ?? "",
    );

    const [row] = await sql.unsafe<{ "QUERY PLAN": { Plan: Plan }[] }[]>(
      `explain (analyze, format json) ${statement}`,
    );

    const scans = nodes(row?.["QUERY PLAN"][0]?.Plan as Plan).filter(
      (node) => node["Relation Name"] === "public.bookings" || node["Relation Name"] === "bookings",
    );
    expect(scans).toHaveLength(1);
    const [scan] = scans as [Plan];
    expect(["Index Scan", "Bitmap Heap Scan"]).toContain(scan["Node Type"]);
    expect(scan["Actual Rows"] * scan["Actual Loops"]).toBe(IN_RANGE);
    expect(scan["Rows Removed by Filter"] ?? 0).toBe(0);
    expect(scan["Rows Removed by Index Recheck"] ?? 0).toBe(0);
    expect(
      nodes(row?.["QUERY PLAN"][0]?.Plan as Plan).some(
        (node) => node["Index Name"] === "bookings_never_overlap",
      ),
    ).toBe(true);
  });

  it("as a whole reads the professional's bookings of the range and nothing of others", async () => {
    await asCaller({ role: "anon" }, async (tx) => {
      let answer: Slots | undefined;
      const reads = await readsOf(tx, async () => {
        const [row] = await tx<{ answer: Slots }[]>`
          select public.available_slots(${service.id}, ${from}, ${to}) as answer`;
        answer = row?.answer;
      });

      // 12:00 to 17:00 on each day.
      expect(answer?.days.flatMap((day) => day.slots)).toHaveLength(31 * 21);
      expect(reads.bookings).toEqual({ sequential: 0, indexed: IN_RANGE });
      // 31 days are in five weeks or six, by where they begin.
      expect(reads.busy_times?.sequential).toBe(0);
      expect([5, 6]).toContain(reads.busy_times?.indexed);
      expect(reads.clients).toEqual({ sequential: 0, indexed: 0 });
    });
  });

  it("reads two rows more when a booking is moved: as the caller's, and for its length", async () => {
    const [booking] = await sql<{ id: string }[]>`
      select id from public.bookings
      where professional_id = ${professional.id} and starts_at >= ${from} order by starts_at limit 1`;
    await asCaller(professional.claims, async (tx) => {
      const reads = await readsOf(
        tx,
        () => tx`
          select public.available_slots(${service.id}, ${from}, ${to}, ${booking?.id as string})`,
      );
      expect(reads.bookings).toEqual({ sequential: 0, indexed: IN_RANGE + 2 });
    });
  });
});

describe("create_booking", () => {
  it("reads the bookings next to its start, whatever its date and the calendar hold besides", async () => {
    const { bookings } = await tryAsCaller({ role: "anon" }, (tx) =>
      readsOf(
        tx,
        () => tx`
          select public.create_booking(
            ${service.id}, ${`${from}T12:00:00Z`}, 'Ann', ${`ann-${crypto.randomUUID()}@example.com`}
          )`,
      ),
    );
    expect(bookings?.sequential).toBe(0);
    expect(bookings?.indexed).toBeGreaterThanOrEqual(1);
    expect(bookings?.indexed).toBeLessThanOrEqual(3);
  });
});

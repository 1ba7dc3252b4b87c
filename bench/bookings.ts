/**
 * What a booking by the public costs against the insert of the same row into a table with the same
 * columns, constraints and indexes but without rules, and what waiting for one professional costs.
 */
import { asSuperuser, type Context, compareBoth } from "./context.ts";
import { clientEmail, clientId, copyTable, professionalId, serviceId } from "./data.ts";
import type { Request, Side } from "./measure.ts";
import { type Row, row } from "./table.ts";

export const CREATE_BOOKING =
  "select * from public.create_booking($1::uuid, $2, $3, $4) as pgrst_call";
const BARE = `insert into bench.bookings (professional_id, client_id, service_id, service_name, starts_at,
    ends_at, buffer_before, buffer_after, cancellation_notice, status, price, currency, source)
  values ($1, $2, $3, 'Service 1', $4::timestamptz, $4::timestamptz + interval '30 minutes', 0, 0, 0, 'confirmed', 30, 'EUR', 'public')
  returning id, professional_id, service_id, service_name, status, starts_at, ends_at, price, currency, notes, version`;

/** Starts that are free for everybody who is measured, beyond the half-full months. */
export async function freeStarts(url: string): Promise<string[]> {
  return asSuperuser(url, async (sql) => {
    const rows = await sql<{ at: string }[]>`
      select private.timestamp_text(start) as at
      from private.service_slot_rules(${serviceId(1, 1)}) rules
      cross join private.free_starts(rules, current_date + 70, current_date + 1000) f
      cross join generate_series(f.first_start, f.last_start, make_interval(mins => rules.step)) start
      where extract(minute from start) in (0, 30)`;
    return rows.map(({ at }) => at);
  });
}

/** Takes away what was booked and ordered, so that every row starts from the same calendar. */
async function clear(url: string): Promise<void> {
  await asSuperuser(
    url,
    async (sql) => {
      await sql`delete from public.bookings where source = 'public'`;
      await sql`delete from public.clients where email like 'new-%'`;
      await sql`vacuum public.bookings, public.clients`;
      const [copy] = await sql`select to_regclass('bench.bookings') is not null as exists`;
      if (!copy?.exists) return;
      await sql`delete from bench.bookings where source = 'public'`;
      await sql`vacuum bench.bookings`;
    },
    "off",
  );
}

export async function measureBookings(context: Context): Promise<Row[]> {
  const { small, middle, large } = context;
  await copyTable(middle.url, "public.bookings");
  const starts = await freeStarts(middle.url);
  const rows: Row[] = [];

  /** Books for professionals one after the other, each start and each client's turn once. */
  const sides = (only?: number) => {
    const taken = new Map<string, number>();
    const next = (kind: string, p: number) => {
      const n = taken.get(kind + p) ?? 0;
      taken.set(kind + p, n + 1);
      return n;
    };
    const rpc = (url: string, email = (n: number) => clientEmail(1 + (n % 200))): Side => ({
      url,
      request: (worker, index): Request => {
        const p = only ?? 1 + ((worker + index) % 16);
        const n = next(`rpc ${url}`, p);
        return {
          role: "anon",
          headers: { "cf-connecting-ip": `10.0.${worker}.${index % 250}` },
          method: "POST",
          statements: [[CREATE_BOOKING, serviceId(p, 1), starts[n], "Marta Rossi", email(n)]],
        };
      },
    });
    const bare = (url: string): Side => ({
      url,
      request: (worker, index) => {
        const p = only ?? 1 + ((worker + index) % 16);
        const n = next(`bare ${url}`, p);
        return {
          role: "service_role",
          method: "POST",
          statements: [
            [BARE, professionalId(p), clientId(p, 1 + (n % 200)), serviceId(p, 1), starts[n]],
          ],
        };
      },
    });
    return { rpc, bare };
  };

  const distinct = sides();
  rows.push(
    row(
      "Bookings",
      "create_booking, 16 professionals",
      "bare insert",
      "throughput",
      await compareBoth(context, distinct.rpc(middle.url), distinct.bare(middle.url)),
      [{ of: "ratio", atLeast: 0.5 }],
    ),
  );
  await clear(middle.url);
  const one = sides(1);
  rows.push(
    row(
      "Bookings",
      "create_booking, one professional",
      "bare insert",
      "throughput",
      await compareBoth(context, one.rpc(middle.url), one.bare(middle.url), {
        rounds: 9,
        requests: 20,
      }),
    ),
  );
  await clear(middle.url);
  const fresh = sides();
  rows.push(
    row(
      "Bookings",
      "create_booking, a new client each",
      "bare insert of the booking",
      "throughput",
      await compareBoth(
        context,
        fresh.rpc(middle.url, (n) => `new-${n}@example.com`),
        fresh.bare(middle.url),
        { rounds: 9 },
      ),
    ),
  );
  await clear(middle.url);
  const levels = sides();
  rows.push(
    row(
      "Bookings",
      `create_booking, ${large.bookings} bookings`,
      `${small.bookings} bookings`,
      "p50",
      await compareBoth(context, levels.rpc(large.url), levels.rpc(small.url)),
      [{ of: "ratio", atMost: 1.2 }],
    ),
  );
  for (const url of new Set([small.url, large.url])) await clear(url);
  return rows;
}

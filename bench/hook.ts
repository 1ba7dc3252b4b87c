/**
 * What the function before every request costs: session, concurrency and rate. With and without it, on a
 * read and on a write, and with ten and with a hundred thousand callers in the counter.
 */
import { asProfessional, asSuperuser, type Context, compareBoth } from "./context.ts";
import { professionalId } from "./data.ts";
import type { Request, Side } from "./measure.ts";
import { type Row, row } from "./table.ts";

/** Stands where the hook would: sending a statement is not what is measured. */
const NOTHING: [string] = ["select 1"];
const CHECK: [string] = ["select private.check_request()"];
const READ: [string] = [
  "select id, name, price from public.services order by created_at desc limit 10",
];
const KEYS = 100_000;

/** The professional's session is looked up too, as it is for every real token. */
function side(url: string, method: "GET" | "POST", sessions: string[], checked: boolean): Side {
  return {
    url,
    request: (worker, index): Request => {
      const turn = (worker + index) % 16;
      const { role, claims } = asProfessional(professionalId(turn + 1));
      const statement: [string, ...unknown[]] =
        method === "GET"
          ? READ
          : ["update public.services set description = $1 where name = 'Service 1'", `${index}`];
      return {
        role,
        claims: { ...claims, session_id: sessions[turn] },
        method,
        statements: [checked ? CHECK : NOTHING, statement],
      };
    },
  };
}

/** A session for each measured professional, and so many callers in the counter. */
async function prepare(url: string, keys: number): Promise<string[]> {
  return asSuperuser(url, async (sql) => {
    await sql`truncate private.request_counters`;
    await sql`
      insert into private.request_counters (key, full_at)
      select 'ip 10.' || n / 65536 || '.' || n / 256 % 256 || '.' || n % 256 || ' 1000', now()
      from generate_series(1, ${keys}) n`;
    await sql`vacuum analyze private.request_counters`;
    await sql`delete from auth.sessions`;
    const sessions: string[] = [];
    for (let p = 1; p <= 16; p++) {
      const [made] = await sql<{ id: string }[]>`
        insert into auth.sessions (id, user_id, aal, created_at, updated_at)
        values (gen_random_uuid(), ${professionalId(p)}, 'aal1', now(), now()) returning id`;
      sessions.push(made?.id ?? "");
    }
    return sessions;
  });
}

export async function measureHook(context: Context): Promise<Row[]> {
  const { small, large } = context;
  const few = await prepare(small.url, 10);
  const many = await prepare(large.url, KEYS);
  const rows: Row[] = [];
  for (const method of ["GET", "POST"] as const) {
    const compared = await compareBoth(
      context,
      side(large.url, method, many, true),
      side(large.url, method, many, false),
    );
    const added = compared[0].p50Difference;
    const found = row(
      "Hook before each request",
      `${method} with the hook, ${KEYS} callers: ${added.toFixed(2)} ms more`,
      "an empty statement in its place",
      "p50",
      compared,
      [{ of: "milliseconds", atMost: 0.35 }],
    );
    rows.push({ ...found, milliseconds: added });
  }
  rows.push(
    row(
      "Hook before each request",
      `GET with the hook, ${KEYS} callers`,
      "10 callers",
      "p50",
      await compareBoth(
        context,
        side(large.url, "GET", many, true),
        side(small.url, "GET", few, true),
      ),
      [{ of: "ratio", atMost: 1.2 }],
    ),
  );
  return rows;
}

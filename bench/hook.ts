/**
 * What the function before every request costs: session, places and rate. It is judged against what it
 * cost at an earlier commit, at tier pro, on a read and on a write; and with a hundred thousand callers
 * in the counter against ten.
 */
import {
  asProfessional,
  asSuperuser,
  type Context,
  compareBoth,
  takeTurnsBoth,
} from "./context.ts";
import { professionalId } from "./data.ts";
import { EARLIER_COMMIT, SKIPPED } from "./databases.ts";
import { compareTurns, overRounds, type Request, type Side, type Turns } from "./measure.ts";
import { type Row, row } from "./table.ts";

const SECTION = "Hook before each request";
/** Stands where the hook would: sending a statement is not what is measured. */
const NOTHING: [string] = ["select 1"];
export const CHECK: [string] = ["select private.check_request()"];
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

/** Tier pro and a session for each measured professional, and so many callers in the counter. */
export async function prepareCallers(url: string, keys: number): Promise<string[]> {
  return asSuperuser(
    url,
    async (sql) => {
      await sql`update public.profiles set tier = 'pro'`;
      await sql`truncate private.request_counters`;
      await sql`
        insert into private.request_counters (key, full_at)
        select 'ip 10.' || n / 65536 || '.' || n / 256 % 256 || '.' || n % 256 || ' 1000', now()
        from generate_series(1, ${keys}) n`;
      await sql`vacuum analyze private.request_counters, public.profiles`;
      await sql`delete from auth.sessions`;
      const sessions: string[] = [];
      for (let p = 1; p <= 16; p++) {
        const [made] = await sql<{ id: string }[]>`
          insert into auth.sessions (id, user_id, aal, created_at, updated_at)
          values (gen_random_uuid(), ${professionalId(p)}, 'aal1', now(), now()) returning id`;
        sessions.push(made?.id ?? "");
      }
      return sessions;
    },
    "off",
  );
}

/** What the hook adds to an empty statement in its place. */
const added = (checked: Turns, empty: Turns) =>
  overRounds(checked.p50s, empty.p50s, (ofChecked, ofEmpty) => ofChecked - ofEmpty);

/** With and without the hook, now and at the earlier commit, all in turns. */
async function measureAdded(
  context: Context,
  method: "GET" | "POST",
  sessions: string[],
  earlierSessions: string[],
): Promise<Row[]> {
  const { small, earlier } = context;
  const sides = [side(small.url, method, sessions, true), side(small.url, method, sessions, false)];
  if (earlier) {
    sides.push(
      side(earlier.url, method, earlierSessions, true),
      side(earlier.url, method, earlierSessions, false),
    );
  }
  // A difference of two times needs more of them. Twice as many would be over the tier's rate.
  const found = await takeTurnsBoth(context, sides, { requests: 120 });
  const [at1, at16] = found.map((turns) => {
    const [checked, empty, checkedBefore, emptyBefore] = turns ?? [];
    if (!checked || !empty) return undefined;
    return {
      compared: compareTurns(1, checked, empty),
      now: added(checked, empty),
      before: checkedBefore && emptyBefore ? added(checkedBefore, emptyBefore) : null,
    };
  });
  if (!at1) throw new Error("nothing was measured");
  const withHook = row(
    SECTION,
    `${method} with the hook, tier pro`,
    "an empty statement in its place",
    "p50",
    at16 ? [at1.compared, at16.compared] : [at1.compared],
  );
  const ratio = (at: typeof at1 | undefined) => (at?.before ? at.now / at.before : null);
  return [
    withHook,
    {
      ...withHook,
      name: `what it adds to a ${method}: ${at1.now.toFixed(2)} ms`,
      dividedBy:
        at1.before === null ? SKIPPED : `at ${EARLIER_COMMIT}: ${at1.before.toFixed(2)} ms`,
      at1: null,
      at16: null,
      ratio: ratio(at1),
      ratioAt16: ratio(at16),
      milliseconds: at1.now,
      goals: at1.before === null ? [] : [{ of: "ratio", atMost: 0.6 }],
    },
  ];
}

export async function measureHook(context: Context): Promise<Row[]> {
  const { small, large, earlier } = context;
  const few = await prepareCallers(small.url, 10);
  const many = await prepareCallers(large.url, KEYS);
  const then = earlier ? await prepareCallers(earlier.url, 10) : [];
  return [
    ...(await measureAdded(context, "GET", few, then)),
    ...(await measureAdded(context, "POST", few, then)),
    row(
      SECTION,
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
  ];
}

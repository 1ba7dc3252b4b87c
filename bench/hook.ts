/** What the function before every request costs (session, places, rate), and the first request of a connection. */
import { withDatabase } from "../local/postgres.ts";
import { type Databases, EARLIER_COMMIT, id, type Level, professional } from "./databases.ts";
import type { Row, Side, Statement } from "./measure.ts";
import { createBooking, FREE_STARTS } from "./writes.ts";

const CHECK: Statement = ["select private.check_request()"];
/** Stands where the hook would: sending a statement is not what is measured. */
const NOTHING: Statement = ["select 1"];

const READ: Statement = [
  "select id, name, price from public.services order by created_at desc limit 10",
];
const WRITE = "update public.services set description = $1 where name = 'Service 1'";

const MANY_CALLERS = 100_000;

/** A call of a professional; the session is looked up too, as it is for every real token. */
const side = ({ url }: Level, method: "GET" | "POST", first: Statement): Side => ({
  url,
  request: ({ p, index }) => {
    const { role, claims } = professional(p);
    const session = { ...claims, session_id: id("session", p, 1) };
    const second: Statement = method === "GET" ? READ : [WRITE, `${index}`];
    return { role, claims: session, method, statements: [first, second] };
  },
});

export async function hook({ small, large, earlier }: Databases): Promise<Row[]> {
  await withDatabase(large.url, async (sql) => {
    await sql`
      insert into private.request_counters (key, full_at)
      select 'ip 10.' || n / 65536 || '.' || n / 256 % 256 || '.' || n % 256 || ' 1000', now()
      from generate_series(1, ${MANY_CALLERS}) n`;
    await sql`vacuum analyze private.request_counters`;
  });
  const added = (level: Level, method: "GET" | "POST"): Side => ({
    ...side(level, method, CHECK),
    less: side(level, method, NOTHING),
  });
  const addedTo = (method: "GET" | "POST"): Row => ({
    name: `what the hook adds to a ${method}, tier pro`,
    measured: added(small, method),
    dividedBy: EARLIER_COMMIT,
    by: earlier && added(earlier, method),
    goals: ["≤ 0.6×"],
    // A difference of two times needs more of them. Twice as many would be over the tier's rate.
    requests: 120,
  });
  return [
    addedTo("GET"),
    addedTo("POST"),
    {
      name: `GET with the hook, ${MANY_CALLERS} callers`,
      measured: side(large, "GET", CHECK),
      dividedBy: "next to none",
      by: side(small, "GET", CHECK),
      goals: ["≤ 1.2×"],
    },
  ];
}

/**
 * Nothing is planned, no catalogue entry is known, and the counter has to be reached. The REST server
 * closes connections that idle for 30 seconds, so the visitors of a small professional mostly meet such a one.
 */
export async function cold({ small, earlier }: Databases): Promise<Row[]> {
  const read = (level: Level): Side => ({ ...side(level, "GET", CHECK), onlyFirst: 0 });
  const book = ({ url }: Level, onlyFirst: number): Side => ({
    url,
    request: ({ p, index }) => ({
      role: "anon",
      headers: { "cf-connecting-ip": `10.1.${p}.${index % 250}` },
      method: "POST",
      statements: [CHECK, createBooking(p, FREE_STARTS.length - 1)],
      rollback: true,
    }),
    onlyFirst,
  });
  const row = (name: string, side: (level: Level) => Side): Row => ({
    name: `first request: ${name}`,
    measured: side(small),
    dividedBy: EARLIER_COMMIT,
    by: earlier && side(earlier),
    goals: ["≤ 0.33×"],
    requests: 1,
  });
  return [
    row("hook, GET of a professional", read),
    row("hook, POST of the public", (level) => book(level, 0)),
    row("create_booking, after its hook", (level) => book(level, 1)),
  ];
}

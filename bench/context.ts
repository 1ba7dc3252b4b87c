/** What every section gets, and the callers they share. */
import postgres, { type Sql } from "postgres";
import type { Databases } from "./databases.ts";
import {
  type Comparison,
  compareTurns,
  type Request,
  type Side,
  type Turns,
  takeTurns,
} from "./measure.ts";

export interface Context extends Databases {
  quick: boolean;
  /** Ids of the measured professionals. */
  professionals: string[];
}

/** Rounds and requests of one comparison; a quick run does an eighth of them. */
export interface Scale {
  rounds?: number;
  /** Requests of one side in a round, on all connections together. */
  requests?: number;
  /** There are many such rows, or they take long: a quick run leaves the 16 connections out. */
  isLong?: boolean;
}

/** Times kinds of requests in turns, at 1 and at 16 connections. */
export async function takeTurnsBoth(
  { quick }: Context,
  sides: Side[],
  { rounds = 15, requests = 60, isLong = false }: Scale = {},
): Promise<[Turns[], Turns[]?]> {
  const effort = (connections: number, times: number, each: number) => ({
    connections,
    rounds: Math.ceil(times),
    requests: Math.max(3, Math.round(each / connections)),
  });
  // Many short rounds: a machine that changes its speed meanwhile does it to both sides of most of them.
  const alone = await takeTurns(
    sides,
    quick ? effort(1, rounds * 2, requests / 20) : effort(1, rounds * 3, requests / 3),
  );
  if (quick && isLong) return [alone];
  const many = quick ? effort(16, rounds / 4, requests) : effort(16, rounds, requests * 2);
  return [alone, await takeTurns(sides, many)];
}

/** The two comparisons of a row: at 1 and at 16 connections. */
export async function compareBoth(
  context: Context,
  a: Side,
  b: Side,
  scale: Scale = {},
): Promise<[Comparison, Comparison?]> {
  const [[a1, b1], many] = await takeTurnsBoth(context, [a, b], scale);
  if (!a1 || !b1) throw new Error("a comparison needs two sides");
  const alone = compareTurns(1, a1, b1);
  const [a16, b16] = many ?? [];
  return a16 && b16 ? [alone, compareTurns(16, a16, b16)] : [alone];
}

/** Claims of a professional's token; tokens without a session id are not looked up. */
export const asProfessional = (id: string | undefined): Pick<Request, "role" | "claims"> => ({
  role: "authenticated",
  claims: { sub: id, aud: "authenticated" },
});

/** Runs SQL as the superuser, with the triggers off when rows are put in place or taken away. */
export async function asSuperuser<T>(
  url: string,
  run: (sql: Sql) => Promise<T>,
  triggers: "on" | "off" = "on",
): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    if (triggers === "off") await sql`set session_replication_role = replica`;
    return await run(sql);
  } finally {
    await sql.end();
  }
}

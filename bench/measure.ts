/**
 * How a row is measured. One request is a transaction as the REST server makes it, on a kept connection
 * with prepared statements. The two sides of a row take turns, round by round, and only their ratio is
 * judged: the machine may be slow or busy, it is so for both.
 */
import postgres, { type ParameterOrJSON, type Sql } from "postgres";
import { median, quantile } from "simple-statistics";

export type Statement = [text: string, ...parameters: unknown[]];

/** One request: who asks, how, and the statements of its transaction. */
export interface Request {
  role: "anon" | "authenticated" | "service_role";
  claims?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** GET unless given. */
  method?: "GET" | "POST";
  statements: Statement[];
  /** Undoes what was done, so that it can be done again. */
  rollback?: boolean;
}

/** Makes the requests of one side of a row. */
export interface Side {
  url: string;
  /** `p` is the number of a professional that no other connection has, `index` counts on each connection. */
  request(turn: { p: number; index: number }): Request;
  /** Each request is the first of a new connection, and only this one of its statements is timed. */
  onlyFirst?: number;
  /** What is subtracted, round by round: the rest is what the one does more than the other. */
  less?: Side;
}

export interface Row {
  name: string;
  measured: Side;
  dividedBy: string;
  /** null where it cannot be had: the row says so and is not judged. */
  by: Side | null;
  /** What is divided: times (more is worse), unless it is requests a second (less is worse). */
  of?: "throughput";
  goals?: Goal[];
  /** Of one side in a round, on all connections together. */
  requests?: number;
  /** One of many: a quick run leaves the 16 connections out. */
  isOneOfMany?: boolean;
}

/** Of the ratio or of the median time, at one connection. */
export type Goal = `${"≤" | "≥"} ${number}${"×" | " ms"}`;

/** At one connection, in milliseconds, but for what says otherwise. */
export interface Result {
  name: string;
  p50: number;
  p95?: number;
  perSecond?: number;
  dividedBy?: string;
  itsP50?: number;
  ratio?: number | undefined;
  ratioAt16?: number | undefined;
  goals?: Goal[];
}

const CONNECTIONS = 16;

/** The server plans a statement anew five times before it keeps a plan. */
const WARM_UP = 6;

const SETTINGS = `select set_config('search_path', '"public", "extensions"', true),
  set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
  set_config('request.method', $3, true), set_config('request.path', '/', true),
  set_config('request.headers', $4, true), set_config('request.cookies', '{}', true)`;

/** The driver would send a statement without parameters unprepared; its types do not know the option. */
const PREPARED = { prepare: true, simple: false } as { prepare: boolean };

/** A connection of the REST server's role. */
function connect(url: string): Sql {
  const address = new URL(url);
  address.username = "authenticator";
  // What a driver looks up when it connects would warm the connection up.
  return postgres(address.href, { max: 1, onnotice: () => {}, fetch_types: false });
}

function statementsOf({ role, method = "GET", ...request }: Request): Statement[] {
  const { claims, headers = {} } = request;
  return [
    [`begin isolation level read committed ${method === "GET" ? "read only" : ""}`],
    [SETTINGS, role, JSON.stringify({ role, ...claims }), method, JSON.stringify(headers)],
    ...request.statements,
    [request.rollback ? "rollback" : "commit"],
  ];
}

const send = (sql: Sql, [text, ...parameters]: Statement) =>
  sql.unsafe(text, parameters as ParameterOrJSON<never>[], PREPARED);

/** Waiting between the statements would hide what they cost. */
const sendAtOnce = (sql: Sql, request: Request) =>
  Promise.all(statementsOf(request).map((statement) => send(sql, statement)));

/** As a driver must that prepares them; milliseconds of the request's own statements. */
async function sendEach(sql: Sql, request: Request): Promise<number[]> {
  const times: number[] = [];
  for (const statement of statementsOf(request)) {
    const start = performance.now();
    await send(sql, statement);
    times.push(performance.now() - start);
  }
  return times.slice(2, -1);
}

/** A side with its connections, and what was timed on them. */
class Lane {
  readonly times: number[] = [];
  /** Of each round. */
  readonly p50s: number[] = [];
  readonly perSeconds: number[] = [];
  readonly #side: Side;
  readonly #connections: Sql[];
  #index = 0;

  constructor(side: Side, connections: number) {
    this.#side = side;
    this.#connections = Array.from({ length: connections }, () => connect(side.url));
  }

  /** `count` requests on each connection, side by side. */
  async #each(count: number, act: (sql: Sql, request: Request) => Promise<unknown>) {
    const first = this.#index;
    this.#index += count;
    const work = this.#connections.map(async (sql, worker) => {
      for (let index = first; index < first + count; index++) {
        // Many that write for one are refused, and one connection alone goes round.
        const p = 1 + (this.#connections.length > 1 ? worker : index % CONNECTIONS);
        await act(sql, this.#side.request({ index, p }));
      }
    });
    await Promise.all(work);
  }

  warmUp(): Promise<void> {
    return this.#each(WARM_UP, sendEach);
  }

  async round(requests: number): Promise<void> {
    const { url, onlyFirst } = this.#side;
    const times: number[] = [];
    const begin = performance.now();
    await this.#each(requests, async (kept, request) => {
      const start = performance.now();
      if (onlyFirst === undefined) {
        await sendAtOnce(kept, request);
        times.push(performance.now() - start);
      } else {
        const sql = connect(url);
        times.push((await sendEach(sql, request))[onlyFirst] ?? Number.NaN);
        await sql.end();
      }
    });
    this.times.push(...times);
    this.p50s.push(median(times));
    this.perSeconds.push((times.length / (performance.now() - begin)) * 1000);
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((sql) => sql.end()));
  }
}

const eachRound = (a: number[], b: number[], make: (a: number, b: number) => number) =>
  a.map((ofA, round) => make(ofA, b[round] ?? Number.NaN));

/** The sides of a row in turns: each once a round, and another one first in each. */
async function compare(row: Row, connections: number, rounds: number, requests: number) {
  const open = (side: Side | null | undefined) => (side ? new Lane(side, connections) : undefined);
  const measured = new Lane(row.measured, connections);
  const [by, less, byLess] = [row.by, row.measured.less, row.by?.less].map(open);
  const lanes = [measured, less, by, byLess].filter((lane) => lane !== undefined);
  for (const lane of lanes) await lane.warmUp();
  for (let round = 0; round < rounds; round++) {
    const first = round % lanes.length;
    for (const lane of [...lanes.slice(first), ...lanes.slice(0, first)]) {
      await lane.round(requests);
    }
  }
  await Promise.all(lanes.map((lane) => lane.close()));

  const timing = (lane: Lane, minus: Lane | undefined) => {
    if (minus) return { p50: median(eachRound(lane.p50s, minus.p50s, (all, part) => all - part)) };
    const { times, perSeconds } = lane;
    return { p50: median(times), p95: quantile(times, 0.95), perSecond: median(perSeconds) };
  };
  const found = timing(measured, less);
  if (!by) return { ...found, ratio: undefined };
  const itsP50 = timing(by, byLess).p50;
  const kind = row.of === "throughput" ? "perSeconds" : "p50s";
  const ratios = eachRound(measured[kind], by[kind], (a, b) => a / b);
  return { ...found, itsP50, ratio: less ? found.p50 / itsP50 : median(ratios) };
}

/** Of a full and of a quick run: a machine that changes its speed does it to both sides of most rounds. */
const ROUNDS = { full: [45, 15], quick: [30, 4] } as const;

export async function measure(row: Row, quick: boolean): Promise<Result> {
  const { name, measured, dividedBy, by, goals = [], requests = 60 } = row;
  const [alone, together] = quick ? ROUNDS.quick : ROUNDS.full;
  const each = (share: number) => Math.max(Math.min(3, requests), Math.round(requests * share));
  const result = { name, ...(await compare(row, 1, alone, each(quick ? 1 / 20 : 1 / 3))) };
  if (!by) return { ...result, dividedBy: `SKIPPED: no ${dividedBy}` };
  const isAlone = measured.onlyFirst !== undefined || (quick && row.isOneOfMany);
  if (isAlone) return { ...result, dividedBy, goals };
  const at16 = await compare(row, CONNECTIONS, together, each((quick ? 1 : 2) / CONNECTIONS));
  return { ...result, dividedBy, goals, ratioAt16: at16.ratio };
}

/**
 * How a request is made and timed. One request is a transaction as the REST server makes it, on a kept
 * connection with prepared statements. Two kinds are always timed side by side, round by round, and
 * only their ratio is judged: the machine may be slow or busy, it is so for both.
 */
import postgres, { type ParameterOrJSON, type Sql } from "postgres";

export type Role = "anon" | "authenticated" | "portal_client" | "portal_booking" | "service_role";

/** One request: who asks, how, and the statements of its transaction. */
export interface Request {
  role: Role;
  claims?: Record<string, unknown>;
  headers?: Record<string, string>;
  method: "GET" | "POST";
  statements: [text: string, ...parameters: unknown[]][];
  /** Undoes what was done, so that it can be done again. */
  rollback?: boolean;
}

/** Makes the requests of one side; `worker` is the connection, `index` counts on each of them. */
export interface Side {
  url: string;
  request(worker: number, index: number): Request;
}

export interface Timing {
  /** Milliseconds. */
  p50: number;
  p95: number;
  perSecond: number;
}

export interface Comparison {
  connections: number;
  a: Timing;
  b: Timing;
  /** Medians over the rounds of a divided by b. */
  p50Ratio: number;
  throughputRatio: number;
  /** Median over the rounds of p50 of a less p50 of b, in milliseconds. */
  p50Difference: number;
}

export interface Effort {
  connections: number;
  rounds: number;
  /** Requests of one side in one round, on each connection. */
  requests: number;
}

const SETTINGS = `select set_config('search_path', '"public", "extensions"', true),
  set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
  set_config('request.method', $3, true), set_config('request.path', '/', true),
  set_config('request.headers', $4, true), set_config('request.cookies', '{}', true)`;

/** The driver would send a statement without parameters unprepared; its types do not know the option. */
const PREPARED = { prepare: true, simple: false } as { prepare: boolean };

interface Statement {
  text: string;
  parameters: unknown[];
  /** Not of what the REST server puts around it. */
  isOwn: boolean;
}

function transaction(request: Request): Statement[] {
  const { role, claims, headers = {}, method, statements, rollback } = request;
  const around = (text: string, ...parameters: unknown[]) => ({ text, parameters, isOwn: false });
  return [
    around(`begin isolation level read committed ${method === "GET" ? "read only" : ""}`),
    around(SETTINGS, role, JSON.stringify({ role, ...claims }), method, JSON.stringify(headers)),
    ...statements.map(([text, ...parameters]) => ({ text, parameters, isOwn: true })),
    around(rollback ? "rollback" : "commit"),
  ];
}

/** A kept connection of the REST server's role. */
class Connection {
  readonly #sql: Sql;
  readonly #prepared = new Set<string>();

  constructor(url: string) {
    const address = new URL(url);
    address.username = "authenticator";
    // What a driver looks up when it connects would warm the connection up.
    this.#sql = postgres(address.href, { max: 1, onnotice: () => {}, fetch_types: false });
  }

  /** Sends the statements in one go: waiting between them would hide what they cost. */
  async run(request: Request): Promise<void> {
    const all = transaction(request);
    if (!all.every(({ text }) => this.#prepared.has(text)))
      return void (await this.runEach(request));
    await Promise.all(all.map((statement) => this.#send(statement)));
  }

  /** One after the other, as the driver prepares them; milliseconds of the request's own statements. */
  async runEach(request: Request): Promise<number[]> {
    const times: number[] = [];
    for (const statement of transaction(request)) {
      const begin = performance.now();
      await this.#send(statement);
      if (statement.isOwn) times.push(performance.now() - begin);
      this.#prepared.add(statement.text);
    }
    return times;
  }

  #send({ text, parameters }: Statement): Promise<unknown> {
    return this.#sql.unsafe(text, parameters as ParameterOrJSON<never>[], PREPARED);
  }

  async close(): Promise<void> {
    await this.#sql.end();
  }
}

export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: number[]): number => quantile(values, 0.5);

/** A side with its connections, and everything that was timed on them. */
class Lane {
  readonly all: number[] = [];
  #elapsed = 0;
  #index = 0;
  readonly #side: Side;
  readonly #connections: Connection[];

  constructor(side: Side, connections: number) {
    this.#side = side;
    this.#connections = Array.from({ length: connections }, () => new Connection(side.url));
  }

  /** One round: `requests` on each connection at once; latencies and requests a second. */
  async round(requests: number, counts: boolean): Promise<{ p50: number; perSecond: number }> {
    const times: number[] = [];
    const first = this.#index;
    this.#index += requests;
    const begin = performance.now();
    await Promise.all(
      this.#connections.map(async (connection, worker) => {
        for (let index = first; index < first + requests; index++) {
          const request = this.#side.request(worker, index);
          const start = performance.now();
          await connection.run(request);
          times.push(performance.now() - start);
        }
      }),
    );
    const elapsed = performance.now() - begin;
    if (counts) {
      this.all.push(...times);
      this.#elapsed += elapsed;
    }
    return { p50: median(times), perSecond: (times.length / elapsed) * 1000 };
  }

  timing(): Timing {
    return {
      p50: median(this.all),
      p95: quantile(this.all, 0.95),
      perSecond: (this.all.length / this.#elapsed) * 1000,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }
}

/** The server plans a statement anew five times before it keeps a plan. */
const WARM_UP = 6;

/** One kind of requests, timed in turns with others. */
export interface Turns {
  timing: Timing;
  /** Of each round. */
  p50s: number[];
  perSeconds: number[];
}

/** Times kinds of requests side by side: each once a round, and another one first in each. */
export async function takeTurns(sides: Side[], effort: Effort): Promise<Turns[]> {
  const lanes = sides.map((side) => ({
    lane: new Lane(side, effort.connections),
    p50s: [] as number[],
    perSeconds: [] as number[],
  }));
  try {
    for (const { lane } of lanes) await lane.round(WARM_UP, false);
    for (let round = 0; round < effort.rounds; round++) {
      const first = round % lanes.length;
      for (const { lane, p50s, perSeconds } of [...lanes.slice(first), ...lanes.slice(0, first)]) {
        const { p50, perSecond } = await lane.round(effort.requests, true);
        p50s.push(p50);
        perSeconds.push(perSecond);
      }
    }
    return lanes.map(({ lane, ...rounds }) => ({ timing: lane.timing(), ...rounds }));
  } finally {
    await Promise.all(lanes.map(({ lane }) => lane.close()));
  }
}

/** Milliseconds of each statement of a request that is the first of its connection. */
export async function timeFirst(url: string, request: Request): Promise<number[]> {
  const connection = new Connection(url);
  try {
    return await connection.runEach(request);
  } finally {
    await connection.close();
  }
}

/** Median over the rounds of what two figures of a round make. */
export const overRounds = (a: number[], b: number[], make: (a: number, b: number) => number) =>
  median(a.map((ofA, round) => make(ofA, b[round] ?? Number.NaN)));

export function compareTurns(connections: number, a: Turns, b: Turns): Comparison {
  return {
    connections,
    a: a.timing,
    b: b.timing,
    p50Ratio: overRounds(a.p50s, b.p50s, (ofA, ofB) => ofA / ofB),
    throughputRatio: overRounds(a.perSeconds, b.perSeconds, (ofA, ofB) => ofA / ofB),
    p50Difference: overRounds(a.p50s, b.p50s, (ofA, ofB) => ofA - ofB),
  };
}

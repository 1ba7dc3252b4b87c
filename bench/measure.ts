/**
 * How a request is made and timed. One request is a transaction as the REST server makes it, on a kept
 * connection with prepared statements. Two kinds are always timed side by side, round by round, and
 * only their ratio is judged: the machine may be slow or busy, it is so for both.
 */
import postgres, { type ParameterOrJSON, type ReservedSql, type Sql } from "postgres";

export type Role = "anon" | "authenticated" | "portal_client" | "service_role";

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

/** A kept connection of the REST server's role. */
class Connection {
  readonly #pool: Sql;
  readonly #prepared = new Set<string>();
  #sql: ReservedSql | undefined;

  constructor(url: string) {
    const address = new URL(url);
    address.username = "authenticator";
    this.#pool = postgres(address.href, { max: 1, onnotice: () => {} });
  }

  /** Sends the statements in one go: waiting between them would hide what they cost. */
  async run({ role, claims, headers = {}, method, statements, rollback }: Request): Promise<void> {
    this.#sql ??= await this.#pool.reserve();
    const sql = this.#sql;
    const send = (text: string, parameters: unknown[]) =>
      sql.unsafe(text, parameters as ParameterOrJSON<never>[], PREPARED);
    const settings = [role, JSON.stringify({ role, ...claims }), method, JSON.stringify(headers)];
    const all: [string, unknown[]][] = [
      [`begin isolation level read committed ${method === "GET" ? "read only" : ""}`, []],
      [SETTINGS, settings],
      ...statements.map(([text, ...parameters]): [string, unknown[]] => [text, parameters]),
      [rollback ? "rollback" : "commit", []],
    ];
    if (all.every(([text]) => this.#prepared.has(text))) {
      await Promise.all(all.map(([text, parameters]) => send(text, parameters)));
      return;
    }
    // The driver prepares one statement at a time.
    for (const [text, parameters] of all) {
      await send(text, parameters);
      this.#prepared.add(text);
    }
  }

  async close(): Promise<void> {
    this.#sql?.release();
    await this.#pool.end();
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

/** Times two kinds of requests against each other. */
export async function compare(a: Side, b: Side, effort: Effort): Promise<Comparison> {
  const [laneA, laneB] = [new Lane(a, effort.connections), new Lane(b, effort.connections)];
  const rounds: { p50: number; throughput: number; difference: number }[] = [];
  try {
    for (const lane of [laneA, laneB]) await lane.round(WARM_UP, false);
    for (let round = 0; round < effort.rounds; round++) {
      const order = round % 2 === 0 ? [laneA, laneB] : [laneB, laneA];
      const results = new Map<Lane, { p50: number; perSecond: number }>();
      for (const lane of order) results.set(lane, await lane.round(effort.requests, true));
      const [ofA, ofB] = [results.get(laneA), results.get(laneB)];
      if (!ofA || !ofB) continue;
      rounds.push({
        p50: ofA.p50 / ofB.p50,
        throughput: ofA.perSecond / ofB.perSecond,
        difference: ofA.p50 - ofB.p50,
      });
    }
    return {
      connections: effort.connections,
      a: laneA.timing(),
      b: laneB.timing(),
      p50Ratio: median(rounds.map(({ p50 }) => p50)),
      throughputRatio: median(rounds.map(({ throughput }) => throughput)),
      p50Difference: median(rounds.map(({ difference }) => difference)),
    };
  } finally {
    await Promise.all([laneA.close(), laneB.close()]);
  }
}

import type { PostgresConnection } from "@supabase/lite/postgres";
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import postgres from "postgres";
import { isConnectionError } from "./rest-errors.ts";

const pools = new WeakMap<PostgresConnection, Pool>();

/**
 * Bend: lost connections.
 * Upstream gives a connection that the server closed back to the driver, which ends the process when it
 * is used next. And a connection of the driver that closes just before it writes never writes again,
 * reopened or not. So each connection is a driver of its own, which is replaced when it was lost.
 */
export function surviveLostConnections(connection: PostgresConnection): void {
  const pool = new Pool(connection.driver.options);
  pools.set(connection, pool);
  connection.kysely = new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PoolDriver(pool),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** Waits for running queries, but not for one whose connection broke: its answer never comes. */
export async function closeWithin(connection: PostgresConnection, seconds = 3): Promise<void> {
  const pool = pools.get(connection);
  await Promise.all([connection.driver.end({ timeout: seconds }), pool?.close(seconds)]);
}

/** Connections that are used by one at a time; who comes when all are taken waits. */
class Pool {
  readonly #open: () => postgres.Sql;
  readonly #all = new Set<postgres.Sql>();
  readonly #free: postgres.Sql[] = [];
  readonly #waiting: ((sql: postgres.Sql) => void)[] = [];

  constructor(options: postgres.Sql["options"]) {
    // The driver takes options that it has parsed before as they are.
    const single = { ...options, max: 1 } as unknown as postgres.Options<Record<string, never>>;
    this.#open = () => {
      const sql = postgres(single);
      this.#all.add(sql);
      return sql;
    };
    for (let count = 0; count < options.max; count++) this.#free.push(this.#open());
  }

  async take(): Promise<postgres.Sql> {
    return this.#free.pop() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  giveBack(sql: postgres.Sql): void {
    const next = this.#waiting.shift();
    if (next) next(sql);
    else this.#free.push(sql);
  }

  replace(sql: postgres.Sql): void {
    this.#all.delete(sql);
    sql.end({ timeout: 0 }).catch(() => {});
    this.giveBack(this.#open());
  }

  async close(seconds: number): Promise<void> {
    await Promise.all([...this.#all].map((sql) => sql.end({ timeout: seconds })));
  }
}

class PoolDriver extends PostgresDriver {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    super({ pool: async () => Promise.reject(new Error("the driver has its own pool")) });
    this.#pool = pool;
  }

  override async init(): Promise<void> {}

  override async destroy(): Promise<void> {}

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new Taken(await this.#pool.take());
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if ((connection as Taken).isLost) return;
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const { isLost, sql } = connection as Taken;
    if (isLost) this.#pool.replace(sql);
    else this.#pool.giveBack(sql);
  }
}

class Taken implements DatabaseConnection {
  /** What follows would run on another connection, outside of the transaction. */
  isLost = false;
  readonly sql: postgres.Sql;

  constructor(sql: postgres.Sql) {
    this.sql = sql;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.isLost)
      throw Object.assign(new Error("connection lost"), { code: "CONNECTION_CLOSED" });
    try {
      const rows = await this.sql.unsafe(sql, [
        ...(parameters as postgres.ParameterOrJSON<never>[]),
      ]);
      const writes = /^(INSERT|UPDATE|DELETE|MERGE)$/.test(rows.command);
      return {
        rows: [...rows] as unknown as R[],
        ...(writes ? { numAffectedRows: BigInt(rows.count) } : {}),
      };
    } catch (error) {
      this.isLost ||= isConnectionError(error);
      throw error;
    }
  }

  // biome-ignore lint/correctness/useYield: nothing here streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("streaming is not supported");
  }
}

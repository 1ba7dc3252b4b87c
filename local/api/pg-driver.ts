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
import type postgres from "postgres";
import { isConnectionError } from "./rest-errors.ts";

/**
 * Bend: lost connections.
 * Upstream gives a connection that the server closed back to the driver, which ends the process when it
 * is used next. The driver has dropped such a connection by itself and opens another when needed.
 */
export function surviveLostConnections(connection: PostgresConnection): void {
  connection.kysely = new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new ReservingDriver(connection.driver),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** Waits for running queries, but not for one whose connection broke: its answer never comes. */
export async function closeWithin({ driver }: PostgresConnection, seconds = 3): Promise<void> {
  await driver.end({ timeout: seconds });
}

class ReservingDriver extends PostgresDriver {
  readonly #sql: postgres.Sql;

  constructor(sql: postgres.Sql) {
    super({ pool: async () => Promise.reject(new Error("the driver has its own pool")) });
    this.#sql = sql;
  }

  override async init(): Promise<void> {}

  override async destroy(): Promise<void> {}

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new Reserved(await this.#sql.reserve());
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if ((connection as Reserved).isLost) return;
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as Reserved).release();
  }
}

class Reserved implements DatabaseConnection {
  isLost = false;
  readonly #sql: postgres.ReservedSql;

  constructor(sql: postgres.ReservedSql) {
    this.#sql = sql;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const rows = await this.#sql.unsafe(sql, [
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

  release(): void {
    if (!this.isLost) this.#sql.release();
  }
}

import { PostgresConnection } from "@supabase/lite/postgres";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

/** An instant as Postgres writes it in a UTC session, as text or in JSON, with milliseconds and Z. */
export function isoInstant(text: string): string {
  const match = /^(\d{4,}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?\+00(?::00)?$/.exec(text);
  if (!match) return text; // infinity, or a year before Christ
  const [, date, time, fraction = ""] = match;
  return `${date}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
}

const readAs = pg.types.getTypeParser as (oid: number) => (text: string) => unknown;

/** What is read otherwise than the driver does. */
const readers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.DATE, String],
  [pg.types.builtins.INTERVAL, String],
  // Of ours only a session's `refreshed_at` has no time zone; it is UTC.
  [pg.types.builtins.TIMESTAMP, (text) => isoInstant(`${text}+00`)],
  [pg.types.builtins.TIMESTAMPTZ, isoInstant],
  // `name[]` as `text[]`; upstream's look at the catalogue has some.
  [1003, readAs(1009)],
]);

const getTypeParser = (oid: number) => readers.get(oid) ?? readAs(oid);

/**
 * Bend: driver.
 * Upstream's encodes metadata of users twice, answers `numeric` as a string and timestamps in Postgres' own
 * format, and does not survive a lost connection. The platform answers numbers, and instants of our domain
 * as ISO 8601 with milliseconds and Z.
 */
export class Database extends PostgresConnection {
  readonly #pool: pg.Pool;

  constructor(adminUrl: string, role: string, size: number) {
    const url = new URL(adminUrl);
    url.username = role;
    super({ url: url.href, postgresOptions: { max: 5, onnotice: () => {} } });
    this.#pool = new pg.Pool({
      connectionString: url.href,
      max: size,
      types: { getTypeParser: getTypeParser as typeof pg.types.getTypeParser },
    });
    // A connection that breaks tells its query, or nobody.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
    this.kysely = new Kysely({ dialect: new PostgresDialect({ pool: this.#pool }) });
  }

  /** Waits for no query: a lock may hold it up. */
  override async close(): Promise<void> {
    void this.#pool.end();
    await this.driver.end({ timeout: 1 });
  }
}

import { setTimeout as sleep } from "node:timers/promises";
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

const number = (text: string) => {
  const value = Number(text);
  return Number.isFinite(value) ? value : text; // NaN and Infinity have no JSON number
};

type Read = (text: string) => unknown;

/** What is read otherwise than the driver does, by the oids of a type and of arrays of it. */
const types: [oid: number, array: number, read: Read][] = [
  [19, 1003, String],
  [20, 1016, number],
  [700, 1021, number],
  [701, 1022, number],
  [1082, 1182, String],
  // Of ours only a session's `refreshed_at` has no time zone; it is UTC.
  [1114, 1115, (text) => isoInstant(`${text}+00`)],
  [1184, 1185, isoInstant],
  [1186, 1187, String],
  [1700, 1231, number],
];

const readAs = pg.types.getTypeParser as (oid: number) => Read;

function eachOf(read: Read): Read {
  const readItem = (item: unknown): unknown =>
    Array.isArray(item) ? item.map(readItem) : item === null ? null : read(String(item));
  return (text) => readItem(readAs(1009)(text));
}

const readers = new Map(
  types.flatMap(([oid, array, read]): [number, Read][] => [
    [oid, read],
    [array, eachOf(read)],
  ]),
);

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

  /** Does not wait for ever: a query may be held up by a lock. */
  override async close(): Promise<void> {
    await Promise.race([
      Promise.all([this.driver.end({ timeout: 3 }), this.#pool.end()]),
      sleep(3_000, undefined, { ref: false }),
    ]);
  }
}

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

/** How a value is read, by the oids of its type and of arrays of it. Others are text. */
const types: readonly (readonly [oid: number, array: number, read: (text: string) => unknown])[] = [
  [16, 1000, (text) => text === "t"],
  [19, 1003, String],
  [20, 1016, number],
  [21, 1005, number],
  [23, 1007, number],
  [25, 1009, String],
  [114, 199, JSON.parse],
  [700, 1021, number],
  [701, 1022, number],
  [1043, 1015, String],
  [1082, 1182, String],
  // Of ours only a session's `refreshed_at` has no time zone; it is UTC.
  [1114, 1115, (text) => isoInstant(`${text}+00`)],
  [1184, 1185, isoInstant],
  [1700, 1231, number],
  [2950, 2951, String],
  [3802, 3807, JSON.parse],
];

const readTexts = (pg.types.getTypeParser as (oid: number) => (text: string) => unknown)(1009);

function eachOf(read: (text: string) => unknown) {
  const readItem = (item: unknown): unknown =>
    Array.isArray(item) ? item.map(readItem) : item === null ? null : read(String(item));
  return (text: string) => readItem(readTexts(text));
}

const readers = new Map(
  types.flatMap(([oid, array, read]) => [
    [oid, read],
    [array, eachOf(read)],
  ]),
);

const getTypeParser = (oid: number) => readers.get(oid) ?? String;

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

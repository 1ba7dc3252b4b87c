import type postgres from "postgres";
import { arrayType } from "./pg-arrays.ts";

type Types = Record<string, postgres.PostgresType>;

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

const bool = (text: string) => text === "t";

const jsonText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * Bend: JSON parameters.
 * Upstream turns the metadata of a user into text and the driver encodes that text again, so that
 * `raw_user_meta_data ->> 'full_name'` is null in a trigger. Here text is JSON already.
 */
const jsonTypes: Types = {
  json: { to: 114, from: [114], serialize: jsonText, parse: JSON.parse },
  jsonb: { to: 3802, from: [3802], serialize: jsonText, parse: JSON.parse },
};

/**
 * Bend: values in JSON.
 * Upstream answers `numeric` as a string when JavaScript prints it otherwise ("30.50"), timestamps in
 * Postgres' own format. The platform answers numbers, and instants of our domain as ISO 8601 with
 * milliseconds and Z.
 */
export const restTypes: Types = {
  ...jsonTypes,
  numeric: { to: 1700, from: [1700], serialize: String, parse: number },
  bigint: { to: 20, from: [20], serialize: String, parse: number },
  float: { to: 701, from: [700, 701], serialize: String, parse: number },
  timestamptz: { to: 1184, from: [1184], serialize: String, parse: isoInstant },
  timestamp: {
    to: 1114,
    from: [1114],
    serialize: String,
    parse: (text: string) => text.replace(" ", "T"),
  },
  // The driver takes everything but `true` for false; the database knows better.
  boolean: { to: 16, from: [16], serialize: String, parse: bool },
  booleans: arrayType(1000, bool),
  integers: arrayType(1007, Number),
  bigints: arrayType(1016, number),
  numerics: arrayType(1231, number),
  floats: arrayType(1022, number),
  texts: arrayType(1009, String),
  varchars: arrayType(1015, String),
  uuids: arrayType(2951, String),
  dates: arrayType(1182, String),
  timestamptzs: arrayType(1185, isoInstant),
  jsons: arrayType(199, JSON.parse),
  jsonbs: arrayType(3807, JSON.parse),
};

/** Types of the auth service. A session's `refreshed_at` has no time zone; it is UTC. */
export const authTypes: Types = {
  ...jsonTypes,
  timestamptz: { to: 1184, from: [1184], serialize: String, parse: isoInstant },
  timestamp: {
    to: 1114,
    from: [1114],
    serialize: String,
    parse: (text: string) => isoInstant(`${text}+00`),
  },
};

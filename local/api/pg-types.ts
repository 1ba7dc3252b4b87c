import type postgres from "postgres";

type Types = Record<string, postgres.PostgresType>;

/** `2026-11-27 21:14:35.1+00`, as the driver receives it in a UTC session, in ISO 8601. */
function isoInstant(text: string): string {
  const match = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(text);
  if (!match) return text; // infinity, or a year before Christ
  const [, date, time, fraction = ""] = match;
  return `${date}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
}

const number = (text: string) => {
  const value = Number(text);
  return Number.isFinite(value) ? value : text; // NaN and Infinity have no JSON number
};

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

/** Instants in the bodies of table writes: read as strictly as those in arguments of the RPCs. */
import { beforeAll, describe, expect, test } from "vitest";
import { request } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import {
  createBooking,
  createProfessional,
  createService,
  type Professional,
  type Row,
} from "./support/factories.ts";
import { stack } from "./support/stack.ts";

let owner: Professional;
let professional_id: string;

beforeAll(async () => {
  owner = await createProfessional();
  professional_id = owner.id;
});

const WRONG: [what: string, value: unknown][] = [
  ["what a date field of a browser sends", "2027-06-08T08:10:00"],
  ["the same without seconds", "2027-06-08T08:10"],
  ["a space for the T", "2027-06-08 08:10:00Z"],
  ["a word", "tomorrow"],
  ["another word", "now"],
  ["a date by day or by month", "01/02/2027"],
  ["a date", "2027-03-03"],
  ["an hour 24", "2027-03-03T24:00:00Z"],
  ["an abbreviation of a zone", "2027-03-03T10:00:00 CET"],
  ["a clock time of a zone", "10:00 CET"],
  ["half an offset", "2027-03-03T10:00:00+01"],
  ["a day that is none", "2027-02-30T10:00:00Z"],
  ["infinity", "infinity"],
  ["the end of Postgres' time", "294276-12-31T23:59:59Z"],
  ["a year before 2000", "1999-12-31T23:59:59Z"],
  ["a year after 2199", "2200-01-01T00:00:00Z"],
  ["digits of another script", "\u0662\u0660\u0662\u0667-06-08T08:10:00Z"],
  ["nothing", ""],
  ["null in quotes", "null"],
  ["a number", 1_811_837_400],
  ["a number that looks like a date", 20270303],
  ["true", true],
  ["an object", { at: "2027-03-03T10:00:00Z" }],
  ["a list", ["2027-03-03T10:00:00Z"]],
];

/** The same instant in each of the forms that are taken. */
const RIGHT = [
  "2027-06-08T08:10:00Z",
  "2027-06-08T08:10Z",
  "2027-06-08t08:10:00.000z",
  "2027-06-08T10:10:00+02:00",
  "2027-06-08T03:40:00.0001-04:30",
];

interface Answer {
  status: number;
  body: unknown;
}

async function send(
  method: string,
  path: string,
  body: unknown,
  { key, prefer = "return=representation" }: { key?: string; prefer?: string } = {},
): Promise<Answer> {
  const response = await request(`/rest/v1/${path}`, {
    method,
    token: key ? undefined : owner.token,
    headers: { prefer, ...(key && { apikey: key }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null };
}

const REFUSED = {
  status: 422,
  body: {
    code: "invalid_time",
    message: expect.any(String),
    details: null,
    hint: expect.any(String),
  },
};

let day = 0;
/** Blocked time that no other row of this file touches. */
function blockedTime(): { starts_at: string; ends_at: string } {
  const date = new Date(Date.UTC(2101, 0, ++day)).toISOString().slice(0, 10);
  return { starts_at: `${date}T09:00:00.000Z`, ends_at: `${date}T10:00:00.000Z` };
}

const count = async () => {
  const [row] = await sql`
    select count(*)::int as count from public.bookings where professional_id = ${owner.id}`;
  return row?.count;
};

describe.each(["starts_at", "ends_at"])("%s of a booking", (column) => {
  test.each(WRONG)("cannot be %s", async (_, value) => {
    const before = await count();
    expect(await send("POST", "bookings", { ...blockedTime(), [column]: value })).toEqual(REFUSED);
    const booking = await createBooking(owner, blockedTime());
    const path = `bookings?id=eq.${booking.id}`;
    expect(await send("PATCH", path, { [column]: value })).toEqual(REFUSED);
    expect(await count()).toBe(before + 1);
  });

  test("in one row of many refuses all of them", async () => {
    const before = await count();
    const rows = [blockedTime(), { ...blockedTime(), [column]: "tomorrow" }, blockedTime()];
    expect(await send("POST", "bookings", rows)).toEqual(REFUSED);
    expect(await count()).toBe(before);
  });

  test("is read as strictly with columns=, with defaults for missing ones, and in an upsert", async () => {
    const booking = await createBooking(owner, blockedTime());
    const row = { ...blockedTime(), [column]: "2027-03-03" };
    const columns = "bookings?columns=starts_at,ends_at";
    expect(await send("POST", columns, row)).toEqual(REFUSED);
    expect(await send("POST", columns, [row], { prefer: "missing=default" })).toEqual(REFUSED);
    const upsert = await send(
      "POST",
      "bookings?on_conflict=id",
      { id: booking.id, ...row },
      {
        prefer: "resolution=ignore-duplicates",
      },
    );
    expect(upsert).toEqual(REFUSED);
  });

  test("is read as strictly from a server", async () => {
    const key = stack.secretKey;
    const row = { professional_id, ...blockedTime() };
    const wrong = { ...row, [column]: "2027-06-08T08:10:00" };
    expect(await send("POST", "bookings", wrong, { key })).toEqual(REFUSED);
    const made = await send("POST", "bookings", row, { key });
    expect(made).toEqual({ status: 201, body: [expect.objectContaining(row)] });
    const [booking] = made.body as Row<"bookings">[];
    const merge = { prefer: "resolution=merge-duplicates,return=representation", key };
    expect(await send("POST", "bookings", { id: booking?.id, ...wrong }, merge)).toEqual(REFUSED);
    expect(await send("PATCH", `bookings?id=eq.${booking?.id}`, { [column]: 5 }, { key })).toEqual(
      REFUSED,
    );
    const moved = { id: booking?.id, professional_id, ...blockedTime() };
    expect(await send("POST", "bookings", moved, merge)).toMatchObject({
      status: 200,
      body: [moved],
    });
  });
});

test.each(RIGHT)("%s is the instant it says", async (starts_at) => {
  const service = await createService(owner, { duration: 50 });
  const [client] = await sql`
    insert into public.clients (professional_id, name) values (${owner.id}, 'Marta') returning id`;
  const body = { starts_at, service_id: service.id, client_id: client?.id };
  const made = await send("POST", "bookings?select=id,starts_at,ends_at", body);
  const times = { starts_at: "2027-06-08T08:10:00.000Z", ends_at: "2027-06-08T09:00:00.000Z" };
  expect(made).toEqual({ status: 201, body: [{ id: expect.any(String), ...times }] });
  const [booking] = made.body as Row<"bookings">[];
  await send("PATCH", `bookings?id=eq.${booking?.id}`, { status: "cancelled" });
});

test("many rows keep their times, each its own", async () => {
  const rows = [blockedTime(), blockedTime(), blockedTime()];
  expect(await send("POST", "bookings?select=starts_at,ends_at", rows)).toEqual({
    status: 201,
    body: rows,
  });
});

test("null is a matter of the column: required, filled in, or nothing", async () => {
  const { ends_at, starts_at } = blockedTime();
  expect(await send("POST", "bookings", { ends_at, starts_at: null })).toMatchObject({
    status: 400,
    body: { code: "23502" },
  });
  expect(await send("POST", "bookings", { starts_at, ends_at: null })).toMatchObject({
    status: 422,
    body: { code: "ends_at_required" },
  });
  const own = { professional_id, ...blockedTime(), cancelled_at: null };
  expect(await send("POST", "bookings", own, { key: stack.secretKey })).toMatchObject({
    status: 201,
    body: [{ cancelled_at: null }],
  });
});

test("what a server dates is read as strictly, in every table", async () => {
  const rows: Record<string, object> = {
    services: { name: "Cut", price: 30, duration: 60 },
    clients: { name: "Marta" },
    products: { name: "Soap", price: 3 },
    bookings: blockedTime(),
  };
  for (const [table, row] of Object.entries(rows)) {
    const dated = (created_at: unknown) =>
      send("POST", table, { ...row, professional_id, created_at }, { key: stack.secretKey });
    expect([table, await dated("2026-01-02")]).toEqual([table, REFUSED]);
    expect([table, await dated("2026-01-02T03:04:05.678Z")]).toMatchObject([
      table,
      { status: 201, body: [{ created_at: "2026-01-02T03:04:05.678Z" }] },
    ]);
  }
});

test("filters read what Postgres reads", async () => {
  const booking = await createBooking(owner, blockedTime());
  const date = booking.starts_at.slice(0, 10);
  for (const filter of [`gte.${date}&starts_at=lt.${date}T23:59`, `eq.${date} 10:00%2B01`]) {
    const response = await request(`/rest/v1/bookings?select=id&starts_at=${filter}`, {
      token: owner.token,
    });
    expect([filter, await response.json()]).toEqual([filter, [{ id: booking.id }]]);
  }
});

test("SQL reads what Postgres reads", async () => {
  const booking = await createBooking(owner, blockedTime());
  const [row] = await sql`
    update public.bookings set starts_at = '2101-12-01', ends_at = '2101-12-02'
    where id = ${booking.id}
    returning starts_at = timestamptz '2101-12-01' as moved`;
  expect(row).toEqual({ moved: true });
});

/** Feeds of bookings for calendar programs: who has them, what they show, and to whom. */
import { createHash, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { server } from "../support/callers.ts";
import { asCaller, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import { type FeedEvent, readCalendar } from "../support/feeds.ts";
import { rowOf } from "../support/holds.ts";
import { stack } from "../support/stack.ts";

const NOT_FOUND = { code: "PGRST301", details: null, hint: null, message: expect.any(String) };
const HOUR = 3_600_000;

interface Feed {
  id: string;
  path: string;
}

async function createFeed(
  professional: Professional,
  detail: "full" | "busy" = "full",
  name = "My phone",
): Promise<Feed> {
  const { data, error } = await professional.api.rpc("create_calendar_feed", { name, detail });
  expect(error).toBeNull();
  return data as unknown as Feed;
}

const tokenOf = ({ path }: Feed) => path.slice(-47, -4);
const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

const fetchFeed = ({ path }: Pick<Feed, "path">, init: RequestInit = {}) =>
  fetch(`${stack.apiUrl}${path}`, init);

const knowing = (etag: string | null) => ({ headers: { "if-none-match": etag ?? "" } });

async function read(feed: Feed): Promise<{ etag: string; body: string; events: FeedEvent[] }> {
  const response = await fetchFeed(feed);
  expect(response.status).toBe(200);
  const body = await response.text();
  return { etag: response.headers.get("etag") ?? "", body, ...readCalendar(body) };
}

const listed = async ({ api }: Professional) => (await api.rpc("calendar_feeds")).data;

/** A professional with a service, a client, and a way to book. */
async function setUp(profile: Parameters<typeof createProfessional>[0] = {}) {
  const professional = await createProfessional(profile);
  const [service, client] = await Promise.all([
    createService(professional, { name: "Massage", location: "Via Roma 1" }),
    createClientRow(professional, { name: "Marta Rossi", phone: "+39 333 1234567" }),
  ]);
  const book = (starts_at: string, values: object = {}) =>
    createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at,
      ...values,
    });
  const block = (starts_at: string, ends_at: string, values: object = {}) =>
    createBooking(professional, { starts_at, ends_at, ...values });
  return { professional, service, client, book, block };
}

const inHours = (hours: number) => iso(Math.floor(Date.now() / HOUR) * HOUR + hours * HOUR);

describe("feeds", () => {
  test("are made with an address that is shown once, and listed oldest first", async () => {
    const ana = await createProfessional();
    expect(await listed(ana)).toEqual({ data: [], next_cursor: null });
    const first = await createFeed(ana, "full", "  My phone 📱 ");
    const second = await createFeed(ana, "busy", "Family");
    expect(first).toEqual({
      id: expect.any(String),
      path: expect.stringMatching(/^\/functions\/v1\/calendar\/feed\/[\w-]{43}\.ics$/),
    });
    expect(Buffer.from(tokenOf(first), "base64url")).toHaveLength(32);
    expect(tokenOf(second)).not.toBe(tokenOf(first));

    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await listed(ana)).toEqual({
      data: [
        { id: first.id, name: "My phone 📱", detail: "full", created_at },
        { id: second.id, name: "Family", detail: "busy", created_at },
      ],
      next_cursor: null,
    });
  });

  test("are at most five, and one may follow one that was deleted", async () => {
    const ana = await createProfessional();
    const feeds: Feed[] = [];
    for (let i = 0; i < 5; i++) feeds.push(await createFeed(ana));
    const sixth = { name: "Sixth", detail: "full" };
    const { error, status } = await ana.api.rpc("create_calendar_feed", sixth);
    expect([status, error?.code]).toEqual([422, "too_many_feeds"]);
    await ana.api.rpc("delete_calendar_feed", { feed_id: feeds[0]?.id as string });
    await createFeed(ana);
    expect((await listed(ana)) as object).toMatchObject({ data: Array(5).fill({}) });
  });

  test("are at most five, however many calls there are at once", async () => {
    const ana = await createProfessional();
    const made = await Promise.all(
      Array.from({ length: 8 }, () =>
        ana.api.rpc("create_calendar_feed", { name: "Phone", detail: "busy" }),
      ),
    );
    expect(made.filter(({ error }) => !error)).toHaveLength(5);
  });

  test.each<[string, { name: string; detail: string }, string[]]>([
    ["no name", { name: " \u200B", detail: "full" }, ["name"]],
    ["a name of 101 characters", { name: "x".repeat(101), detail: "full" }, ["name"]],
    ["another detail", { name: "Phone", detail: "all" }, ["detail"]],
    ["nothing", { name: null as never, detail: null as never }, ["name", "detail"]],
  ])("with %s are 422 with the fields", async (_, args, fields) => {
    const ana = await createProfessional();
    const { error, status } = await ana.api.rpc("create_calendar_feed", args);
    expect([status, error?.code]).toEqual([422, "validation_failed"]);
    expect(JSON.parse(error?.details ?? "")).toEqual({ fields });
    expect(await listed(ana)).toMatchObject({ data: [] });
  });

  test("may have a name of 100 characters", async () => {
    await createFeed(await createProfessional(), "full", "💆".repeat(100));
  });

  test("are deleted by whoever has them, and open nothing from then on", async () => {
    const [ana, ivo] = await Promise.all([createProfessional(), createProfessional()]);
    const feed = await createFeed(ana);
    for (const [caller, id] of [
      [ivo, feed.id],
      [ana, randomUUID()],
    ] as const) {
      const { error, status } = await caller.api.rpc("delete_calendar_feed", { feed_id: id });
      expect(status).toBe(404);
      expect(error).toMatchObject({ code: "PGRST301", details: null });
    }
    expect((await fetchFeed(feed)).status).toBe(200);
    expect(await listed(ivo)).toMatchObject({ data: [] });

    const { error } = await ana.api.rpc("delete_calendar_feed", { feed_id: feed.id });
    expect(error).toBeNull();
    const response = await fetchFeed(feed);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual(NOT_FOUND);
    expect(await listed(ana)).toMatchObject({ data: [] });
  });

  test("keep a hash of what is secret in the address, and nobody keeps more", async () => {
    const { professional, book } = await setUp();
    const feed = await createFeed(professional);
    const token = tokenOf(feed);
    await book(inHours(1));
    await read(feed);
    await fetchFeed({ path: feed.path.replace(token, [...token].reverse().join("")) });

    const tables = await sql<{ name: string }[]>`
      select oid::regclass::text as name from pg_class
      where relnamespace in ('public'::regnamespace, 'private'::regnamespace) and relkind = 'r'`;
    expect(tables.length).toBeGreaterThan(20);
    const holders = async (text: string) => {
      const found: string[] = [];
      for (const { name } of tables) {
        const [row] = await sql`
          select from ${sql(name)} t where strpos(t::text, ${text}) > 0 limit 1`;
        if (row) found.push(name);
      }
      return found;
    };
    expect(await holders(token)).toEqual([]);
    expect(await holders(hashOf(token))).toEqual(["private.calendar_feeds"]);
    expect(await listed(professional)).not.toHaveProperty("data.0.token_hash");
  });
});

describe("a feed of everything", () => {
  test("shows a booking with service, client, contact and notes, under its identity in mails", async () => {
    const { professional, client, book } = await setUp({ time_zone: "Asia/Kathmandu" });
    const feed = await createFeed(professional);
    const booking = await book(inHours(30), {
      notes: "Ring twice 🔔",
      internal_notes: "difficult",
    });
    const { events, body } = await read(feed);
    expect(events).toEqual([
      {
        uid: booking.id,
        sequence: booking.version,
        stamp: booking.updated_at.replace(/\.\d{3}Z/, ".000Z"),
        start: booking.starts_at,
        end: booking.ends_at,
        status: "CONFIRMED",
        summary: "Massage – Marta Rossi",
        description: `Client: Marta Rossi\nPhone: +39 333 1234567\nE-mail: ${client.email}\n\nRing twice 🔔`,
        location: "Via Roma 1",
      },
    ]);
    expect(body).toContain("X-WR-TIMEZONE:Asia/Kathmandu\r\n");
    expect(body).toContain("NAME:My phone\r\n");
    expect(body).not.toContain("difficult");
  });

  test("shows blocked time, and what is still to be confirmed as tentative", async () => {
    const { professional, book, block } = await setUp({ language: "it" });
    const feed = await createFeed(professional);
    await block(inHours(5), inHours(7), { notes: "Dentista" });
    await book(inHours(9), { status: "pending" });
    expect((await read(feed)).events).toMatchObject([
      { summary: "Bloccato", description: "Dentista", start: inHours(5), end: inHours(7) },
      { summary: "Massage – Marta Rossi", status: "TENTATIVE", start: inHours(9) },
    ]);
  });

  test("has what was moved under the same UID with a higher SEQUENCE", async () => {
    const { professional, book } = await setUp();
    const feed = await createFeed(professional);
    const booking = await book(inHours(24));
    await professional.api
      .from("bookings")
      .update({ starts_at: inHours(48) })
      .eq("id", booking.id);
    const { version } = await rowOf("bookings", booking);
    expect(version).toBeGreaterThan(booking.version);
    expect((await read(feed)).events).toMatchObject([
      { uid: booking.id, sequence: version, start: inHours(48) },
    ]);
  });

  test("lets go of what is cancelled, and takes it back", async () => {
    const { professional, book } = await setUp();
    const feed = await createFeed(professional);
    const booking = await book(inHours(24));
    const other = await book(inHours(48));
    const become = (status: string) =>
      professional.api.from("bookings").update({ status }).eq("id", booking.id);
    await become("cancelled");
    expect((await read(feed)).events.map(({ uid }) => uid)).toEqual([other.id]);
    await become("confirmed");
    expect((await read(feed)).events.map(({ uid }) => uid)).toEqual([booking.id, other.id]);
  });

  test.each(["completed", "no_show"])("keeps what is %s where it was", async (status) => {
    const { professional, book } = await setUp();
    const feed = await createFeed(professional);
    const booking = await book(inHours(-24));
    await professional.api.from("bookings").update({ status }).eq("id", booking.id);
    expect((await read(feed)).events).toMatchObject([{ uid: booking.id, status: "CONFIRMED" }]);
  });

  test("says nothing of a hold before it is a booking", async () => {
    const { professional, book } = await setUp();
    const feeds = [await createFeed(professional), await createFeed(professional, "busy")];
    const booking = await book(inHours(24), { status: "pending" });
    const seen = () => Promise.all(feeds.map(async (feed) => (await read(feed)).events.length));
    expect(await seen()).toEqual([1, 1]);
    for (const time of ["1 hour", "-1 hour"]) {
      await sql`
        update public.bookings set expires_at = now() + ${time}::interval where id = ${booking.id}`;
      expect(await seen()).toEqual([0, 0]);
    }
    await sql`update public.bookings set expires_at = null where id = ${booking.id}`;
    expect(await seen()).toEqual([1, 1]);
  });

  test("goes on with a client who is archived, and without one who is erased", async () => {
    const { professional, client, book } = await setUp();
    const feed = await createFeed(professional);
    await book(inHours(24), { notes: "Bad knee" });
    await professional.api.from("clients").update({ archived: true }).eq("id", client.id);
    expect((await read(feed)).events).toMatchObject([{ summary: "Massage – Marta Rossi" }]);
    const { error } = await professional.api.rpc("erase_client", { client_id: client.id });
    expect(error).toBeNull();
    const { events, body } = await read(feed);
    expect(events).toMatchObject([{ description: expect.stringMatching(/^[^\n]*Erased$/) }]);
    expect(body).not.toMatch(/Marta|333|marta-|knee/);
  });

  test("shows one professional's bookings only", async () => {
    const [one, other] = await Promise.all([setUp(), setUp()]);
    await other.book(inHours(24));
    await other.block(inHours(30), inHours(31));
    const feed = await createFeed(one.professional);
    expect((await read(feed)).events).toEqual([]);
    const booking = await one.book(inHours(24));
    expect((await read(feed)).events.map(({ uid }) => uid)).toEqual([booking.id]);
  });

  test("has 1000 characters of long notes", async () => {
    const { professional, block } = await setUp();
    const feed = await createFeed(professional);
    await block(inHours(1), inHours(2), { notes: "è".repeat(1000) });
    await block(inHours(3), inHours(4), { notes: "è".repeat(1001) });
    expect((await read(feed)).events.map(({ description }) => description)).toEqual([
      "è".repeat(1000),
      `${"è".repeat(999)}…`,
    ]);
  });

  // Of these two at least one has another date than UTC, whenever it is.
  test.each(["Pacific/Kiritimati", "Pacific/Pago_Pago"])(
    "reaches from 90 days back to 400 ahead, by the dates of %s",
    async (time_zone) => {
      const { professional, block } = await setUp({ time_zone });
      const feed = await createFeed(professional);
      const begin = instantOf(dateIn(-90, time_zone), "00:00", time_zone);
      const end = instantOf(dateIn(400, time_zone), "24:00", time_zone);
      const minute = 60_000;
      const around = (from: number, to: number) => block(iso(from), iso(to));
      await around(begin - 2 * HOUR, begin - HOUR);
      await around(begin - HOUR, begin);
      const first = await around(begin, begin + minute);
      const last = await around(end - minute, end);
      await around(end, end + HOUR);
      expect((await read(feed)).events.map(({ uid }) => uid)).toEqual([first.id, last.id]);
    },
  );

  test("has what began long before and what ends after", async () => {
    const { professional, block } = await setUp();
    const feed = await createFeed(professional);
    const at = (days: number) => iso(instantOf(dateIn(days), "12:00", "UTC"));
    const long = await block(at(-455), at(-89));
    const late = await block(at(400), at(500));
    expect((await read(feed)).events.map(({ uid }) => uid)).toEqual([long.id, late.id]);
  });
});

describe("a feed of busy times", () => {
  test("says when, and shows nothing of anybody", async () => {
    const { professional, client, book, block } = await setUp();
    const feed = await createFeed(professional, "busy");
    const booking = await book(inHours(24), { notes: "Bad knee", internal_notes: "difficult" });
    await block(inHours(30), inHours(31), { notes: "Dentist" });
    const { events, body } = await read(feed);
    expect(events).toMatchObject([
      {
        uid: booking.id,
        sequence: booking.version,
        start: booking.starts_at,
        end: booking.ends_at,
        status: null,
        summary: "Busy",
        description: null,
        location: null,
      },
      { summary: "Busy", description: null, status: null },
    ]);
    for (const secret of [
      "Massage|Marta|333|Roma|knee|difficult|Dentist|confirmed|CONFIRMED",
      client.id,
      client.email as string,
      professional.id,
    ]) {
      expect(body).not.toMatch(new RegExp(secret));
    }
  });

  test("is told no more by the database either", async () => {
    const { professional, book } = await setUp();
    const feed = await createFeed(professional, "busy");
    const booking = await book(inHours(24), { notes: "Bad knee" });
    const { data } = await ask(tokenOf(feed));
    expect(data).toEqual({
      retry_after: null,
      etag: expect.stringMatching(/^[0-9a-f]{32}$/),
      feed: {
        name: "My phone",
        detail: "busy",
        language: "en",
        time_zone: "UTC",
        entries: [
          {
            id: booking.id,
            version: booking.version,
            updated_at: booking.updated_at,
            starts_at: booking.starts_at,
            ends_at: booking.ends_at,
          },
        ],
      },
    });
  });
});

/** What the function asks. */
const ask = (token: string, args: { ip?: string; ip_limit?: number; etags?: string[] } = {}) =>
  server().rpc("calendar_feed", {
    token_hash: hashOf(token),
    ip: "192.0.2.1",
    ip_limit: 100_000,
    etags: [],
    ...args,
  });

describe("an answer", () => {
  let ana: Awaited<ReturnType<typeof setUp>>;
  let feed: Feed;
  beforeAll(async () => {
    ana = await setUp();
    feed = await createFeed(ana.professional);
    await ana.book(inHours(24), { notes: "Ring twice 🔔" });
  });

  test("is a calendar for its reader's own cache, and needs neither key nor token", async () => {
    const response = await fetchFeed(feed);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/calendar; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("private");
    expect(response.headers.get("etag")).toMatch(/^W\/"[0-9a-f]{32}"$/);
    for (const line of (await response.text()).split("\r\n")) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    }
  });

  test("to HEAD has the headers and no body", async () => {
    // As it is: a compressed answer has another length.
    const headers = { "accept-encoding": "identity" };
    const [got, head] = await Promise.all([
      fetchFeed(feed, { headers }),
      fetchFeed(feed, { headers, method: "HEAD" }),
    ]);
    expect(Number(got.headers.get("content-length"))).toBeGreaterThan(100);
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    for (const name of ["etag", "content-type", "content-length", "cache-control"]) {
      expect(head.headers.get(name)).toBe(got.headers.get(name));
    }
    const missing = await fetchFeed(
      { path: feed.path.replace(tokenOf(feed), "x".repeat(43)) },
      { method: "HEAD" },
    );
    expect(missing.status).toBe(404);
  });

  test.each(["GET", "HEAD"])(
    "to %s is 304 for who has it, by any form of its tag",
    async (method) => {
      const { etag } = await read(feed);
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
        const response = await fetchFeed(feed, { method, ...knowing(known) });
        expect([known, response.status]).toEqual([known, 304]);
        expect(response.headers.get("etag")).toBe(etag);
        expect(response.headers.get("cache-control")).toBe("private");
        expect(await response.text()).toBe("");
      }
      for (const other of ['W/"other"', etag.toUpperCase().replace("W/", ""), "nonsense", ""]) {
        expect((await fetchFeed(feed, { method, ...knowing(other) })).status).toBe(200);
      }
    },
  );

  test("that is known already is not built: the database sends none of it", async () => {
    const { data } = await ask(tokenOf(feed));
    const { etag } = data as { etag: string };
    expect((await ask(tokenOf(feed), { etags: ["other", etag] })).data).toEqual({
      retry_after: null,
      etag,
      feed: null,
    });
  });

  test("has another tag when what is shown changes, and the same one otherwise", async () => {
    const { professional, service, client, book } = await setUp();
    const feeds = {
      full: await createFeed(professional),
      busy: await createFeed(professional, "busy"),
    };
    const booking = await book(inHours(24));
    const tags = async () => ({
      full: (await read(feeds.full)).etag,
      busy: (await read(feeds.busy)).etag,
    });
    let before = await tags();
    expect(await tags()).toEqual(before);
    expect(before.full).not.toBe(before.busy);

    /** Which of the two tell of a change. */
    const changedBy = async (change: PromiseLike<{ error: unknown }>) => {
      expect((await change).error).toBeNull();
      const after = await tags();
      const changed = { full: after.full !== before.full, busy: after.busy !== before.busy };
      before = after;
      return changed;
    };
    const { api } = professional;
    const update = (table: string, id: string, values: object) =>
      api
        .from(table as "bookings")
        .update(values as never)
        .eq("id", id);

    const both = { full: true, busy: true };
    const fullOnly = { full: true, busy: false };
    const neither = { full: false, busy: false };
    expect(await changedBy(update("clients", client.id, { phone: "1" }))).toEqual(fullOnly);
    expect(await changedBy(update("clients", client.id, { notes: "tall" }))).toEqual(neither);
    expect(await changedBy(update("services", service.id, { location: "Rome" }))).toEqual(fullOnly);
    expect(await changedBy(update("services", service.id, { price: 99 }))).toEqual(neither);
    expect(await changedBy(update("bookings", booking.id, { notes: "new" }))).toEqual(both);
    expect(await changedBy(update("bookings", booking.id, { starts_at: inHours(40) }))).toEqual(
      both,
    );
    expect(await changedBy(update("bookings", booking.id, { status: "cancelled" }))).toEqual(both);
    expect(
      await changedBy(update("profiles", professional.id, { time_zone: "Asia/Tokyo" })),
    ).toEqual(both);
    expect(await changedBy(update("profiles", professional.id, { bio: "Hello" }))).toEqual(neither);
  });

  test("has a tag of what is shown and of the professional's date", async () => {
    for (const time_zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
      const { professional, book } = await setUp({ time_zone });
      const { etag, feed: shown } = (await (async () => {
        const made = await createFeed(professional);
        await book(inHours(24));
        return (await ask(tokenOf(made))).data;
      })()) as { etag: string; feed: object };
      const tagOn = async (days: number) => {
        const [row] = await sql<{ etag: string }[]>`
          select private.feed_etag(${dateIn(days, time_zone)}, ${sql.json(shown as never)}) as etag`;
        return row?.etag;
      };
      expect(await tagOn(0)).toBe(etag);
      expect(await tagOn(1)).not.toBe(etag);
      expect(await tagOn(-1)).not.toBe(etag);
    }
  });

  test("is 404 for a token that opens nothing, whatever it looks like", async () => {
    const bodies = await Promise.all(
      ["x".repeat(43), "x", `${tokenOf(feed)}x`, tokenOf(feed).toLowerCase(), "%00"].map(
        async (token) => {
          const response = await fetchFeed({ path: `/functions/v1/calendar/feed/${token}.ics` });
          return [response.status, await response.json()];
        },
      ),
    );
    expect(bodies).toEqual(Array(5).fill([404, NOT_FOUND]));
  });

  test("does not come from the token's hash, nor from a feed's id", async () => {
    for (const guess of [hashOf(tokenOf(feed)), feed.id]) {
      const response = await fetchFeed({ path: `/functions/v1/calendar/feed/${guess}.ics` });
      expect(response.status).toBe(404);
    }
  });
});

describe("limits", () => {
  // A network of each test's own.
  const network = () => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}`;
  const limited = { retry_after: expect.any(Number) };

  test("count tokens that open nothing by the network", async () => {
    const here = network();
    const guess = (host: string) =>
      ask(randomUUID(), { ip: `${here}::${host}`, ip_limit: 3 }).then(({ data }) => data);
    for (const host of ["1", "2", "3"]) expect(await guess(host)).toBeNull();
    const refused = await guess("4");
    expect(refused).toEqual(limited);
    // A third of an hour until one more fits.
    expect((refused as { retry_after: number }).retry_after).toBeGreaterThan(1000);
    expect((await ask(randomUUID(), { ip: `${network()}::1`, ip_limit: 3 })).data).toBeNull();
  });

  test("count each feed by the network, and tell a known tag no more", async () => {
    const professional = await createProfessional();
    const [one, two] = [await createFeed(professional), await createFeed(professional)];
    const here = `${network()}::1`;
    const get = async (feed: Feed, ip = here, etags: string[] = []) =>
      (await ask(tokenOf(feed), { ip, ip_limit: 2, etags })).data;
    const open = expect.objectContaining({ retry_after: null });
    expect(await get(one)).toEqual(open);
    expect(await get(one, here, ["*"])).toEqual(open);
    expect(await get(one)).toEqual(limited);
    expect(await get(one, here, ["*"])).toEqual(limited);
    expect(await get(two)).toEqual(open);
    expect(await get(one, `${network()}::1`)).toEqual(open);
  });

  test("of those who guess do not shut out who knows, from the same network", async () => {
    const feed = await createFeed(await createProfessional());
    const ip = `${network()}::1`;
    for (let tries = 0; tries < 5; tries++) await ask(randomUUID(), { ip, ip_limit: 2 });
    expect((await ask(randomUUID(), { ip, ip_limit: 2 })).data).toEqual(limited);
    expect((await ask(tokenOf(feed), { ip, ip_limit: 2 })).data).toMatchObject({
      retry_after: null,
      feed: {},
    });
  });

  test("are counted by neither token nor hash", async () => {
    const feed = await createFeed(await createProfessional());
    await ask(tokenOf(feed), { ip: "192.0.2.77", ip_limit: 77 });
    const rows = await sql<{ key: string }[]>`
      select key from private.request_counters where strpos(key, ${feed.id}) > 0`;
    expect(rows).toEqual([{ key: `feed ${feed.id} 192.0.2.77 77` }]);
  });

  test("let a caller pass whose address nobody knows", async () => {
    const feed = await createFeed(await createProfessional());
    const { data, error } = await ask(tokenOf(feed), { ip: null as never });
    expect(error).toBeNull();
    expect(data).toMatchObject({ retry_after: null });
  });

  test.each([
    ["token_hash", { token_hash: "x" }],
    ["token_hash", { token_hash: null }],
    ["ip", { ip: "x".repeat(101) }],
    ["ip_limit", { ip_limit: 0 }],
    ["etags", { etags: Array(21).fill("x") }],
    ["etags", { etags: null }],
  ])("and arguments are checked: %s", async (field, args) => {
    const valid = { token_hash: hashOf("x"), ip: "192.0.2.1", ip_limit: 1000, etags: [] };
    const { error, status } = await server().rpc("calendar_feed", { ...valid, ...args } as never);
    expect([status, error?.code]).toEqual([422, "validation_failed"]);
    expect(JSON.parse(error?.details ?? "")).toEqual({ fields: [field] });
  });
});

test("5 010 bookings are shown in one answer but for those that are furthest off", async () => {
  const professional = await createProfessional();
  const feed = await createFeed(professional);
  // An hour every second hour from 80 days back. As the professional, whose writes nobody else waits for;
  // a request writes at most 1000 rows.
  const start = iso(Date.now() - 80 * 24 * HOUR);
  for (let first = 0; first < 5010; first += 1000) {
    await asCaller(
      professional.claims,
      (tx) => tx`
        insert into public.bookings (starts_at, ends_at, notes)
        select at, at + interval '1 hour', 'Number ' || i
        from generate_series(${first}::integer, least(${first} + 999, 5009)) as i
        cross join lateral (select ${start}::timestamptz + i * interval '2 hours' as at) as t`,
    );
  }
  const { events } = await read(feed);
  expect(events).toHaveLength(5000);
  expect(events.map(({ description }) => description)).toEqual(
    Array.from({ length: 5000 }, (_, i) => `Number ${i}`),
  );
}, 60_000);

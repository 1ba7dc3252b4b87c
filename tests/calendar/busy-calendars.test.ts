/** Busy calendars over HTTP: connected, read by the scheduler, gone again; and nothing told of their address. */
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it, test } from "vitest";
import {
  type BusyCalendar,
  busyRoute,
  busyTimesOf,
  calendarFile,
  calendarsOf,
  connect,
  event,
  type HostAnswer,
  readAgain,
  startHost,
  untilCalendar,
} from "../support/busy.ts";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { anonymous, request } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  createProfessional,
  type Professional,
} from "../support/factories.ts";
import { createProgram } from "../support/keys.ts";
import { book, freeStarts, openProfessional, openService, refusal } from "../support/scheduling.ts";
import { refusalOf } from "../support/webhooks.ts";

const date = dateIn(30);
const at = (time: string, zone = "UTC") => iso(instantOf(date, time, zone));
const MEETING = event(at("11:00"), at("12:30"));
const MEETING_TIME = `${at("11:00")}/${at("12:30")}`;

/** A professional with one calendar that has been read, or has failed. */
async function connected(
  answer: HostAnswer | (() => HostAnswer),
  who?: Professional,
): Promise<{
  ana: Professional;
  host: Awaited<ReturnType<typeof startHost>>;
  calendar: BusyCalendar;
}> {
  const [ana, host] = await Promise.all([
    who ?? openProfessional({ time_zone: "UTC" }),
    startHost(typeof answer === "function" ? answer : () => answer),
  ]);
  const { id } = await connect(ana, host.url);
  const calendar = await untilCalendar(ana, id, ({ status }) => status !== "pending");
  return { ana, host, calendar };
}

describe("a calendar", () => {
  test("that is connected is read by the scheduler, and blocks starts until it is deleted", async () => {
    const host = await startHost(() => ({ body: calendarFile(MEETING) }));
    const ana = await openProfessional({ time_zone: "UTC" });
    const service = await openService(ana, { slot_step: 60 });
    const made = await connect(ana, host.url, " Work ");
    expect(made).toEqual({
      id: expect.any(String),
      name: "Work",
      host: new URL(host.url).host,
      status: "pending",
      error: null,
      error_detail: null,
      last_synced_at: null,
      created_at: expect.stringMatching(/Z$/),
    });
    const read = await untilCalendar(ana, made.id, ({ status }) => status !== "pending");
    expect(read).toEqual({
      ...made,
      status: "ok",
      last_synced_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(await calendarsOf(ana)).toEqual([read]);
    expect(await busyTimesOf(made)).toEqual([MEETING_TIME]);
    const free = await freeStarts(anonymous(), service, date);
    expect(free).toContain(at("10:00"));
    expect(free).not.toContain(at("11:00"));
    expect(refusal(await book(anonymous(), service, at("12:00")))).toEqual({
      status: 409,
      code: "slot_taken",
    });

    const gone = await busyRoute(ana, `/${made.id}`, { method: "DELETE" });
    expect([gone.status, await gone.text()]).toEqual([204, ""]);
    expect(await calendarsOf(ana)).toEqual([]);
    expect(await busyTimesOf(made)).toEqual([]);
    expect((await book(anonymous(), service, at("12:00"))).error).toBeNull();
    expect(await refusalOf(busyRoute(ana, `/${made.id}`, { method: "DELETE" }))).toMatchObject({
      status: 404,
      code: "PGRST301",
    });
  });

  test("is asked for by its version, and nothing changes while that is the same", async () => {
    const ask: { status?: number } = {};
    const { ana, host, calendar } = await connected(() => ({
      ...ask,
      headers: { etag: '"v1"', "last-modified": "Sat, 28 Nov 2026 09:00:00 GMT" },
      ...(ask.status !== 304 && { body: calendarFile(MEETING) }),
    }));
    expect(host.asked[0]?.headers).toMatchObject({
      accept: expect.stringContaining("text/calendar"),
    });
    expect(host.asked[0]?.headers).not.toHaveProperty("if-none-match");

    ask.status = 304;
    expect((await readAgain(ana, calendar)).status).toBe("ok");
    expect(host.asked[1]?.headers).toMatchObject({
      "if-none-match": '"v1"',
      "if-modified-since": "Sat, 28 Nov 2026 09:00:00 GMT",
    });
    expect(await busyTimesOf(calendar)).toEqual([MEETING_TIME]);

    delete ask.status;
    await sql`
      update private.busy_calendars set read_at = read_at - interval '25 hours'
      where id = ${calendar.id}`;
    await readAgain(ana, calendar);
    expect(host.asked[2]?.headers).not.toHaveProperty("if-none-match");
    expect(host.asked[2]?.headers).not.toHaveProperty("if-modified-since");
  });

  test("with whole days and times without a zone moves when its professional does", async () => {
    const day = date.replaceAll("-", "");
    const { ana, host, calendar } = await connected({
      headers: { etag: '"v1"' },
      body: calendarFile(
        [`DTSTART;VALUE=DATE:${dateIn(40).replaceAll("-", "")}`],
        [`DTSTART:${day}T110000`, `DTEND:${day}T123000`],
      ),
    });
    expect((await busyTimesOf(calendar))[0]).toBe(MEETING_TIME);
    await ana.api.from("profiles").update({ time_zone: "Asia/Kathmandu" }).eq("id", ana.id);
    await readAgain(ana, calendar);
    expect(host.asked[1]?.headers).not.toHaveProperty("if-none-match");
    const midnight = iso(instantOf(dateIn(40), "00:00", "Asia/Kathmandu"));
    expect(await busyTimesOf(calendar)).toEqual([
      `${at("11:00", "Asia/Kathmandu")}/${at("12:30", "Asia/Kathmandu")}`,
      expect.stringMatching(new RegExp(`^${midnight}/`)),
    ]);
  });

  test("does not block by the professional's own bookings, whatever time it shows for them", async () => {
    const ana = await openProfessional({ time_zone: "UTC" });
    const ivo = await openProfessional({ time_zone: "UTC" });
    const bookings = await Promise.all(
      [ana, ivo].map(async (who) =>
        createBooking(who, {
          client_id: (await createClientRow(who)).id,
          service_id: (await openService(who)).id,
          starts_at: at("09:00"),
        }),
      ),
    );
    const [mine, theirs] = bookings.map(({ id }) => id);
    const { calendar } = await connected(
      {
        body: calendarFile(
          event(at("09:00"), at("10:00"), `UID:${mine}`),
          event(at("13:00"), at("14:00"), `UID:${theirs}`),
          event(at("15:00"), at("16:00"), "UID:somebody@example.com"),
        ),
      },
      ana,
    );
    expect(await busyTimesOf(calendar)).toEqual([
      `${at("13:00")}/${at("14:00")}`,
      `${at("15:00")}/${at("16:00")}`,
    ]);
  });

  test("does not block by what its professional has declined, under either address", async () => {
    const ana = await openProfessional({ time_zone: "UTC", contact_email: "ana@studio.example" });
    const declined = (address: string) => `ATTENDEE;PARTSTAT=DECLINED:mailto:${address}`;
    const { calendar } = await connected(
      {
        body: calendarFile(
          event(at("09:00"), at("10:00"), declined(ana.email)),
          event(at("11:00"), at("12:00"), declined("ANA@studio.example")),
          event(at("13:00"), at("14:00"), declined("somebody@example.com")),
        ),
      },
      ana,
    );
    expect(await busyTimesOf(calendar)).toEqual([`${at("13:00")}/${at("14:00")}`]);
  });

  test("may come compressed", async () => {
    const { calendar } = await connected({
      headers: { "content-encoding": "gzip" },
      body: gzipSync(calendarFile(MEETING)),
    });
    expect(await busyTimesOf(calendar)).toEqual([MEETING_TIME]);
  });

  test("may lead to another address three times, each within the rules", async () => {
    const host = await startHost(({ path }) => {
      const hops = Number(/\d$/.exec(path)?.[0] ?? 0);
      return hops === 3
        ? { body: calendarFile(MEETING) }
        : { status: [302, 301, 308][hops] as number, headers: { location: `/hop${hops + 1}` } };
    });
    const ana = await createProfessional();
    const { id } = await connect(ana, `${host.origin}/0`);
    expect((await untilCalendar(ana, id, ({ status }) => status !== "pending")).status).toBe("ok");
    expect(host.asked.map(({ path }) => path)).toEqual(["/0", "/hop1", "/hop2", "/hop3"]);
  });
});

describe("a calendar that fails", () => {
  const big = calendarFile([`DESCRIPTION:${"x".repeat(5 * 1024 * 1024)}`]);
  test.each<[string, HostAnswer, string, string | null]>([
    ["is gone", { status: 404 }, "http_error", "404"],
    ["breaks", { status: 503, body: "sorry" }, "http_error", "503"],
    ["says it is the same when nobody asked", { status: 304 }, "http_error", "304"],
    ["shows a page", { body: "<html>sign in</html>" }, "not_a_calendar", null],
    ["is empty", { body: "" }, "not_a_calendar", null],
    ["is cut off", { body: calendarFile(MEETING).slice(0, -20) }, "malformed_calendar", null],
    [
      "has a zone that nobody knows",
      {
        body: calendarFile(["DTSTART;TZID=Nowhere/Land:20270101T090000"]),
      },
      "unknown_zone",
      "Nowhere/Land",
    ],
    [
      "has a rule that never ends",
      {
        body: calendarFile([...MEETING, "RRULE:FREQ=SECONDLY"]),
      },
      "rule_refused",
      "FREQ=SECONDLY",
    ],
    ["is too large", { body: big }, "too_large", null],
    [
      "unpacks to too much",
      {
        headers: { "content-encoding": "gzip" },
        body: gzipSync(big),
      },
      "too_large",
      null,
    ],
    ["hangs up", { hangsUp: true }, "no_connection", null],
    [
      "leads in a circle",
      { status: 302, headers: { location: "/again" } },
      "too_many_redirects",
      null,
    ],
    ["leads nowhere", { status: 302 }, "http_error", "302"],
    [
      "leads next to us",
      { status: 302, headers: { location: "http://10.0.0.1:80/" } },
      "url_not_allowed",
      "not_https",
    ],
    [
      "leads to a private host",
      { status: 307, headers: { location: "https://169.254.169.254/" } },
      "url_not_allowed",
      "host_not_public",
    ],
    [
      "leads to a file",
      { status: 301, headers: { location: "file:///etc/passwd" } },
      "url_not_allowed",
      "not_https",
    ],
  ])("because it %s says so, and keeps what it blocked", async (_, bad, error, detail) => {
    let answer: HostAnswer = { body: calendarFile(MEETING) };
    const { ana, calendar } = await connected(() => answer);
    expect(calendar.status).toBe("ok");
    answer = bad;
    const failed = await readAgain(ana, calendar);
    expect(failed).toEqual({ ...calendar, status: "failing", error, error_detail: detail });
    expect(await busyTimesOf(calendar)).toEqual([MEETING_TIME]);

    answer = { body: calendarFile() };
    expect(await readAgain(ana, calendar)).toMatchObject({ status: "ok", error: null });
    expect(await busyTimesOf(calendar)).toEqual([]);
  });

  test("because its body never ends is left after ten seconds", async () => {
    const { calendar } = await connected({ drips: true });
    expect(calendar).toMatchObject({ status: "failing", error: "no_answer_in_time" });
  });

  test("because the key to its address is gone says so", async () => {
    const { ana, calendar } = await connected({ body: calendarFile(MEETING) });
    await sql`
      update private.busy_calendars
      set sealed_address = 'gone' || substr(sealed_address, 3)
      where id = ${calendar.id}`;
    expect(await readAgain(ana, calendar)).toMatchObject({
      status: "failing",
      error: "address_unreadable",
    });
    expect(await busyTimesOf(calendar)).toEqual([MEETING_TIME]);
  });

  test("because its address was put into another's row opens nothing", async () => {
    const [one, other] = await Promise.all([
      connected({ body: calendarFile(MEETING) }),
      connected({ body: calendarFile() }),
    ]);
    await sql`
      update private.busy_calendars
      set sealed_address = (
        select sealed_address from private.busy_calendars where id = ${one.calendar.id}
      )
      where id = ${other.calendar.id}`;
    expect((await readAgain(other.ana, other.calendar)).error).toBe("address_unreadable");
    expect(await busyTimesOf(other.calendar)).toEqual([]);
  });
});

test("an address that was sealed under an earlier key is sealed anew when it is read", async () => {
  const { ana, host, calendar } = await connected({ body: calendarFile() });
  const key = Buffer.from("development-key-of-32-bytes-no-0");
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  const additionalData = new TextEncoder().encode(`busy_calendar\n${ana.id}`);
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv, additionalData },
    aes,
    new TextEncoder().encode(host.url),
  );
  const text = ["k0", Buffer.from(iv).toString("base64"), Buffer.from(sealed).toString("base64")];
  await sql`
    update private.busy_calendars set sealed_address = ${text.join(".")} where id = ${calendar.id}`;
  const sealedAddress = async () =>
    (await sql`select sealed_address from private.busy_calendars where id = ${calendar.id}`)[0]
      ?.sealed_address;

  expect((await readAgain(ana, calendar)).status).toBe("ok");
  const anew = await sealedAddress();
  expect(anew).toMatch(/^k1\./);
  expect((await readAgain(ana, calendar)).status).toBe("ok");
  // Once is enough.
  expect(await sealedAddress()).toBe(anew);
});

describe("sync now", () => {
  it("reads the calendar as a whole within seconds", async () => {
    let body = calendarFile();
    const { ana, host, calendar } = await connected(() => ({ headers: { etag: '"v1"' }, body }));
    body = calendarFile(MEETING);
    const answer = await busyRoute(ana, `/${calendar.id}/sync`, { method: "POST" });
    expect([answer.status, await answer.json()]).toEqual([202, calendar]);
    const after = await untilCalendar(
      ana,
      calendar.id,
      ({ last_synced_at }) => last_synced_at !== calendar.last_synced_at,
    );
    expect(after.status).toBe("ok");
    expect(host.asked.at(-1)?.headers).not.toHaveProperty("if-none-match");
    expect(await busyTimesOf(calendar)).toEqual([MEETING_TIME]);
  });

  it("is possible twelve times an hour", async () => {
    const { ana, calendar } = await connected({ body: calendarFile() });
    const sync = () => busyRoute(ana, `/${calendar.id}/sync`, { method: "POST" });
    for (let n = 0; n < 12; n++) expect((await sync()).status).toBe(202);
    const refused = await sync();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(1);
    expect(await refused.json()).toMatchObject({ code: "rate_limit_exceeded" });
  });
});

describe("who may", () => {
  const url = "http://127.0.0.1:9/calendar.ics";

  test("nobody touches the calendar of somebody else, or sees that there is one", async () => {
    const { calendar } = await connected({ body: calendarFile() });
    const ivo = await createProfessional();
    expect(await calendarsOf(ivo)).toEqual([]);
    for (const [method, path] of [
      ["DELETE", `/${calendar.id}`],
      ["DELETE", `/${crypto.randomUUID()}`],
      ["DELETE", "/nonsense"],
      ["POST", `/${calendar.id}/sync`],
      ["POST", `/${crypto.randomUUID()}/sync`],
      ["POST", "/nonsense/sync"],
    ] as const) {
      expect(await refusalOf(busyRoute(ivo, path, { method }))).toMatchObject({
        status: 404,
        code: "PGRST301",
      });
    }
  });

  test("only a professional with a session", async () => {
    const ana = await createProfessional();
    const portal = await createPortalSession(await createClientRow(ana));
    const body = JSON.stringify({ url });
    const post = (token?: string) =>
      request("/functions/v1/calendar/busy", { method: "POST", body, token });
    expect((await post()).status).toBe(401);
    expect((await post("nonsense")).status).toBe(401);
    expect((await post(portal.token)).status).toBe(403);
    await sql`delete from auth.sessions where id = ${ana.sessionId}`;
    expect((await post(ana.token)).status).toBe(401);
    expect((await request("/functions/v1/calendar/busy", { token: ana.token })).status).toBe(401);
  });

  test("no key adds one; a key that may write syncs and deletes, one that reads lists", async () => {
    const { ana, calendar } = await connected({ body: calendarFile() });
    const [writer, reader] = await Promise.all([
      createProgram(ana, "write"),
      createProgram(ana, "read"),
    ]);
    const add = { method: "POST", body: { url } };
    expect(await refusalOf(busyRoute(writer, "", add))).toMatchObject({
      status: 403,
      code: "person_required",
    });
    expect((await busyRoute(reader, "", add)).status).toBe(403);
    expect(await calendarsOf(reader)).toEqual([calendar]);
    for (const [method, path] of [
      ["POST", `/${calendar.id}/sync`],
      ["DELETE", `/${calendar.id}`],
    ] as const) {
      expect((await busyRoute(reader, path, { method })).status).toBe(403);
      expect((await busyRoute(writer, path, { method })).ok).toBe(true);
    }
    expect(await calendarsOf(ana)).toEqual([]);
  });

  test("at most three, also when they come at once", async () => {
    const ana = await createProfessional();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => busyRoute(ana, "", { method: "POST", body: { url } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422]);
    const refused = answers.find(({ status }) => status === 422);
    expect(await refused?.json()).toMatchObject({ code: "too_many_calendars" });
    expect(await calendarsOf(ana)).toHaveLength(3);
  });

  test("ask for thirty addresses an hour, and no more", async () => {
    const ana = await createProfessional();
    const post = () =>
      busyRoute(ana, "", { method: "POST", body: { url: "https://127.0.0.1/calendar.ics" } });
    const statuses = (await Promise.all(Array.from({ length: 31 }, post))).map((a) => a.status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    expect(statuses.filter((status) => status === 422)).toHaveLength(30);
  });

  test("the scheduler alone rings the dispatcher", async () => {
    const ring = (key: string) =>
      request("/functions/v1/calendar/dispatch", { method: "POST", headers: { apikey: key } });
    expect((await ring("nonsense")).status).toBe(401);
    expect((await ring("development-secret-of-all-dispatchers")).status).toBe(202);
  });
});

describe("an address", () => {
  let ana: Professional;
  beforeAll(async () => {
    ana = await createProfessional();
  });
  const post = (body: unknown) => refusalOf(busyRoute(ana, "", { method: "POST", body }));

  test.each([
    ["https://2130706433/SECRET", "host_not_public"],
    ["https://0x7f.1/SECRET", "host_not_public"],
    ["https://[::ffff:127.0.0.1]/SECRET", "host_not_public"],
    ["webcal://127.0.0.1/SECRET", "host_not_public"],
    ["webcal://localhost/SECRET", "host_not_public"],
    ["WEBCAL://metadata.google.internal/SECRET", "host_not_public"],
    ["webcal://10.0.0.1:8443/SECRET", "port_not_allowed"],
    ["webcal://user:pw@example.com/SECRET", "user_info_not_allowed"],
    ["webcal:example.com/SECRET", "not_https"],
    ["http://example.com/SECRET", "not_https"],
    ["ftp://example.com/SECRET", "not_https"],
    ["file:///etc/SECRET", "not_https"],
    ["SECRET", "not_a_url"],
  ])("%s is refused: %s, without a word of it", async (url, reason) => {
    const answer = await busyRoute(ana, "", { method: "POST", body: { url } });
    const text = await answer.text();
    const { code, details } = JSON.parse(text);
    expect([answer.status, code, JSON.parse(details)]).toEqual([
      422,
      "url_not_allowed",
      { reason },
    ]);
    expect(text).not.toContain("SECRET");
  });

  test.each<[string, unknown, string[]]>([
    ["no address", {}, ["url"]],
    ["a number", { url: 1 }, ["url"]],
    ["white space", { url: "https://example.com/SECRET x" }, ["url"]],
    ["one that is too long", { url: `https://example.com/${"SECRET".repeat(400)}` }, ["url"]],
    ["a key that nobody knows", { url: "https://example.com/SECRET", SECRET: 1 }, ["SECRET"]],
    ["a name that is too long", { url: "https://e.org/SECRET", name: "x".repeat(101) }, ["name"]],
  ])("with %s is refused", async (_, body, fields) => {
    const { status, code, details } = await post(body);
    expect([status, code]).toEqual([422, "validation_failed"]);
    expect(Object.keys((details as { fields: object }).fields)).toEqual(fields);
    if (!fields.includes("SECRET")) expect(JSON.stringify(details)).not.toContain("SECRET");
  });

  test("with an empty name is refused by the database, as a fault of the caller", async () => {
    expect(await post({ url: "http://127.0.0.1:9/", name: " " })).toMatchObject({
      status: 422,
      code: "validation_failed",
    });
  });

  test("is in no row of the database, and in no answer", async () => {
    const { ana: eva, host, calendar } = await connected({ body: calendarFile(MEETING) });
    host.answer = () => ({ status: 500 });
    await readAgain(eva, calendar);
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', n.nspname, c.relname) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname in ('public', 'private', 'auth')`;
    for (const { name } of tables) {
      const rows = await sql.unsafe(
        `select t::text from ${name} t where t::text like $1 or t::text like '%nobody-may-see%'`,
        [`%${host.secret}%`],
      );
      expect([name, rows]).toEqual([name, []]);
    }
    expect(JSON.stringify(await calendarsOf(eva))).not.toMatch(/secret-|sealed|k1\./);
  });
});

/** The routes and the dispatcher of busy calendars with the outside world in hand: what each does first, and what is logged. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../supabase/functions/_shared/errors.ts";
import { sealer } from "../../../supabase/functions/_shared/sealed.ts";
import {
  type BusySync,
  bookingUids,
  type SyncResult,
} from "../../../supabase/functions/calendar/busy-sync.ts";
import { calendar, event } from "./ics.ts";
import { calendarHandler } from "./world.ts";

const ID = "11111111-1111-4111-8111-111111111111";
/** What Google makes of an entry of ours. */
const PUSHED = `${ID.replaceAll("-", "")}g0@google.com`;
const URL_OF_CALENDAR = "https://calendar.example/SECRET.ics";
const keys = sealer(() =>
  JSON.stringify({ current: "k1", keys: { k1: Buffer.alloc(32, 1).toString("base64") } }),
);

const ask = (method: string, path: string, body?: object) =>
  new Request(`https://api.test/calendar${path}`, {
    method,
    ...(body && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
  });

describe("a route", () => {
  const root = new URL("../../../supabase/", import.meta.url);
  const migrations = readdirSync(new URL("migrations/", root))
    .map((name) => readFileSync(new URL(`migrations/${name}`, root), "utf8"))
    .join("\n");
  const isVolatile = (rpc: string) =>
    new RegExp(`create function public\\.${rpc}\\([^;]*?\\nvolatile\\n`).test(migrations);

  const CHANGING: [string, string, object?][] = [
    ["POST", "/busy", { url: URL_OF_CALENDAR }],
    ["DELETE", `/busy/${ID}`],
    ["POST", `/busy/${ID}/sync`],
  ];

  test.each(CHANGING)(
    "%s %s begins with a volatile RPC as the caller",
    async (method, path, body) => {
      const called: string[] = [];
      const handle = calendarHandler({
        sealer: keys,
        userToken: async () => "token",
        rpc: async (token, name) => {
          called.push(`${token} ${name}`);
          throw new ApiError(403, "no", "no");
        },
      });
      expect((await handle(ask(method, path, body))).status).toBe(403);
      expect(called).toHaveLength(1);
      const [token, name = ""] = called[0]?.split(" ") ?? [];
      expect(token).toBe("token");
      expect(isVolatile(name)).toBe(true);
      expect(isVolatile("busy_calendars")).toBe(false);
    },
  );

  test.each<[string, string, object?]>([
    ["POST", "/busy", { url: URL_OF_CALENDAR }],
    ["POST", `/busy/${ID}/sync`],
  ])("%s %s without keys is 503, before anything is done", async (method, path, body) => {
    const response = await calendarHandler({ userToken: async () => "token" })(
      ask(method, path, body),
    );
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: "calendar_not_configured", details: null });
  });

  test("to list and to delete needs no keys", async () => {
    const handle = calendarHandler({ userToken: async () => "token", rpc: async () => "{}" });
    expect((await handle(ask("GET", "/busy"))).status).toBe(200);
    expect((await handle(ask("DELETE", `/busy/${ID}`))).status).toBe(204);
  });

  test("stores the address sealed, for this professional, and its host", async () => {
    const stored: Record<string, unknown>[] = [];
    const looked: string[] = [];
    const handle = calendarHandler({
      sealer: keys,
      userToken: async () => "token",
      rpc: async () => JSON.stringify({ professional_id: ID }),
      resolve: async (host) => {
        looked.push(host);
        return ["93.184.215.14"];
      },
      serverRpc: (async (name: string, args: object) => {
        stored.push({ name, ...args });
        return { id: "new" };
      }) as never,
    });
    const url = URL_OF_CALENDAR.replace("https", "webcal");
    const response = await handle(ask("POST", "/busy", { url }));
    expect([response.status, await response.json()]).toEqual([201, { id: "new" }]);
    expect(looked).toEqual(["calendar.example"]);
    const [{ sealed_address, ...rest } = {}] = stored;
    expect(rest).toEqual({
      name: null,
      professional_id: ID,
      host: "calendar.example",
    });
    expect(
      await keys?.open(sealed_address as string, { professional_id: ID, purpose: "busy_calendar" }),
    ).toBe(URL_OF_CALENDAR);
  });

  test("that fails on our side logs nothing of the address", async () => {
    const logged: unknown[] = [];
    const handle = calendarHandler({
      sealer: keys,
      log: (entry) => logged.push([JSON.stringify(entry), String((entry.cause as Error).stack)]),
      userToken: async () => "token",
      rpc: async () => JSON.stringify({ professional_id: ID }),
      resolve: async () => ["93.184.215.14"],
      serverRpc: async () => {
        throw new Error("store_busy_calendar failed with status 500, code none");
      },
    });
    const response = await handle(ask("POST", "/busy", { url: URL_OF_CALENDAR }));
    expect(response.status).toBe(500);
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged) + (await response.text())).not.toMatch(
      /SECRET|calendar\.example/,
    );
  });
});

describe("the dispatcher", () => {
  const sync = async (changes: Partial<BusySync> = {}): Promise<BusySync> => ({
    calendar_id: ID,
    claim_token: ID,
    professional_id: ID,
    sealed_address: (await keys?.seal(URL_OF_CALENDAR, {
      professional_id: ID,
      purpose: "busy_calendar",
    })) as string,
    etag: null,
    last_modified: null,
    from: "2027-01-01T00:00:00.000Z",
    to: "2028-02-05T00:00:00.000Z",
    time_zone: "UTC",
    own_addresses: [],
    ...changes,
  });

  /** What one call of the dispatcher does with what is due. */
  async function dispatch(
    due: BusySync[],
    options: { host?: () => Response; ownUids?: (uids: string[]) => string[]; finishes?: boolean },
  ) {
    const results: SyncResult[] = [];
    const logged: string[] = [];
    const claims: number[] = [];
    let running: Promise<void> | undefined;
    const handle = calendarHandler({
      sealer: keys,
      log: ({ cause }) => logged.push(String((cause as Error).stack)),
      isDispatchSecret: async () => true,
      background: (task) => {
        running = task;
      },
      resolve: async () => ["93.184.215.14"],
      fetch: (async () => options.host?.() ?? new Response(calendar())) as typeof fetch,
      queue: {
        claim: async () => {
          claims.push(1);
          return due.shift() ?? null;
        },
        ownUids: async (_, uids) => options.ownUids?.(uids) ?? [],
        finish: async (_, result) => {
          if (options.finishes === false) throw new Error("finish_busy_sync failed");
          results.push(result);
        },
      },
    });
    expect((await handle(ask("POST", "/dispatch"))).status).toBe(202);
    await running;
    return { results, logged, claims: claims.length };
  }

  const MEETING = event("DTSTART:20270101T090000Z", "DTEND:20270101T100000Z", "SUMMARY:TITLE");
  const RANGE = { start: "2027-01-01T09:00:00.000Z", end: "2027-01-01T10:00:00.000Z" };

  test("reads one calendar a call, however many are due, and hands over ranges alone", async () => {
    const { results, logged, claims } = await dispatch([await sync(), await sync()], {
      host: () => new Response(calendar(MEETING), { headers: { etag: '"1"' } }),
    });
    expect(results).toEqual([
      { result: "read", ranges: [RANGE], time_zone: "UTC", etag: '"1"', last_modified: null },
    ]);
    expect([logged, claims]).toEqual([[], 1]);
  });

  test("does nothing when nothing is due", async () => {
    expect(await dispatch([], {})).toEqual({ results: [], logged: [], claims: 1 });
  });

  test("asks which UIDs are the professional's own", async () => {
    const asked: string[][] = [];
    const { results } = await dispatch([await sync()], {
      host: () => new Response(calendar(event(...MEETING.split("\r\n").slice(2, -1), `UID:${ID}`))),
      ownUids: (uids) => {
        asked.push(uids);
        return uids;
      },
    });
    expect(asked).toEqual([[ID]]);
    expect(results).toMatchObject([{ result: "read", ranges: [] }]);
  });

  test("fails a calendar with more ranges than the database takes", async () => {
    const minutes = Array.from({ length: 20_001 }, (_, n) => {
      const at = (m: number) =>
        new Date(Date.UTC(2027, 0, 1) + m * 60_000).toISOString().replace(/\.\d+|[-:]/g, "");
      return event(`DTSTART:${at(2 * n)}`, `DTEND:${at(2 * n + 1)}`);
    });
    const { results } = await dispatch([await sync()], {
      host: () => new Response(calendar(...minutes)),
    });
    expect(results).toEqual([{ result: "failed", error: "too_complex", error_detail: null }]);
  });

  test("logs neither address nor content when it fails", async () => {
    const { results, logged } = await dispatch([await sync()], {
      host: () => {
        throw new TypeError(`error sending request for url (${URL_OF_CALENDAR})`);
      },
    });
    expect(results).toEqual([{ result: "failed", error: "no_connection", error_detail: null }]);
    expect(logged).toEqual([]);
    const unfinished = await dispatch([await sync()], {
      host: () => new Response(calendar(MEETING)),
      finishes: false,
    });
    expect(unfinished.logged).toHaveLength(1);
    expect(unfinished.logged[0]).not.toMatch(/SECRET|TITLE/);
  });

  test("fails a calendar over a fault of ours, and logs where that was, not what the calendar said", async () => {
    const broken = new Proxy({}, { get: () => expect.fail("SECRET TITLE") }) as string;
    const { results, logged } = await dispatch([await sync({ own_addresses: [broken] })], {
      host: () => new Response(calendar(event("DTSTART:20270101T090000", "SUMMARY:TITLE"))),
    });
    expect(results).toEqual([{ result: "failed", error: "unreadable", error_detail: null }]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(/^a calendar could not be worked out\n\s+at /);
    expect(logged[0]).not.toMatch(/SECRET|TITLE/);
  });
});

describe("UIDs that may be those of bookings", () => {
  test.each<[string, string[]]>([
    [`UID:${ID}`, [ID]],
    [`uid:${ID}`, [ID]],
    [`UID:${ID.toUpperCase()}`, [ID.toUpperCase()]],
    [`UID;X-A=b:${ID}`, [ID]],
    [`UID:${ID.slice(0, 10)}\r\n ${ID.slice(10)}`, [ID]],
    [`UID:${ID.slice(0, 10)}\n\t${ID.slice(10)}`, [ID]],
    [`UID:${ID}\r\nUID:${ID}`, [ID]],
    [`UID:${PUSHED}`, [PUSHED]],
    [`X-UID:${ID}`, []],
    [`DESCRIPTION:UID:${ID}`, []],
    [`UID:${ID}@example.com`, []],
    ["UID:event-1@example.com", []],
  ])("in %j", (text, uids) => {
    expect(bookingUids(`BEGIN:VEVENT\r\n${text}\r\nEND:VEVENT\r\n`)).toEqual(uids);
  });

  test("are found in time in lines of space, which somebody may send to keep us busy", () => {
    const space = " \t".repeat(1_000_000);
    const lines = [`UID:a${space}b`, `UID:${space}`, `UID;${space}`, `UID:${space}${ID}${space}`];
    expect(bookingUids(lines.join("\r\n"))).toEqual([ID]);
  });

  test("are no more than the database takes", () => {
    const text = Array.from({ length: 20_100 }, () => `UID:${crypto.randomUUID()}`).join("\r\n");
    expect(bookingUids(text)).toHaveLength(20_000);
  });
});

/** What Google's answers come to, and what of a calendar is busy, without a Google. */
import { describe, expect, test } from "vitest";
import {
  type GoogleError,
  googleApi,
  googleConfig,
  type ListedEvent,
} from "../../../supabase/functions/_shared/google.ts";
import { mayBeBookingUid } from "../../../supabase/functions/calendar/busy-sync.ts";
import { googleBusy } from "../../../supabase/functions/calendar/google-busy.ts";

const CLIENT = { GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "secret" };
const configOf = (env: Record<string, string>) => googleConfig((name) => env[name]);

function api(answer: Response | Error) {
  const asked: Request[] = [];
  const config = configOf(CLIENT);
  if (!config) throw new Error("not configured");
  const google = googleApi(config, {
    fetch: async (input, init) => {
      asked.push(new Request(input, init));
      if (answer instanceof Error) throw answer;
      return answer;
    },
    now: () => new Date("2027-03-01T09:00:00Z"),
    timeoutMs: 1_000,
  });
  return { google, calendar: google.calendar("access"), asked };
}

const refusal = (status: number, reason: string, headers = {}) =>
  Response.json(
    { error: { errors: [{ reason }], message: "of a@b.example" } },
    { status, headers },
  );

async function faultOf(call: Promise<unknown>) {
  const error = (await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )) as GoogleError;
  return [error.fault, error.code, error.retryAfter];
}

describe("the OAuth client", () => {
  test("is none without variables, and a fault with one of two", () => {
    expect(configOf({})).toBeUndefined();
    expect(() => configOf({ GOOGLE_CLIENT_ID: "id" })).toThrow("GOOGLE_CLIENT_SECRET");
  });

  test("talks to Google unless it is told where else", () => {
    expect(configOf(CLIENT)).toMatchObject({
      tokenUrl: "https://oauth2.googleapis.com/token",
      revokeUrl: "https://oauth2.googleapis.com/revoke",
      apiUrl: "https://www.googleapis.com/calendar/v3",
    });
    expect(configOf({ ...CLIENT, GOOGLE_API_URL: "http://127.0.0.1:1/x/" })?.apiUrl).toBe(
      "http://127.0.0.1:1/x",
    );
  });
});

describe("an answer of the calendar", () => {
  test.each<[string, Response | Error, unknown[]]>([
    ["429", refusal(429, "", { "retry-after": "7" }), ["throttled", "rate_limited", 7]],
    ["a quota", refusal(403, "quotaExceeded"), ["throttled", "rate_limited", null]],
    [
      "a limit of the user",
      refusal(403, "userRateLimitExceeded"),
      ["throttled", "rate_limited", null],
    ],
    [
      "a wait of years",
      refusal(429, "", { "retry-after": "999999999" }),
      ["throttled", "rate_limited", 86_400],
    ],
    [
      "too little scope",
      refusal(403, "insufficientPermissions"),
      ["revoked", "scope_missing", null],
    ],
    ["another 403", refusal(403, "forbidden"), ["refused", "http_403", null]],
    ["401", refusal(401, "authError"), ["unavailable", "unauthorized", null]],
    ["404", refusal(404, "notFound"), ["gone", "deleted", null]],
    ["410", refusal(410, "deleted"), ["gone", "deleted", null]],
    ["409", refusal(409, "duplicate"), ["taken", "id_taken", null]],
    ["400", refusal(400, "invalid"), ["refused", "http_400", null]],
    ["503", refusal(503, "backendError"), ["unavailable", "no_answer", null]],
    [
      "a page that is none of the API's",
      new Response("<p>", { status: 502 }),
      ["unavailable", "no_answer", null],
    ],
    ["none", new TypeError("of https://secret"), ["unavailable", "no_answer", null]],
  ])("%s says what to do", async (_, answer, expected) => {
    expect(await faultOf(api(answer).calendar.remove("abcde"))).toEqual(expected);
  });

  test("that an event stays deleted is none of a change", async () => {
    const { calendar } = api(Response.json({ status: "cancelled" }));
    expect(await faultOf(calendar.update("abcde", {} as never))).toEqual(["gone", "deleted", null]);
  });

  test("that cannot be read is an error, never free time", async () => {
    const { calendar } = api(Response.json({ items: [{ id: 1 }] }));
    expect(await faultOf(calendar.list("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"))).toEqual([
      "refused",
      "malformed_calendar",
      null,
    ]);
  });

  test("with pages without an end is given up", async () => {
    const pages = { nextPageToken: "more", items: [] };
    const asked: string[] = [];
    const config = configOf(CLIENT);
    if (!config) throw new Error("not configured");
    const google = googleApi(config, {
      fetch: async (input) => {
        asked.push(String(input));
        return Response.json(pages);
      },
      now: () => new Date(0),
      timeoutMs: 1_000,
    });
    const list = google.calendar("a").list("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z");
    expect(await faultOf(list)).toEqual(["refused", "too_complex", null]);
    expect(asked).toHaveLength(8);
  });
});

describe("an answer about a token", () => {
  test.each<[string, Response, unknown[]]>([
    [
      "invalid_grant",
      Response.json({ error: "invalid_grant" }, { status: 400 }),
      ["revoked", "access_revoked", null],
    ],
    [
      "invalid_client",
      Response.json({ error: "invalid_client" }, { status: 401 }),
      ["unavailable", "client_refused", null],
    ],
    ["without a token", Response.json({}), ["unavailable", "no_answer", null]],
    ["429", new Response(null, { status: 429 }), ["throttled", "rate_limited", null]],
  ])("%s says what to do", async (_, answer, expected) => {
    expect(await faultOf(api(answer).google.refresh("token"))).toEqual(expected);
  });

  test.each([
    ["https://www.googleapis.com/auth/calendar.events", true],
    ["openid https://www.googleapis.com/auth/calendar email", true],
    ["https://www.googleapis.com/auth/calendar.events.readonly", false],
    ["https://www.googleapis.com/auth/calendar.readonly", false],
    ["", false],
  ])("has the scope, or has not: %j", async (scope, hasScope) => {
    const { google } = api(Response.json({ access_token: "a", scope }));
    expect(await google.refresh("token")).toEqual({
      accessToken: "a",
      hasScope,
      refreshToken: null,
    });
  });

  test("brings another one", async () => {
    const { google } = api(Response.json({ access_token: "a", refresh_token: "next" }));
    expect((await google.refresh("token")).refreshToken).toBe("next");
  });

  test.each([
    [new Response(null), true],
    [Response.json({ error: "invalid_token" }, { status: 400 }), true],
    [Response.json({ error: "invalid_request" }, { status: 400 }), false],
    [new Response(null, { status: 503 }), false],
    [new TypeError("no connection"), false],
  ])("to be revoked tells whether it is: %#", async (answer, over) => {
    expect(await api(answer).google.revoke("token")).toBe(over);
  });
});

describe("busy time", () => {
  const WINDOW = { from: "2027-01-01T00:00:00.000Z", to: "2028-01-01T00:00:00.000Z" };
  const options = { ...WINDOW, timeZone: "Europe/Rome", isOwn: () => false };
  const event = (start: object, end: object): ListedEvent => ({ id: "a", start, end });

  test("of whole days is the professional's, on both days that clocks change", () => {
    const day = (date: string, next: string) => event({ date }, { date: next });
    expect(googleBusy([day("2027-03-28", "2027-03-29")], options)).toEqual([
      { start: "2027-03-27T23:00:00.000Z", end: "2027-03-28T22:00:00.000Z" },
    ]);
    expect(googleBusy([day("2027-10-31", "2027-11-02")], options)).toEqual([
      { start: "2027-10-30T22:00:00.000Z", end: "2027-11-01T23:00:00.000Z" },
    ]);
  });

  test("is cut to the window and joined where it touches", () => {
    const timed = (from: string, to: string) => event({ dateTime: from }, { dateTime: to });
    expect(
      googleBusy(
        [
          timed("2027-05-01T11:00:00+02:00", "2027-05-01T12:00:00+02:00"),
          timed("2026-12-31T23:00:00Z", "2027-01-01T01:00:00Z"),
          timed("2027-05-01T08:00:00Z", "2027-05-01T09:00:00Z"),
        ],
        options,
      ),
    ).toEqual([
      { start: "2027-01-01T00:00:00.000Z", end: "2027-01-01T01:00:00.000Z" },
      { start: "2027-05-01T08:00:00.000Z", end: "2027-05-01T10:00:00.000Z" },
    ]);
  });

  test.each([
    ["without a start", event({}, { dateTime: "2027-05-01T09:00:00Z" })],
    ["without an end", event({ dateTime: "2027-05-01T09:00:00Z" }, {})],
    ["with words for a time", event({ dateTime: "soon" }, { dateTime: "later" })],
  ])("%s is an error, never free", (_, broken) => {
    expect(() => googleBusy([broken], options)).toThrow("malformed_calendar");
  });
});

test.each([
  ["a0000000-0000-4000-8000-000000000001", true],
  ["a0000000000040008000000000000001g0@google.com", true],
  ["a0000000000040008000000000000001g12@google.com", true],
  ["a0000000000040008000000000000001@google.com", false],
  ["a0000000000040008000000000000001g0@example.com", false],
  ["xa0000000000040008000000000000001g0@google.com", false],
])("a UID may be that of a booking: %s", (uid, may) => {
  expect(mayBeBookingUid(uid)).toBe(may);
});

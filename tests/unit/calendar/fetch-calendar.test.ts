/** How a calendar is fetched: where it may lead, how much of it is read, and what is told when it fails. */
import { describe, expect, test, vi } from "vitest";
import {
  type Fetched,
  fetchCalendar,
  type Version,
} from "../../../supabase/functions/calendar/fetch-calendar.ts";

const START = "https://calendar.example/SECRET.ics";
const NEW: Version = { etag: null, last_modified: null };
const MIB = 1024 * 1024;

type Host = (url: string, init: RequestInit) => Response | Promise<Response>;

/** Every name is of a public host unless `addresses` says otherwise. */
async function get(
  host: Host,
  {
    url = START,
    known = NEW,
    addresses = {},
    timeoutMs = 5000,
    allowLoopback = false,
  }: {
    url?: string;
    known?: Version;
    addresses?: Record<string, string[]>;
    timeoutMs?: number;
    allowLoopback?: boolean;
  } = {},
): Promise<{ result: Fetched; asked: string[]; sent: Headers[] }> {
  const asked: string[] = [];
  const sent: Headers[] = [];
  const result = await fetchCalendar(url, known, {
    allowLoopback,
    resolve: async (name) => addresses[name] ?? ["93.184.215.14"],
    timeoutMs,
    fetch: (async (input: string, init: RequestInit) => {
      asked.push(input);
      sent.push(new Headers(init.headers));
      expect(init.redirect).toBe("manual");
      return host(input, init);
    }) as typeof fetch,
  });
  return { result, asked, sent };
}

const redirect = (location: string, status = 302) =>
  new Response("moved", { status, headers: { location } });

describe("an answer", () => {
  test("is the text, and what the host calls that version", async () => {
    const headers = { etag: 'W/"1"', "last-modified": "Sat, 28 Nov 2026 09:00:00 GMT" };
    const { result, sent } = await get(() => new Response("\ufeffBEGIN:VCALENDAR è", { headers }));
    expect(result).toEqual({
      text: "BEGIN:VCALENDAR è",
      version: { etag: 'W/"1"', last_modified: "Sat, 28 Nov 2026 09:00:00 GMT" },
    });
    expect(sent[0]?.has("if-none-match")).toBe(false);
    expect(sent[0]?.has("if-modified-since")).toBe(false);
    expect(sent[0]?.has("authorization")).toBe(false);
  });

  test("whose version has a name that is too long has none", async () => {
    const headers = { etag: `"${"x".repeat(500)}"`, "last-modified": "x".repeat(101) };
    const { result } = await get(() => new Response("", { headers }));
    expect(result).toMatchObject({ version: NEW });
  });

  test.each<[Version, Record<string, string>]>([
    [{ etag: '"1"', last_modified: null }, { "if-none-match": '"1"' }],
    [{ etag: null, last_modified: "then" }, { "if-modified-since": "then" }],
  ])("of 304 to %j is unchanged", async (known, headers) => {
    const { result, sent } = await get(() => new Response(null, { status: 304 }), { known });
    expect(result).toEqual({ unchanged: true });
    for (const [name, value] of Object.entries(headers)) expect(sent[0]?.get(name)).toBe(value);
  });

  test("of 304 to somebody who knows no version is an error", async () => {
    const { result } = await get(() => new Response(null, { status: 304 }));
    expect(result).toEqual({ error: { code: "http_error", detail: "304" } });
  });

  test.each([400, 401, 403, 404, 410, 429, 500, 503])("of %d is an error", async (status) => {
    const { result } = await get(() => new Response("SECRET", { status }));
    expect(result).toEqual({ error: { code: "http_error", detail: String(status) } });
  });

  test.each([
    [5 * MIB, true],
    [5 * MIB + 1, false],
  ])("of %d bytes is read: %s", async (size, isRead) => {
    const { result } = await get(() => new Response("x".repeat(size)));
    if (isRead) expect(result).toMatchObject({ text: expect.any(String) });
    else expect(result).toEqual({ error: { code: "too_large", detail: null } });
  });

  test("without an end is left as soon as it is too large", async () => {
    let given = 0;
    const cancel = vi.fn();
    const endless = new ReadableStream({
      pull(controller) {
        given += MIB;
        controller.enqueue(new Uint8Array(MIB));
      },
      cancel,
    });
    const { result } = await get(() => new Response(endless));
    expect(result).toEqual({ error: { code: "too_large", detail: null } });
    expect(given).toBeLessThan(9 * MIB);
    expect(cancel).toHaveBeenCalled();
  });

  test.each<[string, Host]>([
    [
      "does not come",
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
        }),
    ],
    [
      "stops in its middle",
      (_, { signal }) =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode("BEGIN:VCALENDAR"));
              signal?.addEventListener("abort", () => controller.error(signal.reason));
            },
          }),
        ),
    ],
  ])("that %s in time is an error", async (_, host) => {
    const { result } = await get(host, { timeoutMs: 20 });
    expect(result).toEqual({ error: { code: "no_answer_in_time", detail: null } });
  });

  test("that breaks off is an error, never a part of the calendar", async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"));
        controller.error(new Error(`connection to ${START} closed`));
      },
    });
    const { result } = await get(() => new Response(broken));
    expect(result).toEqual({ error: { code: "no_connection", detail: null } });
  });

  test("that fails is told without the address, which the runtime's error quotes", async () => {
    const { result } = await get(() => {
      throw new TypeError(`error sending request for url (${START})`);
    });
    expect(result).toEqual({ error: { code: "no_connection", detail: null } });
  });
});

describe("a redirect", () => {
  test.each([301, 302, 303, 307, 308])(
    "of %d is followed, also relative, three times",
    async (status) => {
      const { result, asked, sent } = await get(
        (url) =>
          ({
            [START]: redirect("/1", status),
            "https://calendar.example/1": redirect("https://other.example/2", status),
            "https://other.example/2": redirect("3?a#b", status),
          })[url] ?? new Response("found"),
        { known: { etag: '"1"', last_modified: null } },
      );
      expect(result).toMatchObject({ text: "found" });
      expect(asked).toEqual([
        START,
        "https://calendar.example/1",
        "https://other.example/2",
        "https://other.example/3?a#b",
      ]);
      expect(sent[3]?.get("if-none-match")).toBe('"1"');
    },
  );

  test("is followed three times and no more", async () => {
    let hops = 0;
    const { result, asked } = await get(() => redirect(`/${++hops}`));
    expect(result).toEqual({ error: { code: "too_many_redirects", detail: null } });
    expect(asked).toHaveLength(4);
  });

  test.each(["", "https://", "http://[::1"])("to %j is an error", async (location) => {
    const host = () =>
      new Response(null, { status: 302, ...(location && { headers: { location } }) });
    expect((await get(host)).result).toEqual({ error: { code: "http_error", detail: "302" } });
  });

  /** The forms that addresses of webhooks are attacked with. */
  const HOSTILE: [string, string][] = [
    ["https://2130706433/", "host_not_public"],
    ["https://0x7f.1/", "host_not_public"],
    ["https://0177.0.0.1/", "host_not_public"],
    ["https://127.1/", "host_not_public"],
    ["https://127.0.0.1./", "host_not_public"],
    ["https://%31%32%37.0.0.1/", "host_not_public"],
    ["https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/", "host_not_public"],
    ["https://10.0.0.1/", "host_not_public"],
    ["https://169.254.169.254/latest/meta-data", "host_not_public"],
    ["https://192.168.1.1/", "host_not_public"],
    ["https://[::]/", "host_not_public"],
    ["https://[::1]/", "host_not_public"],
    ["https://[::ffff:127.0.0.1]/", "host_not_public"],
    ["https://[::ffff:5db8:d70e]/", "host_not_public"],
    ["https://[64:ff9b::7f00:1]/", "host_not_public"],
    ["https://[fd00::1]/", "host_not_public"],
    ["https://localhost/", "host_not_public"],
    ["https://LOCALHOST./", "host_not_public"],
    ["https://db/", "host_not_public"],
    ["https://metadata.google.internal/", "host_not_public"],
    ["https://printer.local/", "host_not_public"],
    ["https://private.example/", "host_not_public"],
    ["https://mixed.example/", "host_not_public"],
    ["https://missing.example/", "host_not_found"],
    ["https://user:pw@example.com/", "user_info_not_allowed"],
    ["https://user@example.com/", "user_info_not_allowed"],
    ["http://example.com/", "not_https"],
    ["http://127.0.0.1:80/", "not_https"],
    ["ftp://example.com/", "not_https"],
    ["file:///etc/passwd", "not_https"],
    ["data:text/calendar,BEGIN:VCALENDAR", "not_https"],
    ["javascript:alert(1)", "not_https"],
    ["webcal://example.com/", "not_https"],
    ["https://example.com:8443/", "port_not_allowed"],
  ];
  const addresses = {
    "private.example": ["10.1.2.3"],
    "mixed.example": ["93.184.215.14", "fd00::1"],
    "missing.example": [],
  };

  test.each(HOSTILE)(
    "to %s is refused: %s, and so it is as an address",
    async (location, reason) => {
      const refused = { error: { code: "url_not_allowed", detail: reason } };
      for (const hops of [1, 3]) {
        let left = hops;
        const { result, asked } = await get(() => redirect(--left > 0 ? "/next" : location), {
          addresses,
        });
        expect(result).toEqual(refused);
        expect(asked).toHaveLength(hops);
      }
      const { result, asked } = await get(() => new Response("found"), {
        url: location,
        addresses,
      });
      expect([result, asked]).toEqual([refused, []]);
    },
  );

  test("is looked up each time, since a name may lead elsewhere by then", async () => {
    const answers = [["93.184.215.14"], ["127.0.0.1"]];
    const fetched = vi.fn(async () => redirect(START));
    const result = await fetchCalendar(START, NEW, {
      allowLoopback: false,
      resolve: async () => answers.shift() ?? [],
      timeoutMs: 5000,
      fetch: fetched as typeof fetch,
    });
    expect(result).toEqual({ error: { code: "url_not_allowed", detail: "host_not_public" } });
    expect(fetched).toHaveBeenCalledTimes(1);
  });
});

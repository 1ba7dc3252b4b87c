/** What the tests of busy calendars share: a calendar's host on this machine, and the function's routes. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { patientFetch, request } from "./callers.ts";
import { closeAtTheEnd } from "./closing.ts";
import { sql } from "./database.ts";
import type { Professional } from "./factories.ts";
import { answerOf, until } from "./webhooks.ts";

export interface BusyCalendar {
  id: string;
  name: string | null;
  host: string;
  status: "pending" | "ok" | "failing";
  error: string | null;
  error_detail: string | null;
  last_synced_at: string | null;
  created_at: string;
}

type Who = Pick<Professional, "token">;

/** One request to the function, as the professional. */
export function busyRoute(
  caller: Who,
  path: string,
  init: { method?: string; body?: unknown; headers?: HeadersInit } = {},
): Promise<Response> {
  const { body, ...rest } = init;
  return request(
    `/functions/v1/calendar/busy${path}`,
    { ...rest, token: caller.token, ...(body !== undefined && { body: JSON.stringify(body) }) },
    patientFetch,
  );
}

export function connect(caller: Who, url: string, name?: string): Promise<BusyCalendar> {
  const body = { url, ...(name !== undefined && { name }) };
  return answerOf(busyRoute(caller, "", { method: "POST", body }));
}

export async function calendarsOf(caller: Who): Promise<BusyCalendar[]> {
  return (await answerOf<{ data: BusyCalendar[] }>(busyRoute(caller, ""))).data;
}

/** Waits for a calendar to be as wanted. */
export function untilCalendar(
  caller: Who,
  id: string,
  accept: (calendar: BusyCalendar) => boolean,
): Promise<BusyCalendar> {
  return until(async () => {
    const found = (await calendarsOf(caller)).find((calendar) => calendar.id === id);
    if (!found) throw new Error("no such calendar");
    return found;
  }, accept);
}

/**
 * Has it read once more, as the scheduler does by itself a little later, and waits for the end of that. Due after what
 * tests of the queue have, which run beside.
 */
export async function readAgain(caller: Who, { id }: { id: string }): Promise<BusyCalendar> {
  await sql`
    update private.busy_calendars set due_at = '2001-01-01', claim_token = null where id = ${id}`;
  await request("/functions/v1/calendar/dispatch", {
    method: "POST",
    headers: { apikey: "development-secret-of-all-dispatchers" },
  });
  await until(
    () => sql`
      select from private.busy_calendars
      where id = ${id} and claim_token is null and due_at > now()`,
    (rows) => rows.length === 1,
  );
  return untilCalendar(caller, id, () => true);
}

/** What a calendar blocks, in order, as `start/end`. */
export async function busyTimesOf(source: { id: string }): Promise<string[]> {
  const rows = await sql<{ start: Date; end: Date }[]>`
    select lower(range) as start, upper(range) as end
    from unnest((
      select range_agg(during) from private.busy_times where source_id = ${source.id}
    )) as range
    order by range`;
  return rows.map(({ start, end }) => `${start.toISOString()}/${end.toISOString()}`);
}

export interface HostAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Goes on with a line now and then, until the reader leaves. */
  drips?: boolean;
  hangsUp?: boolean;
}

export interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
}

export interface CalendarHost {
  /** Of a calendar there; what is behind its last slash is secret. */
  url: string;
  origin: string;
  secret: string;
  asked: Asked[];
  /** What the next request gets. */
  answer: (asked: Asked) => HostAnswer;
}

/** A host of calendars on this machine, closed with the test file. */
export async function startHost(answer: CalendarHost["answer"]): Promise<CalendarHost> {
  const server = createServer((incoming, outgoing) => {
    const asked = { path: incoming.url ?? "", headers: incoming.headers };
    host.asked.push(asked);
    const { status = 200, headers = {}, body = "", drips, hangsUp } = host.answer(asked);
    if (hangsUp) return void outgoing.destroy();
    outgoing.writeHead(status, { "content-type": "text/calendar", ...headers });
    if (!drips) return void outgoing.end(body);
    const timer = setInterval(() => outgoing.write("X-A:b\r\n"), 100);
    outgoing.on("close", () => clearInterval(timer));
  });
  closeAtTheEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const secret = `secret-${crypto.randomUUID()}`;
  const host: CalendarHost = { url: `${origin}/${secret}.ics`, origin, secret, asked: [], answer };
  return host;
}

/** A calendar file; each event is its lines. */
export function calendarFile(...events: string[][]): string {
  return [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//test//EN",
    ...events.flatMap((lines, n) => [
      "BEGIN:VEVENT",
      ...(lines.some((line) => line.startsWith("UID")) ? [] : [`UID:event-${n}@test`]),
      "DTSTAMP:20260101T000000Z",
      ...lines,
      "END:VEVENT",
    ]),
    "END:VCALENDAR",
    "",
  ].join("\r\n");
}

/** `2027-01-31T09:00:00.000Z` as calendars write it. */
export const stamp = (instant: string) => instant.replace(/\.\d+|[-:]/g, "");

export const event = (start: string, end: string, ...lines: string[]): string[] => [
  `DTSTART:${stamp(start)}`,
  `DTEND:${stamp(end)}`,
  "SUMMARY:TITLE-nobody-may-see",
  ...lines,
];

/** What one of the professional's calendars says, without a file. */
export async function makeBusy(
  professional: Pick<Professional, "id">,
  ...ranges: [start: string, end: string][]
): Promise<string> {
  const source = crypto.randomUUID();
  const given = ranges.map(([start, end]) => ({ start, end }));
  await sql`select private.replace_busy_times(${professional.id}, ${source}, ${sql.json(given)})`;
  return source;
}

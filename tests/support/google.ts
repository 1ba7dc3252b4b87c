/**
 * Google's OAuth and Calendar APIs as far as calendars need them, over HTTP, by the rules of its pages: tokens by
 * client, scopes, ids that stay used, errors with their reasons; and it fails as it is told.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export const CLIENT = { GOOGLE_CLIENT_ID: "client-1", GOOGLE_CLIENT_SECRET: "client-secret-1" };
export const EVENTS_SCOPE = "https://www.googleapis.com/auth/calendar.events";

const Moment = z.union([
  z.strictObject({ dateTime: z.iso.datetime({ offset: true }) }),
  z.strictObject({ date: z.iso.date() }),
]);

const written = {
  status: z.enum(["tentative", "confirmed"]),
  summary: z.string(),
  description: z.string(),
  location: z.string(),
  start: Moment,
  end: Moment,
  extendedProperties: z.strictObject({ private: z.record(z.string(), z.string()) }),
};
const Inserted = z.strictObject({ id: z.string(), ...written });
const Patched = z.strictObject(written).partial();

export type FakeEvent = Record<string, unknown> & {
  id: string;
  status: string;
  start: { date?: string; dateTime?: string };
  end: { date?: string; dateTime?: string };
};

export interface FakeAccount {
  refreshToken: string;
  scope: string;
  /** With those that are deleted, whose status is `cancelled`. */
  events: Map<string, FakeEvent>;
}

export interface GoogleRequest {
  /** `POST token`, `POST revoke`, or of events `LIST`, `GET`, `POST`, `PATCH`, `DELETE`. */
  call: string;
  id: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface GoogleFault {
  status: number;
  reason?: string;
  headers?: Record<string, string>;
}

export interface FakeGoogle {
  env: Record<string, string>;
  accounts: FakeAccount[];
  requests: GoogleRequest[];
  /** Events of a page. */
  pageSize: number;
  /** Nothing for the usual; `cut` ends the connection, `lose` the same after it was done. */
  fault: (request: GoogleRequest) => GoogleFault | "cut" | "lose" | undefined;
  /** Somebody who has let our client in. */
  grant(scope?: string): FakeAccount;
  close(): Promise<void>;
}

const lives = ({ status }: FakeEvent) => status !== "cancelled";
const timeOf = ({ date, dateTime }: FakeEvent["start"]) => Date.parse(dateTime ?? `${date}T00:00Z`);

/** `nextPageToken,items(id,start)` of a page: the names of an event that are asked for. */
function shownOf(fields: string, event: FakeEvent): object {
  const names = (/items\((.*)\)$/.exec(fields)?.[1] ?? "").replace(/\([^)]*\)/g, "").split(",");
  return Object.fromEntries(Object.entries(event).filter(([name]) => names.includes(name)));
}

export async function startGoogle(): Promise<FakeGoogle> {
  const accessTokens = new Map<string, FakeAccount>();

  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? "", "http://google");
    const isForm = incoming.headers["content-type"]?.startsWith(
      "application/x-www-form-urlencoded",
    );
    const [, id] = /\/events\/(.+)$/.exec(url.pathname) ?? [];
    const isList = incoming.method === "GET" && id === undefined;
    const name = /^\/(token|revoke)$/.exec(url.pathname)?.[1];
    const request: GoogleRequest = {
      call: name ? `${incoming.method} ${name}` : isList ? "LIST" : (incoming.method ?? ""),
      id: id ?? "",
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: isForm ? Object.fromEntries(new URLSearchParams(text)) : text && JSON.parse(text),
    };
    google.requests.push(request);
    const fault = google.fault(request);
    if (fault === "cut") return void outgoing.destroy();
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      if (fault === "lose") return void outgoing.destroy();
      outgoing.writeHead(status, { "content-type": "application/json", ...headers });
      outgoing.end(status === 204 ? undefined : JSON.stringify(body));
    };
    const refuse = (code: number, reason: string, headers = {}) =>
      answer(code, { error: { code, message: "of a@b.example", errors: [{ reason }] } }, headers);
    if (typeof fault === "object") return refuse(fault.status, fault.reason ?? "", fault.headers);

    if (name === "token") return token(request.body as Record<string, string>, answer);
    if (name === "revoke") {
      const { token } = request.body as Record<string, string>;
      const left = google.accounts.filter(({ refreshToken }) => refreshToken !== token);
      if (left.length === google.accounts.length) return answer(400, { error: "invalid_token" });
      google.accounts = left;
      return answer(200, {});
    }
    if (!url.pathname.startsWith("/calendar/v3/calendars/primary/events")) {
      return refuse(404, "notFound");
    }
    const [, bearer = ""] = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? "") ?? [];
    const account = accessTokens.get(bearer);
    if (!account || !google.accounts.includes(account)) return refuse(401, "authError");
    if (!account.scope.split(" ").includes(EVENTS_SCOPE)) {
      return refuse(403, "insufficientPermissions");
    }
    return events(account, request, answer, refuse);
  });

  function token(form: Record<string, string>, answer: (status: number, body: unknown) => void) {
    const { client_id, client_secret, grant_type, refresh_token } = form;
    if (client_id !== CLIENT.GOOGLE_CLIENT_ID || client_secret !== CLIENT.GOOGLE_CLIENT_SECRET) {
      return answer(401, { error: "invalid_client" });
    }
    if (grant_type !== "refresh_token") return answer(400, { error: "unsupported_grant_type" });
    const account = google.accounts.find(({ refreshToken }) => refreshToken === refresh_token);
    if (!account) return answer(400, { error: "invalid_grant" });
    const access_token = `access-${randomUUID()}`;
    accessTokens.set(access_token, account);
    return answer(200, {
      access_token,
      expires_in: 3599,
      scope: account.scope,
      token_type: "Bearer",
    });
  }

  function events(
    { events }: FakeAccount,
    { call, id, query, body }: GoogleRequest,
    answer: (status: number, body: unknown) => void,
    refuse: (status: number, reason: string) => void,
  ) {
    const found = events.get(id);
    switch (call) {
      case "LIST": {
        const { timeMin, timeMax, singleEvents, fields = "", maxResults = "", syncToken } = query;
        const [from, to] = [Date.parse(timeMin ?? ""), Date.parse(timeMax ?? "")];
        if (syncToken || singleEvents !== "true" || !(from < to) || !(Number(maxResults) <= 2500)) {
          return refuse(400, "badRequest");
        }
        const all = [...events.values()]
          .filter(lives)
          .filter(({ start, end }) => timeOf(end) > from && timeOf(start) < to);
        const first = Number(query.pageToken ?? 0);
        const next = first + google.pageSize;
        return answer(200, {
          items: all.slice(first, next).map((event) => shownOf(fields, event)),
          ...(next < all.length && { nextPageToken: String(next) }),
        });
      }
      case "POST": {
        const parsed = Inserted.safeParse(body);
        if (!parsed.success || !/^[a-v0-9]{5,1024}$/.test(parsed.data.id)) {
          return refuse(400, "invalid");
        }
        // Also of one that was deleted.
        if (events.has(parsed.data.id)) return refuse(409, "duplicate");
        const event = { ...parsed.data, iCalUID: `${parsed.data.id}@google.com` } as FakeEvent;
        events.set(event.id, event);
        return answer(200, event);
      }
      case "GET":
        return found ? answer(200, found) : refuse(404, "notFound");
      case "PATCH": {
        const parsed = Patched.safeParse(body);
        if (!parsed.success) return refuse(400, "invalid");
        if (!found || !lives(found)) return refuse(404, "notFound");
        events.set(id, { ...found, ...parsed.data } as FakeEvent);
        return answer(200, events.get(id));
      }
      case "DELETE":
        if (!found) return refuse(404, "notFound");
        if (!lives(found)) return refuse(410, "deleted");
        events.set(id, { ...found, status: "cancelled" });
        return answer(204, undefined);
      default:
        return refuse(405, "httpMethodNotAllowed");
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const google: FakeGoogle = {
    env: {
      ...CLIENT,
      GOOGLE_TOKEN_URL: `${origin}/token`,
      GOOGLE_REVOKE_URL: `${origin}/revoke`,
      GOOGLE_API_URL: `${origin}/calendar/v3`,
    },
    accounts: [],
    requests: [],
    pageSize: 250,
    fault: () => undefined,
    grant(scope = `openid email ${EVENTS_SCOPE}`) {
      const account = { refreshToken: `1//${randomUUID()}`, scope, events: new Map() };
      google.accounts.push(account);
      return account;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return google;
}

/** Google's OAuth and Calendar APIs as far as they are needed here, and what their refusals mean. */
import { z } from "zod";
import { EnvError, optional, type ReadEnv, webAddress } from "./env.ts";
import { retryAfter } from "./retry-after.ts";

export interface GoogleConfig {
  /** Of the client that professionals sign in with: only it can refresh what it was granted. */
  clientId: string;
  clientSecret: string;
  tokenUrl: string;
  revokeUrl: string;
  apiUrl: string;
}

/** Undefined where the project has no OAuth client. The addresses are there for tests. */
export function googleConfig(read: ReadEnv): GoogleConfig | undefined {
  const clientId = optional(read, "GOOGLE_CLIENT_ID");
  const clientSecret = optional(read, "GOOGLE_CLIENT_SECRET");
  if (clientId === undefined && clientSecret === undefined) return undefined;
  if (clientId === undefined || clientSecret === undefined) {
    throw new EnvError("GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET go together");
  }
  const address = (name: string, fallback: string) =>
    (webAddress(read, name) ?? fallback).replace(/\/+$/, "");
  return {
    clientId,
    clientSecret,
    tokenUrl: address("GOOGLE_TOKEN_URL", "https://oauth2.googleapis.com/token"),
    revokeUrl: address("GOOGLE_REVOKE_URL", "https://oauth2.googleapis.com/revoke"),
    apiUrl: address("GOOGLE_API_URL", "https://www.googleapis.com/calendar/v3"),
  };
}

export type GoogleFault =
  /** The professional has taken the access away, or it has run out. */
  | "revoked"
  /** Too many calls, of this user or of all. */
  | "throttled"
  /** No answer, or one that says it is not the caller's fault. */
  | "unavailable"
  /** No such event, or not any more. */
  | "gone"
  /** The id of a new event is taken. */
  | "taken"
  /** It will not do this, however often it is asked. */
  | "refused";

/** Says neither a token nor what was sent. */
export class GoogleError extends Error {
  override readonly name = "GoogleError";

  constructor(
    readonly fault: GoogleFault,
    /** For the professional: lower_snake_case. */
    readonly code: string,
    /** Seconds to wait at least, where Google says so. */
    readonly retryAfter: number | null = null,
  ) {
    super(`Google: ${fault}, ${code}`);
  }
}

/** Lets read and write events of the calendars one knows by name, such as `primary`; the other lets do more. */
const SCOPES = [
  "https://www.googleapis.com/auth/calendar.events",
  "https://www.googleapis.com/auth/calendar",
];

export interface Access {
  accessToken: string;
  /** Whether it is enough for what is done here. */
  hasScope: boolean;
  /** When Google has given another one. */
  refreshToken: string | null;
}

export interface GoogleEvent {
  status: "tentative" | "confirmed";
  summary: string;
  description: string;
  location: string;
  start: { dateTime: string };
  end: { dateTime: string };
  /** Whose entry it is, for whoever looks at it by the API. */
  extendedProperties: { private: { booking: string } };
}

const Moment = z.object({ date: z.iso.date().optional(), dateTime: z.string().optional() });

const ListedEvent = z.object({
  id: z.string(),
  iCalUID: z.string().optional(),
  status: z.string().optional(),
  transparency: z.string().optional(),
  eventType: z.string().optional(),
  start: Moment,
  end: Moment,
  attendees: z
    .array(z.object({ self: z.boolean().optional(), responseStatus: z.string().optional() }))
    .optional(),
});
export type ListedEvent = z.infer<typeof ListedEvent>;

const Page = z.object({
  items: z.array(ListedEvent).default([]),
  nextPageToken: z.string().optional(),
});

const LISTED =
  "nextPageToken,items(id,iCalUID,status,transparency,eventType,start,end,attendees(self,responseStatus))";
const PAGE_SIZE = "2500";
const MOST_PAGES = 8;

const Token = z.object({
  access_token: z.string(),
  scope: z.string().default(""),
  refresh_token: z.string().optional(),
});

const Problem = z.object({
  error: z.object({
    errors: z.array(z.object({ reason: z.string() })).default([]),
  }),
});

export interface GoogleDeps {
  fetch: typeof fetch;
  now(): Date;
  timeoutMs: number;
}

export interface GoogleCalendar {
  insert(id: string, event: GoogleEvent): Promise<void>;
  /** Leaves alone what is not ours, such as a colour; `gone` also for an event that stays deleted. */
  update(id: string, event: GoogleEvent): Promise<void>;
  remove(id: string): Promise<void>;
  /** Whether there is an event of this id that is not deleted. */
  has(id: string): Promise<boolean>;
  /** Single events that touch the period, at most 20 000; `too_complex` for more. */
  list(from: string, to: string): Promise<ListedEvent[]>;
}

export interface Google {
  refresh(refreshToken: string): Promise<Access>;
  /** Ends the whole grant. True when it is over, also when it was already. */
  revoke(refreshToken: string): Promise<boolean>;
  calendar(accessToken: string): GoogleCalendar;
}

export function googleApi(config: GoogleConfig, deps: GoogleDeps): Google {
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    try {
      const signal = AbortSignal.timeout(deps.timeoutMs);
      const answer = await deps.fetch(url, { ...init, redirect: "error", signal });
      // Read here, so that the time is that of the whole answer.
      const body = await answer.text();
      return new Response(body === "" ? null : body, answer);
    } catch {
      throw new GoogleError("unavailable", "no_answer");
    }
  };
  const post = (url: string, form: Record<string, string>) =>
    send(url, { method: "POST", body: new URLSearchParams(form) });

  return {
    async refresh(refreshToken) {
      const answer = await post(config.tokenUrl, {
        grant_type: "refresh_token",
        refresh_token: refreshToken,
        client_id: config.clientId,
        client_secret: config.clientSecret,
      });
      const body = await json(answer);
      if (!answer.ok) throw tokenError(answer, body, deps.now());
      const token = Token.safeParse(body);
      if (!token.success) throw new GoogleError("unavailable", "no_answer");
      const { access_token, scope, refresh_token = null } = token.data;
      return {
        accessToken: access_token,
        hasScope: scope.split(" ").some((granted) => SCOPES.includes(granted)),
        refreshToken: refresh_token,
      };
    },

    async revoke(refreshToken) {
      try {
        const answer = await post(config.revokeUrl, { token: refreshToken });
        if (answer.ok) return true;
        return z.object({ error: z.literal("invalid_token") }).safeParse(await json(answer))
          .success;
      } catch {
        return false;
      }
    },

    calendar(accessToken) {
      const call = async (
        method: string,
        path: string,
        query: Record<string, string>,
        body?: object,
      ): Promise<unknown> => {
        const url = `${config.apiUrl}/calendars/primary/events${path}?${new URLSearchParams(query)}`;
        const answer = await send(url, {
          method,
          headers: {
            authorization: `Bearer ${accessToken}`,
            ...(body && { "content-type": "application/json" }),
          },
          ...(body && { body: JSON.stringify(body) }),
        });
        const read = await json(answer);
        if (!answer.ok) throw apiError(answer, read, deps.now());
        return read;
      };
      // Nobody is invited; this says so in any case.
      const quiet = { sendUpdates: "none" };

      return {
        async insert(id, event) {
          await call("POST", "", quiet, { id, ...event });
        },
        async update(id, event) {
          const written = await call("PATCH", `/${id}`, quiet, event);
          if (isCancelled(written)) throw new GoogleError("gone", "deleted");
        },
        async remove(id) {
          await call("DELETE", `/${id}`, quiet);
        },
        async has(id) {
          try {
            return !isCancelled(await call("GET", `/${id}`, { fields: "status" }));
          } catch (error) {
            if (error instanceof GoogleError && error.fault === "gone") return false;
            throw error;
          }
        },
        async list(from, to) {
          const found: ListedEvent[] = [];
          let pageToken: string | undefined;
          for (let pages = 0; pages < MOST_PAGES; pages++) {
            const page = Page.safeParse(
              await call("GET", "", {
                timeMin: from,
                timeMax: to,
                singleEvents: "true",
                // Of many guests only the calendar's own is of interest.
                maxAttendees: "1",
                maxResults: PAGE_SIZE,
                fields: LISTED,
                ...(pageToken !== undefined && { pageToken }),
              }),
            );
            if (!page.success) throw new GoogleError("refused", "malformed_calendar");
            found.push(...page.data.items);
            pageToken = page.data.nextPageToken;
            if (pageToken === undefined) return found;
          }
          throw new GoogleError("refused", "too_complex");
        },
      };
    },
  };
}

const isCancelled = (event: unknown) =>
  z.object({ status: z.literal("cancelled") }).safeParse(event).success;

/** Undefined for what is none. */
async function json(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch {
    return undefined;
  }
}

const waitOf = (answer: Response, now: Date) => {
  const seconds = retryAfter(answer.headers.get("retry-after"), now);
  return seconds === null ? null : Math.min(seconds, 86_400);
};

function tokenError(answer: Response, body: unknown, now: Date): GoogleError {
  const wait = waitOf(answer, now);
  if (answer.status === 429) return new GoogleError("throttled", "rate_limited", wait);
  if (answer.status >= 500) return new GoogleError("unavailable", "no_answer", wait);
  const problem = z.object({ error: z.string() }).safeParse(body);
  // RFC 6749, 5.2: the token is over, or another client's. Anything else is a fault of ours.
  if (problem.data?.error === "invalid_grant") return new GoogleError("revoked", "access_revoked");
  return new GoogleError("unavailable", "client_refused");
}

const THROTTLING = [
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "quotaExceeded",
  "dailyLimitExceeded",
  "calendarUsageLimitsExceeded",
];

function apiError(answer: Response, body: unknown, now: Date): GoogleError {
  const { status } = answer;
  const reason = Problem.safeParse(body).data?.error.errors[0]?.reason ?? "";
  const wait = waitOf(answer, now);
  if (status === 429 || (status === 403 && THROTTLING.includes(reason))) {
    return new GoogleError("throttled", "rate_limited", wait);
  }
  if (status >= 500) return new GoogleError("unavailable", "no_answer", wait);
  if (status === 403 && reason === "insufficientPermissions") {
    return new GoogleError("revoked", "scope_missing");
  }
  // The token is seconds old: the access ended in between, and the next refresh will say so.
  if (status === 401) return new GoogleError("unavailable", "unauthorized");
  if (status === 404 || status === 410) return new GoogleError("gone", "deleted");
  if (status === 409) return new GoogleError("taken", "id_taken");
  return new GoogleError("refused", `http_${status}`);
}

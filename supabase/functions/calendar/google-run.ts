/**
 * The dispatcher of Google calendars: of one that has something to do, bookings are written or removed one
 * after the other, then it is read when its owner is busy.
 */
import type { ServerRpc } from "../_shared/data-api.ts";
import { type DrainDeps, drain } from "../_shared/dispatcher.ts";
import {
  type Google,
  type GoogleCalendar,
  GoogleError,
  type GoogleEvent,
} from "../_shared/google.ts";
import { TOKEN_PURPOSE } from "../_shared/google-grant.ts";
import type { Sealer } from "../_shared/sealed.ts";
import type { Language } from "../mail/texts/index.ts";
import { mayBeBookingUid } from "./busy-sync.ts";
import { entryWords } from "./entry-words.ts";
import type { FeedEntry } from "./feed-calendar.ts";
import { FEED_TEXTS } from "./feed-texts.ts";
import { googleBusy } from "./google-busy.ts";

export interface Push {
  booking_id: string;
  revision: number;
  event_id: string;
  /** Whether the event was there when it was last heard of. */
  is_there: boolean;
  /** Null when the event has to go. */
  entry: FeedEntry | null;
}

/** A run that is ours for two minutes. */
export interface Run {
  connection_id: string;
  claim_token: string;
  professional_id: string;
  sealed_token: string;
  language: Language;
  time_zone: string;
  pushes: Push[];
  busy: { from: string; to: string } | null;
}

export type PushResult =
  | { result: "written" | "removed" }
  | { result: "refused" | "failed"; error: string };

/** When somebody is busy, as ISO texts. */
type Ranges = { start: string; end: string }[];

export interface RunResult {
  result: "done" | "unread" | "failed" | "revoked";
  error?: string;
  ranges?: Ranges;
  retry_after?: number | null;
  sealed_token?: string;
}

export interface GoogleQueue {
  claim(): Promise<Run | null>;
  /** An id for a booking whose last one is used up; null when the run is ours no more. */
  nextEventId(run: Run, push: Push): Promise<string | null>;
  /** False when the run is ours no more. */
  finishPush(run: Run, push: Push, result: PushResult): Promise<boolean>;
  finish(run: Run, result: RunResult): Promise<unknown>;
  ownUids(professionalId: string, uids: string[]): Promise<string[]>;
}

/** The queue behind the project's API. */
export function googleQueue(rpc: ServerRpc): GoogleQueue {
  const claimOf = ({ connection_id, claim_token }: Run) => ({ connection_id, claim_token });
  return {
    claim: () => rpc("claim_google_run", {}),
    nextEventId: (run, { booking_id }) => rpc("next_google_event", { ...claimOf(run), booking_id }),
    finishPush: (run, { booking_id, revision }, result) =>
      rpc("finish_google_push", { ...claimOf(run), booking_id, revision, ...result }),
    finish: (run, result) => rpc("finish_google_run", { ...claimOf(run), ...result }),
    ownUids: (professional_id, uids) => rpc("own_calendar_uids", { professional_id, uids }),
  };
}

export interface GoogleRunDeps extends DrainDeps {
  googleQueue: GoogleQueue;
  google: Google | undefined;
  sealer: Sealer | undefined;
}

/** Begins no push after this: with the calls of the last one it ends well within the lease. */
const BUDGET_MS = 40_000;
/** Pushes in a row that came to nothing before the rest is left for later. */
const MOST_FAILURES = 3;

/** One calendar: the platform rings once for each. */
export async function runGoogle(deps: GoogleRunDeps): Promise<void> {
  const { google, sealer, googleQueue: queue } = deps;
  // Without keys nothing can be done, and nothing is claimed.
  if (google === undefined || sealer === undefined) return;
  await drain<Run>(
    {
      slots: 1,
      most: 1,
      pollMs: BUDGET_MS,
      claim: async () => {
        const run = await queue.claim();
        return run === null ? [] : [run];
      },
      work: async (run) => {
        await queue.finish(run, await work(run, { ...deps, google, sealer }));
      },
    },
    deps,
  );
}

/** The run is no longer ours: connected anew, switched off or taken away meanwhile. */
class RunOver extends Error {}

async function work(
  run: Run,
  deps: GoogleRunDeps & { google: Google; sealer: Sealer },
): Promise<RunResult> {
  const { google, sealer, googleQueue: queue, onError } = deps;
  const of = { professional_id: run.professional_id, purpose: TOKEN_PURPOSE };
  const token = await sealer.open(run.sealed_token, of).catch(() => undefined);
  if (token === undefined) return { result: "failed", error: "token_unreadable" };

  let renewed: { sealed_token?: string } = {};
  try {
    const access = await google.refresh(token);
    if (access.refreshToken !== null || !sealer.isCurrent(run.sealed_token)) {
      renewed = { sealed_token: await sealer.seal(access.refreshToken ?? token, of) };
    }
    if (!access.hasScope) throw new GoogleError("revoked", "scope_missing");
    const calendar = google.calendar(access.accessToken);
    await pushAll(run, calendar, deps);
    const ranges = await readBusy(run, calendar, queue);
    return { result: "done", ...ranges, ...renewed };
  } catch (error) {
    if (error instanceof RunOver) return { result: "done", ...renewed };
    if (!(error instanceof GoogleError)) {
      onError(error);
      return { result: "failed", error: "internal_error", ...renewed };
    }
    const { fault, code } = error;
    if (code === "client_refused") onError(error);
    // Only the reading comes to this: a push that was refused says so itself.
    const result = fault === "revoked" ? fault : fault === "refused" ? "unread" : "failed";
    return { result, error: code, retry_after: error.retryAfter, ...renewed };
  }
}

async function pushAll(
  run: Run,
  calendar: GoogleCalendar,
  { googleQueue: queue, now }: Pick<GoogleRunDeps, "googleQueue" | "now">,
): Promise<void> {
  const end = now().getTime() + BUDGET_MS;
  let failures = 0;
  for (const push of run.pushes) {
    if (now().getTime() > end) return;
    let fault: GoogleError | undefined;
    const result = await pushOne(run, push, calendar, queue).catch((error: unknown): PushResult => {
      if (!(error instanceof GoogleError)) throw error;
      fault = error;
      return { result: error.fault === "refused" ? "refused" : "failed", error: error.code };
    });
    // What is asked of Google too often, or without access, is not the fault of this booking: it stays due.
    if (fault?.fault === "throttled" || fault?.fault === "revoked") throw fault;
    if (!(await queue.finishPush(run, push, result))) throw new RunOver();
    failures = result.result === "failed" ? failures + 1 : 0;
    if (fault && failures === MOST_FAILURES) throw fault;
  }
}

async function pushOne(
  run: Run,
  push: Push,
  calendar: GoogleCalendar,
  queue: GoogleQueue,
): Promise<PushResult> {
  if (push.entry === null) {
    await unless("gone", calendar.remove(push.event_id));
    return { result: "removed" };
  }
  const event = eventOf(push.entry, run.language);
  let id = push.event_id;
  let isThere = push.is_there;
  // Each round ends it, or is over an id that is used up: a new one is free unless ids were lost.
  for (let rounds = 0; rounds < 5; rounds++) {
    if (isThere || !(await unless("taken", calendar.insert(id, event)))) {
      // Taken by a call of which nobody heard, or deleted.
      if (isThere || (await calendar.has(id))) {
        if (await unless("gone", calendar.update(id, event))) return { result: "written" };
      }
      const next = await queue.nextEventId(run, push);
      if (next === null) throw new RunOver();
      id = next;
      isThere = false;
      continue;
    }
    return { result: "written" };
  }
  throw new GoogleError("unavailable", "id_taken");
}

/** Whether it was done; false when Google said this of it. */
async function unless(fault: GoogleError["fault"], call: Promise<void>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof GoogleError && error.fault === fault) return false;
    throw error;
  }
}

export function eventOf(entry: FeedEntry, language: Language): GoogleEvent {
  const words = entryWords(entry, FEED_TEXTS[language] ?? FEED_TEXTS.en);
  return {
    status: words.status ?? "confirmed",
    summary: words.summary,
    description: words.description,
    location: words.location,
    start: { dateTime: entry.starts_at },
    end: { dateTime: entry.ends_at },
    extendedProperties: { private: { booking: entry.id } },
  };
}

async function readBusy(
  { busy, professional_id, time_zone }: Run,
  calendar: GoogleCalendar,
  queue: GoogleQueue,
): Promise<{ ranges?: Ranges }> {
  if (busy === null) return {};
  const events = await calendar.list(busy.from, busy.to);
  // By either: an invitation in a mail of ours has the id of the booking, an entry what Google makes of its own.
  const uidsOf = ({ id, iCalUID }: (typeof events)[number]) =>
    [iCalUID ?? "", `${id}@google.com`].filter(mayBeBookingUid);
  const own = new Set(
    await queue.ownUids(professional_id, [...new Set(events.flatMap(uidsOf))].slice(0, 20_000)),
  );
  const isOwn = (event: (typeof events)[number]) => uidsOf(event).some((uid) => own.has(uid));
  return { ranges: googleBusy(events, { ...busy, timeZone: time_zone, isOwn }) };
}

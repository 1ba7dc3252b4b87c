/** The dispatcher of busy calendars: the one that is due is read, and when it is busy goes to the database. */
import type { ServerRpc } from "../_shared/data-api.ts";
import { type DrainDeps, drain } from "../_shared/dispatcher.ts";
import type { Sealer } from "../_shared/sealed.ts";
import { type FetchDeps, fetchCalendar, type Version } from "./fetch-calendar.ts";
import { busyRanges } from "./ics.ts";

/** What the address of a busy calendar is sealed for. */
export const ADDRESS_PURPOSE = "busy_calendar";

/** A reading that is ours for a minute. */
export interface BusySync extends Version {
  calendar_id: string;
  claim_token: string;
  professional_id: string;
  sealed_address: string;
  from: string;
  to: string;
  time_zone: string;
  own_addresses: string[];
}

export type SyncResult =
  | ({ result: "read"; ranges: { start: string; end: string }[]; time_zone: string } & Version)
  | { result: "unchanged" }
  | { result: "failed"; error: string; error_detail: string | null };

export interface BusyQueue {
  claim(): Promise<BusySync | null>;
  /** Which of the UIDs are those of the professional's own bookings. */
  ownUids(professionalId: string, uids: string[]): Promise<string[]>;
  finish(sync: BusySync, result: SyncResult & { sealed_address?: string }): Promise<void>;
}

/** The queue behind the project's API. */
export function busyQueue(rpc: ServerRpc): BusyQueue {
  return {
    claim: () => rpc("claim_busy_sync", {}),
    ownUids: (professional_id, uids) => rpc("own_calendar_uids", { professional_id, uids }),
    finish: ({ calendar_id, claim_token }, result) =>
      rpc("finish_busy_sync", { calendar_id, claim_token, ...result }),
  };
}

export interface BusySyncDeps extends DrainDeps, Omit<FetchDeps, "timeoutMs"> {
  queue: BusyQueue;
  sealer: Sealer | undefined;
}

/** Longest time that a calendar may take to come. */
const FETCH_MS = 10_000;
/** The database takes no more of either. */
const MOST_UIDS = 20_000;
const MOST_RANGES = 20_000;

/** One calendar, since a large one takes most of the processor time of a call. */
export function syncBusyCalendar({ queue, sealer, ...deps }: BusySyncDeps): Promise<void> {
  return drain<BusySync>(
    {
      slots: 1,
      most: 1,
      pollMs: FETCH_MS,
      claim: async () => {
        const sync = await queue.claim();
        return sync === null ? [] : [sync];
      },
      work: async (sync) => {
        const of = { professional_id: sync.professional_id, purpose: ADDRESS_PURPOSE };
        const address = await sealer?.open(sync.sealed_address, of).catch(() => undefined);
        if (sealer === undefined || address === undefined) {
          const error = "address_unreadable";
          return queue.finish(sync, { result: "failed", error, error_detail: null });
        }
        const result = await read(sync, address, queue, deps);
        const isCurrent = sealer.isCurrent(sync.sealed_address);
        await queue.finish(sync, {
          ...result,
          ...(!isCurrent && { sealed_address: await sealer.seal(address, of) }),
        });
      },
    },
    deps,
  );
}

async function read(
  sync: BusySync,
  address: string,
  queue: BusyQueue,
  deps: Omit<BusySyncDeps, "queue" | "sealer">,
): Promise<SyncResult> {
  const fetched = await fetchCalendar(address, sync, { ...deps, timeoutMs: FETCH_MS });
  if (fetched.unchanged) return { result: "unchanged" };
  if ("error" in fetched) return failed(fetched.error.code, fetched.error.detail);

  const own = new Set(await queue.ownUids(sync.professional_id, bookingUids(fetched.text)));
  try {
    const busy = busyRanges(fetched.text, {
      from: new Date(sync.from),
      to: new Date(sync.to),
      timeZone: sync.time_zone,
      ownAddresses: sync.own_addresses,
      isOwnUid: (uid) => own.has(uid),
    });
    if (busy.error) return failed(busy.error.code, busy.error.detail);
    if (busy.ranges.length > MOST_RANGES) return failed("too_complex", null);
    return {
      result: "read",
      ranges: busy.ranges,
      time_zone: sync.time_zone,
      ...fetched.version,
    };
  } catch (error) {
    deps.onError(withoutMessage(error));
    return failed("unreadable", null);
  }
}

const failed = (error: string, error_detail: string | null): SyncResult => ({
  result: "failed",
  error,
  error_detail,
});

/** As a whole: a pattern that left out the space at its end would be slow over a line of spaces. */
const UID = /^UID(?:;[^:\r\n]*)?:([^\r\n]*)/gim;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** What Google makes of the id of an entry that we have put there. */
const PUSHED = /^[\da-f]{32}g\d{1,9}@google\.com$/;

export const mayBeBookingUid = (uid: string) => UUID.test(uid) || PUSHED.test(uid);

/** UIDs in a calendar that may be those of bookings: ids, as mails and feeds have them. */
export function bookingUids(text: string): string[] {
  // Long lines are folded (RFC 5545, 3.1).
  const uids = text.replaceAll(/\r?\n[ \t]/g, "").matchAll(UID);
  const found = new Set<string>();
  for (const [, value = ""] of uids) {
    const uid = value.trim();
    if (mayBeBookingUid(uid) && found.size < MOST_UIDS) found.add(uid);
  }
  return [...found];
}

/** Where a fault of ours was: its message may quote the calendar. */
function withoutMessage(error: unknown): Error {
  const lines = (error instanceof Error ? (error.stack ?? "") : "").split("\n");
  const told = new Error("a calendar could not be worked out");
  told.stack = [told.message, ...lines.filter((line) => /^\s+at /.test(line))].join("\n");
  return told;
}

/** What a mail's link brought, who is signed in in this tab, and whom the calls are made as. */
import type { BookingPage, BookingSession, PortalSession } from "../../client/src/database.ts";
import { type ApiClient, connect, connectPublicly } from "../shared/api.ts";
import { type Changes, goTo } from "../shared/route.ts";
import { readStored, writeStored } from "../shared/store.ts";

const PURPOSES = ["manage", "confirm", "unsubscribe", "confirm-address"] as const;

/** Why nobody is signed in any more. */
export type Ending = "over" | "signedOut";

export type LinkEntry = { kind: (typeof PURPOSES)[number]; token: string };
/** Whose client is to sign in, with the code that a mail's link has. */
export type CodeEntry = { kind: "code"; professional: string; code?: string; ended?: Ending };
export type Entry = LinkEntry | CodeEntry;

export function keepEntry(entry: Entry | null): Entry | null {
  writeStored("portal.entry", entry);
  return entry;
}

/**
 * What is in the fragment, which no server sees. It is taken out of the address at once, and kept for this tab until
 * it is used, so that a reload or another language asks the same question again.
 */
export function takeEntry(): Entry | null {
  if (location.hash === "") return readStored("portal.entry");
  const values = new URLSearchParams(location.hash.slice(1));
  goTo({}, { replace: true });
  const kind = PURPOSES.find((purpose) => values.has(purpose));
  const { professional, email, code } = Object.fromEntries(values);
  if (kind) return keepEntry({ kind, token: values.get(kind) ?? "" });
  if (!professional || !email || !code) return keepEntry(null);
  writeStored("portal.email", email);
  goTo({ step: "code" }, { replace: true });
  return keepEntry({ kind: "code", professional, code });
}

export type SessionAnswer = PortalSession | BookingSession;

/** `ends` is in milliseconds since 1970 by the clock here, which may be wrong. */
export type Session = SessionAnswer & { ends: number };

/** What every part of the portal gets. */
export interface Portal {
  api: ApiClient;
  session: Session;
  /** Null where the professional takes nothing now, undefined until that is known. */
  page: BookingPage | null | undefined;
}

/** Nothing of the query that is about one view. */
export const CLEAN: Changes = Object.fromEntries(
  ["view", "booking", "do", "day", "start", "paid", "unpaid"].map((name) => [name, null]),
);

export const anybody = connectPublicly();

/** Of a booking's link: that booking and nothing else. */
export const isLink = ({ client }: SessionAnswer): boolean => !("email" in client);

export const readSession = () => readStored<Session>("portal.session");

export function keepSession(answer: SessionAnswer | null): Session | null {
  const session = answer && { ...answer, ends: Date.now() + answer.expires_in * 1000 };
  writeStored("portal.session", session);
  return session;
}

/** Calls as whoever is signed in; `onEnd` hears that the session is no more, whatever was asked. */
export function connectAs({ access_token }: Session, onEnd: () => void): ApiClient {
  return connect({
    accessToken: async () => access_token,
    async fetch(...args) {
      const response = await fetch(...args);
      if (response.status === 401) onEnd();
      return response;
    },
  });
}

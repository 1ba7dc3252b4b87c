/** Who is signed in in this tab, and whom the calls are made as. */
import type { BookingPage, BookingSession, PortalSession } from "../../client/src/database.ts";
import { type ApiClient, connect, connectPublicly, isCode } from "../shared/api.ts";
import { readStored, writeStored } from "../shared/store.ts";

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

export const anybody = connectPublicly();

/** Of a booking's link: that booking and nothing else. */
export const isLink = ({ client }: SessionAnswer): boolean => !("email" in client);

export const readSession = () => readStored<Session>("portal.session");

export function keepSession(answer: SessionAnswer | Session | null): Session | null {
  const session = answer && { ends: Date.now() + answer.expires_in * 1000, ...answer };
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

/** Null where nobody is named, or takes neither bookings nor orders. */
export async function publicPage(username: string, signal: AbortSignal) {
  return anybody.rpc("booking_page", { username }, { signal }).catch((error) => {
    if (isCode(error, "PGRST301", "validation_failed")) return null;
    throw error;
  });
}

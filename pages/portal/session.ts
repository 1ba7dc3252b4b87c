/** Who is signed in in this tab, and the calls that are made with that session. */
import { type ApiClient, connect, connectPublicly } from "../shared/api.ts";
import { recall, remember } from "./tab.ts";

export const anybody = connectPublicly();

const { portal } = anybody.functions;
export type SessionAnswer = Awaited<ReturnType<typeof portal.verifyCode | typeof portal.openLink>>;

export type Session = SessionAnswer & {
  /** Milliseconds since 1970 by the clock here, which may be wrong. */
  ends: number;
  /** Of a booking's link: that booking and nothing else. */
  isLink: boolean;
};

/** Why nobody is signed in any more. */
export type Ending = "expired" | "elsewhere" | "link" | "signedOut";

export const recallSession = () => recall<Session>("session");

export function keepSession(answer: SessionAnswer | Session): Session {
  const isLink = !("email" in answer.client);
  const session = { ends: Date.now() + answer.expires_in * 1000, isLink, ...answer };
  remember("session", session);
  return session;
}

export const endingOf = ({ ends, isLink }: Session): Ending =>
  isLink ? "link" : Date.now() >= ends - 1000 ? "expired" : "elsewhere";

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

/** Who is signed in, in all tabs of this browser, and how they came: by Google, a mail, a password. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, connect } from "../shared/api.ts";
import { addressOf } from "../shared/route.ts";

export const api = connect({ auth: { detectSessionInUrl: false } });

/** Where Google and mails lead back to: this page, without what its address asks for. */
export const here = location.origin + location.pathname.replace(/index\.html$/, "");

/** The code works once: it goes from the address at once, and is neither copied nor loaded again. */
async function arrive(): Promise<void> {
  const { searchParams, hash } = new URL(location.href);
  const fragment = new URLSearchParams(hash.slice(1));
  const said = (name: string) => searchParams.get(name) ?? fragment.get(name);
  const [code, refusal] = [searchParams.get("code"), said("error_code") ?? said("error")];
  if (!code && !refusal) return;
  const gone = { code: null, error: null, error_code: null, error_description: null };
  history.replaceState(null, "", addressOf(gone));
  // Its description is anybody's words.
  if (!code) throw new ApiError(400, { code: refusal });
  const answer = await api.run(api.auth.exchangeCodeForSession(code));
  // In the address, so that whoever loads the page again is still asked for the new password.
  if ((answer as { redirectType?: string | null }).redirectType === "recovery") {
    history.replaceState(null, "", addressOf({ step: "password" }));
  }
}

export interface Session {
  /** Id of the professional; null is nobody, undefined not known yet. */
  user?: string | null;
  /** Somebody was signed in, and is no more: here, in another tab, or because the session ended. */
  ended?: boolean;
  problem?: unknown;
}

export function useSession(): Session {
  const [session, setSession] = useState<Session>({});
  useEffect(() => {
    const listen = (problem?: unknown) =>
      api.auth.onAuthStateChange((event, found) => {
        const ended = event === "SIGNED_OUT";
        setSession({ user: found?.user.id ?? null, ended, problem: ended ? undefined : problem });
      });
    arrive().then(() => listen(), listen);
  }, []);
  return session;
}

/** Here alone: a phone stays signed in when the computer at the counter is not. */
export async function signOut(): Promise<void> {
  const { error } = await api.auth.signOut({ scope: "local" });
  if (error) throw new ApiError(error.status ?? 0, error);
}

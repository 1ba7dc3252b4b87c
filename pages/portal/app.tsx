/** Which of three is shown: what a mail's link asks, the sign-in, or what is the client's. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLoaded } from "../shared/loaded.ts";
import { useRoute } from "../shared/route.ts";
import { Page } from "../shared/ui.tsx";
import { dropEntry, type Entry, takeEntry } from "./entry.ts";
import { Home } from "./home.tsx";
import { LinkStep } from "./link-step.tsx";
import {
  connectAs,
  type Ending,
  endingOf,
  keepSession,
  publicPage,
  recallSession,
  type SessionAnswer,
} from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { forget, remember } from "./tab.ts";

export function App({ entry: first }: { entry: Entry | null }) {
  const { query, go } = useRoute();
  const [entry, setEntry] = useState(first);
  const [session, setSession] = useState(recallSession);
  const [ending, setEnding] = useState<Ending>();
  /** Whose client signs in, where the address does not name somebody whose page is shown. */
  const [owner, setOwner] = useState<{ id: string; full_name?: string }>();
  const username =
    session?.professional.username ??
    (query.get("professional") || import.meta.env.VITE_PROFESSIONAL);
  const page = useLoaded((signal) => publicPage(username, signal), [username]);

  useEffect(() => {
    // A link that is pasted into this tab loads nothing anew.
    const take = () => location.hash && setEntry(takeEntry());
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const leaveEntry = (professionalId?: string) => {
    if (professionalId) setOwner({ id: professionalId });
    dropEntry();
    setEntry(null);
  };
  const begin = (answer: SessionAnswer) => {
    leaveEntry();
    setEnding(undefined);
    setSession(keepSession(answer));
    // So that a reload after the session, and a bookmark, know whose client it is.
    go({ professional: answer.professional.username, step: null }, { replace: true });
  };
  const end = (why: Ending) => {
    if (!session || recallSession() === null) return;
    forget("session");
    // Whoever signs out may leave the machine to somebody else.
    const email = why !== "signedOut" && "email" in session.client && session.client.email;
    remember("email", email || "");
    setOwner(session.professional);
    setEnding(why);
    setSession(null);
  };
  const api = useMemo(
    () => session && connectAs(session, () => end(endingOf(session))),
    [session?.access_token],
  );
  useEffect(() => {
    if (!session) return;
    const timer = setTimeout(() => end(endingOf(session)), session.ends - Date.now());
    return () => clearTimeout(timer);
  }, [session]);

  return (
    <Page>
      {entry && entry.kind !== "code" ? (
        <LinkStep key={entry.token} entry={entry} onSession={begin} onLeave={leaveEntry} />
      ) : !session || !api || entry ? (
        <SignIn key={entry?.code} {...{ entry, owner, page, ending }} onSession={begin} />
      ) : (
        <Home
          {...{ api, session, page: page.value }}
          onName={(name) => {
            const client = { ...session.client, name };
            setSession(keepSession({ ...session, client } as typeof session));
          }}
          onSignedOut={() => end("signedOut")}
        />
      )}
    </Page>
  );
}

/** Which of three is shown: what a mail's link asks, the sign-in, or what is the client's. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLoaded } from "../shared/loaded.ts";
import { useRoute } from "../shared/route.ts";
import { writeStored } from "../shared/store.ts";
import { Page } from "../shared/ui.tsx";
import { type Entry, keepEntry, takeEntry } from "./entry.ts";
import { Home } from "./home.tsx";
import { LinkStep } from "./link-step.tsx";
import * as sessions from "./session.ts";
import { type Ending, type Owner, SignIn } from "./sign-in.tsx";

export function App({ entry: first }: { entry: Entry | null }) {
  const { query, go } = useRoute();
  const [entry, setEntry] = useState(first);
  const [kept, setSession] = useState(sessions.readSession);
  const [ending, setEnding] = useState<Ending>();
  const [owner, setOwner] = useState<Owner>();
  const asked = query.get("professional");
  // At the address of another professional nobody is signed in.
  const session = kept && [null, kept.professional.username].includes(asked) ? kept : null;
  const { username } = session?.professional ?? { username: asked };
  const named = username || import.meta.env.VITE_PROFESSIONAL;
  const page = useLoaded((signal) => sessions.publicPage(named, signal), [named]);

  useEffect(() => {
    // A link that is pasted into this tab loads nothing anew.
    const take = () => location.hash && setEntry(takeEntry());
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const leaveEntry = (professionalId?: string) => {
    if (professionalId) setOwner({ id: professionalId });
    keepEntry(null);
    setEntry(null);
  };
  const begin = (answer: sessions.SessionAnswer) => {
    leaveEntry();
    setEnding(undefined);
    setSession(sessions.keepSession(answer));
    // So that a reload after the session, and a bookmark, know whose client it is.
    go({ professional: answer.professional.username, step: null }, { replace: true });
  };
  const end = (why: Ending) => {
    // A late answer to an earlier session says nothing of the one that there is now.
    if (!session || sessions.readSession()?.access_token !== session.access_token) return;
    // Whoever signs out may leave the machine to somebody else.
    const email = why === "over" && "email" in session.client && session.client.email;
    writeStored("portal.email", email || "");
    setOwner(session.professional);
    setEnding(why);
    setSession(sessions.keepSession(null));
  };
  const token = session?.access_token;
  const api = useMemo(() => session && sessions.connectAs(session, () => end("over")), [token]);
  useEffect(() => {
    if (!session) return;
    const timer = setTimeout(() => end("over"), session.ends - Date.now());
    return () => clearTimeout(timer);
  }, [token]);

  return (
    <Page wide={query.get("do") === "move"}>
      {entry && entry.kind !== "code" ? (
        <LinkStep key={entry.token} entry={entry} onSession={begin} onLeave={leaveEntry} />
      ) : !session || !api || entry ? (
        <SignIn
          key={entry?.code}
          {...{ entry, owner, page, ending }}
          onSession={begin}
          onLeave={leaveEntry}
        />
      ) : (
        <Home
          {...{ api, session, page: page.value }}
          onSession={(next) => setSession(sessions.keepSession(next))}
          onSignedOut={() => end("signedOut")}
        />
      )}
    </Page>
  );
}

/** Which of three is shown: what a mail's link asks, the sign-in, or what is the client's. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLoaded } from "../shared/loaded.ts";
import { useRoute } from "../shared/route.ts";
import { Page } from "../shared/ui.tsx";
import { dropEntry, type Entry, takeEntry } from "./entry.ts";
import { Home } from "./home.tsx";
import { LinkStep } from "./link-step.tsx";
import { publicPage } from "./public-page.ts";
import {
  connectAs,
  type Ending,
  endingOf,
  keepSession,
  recallSession,
  type SessionAnswer,
} from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { forget, remember } from "./tab.ts";

export function App({ entry: first }: { entry: Entry | null }) {
  const route = useRoute();
  const [entry, setEntry] = useState(first);
  const [session, setSession] = useState(recallSession);
  const [ending, setEnding] = useState<Ending | null>(null);
  /** Whose client it is that signs in, where only the id is known, or nobody is shown at that name. */
  const [owner, setOwner] = useState<{ id: string; full_name?: string }>();
  const username =
    session?.professional.username ??
    (route.query.get("professional") || import.meta.env.VITE_PROFESSIONAL);
  const page = useLoaded((signal) => publicPage(username, signal), [username]);

  useEffect(() => {
    // A link that is pasted into this tab loads nothing anew.
    const take = () => location.hash && setEntry(takeEntry());
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const use = () => {
    dropEntry();
    setEntry(null);
  };
  const begin = (answer: SessionAnswer) => {
    use();
    setEnding(null);
    setSession(keepSession(answer));
    // So that a reload after the session, and a bookmark, know whose client it is.
    route.go({ professional: answer.professional.username, step: null }, { replace: true });
  };
  const end = (why: Ending) => {
    if (!session || !recallSession()) return;
    forget("session");
    // Whoever signs out may leave the machine to somebody else.
    remember("email", why === "signedOut" ? "" : (session.client.email ?? ""));
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

  const leave = (id?: string) => {
    if (id) setOwner({ id });
    use();
  };
  return (
    <Page>
      {entry && entry.kind !== "code" ? (
        <LinkStep key={entry.token} entry={entry} onSession={begin} onLeave={leave} />
      ) : !session || !api || entry ? (
        <SignIn key={entry?.code} {...{ route, entry, owner, page, ending }} onSession={begin} />
      ) : (
        <Home
          {...{ api, route, session, page: page.value }}
          onName={(name) =>
            setSession(keepSession({ ...session, client: { ...session.client, name } }))
          }
          onSignedOut={() => end("signedOut")}
        />
      )}
    </Page>
  );
}

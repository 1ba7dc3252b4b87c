/** Which of three is shown: what a mail's link asks, the sign-in, or what is the client's. */
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { publicPage } from "../shared/api.ts";
import { useAction, useLoaded } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { goTo, useRoute } from "../shared/route.ts";
import { writeStored } from "../shared/store.ts";
import { Button, Link, Notice, Page } from "../shared/ui.tsx";
import { Bookings, OneBooking } from "./bookings.tsx";
import { Orders } from "./orders.tsx";
import * as sessions from "./session.ts";
import { LinkStep, SignIn } from "./sign-in.tsx";
import { texts } from "./texts/index.ts";

const arrived = sessions.takeEntry();

function App() {
  const { query } = useRoute();
  const [entry, setEntry] = useState(arrived);
  const [kept, setSession] = useState(sessions.readSession);
  const asked = query.get("professional");
  // At the address of another professional nobody is signed in.
  const session = kept && [null, kept.professional.username].includes(asked) ? kept : null;
  const { username } = session?.professional ?? { username: asked };
  const named = username || import.meta.env.VITE_PROFESSIONAL;
  const page = useLoaded((signal) => publicPage(sessions.anybody, named, signal), [named]);

  useEffect(() => {
    // A link that is pasted into this tab loads nothing anew.
    const take = () => location.hash && setEntry(sessions.takeEntry());
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const leaveEntry = (professional?: string) => {
    sessions.keepEntry(null);
    setEntry(professional ? { kind: "code", professional } : null);
  };
  const begin = (answer: sessions.SessionAnswer) => {
    leaveEntry();
    setSession(sessions.keepSession(answer));
    // So that a reload after the session, and a bookmark, know whose client it is.
    goTo({ professional: answer.professional.username, step: null }, { replace: true });
  };
  const end = (ended: sessions.Ending) => {
    // A late answer to an earlier session says nothing of the one that there is now.
    if (!session || sessions.readSession()?.access_token !== session.access_token) return;
    // Whoever signs out may leave the machine to somebody else.
    const email = ended === "over" && "email" in session.client && session.client.email;
    writeStored("portal.email", email || "");
    setEntry({ kind: "code", professional: session.professional.id, ended });
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
        <SignIn key={entry?.code} {...{ entry, page }} onSession={begin} />
      ) : (
        <Home {...{ api, session, page: page.value }} onSignedOut={() => end("signedOut")} />
      )}
    </Page>
  );
}

const VIEWS = ["upcoming", "past", "orders"] as const;

/** What is the client's: bookings and orders; of a link, one booking. */
function Home({ onSignedOut, ...portal }: sessions.Portal & { onSignedOut: () => void }) {
  const { query } = useRoute();
  const { client, professional } = portal.session;
  const [said, setSaid] = useState({ text: "", at: "" });
  const signOut = useAction(async () => {
    await portal.api.functions.portal.signOut();
    onSignedOut();
  });
  const asked = query.get("view");
  const view = VIEWS.find((name) => name === asked) ?? "upcoming";
  /** Leads back from a booking, and says what has been done. */
  const finish = (text = "") => {
    goTo({ ...sessions.CLEAN, view: asked });
    setSaid({ text, at: location.search });
  };
  const tab = (name: typeof view) => (
    <Link
      key={name}
      to={{ ...sessions.CLEAN, view: name }}
      aria-current={name === view ? "page" : undefined}
    >
      {texts.nav[name]}
    </Link>
  );
  const isLink = sessions.isLink(portal.session);
  return (
    <>
      <header class="stack">
        <h1 dir="auto">{texts.titleWith(professional.full_name)}</h1>
        <div class="row apart">
          <bdi class="faint">{client.name}</bdi>
          <Button kind="link" busy={signOut.busy} onClick={signOut.run}>
            {texts.nav.signOut}
          </Button>
        </div>
        <Failure error={signOut.error} />
        {!isLink && (
          <nav {...{ class: "tabs", "aria-label": texts.nav.label }}>{VIEWS.map(tab)}</nav>
        )}
      </header>
      {said.at === location.search && said.text && <Notice kind="good">{said.text}</Notice>}
      {isLink || query.has("booking") ? (
        <OneBooking {...portal} finish={finish} />
      ) : view === "orders" ? (
        <Orders api={portal.api} />
      ) : (
        <Bookings key={view} {...portal} isPast={view === "past"} />
      )}
    </>
  );
}

render(<App />, document.getElementById("page") as HTMLElement);

/** Which of three is shown: what a mail's link asks, the sign-in, or what is the client's. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { connect, publicPage } from "../shared/api.ts";
import { useAction, useLoaded } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { goTo, START, useRoute } from "../shared/route.ts";
import { readStored, tab, useStored, writeStored } from "../shared/store.ts";
import { Button, Link, Page } from "../shared/ui.tsx";
import { Bookings, type Portal } from "./bookings.tsx";
import { Orders } from "./orders.tsx";
import { isLink, LinkStep, PURPOSES, type Session, SignIn, takeEntry } from "./sign-in.tsx";
import { texts } from "./texts/index.ts";

const VIEWS = ["upcoming", "past", "orders"] as const;

function App() {
  // First of all, for it changes the address.
  const [entry, setEntry] = useState(takeEntry);
  const { query } = useRoute();
  const purpose = PURPOSES.find((name) => entry?.[name]);
  const token = purpose && entry?.[purpose];
  const [ended, setEnded] = useState("");
  const [kept, keep] = useStored<Session | null>("portal.session", null);
  const asked = query.get("professional");
  // At the address of another professional nobody is signed in.
  const session = kept && [null, kept.professional.username].includes(asked) ? kept : null;
  const username = session?.professional.username ?? asked;
  const page = useLoaded((signal) => publicPage(username, signal), [username]);

  // A link that is pasted into this tab loads nothing anew.
  useEffect(() => addEventListener("hashchange", () => setEntry(takeEntry())), []);

  const leaveEntry = (professional?: string) => {
    writeStored("portal.entry", null);
    setEntry(professional ? { professional } : null);
    setEnded("");
  };
  const begin = (answer: Omit<Session, "ends">) => {
    leaveEntry();
    keep({ ...answer, ends: Date.now() + answer.expires_in * 1000 });
    // So that a reload after the session, and a bookmark, know whose client it is.
    goTo({ professional: answer.professional.username, step: null }, { replace: true });
  };
  const end = ({ access_token, professional }: Session, why: string) => {
    // A late answer to an earlier session says nothing of the one that there is now.
    if (readStored<Session>("portal.session")?.access_token !== access_token) return;
    setEntry((other) => other ?? { professional: professional.id });
    setEnded(why);
    keep(null);
  };

  return (
    <Page wide={query.get("do") === "move"}>
      {token && purpose ? (
        <LinkStep key={token} {...{ purpose, token }} onSession={begin} onLeave={leaveEntry} />
      ) : session && !entry?.professional ? (
        <Home {...{ session, page: page.value }} onEnd={(why) => end(session, why)} />
      ) : (
        <SignIn key={entry?.code} {...{ entry, ended, page }} onSession={begin} />
      )}
    </Page>
  );
}

/** What is the client's: bookings and orders; of a link, one booking. */
function Home({ session, page, onEnd }: Omit<Portal, "api"> & { onEnd: (why: string) => void }) {
  const { query } = useRoute();
  const asked = isLink(session) ? null : query.get("view");
  const view = VIEWS.find((name) => name === asked) ?? "upcoming";
  const [api] = useState(() =>
    connect({
      accessToken: async () => session.access_token,
      async fetch(...args) {
        const response = await fetch(...args);
        if (response.status === 401) onEnd(texts.ended.over);
        return response;
      },
    }),
  );
  useEffect(() => void setTimeout(() => onEnd(texts.ended.over), session.ends - Date.now()), []);
  const signOut = useAction(async () => {
    await api.functions.portal.signOut();
    goTo(START, { replace: true });
    onEnd(texts.ended.signedOut);
    // Whoever signs out may leave the machine to somebody else.
    tab.clear();
  });
  return (
    <>
      <header class="stack">
        <h1 dir="auto">{texts.titleWith(session.professional.full_name)}</h1>
        <div class="row apart">
          <bdi class="faint">{session.client.name}</bdi>
          <Button kind="link" busy={signOut.busy} onClick={signOut.run}>
            {texts.nav.signOut}
          </Button>
        </div>
        <Failure error={signOut.error} />
        {!isLink(session) && (
          <nav class="tabs" aria-label={texts.nav.label}>
            {VIEWS.map((name) => (
              <Link
                key={name}
                to={{ ...START, view: name }}
                aria-current={name === view ? "page" : undefined}
              >
                {texts.nav[name]}
              </Link>
            ))}
          </nav>
        )}
      </header>
      {view === "orders" ? (
        <Orders api={api} />
      ) : (
        <Bookings key={view} {...{ api, session, page, view }} />
      )}
    </>
  );
}

render(<App />, document.getElementById("page") as HTMLElement);

/** What is the client's: bookings, orders, name and phone; of a link, one booking. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { Failure } from "../shared/errors.tsx";
import { type Changes, useRoute } from "../shared/route.ts";
import { Button, Link, Notice } from "../shared/ui.tsx";
import { Bookings, OneBooking } from "./bookings.tsx";
import { Me } from "./me.tsx";
import { Orders } from "./orders.tsx";
import { isLink, type Portal, type Session } from "./session.ts";
import { texts } from "./texts/index.ts";

interface HomeProps extends Portal {
  onSession: (session: Session) => void;
  onSignedOut: () => void;
}

const VIEWS = ["upcoming", "past", "orders", "me"] as const;

/** Nothing of the query that is about one view. */
export const CLEAN: Changes = Object.fromEntries(
  ["view", "booking", "do", "day", "start", "paid", "unpaid"].map((name) => [name, null]),
);

export function Home({ onSession, onSignedOut, ...portal }: HomeProps) {
  const { query, go } = useRoute();
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
    go({ ...CLEAN, view: asked });
    setSaid({ text, at: location.search });
  };
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
        {!isLink(portal.session) && (
          <nav class="tabs" aria-label={texts.nav.label}>
            {VIEWS.map((name) => (
              <Link
                key={name}
                to={{ ...CLEAN, view: name }}
                aria-current={name === view ? "page" : undefined}
              >
                {texts.nav[name]}
              </Link>
            ))}
          </nav>
        )}
      </header>
      {said.at === location.search && said.text && <Notice kind="good">{said.text}</Notice>}
      {isLink(portal.session) || query.has("booking") ? (
        <OneBooking {...portal} finish={finish} />
      ) : view === "orders" ? (
        <Orders api={portal.api} />
      ) : view === "me" ? (
        <Me {...portal} onSession={onSession} />
      ) : (
        <Bookings key={view} {...portal} isPast={view === "past"} />
      )}
    </>
  );
}

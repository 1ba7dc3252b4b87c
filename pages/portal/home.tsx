/** What is the client's: bookings, orders, name and phone; of a link, one booking. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import type { ApiClient } from "../shared/api.ts";
import { Failure } from "../shared/errors.tsx";
import { addressOf, type Changes, type Route } from "../shared/route.ts";
import { Button, Notice } from "../shared/ui.tsx";
import { Bookings, OneBooking } from "./bookings.tsx";
import { Me } from "./me.tsx";
import { Orders } from "./orders.tsx";
import type { PublicPage } from "./public-page.ts";
import type { Session } from "./session.ts";
import { texts } from "./texts/index.ts";

/** What every part of it needs. */
export interface Portal {
  api: ApiClient;
  route: Route;
  session: Session;
  /** Null where the professional takes nothing, undefined until that is known. */
  page: PublicPage | null | undefined;
  /** Leads back from a booking, and says what has been done. */
  finish: (said?: string) => void;
}

interface HomeProps extends Omit<Portal, "finish"> {
  onName: (name: string) => void;
  onSignedOut: () => void;
}

const VIEWS = ["upcoming", "past", "orders", "me"] as const;

/** Nothing of the query that is about one view. */
export const CLEAN: Changes = Object.fromEntries(
  ["view", "booking", "do", "day", "start", "paid", "unpaid"].map((name) => [name, null]),
);

export function Home({ onName, onSignedOut, ...given }: HomeProps) {
  const { api, route, session } = given;
  const { client, professional, isLink } = session;
  const [said, setSaid] = useState<string>();
  const signOut = useAction(async () => {
    await api.functions.portal.signOut();
    onSignedOut();
  });
  const asked = route.query.get("view");
  const view = VIEWS.find((name) => name === asked) ?? "upcoming";
  const go = (changes: Changes, text?: string) => {
    setSaid(text);
    route.go({ ...CLEAN, ...changes });
  };
  const portal: Portal = { ...given, finish: (text) => go({ view: asked }, text) };
  return (
    <>
      <header class="stack">
        <h1 dir="auto">{texts.titleWith(professional.full_name)}</h1>
        <div class="row apart">
          <p class="faint">
            {texts.nav.signedInAs} <bdi>{client.name}</bdi>
          </p>
          <Button kind="link" busy={signOut.busy} onClick={signOut.run}>
            {texts.nav.signOut}
          </Button>
        </div>
        <Failure error={signOut.error} />
        {!isLink && (
          <nav class="row" aria-label={texts.nav.label}>
            {VIEWS.map((name) => (
              <a
                key={name}
                href={addressOf({ ...CLEAN, view: name })}
                aria-current={name === view ? "page" : undefined}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  go({ view: name });
                }}
              >
                {texts.nav[name]}
              </a>
            ))}
          </nav>
        )}
      </header>
      {said && <Notice kind="good">{said}</Notice>}
      {isLink || route.query.has("booking") ? (
        <OneBooking {...portal} />
      ) : view === "orders" ? (
        <Orders {...portal} />
      ) : view === "me" ? (
        <Me api={api} session={session} onName={onName} />
      ) : (
        <Bookings key={view} {...portal} view={view} />
      )}
    </>
  );
}

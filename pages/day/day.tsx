/** The signed-in professional's page: a day with all there is to do, or a week at a glance. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { isCode } from "../shared/api.ts";
import { useAction, useLoaded } from "../shared/asking.ts";
import { Failure, sentence } from "../shared/errors.tsx";
import * as f from "../shared/format.ts";
import { goTo, useRoute } from "../shared/route.ts";
import { announce, Button, Field, Heading, Loading, Notice, Page } from "../shared/ui.tsx";
import { BlockDialog, CancelDialog } from "./dialogs.tsx";
import { type Booking, loadBookings, loadProfile, signOut } from "./diary.ts";
import { texts } from "./texts/index.ts";
import { Day, Week } from "./views.tsx";

export function Diary() {
  const { value: profile, error, again } = useLoaded(loadProfile, []);
  if (profile) return <Schedule zone={profile.time_zone} name={profile.full_name} />;
  return <Page>{error ? <Failure error={error} again={again} /> : <Loading />}</Page>;
}

/** After an action whose button is gone the focus is nowhere: it goes to what the action was about. */
function mendFocus(about: Booking | undefined): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const entry = about && document.getElementById(about.id);
    (entry?.checkVisibility() ? entry : document.querySelector("h1"))?.focus();
  });
}

/** `?day=2026-12-01&view=week`; without a day, or with nonsense, it is today. */
function Schedule({ zone, name }: { zone: string; name: string | null }) {
  const { query } = useRoute();
  const day = f.dateIn(query.get("day")) ?? f.todayIn(zone);
  const isWeek = query.get("view") === "week";
  const first = isWeek ? f.addDays(day, -((f.weekdayOf(day) - f.firstWeekday + 7) % 7)) : day;
  const last = isWeek ? f.addDays(first, 6) : day;
  // From midnight to midnight: a day has 23 or 25 hours where clocks change.
  const start = f.instantOf(first, "00:00", zone);
  const end = f.instantOf(f.addDays(last, 1), "00:00", zone);
  const load = (signal: AbortSignal) => loadBookings(start, end, signal);
  const { value: bookings, at, error, again } = useLoaded(load, [start, end], { every: 60_000 });
  const since = at ? texts.stale(f.timeOf(at, zone)) : "";
  const isElsewhere = [start, end].some((moment) => f.clocksDiffer(moment, zone, f.visitorZone));
  const week = [first, last].map((date) => f.dateText(date, "day")).join(" – ");
  const title = isWeek ? week : f.dateText(day);
  useEffect(() => announce(title), [title]);

  const leaving = useAction(signOut);
  const [asked, setAsked] = useState<Booking | "block">();
  const action = useAction(async (work: () => Promise<unknown>, said: string, about?: Booking) => {
    const reload = () => again().then(() => mendFocus(about));
    try {
      await work();
    } catch (failure) {
      // No dialog can mend these: the page has to show how it stands.
      if (isCode(failure, "invalid_transition", "PGRST301")) setAsked(undefined);
      // Without a connection that takes as long as it may be tried again.
      void reload();
      throw failure;
    }
    announce(said);
    setAsked(undefined);
    await reload();
  });
  const ask = (next?: typeof asked) => {
    action.forget();
    setAsked(next);
  };
  const about = asked === "block" ? undefined : asked;
  const onClose = () => {
    ask();
    mendFocus(about);
  };
  return (
    <Page wide={isWeek} brand={<bdi>{name}</bdi>}>
      <div class="stack">
        <Heading title={`${texts.title} · ${title}`}>{title}</Heading>
        <Navigation {...{ day, isWeek }} />
        {isElsewhere && <p class="zones">{texts.zone(f.zoneText(zone))}</p>}
        {error !== undefined && <Notice>{`${sentence(error)} ${since}`}</Notice>}
      </div>
      {!bookings && !error && <Loading />}
      {bookings && isWeek && <Week {...{ bookings, first, zone }} />}
      {bookings && !isWeek && <Day {...{ bookings, date: day, zone, action, onCancel: ask }} />}
      {about && <CancelDialog {...{ booking: about, zone, action, onClose }} />}
      {asked === "block" && <BlockDialog {...{ day, zone, action, onClose }} />}
      <footer class="row apart">
        <Button busy={action.busy} onClick={() => ask("block")}>
          {texts.blockDialog.title}
        </Button>
        <Button kind="link" busy={leaving.busy} onClick={leaving.run}>
          {texts.signOut}
        </Button>
        <Failure error={leaving.error} />
      </footer>
      {!asked && (
        <Failure error={action.error}>
          <Button onClick={onClose}>{texts.dismiss}</Button>
        </Failure>
      )}
    </Page>
  );
}

/** From day to day and week to week: by buttons, or to a date. */
function Navigation({ day, isWeek }: { day: f.LocalDate; isWeek: boolean }) {
  const say = isWeek ? texts.byWeek : texts.byDay;
  const step = isWeek ? 7 : 1;
  // What is being typed goes through years that nobody means.
  const [typed, setTyped] = useState(day);
  useLayoutEffect(() => setTyped(day), [day]);
  const onValue = (text: string) => {
    setTyped(text);
    if (f.dateIn(text)) goTo({ day: text });
  };
  return (
    <nav class="days" aria-label={texts.views}>
      <div class="actions">
        <Button aria-label={say.previous} onClick={() => goTo({ day: f.addDays(day, -step) })}>
          ‹
        </Button>
        <Button onClick={() => goTo({ day: null })}>{texts.today}</Button>
        <Button aria-label={say.next} onClick={() => goTo({ day: f.addDays(day, step) })}>
          ›
        </Button>
        <Button kind="link" onClick={() => goTo({ view: isWeek ? null : "week" })}>
          {isWeek ? texts.byDay.name : texts.byWeek.name}
        </Button>
      </div>
      <Field {...{ name: "day", label: texts.goTo, type: "date", value: typed, onValue }} />
    </nav>
  );
}

/** The signed-in professional's page: a day with all there is to do, or a week at a glance. */
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../shared/api.ts";
import { useAction, useLoaded } from "../shared/asking.ts";
import { Failure, sentence } from "../shared/errors.tsx";
import * as f from "../shared/format.ts";
import { goTo } from "../shared/route.ts";
import { announce, Button, Field, Heading, Loading, Notice, Page } from "../shared/ui.tsx";
import { BlockDialog, CancelDialog } from "./dialogs.tsx";
import { type Booking, loadBookings, loadProfile, type Profile } from "./diary.ts";
import { signOut } from "./session.ts";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";
import { Day, hoursText, Week } from "./views.tsx";

/** No dialog can mend these: the page has to show how it stands. */
const STALE = ["changed", "invalid_transition", "PGRST301"];
const HOUR = 3_600_000;

export function Diary({ query }: { query: URLSearchParams }) {
  const { value: profile, error, again } = useLoaded(loadProfile, []);
  if (profile) return <Schedule {...{ query, profile }} />;
  return <Page>{error ? <Failure error={error} again={again} /> : <Loading />}</Page>;
}

/** `?day=2026-12-01&view=week`; without a day, or with nonsense, it is today. */
function datesAsked(query: URLSearchParams, today: f.IsoDate) {
  const day = f.dateIn(query.get("day")) ?? today;
  const isWeek = query.get("view") === "week";
  const first = f.addDays(day, isWeek ? -((f.weekdayOf(day) - f.firstWeekday + 7) % 7) : 0);
  const dates = Array.from({ length: isWeek ? 7 : 1 }, (_, index) => f.addDays(first, index));
  return { day, isWeek, dates, first, last: f.addDays(first, dates.length - 1) };
}

/** After an action whose button is gone the focus is nowhere: it goes to what the action was about. */
function mendFocus(about: Booking | undefined): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const entry = document.getElementById(`entry-${about?.id}`);
    (entry?.checkVisibility() ? entry : document.querySelector("h1"))?.focus();
  });
}

function Schedule({ query, profile }: { query: URLSearchParams; profile: Profile }) {
  const zone = profile.time_zone;
  const now = new Date();
  const today = f.todayIn(zone);
  const { day, isWeek, dates, first, last } = datesAsked(query, today);
  const [start, end] = boundsOf(first, last, zone);
  const load = (signal: AbortSignal) => loadBookings(start, end, signal);
  const { value, at, again, error } = useLoaded(load, [start, end], { every: 60_000 });
  const isElsewhere = [start, end].some((at) => f.clocksDiffer(at, zone, f.visitorZone));
  const hours = (Date.parse(end) - Date.parse(start)) / HOUR;
  const shift = hours < 24 ? texts.forward : texts.backward;
  const [asked, setAsked] = useState<Booking | "block">();
  const leaving = useAction(signOut);
  const action = useAction(
    async (work: () => Promise<unknown>, said: string, about?: Booking): Promise<void> => {
      const reload = () => again().then(() => mendFocus(about));
      try {
        await work();
      } catch (failure) {
        if (failure instanceof ApiError && STALE.includes(failure.code)) setAsked(undefined);
        // Without a connection that takes as long as it may be tried again.
        void reload();
        throw failure;
      }
      announce(said);
      setAsked(undefined);
      await reload();
    },
  );
  const ask = (next?: typeof asked) => {
    action.forget();
    setAsked(next);
  };
  const about = typeof asked === "object" ? asked : undefined;
  const onClose = () => {
    ask();
    mendFocus(about);
  };
  const title = isWeek
    ? [first, last].map((date) => f.dateText(date, "day")).join(" – ")
    : f.dateText(day);
  useEffect(() => announce(title), [title]);
  const shared = { zone, now, today, profile, bookings: value ?? [] };
  return (
    <Page wide={isWeek} brand={<bdi>{profile.full_name}</bdi>}>
      <div class="stack">
        <Heading title={`${texts.title} · ${title}`}>{title}</Heading>
        <Navigation {...{ day, today, isWeek }} />
        {isElsewhere && <p class="zones">{texts.zone(f.zoneText(zone))}</p>}
        {!isWeek && (
          <p class="faint">
            {hoursText(profile, day)} {hours !== 24 && shift}
          </p>
        )}
        {error !== undefined && (
          <Notice>
            {sentence(error)} {at && texts.stale(f.timeOf(at, zone))}
          </Notice>
        )}
      </div>
      {!value && !error && <Loading />}
      {value && isWeek && <Week {...shared} dates={dates} />}
      {value && !isWeek && <Day {...shared} {...{ date: day, action, onCancel: ask }} />}
      {about && <CancelDialog {...{ booking: about, zone, action, onClose }} />}
      {asked === "block" && <BlockDialog {...{ date: day, zone, action, onClose }} />}
      <footer class="row apart">
        <Button busy={action.busy} onClick={() => ask("block")}>
          {texts.blockDialog.title}
        </Button>
        <Button kind="link" busy={leaving.busy} onClick={leaving.run}>
          {texts.signOut}
        </Button>
        <Failure error={leaving.error} />
      </footer>
      {action.error !== undefined && !asked && (
        <div class="toast">
          <Failure error={action.error}>
            <Button onClick={onClose}>{texts.dismiss}</Button>
          </Failure>
        </div>
      )}
    </Page>
  );
}

type NavigationProps = Pick<ReturnType<typeof datesAsked>, "day" | "isWeek"> & { today: f.IsoDate };

/** From day to day and week to week: by buttons, or to a date. */
function Navigation({ day, today, isWeek }: NavigationProps) {
  const say = isWeek ? texts.byWeek : texts.byDay;
  const step = isWeek ? 7 : 1;
  const show = (date: f.IsoDate) => goTo({ day: date === today ? null : date });
  const turn = (sign: string, label: string, days: number) => (
    <Button aria-label={label} onClick={() => show(f.addDays(day, days))}>
      {sign}
    </Button>
  );
  const view = (isShown: boolean, view: string | null, label: string) => (
    <Button kind="link" aria-pressed={isShown} onClick={() => isShown || goTo({ view })}>
      {label}
    </Button>
  );
  // What is being typed goes through years that nobody means; shown as long as it belongs to this day.
  const [typed, setTyped] = useState({ text: "", day: "" });
  const field = { name: "day", label: texts.goTo, value: typed.day === day ? typed.text : day };
  const onValue = (text: string) => {
    const date = f.dateIn(text);
    setTyped({ text, day: date ?? day });
    if (date) show(date);
  };
  return (
    <nav class="days" aria-label={texts.views}>
      <div class="actions">
        {turn("‹", say.previous, -step)}
        <Button onClick={() => show(today)}>{texts.today}</Button>
        {turn("›", say.next, step)}
      </div>
      <div class="actions">
        {view(!isWeek, null, texts.byDay.name)}
        {view(isWeek, "week", texts.byWeek.name)}
      </div>
      <Field {...field} {...{ type: "date", onValue }} />
    </nav>
  );
}

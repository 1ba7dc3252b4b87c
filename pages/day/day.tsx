/** The signed-in professional's page. */
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../shared/api.ts";
import { Failure, sentence } from "../shared/errors.tsx";
import * as f from "../shared/format.ts";
import { announce, Button, Heading, Loading, Notice, Page } from "../shared/ui.tsx";
import { BlockDialog, CancelDialog, MoveDialog } from "./dialogs.tsx";
import {
  type Booking,
  change,
  loadBookings,
  loadProfile,
  type Profile,
  type Status,
} from "./diary.ts";
import { nameOf } from "./entry.tsx";
import { Hours } from "./hours.tsx";
import { Navigation } from "./navigation.tsx";
import { usePolled } from "./polled.ts";
import { signOut } from "./session.ts";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";
import { Day, Week } from "./views.tsx";

/** No dialog can mend these: the page has to show how it stands. */
const STALE = ["changed", "invalid_transition", "PGRST301"];

/** A session that has ended elsewhere ends here too. */
function useEndOf(error: unknown): void {
  const isOver = error instanceof ApiError && error.status === 401;
  useEffect(() => {
    if (isOver) signOut().catch(() => undefined);
  }, [isOver]);
}

export function Diary({ query }: { query: URLSearchParams }) {
  const { value, error, reload } = usePolled("profile", loadProfile);
  useEndOf(error);
  if (value) return <Schedule {...{ query, error, reload }} profile={value} />;
  return <Page>{error ? <Failure error={error} again={reload} /> : <Loading />}</Page>;
}

/** `?day=2026-12-01&view=week`; without a day, or with nonsense, it is today. */
function datesAsked(query: URLSearchParams, today: f.IsoDate) {
  const asked = query.get("day") ?? "";
  const isDate = /^2[01]\d\d-\d\d-\d\d$/.test(asked) && !Number.isNaN(Date.parse(asked));
  const day = isDate ? f.addDays(asked, 0) : today;
  const isWeek = query.get("view") === "week";
  const shift = isWeek ? (f.weekdayOf(day) - f.firstWeekday + 7) % 7 : 0;
  const first = f.addDays(day, -shift);
  const dates = Array.from({ length: isWeek ? 7 : 1 }, (_, index) => f.addDays(first, index));
  return { day, isWeek, dates, first, last: f.addDays(first, dates.length - 1) };
}

/** After an action whose button is gone the focus is nowhere: it goes to what the action was about. */
function mendFocus(booking?: Booking): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const entry = document.getElementById(`entry-${booking?.id}`);
    (entry?.checkVisibility() ? entry : document.querySelector("h1"))?.focus();
  });
}

interface ScheduleProps {
  query: URLSearchParams;
  profile: Profile;
  error: unknown;
  reload: () => Promise<void>;
}

function Schedule({ query, profile, error, reload }: ScheduleProps) {
  const zone = profile.time_zone;
  const now = new Date();
  const today = f.dateOf(now, zone);
  const { day, isWeek, dates, first, last } = datesAsked(query, today);
  const [start, end] = boundsOf(first, last, zone);
  const load = (signal: AbortSignal) => loadBookings(start, end, signal);
  const { value: bookings, ...polled } = usePolled(start + end, load);
  useEndOf(polled.error);
  const stale = polled.error ?? error;

  const [trouble, setTrouble] = useState<unknown>();
  const [open, setOpen] = useState<{ kind: "block" | "cancel" | "move"; booking?: Booking }>();
  /** What goes wrong is said above all, since its entry may be gone; but in a dialog what can be mended there. */
  const act = async (work: () => Promise<unknown>, said: string, booking = open?.booking) => {
    try {
      await work();
      announce(said);
      setTrouble(undefined);
    } catch (failure) {
      const code = failure instanceof ApiError ? failure.code : "";
      if (open && !STALE.includes(code)) throw failure;
      setTrouble(failure);
    }
    setOpen(undefined);
    await Promise.all([polled.reload(), reload()]);
    mendFocus(booking);
  };
  const onStatus = (booking: Booking, status: Status) =>
    act(() => change(booking, { status }), `${nameOf(booking)}: ${texts.status[status]}`, booking);
  const onClose = () => {
    setOpen(undefined);
    mendFocus(open?.booking);
  };

  const title = isWeek
    ? `${f.dateText(first, "day")} – ${f.dateText(last, "day")}`
    : f.dateText(day);
  useEffect(() => announce(title), [title]);
  const shared = { zone, now, today, profile, bookings: bookings ?? [] };
  const dialog = { zone, onClose, finish: act };
  const booking = open?.booking;
  return (
    <Page wide={isWeek} brand={<bdi>{profile.full_name}</bdi>}>
      <div class="stack">
        <Heading title={`${texts.title} · ${title}`}>{title}</Heading>
        <Navigation {...{ day, today, isWeek }} />
        {f.clocksDiffer(start, zone, f.visitorZone) && (
          <p class="zones">{texts.zone(f.zoneText(zone))}</p>
        )}
        {!isWeek && <Hours {...{ profile, act }} date={day} isPast={day < today} />}
        {stale !== undefined && (
          <Notice>
            {sentence(stale)} {polled.at && texts.stale(f.timeOf(polled.at.toISOString(), zone))}
          </Notice>
        )}
      </div>
      {!bookings && !stale && <Loading />}
      {bookings && isWeek && <Week {...shared} dates={dates} />}
      {bookings && !isWeek && (
        <Day
          {...{ ...shared, date: day, onStatus }}
          onAsk={(kind, booking) => setOpen({ kind, booking })}
        />
      )}
      {open?.kind === "block" && <BlockDialog {...dialog} date={day} />}
      {open?.kind === "cancel" && booking && <CancelDialog {...{ ...dialog, booking }} />}
      {open?.kind === "move" && booking && <MoveDialog {...{ ...dialog, booking }} />}
      <footer class="row apart">
        <Button onClick={() => setOpen({ kind: "block" })}>{texts.blockDialog.title}</Button>
        <Button kind="link" onClick={() => signOut().catch(setTrouble)}>
          {texts.signOut}
        </Button>
      </footer>
      {trouble !== undefined && (
        <div class="toast">
          <Failure error={trouble}>
            <Button onClick={() => setTrouble(undefined)}>{texts.dismiss}</Button>
          </Failure>
        </div>
      )}
    </Page>
  );
}

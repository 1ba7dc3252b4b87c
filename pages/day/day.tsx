/** The signed-in professional's page. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../shared/api.ts";
import { Failure, sentence } from "../shared/errors.tsx";
import * as f from "../shared/format.ts";
import { type Loaded, useLoaded } from "../shared/loaded.ts";
import { announce, Button, Heading, Loading, Notice, Page } from "../shared/ui.tsx";
import { type Asked, BlockDialog } from "./dialogs.tsx";
import * as diary from "./diary.ts";
import { useButtons } from "./entry.tsx";
import { Hours } from "./hours.tsx";
import { Navigation } from "./navigation.tsx";
import { signOut } from "./session.ts";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";
import { Day, Week } from "./views.tsx";

/** No dialog can mend these: the page has to show how it stands. */
const STALE = ["changed", "invalid_transition", "PGRST301"];
const watched = { watched: true };

export function Diary({ query }: { query: URLSearchParams }) {
  const known = useLoaded(diary.loadProfile, [], watched);
  const { value: profile, error, again } = known;
  if (profile) return <Schedule {...{ query, profile, known }} />;
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
function mendFocus(booking?: diary.Booking): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const entry = document.getElementById(`entry-${booking?.id}`);
    (entry?.checkVisibility() ? entry : document.querySelector("h1"))?.focus();
  });
}

interface ScheduleProps {
  query: URLSearchParams;
  profile: diary.Profile;
  known: Loaded<diary.Profile>;
}

function Schedule({ query, profile, known }: ScheduleProps) {
  const zone = profile.time_zone;
  const now = new Date();
  const today = f.dateOf(now, zone);
  const { day, isWeek, dates, first, last } = datesAsked(query, today);
  const [start, end] = boundsOf(first, last, zone);
  const load = (signal: AbortSignal) => diary.loadBookings(start, end, signal);
  const { value: bookings, at, again, error } = useLoaded(load, [start, end], watched);
  const stale = error ?? known.error;
  const isElsewhere = [start, end].some((at) => f.clocksDiffer(at, zone, f.visitorZone));
  const [trouble, setTrouble] = useState<unknown>();
  const [open, setOpen] = useState<{ Dialog: ComponentType<Asked>; booking?: diary.Booking }>();
  const close = (booking = open?.booking) => {
    setOpen(undefined);
    mendFocus(booking);
  };
  /** What goes wrong is said above all, since its entry may be gone; but in a dialog what can be mended there. */
  const act = async (work: () => Promise<unknown>, said: string, booking = open?.booking) => {
    let code = "";
    try {
      await work();
      announce(said);
      setTrouble(undefined);
    } catch (failure) {
      code = failure instanceof ApiError ? failure.code : "";
      if (open && !STALE.includes(code)) throw failure;
      setTrouble(failure);
    }
    setOpen(undefined);
    const reloaded = Promise.all([again(), known.again()]);
    // Without a connection that takes as long as it may be tried again.
    if (code !== "network") await reloaded;
    mendFocus(booking);
  };
  const onStatus = (booking: diary.Booking, status: diary.Status) => {
    const said = `${diary.nameOf(booking)}: ${texts.status[status]}`;
    return act(() => diary.change(booking, { status }), said, booking);
  };
  const week = [first, last].map((date) => f.dateText(date, "day")).join(" – ");
  const title = isWeek ? week : f.dateText(day);
  useEffect(() => announce(title), [title]);
  const button = useButtons();
  const shared = { zone, now, today, profile, bookings: bookings ?? [] };
  return (
    <Page wide={isWeek} brand={<bdi>{profile.full_name}</bdi>}>
      <div class="stack">
        <Heading title={`${texts.title} · ${title}`}>{title}</Heading>
        <Navigation {...{ day, today, isWeek }} />
        {isElsewhere && <p class="zones">{texts.zone(f.zoneText(zone))}</p>}
        {!isWeek && <Hours {...{ profile, act }} date={day} isPast={day < today} />}
        {stale !== undefined && (
          <Notice>
            {sentence(stale)} {at && texts.stale(f.timeOf(at.toISOString(), zone))}
          </Notice>
        )}
      </div>
      {!bookings && !stale && <Loading />}
      {bookings && isWeek && <Week {...shared} dates={dates} />}
      {bookings && !isWeek && (
        <Day
          {...{ ...shared, date: day, onStatus }}
          onAsk={async (Dialog, booking) => setOpen({ Dialog, booking })}
        />
      )}
      {open && (
        <open.Dialog
          {...{ zone, date: day, finish: act, onClose: close }}
          booking={open.booking as diary.Booking}
        />
      )}
      <footer class="row apart">
        <Button onClick={() => setOpen({ Dialog: BlockDialog })}>{texts.blockDialog.title}</Button>
        {button(texts.signOut, () => signOut().catch(setTrouble))}
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

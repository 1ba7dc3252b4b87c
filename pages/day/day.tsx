/** The signed-in professional's page. */
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../shared/api.ts";
import { Failure, sentence } from "../shared/errors.tsx";
import {
  addDays,
  clocksDiffer,
  dateOf,
  dateText,
  firstWeekday,
  type IsoDate,
  timeOf,
  visitorZone,
  weekdayOf,
  zoneText,
} from "../shared/format.ts";
import type { Route } from "../shared/route.ts";
import { announce, Button, Heading, Loading, Notice, Page } from "../shared/ui.tsx";
import { BlockDialog, CancelDialog, MoveDialog } from "./dialogs.tsx";
import { type Booking, change, loadBookings, loadProfile, type Profile } from "./diary.ts";
import { nameOf } from "./entry.tsx";
import { Hours } from "./hours.tsx";
import { Navigation } from "./navigation.tsx";
import { useNow, usePolled } from "./polled.ts";
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

export function Diary({ route }: { route: Route }) {
  const { value, error, reload } = usePolled("profile", loadProfile);
  useEndOf(error);
  if (value) return <Schedule {...{ route, error, reload }} profile={value} />;
  return (
    <Page>
      <Heading title={texts.title}>{texts.title}</Heading>
      {error ? <Failure error={error} again={reload} /> : <Loading />}
    </Page>
  );
}

/** `?day=2026-12-01`; without one, or with nonsense, it is today. */
function dayAsked({ query }: Route, today: IsoDate): IsoDate {
  const asked = query.get("day") ?? "";
  const isDate = /^2[01]\d\d-\d\d-\d\d$/.test(asked) && !Number.isNaN(Date.parse(asked));
  return isDate ? addDays(asked, 0) : today;
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
  route: Route;
  profile: Profile;
  error: unknown;
  reload: () => Promise<void>;
}

function Schedule({ route, profile, error, reload }: ScheduleProps) {
  const zone = profile.time_zone;
  const now = useNow();
  const today = dateOf(now, zone);
  const day = dayAsked(route, today);
  const isWeek = route.query.get("view") === "week";
  const first = isWeek ? addDays(day, -((weekdayOf(day) - firstWeekday + 7) % 7)) : day;
  const dates = Array.from({ length: isWeek ? 7 : 1 }, (_, index) => addDays(first, index));
  const last = dates.at(-1) ?? first;
  const [from, to] = boundsOf(first, last, zone);
  const bookings = usePolled(`${from} ${to}`, (signal) => loadBookings(from, to, signal));
  useEndOf(bookings.error);
  const stale = bookings.error ?? error;

  const title = isWeek ? `${dateText(first, "day")} – ${dateText(last, "day")}` : dateText(day);
  useEffect(() => announce(title), [title]);

  const [trouble, setTrouble] = useState<unknown>();
  const [open, setOpen] = useState<{ kind: "block" | "cancel" | "move"; booking?: Booking }>();
  const close = () => {
    setOpen(undefined);
    mendFocus(open?.booking);
  };
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
    await Promise.all([bookings.reload(), reload()]);
    mendFocus(booking);
  };
  const shared = { bookings: bookings.value ?? [], zone, now };
  const dialog = { zone, onClose: close, finish: act };
  const booking = open?.booking;
  return (
    <Page wide={isWeek}>
      <div class="stack">
        <Heading title={`${texts.title} · ${title}`}>{title}</Heading>
        <Navigation {...{ route, day, today, isWeek }} />
        {clocksDiffer(from, zone, visitorZone) && <p class="zones">{texts.zone(zoneText(zone))}</p>}
        {!isWeek && <Hours {...{ profile, act }} date={day} isPast={day < today} />}
        {stale !== undefined && (
          <Notice>
            {sentence(stale)} {bookings.at && texts.stale(timeOf(bookings.at.toISOString(), zone))}
          </Notice>
        )}
      </div>
      {!bookings.value && !stale && <Loading />}
      {bookings.value && isWeek && <Week {...{ ...shared, profile, route, dates, today }} />}
      {bookings.value && !isWeek && (
        <Day
          {...shared}
          date={day}
          isToday={day === today}
          onAsk={(kind, booking) => setOpen({ kind, booking })}
          onStatus={(booking, status) => {
            const said = texts.changedTo(nameOf(booking), texts.status[status]);
            return act(() => change(booking, { status }), said, booking);
          }}
        />
      )}
      <Button onClick={() => setOpen({ kind: "block" })}>{texts.blockDialog.title}</Button>
      {open?.kind === "block" && <BlockDialog {...dialog} date={day} />}
      {open?.kind === "cancel" && booking && <CancelDialog {...dialog} booking={booking} />}
      {open?.kind === "move" && booking && <MoveDialog {...dialog} booking={booking} />}
      <footer class="row apart faint">
        <span>
          {texts.signedInAs} <bdi>{profile.full_name}</bdi>
        </span>
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

/** One day with all there is to do, or a week at a glance. */

import type { Instant, IsoDate } from "../shared/format.ts";
import { dateOf, dateText, momentText, money, timeOf, weekdayOf } from "../shared/format.ts";
import { Button, Facts, Link, Reach, Words } from "../shared/ui.tsx";
import type { Act } from "./dialogs.tsx";
import * as diary from "./diary.ts";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";

const { isBlock, nameOf } = diary;

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** When the professional works on a date. */
export function hoursText({ availability }: diary.Profile, date: IsoDate): string {
  const { weekly, overrides } = availability as Partial<diary.Profile["availability"]>;
  const windows = overrides?.[date] ?? weekly?.[WEEKDAYS[weekdayOf(date)] ?? "mon"] ?? [];
  if (windows.length === 0) return texts.closed;
  return texts.open(windows.map((window) => window.join("–")).join(", "));
}

/** From when to when; with its date, what is on another day. */
function spanOf({ starts_at, ends_at }: diary.Booking, date: IsoDate, zone: string): string {
  const text = (instant: Instant) =>
    dateOf(instant, zone) === date ? timeOf(instant, zone) : momentText(instant, zone, "day");
  return `${text(starts_at)} – ${text(ends_at)}`;
}

/** For the styles: how it stands, and whether it is over. */
const classOf = (booking: diary.Booking, now: Date): string =>
  `${booking.status} ${isBlock(booking) ? "block" : ""} ${booking.ends_at <= now.toISOString() ? "over" : ""}`;

function Badge({ booking, zone }: { booking: diary.Booking; zone: string }) {
  const { status, expires_at } = booking;
  if (isBlock(booking) && status === "confirmed") return null;
  const held = diary.isHold(booking) && expires_at && texts.held(timeOf(expires_at, zone));
  return <span class={`badge ${held ? "held" : status}`}>{held || texts.status[status]}</span>;
}

interface EntryProps {
  booking: diary.Booking;
  date: IsoDate;
  zone: string;
  now: Date;
  action: Act;
  onCancel: (booking: diary.Booking) => void;
}

function Entry({ booking, date, zone, now, action, onCancel }: EntryProps) {
  const { client, status, price, currency, checkout_open, orders } = booking;
  const of = `entry-${booking.id}`;
  const paid = diary.paidFor(booking);
  const facts = [price && money(price, currency), paid && texts.paid(money(paid, currency))];
  const waits = orders.length > 0 ? texts.heldForPayment : texts.heldForAddress;
  const isLive = status === "pending" || status === "confirmed";
  const isDue = booking.starts_at <= now.toISOString() && !isBlock(booking);
  // What usually comes next. Whether it may is the server's to say.
  const outcomes: diary.Status[] = isDue && status !== "cancelled" ? ["completed", "no_show"] : [];
  const next =
    status === "pending" ? ["confirmed" as const] : outcomes.filter((to) => to !== status);
  const become = (status: diary.Status) => () => {
    const said = `${nameOf(booking)}: ${texts.status[status]}`;
    return action.run(() => diary.setStatus(booking, status), said, booking);
  };
  const button = (label: string, kind: "primary" | "plain" | "link", onClick: () => void) => (
    <Button {...{ key: label, kind, busy: action.busy, "aria-describedby": of, onClick }}>
      {label}
    </Button>
  );
  return (
    <li class={`entry card ${classOf(booking, now)}`}>
      <article class="stack" aria-labelledby={of}>
        <div class="row apart">
          <p class="when">{spanOf(booking, date, zone)}</p>
          <Badge {...{ booking, zone }} />
        </div>
        <h2 id={of} tabIndex={-1} dir="auto">
          {nameOf(booking)}
        </h2>
        <p class="row">
          <span dir="auto">{booking.service_name}</span>
          <span class="faint">{facts.filter(Boolean).join(" · ")}</span>
        </p>
        {diary.isHold(booking) && <p class="faint">{checkout_open ? texts.paying : waits}</p>}
        <p class="row contact">
          <Reach phone={client?.phone} email={client?.email} />
        </p>
        <Facts
          plain
          rows={[
            [isBlock(booking) ? texts.blockDialog.notes : texts.clientNotes, booking.notes],
            [texts.ownNotes, booking.internal_notes],
            [texts.cancelDialog.reason, booking.cancel_reason],
          ].map(([label, text]) => !!text && [label, <Words>{text}</Words>])}
        />
        <div class="actions">
          {next.map((to, index) =>
            button(texts.to[to], isLive && !index ? "primary" : "plain", become(to)),
          )}
          {isLive && isBlock(booking) && button(texts.remove, "link", become("cancelled"))}
          {isLive && !isBlock(booking) && button(texts.cancel, "link", () => onCancel(booking))}
        </div>
      </article>
    </li>
  );
}

type DayProps = Omit<EntryProps, "booking"> & { bookings: diary.Booking[]; today: IsoDate };

export function Day({ bookings, today, ...props }: DayProps) {
  const now = props.now.toISOString();
  const isToday = props.date === today;
  const entry = (booking: diary.Booking) => <Entry key={booking.id} {...{ booking, ...props }} />;
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const cancelled = bookings.filter(({ status }) => status === "cancelled");
  return (
    <>
      {live.length === 0 && <p class="empty">{isToday ? texts.emptyToday : texts.empty}</p>}
      <ol class="list">
        {live.filter(({ starts_at }) => starts_at <= now).map(entry)}
        {isToday && live[0] && <li class="now">{texts.now(timeOf(now, props.zone))}</li>}
        {live.filter(({ starts_at }) => starts_at > now).map(entry)}
      </ol>
      {cancelled.length > 0 && (
        <details>
          <summary>{texts.cancelled(cancelled.length)}</summary>
          <ol class="list">{cancelled.map(entry)}</ol>
        </details>
      )}
    </>
  );
}

interface WeekProps extends Pick<DayProps, "bookings" | "zone" | "now" | "today"> {
  profile: diary.Profile;
  dates: IsoDate[];
}

export function Week({ bookings, profile, zone, now, dates, today }: WeekProps) {
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const row = (booking: diary.Booking, date: IsoDate) => (
    <li key={booking.id} class={classOf(booking, now)}>
      <p class="when">{spanOf(booking, date, zone)}</p>
      <p dir="auto">{nameOf(booking)}</p>
      <p class="faint" dir="auto">
        {booking.service_name}
      </p>
      <Badge {...{ booking, zone }} />
    </li>
  );
  const section = (date: IsoDate) => {
    const [start, end] = boundsOf(date, date, zone);
    const ofDay = live.filter(({ starts_at, ends_at }) => starts_at < end && ends_at > start);
    return (
      <section key={date} class={`card stack ${date === today ? "today" : ""}`}>
        <h2>
          <Link to={{ day: date, view: null }}>{dateText(date, "day")}</Link>
        </h2>
        <p class="faint">{hoursText(profile, date)}</p>
        <ol class="list">{ofDay.map((booking) => row(booking, date))}</ol>
      </section>
    );
  };
  return <div class="week">{dates.map(section)}</div>;
}

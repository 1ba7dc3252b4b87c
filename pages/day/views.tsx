/** One day with all there is to do, or a week at a glance. */
import * as f from "../shared/format.ts";
import { Button, Facts, Link, Reach, Words } from "../shared/ui.tsx";
import type { Act } from "./dialogs.tsx";
import { type Booking, isBlock, nameOf, type Outcome, paidFor, setStatus } from "./diary.ts";
import { texts } from "./texts/index.ts";

const isPast = (instant: f.Instant) => Date.parse(instant) <= Date.now();

/** For the styles. */
const classOf = (booking: Booking): string =>
  `${booking.status} ${isBlock(booking) ? "block" : ""} ${isPast(booking.ends_at) ? "over" : ""}`;

type Shown = { booking: Booking; date: f.LocalDate; zone: string };

/** From when to when, with its date what is on another day; and how it stands. */
function Head({ booking, date, zone }: Shown) {
  const { status, starts_at, ends_at, expires_at, checkout_open, orders } = booking;
  const text = (instant: f.Instant) =>
    f.dateOf(instant, zone) === date ? f.timeOf(instant, zone) : f.momentText(instant, zone, "day");
  // Until it is paid or its address is confirmed; then its time is free again.
  const held = status === "pending" && expires_at && texts.held(f.timeOf(expires_at, zone));
  const waits = orders.length > 0 ? texts.heldForPayment : texts.heldForAddress;
  return (
    <div class="row apart">
      <p class="when">{`${text(starts_at)} – ${text(ends_at)}`}</p>
      <span class={`badge ${held ? "held" : status}`}>{held || texts.status[status]}</span>
      {held && <p class="faint">{checkout_open ? texts.paying : waits}</p>}
    </div>
  );
}

type EntryProps = Shown & { action: Act; onCancel: (booking: Booking) => void };

function Entry({ booking, date, zone, action, onCancel }: EntryProps) {
  const { id, client, status, price, currency } = booking;
  const paid = paidFor(booking);
  const amounts = [price && f.money(price, currency), paid && texts.paid(f.money(paid, currency))];
  const is = (...statuses: Booking["status"][]) => statuses.includes(status);
  const hasBegun = isPast(booking.starts_at) && !isBlock(booking);
  const become = (next: Outcome) => {
    if (next === "cancelled" && !isBlock(booking)) return onCancel(booking);
    const said = `${nameOf(booking)}: ${texts.status[next]}`;
    return action.run(() => setStatus(booking, next), said, booking);
  };
  const button = (next: Outcome, kind: "primary" | "plain" | "link") => (
    <Button {...{ kind, busy: action.busy, "aria-describedby": id, onClick: () => become(next) }}>
      {next === "cancelled" && isBlock(booking) ? texts.remove : texts.to[next]}
    </Button>
  );
  return (
    <li class={`entry card ${classOf(booking)}`}>
      <article class="stack" aria-labelledby={id}>
        <Head {...{ booking, date, zone }} />
        <h2 id={id} tabIndex={-1} dir="auto">
          {nameOf(booking)}
        </h2>
        <p class="row">
          <span dir="auto">{booking.service_name}</span>
          <span class="faint">{amounts.filter(Boolean).join(" · ")}</span>
        </p>
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
          {/* What usually comes next. Whether it may is the server's to say. */}
          {is("pending") && button("confirmed", "primary")}
          {is("confirmed", "no_show") && hasBegun && button("completed", "primary")}
          {is("confirmed", "completed") && hasBegun && button("no_show", "plain")}
          {is("pending", "confirmed") && button("cancelled", "link")}
        </div>
      </article>
    </li>
  );
}

export function Day({ bookings, ...props }: Omit<EntryProps, "booking"> & { bookings: Booking[] }) {
  const isToday = props.date === f.todayIn(props.zone);
  const now = f.timeOf(new Date().toISOString(), props.zone);
  const entry = (booking: Booking) => <Entry key={booking.id} {...{ booking, ...props }} />;
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const cancelled = bookings.filter(({ status }) => status === "cancelled");
  return (
    <>
      {live.length === 0 && <p class="empty">{isToday ? texts.emptyToday : texts.empty}</p>}
      <ol class="list">
        {live.filter(({ starts_at }) => isPast(starts_at)).map(entry)}
        {isToday && live.length > 0 && <li class="now">{texts.now(now)}</li>}
        {live.filter(({ starts_at }) => !isPast(starts_at)).map(entry)}
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

/** Whether some of it is on a date; what ends at midnight is not on the next one. */
function isOn({ starts_at, ends_at }: Booking, date: f.LocalDate, zone: string): boolean {
  const last = new Date(Date.parse(ends_at) - 1).toISOString();
  return f.dateOf(starts_at, zone) <= date && date <= f.dateOf(last, zone);
}

type WeekProps = { bookings: Booking[]; first: f.LocalDate; zone: string };

export function Week({ bookings, first, zone }: WeekProps) {
  const dates = [0, 1, 2, 3, 4, 5, 6].map((days) => f.addDays(first, days));
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const row = (booking: Booking, date: f.LocalDate) => (
    <li key={booking.id} class={classOf(booking)}>
      <Head {...{ booking, date, zone }} />
      <p dir="auto">{nameOf(booking)}</p>
      <Words>{booking.service_name}</Words>
    </li>
  );
  const section = (date: f.LocalDate) => (
    <section key={date} class={`card stack ${date === f.todayIn(zone) ? "today" : ""}`}>
      <h2>
        <Link to={{ day: date, view: null }}>{f.dateText(date, "day")}</Link>
      </h2>
      <ol class="list">
        {live.filter((booking) => isOn(booking, date, zone)).map((booking) => row(booking, date))}
      </ol>
    </section>
  );
  return <div class="week">{dates.map(section)}</div>;
}

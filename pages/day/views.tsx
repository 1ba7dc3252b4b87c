/** One day with all there is to do, or a week at a glance. */
import { dateText, type IsoDate, timeOf } from "../shared/format.ts";
import { Link } from "../shared/ui.tsx";
import { type Booking, nameOf, type Profile } from "./diary.ts";
import { Badge, classOf, Entry, type EntryProps, spanOf } from "./entry.tsx";
import { hoursText } from "./hours.tsx";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";

interface DayProps extends Omit<EntryProps, "booking"> {
  bookings: Booking[];
  today: IsoDate;
}

export function Day({ bookings, today, ...props }: DayProps) {
  const now = props.now.toISOString();
  const isToday = props.date === today;
  const entry = (booking: Booking) => <Entry key={booking.id} {...{ booking, ...props }} />;
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const cancelled = bookings.filter(({ status }) => status === "cancelled");
  const clock = <li class="now">{texts.now(timeOf(now, props.zone))}</li>;
  return (
    <>
      {live.length === 0 && <p class="empty">{isToday ? texts.emptyToday : texts.empty}</p>}
      <ol class="list">
        {live.filter(({ starts_at }) => starts_at <= now).map(entry)}
        {isToday && live.length > 0 && clock}
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
  profile: Profile;
  dates: IsoDate[];
}

export function Week({ bookings, profile, zone, now, dates, today }: WeekProps) {
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const row = (booking: Booking, date: IsoDate) => (
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

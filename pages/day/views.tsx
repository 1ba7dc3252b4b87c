/** One day with all there is to do, or a week at a glance. */
import { dateText, type IsoDate, timeOf } from "../shared/format.ts";
import { addressOf, type Route } from "../shared/route.ts";
import type { Booking, Profile } from "./diary.ts";
import { Badge, Entry, type EntryProps, isOver, nameOf, spanOf } from "./entry.tsx";
import { hoursText } from "./hours.tsx";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";

interface DayProps extends Omit<EntryProps, "booking"> {
  bookings: Booking[];
  isToday: boolean;
}

export function Day({ bookings, isToday, ...props }: DayProps) {
  const { now, zone } = props;
  const entry = (booking: Booking) => <Entry key={booking.id} {...{ booking, ...props }} />;
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const cancelled = bookings.filter(({ status }) => status === "cancelled");
  const begun = live.filter(({ starts_at }) => Date.parse(starts_at) <= now.getTime());
  return (
    <>
      {live.length === 0 && <p class="empty">{isToday ? texts.emptyToday : texts.empty}</p>}
      <ol class="list">
        {begun.map(entry)}
        {isToday && live.length > 0 && (
          <li key="now" class="now">
            {texts.now(timeOf(now.toISOString(), zone))}
          </li>
        )}
        {live.slice(begun.length).map(entry)}
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

interface WeekProps extends Pick<DayProps, "bookings" | "zone" | "now"> {
  profile: Profile;
  route: Route;
  dates: IsoDate[];
  today: IsoDate;
}

export function Week({ bookings, profile, zone, now, route, dates, today }: WeekProps) {
  const live = bookings.filter(({ status }) => status !== "cancelled");
  const section = (date: IsoDate) => {
    const [from, to] = boundsOf(date, date, zone);
    const ofDay = live.filter(({ starts_at, ends_at }) => starts_at < to && ends_at > from);
    const changes = { day: date, view: null };
    const onClick = (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      route.go(changes);
    };
    return (
      <section key={date} class={`card stack ${date === today ? "today" : ""}`}>
        <h2>
          <a href={addressOf(changes)} onClick={onClick}>
            {dateText(date, "day")}
          </a>
        </h2>
        <p class="faint">{hoursText(profile, date)}</p>
        <ol class="list">
          {ofDay.map((booking) => (
            <li key={booking.id} class={isOver(booking, now) ? "over" : ""}>
              <p class="when">{spanOf(booking, date, zone)}</p>
              <p dir="auto">{nameOf(booking)}</p>
              <p class="faint" dir="auto">
                {booking.service_name}
              </p>
              {booking.status !== "confirmed" && <Badge {...{ booking, zone }} />}
            </li>
          ))}
        </ol>
      </section>
    );
  };
  return <div class="week">{dates.map(section)}</div>;
}

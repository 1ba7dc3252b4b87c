/** Instants as people read them: in a zone, and such that no two instants read the same. */

/** How far clocks go back, in minutes: an hour nearly everywhere, also half of one and two. */
const STEPS_BACK = [30, 60, 120];

export interface Times {
  /** From start to end, with the zone's name. */
  period(start: string, end: string): string;
  /** A point in time, with the zone's name. */
  moment(instant: string): string;
  /** For a subject: without the year; with the offset only where the clock shows it twice. */
  brief(instant: string): string;
}

/** Made once for a language and zone: making them takes far longer than using them. */
const made = new Map<string, Times>();

export function times(locale: string, timeZone: string): Times {
  const key = `${locale} ${timeZone}`;
  const known = made.get(key) ?? makeTimes(locale, timeZone);
  if (made.size >= 100) made.clear();
  made.set(key, known);
  return known;
}

function makeTimes(locale: string, timeZone: string): Times {
  const zone = knownZone(timeZone);
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: zone, ...options });
  const longDay = format({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
  const shortDay = format({ weekday: "short", day: "numeric", month: "short" });
  const clock = format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const longName = format({ timeZoneName: "long" });
  const shortOffset = format({ timeZoneName: "shortOffset" });

  const named = (names: Intl.DateTimeFormat, date: Date) =>
    names.formatToParts(date).find(({ type }) => type === "timeZoneName")?.value ?? zone;

  /** With the offset, since some zones have one name for summer and winter. */
  const zoneOf = (date: Date) => {
    const name = named(longName, date);
    // A zone without a name of its own has its offset for one.
    if (/^(GMT|UTC)([+-]|$)/.test(name)) return named(shortOffset, date);
    return `${name}, ${named(shortOffset, date)}`;
  };

  const isRepeated = (date: Date) => {
    const shown = (at: Date) => `${longDay.format(at)} ${clock.format(at)}`;
    return STEPS_BACK.flatMap((minutes) => [minutes, -minutes]).some(
      (minutes) => shown(new Date(date.getTime() + minutes * 60_000)) === shown(date),
    );
  };

  const moment = (instant: string) => {
    const at = new Date(instant);
    return `${longDay.format(at)}, ${clock.format(at)} (${zoneOf(at)})`;
  };

  return {
    moment,
    period(startsAt, endsAt) {
      const [start, end] = [new Date(startsAt), new Date(endsAt)];
      const [firstDay, lastDay] = [longDay.format(start), longDay.format(end)];
      const [from, to] = [clock.format(start), clock.format(end)];
      const zoneAtEnd = zoneOf(end);
      if (zoneOf(start) !== zoneAtEnd) {
        const day = firstDay === lastDay ? "" : `${lastDay}, `;
        return `${moment(startsAt)} – ${day}${to} (${zoneAtEnd})`;
      }
      return firstDay === lastDay
        ? `${firstDay}, ${from}–${to} (${zoneAtEnd})`
        : `${firstDay}, ${from} – ${lastDay}, ${to} (${zoneAtEnd})`;
    },
    brief(instant) {
      const at = new Date(instant);
      const offset = isRepeated(at) ? ` (${named(shortOffset, at)})` : "";
      return `${shortDay.format(at)}, ${clock.format(at)}${offset}`;
    },
  };
}

/** The database may know a newer zone than this runtime: then its instants are told in UTC. */
function knownZone(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone && timeZone;
  } catch {
    return "UTC";
  }
}

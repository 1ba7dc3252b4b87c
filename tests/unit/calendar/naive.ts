/**
 * A recurrence rule read naively: every day from the start on is asked whether the rule names it. Slow,
 * without jumps, and by other means than the code: `Date`, and lists of a period's days.
 */
const DAY = 86_400_000;
const HOUR = 3_600_000;
const NAMES = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

interface Parts {
  [name: string]: string | undefined;
}

export function naiveOccurrences(text: string, start: number, before: number): number[] {
  const parts: Parts = Object.fromEntries(text.split(";").map((part) => part.split("=")));
  const count = parts.COUNT === undefined ? Number.POSITIVE_INFINITY : Number(parts.COUNT);
  const interval = Number(parts.INTERVAL ?? 1);
  const startDate = new Date(start);
  const weekStart = NAMES.indexOf(parts.WKST ?? "MO");
  const firstOfWeek = (day: number) =>
    day - ((new Date(day).getUTCDay() - weekStart + 7) % 7) * DAY;
  const midnight = start - (start % DAY);

  /** The days of the period that a day is in, and the period's number from the start's. */
  const periodOf = (day: number): { number: number; from: number; to: number } => {
    const date = new Date(day);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    if (parts.FREQ === "DAILY") return { number: (day - midnight) / DAY, from: day, to: day + DAY };
    if (parts.FREQ === "WEEKLY") {
      const from = firstOfWeek(day);
      return { number: (from - firstOfWeek(midnight)) / DAY / 7, from, to: from + 7 * DAY };
    }
    const years = year - startDate.getUTCFullYear();
    if (parts.FREQ === "YEARLY") {
      return { number: years, from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) };
    }
    return {
      number: years * 12 + month - startDate.getUTCMonth(),
      from: Date.UTC(year, month, 1),
      to: Date.UTC(year, month + 1, 1),
    };
  };

  const hours = (parts.BYHOUR?.split(",").map(Number) ?? [startDate.getUTCHours()]).sort(
    (a, b) => a - b,
  );
  const found = [start];
  let day = periodOf(midnight).from;
  while (day <= before && found.length < count) {
    const { number, from, to } = periodOf(day);
    if (number % interval === 0) {
      const times: number[] = [];
      for (let at = from; at < to; at += DAY) {
        if (!isNamed(at, parts, startDate)) continue;
        for (const hour of hours) times.push(at + hour * HOUR + startDate.getUTCMinutes() * 60_000);
      }
      const positions = parts.BYSETPOS?.split(",").map(Number);
      const chosen = positions
        ? times.filter((_, at) => positions.some((p) => (p > 0 ? p - 1 : times.length + p) === at))
        : times;
      for (const time of chosen) {
        if (time > start && time <= before && found.length < count) found.push(time);
      }
    }
    day = to;
  }
  return found.filter((time) => time <= before);
}

function isNamed(day: number, parts: Parts, start: Date): boolean {
  const date = new Date(day);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const list = (name: string) => parts[name]?.split(",");
  const months = list("BYMONTH");
  const monthDays = list("BYMONTHDAY");
  const yearDays = list("BYYEARDAY");
  const weeks = list("BYWEEKNO");
  const days = list("BYDAY");
  const monthLast = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const yearFirst = Date.UTC(year, 0, 1);
  const yearDay = (day - yearFirst) / DAY + 1;
  const yearLast = (Date.UTC(year + 1, 0, 1) - yearFirst) / DAY;
  const names = (texts: string[], place: number, last: number) =>
    texts.map(Number).some((n) => (n > 0 ? n : last + 1 + n) === place);

  if (months && !months.map(Number).includes(month + 1)) return false;
  if (monthDays && !names(monthDays, date.getUTCDate(), monthLast)) return false;
  if (yearDays && !names(yearDays, yearDay, yearLast)) return false;
  if (weeks && !weeks.map(Number).some((week) => isInWeek(day, week, parts))) return false;
  if (days) {
    const inMonth = parts.FREQ === "MONTHLY" || months !== undefined;
    const name = NAMES[date.getUTCDay()] ?? "";
    const from = inMonth ? Date.UTC(year, month, 1) : yearFirst;
    const to = inMonth ? Date.UTC(year, month + 1, 1) : Date.UTC(year + 1, 0, 1);
    const same: number[] = [];
    for (let at = from; at < to; at += DAY) {
      if (new Date(at).getUTCDay() === date.getUTCDay()) same.push(at);
    }
    const place = same.indexOf(day);
    return days.some((text) => {
      if (!text.endsWith(name)) return false;
      const nth = Number(text.slice(0, -2));
      return nth === 0 || place === (nth > 0 ? nth - 1 : same.length + nth);
    });
  }
  if (monthDays || yearDays || parts.FREQ === "DAILY") return true;
  if (parts.FREQ === "WEEKLY" || weeks) return date.getUTCDay() === start.getUTCDay();
  if (parts.FREQ === "YEARLY" && !months && month !== start.getUTCMonth()) return false;
  return date.getUTCDate() === start.getUTCDate();
}

/** Week 1 is the first with at least four days in the year. */
function isInWeek(day: number, week: number, parts: Parts): boolean {
  const weekStart = NAMES.indexOf(parts.WKST ?? "MO");
  const firstOf = (year: number) => {
    for (let at = Date.UTC(year, 0, 1) - 3 * DAY; ; at += DAY) {
      if (new Date(at).getUTCDay() === weekStart) return at;
    }
  };
  const year = new Date(day).getUTCFullYear();
  return [year - 1, year, year + 1].some((of) => {
    const [from, to] = [firstOf(of), firstOf(of + 1)];
    const begin = week > 0 ? from + (week - 1) * 7 * DAY : to + week * 7 * DAY;
    return begin >= from && begin < to && day >= begin && day < begin + 7 * DAY;
  });
}

/** Free starts by day: a month with its free days, and the times of one of them, by the visitor's clock. */
import { useEffect, useState } from "preact/hooks";
import { useAction } from "./action.ts";
import { Failure } from "./errors.tsx";
import * as f from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { shared } from "./texts/index.ts";
import { Button, Heading, Loading } from "./ui.tsx";

/** What `available_slots` answers. */
export interface FreeStarts {
  time_zone: string;
  days: { slots: { starts_at: f.Instant }[] }[];
}

export interface SlotPickerProps {
  /** At most 62 days at a time, both included. */
  load: (from: f.IsoDate, to: f.IsoDate, signal?: AbortSignal) => Promise<FreeStarts>;
  /** Whose times they are. */
  name: string;
  /** No month after that of this date is looked at. */
  lastDate: f.IsoDate;
  /** The day whose times are shown. */
  day: f.IsoDate | null;
  onDay: (day: f.IsoDate | null) => void;
  onPick: (start: f.Instant) => void;
}

const texts = shared.slots;
const LONGEST_RANGE = 62;

const startsOf = ({ days }: FreeStarts): f.Instant[] =>
  days.flatMap(({ slots }) => slots.map(({ starts_at }) => starts_at));

/** The first day with a free start, by the visitor's clock. */
async function firstFree(load: SlotPickerProps["load"], from: f.IsoDate, last: f.IsoDate) {
  for (let at = from; at <= last; at = f.addDays(at, LONGEST_RANGE)) {
    const [first] = startsOf(await load(at, f.addDays(at, LONGEST_RANGE - 1)));
    if (first) return f.dateOf(first, f.visitorZone);
  }
  return null;
}

export function SlotPicker({ load, name, lastDate, day, onDay, onPick }: SlotPickerProps) {
  const today = f.dateOf(new Date(), f.visitorZone);
  const [month, setMonth] = useState(day && f.monthOf(day));
  const seek = useAction(async (from: f.IsoDate) => {
    const found = await firstFree(load, f.addDays(from, -1), lastDate);
    setMonth(f.monthOf(found ?? from));
  });
  useEffect(() => {
    if (month === null) void seek.run(today);
  }, []);
  const free = useLoaded(
    async (signal) => {
      if (month === null) return undefined;
      // A day of the visitor may reach into the day before and after of the professional.
      const answer = await load(f.addDays(month, -1), f.monthOf(month, 1), signal);
      const days = Map.groupBy(startsOf(answer), (start) => f.dateOf(start, f.visitorZone));
      for (const date of days.keys()) if (f.monthOf(date) !== month) days.delete(date);
      return { days, zone: answer.time_zone };
    },
    [month],
  );
  const error = seek.error ?? free.error;
  if (error) {
    return <Failure error={error} again={() => (month ? free.again() : seek.run(today))} />;
  }
  if (month === null) return <Loading />;
  const turn = (label: string, sign: string, months: number, isPossible: boolean) => {
    const onClick = () => {
      onDay(null);
      setMonth(f.monthOf(month, months));
    };
    return (
      <Button kind="link" aria-label={label} disabled={!isPossible} onClick={onClick}>
        {sign}
      </Button>
    );
  };
  const isLast = f.monthOf(month, 1) > lastDate;
  const days = free.value?.days;
  const starts = day && days?.get(day);
  return (
    <div class="slots">
      <section class="month" aria-busy={!days}>
        <div class="month-head">
          {turn(texts.earlier, "‹", -1, month > today)}
          <h2 aria-live="polite">{f.dateText(month, "month")}</h2>
          {turn(texts.later, "›", 1, !isLast)}
        </div>
        <MonthGrid {...{ month, days, day, onDay }} />
        {days?.size === 0 && (
          <div role="status">
            <p>{isLast ? texts.noneAtAll : texts.none}</p>
            {!isLast && (
              <Button busy={seek.busy} onClick={() => seek.run(f.monthOf(month, 1))}>
                {texts.search}
              </Button>
            )}
          </div>
        )}
      </section>
      <section class="times">
        {starts && free.value && (
          <Times key={day} {...{ day, starts, zone: free.value.zone, name, onPick }} />
        )}
        {!starts && days?.size !== 0 && <p class="faint">{texts.chooseDay}</p>}
      </section>
    </div>
  );
}

interface MonthGridProps extends Pick<SlotPickerProps, "day" | "onDay"> {
  month: f.IsoDate;
  /** Those with a free start. */
  days: Map<f.IsoDate, f.Instant[]> | undefined;
}

/** How far the arrow keys go, in days. */
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** One of its days is in the tab order; the arrow keys go to the others. */
function MonthGrid({ month, days = new Map(), day, onDay }: MonthGridProps) {
  const lead = (f.weekdayOf(month) - f.firstWeekday + 7) % 7;
  const weeks: f.IsoDate[][] = [];
  for (let at = f.addDays(month, -lead); at < f.monthOf(month, 1); at = f.addDays(at, 7)) {
    weeks.push(f.weekdays.map((_, index) => f.addDays(at, index)));
  }
  const free: f.IsoDate[] = [...days.keys()];
  const inTabOrder = day && days.has(day) ? day : free[0];
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const from = (event.target as HTMLElement).dataset.date;
    const step = STEPS[event.key];
    if (!from || !step) return;
    event.preventDefault();
    const aim = f.addDays(from, step);
    const to = step > 0 ? free.find((date) => date >= aim) : free.findLast((date) => date <= aim);
    event.currentTarget.querySelector<HTMLElement>(`[data-date="${to}"]`)?.focus();
  };
  const cell = (date: f.IsoDate) => {
    if (f.monthOf(date) !== month) return null;
    const number = Number(date.slice(8));
    const count = days.get(date)?.length;
    if (!count) return <span class="faint">{number}</span>;
    return (
      <button
        type="button"
        data-date={date}
        tabIndex={date === inTabOrder ? 0 : -1}
        aria-pressed={date === day}
        aria-label={texts.day(f.dateText(date, "day"), count)}
        onClick={() => onDay(date)}
      >
        {number}
      </button>
    );
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid of days, as the ARIA pattern has it.
    <table role="grid" aria-label={f.dateText(month, "month")} onKeyDown={onKeyDown}>
      <thead>
        <tr>
          {f.weekdays.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((date) => (
              <td key={date}>{cell(date)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface TimesProps extends Pick<SlotPickerProps, "name" | "onPick"> {
  day: f.IsoDate;
  starts: f.Instant[];
  zone: string;
}

function Times({ day, starts, zone, name, onPick }: TimesProps) {
  const differ = starts.some((start) => f.clocksDiffer(start, zone, f.visitorZone));
  return (
    <>
      <Heading level={2}>{f.dateText(day, "day")}</Heading>
      {differ && (
        <p class="zones">
          {texts.yourZone(f.zoneText(f.visitorZone))} {texts.theirZone(f.zoneText(zone), name)}
        </p>
      )}
      <ul class="chips">
        {starts.map((start) => (
          <li key={start}>
            <button type="button" class="chip" onClick={() => onPick(start)}>
              {f.timeOf(start, f.visitorZone)}
              {differ && <small>{texts.there(f.timeOf(start, zone), f.zoneText(zone))}</small>}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Free starts by day: a month with its free days, and the times of one of them, by the visitor's clock. */
import { useEffect, useState } from "preact/hooks";
import type { AvailableSlots, PublicService } from "../../client/src/database.ts";
import { useAction } from "./action.ts";
import type { ApiClient } from "./api.ts";
import { Failure } from "./errors.tsx";
import * as f from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { goTo, useRoute } from "./route.ts";
import { shared } from "./texts/index.ts";
import { Button, Heading, Loading } from "./ui.tsx";

interface SlotPickerProps {
  api: ApiClient;
  service: Pick<PublicService, "id" | "max_advance_days">;
  /** A booking that is to be moved, whose own time is free for it. */
  moved?: string;
  /** Whose times they are. */
  name: string;
}

const texts = shared.slots;
const LONGEST_RANGE = 62;

const startsOf = ({ days }: AvailableSlots): f.Instant[] =>
  days.flatMap(({ slots }) => slots.map(({ starts_at }) => starts_at));

/** The day and the start that are chosen are in the address. */
export function SlotPicker({ api, service, moved, name }: SlotPickerProps) {
  const day = f.dateIn(useRoute().query.get("day"));
  const today = f.dateOf(new Date(), f.visitorZone);
  const lastDate = f.addDays(today, service.max_advance_days + 1);
  const [month, setMonth] = useState(day && f.monthOf(day));
  /** At most 62 days at a time, both included. */
  const load = (from_date: f.IsoDate, to_date: f.IsoDate, signal?: AbortSignal) => {
    const asked = { service_id: service.id, from_date, to_date };
    const args = moved ? { ...asked, reschedule_of: moved } : asked;
    return api.rpc("available_slots", args, signal && { signal });
  };
  /** Shows the month of the first free start, by the visitor's clock. */
  const seek = useAction(async (from: f.IsoDate) => {
    for (let at = f.addDays(from, -1); at <= lastDate; at = f.addDays(at, LONGEST_RANGE)) {
      const [first] = startsOf(await load(at, f.addDays(at, LONGEST_RANGE - 1)));
      if (first) return setMonth(f.monthOf(f.dateOf(first, f.visitorZone)));
    }
    setMonth(f.monthOf(from));
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
      goTo({ day: null }, { replace: true });
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
        <MonthGrid {...{ month, days, day }} />
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
          <Times key={day} {...{ day, starts, zone: free.value.zone, name }} />
        )}
        {!starts && days?.size !== 0 && <p class="faint">{texts.chooseDay}</p>}
      </section>
    </div>
  );
}

interface MonthGridProps {
  month: f.IsoDate;
  day: f.IsoDate | null;
  /** Those with a free start. */
  days: Map<f.IsoDate, f.Instant[]> | undefined;
}

/** How far the arrow keys go, in days. */
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** One of its days is in the tab order; the arrow keys go to the others. */
function MonthGrid({ month, days = new Map(), day }: MonthGridProps) {
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
        onClick={() => goTo({ day: date }, { replace: true })}
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

interface TimesProps {
  name: string;
  day: f.IsoDate;
  starts: f.Instant[];
  zone: string;
}

function Times({ day, starts, zone, name }: TimesProps) {
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
            <button type="button" class="chip" onClick={() => goTo({ start })}>
              {f.timeOf(start, f.visitorZone)}
              {differ && <small>{texts.there(f.timeOf(start, zone), f.zoneText(zone))}</small>}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

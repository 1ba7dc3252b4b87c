/** Starts by the visitor's clock: as facts, those that a refusal offers instead, and the free ones of a month. */
import "cally";
import type { CalendarDateProps } from "cally";
import type { AllHTMLAttributes } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PublicService } from "../../client/src/database.ts";
import { type ApiClient, ApiError } from "./api.ts";
import { useLoaded } from "./asking.ts";
import { Failure } from "./errors.tsx";
import * as f from "./format.ts";
import { goTo, useRoute } from "./route.ts";
import { locale, shared } from "./texts/index.ts";
import { Button, type Fact, Heading, Loading } from "./ui.tsx";

type Calendar = AllHTMLAttributes<HTMLInputElement> &
  Omit<CalendarDateProps, "onChange" | "onFocusDay" | "value" | "min" | "max"> & {
    onfocusday: (event: CustomEvent<Date>) => void;
  };

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "calendar-date": Calendar;
      "calendar-month": AllHTMLAttributes<HTMLElement>;
    }
  }
}

const texts = shared.slots;

/** By the visitor's clock, and by the professional's where that shows another time. */
export function when(start: f.Instant, zone: string, end?: f.Instant): Fact[] {
  const text = (by: string) => f.momentText(start, by) + (end ? `–${f.timeOf(end, by)}` : "");
  const differs = f.clocksDiffer(start, f.visitorZone, zone);
  return [
    [differs ? texts.inZone(f.zoneText(f.visitorZone)) : texts.when, text(f.visitorZone)],
    differs && [texts.inZone(f.zoneText(zone)), text(zone)],
  ];
}

export function NextStarts({ error }: { error: unknown }) {
  const details = error instanceof ApiError ? error.details : null;
  const { next_starts: starts = [] } = (details ?? {}) as { next_starts?: f.Instant[] };
  if (starts.length === 0) return null;
  return (
    <>
      <p>{texts.next}</p>
      <div class="actions">
        {starts.map((start) => (
          <Button key={start} onClick={() => goTo({ start }, { replace: true })}>
            {f.momentText(start, f.visitorZone, "day")}
          </Button>
        ))}
      </div>
    </>
  );
}

const isoDate = (date: Date): f.LocalDate => date.toISOString().slice(0, 10);

/** `name` is whose times they are, `moved` a booking whose own time is free for it. */
type SlotPickerProps = { api: ApiClient; service: PublicService; name: string; moved?: string };

/** The day and the start that are chosen are in the address. */
export function SlotPicker({ api, service, moved, name }: SlotPickerProps) {
  const today = f.todayIn(f.visitorZone);
  const last = f.addDays(today, service.max_advance_days + 1);
  const asked = f.dateIn(useRoute().query.get("day"));
  const day = asked && asked >= today && asked <= last ? asked : null;
  /** A date of the month that is shown; `seeks`: of that month or the first after it that has a free start. */
  const [from, setFrom] = useState({ date: day ?? today, seeks: !day, search: "" });
  useEffect(() => {
    // The button that began the search is gone.
    if (from.search) document.getElementById("month")?.focus();
  }, [from.search]);
  const load = async (month: f.LocalDate, signal: AbortSignal) => {
    // A day of the visitor may reach into the day before and after of the professional.
    const range = { from_date: f.addDays(month, -1), to_date: f.monthOf(month, 1) };
    const asked = { service_id: service.id, ...range, ...(moved && { reschedule_of: moved }) };
    const { days, time_zone } = await api.rpc("available_slots", asked, { signal });
    const starts = days.flatMap(({ slots }) => slots.map(({ starts_at }) => starts_at));
    const byDay = Map.groupBy(starts, (start) => f.dateOf(start, f.visitorZone));
    for (const date of byDay.keys()) if (f.monthOf(date) !== month) byDay.delete(date);
    return { month, days: byDay, zone: time_zone };
  };
  const free = useLoaded(
    async (signal) => {
      for (let month = f.monthOf(from.date); ; month = f.monthOf(month, 1)) {
        const found = await load(month, signal);
        const isLast = f.monthOf(month, 1) > last;
        if (found.days.size > 0 || !from.seeks || isLast) return { ...found, isLast };
      }
    },
    [from],
  );
  const { days, isLast, month = f.monthOf(from.date), zone } = free.value ?? {};
  const starts = day && days?.get(day);
  const shown = from.seeks ? ([...(days?.keys() ?? [])][0] ?? month) : from.date;
  const turn = (date: f.LocalDate) => {
    if (f.monthOf(date) === month) return;
    goTo({ day: null }, { replace: true });
    setFrom({ ...from, date, seeks: false });
  };
  const search = () => setFrom({ date: f.monthOf(month, 1), seeks: true, search: month });
  if (free.error) return <Failure error={free.error} again={free.again} />;
  return (
    <div class="slots">
      <section class="month" aria-busy={!days}>
        <calendar-date
          {...{ locale, min: today, max: last, value: day ?? "", focusedDate: day ?? shown }}
          firstDayOfWeek={f.firstWeekday % 7}
          formatWeekday="short"
          isDateDisallowed={(date) => !days?.has(isoDate(date))}
          getDayParts={(date) => (days?.has(isoDate(date)) ? "free" : "")}
          onChange={({ currentTarget }) => goTo({ day: currentTarget.value }, { replace: true })}
          onfocusday={({ detail }) => turn(isoDate(detail))}
        >
          <span slot="previous">{texts.earlier}</span>
          <span slot="next">{texts.later}</span>
          <h2 id="month" slot="heading" tabIndex={-1}>
            {f.dateText(month, "month")}
          </h2>
          <calendar-month />
        </calendar-date>
        {days?.size === 0 && (
          <div role="status">
            <p>{isLast && from.date === today ? texts.noneAtAll : texts.none}</p>
            {!isLast && <Button onClick={search}>{texts.search}</Button>}
          </div>
        )}
      </section>
      <section class="times">
        {!days && <Loading />}
        {starts && zone && <Times key={day} {...{ day, starts, zone, name }} />}
        {!starts && !!days?.size && <p class="faint">{texts.chooseDay}</p>}
      </section>
    </div>
  );
}

type TimesProps = { name: string; day: f.LocalDate; starts: f.Instant[]; zone: string };

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

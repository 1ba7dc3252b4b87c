/** From day to day and week to week: by buttons, the arrow keys, a date. */
import { useEffect } from "preact/hooks";
import { addDays, type IsoDate } from "../shared/format.ts";
import type { Route } from "../shared/route.ts";
import { Button, Field } from "../shared/ui.tsx";
import { texts } from "./texts/index.ts";

interface NavigationProps {
  route: Route;
  day: IsoDate;
  today: IsoDate;
  isWeek: boolean;
}

export function Navigation({ route, day, today, isWeek }: NavigationProps) {
  const show = (date: IsoDate) => route.go({ day: date === today ? null : date });
  const step = isWeek ? 7 : 1;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const shift = { ArrowLeft: -step, ArrowRight: step }[event.key];
      const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
      const isElsewhere = (event.target as Element).closest("input, textarea, dialog");
      if (shift && !hasModifier && !isElsewhere) show(addDays(day, shift));
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  const arrow = (sign: string, label: string, days: number) => (
    <Button aria-label={label} onClick={() => show(addDays(day, days))}>
      {sign}
    </Button>
  );
  const view = (week: boolean, label: string) => (
    <Button
      kind="link"
      aria-pressed={isWeek === week}
      onClick={() => isWeek !== week && route.go({ view: week ? "week" : null })}
    >
      {label}
    </Button>
  );
  return (
    <nav class="days" aria-label={texts.views}>
      <div class="actions">
        {arrow("‹", isWeek ? texts.previousWeek : texts.previousDay, -step)}
        <Button onClick={() => show(today)}>{texts.today}</Button>
        {arrow("›", isWeek ? texts.nextWeek : texts.nextDay, step)}
      </div>
      <div class="actions">
        {view(false, texts.day)}
        {view(true, texts.week)}
      </div>
      <Field
        name="day"
        type="date"
        label={texts.goTo}
        value={day}
        onValue={(to) => to && show(to)}
      />
    </nav>
  );
}

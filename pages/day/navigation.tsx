/** From day to day and week to week: by buttons, the arrow keys, a date. */
import { useEffect } from "preact/hooks";
import { addDays, type IsoDate } from "../shared/format.ts";
import { goTo } from "../shared/route.ts";
import { Button, Field } from "../shared/ui.tsx";
import { texts } from "./texts/index.ts";

interface NavigationProps {
  day: IsoDate;
  today: IsoDate;
  isWeek: boolean;
}

export function Navigation({ day, today, isWeek }: NavigationProps) {
  const show = (date: IsoDate) => goTo({ day: date === today ? null : date });
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
  const view = (isShown: boolean, view: string | null, label: string) => (
    <Button kind="link" aria-pressed={isShown} onClick={() => isShown || goTo({ view })}>
      {label}
    </Button>
  );
  const field = { name: "day", label: texts.goTo, value: day };
  return (
    <nav class="days" aria-label={texts.views}>
      <div class="actions">
        {arrow("‹", isWeek ? texts.previousWeek : texts.previousDay, -step)}
        <Button onClick={() => show(today)}>{texts.today}</Button>
        {arrow("›", isWeek ? texts.nextWeek : texts.nextDay, step)}
      </div>
      <div class="actions">
        {view(!isWeek, null, texts.day)}
        {view(isWeek, "week", texts.week)}
      </div>
      <Field {...field} type="date" onValue={(date) => date && show(date)} />
    </nav>
  );
}

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
  const say = isWeek ? texts.byWeek : texts.byDay;
  const show = (date: IsoDate) => goTo({ day: date === today ? null : date });
  const turn = (direction: 1 | -1) => show(addDays(day, direction * (isWeek ? 7 : 1)));
  useEffect(() => {
    const onKey = ({ key, altKey, ctrlKey, metaKey, shiftKey, target }: KeyboardEvent) => {
      const isElsewhere = (target as Element).closest("input, textarea, dialog");
      if (isElsewhere || altKey || ctrlKey || metaKey || shiftKey) return;
      if (key === "ArrowLeft") turn(-1);
      if (key === "ArrowRight") turn(1);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  const view = (isShown: boolean, view: string | null, label: string) => (
    <Button kind="link" aria-pressed={isShown} onClick={() => isShown || goTo({ view })}>
      {label}
    </Button>
  );
  const field = { name: "day", label: texts.goTo, value: day };
  return (
    <nav class="days" aria-label={texts.views}>
      <div class="actions">
        <Button {...{ "aria-label": say.previous, onClick: () => turn(-1) }}>‹</Button>
        <Button onClick={() => show(today)}>{texts.today}</Button>
        <Button {...{ "aria-label": say.next, onClick: () => turn(1) }}>›</Button>
      </div>
      <div class="actions">
        {view(!isWeek, null, texts.byDay.name)}
        {view(isWeek, "week", texts.byWeek.name)}
      </div>
      <Field {...field} type="date" onValue={(date) => date && show(date)} />
    </nav>
  );
}

/** From day to day and week to week: by buttons, the arrow keys, a date. */
import { useEffect, useState } from "preact/hooks";
import { addDays, dateIn, type IsoDate } from "../shared/format.ts";
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
  // What is being typed goes through years that nobody means; shown as long as it belongs to this day.
  const [typed, setTyped] = useState({ text: "", day: "" });
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
  const field = { name: "day", label: texts.goTo, value: typed.day === day ? typed.text : day };
  const onValue = (text: string) => {
    const date = dateIn(text);
    setTyped({ text, day: date ?? day });
    if (date) show(date);
  };
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
      <Field {...field} {...{ type: "date", onValue }} />
    </nav>
  );
}

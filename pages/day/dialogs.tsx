/** What is asked before a booking is cancelled or moved, and for blocked time. */
import { useState } from "preact/hooks";
import { createIntent } from "../../client/src/index.ts";
import { useAction } from "../shared/action.ts";
import { Form, type FormProps, useFields } from "../shared/form.tsx";
import { addDays, dateOf, type IsoDate, momentText, money, timeOf } from "../shared/format.ts";
import { useLoaded } from "../shared/loaded.ts";
import { Button, Dialog, Field } from "../shared/ui.tsx";
import { type Booking, block, cancel, change, freeStarts, nameOf, paidFor } from "./diary.ts";
import { texts } from "./texts/index.ts";
import { instantOf } from "./time.ts";

export interface Asked {
  booking: Booking;
  date: IsoDate;
  zone: string;
  onClose: () => void;
  /** Does it and says so; throws what can be mended in the dialog. */
  finish: (work: () => Promise<unknown>, said: string) => Promise<void>;
}

interface AskProps extends Pick<FormProps, "action" | "kind" | "children">, Pick<Asked, "onClose"> {
  say: { confirm: string; keep: string };
  title: string;
}

const Ask = ({ say, title, onClose, ...form }: AskProps) => (
  <Dialog {...{ title, onClose }}>
    <Form {...form} label={say.confirm} beside={<Button onClick={onClose}>{say.keep}</Button>} />
  </Dialog>
);

export function CancelDialog({ booking, zone, onClose, finish }: Asked) {
  const say = texts.cancelDialog;
  const what = `${nameOf(booking)}, ${timeOf(booking.starts_at, zone)}`;
  const paid = paidFor(booking);
  const [refunds, setRefunds] = useState(true);
  const { values, field } = useFields(say, { reason: "" });
  const action = useAction(() =>
    finish(() => cancel(booking, values.reason.trim(), refunds), say.done(what)),
  );
  return (
    <Ask {...{ say, action, onClose }} title={say.title(what)} kind="danger">
      <Field {...field("reason")} lines={2} optional hint={say.reasonHint} />
      {paid > 0 && (
        <label class="check">
          <input type="checkbox" checked={refunds} onChange={() => setRefunds(!refunds)} />
          {say.refund(money(paid, booking.currency))}
        </label>
      )}
    </Ask>
  );
}

/** To any time of any day, as the professional may; those that are free are offered. */
export function MoveDialog({ booking, zone, onClose, finish }: Asked) {
  const say = texts.moveDialog;
  const date = dateOf(booking.starts_at, zone);
  const { values, field } = useFields(say, { date, time: "" });
  const free = useLoaded(() => freeStarts(booking, values.date), [values.date]).value;
  const move = useAction((starts_at: string) => {
    const said = say.done(nameOf(booking), momentText(starts_at, zone, "day"));
    return finish(() => change(booking, { starts_at }), said);
  });
  const run = () => move.run(instantOf(values.date, values.time, zone));
  const chip = (start: string) => (
    <button key={start} type="button" class="chip" onClick={() => move.run(start)}>
      {timeOf(start, zone)}
    </button>
  );
  return (
    <Ask {...{ say, onClose }} action={{ ...move, run }} title={say.title(nameOf(booking))}>
      <Field {...field("date")} type="date" required />
      {free && <p class="faint">{free.length > 0 ? say.free : say.noneFree}</p>}
      <div class="chips">{free?.map(chip)}</div>
      <Field {...field("time")} type="time" required />
    </Ask>
  );
}

export function BlockDialog({ date, zone, onClose, finish }: Omit<Asked, "booking">) {
  const say = texts.blockDialog;
  const [intent] = useState(() => createIntent());
  const { values, field } = useFields(say, { date, from: "", to: "", notes: "" });
  const action = useAction(() => {
    const { date, from, to } = values;
    const starts_at = instantOf(date, from, zone);
    const ends_at = instantOf(to > from ? date : addDays(date, 1), to, zone);
    const wanted = { starts_at, ends_at, notes: values.notes.trim() || null };
    return finish(() => block({ id: intent.key(wanted), ...wanted }), say.done);
  });
  return (
    <Ask {...{ say, action, onClose }} title={say.title}>
      <Field {...field("date")} type="date" required />
      <Field {...field("from")} type="time" required />
      <Field {...field("to")} type="time" required hint={say.toHint} />
      <Field {...field("notes")} optional hint={say.notesHint} />
    </Ask>
  );
}

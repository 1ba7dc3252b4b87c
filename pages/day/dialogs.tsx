/** What is asked before a booking is cancelled, and for blocked time. */
import { useState } from "preact/hooks";
import { createIntent } from "../../client/src/index.ts";
import type { Action } from "../shared/asking.ts";
import { Form, useFields } from "../shared/form.tsx";
import { addDays, instantOf, type LocalDate, money, timeOf } from "../shared/format.ts";
import { Button, Dialog, Field } from "../shared/ui.tsx";
import { type Booking, block, cancel, nameOf, paidFor } from "./diary.ts";
import { texts } from "./texts/index.ts";

/** Does something, says so, and shows how the booking it is about stands then. */
export type Act = Action<[work: () => Promise<unknown>, said: string, about?: Booking]>;

type Asked = { zone: string; action: Act; onClose: () => void };

export function CancelDialog({ booking, zone, action, onClose }: Asked & { booking: Booking }) {
  const say = texts.cancelDialog;
  const what = `${nameOf(booking)}, ${timeOf(booking.starts_at, zone)}`;
  const paid = paidFor(booking);
  const [refunds, setRefunds] = useState(true);
  const { values, field } = useFields(say, { reason: "" });
  const work = () => cancel(booking, values.reason.trim(), refunds);
  const run = () => action.run(work, say.done(what), booking);
  const keep = <Button onClick={onClose}>{say.keep}</Button>;
  return (
    <Dialog title={say.title(what)} onClose={onClose}>
      <Form action={{ ...action, run }} label={say.confirm} kind="danger" beside={keep}>
        <Field {...field("reason")} lines={2} optional hint={say.reasonHint} />
        {paid > 0 && (
          <label class="check">
            <input type="checkbox" checked={refunds} onChange={() => setRefunds(!refunds)} />
            {say.refund(money(paid, booking.currency))}
          </label>
        )}
      </Form>
    </Dialog>
  );
}

export function BlockDialog({ day, zone, action, onClose }: Asked & { day: LocalDate }) {
  const say = texts.blockDialog;
  const [intent] = useState(() => createIntent());
  const { values, field } = useFields(say, { date: day, from: "", to: "", notes: "" });
  const work = () => {
    const { date, from, to, notes } = values;
    const starts_at = instantOf(date, from, zone);
    const ends_at = instantOf(to > from ? date : addDays(date, 1), to, zone);
    const wanted = { starts_at, ends_at, notes: notes.trim() || null };
    return block({ id: intent.key(wanted), ...wanted });
  };
  const run = () => action.run(work, say.done);
  const close = <Button onClick={onClose}>{say.keep}</Button>;
  return (
    <Dialog title={say.title} onClose={onClose}>
      <Form action={{ ...action, run }} label={say.confirm} beside={close}>
        <Field {...field("date")} type="date" required />
        <Field {...field("from")} type="time" required />
        <Field {...field("to")} type="time" required hint={say.toHint} />
        <Field {...field("notes")} optional hint={say.notesHint} />
      </Form>
    </Dialog>
  );
}

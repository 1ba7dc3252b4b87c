/** To move a booking, and to cancel it. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { fieldErrors } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import { addDays, dateIn, dateOf, instantIn, visitorZone } from "../shared/format.ts";
import { useRoute } from "../shared/route.ts";
import { SlotPicker } from "../shared/slot-picker.tsx";
import { NextStarts, when } from "../shared/starts.tsx";
import { Button, Facts, Field, Link, Loading } from "../shared/ui.tsx";
import { Contact, type OwnBooking } from "./bookings.tsx";
import type { Portal } from "./session.ts";
import { texts } from "./texts/index.ts";

interface ChangeProps extends Portal {
  booking: OwnBooking;
  /** Back, with what has been done. */
  finish: (said?: string) => void;
}

export function Cancel({ booking, finish, ...portal }: ChangeProps) {
  const [reason, setReason] = useState("");
  const cancel = useAction(async () => {
    const said = reason.trim() && { reason };
    await portal.api.rpc("cancel_booking", { booking_id: booking.id, ...said });
    finish(texts.cancel.done);
  });
  return (
    <Form
      {...{ action: cancel, label: texts.cancel.submit, kind: "danger" }}
      beside={<Button onClick={() => finish()}>{texts.cancel.back}</Button>}
      instead={isCode(cancel.error, "too_late") && <Contact {...portal} />}
    >
      {booking.orders?.some(({ amount_paid }) => amount_paid > 0) && <p>{texts.cancel.money}</p>}
      <Field
        {...{ name: "reason", lines: 3, optional: true, value: reason, onValue: setReason }}
        label={texts.cancel.reason(portal.session.professional.full_name)}
        error={fieldErrors(cancel.error).reason}
      />
    </Form>
  );
}

export function Move({ booking, finish, ...portal }: ChangeProps) {
  const { api, page } = portal;
  const { query, go } = useRoute();
  const { full_name: name, time_zone: zone } = portal.session.professional;
  const service = page?.services.find(({ id }) => id === booking.service_id);
  const start = instantIn(query.get("start")) ?? "";
  const move = useAction(async () => {
    const asked = { booking_id: booking.id, starts_at: start };
    const { status, expires_at } = await api.rpc("reschedule_booking", asked);
    const isAsked = status === "pending" && expires_at === null;
    finish(isAsked ? texts.move.donePending(name) : texts.move.done);
  });
  const back = <Button onClick={() => finish()}>{texts.move.back}</Button>;
  if (page === undefined) return <Loading />;
  if (!service || !start) {
    return (
      <>
        {!service && <p role="status">{texts.move.gone}</p>}
        {service && (
          <SlotPicker
            load={(from_date, to_date, signal) => {
              const range = { service_id: service.id, from_date, to_date };
              const asked = { ...range, reschedule_of: booking.id };
              return api.rpc("available_slots", asked, signal && { signal });
            }}
            {...{ name, day: dateIn(query.get("day")) }}
            lastDate={addDays(dateOf(new Date(), visitorZone), service.max_advance_days + 1)}
            onDay={(day) => go({ day }, { replace: true })}
            onPick={(next) => go({ start: next })}
          />
        )}
        <div class="actions">{back}</div>
      </>
    );
  }
  return (
    <Form
      {...{ action: move, label: texts.move.submit, beside: back }}
      instead={
        <>
          {isCode(move.error, "too_late") && <Contact {...portal} />}
          <NextStarts error={move.error} />
        </>
      }
    >
      <h3>{texts.move.chosen}</h3>
      <Facts plain rows={when(start, zone)} />
      {service.requires_confirmation && <p>{texts.move.pendingWarning(name)}</p>}
      <Link to={{ start: null }}>{texts.move.other}</Link>
    </Form>
  );
}

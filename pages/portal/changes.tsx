/** To move a booking, and to cancel it. */
import { useState } from "preact/hooks";
import { type Action, useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { fieldErrors } from "../shared/errors.tsx";
import { Form, type FormProps } from "../shared/form.tsx";
import { addDays, dateOf, visitorZone } from "../shared/format.ts";
import { useRoute } from "../shared/route.ts";
import { SlotPicker } from "../shared/slot-picker.tsx";
import { NextStarts, when } from "../shared/starts.tsx";
import { Button, Facts, Field, Heading, Loading } from "../shared/ui.tsx";
import { Contact, type OwnBooking } from "./bookings.tsx";
import type { Portal } from "./session.ts";
import { texts } from "./texts/index.ts";

interface ChangeProps extends Portal {
  booking: OwnBooking;
  /** Back, with what has been done. */
  finish: (said?: string) => void;
}

interface Parts extends Omit<FormProps, "label" | "action"> {
  of: "move" | "cancel";
  /** Without one nothing is to be sent yet. */
  action?: Action<[]>;
}

/** The booking as it is, what is done with it, why that was refused, and the way back. */
function Change(props: ChangeProps & Parts) {
  const { of, booking, finish, action, children, ...rest } = props;
  const { time_zone } = rest.session.professional;
  const back = <Button onClick={() => finish()}>{texts[of].back}</Button>;
  return (
    <section class="card stack">
      <Heading level={2}>{texts[of].heading}</Heading>
      <h3 dir="auto">{booking.service_name}</h3>
      <Facts plain rows={when(booking.starts_at, time_zone, booking.ends_at)} />
      {action ? (
        <Form
          label={texts[of].submit}
          action={action}
          {...(of === "cancel" && { kind: "danger" })}
          beside={back}
          instead={
            <>
              {isCode(action.error, "too_late") && <Contact {...rest} />}
              <NextStarts error={action.error} />
            </>
          }
        >
          {children}
        </Form>
      ) : (
        <>
          {children}
          <div class="actions">{back}</div>
        </>
      )}
    </section>
  );
}

export function Cancel(props: ChangeProps) {
  const { api, booking, session, finish } = props;
  const [reason, setReason] = useState("");
  const cancel = useAction(async () => {
    await api.rpc("cancel_booking", { booking_id: booking.id, ...(reason.trim() && { reason }) });
    finish(texts.cancel.done);
  });
  return (
    <Change {...props} of="cancel" action={cancel}>
      {booking.orders?.some(({ amount_paid }) => amount_paid > 0) && <p>{texts.cancel.money}</p>}
      <Field
        name="reason"
        label={texts.cancel.reason(session.professional.full_name)}
        value={reason}
        onValue={setReason}
        lines={3}
        error={fieldErrors(cancel.error).reason}
        optional
      />
    </Change>
  );
}

export function Move(props: ChangeProps) {
  const { api, booking, session, page, finish } = props;
  const { query, go } = useRoute();
  const { full_name: name, time_zone: zone } = session.professional;
  const service = page?.services.find(({ id }) => id === booking.service_id);
  const time = Date.parse(query.get("start") ?? "");
  const start = Number.isNaN(time) ? "" : new Date(time).toISOString();
  const move = useAction(async () => {
    const asked = { booking_id: booking.id, starts_at: start };
    const { status, expires_at } = await api.rpc("reschedule_booking", asked);
    const isAsked = status === "pending" && expires_at === null;
    finish(isAsked ? texts.move.donePending(name) : texts.move.done);
  });
  if (service && start) {
    const length = Date.parse(booking.ends_at) - Date.parse(booking.starts_at);
    const end = new Date(time + length).toISOString();
    return (
      <Change key={start} {...props} of="move" action={move}>
        <h3>{texts.move.chosen}</h3>
        <Facts plain rows={when(start, zone, end)} />
        {service.requires_confirmation && <p>{texts.move.pendingWarning(name)}</p>}
        <Button kind="link" onClick={() => go({ start: null })}>
          {texts.move.other}
        </Button>
      </Change>
    );
  }
  return (
    <Change {...props} of="move">
      {page === undefined && <Loading />}
      {page !== undefined && !service && <p role="status">{texts.move.gone}</p>}
      {service && (
        <SlotPicker
          load={(from_date, to_date, signal) => {
            const range = { service_id: service.id, from_date, to_date };
            const asked = { ...range, reschedule_of: booking.id };
            return api.rpc("available_slots", asked, signal && { signal });
          }}
          name={name}
          lastDate={addDays(dateOf(new Date(), visitorZone), service.max_advance_days + 1)}
          day={query.get("day")}
          onDay={(day) => go({ day }, { replace: true })}
          onPick={(next) => go({ start: next })}
        />
      )}
    </Change>
  );
}

/** To move a booking, and to cancel it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { ApiError, isCode } from "../shared/api.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { addDays, dateOf, momentText, visitorZone } from "../shared/format.ts";
import { goTo, useRoute } from "../shared/route.ts";
import { SlotPicker } from "../shared/slot-picker.tsx";
import { Button, Field, Heading, Loading } from "../shared/ui.tsx";
import { Contact, type OwnBooking, When } from "./bookings.tsx";
import type { Portal } from "./session.ts";
import { texts } from "./texts/index.ts";

interface ChangeProps extends Portal {
  booking: OwnBooking;
  /** Back, with what has been done. */
  finish: (said?: string) => void;
}

type Parts = ChangeProps & { of: "move" | "cancel"; error: unknown; children: ComponentChildren };

/** The booking as it is, what is done with it, why that was refused, and the way back. */
function Change({ of, error, children, finish, booking, ...portal }: Parts) {
  const { next_starts = [] } = (error instanceof ApiError && (error.details as Proposal)) || {};
  return (
    <section class="card stack">
      <Heading level={2}>{texts[of].heading}</Heading>
      <div>
        <strong dir="auto">{booking.service_name}</strong>
        <When
          from={booking.starts_at}
          to={booking.ends_at}
          zone={portal.session.professional.time_zone}
        />
      </div>
      {children}
      <Failure error={error}>
        {isCode(error, "too_late") && <Contact {...portal} />}
        {next_starts.length > 0 && <p>{texts.move.next}</p>}
        {next_starts.map((start) => (
          <Button key={start} onClick={() => goTo({ start })}>
            {momentText(start, visitorZone, "day")}
          </Button>
        ))}
      </Failure>
      <div class="actions">
        <Button onClick={() => finish()}>{texts[of].back}</Button>
      </div>
    </section>
  );
}

interface Proposal {
  next_starts?: string[];
}

export function Cancel(props: ChangeProps) {
  const { api, booking, session, finish } = props;
  const [reason, setReason] = useState("");
  const cancel = useAction(async () => {
    await api.rpc("cancel_booking", { booking_id: booking.id, ...(reason.trim() && { reason }) });
    finish(texts.cancel.done);
  });
  const tooLong = fieldErrors(cancel.error).reason && texts.cancel.reasonTooLong;
  return (
    <Change {...props} of="cancel" error={!tooLong && cancel.error}>
      {booking.orders?.some(({ amount_paid }) => amount_paid > 0) && <p>{texts.cancel.money}</p>}
      <Field
        name="reason"
        label={texts.cancel.reason(session.professional.full_name)}
        value={reason}
        onValue={setReason}
        lines={3}
        error={tooLong || undefined}
        optional
      />
      <div class="actions">
        <Button kind="danger" busy={cancel.busy} onClick={cancel.run}>
          {texts.cancel.submit}
        </Button>
      </div>
    </Change>
  );
}

export function Move(props: ChangeProps) {
  const { api, booking, session, page } = props;
  const { query, go } = useRoute();
  const service = page?.services.find(({ id }) => id === booking.service_id);
  const start = query.get("start");
  if (service && start && !Number.isNaN(Date.parse(start))) {
    return (
      <MoveTo
        key={start}
        {...props}
        start={new Date(start).toISOString()}
        isRequest={service.requires_confirmation}
      />
    );
  }
  return (
    <Change {...props} of="move" error={undefined}>
      {page === undefined && <Loading />}
      {page !== undefined && !service && <p role="status">{texts.move.gone}</p>}
      {service && (
        <SlotPicker
          load={(from_date, to_date, signal) => {
            const range = { service_id: service.id, from_date, to_date };
            const asked = { ...range, reschedule_of: booking.id };
            return api.rpc("available_slots", asked, signal && { signal });
          }}
          name={session.professional.full_name}
          lastDate={addDays(dateOf(new Date(), visitorZone), service.max_advance_days + 1)}
          day={query.get("day")}
          onDay={(day) => go({ day }, { replace: true })}
          onPick={(start) => go({ start })}
        />
      )}
    </Change>
  );
}

/** The last question before it is moved. */
function MoveTo(props: ChangeProps & { start: string; isRequest: boolean }) {
  const { api, booking, session, start, isRequest, finish } = props;
  const { full_name, time_zone } = session.professional;
  const move = useAction(async () => {
    const asked = { booking_id: booking.id, starts_at: start };
    const { status, expires_at } = await api.rpc("reschedule_booking", asked);
    const isAsked = status === "pending" && expires_at === null;
    finish(isAsked ? texts.move.donePending(full_name) : texts.move.done);
  });
  const length = Date.parse(booking.ends_at) - Date.parse(booking.starts_at);
  const end = new Date(Date.parse(start) + length).toISOString();
  return (
    <Change {...props} of="move" error={move.error}>
      <div>
        <h3>{texts.move.chosen}</h3>
        <When from={start} to={end} zone={time_zone} />
      </div>
      {isRequest && <p>{texts.move.pendingWarning(full_name)}</p>}
      <div class="actions">
        <Button kind="primary" busy={move.busy} onClick={move.run}>
          {texts.move.submit}
        </Button>
        <Button onClick={() => goTo({ start: null })}>{texts.move.other}</Button>
      </div>
    </Change>
  );
}

/** To move a booking, and to cancel it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { ApiError, isCode } from "../shared/api.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { addDays, dateOf, momentText, visitorZone } from "../shared/format.ts";
import { type FreeStarts, SlotPicker } from "../shared/slot-picker.tsx";
import { Button, Field, Heading, Loading } from "../shared/ui.tsx";
import { type Booking, Contact, When } from "./bookings.tsx";
import type { Portal } from "./home.tsx";
import { texts } from "./texts/index.ts";

type ChangeProps = Portal & { booking: Booking };

/** The booking as it is, what is done with it, and the way back. */
function Change(props: ChangeProps & { of: "move" | "cancel"; children: ComponentChildren }) {
  const { booking, session, of, children } = props;
  return (
    <section class="card stack">
      <Heading level={2}>{texts[of].heading}</Heading>
      <div>
        <strong dir="auto">{booking.service_name}</strong>
        <When from={booking.starts_at} to={booking.ends_at} zone={session.professional.time_zone} />
      </div>
      {children}
      <div class="actions">
        <Button onClick={() => props.finish()}>{texts[of].back}</Button>
      </div>
    </section>
  );
}

/** A refusal, with whom to call when it is too late. */
function Refusal({
  error,
  children,
  ...portal
}: Portal & { error: unknown; children?: ComponentChildren }) {
  return (
    <Failure error={error}>
      {isCode(error, "too_late") && <Contact {...portal} />}
      {children}
    </Failure>
  );
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
    <Change {...props} of="cancel">
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
      {!tooLong && <Refusal {...props} error={cancel.error} />}
      <div class="actions">
        <Button kind="danger" busy={cancel.busy} onClick={cancel.run}>
          {texts.cancel.submit}
        </Button>
      </div>
    </Change>
  );
}

export function Move(props: ChangeProps) {
  const { api, booking, route, session, page, finish } = props;
  const { full_name: name, time_zone: zone } = session.professional;
  const service = page?.services.find(({ id }) => id === booking.service_id);
  const start = route.query.get("start");
  const time = Date.parse(start ?? "");
  const move = useAction(async () => {
    const asked = { booking_id: booking.id, starts_at: start ?? "" };
    const { status, expires_at } = await api.rpc("reschedule_booking", asked);
    const isPending = status === "pending" && expires_at === null;
    finish(isPending ? texts.move.donePending(name) : texts.move.done);
  });
  const load = async (from_date: string, to_date: string, signal?: AbortSignal) => {
    const asked = { service_id: booking.service_id, from_date, to_date, reschedule_of: booking.id };
    return (await api.rpc("available_slots", asked, signal && { signal })) as unknown as FreeStarts;
  };
  const pick = (starts_at: string) => {
    move.forget();
    route.go({ start: starts_at });
  };
  const { next_starts = [] } = ((move.error instanceof ApiError && move.error.details) || {}) as {
    next_starts?: string[];
  };
  return (
    <Change {...props} of="move">
      {page === undefined && <Loading />}
      {page !== undefined && !service && <p role="status">{texts.move.gone}</p>}
      {service && Number.isNaN(time) && (
        <SlotPicker
          load={load}
          name={name}
          lastDate={addDays(dateOf(new Date(), visitorZone), service.max_advance_days + 1)}
          day={route.query.get("day")}
          onDay={(day) => route.go({ day }, { replace: true })}
          onPick={pick}
        />
      )}
      {service && !Number.isNaN(time) && (
        <>
          <Heading level={2} key={time}>
            {texts.move.chosen}
          </Heading>
          <When
            from={new Date(time).toISOString()}
            to={new Date(
              time + Date.parse(booking.ends_at) - Date.parse(booking.starts_at),
            ).toISOString()}
            zone={zone}
          />
          {service.requires_confirmation && <p>{texts.move.pendingWarning(name)}</p>}
          <Refusal {...props} error={move.error}>
            {next_starts.length > 0 && <p>{texts.move.next}</p>}
            {next_starts.map((next) => (
              <Button key={next} onClick={() => pick(next)}>
                {momentText(next, visitorZone, "day")}
              </Button>
            ))}
          </Refusal>
          <div class="actions">
            <Button kind="primary" busy={move.busy} onClick={move.run}>
              {texts.move.submit}
            </Button>
            <Button onClick={() => route.go({ start: null })}>{texts.move.other}</Button>
          </div>
        </>
      )}
    </Change>
  );
}

/** To move a booking, and to cancel it. */
import { useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { fieldErrors } from "../shared/errors.tsx";
import { Form, useFields } from "../shared/form.tsx";
import { useRoute } from "../shared/route.ts";
import { SlotPicker } from "../shared/slot-picker.tsx";
import { NextStarts, when } from "../shared/starts.tsx";
import { Facts, Field, Link, Loading } from "../shared/ui.tsx";
import type { OwnBooking } from "./bookings.tsx";
import type { Portal } from "./session.ts";
import { texts } from "./texts/index.ts";

interface ChangeProps extends Portal {
  booking: OwnBooking;
  /** Back, with what has been done. */
  finish: (said?: string) => void;
}

export function Cancel({ booking, finish, ...portal }: ChangeProps) {
  const label = texts.cancel.reason(portal.session.professional.full_name);
  const { values, field } = useFields({ reason: label }, { reason: "" });
  const cancel = useAction(async () => {
    const said = values.reason.trim() && values;
    await portal.api.rpc("cancel_booking", { booking_id: booking.id, ...said });
    finish(texts.cancel.done);
  });
  return (
    <Form
      {...{ action: cancel, label: texts.cancel.submit, kind: "danger" }}
      instead={isCode(cancel.error, "too_late") && <Contact {...portal} />}
    >
      {booking.orders?.some(({ amount_paid }) => amount_paid > 0) && <p>{texts.cancel.money}</p>}
      <Field {...field("reason")} lines={3} optional error={fieldErrors(cancel.error).reason} />
    </Form>
  );
}

export function Move({ booking, finish, ...portal }: ChangeProps) {
  const { api, page, session } = portal;
  const { full_name: name, time_zone } = session.professional;
  const service = page?.services.find(({ id }) => id === booking.service_id);
  const start = useRoute().query.get("start") ?? "";
  const move = useAction(async () => {
    const asked = { booking_id: booking.id, starts_at: start };
    const { status, expires_at } = await api.rpc("reschedule_booking", asked);
    const isAsked = status === "pending" && expires_at === null;
    finish(isAsked ? texts.move.donePending(name) : texts.move.done);
  });
  const late = isCode(move.error, "too_late") && <Contact {...portal} />;
  if (page === undefined) return <Loading />;
  if (!service) return <p role="status">{texts.move.gone}</p>;
  if (Number.isNaN(Date.parse(start))) {
    return <SlotPicker {...{ api, service, name, moved: booking.id }} />;
  }
  return (
    <Form
      {...{ action: move, label: texts.move.submit }}
      instead={late || <NextStarts error={move.error} />}
    >
      <h3>{texts.move.chosen}</h3>
      <Facts plain rows={when(start, time_zone)} />
      {service.requires_confirmation && <p>{texts.move.pendingWarning(name)}</p>}
      <Link to={{ start: null }}>{texts.move.other}</Link>
    </Form>
  );
}

/** Whom to ask when it cannot be changed here any more. */
export function Contact({ session, page }: Portal) {
  const { contact_phone: phone, contact_email: email } = page?.professional ?? {};
  return (
    <p class="row">
      {texts.bookings.contact(session.professional.full_name)}
      {phone && <a href={`tel:${phone.replace(/[^+\d]/g, "")}`}>{phone}</a>}
      {email && <a href={`mailto:${email}`}>{email}</a>}
    </p>
  );
}

/** Bookings of the client, and one of them, to be looked at, moved or cancelled. */
import { useState } from "preact/hooks";
import type { Booking, BookingPage, Order } from "../../client/src/database.ts";
import { type ApiClient, isCode } from "../shared/api.ts";
import { useAction, useLoaded } from "../shared/asking.ts";
import { fieldErrors } from "../shared/errors.tsx";
import { Form, useFields } from "../shared/form.tsx";
import { instantIn, momentText, money, timeOf, visitorZone } from "../shared/format.ts";
import { goTo, START, useRoute } from "../shared/route.ts";
import { NextStarts, SlotPicker, when } from "../shared/starts.tsx";
import { Button, Facts, Field, Heading, Loading, Notice, Reach, Words } from "../shared/ui.tsx";
import { List, Pay } from "./orders.tsx";
import { isLink, type Session } from "./sign-in.tsx";
import { texts as all } from "./texts/index.ts";

const texts = all.bookings;

const COLUMNS =
  "id, service_id, service_name, starts_at, ends_at, cancellation_notice, status, price, currency, notes, cancel_reason, cancelled_by, expires_at";
const ORDERS =
  "orders(id, status, total, deposit, amount_paid, amount_refunded, payment_status, currency, expires_at)";

/** As far as a client sees it; a link sees no orders. */
type OwnBooking = Booking & { orders?: Order[] };
/** The page is null where the professional takes nothing now, undefined until that is known. */
export type Portal = { api: ApiClient; session: Session; page: BookingPage | null | undefined };
type BookingProps = Portal & { booking: OwnBooking };

/** Those to come or those that are over, that of a link, or the one that is to be changed. */
export function Bookings({ view, ...portal }: Portal & { view: "upcoming" | "past" }) {
  const { api, session, page } = portal;
  const { query } = useRoute();
  const [id, act] = [query.get("booking"), query.get("do")];
  const change = id && (act === "move" || act === "cancel") ? all[act] : null;
  const Change = act === "move" ? Move : Cancel;
  const isPast = view === "past";
  const isOne = id !== null || isLink(session);
  const [said, setSaid] = useState("");
  const finish = (done = "") => {
    setSaid(done);
    goTo({ ...START, view });
  };
  const found = useLoaded((): Promise<OwnBooking[]> => {
    const columns = isLink(session) ? COLUMNS : `${COLUMNS}, ${ORDERS}`;
    const now = new Date().toISOString();
    let rows = api.from("bookings").select(columns as "*");
    if (id !== null) rows = rows.eq("id", id);
    else if (isPast) rows = rows.or(`ends_at.lte.${now},status.in.(cancelled,completed,no_show)`);
    else if (!isOne) rows = rows.gt("ends_at", now).in("status", ["pending", "confirmed"]);
    return api.run(rows.order("starts_at", { ascending: !isPast }).order("id"));
  }, [id, act]);
  return (
    <section class="stack">
      <Heading key={`${id} ${act}`} level={2}>
        {change ? change.heading : isOne ? all.link.manage.heading : all.nav[view]}
      </Heading>
      {said && !change && <Notice kind="good">{said}</Notice>}
      <List found={found} none={texts.none[isOne ? "one" : view]}>
        {found.value?.map((booking) => (
          <li key={booking.id} class="card stack">
            <Card {...portal} {...{ booking, isChanged: change !== null }} />
            {change && <Change key={query.get("start")} {...portal} {...{ booking, finish }} />}
            {change && <Button onClick={() => finish()}>{change.back}</Button>}
          </li>
        ))}
      </List>
      {!change && page?.services[0] && (
        <a href={`../?professional=${session.professional.username}`}>{texts.book}</a>
      )}
    </section>
  );
}

/** `isChanged`: what to do with it is being asked already. */
function Card({ booking, isChanged, ...portal }: BookingProps & { isChanged: boolean }) {
  const { full_name: name, time_zone } = portal.session.professional;
  const { status, cancelled_by: by, cancel_reason, expires_at, starts_at, ends_at } = booking;
  const isOpen = status === "pending" || status === "confirmed";
  const isLive = isOpen && !isChanged && Date.parse(ends_at) > Date.now();
  const order = booking.orders?.find((one) => one.status !== "cancelled");
  const kept = expires_at && timeOf(expires_at, visitorZone);
  const waits = kept ? texts[order ? "holdPayNote" : "holdNote"](kept) : texts.pending(name);
  // What receipts call `cancel_until`; the API has the last word.
  const until = new Date(Date.parse(starts_at) - booking.cancellation_notice * 60_000);
  const untilText = momentText(until.toISOString(), visitorZone);
  const isLate = until < new Date();
  const choice = (act: "move" | "cancel", kind: "plain" | "danger") => (
    <Button
      {...{ kind, "aria-label": `${texts[act]}: ${booking.service_name}` }}
      onClick={() => goTo({ booking: booking.id, do: act })}
    >
      {texts[act]}
    </Button>
  );
  return (
    <>
      <div class="row apart">
        <h3 dir="auto">{booking.service_name}</h3>
        <span class={isOpen ? "badge" : "badge quiet"}>
          {texts.status[isOpen && expires_at ? "hold" : status]}
        </span>
      </div>
      <Facts
        plain
        rows={[
          ...when(starts_at, time_zone, ends_at),
          booking.price > 0 && [texts.price, money(booking.price, booking.currency)],
          by && [texts.cancelled, texts.cancelledBy[by](name)],
          cancel_reason !== null && [texts.reason, cancel_reason],
          isLive && [isLate ? texts.tooLate : texts.changeUntil, untilText],
        ]}
      />
      <Words>{booking.notes}</Words>
      {isLive && status === "pending" && <p>{waits}</p>}
      {isLive && order && <Pay api={portal.api} order={order} />}
      {isLive && isLate && <Contact {...portal} />}
      {isLive && !isLate && (
        <div class="actions">
          {choice("move", "plain")}
          {choice("cancel", "danger")}
        </div>
      )}
    </>
  );
}

/** `finish` leads back, and says what has been done. */
type ChangeProps = BookingProps & { finish: (done: string) => void };

function Cancel({ booking, finish, ...portal }: ChangeProps) {
  const label = all.cancel.reason(portal.session.professional.full_name);
  const { values, field } = useFields({ reason: label }, { reason: "" });
  const cancel = useAction(async () => {
    const said = values.reason.trim() && values;
    await portal.api.rpc("cancel_booking", { booking_id: booking.id, ...said });
    finish(all.cancel.done);
  });
  return (
    <Form
      {...{ action: cancel, label: all.cancel.submit, kind: "danger" }}
      instead={isCode(cancel.error, "too_late") && <Contact {...portal} />}
    >
      {booking.orders?.some(({ amount_paid }) => amount_paid > 0) && <p>{all.cancel.money}</p>}
      <Field {...field("reason")} lines={3} optional error={fieldErrors(cancel.error).reason} />
    </Form>
  );
}

function Move({ booking, finish, ...portal }: ChangeProps) {
  const { api, page, session } = portal;
  const { full_name: name, time_zone } = session.professional;
  const service = page?.services.find(({ id }) => id === booking.service_id);
  const start = instantIn(useRoute().query.get("start"));
  const move = useAction(async () => {
    const asked = { booking_id: booking.id, starts_at: start ?? "" };
    const { status, expires_at } = await api.rpc("reschedule_booking", asked);
    const isAsked = status === "pending" && expires_at === null;
    finish(isAsked ? all.move.donePending(name) : all.move.done);
  });
  const late = isCode(move.error, "too_late") && <Contact {...portal} />;
  if (!service) return page === undefined ? <Loading /> : <p role="status">{all.move.gone}</p>;
  if (!start) return <SlotPicker {...{ api, service, name, moved: booking.id }} />;
  return (
    <Form
      {...{ action: move, label: all.move.submit }}
      beside={<Button onClick={() => goTo({ start: null })}>{all.move.other}</Button>}
      instead={late || <NextStarts error={move.error} />}
    >
      <Heading level={3}>{all.move.chosen}</Heading>
      <Facts plain rows={when(start, time_zone)} />
      {service.requires_confirmation && <p>{all.move.pendingWarning(name)}</p>}
    </Form>
  );
}

/** Whom to ask when it cannot be changed here any more. */
const Contact = ({ session, page }: Portal) => (
  <p class="row">
    {texts.contact(session.professional.full_name)}
    <Reach phone={page?.professional.contact_phone} email={page?.professional.contact_email} />
  </p>
);

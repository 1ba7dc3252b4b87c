/** Bookings of the client, and one of them, to be looked at, moved or cancelled. */
import type { Booking, Order } from "../../client/src/database.ts";
import { isCode } from "../shared/api.ts";
import { useAction, useLoaded } from "../shared/asking.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { Form, useFields } from "../shared/form.tsx";
import { instantIn, momentText, money, timeOf, visitorZone } from "../shared/format.ts";
import { goTo, useRoute } from "../shared/route.ts";
import { NextStarts, SlotPicker, when } from "../shared/starts.tsx";
import { Button, Facts, Field, Heading, Link, Loading, Reach, Words } from "../shared/ui.tsx";
import { List } from "./list.tsx";
import { dueNow, Pay } from "./orders.tsx";
import { isLink, type Portal } from "./session.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.bookings;

const COLUMNS =
  "id, service_id, service_name, starts_at, ends_at, cancellation_notice, status, price, currency, notes, cancel_reason, cancelled_by, expires_at";
const ORDERS =
  "orders(id, status, total, deposit, amount_paid, amount_refunded, payment_status, currency, expires_at)";

/** As far as a client sees it; a link sees no orders. */
type OwnBooking = Booking & { orders?: Order[] };

const bookings = ({ api, session }: Portal) =>
  api.from("bookings").select((isLink(session) ? COLUMNS : `${COLUMNS}, ${ORDERS}`) as "*");

export function Bookings({ isPast, ...portal }: Portal & { isPast: boolean }) {
  const { api, session, page } = portal;
  const load = (): Promise<OwnBooking[]> => {
    const now = new Date().toISOString();
    const query = isPast
      ? bookings(portal).or(`ends_at.lte.${now},status.in.(cancelled,completed,no_show)`)
      : bookings(portal).gt("ends_at", now).in("status", ["pending", "confirmed"]);
    return api.run(query.order("starts_at", { ascending: !isPast }).order("id"));
  };
  return (
    <section class="stack">
      <Heading level={2}>{all.nav[isPast ? "past" : "upcoming"]}</Heading>
      <List
        {...{ load, none: isPast ? texts.nonePast : texts.noneUpcoming }}
        card={(booking) => <Card {...portal} booking={booking} />}
      />
      {page?.services[0] && (
        <a href={`../?professional=${session.professional.username}`}>{texts.book}</a>
      )}
    </section>
  );
}

/** That of the query, or of the link. */
export function OneBooking({ finish, ...portal }: Portal & { finish: (said?: string) => void }) {
  const { query } = useRoute();
  const [id, act] = [query.get("booking"), query.get("do")];
  const found = useLoaded(async (): Promise<OwnBooking | null> => {
    const rows = isLink(portal.session) ? bookings(portal) : bookings(portal).eq("id", id ?? "");
    return (await portal.api.run(rows.limit(1)))[0] ?? null;
  }, [id, act]);
  const booking = found.value;
  if (found.error) return <Failure error={found.error} again={found.again} />;
  if (booking === undefined) return <Loading />;
  if (booking === null) return <p role="status">{texts.gone}</p>;
  const say = act === "move" ? all.move : act === "cancel" ? all.cancel : null;
  const Change = act === "move" ? Move : Cancel;
  return (
    <section class="stack">
      <Heading level={2}>{(say ?? all.link.manage).heading}</Heading>
      <div class="card stack">
        <Card {...portal} booking={booking} isChanged={say !== null} />
        {say && <Change {...portal} {...{ booking, finish }} />}
        {say && <Button onClick={() => finish()}>{say.back}</Button>}
      </div>
    </section>
  );
}

/** `isChanged`: what to do with it is being asked already. */
function Card({
  booking,
  isChanged,
  ...portal
}: Portal & { booking: OwnBooking; isChanged?: boolean }) {
  const { full_name, time_zone } = portal.session.professional;
  const { id, status, cancelled_by: by, expires_at, starts_at, ends_at } = booking;
  const isOpen = status === "pending" || status === "confirmed";
  const isLive = isOpen && !isChanged && Date.parse(ends_at) > Date.now();
  const order = booking.orders?.find((one) => one.status !== "cancelled");
  // What receipts call `cancel_until`; the API has the last word.
  const until = Date.parse(starts_at) - booking.cancellation_notice * 60_000;
  const isLate = until < Date.now();
  const untilText = momentText(new Date(until).toISOString(), visitorZone);
  const kept = expires_at && timeOf(expires_at, visitorZone);
  const waits = kept ? texts[order ? "holdPayNote" : "holdNote"](kept) : texts.pending(full_name);
  const change = (act: "move" | "cancel", kind: "plain" | "danger") => (
    <Button
      {...{ kind, "aria-label": `${texts[act]}: ${booking.service_name}` }}
      onClick={() => goTo({ booking: id, do: act })}
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
          by !== null && [texts.cancelled, texts.cancelledBy[by](full_name)],
          booking.cancel_reason !== null && [texts.reason, booking.cancel_reason],
        ]}
      />
      <Words>{booking.notes}</Words>
      {isLive && status === "pending" && <p>{waits}</p>}
      {isLive && order && dueNow(order) > 0 && <Pay api={portal.api} order={order} />}
      {isLive && <p class="faint">{texts[isLate ? "tooLate" : "changeUntil"](untilText)}</p>}
      {isLive && isLate && <Contact {...portal} />}
      {isLive && !isLate && (
        <div class="actions">
          {change("move", "plain")}
          {change("cancel", "danger")}
        </div>
      )}
    </>
  );
}

interface ChangeProps extends Portal {
  booking: OwnBooking;
  /** Back, with what has been done. */
  finish: (said?: string) => void;
}

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
  const start = instantIn(useRoute().query.get("start")) ?? "";
  const move = useAction(async () => {
    const asked = { booking_id: booking.id, starts_at: start };
    const { status, expires_at } = await api.rpc("reschedule_booking", asked);
    const isAsked = status === "pending" && expires_at === null;
    finish(isAsked ? all.move.donePending(name) : all.move.done);
  });
  const late = isCode(move.error, "too_late") && <Contact {...portal} />;
  if (page === undefined) return <Loading />;
  if (!service) return <p role="status">{all.move.gone}</p>;
  if (!start) {
    return <SlotPicker {...{ api, service, name, moved: booking.id }} />;
  }
  return (
    <Form
      {...{ action: move, label: all.move.submit }}
      instead={late || <NextStarts error={move.error} />}
    >
      <h3>{all.move.chosen}</h3>
      <Facts plain rows={when(start, time_zone)} />
      {service.requires_confirmation && <p>{all.move.pendingWarning(name)}</p>}
      <Link to={{ start: null }}>{all.move.other}</Link>
    </Form>
  );
}

/** Whom to ask when it cannot be changed here any more. */
function Contact({ session, page }: Portal) {
  const { contact_phone: phone, contact_email: email } = page?.professional ?? {};
  return (
    <p class="row">
      {texts.contact(session.professional.full_name)}
      <Reach phone={phone} email={email} />
    </p>
  );
}

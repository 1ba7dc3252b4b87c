/** Bookings of the client, and one of them, to be looked at, moved or cancelled. */
import { Failure } from "../shared/errors.tsx";
import {
  clocksDiffer,
  type Instant,
  momentText,
  money,
  timeOf,
  visitorZone,
  zoneText,
} from "../shared/format.ts";
import { useLoaded } from "../shared/loaded.ts";
import { shared } from "../shared/texts/index.ts";
import { Button, Heading, Loading, Words } from "../shared/ui.tsx";
import { Cancel, Move } from "./changes.tsx";
import type { Portal } from "./home.tsx";
import { List } from "./list.tsx";
import { type Due, dueNow, Pay } from "./pay.tsx";
import { texts as all } from "./texts/index.ts";

const texts = all.bookings;

export interface Booking {
  id: string;
  service_id: string;
  service_name: string;
  starts_at: Instant;
  ends_at: Instant;
  /** Minutes. */
  cancellation_notice: number;
  status: "pending" | "confirmed" | "cancelled" | "completed" | "no_show";
  price: number;
  currency: string;
  notes: string | null;
  cancel_reason: string | null;
  cancelled_by: "owner" | "client" | "system" | null;
  /** Of a hold. */
  expires_at: Instant | null;
  /** Not of a link, which sees no order. */
  orders?: Due[];
}

const COLUMNS =
  "id, service_id, service_name, starts_at, ends_at, cancellation_notice, status, price, currency, notes, cancel_reason, cancelled_by, expires_at";
const DUE =
  "orders(id, status, total, deposit, amount_paid, amount_refunded, payment_status, currency, expires_at)";

const bookings = ({ api, session }: Portal) =>
  api.from("bookings").select((session.isLink ? COLUMNS : `${COLUMNS}, ${DUE}`) as "*");

export function Bookings({ view, ...portal }: Portal & { view: "upcoming" | "past" }) {
  const isPast = view === "past";
  const load = async (first: number, last: number) => {
    const now = new Date().toISOString();
    const query = isPast
      ? bookings(portal).or(`ends_at.lte.${now},status.in.(cancelled,completed,no_show)`)
      : bookings(portal).gt("ends_at", now).in("status", ["pending", "confirmed"]);
    const rows = query.order("starts_at", { ascending: !isPast }).order("id").range(first, last);
    return (await portal.api.run(rows)) as unknown as Booking[];
  };
  return (
    <section class="stack">
      <Heading level={2}>{all.nav[view]}</Heading>
      <List
        load={load}
        none={isPast ? texts.nonePast : texts.noneUpcoming}
        card={(booking) => <Card {...portal} booking={booking} />}
      />
      {portal.page?.services[0] && (
        <p>
          <a href={`../?professional=${portal.session.professional.username}`}>{texts.book}</a>
        </p>
      )}
    </section>
  );
}

/** That of the query, or of the link. */
export function OneBooking(portal: Portal) {
  const { query } = portal.route;
  const [id, what] = [query.get("booking"), query.get("do")];
  const found = useLoaded(async () => {
    const rows = portal.session.isLink ? bookings(portal) : bookings(portal).eq("id", id ?? "");
    return ((await portal.api.run(rows.limit(1))) as unknown as Booking[])[0] ?? null;
  }, [id, what]);
  const booking = found.value;
  if (found.error) return <Failure error={found.error} again={found.again} />;
  if (booking === undefined) return <Loading />;
  if (booking === null) return <p role="status">{texts.gone}</p>;
  if (what === "move") return <Move {...portal} booking={booking} />;
  if (what === "cancel") return <Cancel {...portal} booking={booking} />;
  return (
    <section class="card stack">
      <Card {...portal} booking={booking} />
    </section>
  );
}

/** By the visitor's clock, and by the professional's where that shows another time. */
export function When({ from, to, zone }: { from: Instant; to: Instant; zone: string }) {
  const there = zoneText(zone);
  return (
    <p>
      {momentText(from, visitorZone)}–{timeOf(to, visitorZone)}
      {clocksDiffer(from, zone, visitorZone) && (
        <span class="faint">
          {` (${zoneText(visitorZone)})`}
          <br />
          {shared.slots.there(momentText(from, zone, "day"), there)}
        </span>
      )}
    </p>
  );
}

function Card({ booking, ...portal }: Portal & { booking: Booking }) {
  const { full_name, time_zone } = portal.session.professional;
  const { id, status, service_name, cancelled_by, expires_at } = booking;
  const isLive =
    ["pending", "confirmed"].includes(status) && Date.parse(booking.ends_at) > Date.now();
  const order = booking.orders?.find((one) => one.status !== "cancelled");
  // What the API calls `cancel_until`; it has the last word.
  const until = Date.parse(booking.starts_at) - booking.cancellation_notice * 60_000;
  const untilText = momentText(new Date(until).toISOString(), visitorZone);
  const act = (what: string) => () => portal.route.go({ booking: id, do: what });
  return (
    <>
      <div class="row apart">
        <h3 dir="auto">{service_name}</h3>
        <span class={isLive ? "badge" : "badge quiet"}>
          {texts.status[isLive && expires_at ? "hold" : status]}
        </span>
      </div>
      <When from={booking.starts_at} to={booking.ends_at} zone={time_zone} />
      {booking.price > 0 && <p>{money(booking.price, booking.currency)}</p>}
      {isLive && status === "pending" && <p>{waitsFor(booking, order, full_name)}</p>}
      {isLive && order && dueNow(order) > 0 && <Pay {...portal} order={order} />}
      {cancelled_by && <p>{texts.cancelledBy[cancelled_by](full_name)}</p>}
      {booking.cancel_reason && (
        <p>
          {texts.reason} <bdi>{booking.cancel_reason}</bdi>
        </p>
      )}
      <Words>{booking.notes}</Words>
      {isLive && until >= Date.now() && (
        <>
          <p class="faint">{texts.changeUntil(untilText)}</p>
          <div class="actions">
            <Button aria-label={texts.moveOf(service_name)} onClick={act("move")}>
              {texts.move}
            </Button>
            <Button kind="danger" aria-label={texts.cancelOf(service_name)} onClick={act("cancel")}>
              {texts.cancel}
            </Button>
          </div>
        </>
      )}
      {isLive && until < Date.now() && (
        <>
          <p class="faint">{texts.tooLate(untilText)}</p>
          <Contact {...portal} />
        </>
      )}
    </>
  );
}

function waitsFor({ expires_at }: Booking, order: Due | undefined, name: string): string {
  if (!expires_at) return texts.pendingNote(name);
  if (Date.parse(expires_at) <= Date.now()) return texts.holdPageNote;
  return texts[order ? "holdPayNote" : "holdNote"](timeOf(expires_at, visitorZone));
}

/** Whom to ask when it cannot be changed here any more. */
export function Contact({ session, page }: Portal) {
  const { full_name } = session.professional;
  const { contact_phone: phone, contact_email: email } = page?.professional ?? {};
  return (
    <p class="row">
      {texts[phone || email ? "callNamed" : "callUnnamed"](full_name)}
      {phone && <a href={`tel:${phone.replace(/[^+\d]/g, "")}`}>{phone}</a>}
      {email && <a href={`mailto:${email}`}>{email}</a>}
    </p>
  );
}

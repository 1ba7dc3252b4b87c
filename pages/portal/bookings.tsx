/** Bookings of the client, and one of them, to be looked at, moved or cancelled. */
import type { Booking, Order } from "../../client/src/database.ts";
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
import { useRoute } from "../shared/route.ts";
import { shared } from "../shared/texts/index.ts";
import { Button, Heading, Loading, Words } from "../shared/ui.tsx";
import { Cancel, Move } from "./changes.tsx";
import { List } from "./list.tsx";
import { dueNow, Pay } from "./pay.tsx";
import { isLink, type Portal } from "./session.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.bookings;

const COLUMNS =
  "id, service_id, service_name, starts_at, ends_at, cancellation_notice, status, price, currency, notes, cancel_reason, cancelled_by, expires_at";
const ORDERS =
  "orders(id, status, total, deposit, amount_paid, amount_refunded, payment_status, currency, expires_at)";

/** As far as a client sees it; a link sees no orders. */
export type OwnBooking = Booking & { orders?: Order[] };

const bookings = ({ api, session }: Portal) =>
  api.from("bookings").select((isLink(session) ? COLUMNS : `${COLUMNS}, ${ORDERS}`) as "*");

export function Bookings({ view, ...portal }: Portal & { view: "upcoming" | "past" }) {
  const { api, session, page } = portal;
  const isPast = view === "past";
  const load = (first: number, last: number): Promise<OwnBooking[]> => {
    const now = new Date().toISOString();
    const query = isPast
      ? bookings(portal).or(`ends_at.lte.${now},status.in.(cancelled,completed,no_show)`)
      : bookings(portal).gt("ends_at", now).in("status", ["pending", "confirmed"]);
    const inOrder = query.order("starts_at", { ascending: !isPast }).order("id");
    return api.run(inOrder.range(first, last));
  };
  return (
    <section class="stack">
      <Heading level={2}>{all.nav[view]}</Heading>
      <List
        load={load}
        none={isPast ? texts.nonePast : texts.noneUpcoming}
        card={(booking) => <Card {...portal} booking={booking} />}
      />
      {page?.services[0] && (
        <p>
          <a href={`../?professional=${session.professional.username}`}>{texts.book}</a>
        </p>
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
  if (act === "move") return <Move {...portal} booking={booking} finish={finish} />;
  if (act === "cancel") return <Cancel {...portal} booking={booking} finish={finish} />;
  return (
    <section class="card stack">
      <Card {...portal} booking={booking} />
    </section>
  );
}

/** By the visitor's clock, and by the professional's where that shows another time. */
export function When({ from, to, zone }: { from: Instant; to: Instant; zone: string }) {
  return (
    <p>
      {momentText(from, visitorZone)}–{timeOf(to, visitorZone)}
      {clocksDiffer(from, zone, visitorZone) && (
        <span class="faint">
          {` (${zoneText(visitorZone)})`}
          <br />
          {shared.slots.there(momentText(from, zone, "day"), zoneText(zone))}
        </span>
      )}
    </p>
  );
}

function Card({ booking, ...portal }: Portal & { booking: OwnBooking }) {
  const { go } = useRoute();
  const { full_name, time_zone } = portal.session.professional;
  const { id, status, cancelled_by, expires_at } = booking;
  const name = booking.service_name ?? "";
  const isOpen = status === "pending" || status === "confirmed";
  const isLive = isOpen && Date.parse(booking.ends_at) > Date.now();
  const order = booking.orders?.find((one) => one.status !== "cancelled");
  // What receipts call `cancel_until`; the API has the last word.
  const until = Date.parse(booking.starts_at) - booking.cancellation_notice * 60_000;
  const untilText = momentText(new Date(until).toISOString(), visitorZone);
  return (
    <>
      <div class="row apart">
        <h3 dir="auto">{name}</h3>
        <span class={isLive ? "badge" : "badge quiet"}>
          {texts.status[isLive && expires_at ? "hold" : status]}
        </span>
      </div>
      <When from={booking.starts_at} to={booking.ends_at} zone={time_zone} />
      {booking.price > 0 && <p>{money(booking.price, booking.currency)}</p>}
      {isLive && status === "pending" && <p>{waitsFor(expires_at, order, full_name)}</p>}
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
            <Button aria-label={texts.moveOf(name)} onClick={() => go({ booking: id, do: "move" })}>
              {texts.move}
            </Button>
            <Button
              kind="danger"
              aria-label={texts.cancelOf(name)}
              onClick={() => go({ booking: id, do: "cancel" })}
            >
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

function waitsFor(expiresAt: Instant | null, order: Order | undefined, name: string): string {
  if (!expiresAt) return texts.pendingNote(name);
  if (Date.parse(expiresAt) <= Date.now()) return texts.holdPageNote;
  return texts[order ? "holdPayNote" : "holdNote"](timeOf(expiresAt, visitorZone));
}

/** Whom to ask when it cannot be changed here any more. */
export function Contact({ session, page }: Portal) {
  const { contact_phone: phone, contact_email: email } = page?.professional ?? {};
  return (
    <p class="row">
      {texts[phone || email ? "callNamed" : "callUnnamed"](session.professional.full_name)}
      {phone && <a href={`tel:${phone.replace(/[^+\d]/g, "")}`}>{phone}</a>}
      {email && <a href={`mailto:${email}`}>{email}</a>}
    </p>
  );
}

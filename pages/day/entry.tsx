/** One booking or blocked time of a day, with what can be done about it. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { dateOf, type Instant, type IsoDate, momentText, money, timeOf } from "../shared/format.ts";
import { Button, Words } from "../shared/ui.tsx";
import { type Booking, isBlock, isHold, paidFor, type Status } from "./diary.ts";
import { texts } from "./texts/index.ts";

/** What usually comes next. Whether it may is the server's to say. */
const NEXT: Record<Status, Status[]> = {
  pending: ["confirmed"],
  confirmed: ["completed", "no_show"],
  completed: ["no_show"],
  no_show: ["completed"],
  cancelled: ["confirmed"],
};
const BADGES: Partial<Record<Status, string>> = { pending: "", no_show: "wrong" };

export const nameOf = (booking: Booking): string => booking.client?.name ?? texts.blocked;

/** From when to when; with its date, what is on another day. */
export function spanOf({ starts_at, ends_at }: Booking, date: IsoDate, zone: string): string {
  const text = (instant: Instant) =>
    dateOf(instant, zone) === date ? timeOf(instant, zone) : momentText(instant, zone, "day");
  return `${text(starts_at)} – ${text(ends_at)}`;
}

/** Over for the eye: what is later than now, or has its outcome, is not. */
export const ageOf = ({ ends_at, status }: Booking, now: Date): "over" | "" =>
  Date.parse(ends_at) <= now.getTime() || status === "completed" || status === "no_show"
    ? "over"
    : "";

export function Badge({ booking, zone }: { booking: Booking; zone: string }) {
  const { status, expires_at } = booking;
  if (isHold(booking) && expires_at) {
    return <span class="badge held">{texts.held(timeOf(expires_at, zone))}</span>;
  }
  if (isBlock(booking) && status === "confirmed") return null;
  return <span class={`badge ${BADGES[status] ?? "quiet"}`}>{texts.status[status]}</span>;
}

/** Why a hold is one: it has an order that is to be paid, or waits for the link of a mail. */
function holdText({ checkout_open, orders }: Booking): string {
  if (checkout_open) return texts.paying;
  return orders.length > 0 ? texts.heldForPayment : texts.heldForAddress;
}

export interface EntryProps {
  booking: Booking;
  date: IsoDate;
  zone: string;
  now: Date;
  onStatus: (booking: Booking, status: Status) => Promise<void>;
  onAsk: (kind: "cancel" | "move", booking: Booking) => void;
}

export function Entry(props: EntryProps) {
  const { booking, date, zone, now } = props;
  const { client, price, currency } = booking;
  const heading = `entry-${booking.id}`;
  const paid = paidFor(booking);
  const facts = [
    price > 0 && money(price, currency),
    paid > 0 && texts.paid(money(paid, currency)),
  ];
  return (
    <li class={`entry card ${isBlock(booking) ? "block" : ""} ${ageOf(booking, now)}`}>
      <article class="stack" aria-labelledby={heading}>
        <div class="row apart">
          <p class="when">{spanOf(booking, date, zone)}</p>
          <Badge {...{ booking, zone }} />
        </div>
        <h2 id={heading} tabIndex={-1} dir="auto">
          {nameOf(booking)}
        </h2>
        {booking.service_name && (
          <p class="row">
            <span dir="auto">{booking.service_name}</span>
            <span class="faint">{facts.filter(Boolean).join(" · ")}</span>
          </p>
        )}
        {isHold(booking) && <p class="faint">{holdText(booking)}</p>}
        <p class="row contact">
          {client?.phone && (
            <a href={`tel:${client.phone.replace(/[^\d+]/g, "")}`}>{client.phone}</a>
          )}
          {client?.email && <a href={`mailto:${encodeURI(client.email)}`}>{client.email}</a>}
        </p>
        {remark(isBlock(booking) ? "" : texts.clientNotes, booking.notes)}
        {remark(texts.ownNotes, booking.internal_notes)}
        {remark(texts.cancelDialog.reason, booking.cancel_reason)}
        <Actions {...props} heading={heading} />
      </article>
    </li>
  );
}

const remark = (label: string, text: string | null) =>
  text && (
    <div>
      <p class="faint">{label}</p>
      <Words>{text}</Words>
    </div>
  );

function Actions({ booking, now, heading, onStatus, onAsk }: EntryProps & { heading: string }) {
  const { status } = booking;
  const [pressed, setPressed] = useState("");
  const change = useAction((label: string, to: Status) => {
    setPressed(label);
    return onStatus(booking, to);
  });
  const isCancelled = status === "cancelled";
  const isLive = status === "pending" || status === "confirmed";
  const hasStarted = Date.parse(booking.starts_at) <= now.getTime();
  const next = NEXT[status].filter((to) => to === "confirmed" || (hasStarted && !isBlock(booking)));
  const button = (label: string, kind: "primary" | "plain" | "link", onClick: () => void) => (
    <Button
      {...{ kind, onClick, key: label, "aria-describedby": heading }}
      busy={change.busy && pressed === label}
    >
      {label}
    </Button>
  );
  const to = (label: string, kind: "primary" | "plain" | "link", next: Status) =>
    button(label, kind, () => change.run(label, next));
  return (
    <div class="actions">
      {next.map((status, index) => {
        const label = isCancelled ? texts.bringBack : texts.to[status];
        return to(label, isLive && index === 0 ? "primary" : "plain", status);
      })}
      {isLive && isBlock(booking) && to(texts.remove, "link", "cancelled")}
      {isLive && !isBlock(booking) && button(texts.move, "link", () => onAsk("move", booking))}
      {isLive && !isBlock(booking) && button(texts.cancel, "link", () => onAsk("cancel", booking))}
    </div>
  );
}

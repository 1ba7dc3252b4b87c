/** One booking or blocked time of a day, with what can be done about it. */
import type { ComponentType } from "preact";
import { useAction } from "../shared/action.ts";
import { dateOf, type Instant, type IsoDate, momentText, money, timeOf } from "../shared/format.ts";
import { Button, Words } from "../shared/ui.tsx";
import { type Asked, CancelDialog, MoveDialog } from "./dialogs.tsx";
import { type Booking, isBlock, isHold, nameOf, paidFor, type Status } from "./diary.ts";
import { texts } from "./texts/index.ts";

/** What usually comes next. Whether it may is the server's to say. */
const NEXT: Record<Status, Status[]> = {
  pending: ["confirmed"],
  confirmed: ["completed", "no_show"],
  completed: ["no_show"],
  no_show: ["completed"],
  cancelled: ["confirmed"],
};

/** From when to when; with its date, what is on another day. */
export function spanOf({ starts_at, ends_at }: Booking, date: IsoDate, zone: string): string {
  const text = (instant: Instant) =>
    dateOf(instant, zone) === date ? timeOf(instant, zone) : momentText(instant, zone, "day");
  return `${text(starts_at)} – ${text(ends_at)}`;
}

/** For the styles: how it stands, and whether it is over. */
export const classOf = (booking: Booking, now: Date): string =>
  `${booking.status} ${isBlock(booking) ? "block" : ""} ${booking.ends_at <= now.toISOString() ? "over" : ""}`;

export function Badge({ booking, zone }: { booking: Booking; zone: string }) {
  const { status, expires_at } = booking;
  if (isBlock(booking) && status === "confirmed") return null;
  const held = isHold(booking) && expires_at && texts.held(timeOf(expires_at, zone));
  return <span class={`badge ${held ? "held" : status}`}>{held || texts.status[status]}</span>;
}

/** Buttons of one thing, whose id is `of`: while one of them is under way all of them wait. */
export function useButtons(of?: string) {
  const { busy, run } = useAction((work: () => Promise<unknown>) => work());
  return (
    label: string,
    work: () => Promise<unknown>,
    kind: "primary" | "plain" | "link" = "link",
  ) => (
    <Button {...{ key: label, kind, busy, onClick: () => run(work), "aria-describedby": of }}>
      {label}
    </Button>
  );
}

export interface EntryProps {
  booking: Booking;
  date: IsoDate;
  zone: string;
  now: Date;
  onStatus: (booking: Booking, status: Status) => Promise<void>;
  onAsk: (dialog: ComponentType<Asked>, booking: Booking) => Promise<void>;
}

export function Entry({ booking, date, zone, now, onStatus, onAsk }: EntryProps) {
  const { client, status, price, currency, checkout_open, orders } = booking;
  const of = `entry-${booking.id}`;
  const paid = paidFor(booking);
  const facts = [price && money(price, currency), paid && texts.paid(money(paid, currency))];
  const waits = orders.length > 0 ? texts.heldForPayment : texts.heldForAddress;
  const isLive = status === "pending" || status === "confirmed";
  const isClients = isLive && !isBlock(booking);
  const hasStarted = booking.starts_at <= now.toISOString();
  const next = NEXT[status].filter((to) => to === "confirmed" || (hasStarted && !isBlock(booking)));
  const button = useButtons(of);
  const to = (next: Status, index: number) => {
    const label = status === "cancelled" ? texts.bringBack : texts.to[next];
    return button(label, () => onStatus(booking, next), isLive && !index ? "primary" : "plain");
  };
  return (
    <li class={`entry card ${classOf(booking, now)}`}>
      <article class="stack" aria-labelledby={of}>
        <div class="row apart">
          <p class="when">{spanOf(booking, date, zone)}</p>
          <Badge {...{ booking, zone }} />
        </div>
        <h2 id={of} tabIndex={-1} dir="auto">
          {nameOf(booking)}
        </h2>
        <p class="row">
          <span dir="auto">{booking.service_name}</span>
          <span class="faint">{facts.filter(Boolean).join(" · ")}</span>
        </p>
        {isHold(booking) && <p class="faint">{checkout_open ? texts.paying : waits}</p>}
        <p class="row contact">
          {client?.phone && (
            <a href={`tel:${client.phone.replace(/[^\d+]/g, "")}`}>{client.phone}</a>
          )}
          {client?.email && (
            <a href={`mailto:${encodeURIComponent(client.email)}`}>{client.email}</a>
          )}
        </p>
        {remark(isBlock(booking) ? "" : texts.clientNotes, booking.notes)}
        {remark(texts.ownNotes, booking.internal_notes)}
        {remark(texts.cancelDialog.reason, booking.cancel_reason)}
        <div class="actions">
          {next.map(to)}
          {isClients && button(texts.move, () => onAsk(MoveDialog, booking))}
          {isClients && button(texts.cancel, () => onAsk(CancelDialog, booking))}
          {isLive && isBlock(booking) && button(texts.remove, () => onStatus(booking, "cancelled"))}
        </div>
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

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

export function Badge({ booking, zone }: { booking: Booking; zone: string }) {
  const { expires_at } = booking;
  const status = booking.status as Status;
  if (isBlock(booking) && status === "confirmed") return null;
  const isHeld = isHold(booking) && expires_at;
  return (
    <span class={`badge ${isHeld ? "held" : (BADGES[status] ?? "quiet")}`}>
      {isHeld ? texts.held(timeOf(expires_at, zone)) : texts.status[status]}
    </span>
  );
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

export function Entry({ booking, date, zone, now, onStatus, onAsk }: EntryProps) {
  const { client, price, currency } = booking;
  const status = booking.status as Status;
  const heading = `entry-${booking.id}`;
  const paid = paidFor(booking);
  return (
    <li
      class={`entry card ${isBlock(booking) ? "block" : ""} ${isOver(booking, now) ? "over" : ""}`}
    >
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
            {price > 0 && <span class="faint">{money(price, currency)}</span>}
            {paid > 0 && <span class="faint">{texts.paid(money(paid, currency))}</span>}
          </p>
        )}
        {isHold(booking) && <p class="faint">{holdText(booking)}</p>}
        {client && (
          <p class="row contact">
            {client.phone && (
              <a href={`tel:${client.phone.replace(/[^\d+]/g, "")}`}>{client.phone}</a>
            )}
            {client.email && <a href={`mailto:${encodeURI(client.email)}`}>{client.email}</a>}
          </p>
        )}
        <Remark label={isBlock(booking) ? "" : texts.clientNotes} text={booking.notes} />
        <Remark label={texts.ownNotes} text={booking.internal_notes} />
        <Remark label={texts.cancelDialog.reason} text={booking.cancel_reason} />
        <Actions {...{ booking, status, now, heading, onStatus, onAsk }} />
      </article>
    </li>
  );
}

export const isOver = ({ ends_at, status }: Booking, now: Date): boolean =>
  Date.parse(ends_at) <= now.getTime() || status === "completed" || status === "no_show";

function Remark({ label, text }: { label: string; text: string | null }) {
  if (!text) return null;
  return (
    <div>
      {label && <p class="faint">{label}</p>}
      <Words>{text}</Words>
    </div>
  );
}

interface ActionsProps extends Pick<EntryProps, "booking" | "now" | "onStatus" | "onAsk"> {
  status: Status;
  heading: string;
}

function Actions({ booking, status, now, heading, onStatus, onAsk }: ActionsProps) {
  const [pressed, setPressed] = useState<Status>();
  const change = useAction((to: Status) => {
    setPressed(to);
    return onStatus(booking, to);
  });
  const isLive = status === "pending" || status === "confirmed";
  const hasStarted = Date.parse(booking.starts_at) <= now.getTime();
  const next = NEXT[status].filter((to) => to === "confirmed" || (hasStarted && !isBlock(booking)));
  const button = (
    label: string,
    kind: "primary" | "plain" | "link",
    to: Status | "move" | "ask",
  ) => (
    <Button
      key={to}
      kind={kind}
      aria-describedby={heading}
      busy={change.busy && pressed === to}
      onClick={() => {
        if (to === "move") onAsk("move", booking);
        else if (to === "ask") onAsk("cancel", booking);
        else void change.run(to);
      }}
    >
      {label}
    </Button>
  );
  return (
    <div class="actions">
      {next.map((to, index) => {
        const label = status === "cancelled" ? texts.bringBack : texts.to[to];
        return button(label, index === 0 && isLive ? "primary" : "plain", to);
      })}
      {isLive && !isBlock(booking) && button(texts.move, "link", "move")}
      {isLive && !isBlock(booking) && button(texts.cancel, "link", "ask")}
      {isLive && isBlock(booking) && button(texts.remove, "link", "cancelled")}
    </div>
  );
}

/** What a professional is told. It has what the booker typed, marked as quoted where it is more than a line. */

import { joinedLines } from "../_shared/lines.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { Content, Row } from "./blocks.ts";
import { type Context, facts, quote, requiredLink, say } from "./context.ts";
import type { Booking, Client, Order, Payment, ProfessionalMail } from "./facts.ts";
import { thousandths } from "./money.ts";
import { clientName } from "./names.ts";
import { addressLines, orderRows } from "./order-lines.ts";
import { linkOf } from "./place.ts";
import type { Texts } from "./texts/texts.ts";
import { clip, isolated } from "./words.ts";

type BookingMail = Extract<ProfessionalMail, { booking: Booking }>;

export function professionalContent(mail: ProfessionalMail, context: Context): Content {
  switch (mail.kind) {
    case "confirm_address":
      return addressContent(mail.professional.email_to_confirm, context);
    case "calendar_failing":
      return calendarContent(mail.professional.failing_calendars, context);
    case "calendar_disconnected":
      return disconnectedContent(context);
    case "client_undeliverable":
      return undeliverableContent(mail.client, context);
    case "new_order":
    case "payment_received":
    case "payment_returned":
    case "payment_refund_failed":
      return orderContent(mail, context);
    default:
      return bookingContent(mail, context);
  }
}

/** Without the professional's name: whoever signed up typed it, maybe with an address that is not theirs. */
function addressContent(address: string, { texts, links, service }: Context): Content {
  const said = texts.professional.confirm_address;
  const names = { email: oneLine(address), sender: service };
  const { subject, heading, lead } = say(said, names, names);
  const url = requiredLink(links.confirmAddress, "confirm_address");
  return {
    subject,
    heading,
    blocks: [
      lead,
      { type: "button", label: texts.confirm_address_button, url },
      { type: "small", text: texts.not_you_to_confirm },
    ],
  };
}

/** Of an address only the host, as the rest is a key, and what the professional calls it is anybody's words. */
function calendarContent(
  calendars: { host: string; failing_since: string }[],
  { texts, times }: Context,
): Content {
  const { labels } = texts;
  const names = { host: oneLine(calendars[0]?.host ?? "") };
  const { subject, heading, lead } = say(texts.professional.calendar_failing, names, names);
  const rows = calendars.flatMap(({ host, failing_since }): Row[] => [
    { label: labels.calendar, value: isolated(oneLine(host)) },
    { label: labels.failing_since, value: times.brief(failing_since) },
  ]);
  return { subject, heading, blocks: [lead, facts(rows)] };
}

function disconnectedContent({ texts }: Context): Content {
  const { subject, heading, lead } = say(texts.professional.calendar_disconnected, {}, {});
  return { subject, heading, blocks: [lead] };
}

function undeliverableContent(client: Client, { texts }: Context): Content {
  const name = clientName(client.name);
  const email = oneLine(client.email ?? "");
  const { subject, heading, lead } = say(
    texts.professional.client_undeliverable,
    { client: name.header, email },
    { client: name.body, email },
  );
  return { subject, heading, blocks: [lead, facts(clientRows(client, texts))] };
}

function saidOfBooking({ kind, booking }: BookingMail, { professional }: Texts) {
  const pending = booking.status === "pending";
  switch (kind) {
    case "new_booking":
      return pending ? professional.new_booking_pending : professional.new_booking;
    case "booking_moved":
      return pending ? professional.booking_moved_pending : professional.booking_moved;
    case "booking_cancelled":
      return booking.cancelled_by === "client"
        ? professional.booking_cancelled_by_client
        : professional.booking_cancelled;
  }
}

function bookingContent(mail: BookingMail, context: Context): Content {
  const { booking, client } = mail;
  const { texts, times } = context;
  const { labels } = texts;
  const name = clientName(client.name);
  const service = oneLine(booking.service_name);
  const place = joinedLines(booking.location ?? "");
  const href = linkOf(place);
  const rows: Row[] = [
    { label: labels.service, value: isolated(service) },
    { label: labels.when, value: times.period(booking.starts_at, booking.ends_at) },
    ...(place === "" ? [] : [{ label: labels.where, value: place, ...(href && { href }) }]),
    ...(thousandths(booking.price) === 0n
      ? []
      : [{ label: labels.price, value: context.money(booking.price, booking.currency) }]),
    ...clientRows(client, texts),
  ];
  const when = times.brief(booking.starts_at);
  const { subject, heading, lead } = say(
    saidOfBooking(mail, texts),
    { client: name.header, service: clip(service, 60), when },
    { client: name.body, service: isolated(service), when },
  );
  const cancelled = mail.kind === "booking_cancelled";
  return {
    subject,
    heading,
    blocks: [
      lead,
      facts(rows),
      ...(cancelled ? quote(labels.reason, booking.cancel_reason) : []),
      ...quote(labels.notes, booking.notes),
    ],
  };
}

function orderContent(
  mail: Extract<ProfessionalMail, { order: Order }>,
  context: Context,
): Content {
  const { order, client } = mail;
  const { texts } = context;
  const { labels } = texts;
  const name = clientName(client.name);
  const number = String(order.number);
  const total = context.money(order.total, order.currency);
  const { subject, heading, lead } =
    mail.kind === "new_order"
      ? say(
          texts.professional.new_order,
          { client: name.header, number, total },
          { client: name.body, number, total },
        )
      : saidOfPayment(mail, name, context);
  const method = mail.kind === "new_order" ? "" : oneLine(mail.payment.method ?? "");
  const delivery = order.shipping_address && addressLines(order.shipping_address);
  return {
    subject,
    heading,
    blocks: [
      lead,
      { type: "sums", rows: orderRows(order, texts, context.money) },
      facts([
        ...(method === "" ? [] : [{ label: labels.method, value: isolated(method) }]),
        ...clientRows(client, texts),
      ]),
      ...(mail.kind === "new_order" ? quote(labels.delivery, delivery) : []),
      ...(mail.kind === "new_order" ? quote(labels.notes, order.notes) : []),
    ],
  };
}

function saidOfPayment(
  { kind, payment, order }: Extract<ProfessionalMail, { payment: Payment }>,
  client: ReturnType<typeof clientName>,
  { texts, money }: Context,
) {
  const amount = money(payment.amount, payment.currency);
  const number = String(order.number);
  return say(
    texts.professional[kind],
    { client: client.header, number, amount },
    { client: client.body, number, amount },
  );
}

function clientRows(client: Client, { labels }: Texts): Row[] {
  const row = (label: string, value: string | null): Row[] => {
    const line = oneLine(value ?? "");
    return line === "" ? [] : [{ label, value: isolated(line) }];
  };
  return [
    ...row(labels.client, client.name),
    ...row(labels.email, client.email),
    ...row(labels.phone, client.phone),
  ];
}

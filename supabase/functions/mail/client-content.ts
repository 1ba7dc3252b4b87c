/**
 * What a client is told. What the booker typed (name, notes, reason, address) is in it only where
 * `may_quote` says so: anybody may have typed this address. The professional's words always may be.
 */

import { severalLines } from "../_shared/lines.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { Block, Content, Row } from "./blocks.ts";
import type { ClientBookingMail } from "./calendar.ts";
import { type Context, facts, requiredLink, say, words } from "./context.ts";
import type { ClientMail } from "./facts.ts";
import { thousandths } from "./money.ts";
import { addressLines, orderRows } from "./order-lines.ts";
import { linkOf, placeForClient } from "./place.ts";
import type { Texts } from "./texts/texts.ts";
import { clientNameOnly, clip, isolated } from "./words.ts";

export function clientContent(mail: ClientMail, context: Context): Content {
  const { subject, heading, blocks } =
    "booking" in mail
      ? bookingContent(mail, context)
      : "payment" in mail
        ? paymentContent(mail, context)
        : orderContent(mail, context);
  return {
    subject,
    heading,
    blocks: [...greeting(mail, context), ...blocks, ...end(mail, context)],
  };
}

function greeting(mail: ClientMail, { texts }: Context): Block[] {
  const name = mail.may_quote ? isolated(clientNameOnly(mail.client.name)) : "";
  return [
    {
      type: "paragraph",
      text: name === "" ? texts.greeting_without_name : texts.greeting(name),
    },
  ];
}

/** The words for a kind of mail and the state that its booking is in. */
function saidOfBooking({ kind, booking }: ClientBookingMail, { client }: Texts) {
  if (kind === "booking_moved" && booking.status === "pending") return client.booking_moved_pending;
  if (kind !== "booking_cancelled") return client[kind];
  if (booking.cancelled_by === "owner") return client.booking_cancelled_by_owner;
  if (booking.cancelled_by === "client") return client.booking_cancelled_by_client;
  return client.booking_cancelled;
}

function bookingContent(mail: ClientBookingMail, context: Context): Content {
  const { booking, kind } = mail;
  const { texts, times, professional } = context;
  const { labels } = texts;
  const service = oneLine(booking.service_name);
  const place = placeForClient(booking, mail.professional);
  const href = place === null ? undefined : linkOf(place);
  const cancelled = kind === "booking_cancelled";
  const rows: Row[] = [
    { label: labels.service, value: isolated(service) },
    { label: labels.with, value: professional.body },
    { label: labels.when, value: times.period(booking.starts_at, booking.ends_at) },
    ...(place === null || cancelled
      ? []
      : [{ label: labels.where, value: place, ...(href && { href }) }]),
    ...(cancelled || thousandths(booking.price) === 0n
      ? []
      : [{ label: labels.price, value: context.money(booking.price, booking.currency) }]),
  ];
  const when = times.brief(booking.starts_at);
  const { subject, heading, lead } = say(
    saidOfBooking(mail, texts),
    { professional: professional.header, service: clip(service, 60), when },
    { professional: professional.body, service: isolated(service), when },
  );
  // The professional's reason is meant for the client; the client's own is what a booker typed.
  const mayGiveReason = booking.cancelled_by === "owner" || mail.may_quote;
  return {
    subject,
    heading,
    blocks: [
      lead,
      facts(rows),
      ...(cancelled && mayGiveReason ? words(labels.reason, booking.cancel_reason) : []),
      ...(booking.status === "confirmed" ? words(labels.instructions, booking.instructions) : []),
      ...(mail.may_quote && !cancelled ? words(labels.notes, booking.notes) : []),
      ...bookingLink(mail, context),
    ],
  };
}

function bookingLink({ kind, booking }: ClientBookingMail, context: Context): Block[] {
  const { texts, links, times } = context;
  if (kind === "booking_to_confirm") {
    const url = requiredLink(links.confirm, kind);
    return [{ type: "button", label: texts.confirm_booking_button, url }];
  }
  if (kind === "booking_cancelled" || links.manage === undefined) return [];
  const until = booking.cancel_until;
  const endsBefore = until !== null && new Date(until) < new Date(booking.starts_at);
  return [
    {
      type: "paragraph",
      text: endsBefore ? texts.change_it_until(times.moment(until)) : texts.change_it,
    },
    { type: "button", label: texts.change_button, url: links.manage },
  ];
}

function orderContent(
  mail: Extract<ClientMail, { kind: `order_${string}` }>,
  context: Context,
): Content {
  const { order, kind } = mail;
  const { texts, professional } = context;
  const number = String(order.number);
  const { subject, heading, lead } = say(
    texts.client[kind],
    { professional: professional.header, number },
    { professional: professional.body, number },
  );
  const delivery = order.shipping_address && addressLines(order.shipping_address);
  const confirm: Block[] =
    kind === "order_to_confirm"
      ? [
          {
            type: "button",
            label: texts.confirm_order_button,
            url: requiredLink(context.links.confirm, kind),
          },
        ]
      : [];
  return {
    subject,
    heading,
    blocks: [
      lead,
      { type: "sums", rows: orderRows(order, texts, context.money) },
      ...(mail.may_quote ? words(texts.labels.delivery, delivery) : []),
      ...(mail.may_quote ? words(texts.labels.notes, order.notes) : []),
      ...confirm,
    ],
  };
}

function paymentContent(
  mail: Extract<ClientMail, { kind: `payment_${string}` }>,
  context: Context,
): Content {
  const { order, payment, kind } = mail;
  const { texts, professional } = context;
  const amount = context.money(payment.amount, payment.currency);
  const number = String(order.number);
  const { subject, heading, lead } = say(
    texts.client[kind],
    { professional: professional.header, number, amount },
    { professional: professional.body, number, amount },
  );
  return {
    subject,
    heading,
    blocks: [
      lead,
      ...(payment.method
        ? [facts([{ label: texts.labels.method, value: isolated(oneLine(payment.method)) }])]
        : []),
      { type: "sums", rows: orderRows(order, texts, context.money) },
    ],
  };
}

/** How the professional is reached, their footer, and why this mail came. */
function end(mail: ClientMail, context: Context): Block[] {
  const { texts, links, professional } = context;
  const small = (text: string, url?: string): Block => ({
    type: "small",
    text,
    ...(url !== undefined && { url }),
  });
  const footer = severalLines(mail.professional.footer ?? "");
  const waits = mail.kind === "booking_to_confirm" || mail.kind === "order_to_confirm";
  return [
    { type: "paragraph", text: questions(mail, context) },
    ...(footer === "" ? [] : [{ type: "words" as const, text: footer, quoted: false }]),
    ...(waits ? [small(texts.not_you_to_confirm)] : mail.may_quote ? [] : [small(texts.not_you)]),
    ...(mail.kind === "booking_reminder" && links.unsubscribe
      ? [small(texts.unsubscribe, links.unsubscribe.url)]
      : []),
    small(texts.sent_by(context.service, professional.body)),
  ];
}

/** The telephone may be private: it is for the clients of what is confirmed. */
function questions(mail: ClientMail, { texts, professional, replyTo }: Context): string {
  const state = "booking" in mail ? mail.booking.status : mail.order.status;
  const known = state === "confirmed" || state === "fulfilled" || state === "completed";
  const phone = known ? oneLine(mail.professional.phone ?? "") : "";
  if (replyTo !== null) {
    return phone === ""
      ? texts.questions_reply(professional.body)
      : texts.questions_reply_or_call(professional.body, phone);
  }
  return phone === "" ? texts.questions_none : texts.questions_call(professional.body, phone);
}

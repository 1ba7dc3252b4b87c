/**
 * What a language has to say. Values come ready: names are clean, amounts and times are in the form of
 * the language. Texts are plain, and no text decides anything: what differs has a key of its own.
 */

/** Names in a mail to a client about a booking. `when` is short, for subjects. */
export interface ClientBooking {
  professional: string;
  service: string;
  when: string;
}

export interface ClientOrder {
  professional: string;
  number: string;
}

export interface ClientPayment extends ClientOrder {
  amount: string;
}

/** The same for the professional, whose own name is no news. */
export interface OwnBooking {
  client: string;
  service: string;
  when: string;
}

export interface OwnOrder {
  client: string;
  number: string;
  total: string;
}

export interface OwnPayment {
  client: string;
  number: string;
  amount: string;
}

export interface OwnClient {
  client: string;
  email: string;
}

export interface OwnAddress {
  email: string;
  /** Ours: the name that mails are sent under. */
  sender: string;
}

export interface OwnCalendar {
  /** Of the one that has failed longest. */
  host: string;
}

/** One mail: its subject, what stands above it, and the sentences that it begins with. */
export interface Said<Names> {
  subject(names: Names): string;
  heading: string;
  lead(names: Names): string;
}

export type Label =
  | "service"
  | "with"
  | "when"
  | "where"
  | "price"
  | "client"
  | "email"
  | "phone"
  | "notes"
  | "reason"
  | "instructions"
  | "subtotal"
  | "discount"
  | "tax"
  | "tax_included"
  | "total"
  | "amount"
  | "method"
  | "paid"
  | "refunded"
  | "due"
  | "delivery"
  | "calendar"
  | "failing_since";

export interface Texts {
  /** For `Intl`: how dates, times and amounts are written. */
  locale: string;

  client: {
    booking_received: Said<ClientBooking>;
    booking_confirmed: Said<ClientBooking>;
    booking_moved: Said<ClientBooking>;
    /** Moved to a time that the professional still has to confirm. */
    booking_moved_pending: Said<ClientBooking>;
    booking_cancelled_by_owner: Said<ClientBooking>;
    booking_cancelled_by_client: Said<ClientBooking>;
    /** Nobody did it by hand. */
    booking_cancelled: Said<ClientBooking>;
    booking_reminder: Said<ClientBooking>;
    booking_to_confirm: Said<ClientBooking>;
    order_received: Said<ClientOrder>;
    order_confirmed: Said<ClientOrder>;
    order_cancelled: Said<ClientOrder>;
    order_to_confirm: Said<ClientOrder>;
    payment_received: Said<ClientPayment>;
    /** All of it, by itself: it came too late, or twice. */
    payment_returned: Said<ClientPayment>;
    payment_refunded: Said<ClientPayment>;
  };

  professional: {
    new_booking: Said<OwnBooking>;
    /** One that has to be confirmed. */
    new_booking_pending: Said<OwnBooking>;
    booking_moved: Said<OwnBooking>;
    booking_moved_pending: Said<OwnBooking>;
    booking_cancelled_by_client: Said<OwnBooking>;
    booking_cancelled: Said<OwnBooking>;
    new_order: Said<OwnOrder>;
    payment_received: Said<OwnPayment>;
    payment_returned: Said<OwnPayment>;
    /** The amount is that of the payment, which may be more than what should have gone back. */
    payment_refund_failed: Said<OwnPayment>;
    client_undeliverable: Said<OwnClient>;
    confirm_address: Said<OwnAddress>;
    calendar_failing: Said<OwnCalendar>;
    calendar_disconnected: Said<object>;
  };

  labels: Record<Label, string>;

  /** `name` only where it may be said. */
  greeting(name: string): string;
  greeting_without_name: string;

  /** Beside the link that does it. */
  change_it: string;
  change_it_until(moment: string): string;
  change_button: string;
  confirm_booking_button: string;
  confirm_order_button: string;
  confirm_address_button: string;

  /** How the professional is reached, by what of it the mail may show. */
  questions_reply(professional: string): string;
  questions_reply_or_call(professional: string, phone: string): string;
  questions_call(professional: string, phone: string): string;
  questions_none: string;

  /** To whoever's address was typed by somebody that is not known to be them. */
  not_you: string;
  /** The same where nothing happens unless a link is used. */
  not_you_to_confirm: string;
  /** The words of the link that does it. */
  unsubscribe: string;
  sent_by(sender: string, professional: string): string;

  /** Title of the entry in the client's calendar. */
  calendar_title(names: { service: string; professional: string }): string;
}

// Written by `npm run reference`. Do not edit.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

/** What its owner keeps there; nothing here reads it. */
export type JsonObject = { [key: string]: Json | undefined };

/** As answered: UTC, with milliseconds and Z. Any RFC 3339 text with an offset is taken. */
export type Instant = string;

/** YYYY-MM-DD, a date of the professional's time zone where nothing else is said. */
export type LocalDate = string;

/** A part of a list: what follows begins at `next_cursor`, null on the last page. */
export type Page<Row, Cursor = string> = { data: Row[]; next_cursor: Cursor | null };

/** A list that is short enough to come whole. */
export type List<Row> = { data: Row[]; next_cursor: null };

export type BookingStatus = "pending" | "confirmed" | "cancelled" | "completed" | "no_show";

export type Source = "owner" | "public" | "portal";

export type CancelledBy = "owner" | "client" | "system";

/**
 * Appointments. Without client and service it is blocked time. Live bookings (pending, confirmed)
 * of one professional never overlap, buffers included.
 */
export type Booking = {
  /** Made here unless the caller chooses one; never changes. */
  id: string;
  /** When the row was made; never changes. */
  created_at: Instant;
  /** When something in the row last really changed. */
  updated_at: Instant;
  /** Whose row it is: the caller's own, or the one a server names. Never changes. */
  professional_id: string;
  /** Whose appointment it is; null with service_id for blocked time. */
  client_id: string | null;
  /** What was booked; null with client_id for blocked time. */
  service_id: string | null;
  /** Copied from the service when booked. */
  service_name: string | null;
  /** Without buffers, from 2000 to 2199. Moved alone, ends_at moves with it. */
  starts_at: Instant;
  /** Left out: the start plus the duration of the service. Required for blocked time. */
  ends_at: Instant;
  /** Minutes kept free before; copied when booked. */
  buffer_before: number;
  /** Minutes kept free after; copied when booked. */
  buffer_after: number;
  /**
   * Until how many minutes before the start the client may cancel or move; copied from the service
   * when booked.
   */
  cancellation_notice: number;
  /**
   * pending → confirmed | cancelled; confirmed → completed | no_show (once started) | cancelled;
   * completed ↔ no_show; cancelled → confirmed if still free. A hold that was over and is paid
   * after all may also come back as pending, by the system alone.
   */
  status: BookingStatus;
  /** In currency; copied from the service when booked. */
  price: number;
  /** ISO 4217 code of price: the professional's when booked. */
  currency: string;
  /** The client sees these. */
  notes: string | null;
  /** The client never sees these. */
  internal_notes: string | null;
  /** Who made it: owner, public, portal. */
  source: Source;
  /** At most 1000 characters; the client sees it. Gone when the booking comes back. */
  cancel_reason: string | null;
  /** Set by the change to cancelled, null in every other state. */
  cancelled_at: Instant | null;
  /** owner or client; system for a hold that was over. */
  cancelled_by: CancelledBy | null;
  /**
   * Of a hold: until when it keeps its time unless it is confirmed. Null for a booking; a hold that
   * ended otherwise keeps it.
   */
  expires_at: Instant | null;
  /**
   * Of a hold: whether a payment page may be open. It then keeps its time beyond expires_at, until
   * that page is known to be closed.
   */
  checkout_open: boolean;
  /** When the link in its own mail was opened; null when it never was. */
  email_confirmed_at: Instant | null;
  /** Rises on every real change: PATCH …&version=eq.n is compare-and-set. */
  version: number;
  /** An object of at most 8 kB that the rules do not read; the client never sees it. */
  metadata: JsonObject;
};

/** What a professional may write into a new row; any other column is refused with 42501. */
export type BookingInsert = Pick<Booking, "starts_at"> &
  Partial<
    Pick<
      Booking,
      | "id"
      | "professional_id"
      | "client_id"
      | "service_id"
      | "ends_at"
      | "buffer_before"
      | "buffer_after"
      | "status"
      | "price"
      | "notes"
      | "internal_notes"
      | "metadata"
    >
  >;

/** What a professional may change; any other column is refused with 42501. */
export type BookingUpdate = Partial<
  Pick<
    Booking,
    "starts_at" | "ends_at" | "status" | "notes" | "internal_notes" | "cancel_reason" | "metadata"
  >
>;

/** In which mails are written */
export type Language = "en" | "it";

export type ClientMailStatus = "ok" | "undeliverable";

/**
 * Client database. One row per e-mail address and professional; email and phone may both be null.
 */
export type Client = {
  /** Made here unless the caller chooses one; never changes. */
  id: string;
  /** When the row was made; never changes. */
  created_at: Instant;
  /** When something in the row last really changed. */
  updated_at: Instant;
  /** Whose row it is: the caller's own, or the one a server names. Never changes. */
  professional_id: string;
  /** 1 to 200 characters; the client may change it in the portal. */
  name: string;
  /**
   * As written, without surrounding space; ASCII, an international domain in its xn-- form.
   * Compared by email_key.
   */
  email: string | null;
  /**
   * As written, without surrounding space, at most 40 characters; the client may change it in the
   * portal.
   */
  phone: string | null;
  /** About the client, who never sees them; at most 10000 characters. */
  notes: string | null;
  /** At most 50, of at most 50 characters each; the client never sees them. */
  tags: string[];
  /** Hidden from daily work; an archived client cannot use the portal. */
  archived: boolean;
  /** An object of at most 8 kB that the rules do not read; the client never sees it. */
  metadata: JsonObject;
  /** Of mails to the client: en or it; null means the professional's. */
  language: Language | null;
  /** Whether the client wants reminders; the link in each of them sets it to false. */
  reminders: boolean;
  /**
   * ok, or undeliverable: mails to this address came back, or were complained about. Nobody sets
   * it; a new address, or a code that its owner entered, makes it ok.
   */
  mail_status: ClientMailStatus;
  /**
   * Rises when the address changes and when the client is archived or erased, and never falls.
   * Portal sessions, codes and links in mails count only under the epoch they were made under.
   */
  link_epoch: number;
  /**
   * Lower-case form of email, unique per professional. Upsert with
   * on_conflict=professional_id,email_key.
   */
  email_key: string | null;
};

/** What a professional may write into a new row; any other column is refused with 42501. */
export type ClientInsert = Pick<Client, "name"> &
  Partial<
    Pick<
      Client,
      | "id"
      | "professional_id"
      | "email"
      | "phone"
      | "notes"
      | "tags"
      | "archived"
      | "metadata"
      | "language"
      | "reminders"
    >
  >;

/**
 * What a professional may change; any other column is refused with 42501. In the portal a client
 * may change name and phone alone.
 */
export type ClientUpdate = Partial<
  Pick<
    Client,
    | "name"
    | "email"
    | "phone"
    | "notes"
    | "tags"
    | "archived"
    | "metadata"
    | "language"
    | "reminders"
  >
>;

export type OrderKind = "product" | "service";

export type ProductLine = {
  product_id: string;
  name: string;
  /** In the currency of the row, exact */
  unit_price: number;
  quantity: number;
  /** In the currency of the row, exact */
  total: number;
  sku: string | null;
  /** What tells a variant apart: {"size": "M"} */
  options: JsonObject;
};

export type ServiceLine = {
  service_id: string;
  name: string;
  /** In the currency of the row, exact */
  unit_price: number;
  quantity: number;
  /** In the currency of the row, exact */
  total: number;
  sku: null;
  options: Record<string, never>;
};

/** Of something that is not in the catalogue */
export type FreeLine = {
  name: string;
  /** In the currency of the row, exact */
  unit_price: number;
  quantity: number;
  /** In the currency of the row, exact */
  total: number;
  sku: null;
  options: Record<string, never>;
};

/** As ordered; it never changes */
export type OrderLine = ProductLine | ServiceLine | FreeLine;

export type OrderStatus = "pending" | "confirmed" | "fulfilled" | "cancelled";

export type PaymentStatus =
  | "unpaid"
  | "partially_paid"
  | "paid"
  | "partially_refunded"
  | "refunded";

/**
 * Orders of products or services with their lines, totals and payment status. Amounts are in
 * currency.
 */
export type Order = {
  /** Made here unless the caller chooses one; never changes. */
  id: string;
  /** When the row was made; never changes. */
  created_at: Instant;
  /** When something in the row last really changed. */
  updated_at: Instant;
  /** Whose row it is: the caller's own, or the one a server names. Never changes. */
  professional_id: string;
  /** Who pays; left out with booking_id: the client of the booking. */
  client_id: string;
  /** 1, 2, 3 … per professional, without gaps; given when it is placed, to holds too. */
  number: number;
  /** product or service: what its lines may be. */
  kind: OrderKind;
  /** The booking that is charged; it has one order at a time that is not cancelled. */
  booking_id: string | null;
  /** Lines as ordered, with name, unit price and total; they never change. */
  items: OrderLine[];
  /** Sum of the lines. */
  subtotal: number;
  /** An amount that the professional takes off, cut down to the subtotal. */
  discount: number;
  /**
   * tax_rate percent of subtotal less discount, rounded once; part of it where prices include tax.
   */
  tax: number;
  /** What is to be paid: subtotal less discount, and tax unless prices include it. */
  total: number;
  /**
   * What has to be paid first of a booking's price: the service's deposit when it was booked. Null:
   * all of it.
   */
  deposit: number | null;
  /** ISO 4217 code of every amount here: the professional's when ordered. */
  currency: string;
  /**
   * pending → confirmed → fulfilled; pending | confirmed → cancelled. A hold that was over and is
   * paid after all comes back as pending, by the system alone.
   */
  status: OrderStatus;
  /** Sum of the payments recorded; refunds are not taken off. */
  amount_paid: number;
  /**
   * Sum of the refunds recorded and of what banks took back, less what was taken back of these.
   * More than amount_paid where a provider says so.
   */
  amount_refunded: number;
  /**
   * unpaid, partially_paid, paid, partially_refunded, refunded: follows the amounts. What was
   * refunded in part and paid again is paid.
   */
  payment_status: PaymentStatus;
  /** An object of at most 4 kB, its fields free; the client sees it. */
  shipping_address: JsonObject | null;
  /** The client sees these. */
  notes: string | null;
  /** The client never sees these. */
  internal_notes: string | null;
  /** Who placed it: owner, public, portal. */
  source: Source;
  /**
   * Of a hold: until when it keeps its stock unless it is confirmed. Null for an order; a hold that
   * ended otherwise keeps it.
   */
  expires_at: Instant | null;
  /**
   * While pending: whether a payment page may be open. A hold then keeps its stock beyond
   * expires_at, until that page is known to be closed.
   */
  checkout_open: boolean;
  /** When the link in its own mail was opened; null when it never was. */
  email_confirmed_at: Instant | null;
  /** Rises on every real change: PATCH …&version=eq.n is compare-and-set. */
  version: number;
  /** An object of at most 8 kB that the rules do not read; the client never sees it. */
  metadata: JsonObject;
};

/** In orders of kind product */
export type NewProductLine = {
  product_id: string;
  quantity: number;
};

/** In orders of kind service */
export type NewServiceLine = {
  service_id: string;
  quantity: number;
};

/** Of something that is not in the catalogue */
export type NewFreeLine = {
  name: string;
  /** In the currency of the row, exact */
  unit_price: number;
  quantity: number;
};

/** What is written into items of an order */
export type NewOrderLine = NewProductLine | NewServiceLine | NewFreeLine;

/** What a professional may write into a new row; any other column is refused with 42501. */
export type OrderInsert = Partial<
  Pick<
    Order,
    | "id"
    | "professional_id"
    | "client_id"
    | "kind"
    | "booking_id"
    | "discount"
    | "shipping_address"
    | "notes"
    | "internal_notes"
    | "metadata"
  >
> & {
  /** Lines as ordered, with name, unit price and total; they never change. */
  items?: NewOrderLine[];
};

/** What a professional may change; any other column is refused with 42501. */
export type OrderUpdate = Partial<
  Pick<Order, "status" | "shipping_address" | "notes" | "internal_notes" | "metadata">
>;

/**
 * Product catalogue with variants and inventory. A variant is a product with parent_id; embed with
 * variants(*) and parent(*).
 */
export type Product = {
  /** Made here unless the caller chooses one; never changes. */
  id: string;
  /** When the row was made; never changes. */
  created_at: Instant;
  /** When something in the row last really changed, other than in_stock. */
  updated_at: Instant;
  /** Whose row it is: the caller's own, or the one a server names. Never changes. */
  professional_id: string;
  /** The product this is a variant of; set on insert only, one level. */
  parent_id: string | null;
  /** 1 to 200 characters; copied onto order lines. */
  name: string;
  /** For the public, at most 10000 characters. */
  description: string | null;
  /** What a page may group by; public, at most 100 characters. */
  category: string | null;
  /** Address of a picture, http or https, at most 2048 characters; public. */
  image_url: string | null;
  /** Article number, unique per professional ignoring case and outer space. */
  sku: string | null;
  /** What tells variants apart, e.g. {"size": "M"}. */
  options: JsonObject;
  /** Of one piece, in the professional's currency; copied onto order lines. */
  price: number;
  /** Pieces on hand; null means not tracked. */
  stock: number | null;
  /** Stock at or below which product.low_stock is told; null means never. */
  low_stock_at: number | null;
  /**
   * Whether something is left; true where stock is not tracked. Of a product with variants: whether
   * any active one is in stock.
   */
  in_stock: boolean;
  /**
   * Inactive products, and the variants of one, are hidden from the public and cannot be ordered.
   */
  active: boolean;
  /** An object of at most 8 kB that the rules do not read; the public never sees it. */
  metadata: JsonObject;
};

/** What a professional may write into a new row; any other column is refused with 42501. */
export type ProductInsert = Pick<Product, "name" | "price"> &
  Partial<
    Pick<
      Product,
      | "id"
      | "professional_id"
      | "parent_id"
      | "description"
      | "category"
      | "image_url"
      | "sku"
      | "options"
      | "stock"
      | "low_stock_at"
      | "active"
      | "metadata"
    >
  >;

/** What a professional may change; any other column is refused with 42501. */
export type ProductUpdate = Partial<
  Pick<
    Product,
    | "name"
    | "description"
    | "category"
    | "image_url"
    | "sku"
    | "options"
    | "price"
    | "stock"
    | "low_stock_at"
    | "active"
    | "metadata"
  >
>;

export type Availability = {
  /** A day that is left out is closed */
  weekly: { [Key in "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun"]?: [string, string][] };
  /** Dates that have other hours; none: closed */
  overrides?: { [key: string]: [string, string][] };
};

export type ProfileTier = "free" | "plus" | "pro" | "max" | "ultra";

/** What is false is not sent; what is left out is */
export type MailSettings = {
  /** To clients */
  client?: {
    [Key in
      | "booking_received"
      | "booking_confirmed"
      | "booking_moved"
      | "booking_cancelled"
      | "booking_reminder"
      | "order_received"
      | "order_confirmed"
      | "order_cancelled"
      | "payment_received"
      | "payment_returned"
      | "payment_refunded"]?: boolean;
  };
  /** To the professional */
  professional?: {
    [Key in
      | "new_booking"
      | "booking_moved"
      | "booking_cancelled"
      | "new_order"
      | "payment_received"
      | "payment_returned"
      | "payment_refund_failed"
      | "client_undeliverable"
      | "calendar_failing"
      | "calendar_disconnected"]?: boolean;
  };
};

export type ProfilePublicContact = "contact_email" | "contact_phone" | "address";

/**
 * The professional: one row per user, created at sign-up. Names, working hours, time zone,
 * currency, tax and what the public may do.
 */
export type Profile = {
  /** The user's id in the auth service, and professional_id of all that is theirs. */
  id: string;
  /** When the account was made. */
  created_at: Instant;
  /** When something in the row last really changed. */
  updated_at: Instant;
  /** Shown on the booking page and in mails to clients; at most 200 characters, may be empty. */
  full_name: string;
  /** Slug of the public page: lower-case letters, digits and single hyphens, unique. */
  username: string;
  /** The trade in own words, such as hairdresser; public, at most 100 characters. */
  niche: string | null;
  /** Text for the booking page, at most 4000 characters. */
  bio: string | null;
  /** Address of a picture, http or https, at most 2048 characters; nothing is uploaded here. */
  image_url: string | null;
  /** IANA name; working hours are local times of it. */
  time_zone: string;
  /** ISO 4217 code of every price, booking and order of this professional. */
  currency: string;
  /**
   * Working hours: {"weekly": {"mon": [["09:00","12:30"],["13:30","18:00"]]}, "overrides":
   * {"2027-12-25": []}}. An override replaces its whole date.
   */
  availability: Availability;
  /** Whether the public may book. Without it and accepts_orders there is no booking page. */
  accepts_bookings: boolean;
  /** Whether the public may order. */
  accepts_orders: boolean;
  /** Percent applied to orders. */
  tax_rate: number;
  /** Whether tax_rate is contained in prices; else it is added to the total. */
  prices_include_tax: boolean;
  /** Unpaid orders from the public are cancelled after this many hours; null keeps them. */
  unpaid_order_hours: number | null;
  /**
   * Bookings and orders of the public are held for 30 minutes, until the link mailed to their
   * address is opened.
   */
  verify_public_email: boolean;
  /**
   * How long a booking or order that has to be paid first is held for its payment: 40 to 1440
   * minutes.
   */
  payment_minutes: number;
  /**
   * Orders of the public and of portal clients are held until they are paid, for payment_minutes.
   */
  orders_need_payment: boolean;
  /** Rate limit tier: free, plus, pro, max, ultra. Set by the server only. */
  tier: ProfileTier;
  /** Of mails to the professional, and to clients that have none of their own: en or it. */
  language: Language;
  /**
   * Which mails are sent: {"client": {"booking_confirmed": false}, "professional": {"new_order":
   * false}}. A kind that is not named is sent.
   */
  mail_settings: MailSettings;
  /**
   * Minutes before the start at which clients are reminded: at most two, 30 to 20160; none for an
   * empty list.
   */
  reminders: number[];
  /**
   * Where clients' answers to mails go (Reply-To); shown on the page when public_contact names it.
   */
  contact_email: string | null;
  /** In mails to clients, at most 40 characters; shown on the page when public_contact names it. */
  contact_phone: string | null;
  /**
   * In mails to clients, at most 500 characters; shown on the page when public_contact names it,
   * since it may be a home.
   */
  address: string | null;
  /** Which of contact_email, contact_phone and address the booking page shows. */
  public_contact: ProfilePublicContact[];
  /** Text at the end of mails to clients, at most 1000 characters. */
  mail_footer: string | null;
};

/** Nobody makes one: signing up does. */
export type ProfileInsert = Record<string, never>;

/** What a professional may change; any other column is refused with 42501. */
export type ProfileUpdate = Partial<
  Pick<
    Profile,
    | "full_name"
    | "username"
    | "niche"
    | "bio"
    | "image_url"
    | "time_zone"
    | "currency"
    | "availability"
    | "accepts_bookings"
    | "accepts_orders"
    | "tax_rate"
    | "prices_include_tax"
    | "unpaid_order_hours"
    | "verify_public_email"
    | "payment_minutes"
    | "orders_need_payment"
    | "language"
    | "mail_settings"
    | "reminders"
    | "contact_email"
    | "contact_phone"
    | "address"
    | "public_contact"
    | "mail_footer"
  >
>;

export type ServicePayment = "none" | "deposit" | "full";

/**
 * Service catalogue. duration, buffers, slot_step, min_notice and cancellation_notice are minutes;
 * price is in the professional's currency.
 */
export type Service = {
  /** Made here unless the caller chooses one; never changes. */
  id: string;
  /** When the row was made; never changes. */
  created_at: Instant;
  /** When something in the row last really changed. */
  updated_at: Instant;
  /** Whose row it is: the caller's own, or the one a server names. Never changes. */
  professional_id: string;
  /** 1 to 200 characters; copied onto bookings and order lines. */
  name: string;
  /** For the public, at most 10000 characters. */
  description: string | null;
  /** What a page may group by; public, at most 100 characters. */
  category: string | null;
  /** Address of a picture, http or https, at most 2048 characters; public. */
  image_url: string | null;
  /** Of one appointment, in the professional's currency; copied onto bookings and order lines. */
  price: number;
  /**
   * What the public and portal clients pay when they book: none, deposit, or full (the price, with
   * tax). Until then the booking is a hold.
   */
  payment: ServicePayment;
  /**
   * What has to be paid first where payment is deposit, at most the price; copied onto the order.
   */
  deposit: number | null;
  /** Minutes. */
  duration: number;
  /** Minutes kept free before the appointment. */
  buffer_before: number;
  /** Minutes kept free after the appointment. */
  buffer_after: number;
  /** Minutes between two offered starts; null means the duration. */
  slot_step: number | null;
  /** Minutes between booking and start, for the public. */
  min_notice: number;
  /** How many local days ahead the public may book; 0 is today only. */
  max_advance_days: number;
  /** Minutes before the start until which a client may cancel or move a booking. */
  cancellation_notice: number;
  /** Bookings by the public start as pending. */
  requires_confirmation: boolean;
  /** Inactive services are hidden from the public and cannot be booked by it. */
  active: boolean;
  /**
   * Where it is: a text, which the booking page shows, or a https link, which confirmed clients
   * alone are told. At most 500 characters.
   */
  location: string | null;
  /** For clients, in mails about their bookings; at most 4000 characters. */
  instructions: string | null;
  /** An object of at most 8 kB that the rules do not read; the public does not see it. */
  metadata: JsonObject;
};

/** What a professional may write into a new row; any other column is refused with 42501. */
export type ServiceInsert = Pick<Service, "name" | "price" | "duration"> &
  Partial<
    Pick<
      Service,
      | "id"
      | "professional_id"
      | "description"
      | "category"
      | "image_url"
      | "payment"
      | "deposit"
      | "buffer_before"
      | "buffer_after"
      | "slot_step"
      | "min_notice"
      | "max_advance_days"
      | "cancellation_notice"
      | "requires_confirmation"
      | "active"
      | "location"
      | "instructions"
      | "metadata"
    >
  >;

/** What a professional may change; any other column is refused with 42501. */
export type ServiceUpdate = Partial<
  Pick<
    Service,
    | "name"
    | "description"
    | "category"
    | "image_url"
    | "price"
    | "payment"
    | "deposit"
    | "duration"
    | "buffer_before"
    | "buffer_after"
    | "slot_step"
    | "min_notice"
    | "max_advance_days"
    | "cancellation_notice"
    | "requires_confirmation"
    | "active"
    | "location"
    | "instructions"
    | "metadata"
  >
>;

export type AdjustStockArgs = {
  product_id: string;
  delta: number;
  reason: string;
  expected_stock?: number | null;
};

export type StockLevel = {
  /** Of the product, or of the variant. */
  product_id: string;
  /** Pieces on hand after the call. */
  stock: number;
};

export type KeyAccess = "read" | "write";

export type ApiKey = {
  id: string;
  name: string;
  access: KeyAccess;
  created_at: Instant;
  /** null: never */
  expires_at: Instant | null;
  /** In UTC; null: not yet */
  last_used_on: LocalDate | null;
};

export type AuditFinding = {
  /** Name of the rule, such as stock_is_ledger. */
  finding:
    | "order_lines_make_subtotal"
    | "order_line_is_price_times_quantity"
    | "order_total_adds_up"
    | "order_numbers_have_no_gap"
    | "order_paid_is_ledger"
    | "order_refunded_is_ledger"
    | "stock_is_ledger"
    | "in_stock_is_stock"
    | "order_products_are_its_lines"
    | "stock_taken_is_ordered";
  /** The product, order or professional that it is about. */
  subject_id: string;
  /** What it should be, by the rest of the books. */
  expected: number | null;
  /** What it is. */
  actual: number;
};

export type AuthorizeActionArgs = {
  by_person?: boolean;
};

export type AuthorizeCheckoutArgs = {
  order_id: string;
};

export type AvailableSlotsArgs = {
  service_id: string;
  from_date: LocalDate;
  to_date: LocalDate;
  reschedule_of?: string | null;
};

export type AvailableSlots = {
  /** The professional's, in which the days are */
  time_zone: string;
  /** Minutes; of a booking that moves, its own */
  duration: number;
  days: {
    date: LocalDate;
    slots: {
      starts_at: Instant;
      ends_at: Instant;
    }[];
  }[];
};

export type BeginBusyCalendarAnswer = {
  professional_id: string;
};

export type BeginGoogleConnectionAnswer = {
  professional_id: string;
};

export type BeginGoogleDisconnectionAnswer = {
  professional_id: string;
};

export type BeginRefundArgs = {
  payment_id: string;
  amount?: number | null;
  reason?: string | null;
};

export type BegunRefund = {
  refund_id: string;
  status: "due";
  /** In the currency of the row, exact */
  amount: number;
};

export type BookingPageArgs = {
  username: string;
};

export type PublicProfessional = {
  id: string;
  username: string;
  full_name: string;
  niche: string | null;
  bio: string | null;
  image_url: string | null;
  /** IANA name of a time zone: Europe/Rome */
  time_zone: string;
  /** ISO 4217 */
  currency: string;
  prices_include_tax: boolean;
  orders_need_payment: boolean;
  hours: Availability;
  contact_email: string | null;
  contact_phone: string | null;
  address: string | null;
};

export type PublicService = {
  id: string;
  name: string;
  description: string | null;
  category: string | null;
  image_url: string | null;
  /** In the currency of the row, exact */
  price: number;
  payment: ServicePayment;
  /** Where payment is deposit */
  deposit: number | null;
  /** Minutes */
  duration: number;
  /** Minutes */
  min_notice: number;
  max_advance_days: number;
  /** Minutes */
  cancellation_notice: number;
  requires_confirmation: boolean;
  /** null also where it is a link */
  location: string | null;
};

export type PublicVariant = {
  id: string;
  name: string;
  description: string | null;
  category: string | null;
  image_url: string | null;
  sku: string | null;
  /** What tells a variant apart: {"size": "M"} */
  options: JsonObject;
  /** In the currency of the row, exact */
  price: number;
  in_stock: boolean;
};

export type PublicProduct = {
  id: string;
  name: string;
  description: string | null;
  category: string | null;
  image_url: string | null;
  sku: string | null;
  /** What tells a variant apart: {"size": "M"} */
  options: JsonObject;
  /** In the currency of the row, exact */
  price: number;
  in_stock: boolean;
  /** With some of them, only these can be ordered */
  variants: PublicVariant[];
};

export type BookingPage = {
  professional: PublicProfessional;
  services: PublicService[];
  products: PublicProduct[];
};

export type BusyCalendar = {
  id: string;
  name: string | null;
  /** Of its address, which is not shown */
  host: string;
  status: "pending" | "ok" | "failing";
  /** A code; null unless it fails */
  error: string | null;
  error_detail: string | null;
  /** When it was last read without a fault */
  last_synced_at: Instant | null;
  created_at: Instant;
};

/** full: who, what and how to reach them; busy: only when */
export type FeedDetail = "full" | "busy";

export type CalendarFeed = {
  id: string;
  name: string;
  detail: FeedDetail;
  created_at: Instant;
};

export type CancelBookingArgs = {
  booking_id: string;
  reason?: string | null;
  refund?: boolean;
};

export type BookingReceipt = {
  /** The booking's, for cancel_booking and reschedule_booking. */
  id: string;
  /** With whom it is. */
  professional_id: string;
  /** As in bookings.status; pending also for a hold, which expires_at tells apart. */
  status: BookingStatus;
  /** The beginning of the appointment, without buffers. */
  starts_at: Instant;
  /** The end of the appointment, without buffers. */
  ends_at: Instant;
  /** In currency, as it was when it was booked; 0 for what is free. */
  price: number;
  /** ISO 4217 code of price and amount_due: the professional's when it was booked. */
  currency: string;
  /** What the client wrote, or was written for them to see; null without. */
  notes: string | null;
  /** Rises on every real change. */
  version: number;
  /** What was booked; null for blocked time. */
  service_id: string;
  /** The name of the service when it was booked; null for blocked time. */
  service_name: string;
  /**
   * The last moment at which the client may cancel or move it: the start less the service's notice
   * when it was booked. Null for blocked time.
   */
  cancel_until: Instant;
  /**
   * Of a hold: until when it has to be confirmed by the link that was mailed, or paid. Null unless
   * it is one.
   */
  expires_at: Instant | null;
  /**
   * What opens a payment page to whoever has it (POST /functions/v1/payments/checkout); null unless
   * something is due.
   */
  checkout_token: string | null;
  /**
   * For how much that page is, in currency: the deposit, or all of it with tax. Null unless
   * something is due.
   */
  amount_due: number | null;
  /** The order by which it is paid, made with it; null for a service without a payment. */
  order_id: string | null;
};

export type BlockedTimeReceipt = {
  /** The booking's, for cancel_booking and reschedule_booking. */
  id: string;
  /** With whom it is. */
  professional_id: string;
  /** As in bookings.status; pending also for a hold, which expires_at tells apart. */
  status: BookingStatus;
  /** The beginning of the appointment, without buffers. */
  starts_at: Instant;
  /** The end of the appointment, without buffers. */
  ends_at: Instant;
  /** In currency, as it was when it was booked; 0 for what is free. */
  price: number;
  /** ISO 4217 code of price and amount_due: the professional's when it was booked. */
  currency: string;
  /** What the client wrote, or was written for them to see; null without. */
  notes: string | null;
  /** Rises on every real change. */
  version: number;
  /** What was booked; null for blocked time. */
  service_id: null;
  /** The name of the service when it was booked; null for blocked time. */
  service_name: null;
  /**
   * The last moment at which the client may cancel or move it: the start less the service's notice
   * when it was booked. Null for blocked time.
   */
  cancel_until: null;
  /**
   * Of a hold: until when it has to be confirmed by the link that was mailed, or paid. Null unless
   * it is one.
   */
  expires_at: null;
  /** The order by which it is paid, made with it; null for a service without a payment. */
  order_id: null;
  /**
   * What opens a payment page to whoever has it (POST /functions/v1/payments/checkout); null unless
   * something is due.
   */
  checkout_token: null;
  /**
   * For how much that page is, in currency: the deposit, or all of it with tax. Null unless
   * something is due.
   */
  amount_due: null;
};

export type PaymentAccountToMake =
  | {
      account_id: null;
      attempt_id: string;
      email: string | null;
      name: string;
    }
  | {
      account_id: string;
      attempt_id: null;
      email: string | null;
      name: string;
    };

export type CreateApiKeyArgs = {
  name: string;
  access: KeyAccess;
  expires_at?: Instant | null;
};

export type CreatedApiKey = {
  id: string;
  /** Not shown again */
  key: string;
};

export type CreateBookingArgs = {
  service_id: string;
  starts_at: Instant;
  client_name?: string | null;
  client_email?: string | null;
  client_phone?: string | null;
  notes?: string | null;
  idempotency_key?: string | null;
  language?: Language | null;
};

export type CreateCalendarFeedArgs = {
  name: string;
  detail: FeedDetail;
};

export type CreatedCalendarFeed = {
  id: string;
  /** Behind the API's address; whoever knows it reads the feed */
  path: string;
};

export type CreateWebhookEndpointArgs = {
  url: string;
  events: string[];
  description?: string | null;
  enabled?: boolean;
};

/** All, those of an object, or one type */
export type EventFilter =
  | "*"
  | "booking.*"
  | "order.*"
  | "payment.*"
  | "client.*"
  | "product.*"
  | "service.*"
  | "mail.*"
  | "webhook.*"
  | "booking.created"
  | "booking.confirmed"
  | "booking.rescheduled"
  | "booking.cancelled"
  | "booking.completed"
  | "booking.no_show"
  | "booking.updated"
  | "order.created"
  | "order.confirmed"
  | "order.fulfilled"
  | "order.cancelled"
  | "order.updated"
  | "payment.succeeded"
  | "payment.refunded"
  | "payment.refund_reversed"
  | "payment.refund_failed"
  | "payment.disputed"
  | "payment.dispute_reversed"
  | "client.created"
  | "client.updated"
  | "client.deleted"
  | "product.created"
  | "product.updated"
  | "product.deleted"
  | "product.low_stock"
  | "product.out_of_stock"
  | "service.created"
  | "service.updated"
  | "service.deleted"
  | "mail.undeliverable"
  | "webhook.test";

export type WebhookEndpointWithSecret = {
  id: string;
  url: string;
  events: EventFilter[];
  description: string | null;
  enabled: boolean;
  /** gone: it answered 410; failing: no success in five days; null while enabled */
  disabled_reason: "owner" | "gone" | "failing" | null;
  created_at: Instant;
  /** Not shown again */
  secret: string;
};

export type DeleteBusyCalendarArgs = {
  calendar_id: string;
};

export type DeleteCalendarFeedArgs = {
  feed_id: string;
};

export type DeleteWebhookEndpointArgs = {
  endpoint_id: string;
};

export type DetachPaymentAccountAnswer = {
  account_id: null;
};

export type EraseClientArgs = {
  client_id: string;
};

export type EraseClientAnswer = {
  id: string;
};

export type ExplainSlotArgs = {
  service_id: string;
  starts_at: Instant;
};

/** busy: for the professional by whose calendar it is */
export type SlotReason =
  | "available"
  | "not_accepting"
  | "inactive"
  | "past"
  | "too_soon"
  | "too_far"
  | "closed_date"
  | "outside_hours"
  | "not_on_grid"
  | "slot_taken"
  | "busy";

export type SlotExplanation = {
  reason: SlotReason;
  /** The next free ones, within 62 days */
  next_starts: Instant[];
};

export type ExportAccountArgs = {
  cursor?: string | null;
};

export type ExportedClient = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  name: string;
  email: string | null;
  phone: string | null;
  notes: string | null;
  tags: string[];
  archived: boolean;
  /** Yours: nothing reads it */
  metadata: JsonObject;
  language: Language | null;
  reminders: boolean;
  mail_status: "ok" | "undeliverable";
  link_epoch: number;
  email_key: string | null;
};

export type ExportedBooking = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  client_id: string | null;
  service_id: string | null;
  service_name: string | null;
  starts_at: Instant;
  ends_at: Instant;
  /** Minutes */
  buffer_before: number;
  /** Minutes */
  buffer_after: number;
  /** Minutes */
  cancellation_notice: number;
  status: BookingStatus;
  /** In the currency of the row, exact */
  price: number;
  /** ISO 4217 */
  currency: string;
  notes: string | null;
  internal_notes: string | null;
  source: Source;
  cancel_reason: string | null;
  cancelled_at: Instant | null;
  cancelled_by: CancelledBy | null;
  expires_at: Instant | null;
  checkout_open: boolean;
  email_confirmed_at: Instant | null;
  /** Rises with every change of the row */
  version: number;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type ExportedOrder = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  client_id: string;
  number: number;
  kind: OrderKind;
  booking_id: string | null;
  items: OrderLine[];
  /** In the currency of the row, exact */
  subtotal: number;
  /** In the currency of the row, exact */
  discount: number;
  /** In the currency of the row, exact */
  tax: number;
  /** In the currency of the row, exact */
  total: number;
  deposit: number | null;
  /** ISO 4217 */
  currency: string;
  status: OrderStatus;
  /** In the currency of the row, exact */
  amount_paid: number;
  /** In the currency of the row, exact */
  amount_refunded: number;
  payment_status: PaymentStatus;
  shipping_address: JsonObject | null;
  notes: string | null;
  internal_notes: string | null;
  source: Source;
  expires_at: Instant | null;
  checkout_open: boolean;
  email_confirmed_at: Instant | null;
  /** Rises with every change of the row */
  version: number;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type PaymentKind = "payment" | "refund" | "refund_reversal" | "dispute" | "dispute_reversal";

export type PaymentProvider = "manual" | "stripe";

export type PaymentFlag =
  | "exceeds_total"
  | "refund_exceeds_paid"
  | "amount_differs"
  | "refund_failed";

export type ExportedPayment = {
  id: string;
  created_at: Instant;
  professional_id: string;
  order_id: string;
  kind: PaymentKind;
  /** In the currency of the row, exact */
  amount: number;
  method: string | null;
  reference: string | null;
  reason: string | null;
  provider: PaymentProvider;
  flag: PaymentFlag | null;
  return_cause: "cancelled" | "overpaid" | "late" | null;
};

export type ExportedPaymentHold = {
  order_id: string;
  created_at: Instant;
  professional_id: string;
  booking_id: string | null;
  prolonged: boolean;
  prolonged_at: Instant | null;
  prolonged_from: Instant | null;
  lapsed: boolean;
};

export type ExportedCheckout = {
  id: string;
  created_at: Instant;
  professional_id: string;
  order_id: string;
  account_id: string;
  /** In the currency of the row, exact */
  amount: number;
  /** ISO 4217 */
  currency: string;
  /** The amount in the unit that Stripe counts in */
  minor: number;
  /** As they went to Stripe */
  params: JsonObject;
  session_id: string | null;
  url: string | null;
  payment_intent: string | null;
  status: "creating" | "open" | "complete" | "expired" | "failed";
  failure: string | null;
  expires_at: Instant;
};

export type ExportedProviderRefund = {
  id: string;
  created_at: Instant;
  professional_id: string;
  payment_id: string;
  account_id: string;
  /** In the currency of the row, exact */
  amount: number;
  /** The amount in the unit that Stripe counts in */
  minor: number;
  status: "due" | "pending" | "succeeded" | "failed" | "canceled";
  provider_id: string | null;
  cause: "route" | "cancelled" | "overpaid" | "late" | null;
  reason: string | null;
  failure: string | null;
};

export type ExportedDispute = {
  id: string;
  created_at: Instant;
  professional_id: string;
  payment_id: string;
  account_id: string;
  /** In Stripe's words */
  status: string;
  reason: string | null;
};

export type ExportedOrderProduct = {
  professional_id: string;
  order_id: string;
  product_id: string;
  quantity: number;
};

export type ExportedStockLedger = {
  id: number;
  created_at: Instant;
  professional_id: string;
  product_id: string;
  order_id: string | null;
  delta: number;
  reason: string;
};

export type MailAudience = "client" | "professional";

export type MailKind =
  | "booking_received"
  | "booking_confirmed"
  | "booking_moved"
  | "booking_cancelled"
  | "booking_reminder"
  | "booking_to_confirm"
  | "order_received"
  | "order_confirmed"
  | "order_cancelled"
  | "order_to_confirm"
  | "payment_received"
  | "payment_returned"
  | "payment_refunded"
  | "new_booking"
  | "new_order"
  | "payment_refund_failed"
  | "client_undeliverable"
  | "calendar_failing"
  | "calendar_disconnected"
  | "confirm_address";

export type MailStatus = "queued" | "sent" | "dropped" | "failed";

export type MailOutcome =
  | "delivered"
  | "bounced"
  | "complained"
  | "suppressed"
  | "failed"
  | "refused"
  | "gave_up"
  | "too_late"
  | "outdated"
  | "already_told"
  | "switched_off"
  | "no_address"
  | "unsubscribed"
  | "suspended"
  | "owner_not_confirmed"
  | "undeliverable"
  | "daily_limit";

export type ExportedMail = {
  id: string;
  created_at: Instant;
  professional_id: string;
  audience: MailAudience;
  kind: MailKind;
  client_id: string | null;
  booking_id: string | null;
  order_id: string | null;
  payment_id: string | null;
  detail: JsonObject;
  status: MailStatus;
  due_at: Instant | null;
  attempts: number;
  told_starts_at: Instant | null;
  told_ends_at: Instant | null;
  recipient: string | null;
  provider_id: string | null;
  outcome: MailOutcome | null;
  finished_at: Instant | null;
};

export type ExportedProvenAddress = {
  professional_id: string;
  proven_at: Instant;
};

export type ExportedPortalCode = {
  professional_id: string;
  client_id: string;
  link_epoch: number;
  generation: number;
  expires_at: Instant;
  attempts: number;
  failures: number;
  locked_until: Instant | null;
};

export type ExportedPortalSession = {
  id: string;
  created_at: Instant;
  professional_id: string;
  link_epoch: number;
  expires_at: Instant;
  revoked_at: Instant | null;
  client_id: string;
};

export type ExportedBookingSession = {
  id: string;
  created_at: Instant;
  professional_id: string;
  link_epoch: number;
  expires_at: Instant;
  revoked_at: Instant | null;
  booking_id: string;
};

export type ExportedUnheardClient = {
  professional_id: string;
  client_id: string;
};

export type ExportedIdempotencyKey = {
  created_at: Instant;
  professional_id: string;
  function: "create_booking" | "place_order";
  key: string;
  result_id: string;
};

export type EventType =
  | "booking.created"
  | "booking.confirmed"
  | "booking.rescheduled"
  | "booking.cancelled"
  | "booking.completed"
  | "booking.no_show"
  | "booking.updated"
  | "order.created"
  | "order.confirmed"
  | "order.fulfilled"
  | "order.cancelled"
  | "order.updated"
  | "payment.succeeded"
  | "payment.refunded"
  | "payment.refund_reversed"
  | "payment.refund_failed"
  | "payment.disputed"
  | "payment.dispute_reversed"
  | "client.created"
  | "client.updated"
  | "client.deleted"
  | "product.created"
  | "product.updated"
  | "product.deleted"
  | "product.low_stock"
  | "product.out_of_stock"
  | "service.created"
  | "service.updated"
  | "service.deleted"
  | "mail.undeliverable"
  | "webhook.test";

export type ExportedWebhookEvent = {
  id: string;
  created_at: Instant;
  professional_id: string;
  sequence: number;
  type: EventType;
  client_id: string | null;
  of_erasure: boolean;
  /** JSON of the event */
  body: string;
};

export type DeliveryStatus = "pending" | "succeeded" | "failed" | "cancelled";

export type ExportedWebhookDelivery = {
  id: string;
  created_at: Instant;
  professional_id: string;
  endpoint_id: string;
  event_id: string;
  status: DeliveryStatus;
  attempts: number;
  next_attempt_at: Instant | null;
  last_status: number | null;
};

export type ExportedWebhookAttempt = {
  id: string;
  professional_id: string;
  delivery_id: string;
  started_at: Instant;
  duration_ms: number | null;
  status: number | null;
  response: string | null;
  error: string | null;
};

export type ExportedCalendarPush = {
  connection_id: string;
  booking_id: string;
  professional_id: string;
  due_at: Instant | null;
  revision: number;
  attempts: number;
  generation: number;
  may_exist: boolean;
  is_there: boolean;
  error: string | null;
};

export type ExportedProfile = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  full_name: string;
  username: string;
  niche: string | null;
  bio: string | null;
  image_url: string | null;
  /** IANA name of a time zone: Europe/Rome */
  time_zone: string;
  /** ISO 4217 */
  currency: string;
  availability: Availability;
  accepts_bookings: boolean;
  accepts_orders: boolean;
  /** Percent */
  tax_rate: number;
  prices_include_tax: boolean;
  unpaid_order_hours: number | null;
  verify_public_email: boolean;
  /** Minutes */
  payment_minutes: number;
  orders_need_payment: boolean;
  tier: "free" | "plus" | "pro" | "max" | "ultra";
  language: Language;
  mail_settings: JsonObject;
  reminders: number[];
  contact_email: string | null;
  contact_phone: string | null;
  address: string | null;
  public_contact: ("contact_email" | "contact_phone" | "address")[];
  mail_footer: string | null;
};

export type ExportedService = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  name: string;
  description: string | null;
  category: string | null;
  image_url: string | null;
  /** In the currency of the row, exact */
  price: number;
  payment: ServicePayment;
  deposit: number | null;
  /** Minutes */
  duration: number;
  /** Minutes */
  buffer_before: number;
  /** Minutes */
  buffer_after: number;
  slot_step: number | null;
  /** Minutes */
  min_notice: number;
  max_advance_days: number;
  /** Minutes */
  cancellation_notice: number;
  requires_confirmation: boolean;
  active: boolean;
  location: string | null;
  instructions: string | null;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type ExportedProduct = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  parent_id: string | null;
  name: string;
  description: string | null;
  category: string | null;
  image_url: string | null;
  sku: string | null;
  /** What tells a variant apart: {"size": "M"} */
  options: JsonObject;
  /** In the currency of the row, exact */
  price: number;
  stock: number | null;
  low_stock_at: number | null;
  in_stock: boolean;
  active: boolean;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type ExportedPaymentAccount = {
  id: string;
  created_at: Instant;
  professional_id: string;
  livemode: boolean;
  can_charge: boolean;
  missing: string[];
  checked_at: Instant | null;
  detached_at: Instant | null;
  deauthorized_at: Instant | null;
};

export type ExportedPaymentAccountAttempt = {
  id: string;
  created_at: Instant;
  professional_id: string;
};

export type ExportedWebhookEndpoint = {
  id: string;
  created_at: Instant;
  professional_id: string;
  url: string;
  events: EventFilter[];
  description: string | null;
  enabled: boolean;
  disabled_reason: "owner" | "gone" | "failing" | null;
  failing_since: Instant | null;
  failed_tries: number;
  slow_tries: number;
};

export type ExportedWebhookOwnerMail = {
  id: number;
  created_at: Instant;
  professional_id: string;
  endpoint_id: string;
};

export type ExportedWebhookExpiredEvent = {
  professional_id: string;
  sequence: number;
  highest: number;
};

export type ExportedConfirmedOwner = {
  professional_id: string;
  confirmed_at: Instant;
};

export type ExportedSuspendedOwner = {
  professional_id: string;
  reason: string;
  suspended_at: Instant;
};

export type ExportedCalendarFeed = {
  id: string;
  created_at: Instant;
  professional_id: string;
  name: string;
  detail: FeedDetail;
};

export type ExportedApiKey = {
  id: string;
  created_at: Instant;
  professional_id: string;
  name: string;
  access: "read" | "write";
  expires_at: Instant | null;
  last_used_on: LocalDate | null;
  revoked_at: Instant | null;
};

export type ExportedBusyCalendar = {
  id: string;
  created_at: Instant;
  professional_id: string;
  name: string | null;
  host: string;
  status: "pending" | "ok" | "failing";
  error: string | null;
  error_detail: string | null;
  last_synced_at: Instant | null;
  failing_since: Instant | null;
  told_at: Instant | null;
  due_at: Instant;
  read_at: Instant | null;
  time_zone: string | null;
};

export type ExportedCalendarConnection = {
  id: string;
  created_at: Instant;
  professional_id: string;
  push: boolean;
  busy: boolean;
  status: "active" | "revoked";
  error: string | null;
  last_synced_at: Instant | null;
  busy_due_at: Instant;
  paused_until: Instant | null;
  pauses: number;
  failing_since: Instant | null;
  told_at: Instant | null;
};

export type ExportedBusyTime = {
  professional_id: string;
  source_id: string;
  week: Instant;
  /** Ranges as Postgres writes them */
  during: string;
};

export type AccountExport = {
  exported_at: Instant;
  /** On the first page */
  account?: {
    id: string;
    email: string;
  };
  /** Rows by table, 500 on a page; a table may go on on the next one */
  data: {
    clients?: ExportedClient[];
    bookings?: ExportedBooking[];
    orders?: ExportedOrder[];
    payments?: ExportedPayment[];
    payment_holds?: ExportedPaymentHold[];
    checkouts?: ExportedCheckout[];
    provider_refunds?: ExportedProviderRefund[];
    disputes?: ExportedDispute[];
    order_products?: ExportedOrderProduct[];
    stock_ledger?: ExportedStockLedger[];
    mails?: ExportedMail[];
    proven_addresses?: ExportedProvenAddress[];
    portal_codes?: ExportedPortalCode[];
    portal_sessions?: ExportedPortalSession[];
    booking_sessions?: ExportedBookingSession[];
    unheard_clients?: ExportedUnheardClient[];
    idempotency_keys?: ExportedIdempotencyKey[];
    webhook_events?: ExportedWebhookEvent[];
    webhook_deliveries?: ExportedWebhookDelivery[];
    webhook_attempts?: ExportedWebhookAttempt[];
    calendar_pushes?: ExportedCalendarPush[];
    profiles?: ExportedProfile[];
    services?: ExportedService[];
    products?: ExportedProduct[];
    payment_accounts?: ExportedPaymentAccount[];
    payment_account_attempts?: ExportedPaymentAccountAttempt[];
    webhook_endpoints?: ExportedWebhookEndpoint[];
    webhook_owner_mails?: ExportedWebhookOwnerMail[];
    webhook_expired_events?: ExportedWebhookExpiredEvent[];
    confirmed_owners?: ExportedConfirmedOwner[];
    suspended_owners?: ExportedSuspendedOwner[];
    calendar_feeds?: ExportedCalendarFeed[];
    api_keys?: ExportedApiKey[];
    busy_calendars?: ExportedBusyCalendar[];
    calendar_connections?: ExportedCalendarConnection[];
    busy_times?: ExportedBusyTime[];
  };
  /** The cursor of the next page; null: this is the last */
  next_cursor: string | null;
};

export type ExportClientArgs = {
  client_id: string;
};

export type ClientExport = {
  exported_at: Instant;
  /** Rows by table */
  data: {
    clients: ExportedClient[];
    bookings: ExportedBooking[];
    orders: ExportedOrder[];
    payments: ExportedPayment[];
    payment_holds: ExportedPaymentHold[];
    checkouts: ExportedCheckout[];
    provider_refunds: ExportedProviderRefund[];
    disputes: ExportedDispute[];
    order_products: ExportedOrderProduct[];
    stock_ledger: ExportedStockLedger[];
    mails: ExportedMail[];
    proven_addresses: ExportedProvenAddress[];
    portal_codes: ExportedPortalCode[];
    portal_sessions: ExportedPortalSession[];
    booking_sessions: ExportedBookingSession[];
    unheard_clients: ExportedUnheardClient[];
    idempotency_keys: ExportedIdempotencyKey[];
    webhook_events: ExportedWebhookEvent[];
    webhook_deliveries: ExportedWebhookDelivery[];
    webhook_attempts: ExportedWebhookAttempt[];
    calendar_pushes: ExportedCalendarPush[];
  };
};

export type ConnectedGoogle = {
  status: "active" | "revoked";
  /** Whether bookings go there */
  push: boolean;
  /** Whether what is there blocks starts */
  busy: boolean;
  /** A code; null while all is well */
  error: string | null;
  last_synced_at: Instant | null;
  created_at: Instant;
  /** Bookings that have still to reach it */
  waiting: number;
  /** Bookings that it did not take */
  refused: number;
};

export type GoogleConnection =
  | ConnectedGoogle
  | {
      status: "none";
      push: null;
      busy: null;
      error: null;
      last_synced_at: null;
      created_at: null;
      waiting: 0;
      refused: 0;
    };

export type MailsArgs = {
  booking_id?: string | null;
  client_id?: string | null;
  order_id?: string | null;
};

export type MailRecord = {
  /** Of the mail in the queue, the same on every try. */
  id: string;
  /** client or professional: who gets it. */
  audience: MailAudience;
  /** What it is about, such as booking_confirmed; docs/mail.md lists them. */
  kind: MailKind;
  /** The address it was last sent to; null before the first try. */
  recipient: string | null;
  /** queued, sent, dropped (it was not to be sent) or failed. */
  status: MailStatus;
  /**
   * Why it was dropped or failed; of a sent one delivered or complained once the provider says so.
   */
  outcome: MailOutcome | null;
  /** Whom it is to or about; null for none. */
  client_id: string | null;
  /** The booking it is about; null for none. */
  booking_id: string | null;
  /** The order it is about; null for none. */
  order_id: string | null;
  /** When what it tells happened. */
  created_at: Instant;
  /** When the next try is; null unless queued. */
  due_at: Instant | null;
  /** When it was sent, dropped or given up; null while queued. */
  finished_at: Instant | null;
};

export type OrderPaymentsArgs = {
  order_id: string;
};

export type OrderPayment = {
  /** Of the entry; that of a payment by Stripe is the payment_id of its refunds. */
  id: string;
  /**
   * payment, refund, refund_reversal (a refund that failed after all), dispute (the payer's bank
   * took it back), dispute_reversal; every amount is positive.
   */
  kind: PaymentKind;
  /** Always positive; kind says which way it went. */
  amount: number;
  /** Such as cash or card; null for a refund. */
  method: string | null;
  /** What the payment provider calls it, unique per professional and provider; null without one. */
  reference: string | null;
  /** Of a refund; null for a payment. */
  reason: string | null;
  /** When it was recorded, which may be after the money moved. */
  created_at: Instant;
  /** manual, or who collected it: stripe. */
  provider: PaymentProvider;
  /**
   * What should be looked at: exceeds_total, refund_exceeds_paid, amount_differs (from what was
   * asked for), refund_failed (what should have gone back by itself did not); mostly null.
   */
  flag: PaymentFlag | null;
};

export type PaymentAccount = {
  /** At Stripe */
  account_id: string;
  livemode: boolean;
  can_charge: boolean;
  /** What Stripe still wants to know, in its words */
  missing: string[];
  /** When Stripe was asked last; null: not yet */
  checked_at: Instant | null;
};

export type OrderedProducts = {
  product_id: string;
  quantity: number;
}[];

export type PlaceOrderArgs = {
  professional_id: string;
  items: OrderedProducts;
  client_name?: string | null;
  client_email?: string | null;
  client_phone?: string | null;
  notes?: string | null;
  shipping_address?: JsonObject | null;
  expected_total?: number | null;
  idempotency_key?: string | null;
  language?: Language | null;
};

export type OrderReceipt = {
  /** The order's, for the checkout route. */
  id: string;
  /** Whose order it is. */
  professional_id: string;
  /** 1, 2, 3 … per professional: what people call the order. */
  number: number;
  /** product or service: what its lines are. */
  kind: OrderKind;
  /** As in orders.status; pending also for a hold, which expires_at tells apart. */
  status: OrderStatus;
  /** unpaid, partially_paid, paid, partially_refunded, refunded: follows the amounts. */
  payment_status: PaymentStatus;
  /**
   * Lines as ordered: product_id or service_id, name, sku, options, unit_price, quantity, total.
   */
  items: OrderLine[];
  /** Sum of the lines. */
  subtotal: number;
  /** What the professional took off. */
  discount: number;
  /** Rounded once for the whole order; part of the subtotal where prices include tax. */
  tax: number;
  /** What is to be paid in all. */
  total: number;
  /** Sum of the payments recorded; refunds are not taken off. */
  amount_paid: number;
  /** Sum of what went back. */
  amount_refunded: number;
  /** ISO 4217 code of every amount here: the professional's when it was ordered. */
  currency: string;
  /** Rises on every real change. */
  version: number;
  /** When it was placed. */
  created_at: Instant;
  /**
   * Of a hold: until when it has to be confirmed by the link that was mailed, or paid. Null unless
   * it is one.
   */
  expires_at: Instant | null;
  /**
   * What opens a payment page to whoever has it (POST /functions/v1/payments/checkout); null unless
   * the order was a hold for its payment and something is due.
   */
  checkout_token: string | null;
  /** For how much that page is, in currency; null with checkout_token. */
  amount_due: number | null;
};

export type QuoteOrderArgs = {
  professional_id: string;
  items: OrderedProducts;
};

export type OrderQuote = {
  /** Lines in the order given: product_id, name, sku, options, unit_price, quantity, total. */
  items: ProductLine[];
  /** Sum of the lines. */
  subtotal: number;
  /** 0: only the professional takes something off. */
  discount: number;
  /** tax_rate percent of the subtotal, rounded once; part of it where prices include tax. */
  tax: number;
  /** What place_order would charge, and takes as expected_total. */
  total: number;
  /** ISO 4217 code of every amount here: the professional's. */
  currency: string;
};

export type RecordPaymentArgs = {
  order_id: string;
  amount: number;
  method: string;
  reference?: string | null;
};

export type PaymentReceipt = {
  /** The entry, as order_payments shows it. */
  payment: OrderPayment;
  /** The order after it, as place_order answers. */
  order: OrderReceipt;
};

export type RedeliverWebhookArgs = {
  delivery_id: string;
};

export type RedeliverWebhookAnswer = {
  /** How many deliveries */
  queued: number;
};

export type RedeliverWebhooksArgs = {
  endpoint_id: string;
  since: Instant;
};

export type RedeliverWebhooksAnswer = {
  /** How many deliveries */
  queued: number;
};

export type RefundPaymentArgs = {
  order_id: string;
  amount: number;
  reason?: string | null;
  reference?: string | null;
};

export type RequestAccountDeletionArgs = {
  confirmation?: string | null;
};

/** How many rows of each kind go with an account */
export type AccountContents = {
  clients: number;
  services: number;
  products: number;
  bookings: number;
  orders: number;
  payments: number;
};

export type AccountDeletion = {
  account_id: string;
  goes: AccountContents;
};

export type RequestAddressConfirmationAnswer = {
  /** false: the mail is on its way */
  confirmed: boolean;
};

export type RescheduleBookingArgs = {
  booking_id: string;
  starts_at: Instant;
};

export type RevokeApiKeyArgs = {
  key_id: string;
};

export type RevokeApiKeyAnswer = {
  id: string;
};

export type RevokeApiKeysAnswer = {
  /** How many */
  revoked: number;
};

export type RotateWebhookSecretArgs = {
  endpoint_id: string;
  grace?: number;
};

export type SyncBusyCalendarArgs = {
  calendar_id: string;
};

export type TestWebhookEndpointArgs = {
  endpoint_id: string;
};

export type TestWebhookEndpointAnswer = {
  /** How many deliveries */
  queued: number;
};

export type UpdateGoogleConnectionArgs = {
  push?: boolean | null;
  busy?: boolean | null;
};

export type WebhookEndpointChanges = {
  url?: string;
  events?: EventFilter[];
  description?: string | null;
  enabled?: boolean;
};

export type UpdateWebhookEndpointArgs = {
  endpoint_id: string;
  changes: WebhookEndpointChanges;
};

export type WebhookEndpoint = {
  id: string;
  url: string;
  events: EventFilter[];
  description: string | null;
  enabled: boolean;
  /** gone: it answered 410; failing: no success in five days; null while enabled */
  disabled_reason: "owner" | "gone" | "failing" | null;
  created_at: Instant;
};

export type WebhookAttemptsArgs = {
  delivery_id: string;
};

export type WebhookAttempt = {
  started_at: Instant;
  /** null while it runs, or when its end was never told */
  duration_ms: number | null;
  /** HTTP; null without an answer */
  status: number | null;
  /** Its beginning */
  response: string | null;
  /** What went wrong before there was an answer */
  error: string | null;
};

export type WebhookDeliveriesArgs = {
  endpoint_id?: string | null;
  status?: string | null;
  cursor?: string | null;
  page_size?: number;
};

export type WebhookDelivery = {
  id: string;
  endpoint_id: string;
  event_id: string;
  type: EventType;
  status: DeliveryStatus;
  attempts: number;
  /** null unless pending */
  next_attempt_at: Instant | null;
  /** HTTP; null: there was no answer yet */
  last_status: number | null;
  created_at: Instant;
};

export type WebhookEndpointArgs = {
  endpoint_id: string;
};

export type WebhookEventsArgs = {
  after?: number | null;
  type?: string | null;
  page_size?: number;
};

export type EventBooking = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  client_id: string;
  service_id: string;
  service_name: string;
  starts_at: Instant;
  ends_at: Instant;
  /** Minutes */
  buffer_before: number;
  /** Minutes */
  buffer_after: number;
  /** Minutes */
  cancellation_notice: number;
  status: BookingStatus;
  /** In the currency of the row, exact */
  price: number;
  /** ISO 4217 */
  currency: string;
  /** The client sees these */
  notes: string | null;
  internal_notes: string | null;
  source: Source;
  cancel_reason: string | null;
  cancelled_at: Instant | null;
  cancelled_by: CancelledBy | null;
  /** What has an expiry is no booking yet, and nobody is told of it */
  expires_at: null;
  checkout_open: false;
  /** The link in its own mail was opened */
  email_confirmed_at: Instant | null;
  /** Rises with every change of the row */
  version: number;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type BookingCreatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "booking.created";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventBooking;
  previous: null;
};

export type EventBookingPrevious = {
  client_id?: string;
  service_id?: string;
  service_name?: string;
  starts_at?: Instant;
  ends_at?: Instant;
  buffer_before?: number;
  buffer_after?: number;
  cancellation_notice?: number;
  status?: BookingStatus;
  price?: number;
  currency?: string;
  notes?: string | null;
  internal_notes?: string | null;
  source?: Source;
  cancel_reason?: string | null;
  cancelled_at?: Instant | null;
  cancelled_by?: CancelledBy | null;
  expires_at?: null;
  checkout_open?: false;
  email_confirmed_at?: Instant | null;
  metadata?: JsonObject;
};

export type BookingConfirmedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "booking.confirmed";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventBooking;
  previous: EventBookingPrevious | null;
};

export type BookingRescheduledEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "booking.rescheduled";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventBooking;
  previous: EventBookingPrevious | null;
};

export type BookingCancelledEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "booking.cancelled";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventBooking;
  previous: EventBookingPrevious | null;
};

export type BookingCompletedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "booking.completed";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventBooking;
  previous: EventBookingPrevious | null;
};

export type BookingNoShowEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "booking.no_show";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventBooking;
  previous: EventBookingPrevious | null;
};

export type BookingUpdatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "booking.updated";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventBooking;
  previous: EventBookingPrevious | null;
};

export type EventLine = {
  product_id?: string;
  service_id?: string;
  name: string;
  sku: string | null;
  /** What tells a variant apart: {"size": "M"} */
  options: JsonObject;
  /** In the currency of the row, exact */
  unit_price: number;
  quantity: number;
  /** In the currency of the row, exact */
  total: number;
};

export type EventOrder = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  client_id: string;
  number: number;
  kind: OrderKind;
  booking_id: string | null;
  items: EventLine[];
  /** In the currency of the row, exact */
  subtotal: number;
  /** In the currency of the row, exact */
  discount: number;
  /** In the currency of the row, exact */
  tax: number;
  /** In the currency of the row, exact */
  total: number;
  /** What had to be paid first; null: all of it */
  deposit: number | null;
  /** ISO 4217 */
  currency: string;
  status: OrderStatus;
  /** In the currency of the row, exact */
  amount_paid: number;
  /** In the currency of the row, exact */
  amount_refunded: number;
  payment_status: PaymentStatus;
  shipping_address: JsonObject | null;
  /** The client sees these */
  notes: string | null;
  internal_notes: string | null;
  source: Source;
  /** What has an expiry is no order yet, and nobody is told of it */
  expires_at: null;
  /** While pending: a payment page may be open */
  checkout_open: boolean;
  /** The link in its own mail was opened */
  email_confirmed_at: Instant | null;
  /** Rises with every change of the row */
  version: number;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type OrderCreatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "order.created";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventOrder;
  previous: null;
};

export type EventOrderPrevious = {
  client_id?: string;
  number?: number;
  kind?: OrderKind;
  booking_id?: string | null;
  items?: EventLine[];
  subtotal?: number;
  discount?: number;
  tax?: number;
  total?: number;
  deposit?: number | null;
  currency?: string;
  status?: OrderStatus;
  amount_paid?: number;
  amount_refunded?: number;
  payment_status?: PaymentStatus;
  shipping_address?: JsonObject | null;
  notes?: string | null;
  internal_notes?: string | null;
  source?: Source;
  expires_at?: null;
  checkout_open?: boolean;
  email_confirmed_at?: Instant | null;
  metadata?: JsonObject;
};

export type OrderConfirmedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "order.confirmed";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventOrder;
  previous: EventOrderPrevious | null;
};

export type OrderFulfilledEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "order.fulfilled";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventOrder;
  previous: EventOrderPrevious | null;
};

export type OrderCancelledEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "order.cancelled";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventOrder;
  previous: EventOrderPrevious | null;
};

export type OrderUpdatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "order.updated";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventOrder;
  previous: EventOrderPrevious | null;
};

export type EventPayment = {
  id: string;
  kind: PaymentKind;
  /** In the currency of the row, exact */
  amount: number;
  /** null but for a payment */
  method: string | null;
  reference: string | null;
  reason: string | null;
  created_at: Instant;
  provider: PaymentProvider;
  /** What should be looked at */
  flag: PaymentFlag | null;
  order: {
    id: string;
    number: number;
    /** ISO 4217 */
    currency: string;
    payment_status: PaymentStatus;
  };
};

export type PaymentSucceededEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "payment.succeeded";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventPayment;
  previous: null;
};

export type PaymentRefundedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "payment.refunded";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventPayment;
  previous: null;
};

export type PaymentRefundReversedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "payment.refund_reversed";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventPayment;
  previous: null;
};

export type EventFailedRefund = {
  id: string;
  kind: PaymentKind;
  /** In the currency of the row, exact */
  amount: number;
  /** null but for a payment */
  method: string | null;
  reference: string | null;
  reason: string | null;
  created_at: Instant;
  provider: PaymentProvider;
  /** What should be looked at */
  flag: PaymentFlag | null;
  order: {
    id: string;
    number: number;
    /** ISO 4217 */
    currency: string;
    payment_status: PaymentStatus;
  };
  /** What of the payment should have gone back by itself */
  refund: {
    /** In the currency of the row, exact */
    amount: number;
    /** Why it should have gone back */
    cause: "cancelled" | "overpaid" | "late";
    /** In the provider's words */
    failure: string | null;
  };
};

export type PaymentRefundFailedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "payment.refund_failed";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventFailedRefund;
  previous: null;
};

export type PaymentDisputedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "payment.disputed";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventPayment;
  previous: null;
};

export type PaymentDisputeReversedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "payment.dispute_reversed";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventPayment;
  previous: null;
};

export type EventClient = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  name: string;
  email: string | null;
  phone: string | null;
  notes: string | null;
  tags: string[];
  archived: boolean;
  /** Yours: nothing reads it */
  metadata: JsonObject;
  /** Of mails; null: the professional's */
  language: Language | null;
  /** Whether the client wants reminders */
  reminders: boolean;
  mail_status: "ok" | "undeliverable";
  /** Rises when portal sessions of the client end for good */
  link_epoch: number;
  /** The e-mail address in the form it is compared in */
  email_key: string | null;
};

export type ClientCreatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "client.created";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventClient;
  previous: null;
};

export type EventClientPrevious = {
  name?: string;
  email?: string | null;
  phone?: string | null;
  notes?: string | null;
  tags?: string[];
  archived?: boolean;
  metadata?: JsonObject;
  language?: Language | null;
  reminders?: boolean;
  mail_status?: "ok" | "undeliverable";
  link_epoch?: number;
  email_key?: string | null;
};

export type ClientUpdatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "client.updated";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventClient;
  previous: EventClientPrevious | null;
};

export type ClientDeletedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "client.deleted";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventClient;
  previous: null;
};

export type EventProduct = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  /** Of a variant: the product it is one of */
  parent_id: string | null;
  name: string;
  description: string | null;
  category: string | null;
  image_url: string | null;
  sku: string | null;
  /** What tells a variant apart: {"size": "M"} */
  options: JsonObject;
  /** In the currency of the row, exact */
  price: number;
  /** null: not tracked */
  stock: number | null;
  low_stock_at: number | null;
  /** Of a product with variants: whether any active one is */
  in_stock: boolean;
  active: boolean;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type ProductCreatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "product.created";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventProduct;
  previous: null;
};

export type EventProductPrevious = {
  parent_id?: string | null;
  name?: string;
  description?: string | null;
  category?: string | null;
  image_url?: string | null;
  sku?: string | null;
  options?: JsonObject;
  price?: number;
  stock?: number | null;
  low_stock_at?: number | null;
  in_stock?: boolean;
  active?: boolean;
  metadata?: JsonObject;
};

export type ProductUpdatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "product.updated";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventProduct;
  previous: EventProductPrevious | null;
};

export type ProductDeletedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "product.deleted";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventProduct;
  previous: null;
};

export type ProductLowStockEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "product.low_stock";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventProduct;
  previous: EventProductPrevious | null;
};

export type ProductOutOfStockEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "product.out_of_stock";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventProduct;
  previous: EventProductPrevious | null;
};

export type EventService = {
  id: string;
  created_at: Instant;
  updated_at: Instant;
  professional_id: string;
  name: string;
  description: string | null;
  category: string | null;
  image_url: string | null;
  /** In the currency of the row, exact */
  price: number;
  payment: ServicePayment;
  /** Where payment is deposit */
  deposit: number | null;
  /** Minutes */
  duration: number;
  /** Minutes */
  buffer_before: number;
  /** Minutes */
  buffer_after: number;
  slot_step: number | null;
  /** Minutes */
  min_notice: number;
  max_advance_days: number;
  /** Minutes */
  cancellation_notice: number;
  requires_confirmation: boolean;
  active: boolean;
  /** A text, or a https link */
  location: string | null;
  instructions: string | null;
  /** Yours: nothing reads it */
  metadata: JsonObject;
};

export type ServiceCreatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "service.created";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventService;
  previous: null;
};

export type EventServicePrevious = {
  name?: string;
  description?: string | null;
  category?: string | null;
  image_url?: string | null;
  price?: number;
  payment?: ServicePayment;
  deposit?: number | null;
  duration?: number;
  buffer_before?: number;
  buffer_after?: number;
  slot_step?: number | null;
  min_notice?: number;
  max_advance_days?: number;
  cancellation_notice?: number;
  requires_confirmation?: boolean;
  active?: boolean;
  location?: string | null;
  instructions?: string | null;
  metadata?: JsonObject;
};

export type ServiceUpdatedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "service.updated";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventService;
  previous: EventServicePrevious | null;
};

export type ServiceDeletedEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "service.deleted";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventService;
  previous: null;
};

export type EventUndeliverable = {
  reason: "bounced" | "complained" | "suppressed";
  mail: {
    id: string;
    /** Such as booking_confirmed */
    kind: string;
    booking_id: string | null;
    order_id: string | null;
  };
  client: {
    id: string;
    name: string;
    email: string;
  };
};

export type MailUndeliverableEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "mail.undeliverable";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventUndeliverable;
  previous: null;
};

export type EventTest = {
  endpoint_id: string;
};

export type WebhookTestEvent = {
  /** The same on every try and in the header webhook-id */
  id: string;
  type: "webhook.test";
  timestamp: Instant;
  /** Of this format */
  version: 1;
  professional_id: string;
  /** Later changes of a professional have higher numbers */
  sequence: number;
  data: EventTest;
  previous: null;
};

export type WebhookEvent =
  | BookingCreatedEvent
  | BookingConfirmedEvent
  | BookingRescheduledEvent
  | BookingCancelledEvent
  | BookingCompletedEvent
  | BookingNoShowEvent
  | BookingUpdatedEvent
  | OrderCreatedEvent
  | OrderConfirmedEvent
  | OrderFulfilledEvent
  | OrderCancelledEvent
  | OrderUpdatedEvent
  | PaymentSucceededEvent
  | PaymentRefundedEvent
  | PaymentRefundReversedEvent
  | PaymentRefundFailedEvent
  | PaymentDisputedEvent
  | PaymentDisputeReversedEvent
  | ClientCreatedEvent
  | ClientUpdatedEvent
  | ClientDeletedEvent
  | ProductCreatedEvent
  | ProductUpdatedEvent
  | ProductDeletedEvent
  | ProductLowStockEvent
  | ProductOutOfStockEvent
  | ServiceCreatedEvent
  | ServiceUpdatedEvent
  | ServiceDeletedEvent
  | MailUndeliverableEvent
  | WebhookTestEvent;

export type NextStarts = {
  /** The next free starts, at most three */
  next_starts: Instant[];
};

export type RetryAfter = {
  /** Seconds */
  retry_after: number;
};

/** By code: what `details` holds once it is parsed. Null where there is nothing to say. */
export type ErrorDetails = {
  slot_taken: NextStarts | null;
  busy: NextStarts | RetryAfter | null;
  not_accepting: NextStarts | null;
  inactive: NextStarts | null;
  past: NextStarts | null;
  too_soon: NextStarts | null;
  too_far: NextStarts | null;
  closed_date: NextStarts | null;
  outside_hours: NextStarts | null;
  not_on_grid: NextStarts | null;
  too_late: string | null;
  too_many_open: string | null;
  hold_expired: string | null;
  ends_at_required: string | null;
  links_not_configured: string | null;
  invalid_availability: string | null;
  insufficient_stock:
    | {
        product_id: string;
        requested: number;
        available?: number;
      }[]
    | null;
  total_changed: {
    /** In the currency of the row, exact */
    expected_total: number;
    /** In the currency of the row, exact */
    total: number;
  } | null;
  product_unavailable: {
    product_ids: string[];
  } | null;
  service_unavailable: {
    service_ids: string[];
  } | null;
  invalid_items: {
    /** Of the line, from 0; null: the list as a whole */
    index: number | null;
    problem: string;
  } | null;
  unexpected_field: {
    /** Of the line, from 0; null: the list as a whole */
    index: number | null;
    fields: string[];
  } | null;
  too_many_decimals: {
    amount: number;
    decimals: number;
  } | null;
  total_too_large: string | null;
  booking_is_cancelled: string | null;
  booking_is_blocked_time: string | null;
  currency_in_use: string | null;
  variant_of_variant: string | null;
  stock_changed: {
    stock: number | null;
  } | null;
  stock_not_tracked: string | null;
  stock_too_large: string | null;
  reason_required: string | null;
  delta_required: string | null;
  exceeds_total: {
    /** In the currency of the row, exact */
    due: number;
  } | null;
  refund_exceeds_paid: {
    /** In the currency of the row, exact */
    refundable: number;
  } | null;
  reference_reused: string | null;
  invalid_amount: string | null;
  method_required: string | null;
  payments_unavailable: string | null;
  amount_not_payable: {
    /** In the currency of the row, exact */
    amount: number;
    /** ISO 4217 */
    currency: string;
  } | null;
  nothing_due: string | null;
  payment_disputed: string | null;
  refund_exceeds_payment: {
    /** In the currency of the row, exact */
    refundable: number;
  } | null;
  not_a_provider_payment: string | null;
  refund_refused: {
    /** Stripe's code */
    reason: string;
  } | null;
  return_url_not_allowed: {
    field: string;
    reason: "not_a_url" | "not_https" | "user_info_not_allowed" | "path_not_plain" | "not_listed";
  } | null;
  invalid_signature: string | null;
  payment_provider_unavailable: string | null;
  payments_not_configured: string | null;
  session_not_found: string | null;
  invalid_token: string | null;
  invalid_api_key: string | null;
  forbidden: string | null;
  key_is_read_only: string | null;
  person_required: string | null;
  unknown_role: string | null;
  recent_sign_in_required: string | null;
  confirmation_required: {
    confirmation: string;
    goes: AccountContents;
  } | null;
  invalid_otp: string | null;
  invalid_link: string | null;
  too_many_keys: string | null;
  signing_key_not_accepted: {
    /** What the Data API said */
    code: string;
  } | null;
  url_not_allowed: {
    reason:
      | "not_a_url"
      | "not_https"
      | "port_not_allowed"
      | "user_info_not_allowed"
      | "host_not_public"
      | "host_not_found";
  } | null;
  too_many_endpoints: string | null;
  too_many_secrets: string | null;
  endpoint_disabled: string | null;
  cursor_expired: string | null;
  too_many_calendars: string | null;
  too_many_feeds: string | null;
  scope_missing: string | null;
  grant_refused: string | null;
  google_unavailable: string | null;
  calendar_not_configured: string | null;
  validation_failed: {
    fields: string[] | { [key: string]: string };
  } | null;
  invalid_json: string | null;
  unsupported_media_type: string | null;
  payload_too_large: string | null;
  method_not_allowed: string | null;
  not_found: string | null;
  PGRST301: string | null;
  internal_error: {
    request_id: string;
  } | null;
  invalid_time: string | null;
  invalid_date: string | null;
  invalid_range: string | null;
  range_too_long: string | null;
  invalid_idempotency_key: string | null;
  idempotency_key_reused: string | null;
  invalid_transition: {
    /** null: of what is only made */
    from: string | null;
    to: string;
  } | null;
  rate_limit_exceeded: RetryAfter | null;
  too_many_connections: RetryAfter | null;
  count_not_allowed: string | null;
  too_many_rows: {
    most: number;
  } | null;
  "23514": string | null;
  "23502": string | null;
  "23503": string | null;
  "23505": string | null;
  "42501": string | null;
  "428C9": string | null;
  "22P02": string | null;
  "22003": string | null;
  "22007": string | null;
  "22021": string | null;
  "22P05": string | null;
  "22023": string | null;
  "21000": string | null;
  "42601": string | null;
  "42703": string | null;
  "42846": string | null;
  "42883": string | null;
  "55P03": string | null;
  "57014": string | null;
  PGRST000: string | null;
  PGRST002: string | null;
  PGRST003: string | null;
  PGRST100: string | null;
  PGRST101: string | null;
  PGRST102: string | null;
  PGRST103: string | null;
  PGRST105: string | null;
  PGRST106: string | null;
  PGRST107: string | null;
  PGRST108: string | null;
  PGRST114: string | null;
  PGRST115: string | null;
  PGRST116: string | null;
  PGRST118: string | null;
  PGRST120: string | null;
  PGRST122: string | null;
  PGRST123: string | null;
  PGRST124: string | null;
  PGRST125: string | null;
  PGRST200: string | null;
  PGRST201: string | null;
  PGRST202: string | null;
  PGRST204: string | null;
  PGRST205: string | null;
  PGRST303: string | null;
  uri_too_long: string | null;
  NOT_FOUND: string | null;
  BOOT_ERROR: string | null;
  WORKER_ERROR: string | null;
  invalid_credentials: string | null;
  user_already_exists: string | null;
  email_exists: string | null;
  weak_password: string | null;
  same_password: string | null;
  reauthentication_needed: string | null;
  bad_json: string | null;
  anonymous_provider_disabled: string | null;
  refresh_token_already_used: string | null;
  refresh_token_not_found: string | null;
  session_expired: string | null;
  bad_jwt: string | null;
  no_authorization: string | null;
  otp_expired: string | null;
  bad_code_verifier: string | null;
  flow_state_not_found: string | null;
  flow_state_expired: string | null;
  identity_already_exists: string | null;
  manual_linking_disabled: string | null;
  single_identity_not_deletable: string | null;
  user_banned: string | null;
  user_not_found: string | null;
  not_admin: string | null;
  over_request_rate_limit: string | null;
  over_email_send_rate_limit: string | null;
  unexpected_failure: string | null;
};

/** Every code that an answer may have. */
export type ErrorCode = keyof ErrorDetails;

export type PortalCodeSent = {
  message: string;
  /** Seconds that a code opens */
  expires_in: number;
};

export type PortalCodeRequest = {
  email: number | string;
  professionalId: string;
};

export type PortalSession = {
  /** For `Authorization`, as Bearer */
  access_token: string;
  token_type: "bearer";
  /** Seconds */
  expires_in: number;
  /** Unix seconds */
  expires_at: number;
  professional: {
    id: string;
    full_name: string;
    username: string;
    /** IANA name of a time zone: Europe/Rome */
    time_zone: string;
    /** ISO 4217 */
    currency: string;
  };
  client: {
    id: string;
    name: string;
    email: string;
  };
};

export type PortalSignIn = {
  email: number | string;
  code: string;
  professionalId: string;
};

/** Of one booking: it sees no other */
export type BookingSession = {
  /** For `Authorization`, as Bearer */
  access_token: string;
  token_type: "bearer";
  /** Seconds */
  expires_in: number;
  /** Unix seconds */
  expires_at: number;
  professional: {
    id: string;
    full_name: string;
    username: string;
    /** IANA name of a time zone: Europe/Rome */
    time_zone: string;
    /** ISO 4217 */
    currency: string;
  };
  client: {
    id: string;
    name: string;
  };
};

/** What is behind the = in the fragment of a link */
export type MailedLink = {
  token: string;
};

export type VerifyPortalOtpConfirmAnswer =
  | {
      kind: "booking";
      booking: BookingReceipt;
      order: null;
    }
  | {
      kind: "order";
      booking: null;
      order: OrderReceipt;
    };

export type OnboardingPage = {
  /** A page of Stripe; works once */
  url: string;
  expires_at: Instant;
};

export type Onboarding = {
  return_url: string;
  refresh_url?: string;
  country?: string;
};

export type CheckoutPage = {
  /** A page of Stripe, where people pay */
  url: string;
  /** What is due now */
  amount: number;
  /** ISO 4217 */
  currency: string;
  expires_at: Instant;
};

export type Checkout = {
  order_id: string;
  token?: string;
  success_url: string;
  cancel_url: string;
};

export type MadeRefund = {
  refund_id: string;
  /** In the currency of the row, exact */
  amount: number;
  status: "succeeded";
};

/** Asked for again it would be another refund */
export type RefundOnItsWay = {
  refund_id: string;
  /** In the currency of the row, exact */
  amount: number;
  /** due: Stripe has not answered, it goes on by itself; the others are Stripe's */
  status: "due" | "pending" | "requires_action" | "failed" | "canceled";
};

export type NewRefund = {
  payment_id: string;
  amount?: number;
  reason?: string;
};

export type NewBusyCalendar = {
  url: string;
  name?: string | null;
};

export type NewGoogleConnection = {
  refresh_token: string;
};

export type GoogleSwitches = {
  push?: boolean;
  busy?: boolean;
};

export type GoogleDisconnected = {
  /** Whether Google has ended the grant; false: do it there */
  revoked: boolean;
};

export type NewWebhookEndpoint = {
  url: string;
  events: EventFilter[];
  description?: string | null;
  enabled?: boolean;
};

export type WebhookEndpointPatch = {
  url?: string;
  events?: EventFilter[];
  description?: string | null;
  enabled?: boolean;
};

export type SecretRotation = {
  grace?: number;
};

export type WebhooksEndpointsTestAnswer = {
  /** How many deliveries */
  queued: number;
};

export type WebhookRedelivery = {
  since: string;
};

export type WebhooksEndpointsRedeliverAnswer = {
  /** How many deliveries */
  queued: number;
};

export type WebhookDeliveriesQuery = {
  endpoint_id?: string;
  status?: DeliveryStatus;
  cursor?: string;
  /** Rows of a page */
  limit?: number;
};

export type WebhooksDeliveriesRedeliverAnswer = {
  /** How many deliveries */
  queued: number;
};

export type WebhookEventsQuery = {
  /** `sequence` of the last event that is known, or `next_cursor` as a number */
  after?: number;
  type?: EventType;
  /** Rows of a page */
  limit?: number;
};

export type PostMailUnsubscribeQuery = {
  /** The token of a reminder */
  t: string;
};

export type GetMailUnsubscribeQuery = {
  /** The token of a reminder */
  t: string;
};

export type AddressConfirmation = {
  token: string;
};

export type ProgramToken = {
  access_token: string;
  token_type: "bearer";
  /** Seconds */
  expires_in: number;
};

export type AccountDeleted = {
  deleted: true;
  goes: AccountContents;
};

/** Done in a minute or two */
export type AccountDeletionBegun = {
  deleted: false;
  goes: AccountContents;
};

export type AccountDeletionBody = {
  confirmation?: string;
};

/** The routes of the functions, behind /functions/v1: what each takes and answers with. */
export type Routes = {
  /** Mails a code of six digits to a client; answers everybody the same. For everybody. */
  "POST /send-portal-otp": {
    body: PortalCodeRequest;
    answer: PortalCodeSent;
  };
  /** A code for a session of an hour. For whoever got the code. */
  "POST /verify-portal-otp": {
    body: PortalSignIn;
    answer: PortalSession;
  };
  /**
   * The token of a link for a session for that booking. For whoever has the link of a booking
   * (`#manage=`).
   */
  "POST /verify-portal-otp/link": {
    body: MailedLink;
    answer: BookingSession;
  };
  /**
   * Ends the hold of a booking or order: what it became. For whoever has the link of a hold
   * (`#confirm=`).
   */
  "POST /verify-portal-otp/confirm": {
    body: MailedLink;
    answer: VerifyPortalOtpConfirmAnswer;
  };
  /**
   * Ends the session of the token, also the second time. For a portal client, or whoever opened a
   * booking's link.
   */
  "POST /verify-portal-otp/sign-out": {
    answer: undefined;
  };
  /**
   * A page of Stripe where the professional says what Stripe has to know. For the professional, not
   * with a key.
   */
  "POST /payments/account": {
    body: Onboarding;
    answer: OnboardingPage;
  };
  /**
   * The account as Stripe knows it now. For the professional, or a program with a key that may
   * write.
   */
  "GET /payments/account": {
    answer: PaymentAccount;
  };
  /** Lets the account go, here: nobody can pay any more. For the professional, not with a key. */
  "DELETE /payments/account": {
    answer: undefined;
  };
  /**
   * The page on which what is due now is paid; asked again, the same. For whoever has the receipt's
   * `checkout_token`; else the professional, the portal client or the booking's link.
   */
  "POST /payments/checkout": {
    body: Checkout;
    answer: CheckoutPage;
  };
  /**
   * Gives a payment back, or some of it; 202 is on its way. For the professional, or a program with
   * a key that may write.
   */
  "POST /payments/refunds": {
    body: NewRefund;
    answer: MadeRefund | RefundOnItsWay;
  };
  /**
   * Bookings and blocked time, for calendar programs; 304 when nothing has changed. For whoever has
   * the address of the feed.
   */
  "GET /calendar/feed/{token}.ics": {
    answer: string;
  };
  /** The same without the body. For whoever has the address of the feed. */
  "HEAD /calendar/feed/{token}.ics": {
    answer: undefined;
  };
  /** Calendars elsewhere that block starts. For the professional, or a program with a key. */
  "GET /calendar/busy": {
    answer: List<BusyCalendar>;
  };
  /** Adds one, by its secret address. For the professional, not with a key. */
  "POST /calendar/busy": {
    body: NewBusyCalendar;
    answer: BusyCalendar;
  };
  /**
   * Removes one, with the times it blocks. For the professional, or a program with a key that may
   * write.
   */
  "DELETE /calendar/busy/{id}": {
    answer: undefined;
  };
  /**
   * Reads one again, within seconds. For the professional, or a program with a key that may write.
   */
  "POST /calendar/busy/{id}/sync": {
    answer: BusyCalendar;
  };
  /** The state of Google Calendar. For the professional, or a program with a key. */
  "GET /calendar/google": {
    answer: GoogleConnection;
  };
  /**
   * Connects it, by the refresh token of a sign-in at Google. For the professional, not with a key.
   */
  "POST /calendar/google": {
    body: NewGoogleConnection;
    answer: ConnectedGoogle;
  };
  /**
   * Switches what goes there, and what is read from there. For the professional, or a program with
   * a key that may write.
   */
  "PATCH /calendar/google": {
    body: GoogleSwitches;
    answer: ConnectedGoogle;
  };
  /** Disconnects it, and ends the grant at Google. For the professional, not with a key. */
  "DELETE /calendar/google": {
    answer: GoogleDisconnected;
  };
  /** All endpoints. For the professional, or a program with a key. */
  "GET /webhooks/endpoints": {
    answer: List<WebhookEndpoint>;
  };
  /** Makes an endpoint; its secret is shown this once. For the professional, not with a key. */
  "POST /webhooks/endpoints": {
    body: NewWebhookEndpoint;
    answer: WebhookEndpointWithSecret;
  };
  /** One endpoint. For the professional, or a program with a key. */
  "GET /webhooks/endpoints/{id}": {
    answer: WebhookEndpoint;
  };
  /**
   * Changes what is given; also enables and disables. For the professional, or a program with a key
   * that may write; another url: not with a key.
   */
  "PATCH /webhooks/endpoints/{id}": {
    body: WebhookEndpointPatch;
    answer: WebhookEndpoint;
  };
  /**
   * Deletes an endpoint, with its deliveries. For the professional, or a program with a key that
   * may write.
   */
  "DELETE /webhooks/endpoints/{id}": {
    answer: undefined;
  };
  /**
   * A new secret; the old one goes on signing for a while. For the professional, not with a key.
   */
  "POST /webhooks/endpoints/{id}/rotate-secret": {
    body: SecretRotation;
    answer: WebhookEndpointWithSecret;
  };
  /** Sends `webhook.test`. For the professional, or a program with a key that may write. */
  "POST /webhooks/endpoints/{id}/test": {
    answer: WebhooksEndpointsTestAnswer;
  };
  /**
   * Sends again what has failed since an instant. For the professional, or a program with a key
   * that may write.
   */
  "POST /webhooks/endpoints/{id}/redeliver": {
    body: WebhookRedelivery;
    answer: WebhooksEndpointsRedeliverAnswer;
  };
  /** What was sent, newest first. For the professional, or a program with a key. */
  "GET /webhooks/deliveries": {
    query: WebhookDeliveriesQuery;
    answer: Page<WebhookDelivery>;
  };
  /**
   * Every try of a delivery, and what was answered. For the professional, or a program with a key.
   */
  "GET /webhooks/deliveries/{id}/attempts": {
    answer: List<WebhookAttempt>;
  };
  /** Sends one again. For the professional, or a program with a key that may write. */
  "POST /webhooks/deliveries/{id}/redeliver": {
    answer: WebhooksDeliveriesRedeliverAnswer;
  };
  /**
   * All events of the last 30 days, oldest first. For the professional, or a program with a key.
   */
  "GET /webhooks/events": {
    query: WebhookEventsQuery;
    answer: Page<WebhookEvent>;
  };
  /**
   * No more reminders; also the second time. For whoever got the reminder: the mail program (RFC
   * 8058), or the portal's page.
   */
  "POST /mail/unsubscribe": {
    query: PostMailUnsubscribeQuery;
    answer: undefined;
  };
  /**
   * Leads to the portal's page, which asks and posts; not there without `PORTAL_URL`. For whoever
   * opens that address.
   */
  "GET /mail/unsubscribe": {
    query: GetMailUnsubscribeQuery;
    answer: undefined;
  };
  /**
   * Confirms the account's address: mails go to clients from then on. For whoever has the link of
   * the professional's mail (`#confirm-address=`).
   */
  "POST /mail/confirm-address": {
    body: AddressConfirmation;
    answer: undefined;
  };
  /** A key for an access token of an hour. For a program, with the professional's key as Bearer. */
  "POST /token": {
    answer: ProgramToken;
  };
  /**
   * Deletes the account and all that is in it; without `confirmation`, says what goes. For the
   * professional, not with a key, within ten minutes of signing in.
   */
  "POST /account/delete": {
    body: AccountDeletionBody;
    answer: AccountDeleted | AccountDeletionBegun;
  };
};

export type WebhookEventType = WebhookEvent["type"];

type None = { [_ in never]: never };

/** For `createClient<Database>()` of supabase-js: what users may do, and nothing of servers. */
export type Database = {
  __InternalSupabase: { PostgrestVersion: "14.5" };
  public: {
    Tables: {
      bookings: {
        Row: Booking;
        Insert: BookingInsert;
        Update: BookingUpdate;
        Relationships: [
          {
            foreignKeyName: "bookings_professional_id_client_id_fkey";
            referencedRelation: "clients";
            columns: ["professional_id", "client_id"];
            referencedColumns: ["professional_id", "id"];
            isOneToOne: false;
          },
          {
            foreignKeyName: "bookings_professional_id_fkey";
            referencedRelation: "profiles";
            columns: ["professional_id"];
            referencedColumns: ["id"];
            isOneToOne: false;
          },
          {
            foreignKeyName: "bookings_professional_id_service_id_fkey";
            referencedRelation: "services";
            columns: ["professional_id", "service_id"];
            referencedColumns: ["professional_id", "id"];
            isOneToOne: false;
          },
        ];
      };
      clients: {
        Row: Client;
        Insert: ClientInsert;
        Update: ClientUpdate;
        Relationships: [
          {
            foreignKeyName: "clients_professional_id_fkey";
            referencedRelation: "profiles";
            columns: ["professional_id"];
            referencedColumns: ["id"];
            isOneToOne: false;
          },
        ];
      };
      orders: {
        Row: Order;
        Insert: OrderInsert;
        Update: OrderUpdate;
        Relationships: [
          {
            foreignKeyName: "orders_professional_id_booking_id_fkey";
            referencedRelation: "bookings";
            columns: ["professional_id", "booking_id"];
            referencedColumns: ["professional_id", "id"];
            isOneToOne: false;
          },
          {
            foreignKeyName: "orders_professional_id_client_id_fkey";
            referencedRelation: "clients";
            columns: ["professional_id", "client_id"];
            referencedColumns: ["professional_id", "id"];
            isOneToOne: false;
          },
          {
            foreignKeyName: "orders_professional_id_fkey";
            referencedRelation: "profiles";
            columns: ["professional_id"];
            referencedColumns: ["id"];
            isOneToOne: false;
          },
        ];
      };
      products: {
        Row: Product;
        Insert: ProductInsert;
        Update: ProductUpdate;
        Relationships: [
          {
            foreignKeyName: "products_professional_id_fkey";
            referencedRelation: "profiles";
            columns: ["professional_id"];
            referencedColumns: ["id"];
            isOneToOne: false;
          },
          {
            foreignKeyName: "products_professional_id_parent_id_fkey";
            referencedRelation: "products";
            columns: ["professional_id", "parent_id"];
            referencedColumns: ["professional_id", "id"];
            isOneToOne: false;
          },
        ];
      };
      profiles: {
        Row: Profile;
        Insert: ProfileInsert;
        Update: ProfileUpdate;
        Relationships: [];
      };
      services: {
        Row: Service;
        Insert: ServiceInsert;
        Update: ServiceUpdate;
        Relationships: [
          {
            foreignKeyName: "services_professional_id_fkey";
            referencedRelation: "profiles";
            columns: ["professional_id"];
            referencedColumns: ["id"];
            isOneToOne: false;
          },
        ];
      };
    };
    Views: None;
    Functions: {
      /**
       * Adds delta pieces (negative: takes) to the stock of a product, atomically, with a reason
       * for the ledger. Errors: 404 PGRST301; 409 stock_changed {"stock"} when expected_stock is
       * given and wrong, insufficient_stock below zero; 422 stock_not_tracked, stock_too_large,
       * reason_required, delta_required (also for 0), validation_failed {"fields"}.
       */
      adjust_stock: { Args: AdjustStockArgs; Returns: StockLevel };
      /**
       * Your keys that are not revoked, oldest first: {data: [{id, name, access, created_at,
       * expires_at, last_used_on}], next_cursor: null}. last_used_on is a date in UTC. Errors: 403
       * person_required.
       */
      api_keys: { Args: never; Returns: List<ApiKey> };
      /**
       * Checks stock, lines, totals, payments and numbers of your orders against each other; a row
       * for each thing that does not add up, so normally none.
       */
      audit: { Args: never; Returns: AuditFinding[] };
      /**
       * Does nothing, and may write: the check before each request ends what a revoked key or one
       * that only reads begins. First call of every function route that changes something or
       * reaches outside and has no other such RPC to begin with. Errors: 403 person_required with
       * by_person, unless the caller has signed in.
       */
      authorize_action: { Args: AuthorizeActionArgs; Returns: undefined };
      /**
       * For POST /checkout of the payments function: nothing, when the order may be paid by you.
       * Errors: 404 PGRST301; 422 validation_failed {"fields"}.
       */
      authorize_checkout: { Args: AuthorizeCheckoutArgs; Returns: undefined };
      /**
       * Free starts of a service on local dates (YYYY-MM-DD) of the professional, inclusive, at
       * most 62 days: {time_zone, duration, days: [{date, slots: [{starts_at, ends_at}]}]}.
       * reschedule_of: a booking of yours that moves and does not block. Errors: 404 PGRST301; 422
       * invalid_date, invalid_range, range_too_long, validation_failed.
       */
      available_slots: { Args: AvailableSlotsArgs; Returns: AvailableSlots };
      /**
       * What POST /functions/v1/calendar/busy asks before it looks at an address: whether you may
       * add a busy calendar. {professional_id}. Errors: 403 person_required by key; 422
       * too_many_calendars beyond three; 429 rate_limit_exceeded after thirty in an hour.
       */
      begin_busy_calendar: { Args: never; Returns: BeginBusyCalendarAnswer };
      /**
       * What POST /functions/v1/calendar/google asks before it shows a token to Google.
       * {professional_id}. Errors: 403 person_required; 429 rate_limit_exceeded after twenty in an
       * hour.
       */
      begin_google_connection: { Args: never; Returns: BeginGoogleConnectionAnswer };
      /**
       * What DELETE /functions/v1/calendar/google asks before it revokes anything.
       * {professional_id}. Errors: 403 person_required; 404 PGRST301.
       */
      begin_google_disconnection: { Args: never; Returns: BeginGoogleDisconnectionAnswer };
      /**
       * For POST /refunds of the payments function: {refund_id, status, amount}; all that is left
       * of the payment without an amount. Errors: 404 PGRST301; 409 payment_disputed; 422
       * refund_exceeds_payment {"refundable"}, not_a_provider_payment, amount_not_payable,
       * invalid_amount, too_many_decimals, validation_failed {"fields"}.
       */
      begin_refund: { Args: BeginRefundArgs; Returns: BegunRefund };
      /**
       * The public page of a professional, by username without case and outer space: {professional,
       * services, products}; services when bookings are accepted, products when orders are. Errors:
       * 404 PGRST301 for an unknown username or a professional who accepts neither; 422
       * validation_failed.
       */
      booking_page: { Args: BookingPageArgs; Returns: BookingPage };
      /**
       * Your busy calendars, oldest first: {"data": [{id, name, host, status, error, error_detail,
       * last_synced_at, created_at}], "next_cursor": null}. status is pending, ok or failing;
       * last_synced_at is when it was last read without a fault.
       */
      busy_calendars: { Args: never; Returns: List<BusyCalendar> };
      /**
       * Your calendar feeds, oldest first, without their addresses: {"data": [{id, name, detail,
       * created_at}], "next_cursor": null}.
       */
      calendar_feeds: { Args: never; Returns: List<CalendarFeed> };
      /**
       * Cancels a booking of yours, with the order made with it; cancelling twice returns the same
       * row. What a provider collected goes back, unless the professional says refund false.
       * Errors: 404 PGRST301; 409 invalid_transition; 422 validation_failed {"fields"}; for clients
       * too_late.
       */
      cancel_booking: { Args: CancelBookingArgs; Returns: BookingReceipt | BlockedTimeReceipt };
      /**
       * For POST /account of the payments function: {account_id, attempt_id, email, name};
       * account_id null before there is one, then attempt_id is what it is made under.
       */
      connect_payment_account: { Args: never; Returns: PaymentAccountToMake };
      /**
       * Makes a key for a program of yours; access is read or write, expires_at an instant or null
       * for never. {id, key}: the key is not shown again. Errors: 403 person_required; 422
       * invalid_time; 422 validation_failed; 422 too_many_keys beyond twenty.
       */
      create_api_key: { Args: CreateApiKeyArgs; Returns: CreatedApiKey };
      /**
       * Books a free start of a service for a client, found or made by e-mail. Pending when the
       * service requires confirmation, else confirmed; with profiles.verify_public_email a booking
       * by the public is a hold, pending until expires_at, and becomes that when the link mailed to
       * the client is opened; of a service with a payment a booking of the public or of a portal
       * client is one until order_id is paid with checkout_token. client_name and client_email are
       * required but for a portal client; language (en, it) is kept for a new client. Errors: 404
       * PGRST301; 409 slot_taken, and busy for the professional by whose calendar it is; 422 the
       * reasons of explain_slot, with {"next_starts"} in details, invalid_time, validation_failed
       * {"fields"}, invalid_idempotency_key, idempotency_key_reused, payments_unavailable,
       * amount_not_payable, for portal clients too_many_open; 429 rate_limit_exceeded for too many,
       * or too many tries, by the public.
       */
      create_booking: { Args: CreateBookingArgs; Returns: BookingReceipt };
      /**
       * Makes a feed of your bookings for calendar programs; detail is full (service, client,
       * contact, notes) or busy (only when). Returns {id, path}: the address is the API's with path
       * behind it, opens the feed to whoever knows it, and is not shown again. Errors: 403
       * person_required; 422 validation_failed {"fields"}; 422 too_many_feeds beyond five; 429
       * busy.
       */
      create_calendar_feed: { Args: CreateCalendarFeedArgs; Returns: CreatedCalendarFeed };
      /**
       * Adds an address that events are delivered to; events are *, <object>.* or types. Returns
       * the endpoint with its secret, which is not shown again. Errors: 403 person_required; 422
       * validation_failed with the fields; 422 too_many_endpoints beyond ten.
       */
      create_webhook_endpoint: {
        Args: CreateWebhookEndpointArgs;
        Returns: WebhookEndpointWithSecret;
      };
      /**
       * Deletes a busy calendar of yours; what it blocked is free from then on. Errors: 404
       * PGRST301; 422 validation_failed {"fields"}.
       */
      delete_busy_calendar: { Args: DeleteBusyCalendarArgs; Returns: undefined };
      /**
       * Ends a calendar feed of yours: its address opens nothing from then on. Errors: 404
       * PGRST301; 422 validation_failed {"fields"}.
       */
      delete_calendar_feed: { Args: DeleteCalendarFeedArgs; Returns: undefined };
      /** Deletes an endpoint with its deliveries. Errors: 404 PGRST301. */
      delete_webhook_endpoint: { Args: DeleteWebhookEndpointArgs; Returns: undefined };
      /**
       * Lets your account for payments go: its open payment pages are closed. What it collected
       * stays known.
       */
      detach_payment_account: { Args: never; Returns: DetachPaymentAccountAnswer };
      /**
       * Removes the personal data of a client of yours from everywhere; bookings and orders stay
       * without it. Returns {id}. Errors: 404 PGRST301; 422 validation_failed {"fields"}.
       */
      erase_client: { Args: EraseClientArgs; Returns: EraseClientAnswer };
      /**
       * Whether a start (RFC 3339 with offset) can be booked: {reason, next_starts}. reason is
       * available or why not; next_starts are the next three free starts within 62 days. Errors:
       * 404 PGRST301; 422 invalid_time, validation_failed.
       */
      explain_slot: { Args: ExplainSlotArgs; Returns: SlotExplanation };
      /**
       * Everything that is kept of yours, 500 rows a page: {exported_at, account: {id, email},
       * data: {<table>: [rows]}, next_cursor}. A table with more rows goes on in the next page;
       * account is in the first. Errors: 422 validation_failed {"fields"} for a cursor that none of
       * these pages gave.
       */
      export_account: { Args: ExportAccountArgs; Returns: AccountExport };
      /**
       * Everything that is kept about a client of yours: {exported_at, data: {<table>: [rows]}}.
       * Errors: 404 PGRST301; 422 validation_failed {"fields"}.
       */
      export_client: { Args: ExportClientArgs; Returns: ClientExport };
      /**
       * Your connection with Google Calendar: {status, push, busy, error, last_synced_at,
       * created_at, waiting, refused}. status is none, active or revoked; waiting and refused are
       * how many bookings have still to reach the calendar, and how many it did not take.
       */
      google_connection: { Args: never; Returns: GoogleConnection };
      /**
       * Mails of the last 90 days about a booking, a client or an order of yours, newest first, at
       * most 1000. Of several arguments, those about all of them. Errors: 404 PGRST301; 422
       * validation_failed {"fields"} without any.
       */
      mails: { Args: MailsArgs; Returns: MailRecord[] };
      /**
       * Entries of the ledger of an order, oldest first. Errors: 404 PGRST301; 422
       * validation_failed {"fields"}.
       */
      order_payments: { Args: OrderPaymentsArgs; Returns: OrderPayment[] };
      /** The product a variant belongs to, for embedding. */
      parent: {
        Args: { "": Product };
        Returns: Product;
        SetofOptions: {
          from: "products";
          to: "products";
          isOneToOne: true;
          isSetofReturn: true;
        };
      };
      /**
       * Your account for payments, as Stripe described it last: {account_id, livemode, can_charge,
       * missing, checked_at}; null without one.
       */
      payment_account: { Args: never; Returns: PaymentAccount | null };
      /**
       * Orders products of a professional for a client, found or made by e-mail: lines
       * [{"product_id", "quantity"}], priced here. With profiles.verify_public_email an order by
       * the public is a hold, and keeps its stock until expires_at, until the link mailed to the
       * client is opened; with profiles.orders_need_payment an order of the public or of a portal
       * client is one until it is paid with its checkout_token. client_name and client_email are
       * required but for a portal client; language (en, it) is kept for a new client. Errors: 404
       * PGRST301; 409 insufficient_stock, total_changed when expected_total is given and differs;
       * 422 those of quote_order, invalid_idempotency_key, idempotency_key_reused,
       * payments_unavailable, amount_not_payable, for portal clients too_many_open; 429
       * rate_limit_exceeded for too many, or too many tries, by the public.
       */
      place_order: { Args: PlaceOrderArgs; Returns: OrderReceipt };
      /**
       * What place_order would charge for these lines [{"product_id", "quantity"}] now, without
       * ordering. Errors: 404 PGRST301; 409 insufficient_stock; 422 not_accepting,
       * validation_failed {"fields"}, invalid_items, unexpected_field, product_unavailable,
       * total_too_large.
       */
      quote_order: { Args: QuoteOrderArgs; Returns: OrderQuote };
      /**
       * Records that a client paid. The same reference again is the same payment. A cancelled order
       * stays cancelled. A server may report more than is due, which is marked and can then be
       * refunded. Errors: 404 PGRST301; 409 exceeds_total {"due"} (a professional),
       * reference_reused; 422 invalid_amount, too_many_decimals, method_required, validation_failed
       * {"fields"}.
       */
      record_payment: { Args: RecordPaymentArgs; Returns: PaymentReceipt };
      /**
       * Sends a delivery again, with ten new tries and the same webhook-id: {queued}. Errors: 404
       * PGRST301; 409 endpoint_disabled.
       */
      redeliver_webhook: { Args: RedeliverWebhookArgs; Returns: RedeliverWebhookAnswer };
      /**
       * Sends an endpoint what it has missed since an instant: failed and cancelled deliveries, and
       * events from when it was disabled or not there: {queued}. Errors: 404 PGRST301; 409
       * endpoint_disabled; 422 invalid_time.
       */
      redeliver_webhooks: { Args: RedeliverWebhooksArgs; Returns: RedeliverWebhooksAnswer };
      /**
       * Records that money went back to a client. The same reference again is the same refund.
       * Errors: 404 PGRST301; 409 refund_exceeds_paid {"refundable"} (a professional),
       * reference_reused; 422 invalid_amount, too_many_decimals, validation_failed {"fields"}.
       */
      refund_payment: { Args: RefundPaymentArgs; Returns: PaymentReceipt };
      /**
       * Has your account deleted, within a minute or two; POST /functions/v1/account/delete calls
       * this and does it at once. confirmation is your username. {account_id, goes}: how many rows
       * of each kind go with it. Errors: 403 person_required; 403 recent_sign_in_required; 422
       * confirmation_required {"confirmation", "goes"}; 422 validation_failed.
       */
      request_account_deletion: { Args: RequestAccountDeletionArgs; Returns: AccountDeletion };
      /**
       * Sends the mail again by which you confirm the address of your account; until then no mail
       * goes to clients. {confirmed}: true when it is, and nothing is sent. Errors: 429
       * rate_limit_exceeded after three in an hour.
       */
      request_address_confirmation: { Args: never; Returns: RequestAddressConfirmationAnswer };
      /**
       * Moves a booking of yours; id, price and length stay. A client needs a free start and may
       * have to be confirmed again. Errors: 404 PGRST301; 409 slot_taken, invalid_transition; 422
       * invalid_time, validation_failed {"fields"}; for clients 422 too_late and the reasons of
       * explain_slot.
       */
      reschedule_booking: {
        Args: RescheduleBookingArgs;
        Returns: BookingReceipt | BlockedTimeReceipt;
      };
      /**
       * Ends a key, and its tokens with their next request: {id}. Once more changes nothing.
       * Errors: 403 person_required; 404 PGRST301.
       */
      revoke_api_key: { Args: RevokeApiKeyArgs; Returns: RevokeApiKeyAnswer };
      /** Ends all your keys: {revoked}, how many. Errors: 403 person_required. */
      revoke_api_keys: { Args: never; Returns: RevokeApiKeysAnswer };
      /**
       * Gives an endpoint a new secret and returns it. The old one signs beside it for grace
       * seconds, at most a day; 0 ends it at once. Those before it sign until their own time is
       * over. Errors: 403 person_required; 404 PGRST301; 422 validation_failed; 422
       * too_many_secrets beyond ten old ones.
       */
      rotate_webhook_secret: { Args: RotateWebhookSecretArgs; Returns: WebhookEndpointWithSecret };
      /**
       * Has a busy calendar of yours read as a whole within seconds instead of minutes. The
       * calendar as it is now. Errors: 404 PGRST301; 422 validation_failed {"fields"}; 429
       * rate_limit_exceeded after twelve in an hour.
       */
      sync_busy_calendar: { Args: SyncBusyCalendarArgs; Returns: BusyCalendar };
      /**
       * Sends a webhook.test event to one endpoint, whatever it listens to: {queued}. Errors: 404
       * PGRST301; 409 endpoint_disabled.
       */
      test_webhook_endpoint: { Args: TestWebhookEndpointArgs; Returns: TestWebhookEndpointAnswer };
      /**
       * Switches on or off that bookings go to your Google calendar (push) and that what is in it
       * blocks starts (busy); what is left out stays. The connection as it is now. Errors: 404
       * PGRST301; 429 busy.
       */
      update_google_connection: { Args: UpdateGoogleConnectionArgs; Returns: ConnectedGoogle };
      /**
       * Changes url, events, description, enabled: those that changes has. Disabling cancels what
       * is pending; enabling forgets why it was disabled. Errors: 403 person_required for another
       * url; 404 PGRST301; 422 validation_failed with the fields.
       */
      update_webhook_endpoint: { Args: UpdateWebhookEndpointArgs; Returns: WebhookEndpoint };
      /** Variants of a product, for embedding. */
      variants: {
        Args: { "": Product };
        Returns: Product[];
        SetofOptions: {
          from: "products";
          to: "products";
          isOneToOne: false;
          isSetofReturn: true;
        };
      };
      /**
       * The newest 100 tries of a delivery: {data: [{started_at, duration_ms, status, response,
       * error}], next_cursor: null}. Errors: 404 PGRST301.
       */
      webhook_attempts: { Args: WebhookAttemptsArgs; Returns: List<WebhookAttempt> };
      /**
       * Your deliveries, newest first: {data: [{id, endpoint_id, event_id, type, status, attempts,
       * next_attempt_at, last_status, created_at}], next_cursor}. Errors: 404 PGRST301; 410
       * cursor_expired; 422 validation_failed.
       */
      webhook_deliveries: { Args: WebhookDeliveriesArgs; Returns: Page<WebhookDelivery> };
      /** One of your endpoints. Errors: 404 PGRST301. */
      webhook_endpoint: { Args: WebhookEndpointArgs; Returns: WebhookEndpoint };
      /**
       * Your endpoints, oldest first: {data: [{id, url, events, description, enabled,
       * disabled_reason, created_at}], next_cursor: null}.
       */
      webhook_endpoints: { Args: never; Returns: List<WebhookEndpoint> };
      /**
       * Your events in the order of their commits, as they are delivered: {data, next_cursor}. Ask
       * for those after the last sequence you have seen. Errors: 410 cursor_expired when some of
       * them are no longer kept; 422 validation_failed.
       */
      webhook_events: { Args: WebhookEventsArgs; Returns: Page<WebhookEvent> };
    };
    Enums: None;
    CompositeTypes: None;
  };
};

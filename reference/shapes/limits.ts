/**
 * What callers are limited to. What one column limits is a constraint, and settings are columns: both are in
 * the catalogue. Here is the rest, each with the words of the code that it rests on, which a test looks for.
 */
import type { ErrorCode } from "./errors.ts";

export interface Limit {
  of: "requests" | "the public" | "the portal" | "programs" | "the account" | "lists" | "history";
  what: string;
  most: string;
  /** What whoever is over it is answered; absent: more is not made, or not kept. */
  over?: ErrorCode;
  /** The variable of the functions that sets it; `most` is its default. */
  variable?: string;
  /** A file of supabase/, and a text in it, however its white space is. */
  source: readonly [file: string, excerpt: string];
}

/** The rows of `private.tiers`. */
export const TIERS = [
  { name: "free", requests_per_minute: 60, concurrent_requests: 5, mails_per_day: 200 },
  { name: "plus", requests_per_minute: 300, concurrent_requests: 20, mails_per_day: 600 },
  { name: "pro", requests_per_minute: 1000, concurrent_requests: 50, mails_per_day: 2000 },
  { name: "max", requests_per_minute: 5000, concurrent_requests: 100, mails_per_day: 10_000 },
  { name: "ultra", requests_per_minute: 10_000, concurrent_requests: 200, mails_per_day: 20_000 },
] as const;

const migration = (name: string) => `migrations/20261127${name}.sql`;

export const LIMITS = [
  {
    of: "requests",
    what: "rows of tables that a request writes directly",
    most: "1000",
    over: "too_many_rows",
    source: [migration("001700_row_limit"), "v_most constant integer := 1000"],
  },
  {
    of: "requests",
    what: "time of a statement of the public and of portal clients",
    most: "1 s",
    over: "57014",
    source: [migration("005300_request_limits"), "alter role anon set statement_timeout = '1s'"],
  },
  {
    of: "requests",
    what: "time that a professional waits for others who write",
    most: "2 s",
    over: "busy",
    source: [
      migration("005300_request_limits"),
      "alter role authenticated set lock_timeout = '2s'",
    ],
  },
  {
    of: "requests",
    what: "time that the public and portal clients wait for others who write",
    most: "400 ms",
    over: "busy",
    source: [migration("005300_request_limits"), "alter role anon set lock_timeout = '400ms'"],
  },
  {
    of: "requests",
    what: "requests that wait for the write lock of a professional at a time",
    most: "5",
    over: "busy",
    source: [
      migration("000500_requests"),
      "private.take_place('waiting for ' || p_professional_id, 5)",
    ],
  },
  {
    of: "lists",
    what: "rows of a list",
    most: "1000",
    source: ["config.toml", "max_rows = 1000"],
  },
  {
    of: "lists",
    what: "dates of `available_slots`",
    most: "62 days",
    over: "range_too_long",
    source: [migration("002100_available_slots"), "v_to - v_from >= 62"],
  },
  {
    of: "lists",
    what: "rows of a page of `export_account`",
    most: "500",
    source: [migration("012500_exports"), "v_left integer := 500"],
  },
  {
    of: "the public",
    what: "bookings and orders from a network that wait for their payment, per professional",
    most: "2 at a time",
    over: "rate_limit_exceeded",
    source: [migration("003660_payment_holds"), "if v_held < 2 then"],
  },
  {
    of: "the public",
    what: "time that a hold waits for its link, but not beyond the start of its booking",
    most: "30 minutes",
    over: "hold_expired",
    source: [migration("003650_holds"), "select interval '30 minutes'"],
  },
  {
    of: "the portal",
    what: "bookings, and unpaid orders, that a portal client has made and that are open",
    most: "5 each",
    over: "too_many_open",
    source: [migration("001000_clients"), "if p_open >= 5 then"],
  },
  {
    of: "the portal",
    what: "life of a code",
    most: "10 minutes, one use",
    over: "invalid_otp",
    source: [migration("004100_portal_codes"), "expires_at = now() + interval '10 minutes'"],
  },
  {
    of: "the portal",
    what: "attempts at a code",
    most: "5",
    over: "invalid_otp",
    source: [migration("004200_portal_sessions"), "and k.attempts < 5"],
  },
  {
    of: "the portal",
    what: "wrong codes of a client in a row; then no code opens for an hour",
    most: "20",
    over: "invalid_otp",
    source: [
      migration("004200_portal_sessions"),
      "when failures + 1 >= 20 then now() + interval '1 hour'",
    ],
  },
  {
    of: "the portal",
    what: "codes for an address and professional in a minute",
    most: "3",
    over: "rate_limit_exceeded",
    source: [
      migration("004100_portal_codes"),
      "private.seconds_until_allowed(v_times, 3, interval '1 minute')",
    ],
  },
  {
    of: "the portal",
    what: "the same in an hour",
    most: "6",
    over: "rate_limit_exceeded",
    source: [
      migration("004100_portal_codes"),
      "private.seconds_until_allowed(v_times, 6, interval '1 hour')",
    ],
  },
  {
    of: "the portal",
    what: "the same in a day",
    most: "20",
    over: "rate_limit_exceeded",
    source: [
      migration("004100_portal_codes"),
      "private.seconds_until_allowed(v_times, 20, interval '1 day')",
    ],
  },
  {
    of: "the portal",
    what: "codes from a network in an hour",
    most: "100",
    over: "rate_limit_exceeded",
    variable: "OTP_SENDS_PER_IP_HOUR",
    source: [
      "functions/send-portal-otp/index.ts",
      'integer(read, "OTP_SENDS_PER_IP_HOUR", 100, 1)',
    ],
  },
  {
    of: "the portal",
    what: "attempts at codes from a network in an hour",
    most: "100",
    over: "rate_limit_exceeded",
    variable: "OTP_VERIFIES_PER_IP_HOUR",
    source: [
      "functions/verify-portal-otp/index.ts",
      'integer(read, "OTP_VERIFIES_PER_IP_HOUR", 100, 1)',
    ],
  },
  {
    of: "the portal",
    what: "uses of mailed links from a network in an hour",
    most: "100",
    over: "rate_limit_exceeded",
    variable: "LINK_USES_PER_IP_HOUR",
    source: [
      "functions/verify-portal-otp/index.ts",
      'integer(read, "LINK_USES_PER_IP_HOUR", 100, 1)',
    ],
  },
  {
    of: "the portal",
    what: "life of a session",
    most: "1 hour",
    over: "session_not_found",
    source: [
      migration("004200_portal_sessions"),
      "expires_at timestamptz not null default now() + interval '1 hour'",
    ],
  },
  {
    of: "programs",
    what: "keys that are not revoked",
    most: "20",
    over: "too_many_keys",
    source: [migration("005020_api_keys"), "select count(*) >= 20 from private.api_keys"],
  },
  {
    of: "programs",
    what: "exchanges of a key in a minute",
    most: "20",
    over: "rate_limit_exceeded",
    source: [migration("005030_key_exchange"), "v_per_key constant integer := 20"],
  },
  {
    of: "programs",
    what: "exchanges from a network in a minute",
    most: "30",
    over: "rate_limit_exceeded",
    variable: "KEY_EXCHANGES_PER_IP_MINUTE",
    source: ["functions/token/index.ts", 'integer(read, "KEY_EXCHANGES_PER_IP_MINUTE", 30, 1)'],
  },
  {
    of: "programs",
    what: "webhook endpoints",
    most: "10",
    over: "too_many_endpoints",
    source: [migration("010600_webhook_endpoint_calls"), "'There are ten endpoints already.'"],
  },
  {
    of: "programs",
    what: "earlier secrets of an endpoint that still sign",
    most: "10",
    over: "too_many_secrets",
    source: [
      migration("010600_webhook_endpoint_calls"),
      "cardinality(private.webhook_secrets(v_endpoint)) > 10",
    ],
  },
  {
    of: "programs",
    what: "webhooks in an hour, of the tier's requests a minute",
    most: "10 times",
    source: [
      migration("010400_webhook_claims"),
      "interval '1 hour' / (10 * t.requests_per_minute) as cost",
    ],
  },
  {
    of: "the account",
    what: "calendar feeds",
    most: "5",
    over: "too_many_feeds",
    source: [migration("006000_calendar_feeds"), "'There are five feeds already.'"],
  },
  {
    of: "the account",
    what: "reads of a feed from a network in an hour, and of unknown ones",
    most: "120",
    over: "rate_limit_exceeded",
    variable: "FEED_READS_PER_IP_HOUR",
    source: ["functions/calendar/index.ts", 'integer(read, "FEED_READS_PER_IP_HOUR", 120, 1)'],
  },
  {
    of: "the account",
    what: "calendars elsewhere that block starts",
    most: "3",
    over: "too_many_calendars",
    source: [
      migration("006100_busy_calendars"),
      "select count(*) >= 3 from private.busy_calendars",
    ],
  },
  {
    of: "the account",
    what: "tries to add one in an hour",
    most: "30",
    over: "rate_limit_exceeded",
    source: [
      migration("006100_busy_calendars"),
      "format('busy calendars of %s', v_professional_id), 30)",
    ],
  },
  {
    of: "the account",
    what: "times that one is read on demand in an hour",
    most: "12",
    over: "rate_limit_exceeded",
    source: [migration("006100_busy_calendars"), "format('syncs of %s', p_calendar_id), 12)"],
  },
  {
    of: "the account",
    what: "tries to connect Google in an hour",
    most: "20",
    over: "rate_limit_exceeded",
    source: [
      migration("006200_calendar_connections"),
      "format('Google connections of %s', v_professional_id), 20",
    ],
  },
  {
    of: "the account",
    what: "mails that ask to confirm the account's address in an hour",
    most: "3",
    over: "rate_limit_exceeded",
    source: [migration("007200_mail_owners"), "v_per_hour constant integer := 3"],
  },
  {
    of: "the account",
    what: "mails in a day to an address that has not proved itself, of all professionals together",
    most: "10",
    source: [
      migration("007600_mail_checks"),
      "encode(private.address_digest(p_email), 'base64') ), 10, '1 day'",
    ],
  },
  {
    of: "the account",
    what: "mails in a day about one client, to each side",
    most: "60",
    source: [
      migration("007600_mail_checks"),
      "format('mail about %s to %s', p_mail.client_id, p_mail.audience), 60, '1 day'",
    ],
  },
  {
    of: "the account",
    what: "age of a session that may delete the account",
    most: "10 minutes",
    over: "recent_sign_in_required",
    source: [
      migration("005500_account_deletions"),
      "private.session_started_at() < now() - interval '10 minutes'",
    ],
  },
  {
    of: "history",
    what: "life of an idempotency key",
    most: "7 days",
    source: [migration("001600_idempotency"), "and created_at > now() - interval '7 days'"],
  },
  {
    of: "history",
    what: "events and deliveries of webhooks are kept",
    most: "30 days",
    over: "cursor_expired",
    source: [migration("011100_webhook_schedule"), "where created_at < now() - interval '30 days'"],
  },
] as const satisfies readonly Limit[];

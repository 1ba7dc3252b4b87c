/**
 * What a person can be shown, in English, where the generated lists of constraints say nothing. Mistakes of the
 * program itself have no sentence of their own.
 */
import { LABELS } from "./generated/constraints.ts";

/** By code; where one code means two things, by code and status. */
export const SENTENCES: Readonly<Record<string, string>> = {
  network: "There is no connection. Please check it and try again.",

  slot_taken: "This time has just been taken. Please choose another one.",
  "busy 409": "A calendar elsewhere blocks this time.",
  not_accepting: "Nothing can be booked or ordered here at the moment.",
  inactive: "This service is not offered any more.",
  past: "This time is over. Please choose another one.",
  too_soon: "This is too soon. Please choose a later time.",
  too_far: "This is too far ahead. Please choose an earlier date.",
  closed_date: "This day is closed. Please choose another one.",
  outside_hours: "This is outside of the working hours. Please choose another time.",
  not_on_grid: "This time is not offered. Please choose another one.",
  too_late: "It is too late to change this. Please get in touch directly.",
  too_many_open: "Too many are open already. Please pay or cancel one first.",
  hold_expired: "The time to confirm or pay is over. Please begin again.",
  ends_at_required: "Please say when it ends.",
  invalid_availability: "These working hours do not fit together.",
  links_not_configured: "This cannot be switched on, because mails have no links here.",

  insufficient_stock: "There is not enough in stock.",
  total_changed: "The total has changed. Please look at it again.",
  product_unavailable: "A product is not available any more.",
  service_unavailable: "A service is not available any more.",
  invalid_items: "Please check the lines of the order.",
  too_many_decimals: "This amount has too many decimals for its currency.",
  total_too_large: "This is too much for one order.",
  booking_is_cancelled: "This booking is cancelled.",
  currency_in_use: "The currency cannot be changed while amounts in it exist.",
  stock_changed: "The stock has changed meanwhile. Please count again.",
  stock_not_tracked: "The stock of this product is not kept yet. Set it first.",
  stock_too_large: "This is more than can be kept in stock.",
  reason_required: "Please give a reason.",
  delta_required: "Please give a number of pieces.",

  exceeds_total: "This is more than is due.",
  refund_exceeds_paid: "This is more than can be given back.",
  reference_reused: "This reference belongs to another payment.",
  invalid_amount: "Please give another amount.",
  method_required: "Please say how it was paid.",
  payments_unavailable: "This cannot be paid online at the moment.",
  amount_not_payable: "This amount cannot be paid online.",
  nothing_due: "There is nothing to pay.",
  payment_disputed: "The bank is looking at this payment, and decides first.",
  refund_exceeds_payment: "This is more than is left of the payment.",
  not_a_provider_payment: "This was not paid online, so it is given back by hand.",
  refund_refused: "The payment provider does not give this back.",
  payment_provider_unavailable:
    "The payment provider does not answer. Please try again in a moment.",
  payments_not_configured: "Nothing can be paid online here.",

  session_not_found: "Please sign in again.",
  invalid_token: "Please sign in again.",
  invalid_api_key: "This key is not valid, or not any more.",
  key_is_read_only: "This key may only read.",
  person_required: "Please sign in to do this.",
  recent_sign_in_required: "Please sign in again to do this.",
  confirmation_required: "Please type the confirmation.",
  invalid_otp: "This code is not valid. Please use the newest mail, or ask for another code.",
  invalid_link: "This link is not valid any more. Please use the newest mail.",
  too_many_keys: "There are too many keys. Please revoke one first.",

  url_not_allowed: "This address cannot be used. Please give a public https address.",
  too_many_endpoints: "There are too many endpoints. Please delete one first.",
  too_many_secrets: "Too many earlier secrets are still in use. Please wait until one is over.",
  endpoint_disabled: "This endpoint is switched off. Please switch it on first.",
  range_too_long: "This is too long a time at once. Please choose fewer days.",
  cursor_expired: "This is too long ago. Please begin again.",
  too_many_calendars: "There are too many calendars. Please delete one first.",
  too_many_feeds: "There are too many feeds. Please delete one first.",
  scope_missing: "Google has not allowed the calendar. Please try again and leave its box ticked.",
  grant_refused: "Google has not accepted this. Please sign in to Google again.",
  google_unavailable: "Google does not answer. Please try again in a minute.",
  calendar_not_configured: "Calendars cannot be connected here.",

  validation_failed: "Please check what you have entered.",
  invalid_transition: "This has changed meanwhile. Please look at it again.",
  payload_too_large: "This is too large.",
  too_many_rows: "This is too much at once.",
  PGRST116: "This is not there any more.",
  PGRST103: "There is no such page.",
  "PGRST301 404": "This is not there any more.",
  "PGRST301 401": "Please sign in again.",
  PGRST303: "Please sign in again.",

  "22003": "This number is too large.",
  "22021": "This contains a character that cannot be stored.",
  "22P05": "This contains a character that cannot be stored.",
  "23502": "Something that is required is missing.",
  "23503": "Something that this needs is not there any more, or is still in use.",
  "23505": "This exists already.",
  "23514": "A value is not allowed here.",
  "42501": "You may not do this.",
  "57014": "This takes too long. Please ask for less at once.",

  invalid_credentials: "The address or the password is wrong.",
  user_already_exists: "There is an account with this address already.",
  email_exists: "There is an account with this address already.",
  weak_password: "This password is too short.",
  same_password: "This is the password that you have already.",
  reauthentication_needed: "Please enter the code that was mailed to you.",
  anonymous_provider_disabled: "Please give an e-mail address.",
  refresh_token_already_used: "Please sign in again.",
  refresh_token_not_found: "Please sign in again.",
  session_expired: "Please sign in again.",
  bad_jwt: "Please sign in again.",
  no_authorization: "Please sign in again.",
  otp_expired: "This link or code is not valid any more. Please ask for another one.",
  bad_code_verifier: "Please open the link in the browser that asked for it.",
  flow_state_not_found: "This link was used already. Please ask for another one.",
  flow_state_expired: "This link is not valid any more. Please ask for another one.",
  identity_already_exists: "This Google account belongs to another account here.",
  manual_linking_disabled: "Another way to sign in cannot be added here.",
  single_identity_not_deletable: "This is the only way to sign in. Please add another one first.",
  user_banned: "This account is blocked.",
  user_not_found: "This account is not there any more.",
  over_request_rate_limit: "Too many tries. Please try again in some minutes.",
  over_email_send_rate_limit: "A mail is on its way already. Please wait before asking again.",
};

const UNKNOWN = "Something went wrong. Please try again.";

interface Refusal {
  status: number;
  code: string;
  columns: readonly string[];
  retryAfter: number | undefined;
}

const words = (columns: readonly string[]) =>
  columns.map((column) => LABELS[column] ?? column.replace(/_/g, " ")).join(", ");
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `5 minutes`, for a wait of so many seconds. */
function lasting(seconds: number): string {
  const [count, unit] =
    seconds < 90
      ? [seconds, "second"]
      : seconds < 5400
        ? [Math.ceil(seconds / 60), "minute"]
        : [Math.ceil(seconds / 3600), "hour"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export function sentenceOf({ status, code, columns, retryAfter }: Refusal): string {
  if (retryAfter !== undefined) {
    return `Too much is going on. Please try again in ${lasting(retryAfter)}.`;
  }
  if (columns.length > 0) {
    const named = words(columns);
    if (code === "23502") return `${capital(named)} is required.`;
    if (code === "42501") return `${capital(named)} cannot be written here.`;
    if (code === "validation_failed") return `Please check: ${named}.`;
  }
  // Whoever answers may call it anything, also what every object has.
  const known = [`${code} ${status}`, code].find((name) => Object.hasOwn(SENTENCES, name));
  return SENTENCES[known ?? ""] ?? UNKNOWN;
}

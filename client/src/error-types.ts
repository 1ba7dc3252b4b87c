/** Until they are generated: the codes of errors, and what their `details` hold. */

interface NextStarts {
  next_starts: string[];
}
interface RetryAfter {
  retry_after: number;
}

/** By code; null where a route or table says no more. */
export interface ErrorDetails {
  slot_taken: NextStarts | null;
  busy: NextStarts | RetryAfter | null;
  not_accepting: NextStarts | null;
  inactive: NextStarts;
  past: NextStarts;
  too_soon: NextStarts;
  too_far: NextStarts;
  closed_date: NextStarts;
  outside_hours: NextStarts;
  not_on_grid: NextStarts;
  rate_limit_exceeded: RetryAfter;
  too_many_connections: RetryAfter;
  invalid_transition: { from: string; to: string };
  validation_failed: { fields: string[] | Record<string, string> };
  too_many_decimals: { amount: number; decimals: number };
  stock_changed: { stock: number };
  insufficient_stock: { product_id: string; requested: number; available?: number }[];
  total_changed: { expected_total: number; total: number };
  invalid_items: { index: number | null; problem: string };
  unexpected_field: { index: number; fields: string[] };
  product_unavailable: { product_ids: string[] };
  service_unavailable: { service_ids: string[] };
  exceeds_total: { due: number };
  refund_exceeds_paid: { refundable: number };
  refund_exceeds_payment: { refundable: number } | null;
  refund_refused: { reason: string };
  return_url_not_allowed: { field: string; reason: string };
  url_not_allowed: { reason: string };
  signing_key_not_accepted: { code: string };
  internal_error: { request_id: string };
}

export type ErrorCode =
  | keyof ErrorDetails
  | "23502"
  | "23503"
  | "23505"
  | "23514"
  | "42501"
  | "PGRST116"
  | "PGRST202"
  | "PGRST204"
  | "PGRST301"
  | "PGRST303"
  | "hold_expired"
  | "invalid_credentials"
  | "invalid_link"
  | "invalid_otp"
  | "invalid_time"
  | "session_not_found"
  | "too_late"
  | "too_many_open"
  | "payments_unavailable"
  | "amount_not_payable"
  | "nothing_due"
  | "key_is_read_only"
  | "person_required"
  | "idempotency_key_reused";

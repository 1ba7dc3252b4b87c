/** Until they are generated: what the routes of the functions take and answer. */

export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

export interface PortalSession {
  access_token: string;
  token_type: "bearer";
  /** Seconds. */
  expires_in: number;
  /** Seconds since 1970. */
  expires_at: number;
  /** `email` is left out of what a link opens. */
  client: { id: string; name: string; email?: string };
  professional: {
    id: string;
    full_name: string;
    username: string;
    time_zone: string;
    currency: string;
  };
}

export interface Checkout {
  order_id: string;
  token?: string;
  success_url: string;
  cancel_url: string;
}

export interface WebhookEndpoint {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  disabled_reason: "gone" | "failing" | "owner" | null;
  created_at: string;
}

export interface WebhookDelivery {
  id: string;
  endpoint_id: string;
  event_id: string;
  type: string;
  status: "pending" | "succeeded" | "failed" | "cancelled";
  attempts: number;
  next_attempt_at: string | null;
  last_status: number | null;
  created_at: string;
}

export interface WebhookAttempt {
  started_at: string;
  duration_ms: number | null;
  status: number | null;
  response: string | null;
  error: string | null;
}

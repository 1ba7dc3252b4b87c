/** Until they are generated: what the routes of the functions take and answer, by method and path. */

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

export interface WebhookEndpoint {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  disabled_reason: "gone" | "failing" | "owner" | null;
  created_at: string;
}

export interface NewEndpoint {
  url: string;
  events: string[];
  description?: string | null;
  enabled?: boolean;
}

export interface Delivery {
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

export interface Attempt {
  started_at: string;
  duration_ms: number | null;
  status: number | null;
  response: string | null;
  error: string | null;
}

export interface WebhookEvent {
  id: string;
  type: string;
  timestamp: string;
  version: 1;
  professional_id: string;
  sequence: number;
  data: Record<string, unknown>;
  previous: Record<string, unknown> | null;
}

export interface BusyCalendar {
  id: string;
  name: string | null;
  host: string;
  status: string;
  error: string | null;
  error_detail: string | null;
  last_synced_at: string | null;
  created_at: string;
}

export interface GoogleConnection {
  status: "none" | "active" | "revoked";
  push: boolean;
  busy: boolean;
  error: string | null;
  last_synced_at: string | null;
  created_at: string | null;
  waiting: number;
  refused: number;
}

export interface Routes {
  "POST /send-portal-otp": {
    body: { email: string; professionalId: string };
    answer: { message: string; expires_in: number };
  };
  "POST /verify-portal-otp": {
    body: { email: string; code: string; professionalId: string };
    answer: PortalSession;
  };
  "POST /verify-portal-otp/link": { body: { token: string }; answer: PortalSession };
  "POST /verify-portal-otp/confirm": {
    body: { token: string };
    answer: {
      kind: "booking" | "order";
      booking: Record<string, unknown> | null;
      order: Record<string, unknown> | null;
    };
  };
  "POST /verify-portal-otp/sign-out": { answer: undefined };
  "POST /mail/unsubscribe": { query: { t: string }; answer: undefined };
  "POST /mail/confirm-address": { body: { token: string }; answer: undefined };
  "POST /payments/checkout": {
    body: { order_id: string; token?: string; success_url: string; cancel_url: string };
    answer: { url: string; amount: number; currency: string; expires_at: string };
  };
  "POST /payments/account": {
    body: { return_url: string; refresh_url?: string; country?: string };
    answer: { url: string; expires_at: string };
  };
  "GET /payments/account": {
    answer: {
      account_id: string;
      livemode: boolean;
      can_charge: boolean;
      missing: string[];
      checked_at: string | null;
    };
  };
  "DELETE /payments/account": { answer: undefined };
  "POST /payments/refunds": {
    body: { payment_id: string; amount?: number; reason?: string };
    answer: { refund_id: string; status: "succeeded" | "pending" | "due"; amount: number };
  };
  "GET /calendar/busy": { answer: Page<BusyCalendar> };
  "POST /calendar/busy": { body: { url: string; name?: string | null }; answer: BusyCalendar };
  "DELETE /calendar/busy/{id}": { answer: undefined };
  "POST /calendar/busy/{id}/sync": { answer: BusyCalendar };
  "GET /calendar/google": { answer: GoogleConnection };
  "POST /calendar/google": { body: { refresh_token: string }; answer: GoogleConnection };
  "PATCH /calendar/google": {
    body: { push?: boolean; busy?: boolean };
    answer: GoogleConnection;
  };
  "DELETE /calendar/google": { answer: { revoked: boolean } };
  "GET /webhooks/endpoints": { answer: Page<WebhookEndpoint> };
  "POST /webhooks/endpoints": { body: NewEndpoint; answer: WebhookEndpoint & { secret: string } };
  "GET /webhooks/endpoints/{id}": { answer: WebhookEndpoint };
  "PATCH /webhooks/endpoints/{id}": { body: Partial<NewEndpoint>; answer: WebhookEndpoint };
  "DELETE /webhooks/endpoints/{id}": { answer: undefined };
  "POST /webhooks/endpoints/{id}/rotate-secret": {
    body: { grace?: number };
    answer: WebhookEndpoint & { secret: string };
  };
  "POST /webhooks/endpoints/{id}/test": { answer: { queued: number } };
  "POST /webhooks/endpoints/{id}/redeliver": {
    body: { since: string };
    answer: { queued: number };
  };
  "GET /webhooks/deliveries": {
    query: {
      endpoint_id?: string;
      status?: Delivery["status"];
      cursor?: string;
      limit?: number;
    };
    answer: Page<Delivery>;
  };
  "GET /webhooks/deliveries/{id}/attempts": { answer: Page<Attempt> };
  "POST /webhooks/deliveries/{id}/redeliver": { answer: { queued: number } };
  "GET /webhooks/events": {
    query: { after?: number; type?: string; limit?: number };
    answer: Page<WebhookEvent>;
  };
  "POST /token": { answer: { access_token: string; token_type: "bearer"; expires_in: number } };
  "POST /account/delete": {
    body: { confirmation?: string };
    answer: { deleted: boolean; goes: Record<string, number> };
  };
}

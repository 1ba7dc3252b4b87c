/** The routes of the edge functions that a front end or a program calls. */
import type { Call, CallOptions } from "./client.ts";
import type {
  Checkout,
  Page,
  PortalSession,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
} from "./route-types.ts";

type Query = Record<string, string | number | undefined>;

/** A path below a function, with what is given of a query. */
function below(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

export function functionRoutes(call: Call) {
  const ask = <Answer>(method: string, path: string, options: CallOptions = {}, body?: unknown) =>
    call<Answer>(method, `functions/v1/${path}`, { ...options, body });
  /** As nobody, whoever is signed in. */
  const anonymously = <Answer>(path: string, body: unknown, options: CallOptions = {}) =>
    call<Answer>("POST", `functions/v1/${path}`, { ...options, body, token: null });
  const id = encodeURIComponent;

  return {
    /** The client's portal: a code or a link becomes a session, whose token is for `accessToken`. */
    portal: {
      sendCode: (body: { email: string; professionalId: string }, options?: CallOptions) =>
        anonymously<{ message: string; expires_in: number }>("send-portal-otp", body, options),
      verifyCode: (
        body: { email: string; code: string; professionalId: string },
        options?: CallOptions,
      ) => anonymously<PortalSession>("verify-portal-otp", body, options),
      /** The token behind `#manage=`. */
      openLink: (token: string, options?: CallOptions) =>
        anonymously<PortalSession>("verify-portal-otp/link", { token }, options),
      /** The token behind `#confirm=`. */
      confirm: (token: string, options?: CallOptions) =>
        anonymously<ConfirmedHold>("verify-portal-otp/confirm", { token }, options),
      signOut: (options?: CallOptions) =>
        ask<undefined>("POST", "verify-portal-otp/sign-out", options),
    },
    mail: {
      /** The token behind `#unsubscribe=`. */
      unsubscribe: (token: string, options?: CallOptions) =>
        anonymously<undefined>(below("mail/unsubscribe", { t: token }), undefined, options),
      /** The token behind `#confirm_address=`. */
      confirmAddress: (token: string, options?: CallOptions) =>
        anonymously<undefined>("mail/confirm-address", { token }, options),
    },
    payments: {
      /** The page on which what is due is paid; `token` is the receipt's `checkout_token`. */
      checkout: (body: Checkout, options?: CallOptions) =>
        ask<OpenCheckout>("POST", "payments/checkout", options, body),
      account: (options?: CallOptions) => ask<PaymentAccount>("GET", "payments/account", options),
      connectAccount: (
        body: { return_url: string; refresh_url?: string; country?: string },
        options?: CallOptions,
      ) => ask<{ url: string; expires_at: string }>("POST", "payments/account", options, body),
      detachAccount: (options?: CallOptions) =>
        ask<undefined>("DELETE", "payments/account", options),
      refund: (
        body: { payment_id: string; amount?: number; reason?: string },
        options?: CallOptions,
      ) => ask<OnlineRefund>("POST", "payments/refunds", options, body),
    },
    calendar: {
      busyCalendars: (options?: CallOptions) =>
        ask<Page<BusyCalendar>>("GET", "calendar/busy", options),
      addBusyCalendar: (body: { url: string; name?: string | null }, options?: CallOptions) =>
        ask<BusyCalendar>("POST", "calendar/busy", options, body),
      deleteBusyCalendar: (calendarId: string, options?: CallOptions) =>
        ask<undefined>("DELETE", `calendar/busy/${id(calendarId)}`, options),
      syncBusyCalendar: (calendarId: string, options?: CallOptions) =>
        ask<BusyCalendar>("POST", `calendar/busy/${id(calendarId)}/sync`, options),
      google: (options?: CallOptions) => ask<GoogleConnection>("GET", "calendar/google", options),
      /** `provider_refresh_token` of the session right after the sign-in. */
      connectGoogle: (body: { refresh_token: string }, options?: CallOptions) =>
        ask<GoogleConnection>("POST", "calendar/google", options, body),
      updateGoogle: (body: { push?: boolean; busy?: boolean }, options?: CallOptions) =>
        ask<GoogleConnection>("PATCH", "calendar/google", options, body),
      disconnectGoogle: (options?: CallOptions) =>
        ask<{ revoked: boolean }>("DELETE", "calendar/google", options),
    },
    webhooks: {
      endpoints: (options?: CallOptions) =>
        ask<Page<WebhookEndpoint>>("GET", "webhooks/endpoints", options),
      createEndpoint: (body: NewEndpoint, options?: CallOptions) =>
        ask<WebhookEndpoint & { secret: string }>("POST", "webhooks/endpoints", options, body),
      endpoint: (endpointId: string, options?: CallOptions) =>
        ask<WebhookEndpoint>("GET", `webhooks/endpoints/${id(endpointId)}`, options),
      updateEndpoint: (endpointId: string, body: Partial<NewEndpoint>, options?: CallOptions) =>
        ask<WebhookEndpoint>("PATCH", `webhooks/endpoints/${id(endpointId)}`, options, body),
      deleteEndpoint: (endpointId: string, options?: CallOptions) =>
        ask<undefined>("DELETE", `webhooks/endpoints/${id(endpointId)}`, options),
      rotateSecret: (endpointId: string, body: { grace?: number } = {}, options?: CallOptions) =>
        ask<WebhookEndpoint & { secret: string }>(
          "POST",
          `webhooks/endpoints/${id(endpointId)}/rotate-secret`,
          options,
          body,
        ),
      testEndpoint: (endpointId: string, options?: CallOptions) =>
        ask<Queued>("POST", `webhooks/endpoints/${id(endpointId)}/test`, options),
      /** What the endpoint has missed since an instant. */
      redeliverSince: (endpointId: string, since: string, options?: CallOptions) =>
        ask<Queued>("POST", `webhooks/endpoints/${id(endpointId)}/redeliver`, options, { since }),
      deliveries: (
        query: {
          endpoint_id?: string;
          status?: WebhookDelivery["status"];
          cursor?: string;
          limit?: number;
        } = {},
        options?: CallOptions,
      ) => ask<Page<WebhookDelivery>>("GET", below("webhooks/deliveries", query), options),
      attempts: (deliveryId: string, options?: CallOptions) =>
        ask<Page<WebhookAttempt>>("GET", `webhooks/deliveries/${id(deliveryId)}/attempts`, options),
      redeliver: (deliveryId: string, options?: CallOptions) =>
        ask<Queued>("POST", `webhooks/deliveries/${id(deliveryId)}/redeliver`, options),
      events: (
        query: { after?: number; type?: string; limit?: number } = {},
        options?: CallOptions,
      ) => ask<Page<WebhookEvent>>("GET", below("webhooks/events", query), options),
    },
    token: {
      /** A key for an access token; `keyToken()` keeps it and asks again in time. */
      exchange: (apiKey: string, options?: CallOptions) =>
        call<{ access_token: string; token_type: "bearer"; expires_in: number }>(
          "POST",
          "functions/v1/token",
          { ...options, token: apiKey },
        ),
    },
    account: {
      /** Without the username as confirmation nothing happens, and `confirmation_required` says what would. */
      delete: (body: { confirmation?: string } = {}, options?: CallOptions) =>
        ask<{ deleted: boolean; goes: Record<string, number> }>(
          "POST",
          "account/delete",
          options,
          body,
        ),
    },
  };
}

export type Functions = ReturnType<typeof functionRoutes>;

interface Queued {
  queued: number;
}
interface NewEndpoint {
  url: string;
  events: string[];
  description?: string | null;
  enabled?: boolean;
}
interface OpenCheckout {
  url: string;
  amount: number;
  currency: string;
  expires_at: string;
}
interface PaymentAccount {
  account_id: string;
  livemode: boolean;
  can_charge: boolean;
  missing: string[];
  checked_at: string | null;
}
interface OnlineRefund {
  refund_id: string;
  status: "succeeded" | "pending" | "due";
  amount: number;
}
interface BusyCalendar {
  id: string;
  name: string | null;
  host: string;
  status: string;
  error: string | null;
  error_detail: string | null;
  last_synced_at: string | null;
  created_at: string;
}
interface GoogleConnection {
  status: "none" | "active" | "revoked";
  push: boolean;
  busy: boolean;
  error: string | null;
  last_synced_at: string | null;
  created_at: string | null;
  waiting: number;
  refused: number;
}
interface WebhookEvent {
  id: string;
  type: string;
  timestamp: string;
  version: 1;
  professional_id: string;
  sequence: number;
  data: Record<string, unknown>;
  previous: Record<string, unknown> | null;
}
interface ConfirmedHold {
  kind: "booking" | "order";
  booking: Record<string, unknown> | null;
  order: Record<string, unknown> | null;
}

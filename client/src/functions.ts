/** The routes of the edge functions that a front end or a program calls. */
import type { Call, CallOptions } from "./client.ts";
import type { Routes } from "./database.ts";

type Name = keyof Routes;
type Body<Route extends Name> = Routes[Route] extends { body: infer Given } ? Given : never;
type Query<Route extends Name> = Routes[Route] extends { query: infer Given extends object }
  ? Given
  : never;
type Answer<Route extends Name> = Promise<Routes[Route]["answer"]>;

interface Sent {
  id?: string;
  query?: object;
  body?: unknown;
  token?: string | null;
}

export function functionRoutes(call: Call) {
  const send = <Route extends Name>(route: Route, sent: Sent, options: CallOptions = {}) => {
    const [method = "", template = ""] = route.split(" ");
    const path = template.replace("{id}", encodeURIComponent(sent.id ?? ""));
    const given = Object.entries(sent.query ?? {}).filter(([, value]) => value !== undefined);
    const query = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
    const { body, token } = sent;
    const init = { ...options, body, ...(token !== undefined && { token }) };
    return call<Routes[Route]["answer"]>(method, `functions/v1${path}${query}`, init);
  };

  // By what a route takes; the last argument is always the options.
  const plain =
    <Route extends Name>(route: Route) =>
    (options?: CallOptions): Answer<Route> =>
      send(route, {}, options);
  const withBody =
    <Route extends Name>(route: Route) =>
    (body: Body<Route>, options?: CallOptions): Answer<Route> =>
      send(route, { body }, options);
  const withId =
    <Route extends Name>(route: Route) =>
    (id: string, options?: CallOptions): Answer<Route> =>
      send(route, { id }, options);
  const withIdAndBody =
    <Route extends Name>(route: Route) =>
    (id: string, body: Body<Route>, options?: CallOptions): Answer<Route> =>
      send(route, { id, body }, options);
  const withQuery =
    <Route extends Name>(route: Route) =>
    (query: Query<Route> = {} as Query<Route>, options?: CallOptions): Answer<Route> =>
      send(route, { query }, options);
  /** As nobody, whoever is signed in. */
  const anonymous =
    <Route extends Name>(route: Route) =>
    (body: Body<Route>, options?: CallOptions): Answer<Route> =>
      send(route, { body, token: null }, options);
  const withToken =
    <Route extends "POST /verify-portal-otp/link" | "POST /verify-portal-otp/confirm">(
      route: Route,
    ) =>
    (token: string, options?: CallOptions): Answer<Route> =>
      send(route, { body: { token }, token: null }, options);

  return {
    /** The client's portal: a code or a link becomes a session, whose token is for `accessToken`. */
    portal: {
      sendCode: anonymous("POST /send-portal-otp"),
      verifyCode: anonymous("POST /verify-portal-otp"),
      /** The token behind `#manage=`. */
      openLink: withToken("POST /verify-portal-otp/link"),
      /** The token behind `#confirm=`. */
      confirm: withToken("POST /verify-portal-otp/confirm"),
      signOut: plain("POST /verify-portal-otp/sign-out"),
    },
    mail: {
      /** The token behind `#unsubscribe=`. */
      unsubscribe: (t: string, options?: CallOptions) =>
        send("POST /mail/unsubscribe", { query: { t }, token: null }, options),
      /** The token behind `#confirm-address=`. */
      confirmAddress: (token: string, options?: CallOptions) =>
        send("POST /mail/confirm-address", { body: { token }, token: null }, options),
    },
    payments: {
      /** The page on which what is due is paid; `token` is the receipt's `checkout_token`. */
      checkout: withBody("POST /payments/checkout"),
      account: plain("GET /payments/account"),
      connectAccount: withBody("POST /payments/account"),
      detachAccount: plain("DELETE /payments/account"),
      refund: withBody("POST /payments/refunds"),
    },
    calendar: {
      busyCalendars: plain("GET /calendar/busy"),
      addBusyCalendar: withBody("POST /calendar/busy"),
      deleteBusyCalendar: withId("DELETE /calendar/busy/{id}"),
      syncBusyCalendar: withId("POST /calendar/busy/{id}/sync"),
      google: plain("GET /calendar/google"),
      /** Takes `provider_refresh_token` of the session right after the sign-in. */
      connectGoogle: withBody("POST /calendar/google"),
      updateGoogle: withBody("PATCH /calendar/google"),
      disconnectGoogle: plain("DELETE /calendar/google"),
    },
    webhooks: {
      endpoints: plain("GET /webhooks/endpoints"),
      createEndpoint: withBody("POST /webhooks/endpoints"),
      endpoint: withId("GET /webhooks/endpoints/{id}"),
      updateEndpoint: withIdAndBody("PATCH /webhooks/endpoints/{id}"),
      deleteEndpoint: withId("DELETE /webhooks/endpoints/{id}"),
      rotateSecret: withIdAndBody("POST /webhooks/endpoints/{id}/rotate-secret"),
      testEndpoint: withId("POST /webhooks/endpoints/{id}/test"),
      /** What the endpoint has missed since an instant. */
      redeliverSince: withIdAndBody("POST /webhooks/endpoints/{id}/redeliver"),
      deliveries: withQuery("GET /webhooks/deliveries"),
      attempts: withId("GET /webhooks/deliveries/{id}/attempts"),
      redeliver: withId("POST /webhooks/deliveries/{id}/redeliver"),
      events: withQuery("GET /webhooks/events"),
    },
    token: {
      /** A key for an access token; `keyToken()` keeps it and asks again in time. */
      exchange: (apiKey: string, options?: CallOptions) =>
        send("POST /token", { token: apiKey }, options),
    },
    account: {
      /** Without the username as confirmation nothing happens: `confirmation_required` says what would. */
      delete: withBody("POST /account/delete"),
    },
  };
}

export type Functions = ReturnType<typeof functionRoutes>;

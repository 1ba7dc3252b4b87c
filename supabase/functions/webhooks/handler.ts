/**
 * /functions/v1/webhooks/…: endpoints, deliveries and events for the professional, with the user's own
 * token; `POST /dispatch` for the scheduler, with a secret of its own.
 */
import { z } from "zod";
import { type AddressRules, checkAddress } from "../_shared/address-rules.ts";
import type { RpcArgs, RpcName, UserRpc } from "../_shared/data-api.ts";
import { type DispatchRouteDeps, dispatchRoute } from "../_shared/dispatcher.ts";
import { notFound } from "../_shared/errors.ts";
import { createRouter, type Handler, type Route, readValid, validate } from "../_shared/http.ts";
import type { SendMail } from "../_shared/mail.ts";
import type { UserToken } from "../_shared/user-tokens.ts";
import { disabledMail } from "./disabled-mail.ts";
import { type DeliveryQueue, dispatch } from "./dispatch.ts";
import {
  BODY_LIMIT,
  DeliveriesQuery,
  EndpointChanges,
  EventsQuery,
  NewEndpoint,
  Redelivery,
  Rotation,
} from "./inputs.ts";
import { type SendDeps, send } from "./send.ts";

export interface WebhooksDeps extends DispatchRouteDeps, AddressRules {
  userToken: UserToken;
  rpc: UserRpc;
  queue: DeliveryQueue;
  sendMail: SendMail;
  fetch: SendDeps["fetch"];
  now(): Date;
  pause(milliseconds: number): Promise<void>;
}

/** Longest look-up of a host on save, and longest try of a delivery. */
const TRY_MS = 10_000;
/** The database counts tries of this length as slow. */
const BODY_MS = 1_000;

/** JSON that the database made, with the status that fits the route. */
function passOn(body: string, status = 200): Response {
  return status === 204
    ? new Response(null, { status })
    : new Response(body, { status, headers: { "content-type": "application/json" } });
}

export function createHandler(deps: WebhooksDeps): Handler {
  /**
   * A route of the professional: checks the token and the id, then reads what it needs. What changes
   * something or reaches outside calls a volatile RPC before all else: the check before it ends the request
   * of a revoked key and of one that only reads.
   */
  const user =
    (
      run: (
        call: <Name extends RpcName>(name: Name, args: RpcArgs<Name>) => Promise<string>,
        request: Request,
        id: string,
      ) => Promise<Response>,
    ): Route =>
    async (request, { id = "" }) => {
      const token = await deps.userToken(request);
      if (id !== "" && !z.guid().safeParse(id).success) throw notFound();
      return run((name, args) => deps.rpc(token, name, args), request, id);
    };

  const dispatchAll = (onError: (cause: unknown) => void): Promise<void> =>
    dispatch({
      queue: deps.queue,
      send: (message) => send(message, { ...deps, timeoutMs: TRY_MS, bodyMs: BODY_MS }),
      tellOwner: async (disabled) => {
        if (disabled.email) await deps.sendMail(disabledMail(disabled, disabled.email));
      },
      onError,
      now: deps.now,
      pause: deps.pause,
    });

  const checkUrl = (url: string) => checkAddress(url, deps, AbortSignal.timeout(TRY_MS));
  const query = (request: Request) => Object.fromEntries(new URL(request.url).searchParams);

  return createRouter(deps, {
    endpoints: {
      GET: user(async (call) => passOn(await call("webhook_endpoints", {}))),
      POST: user(async (call, request) => {
        const endpoint = await readValid(request, NewEndpoint, BODY_LIMIT);
        await call("authorize_action", { by_person: true });
        await checkUrl(endpoint.url);
        return passOn(await call("create_webhook_endpoint", endpoint), 201);
      }),
    },
    "endpoints/:id": {
      GET: user(async (call, _, endpoint_id) =>
        passOn(await call("webhook_endpoint", { endpoint_id })),
      ),
      PATCH: user(async (call, request, endpoint_id) => {
        const changes = await readValid(request, EndpointChanges, BODY_LIMIT);
        if (changes.url !== undefined) {
          await call("authorize_action", { by_person: true });
          await checkUrl(changes.url);
        }
        return passOn(await call("update_webhook_endpoint", { endpoint_id, changes }));
      }),
      DELETE: user(async (call, _, endpoint_id) =>
        passOn(await call("delete_webhook_endpoint", { endpoint_id }), 204),
      ),
    },
    "endpoints/:id/rotate-secret": {
      POST: user(async (call, request, endpoint_id) => {
        const { grace } = request.headers.has("content-type")
          ? await readValid(request, Rotation, BODY_LIMIT)
          : validate(Rotation, {});
        return passOn(await call("rotate_webhook_secret", { endpoint_id, grace }));
      }),
    },
    "endpoints/:id/test": {
      POST: user(async (call, _, endpoint_id) =>
        passOn(await call("test_webhook_endpoint", { endpoint_id }), 202),
      ),
    },
    "endpoints/:id/redeliver": {
      POST: user(async (call, request, endpoint_id) => {
        const { since } = await readValid(request, Redelivery, BODY_LIMIT);
        return passOn(await call("redeliver_webhooks", { endpoint_id, since }), 202);
      }),
    },
    deliveries: {
      GET: user(async (call, request) => {
        const { limit: page_size, ...filters } = validate(DeliveriesQuery, query(request));
        return passOn(await call("webhook_deliveries", { ...filters, page_size }));
      }),
    },
    "deliveries/:id/attempts": {
      GET: user(async (call, _, delivery_id) =>
        passOn(await call("webhook_attempts", { delivery_id })),
      ),
    },
    "deliveries/:id/redeliver": {
      POST: user(async (call, _, delivery_id) =>
        passOn(await call("redeliver_webhook", { delivery_id }), 202),
      ),
    },
    events: {
      GET: user(async (call, request) => {
        const { limit: page_size, ...filters } = validate(EventsQuery, query(request));
        return passOn(await call("webhook_events", { ...filters, page_size }));
      }),
    },
    dispatch: { POST: dispatchRoute(deps, dispatchAll) },
  });
}

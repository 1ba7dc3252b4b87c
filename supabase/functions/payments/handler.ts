/**
 * /functions/v1/payments/…: the professional's account and refunds with the user's own token, the payment page for
 * whoever may pay, `POST /stripe` for Stripe, `POST /dispatch` for the scheduler.
 */
import { type DispatchRouteDeps, dispatchRoute } from "../_shared/dispatcher.ts";
import { ApiError } from "../_shared/errors.ts";
import { createRouter, type Handler, type Route, readBounded, readValid } from "../_shared/http.ts";
import type { UserToken } from "../_shared/user-tokens.ts";
import { currentAccount, onboard } from "./account.ts";
import { openCheckout } from "./checkout.ts";
import { dispatch, work } from "./dispatch.ts";
import { bellOf, nameOf } from "./events.ts";
import { BODY_LIMIT, Checkout, NewRefund, Onboarding } from "./inputs.ts";
import { refundRefusal } from "./refunds.ts";
import type { CheckReturnUrl } from "./return-urls.ts";
import type { PaymentStore } from "./store.ts";
import { type PaymentProvider, ProviderError, SignatureError, type VerifyEvent } from "./stripe.ts";

/** What the keys of Stripe make possible. */
export interface Payments {
  provider: PaymentProvider;
  checkReturnUrl: CheckReturnUrl;
  /** Undefined where Stripe has not been given an address to send events to. */
  verifyEvent: VerifyEvent | undefined;
}

export interface PaymentsDeps extends DispatchRouteDeps {
  /** Undefined without Stripe's key: everything else works. */
  payments: Payments | undefined;
  store: PaymentStore;
  userToken: UserToken;
  /** One line for whoever wonders why an event had no effect. */
  debug(entry: Record<string, string>): void;
  now(): Date;
  pause(milliseconds: number): Promise<void>;
}

/** Longest event of Stripe, in bytes. */
const EVENT_LIMIT = 500_000;

const notConfigured = () =>
  new ApiError(503, "payments_not_configured", "Payments are not set up here");

export function createHandler(deps: PaymentsDeps): Handler {
  const { store } = deps;

  /** For what is told to the log while the caller gets another answer. */
  const logFor = (request: Request) => {
    const requestId = deps.newRequestId();
    const path = new URL(request.url).pathname;
    return (cause: unknown) => deps.log({ requestId, method: request.method, path, cause });
  };

  let isReported = false;
  /** Once: another key is another start of this function. */
  const reportMode = async ({ provider }: Payments) => {
    if (isReported) return;
    await store.reportMode(provider.livemode);
    isReported = true;
  };

  const configured =
    (run: (request: Request, payments: Payments) => Promise<Response>): Route =>
    async (request) => {
      if (!deps.payments) throw notConfigured();
      await reportMode(deps.payments).catch(logFor(request));
      return run(request, deps.payments);
    };

  /** A failure of Stripe that nothing has been made of. */
  const orUnavailable = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    try {
      return await answer;
    } catch (cause) {
      if (!(cause instanceof ProviderError)) throw cause;
      throw new ApiError(502, "payment_provider_unavailable", "Stripe did not do it", { cause });
    }
  };

  const connect = configured(async (request, { provider, checkReturnUrl }) => {
    const token = await deps.userToken(request);
    const input = await readValid(request, Onboarding, BODY_LIMIT);
    const { return_url: returnUrl, refresh_url: refreshUrl = returnUrl, country } = input;
    checkReturnUrl("return_url", returnUrl);
    checkReturnUrl("refresh_url", refreshUrl);
    const target = { returnUrl, refreshUrl, country: country?.toLowerCase() };
    return Response.json(await orUnavailable(onboard(token, target, { provider, store })));
  });

  const account = configured(async (request, { provider }) => {
    const token = await deps.userToken(request);
    const body = await orUnavailable(currentAccount(token, { provider, store }));
    return new Response(body, { headers: { "content-type": "application/json" } });
  });

  const detach = configured(async (request) => {
    await store.detach(await deps.userToken(request));
    return new Response(null, { status: 204 });
  });

  const checkout = configured(async (request, { provider, checkReturnUrl }) => {
    const input = await readValid(request, Checkout, BODY_LIMIT);
    const { order_id, token = null, success_url, cancel_url } = input;
    checkReturnUrl("success_url", success_url);
    checkReturnUrl("cancel_url", cancel_url);
    // The receipt's token is enough; browsers without a session send the public key as theirs.
    if (token === null) await store.authorizeCheckout(bearer(request), order_id);
    const wanted = { order_id, token, success_url, cancel_url, livemode: provider.livemode };
    const onError = logFor(request);
    return Response.json(await orUnavailable(openCheckout(wanted, { provider, store, onError })));
  });

  const refund = configured(async (request, { provider }) => {
    const token = await deps.userToken(request);
    const begun = await store.beginRefund(token, await readValid(request, NewRefund, BODY_LIMIT));
    const onError = logFor(request);
    let { status } = begun;
    try {
      // The dispatcher may have been faster.
      const [task] = await store.claim(1, begun.refund_id);
      if (task) status = (await work(task, { ...deps, provider, onError })) ?? status;
    } catch (error) {
      if (error instanceof ProviderError && error.outcome === "refused") throw refundRefusal(error);
      // It goes on by itself: a caller who is told of a failure would begin another one.
      onError(error);
    }
    return Response.json({ ...begun, status }, { status: status === "succeeded" ? 200 : 202 });
  });

  const event = configured(async (request, { provider, verifyEvent }) => {
    if (!verifyEvent) throw notConfigured();
    const body = await readBounded(request, EVENT_LIMIT);
    const signed = await verifyEvent(body, request.headers.get("stripe-signature")).catch(
      (error: unknown) => {
        if (!(error instanceof SignatureError)) throw error;
        throw new ApiError(400, "invalid_signature", "Stripe has not signed this");
      },
    );
    const bell = bellOf(signed);
    if (bell) {
      const { accountId, kind, objectId, livemode } = bell;
      if (livemode !== provider.livemode) {
        deps.debug({ ignored: "other mode", ...nameOf(signed) });
      } else if (!(await store.ring(accountId, kind, objectId, livemode))) {
        deps.debug({ ignored: "unknown account", ...nameOf(signed) });
      }
    }
    return new Response(null, { status: 200 });
  });

  return createRouter(deps, {
    account: { POST: connect, GET: account, DELETE: detach },
    checkout: { POST: checkout },
    refunds: { POST: refund },
    stripe: { POST: event },
    dispatch: {
      POST: dispatchRoute(deps, async (onError) => {
        if (deps.payments) {
          const { provider } = deps.payments;
          await reportMode(deps.payments).catch(onError);
          await dispatch({ ...deps, provider, onError });
        }
      }),
    },
  });
}

/** Whoever it is: the database knows tokens of professionals and of clients, and what each may pay. */
function bearer(request: Request): string {
  const [, token] = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token !== undefined) return token;
  throw new ApiError(401, "invalid_token", "An access token, or the receipt's token, is required", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

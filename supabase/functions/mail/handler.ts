/**
 * /functions/v1/mail/…: `POST /dispatch` for the scheduler, `POST /events` for the mail provider, and what the
 * links in mails lead to. A link acts by POST only: programs that look at mails open every address in them.
 */
import { type DispatchRouteDeps, dispatchRoute } from "../_shared/dispatcher.ts";
import { ApiError, notFound, unknownPath } from "../_shared/errors.ts";
import { createRouter, type Handler, type Route, readBounded, readValid } from "../_shared/http.ts";
import { type Link, type Purpose, pageLink } from "../_shared/links.ts";
import type { MailProvider } from "../_shared/mail.ts";
import { dispatch } from "./dispatch.ts";
import { providerEvent, type VerifyEvent } from "./events.ts";
import { LinkToken, TOKEN_LIMIT } from "./inputs.ts";
import type { LinkDeps } from "./mail-links.ts";
import type { MailStore } from "./store.ts";

export interface MailDeps extends DispatchRouteDeps, LinkDeps {
  store: MailStore;
  provider: MailProvider;
  perSecond: number;
  /** Undefined where no provider was given a secret to sign events with. */
  verifyEvent: VerifyEvent | undefined;
  now(): Date;
  pause(milliseconds: number): Promise<void>;
}

/** Longest event of the provider, in bytes. */
const EVENT_LIMIT = 100_000;
/** How long an event may be ahead of what the dispatcher notes: more than a lease. */
const EVENT_WAIT_MS = 10 * 60_000;
/** How long what was reported of the portal is taken as known. */
const REPORT_MS = 60 * 60_000;

const invalidLink = () =>
  new ApiError(401, "invalid_link", "The link is not valid or no longer valid");

export function createHandler(deps: MailDeps): Handler {
  const { store, portalUrl } = deps;

  const linkOf = async (token: string, purpose: Purpose): Promise<Link> => {
    const link = await deps.links?.verify(token, purpose);
    if (!link) throw invalidLink();
    return link;
  };
  const done = () => new Response(null, { status: 204 });
  const tokenOf = (request: Request) => new URL(request.url).searchParams.get("t") ?? "";

  let reportedAt = Number.NEGATIVE_INFINITY;
  /** Rules that need links ask whether there are any. */
  const reportPortal = async () => {
    if (deps.now().getTime() < reportedAt + REPORT_MS) return;
    await store.reportPortal((deps.links && portalUrl) ?? null);
    reportedAt = deps.now().getTime();
  };

  const events: Route = async (request) => {
    if (!deps.verifyEvent) throw unknownPath();
    const body = new TextDecoder().decode(await readBounded(request, EVENT_LIMIT));
    let signed: unknown;
    try {
      signed = deps.verifyEvent(body, request.headers);
    } catch {
      throw new ApiError(401, "invalid_signature", "The provider has not signed this");
    }
    const event = providerEvent(signed);
    // It may be here before the dispatcher has noted the id. What is no success is sent again, but not
    // without an end, as for a client who was erased: the provider would give up on all events.
    if (event && !(await store.recordEvent(event)) && event.isQueued) {
      const age = deps.now().getTime() - event.at.getTime();
      if (age < EVENT_WAIT_MS) throw notFound("No mail has this id yet");
    }
    return done();
  };

  /** RFC 8058: the program of whoever got the mail posts here, without cookies, and follows no redirect. */
  const unsubscribe: Route = async (request) => {
    const { row, epoch } = await linkOf(tokenOf(request), "unsubscribe");
    if (!(await store.unsubscribe(row, epoch))) throw invalidLink();
    return done();
  };

  const confirmAddress: Route = async (request) => {
    const { token } = await readValid(request, LinkToken, TOKEN_LIMIT);
    const { row, email } = await linkOf(token, "confirm_address");
    if (!email || !(await store.confirmAddress(row, email))) throw invalidLink();
    return done();
  };

  /** A person who opens the address gets to a page, which asks and posts. */
  const unsubscribePage = (page: string): Route => {
    return (request) =>
      new Response(null, {
        status: 303,
        headers: {
          location: pageLink(page, "unsubscribe", encodeURIComponent(tokenOf(request))),
          "cache-control": "no-store",
          "referrer-policy": "no-referrer",
        },
      });
  };

  return createRouter(deps, {
    dispatch: {
      POST: dispatchRoute(deps, async (onError) => {
        // Mails go out all the same.
        await reportPortal().catch(onError);
        await dispatch({ ...deps, onError });
      }),
    },
    events: { POST: events },
    unsubscribe: {
      POST: unsubscribe,
      ...(portalUrl !== undefined && { GET: unsubscribePage(portalUrl) }),
    },
    "confirm-address": { POST: confirmAddress },
  });
}

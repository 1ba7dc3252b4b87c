/**
 * POST /functions/v1/verify-portal-otp {email, code, professionalId}: a code becomes a session.
 * POST /functions/v1/verify-portal-otp/link {token}: a booking's link becomes a session for it.
 * POST /functions/v1/verify-portal-otp/confirm {token}: a link ends the hold of a booking or order.
 * POST /functions/v1/verify-portal-otp/sign-out: the bearer's session ends.
 */
import { callerIp } from "../_shared/caller-ip.ts";
import { ApiError, rateLimited } from "../_shared/errors.ts";
import {
  createRouter,
  type Handler,
  type HttpDeps,
  type Route,
  readValid,
} from "../_shared/http.ts";
import type { Link, Links, Purpose } from "../_shared/links.ts";
import type { HashCode } from "../_shared/portal/codes.ts";
import { BODY_LIMIT, CodeLogin, LinkToken } from "../_shared/portal/inputs.ts";
import type { PortalSession, PortalStore } from "../_shared/portal/store.ts";
import type { PortalTokens } from "../_shared/portal/tokens.ts";

export interface VerifyDeps extends HttpDeps {
  store: Omit<PortalStore, "startCode" | "setCode">;
  tokens: PortalTokens;
  /** Undefined where no links are mailed: then no token is one. */
  links: Links | undefined;
  hashCode: HashCode;
  /** Attempts per hour and IP address. */
  verifiesPerIpHour: number;
  /** Uses of links per hour and IP address. */
  linkUsesPerIpHour: number;
  now(): Date;
}

/** RFC 6749, 5.1. */
const NEVER_KEPT = { "Cache-Control": "no-store" };

/** Not ours, expired, for something else, of an earlier address, over: one answer for all. */
function invalidLink(): ApiError {
  return new ApiError(401, "invalid_link", "The link is not valid any more", {
    hint: "Use the newest mail, or ask for a code.",
  });
}

/** Answers 200 with a portal session, 401 for whatever was wrong, 429, or 204 to a sign-out. */
export function createHandler(deps: VerifyDeps): Handler {
  const signedIn = async (session: PortalSession): Promise<Response> => {
    const { issued_at, expires_at, client, professional } = session;
    const answer = {
      access_token: await deps.tokens.sign(session),
      token_type: "bearer",
      expires_in: expires_at - issued_at,
      expires_at,
      client,
      professional,
    };
    return Response.json(answer, { headers: NEVER_KEPT });
  };

  /** What the token of a link says; every use is counted, whatever comes of it. */
  const readLink = async (request: Request, purpose: Purpose): Promise<Link> => {
    const { token } = await readValid(request, LinkToken, BODY_LIMIT);
    const retryAfter = await deps.store.countLinkUse(
      callerIp(request.headers),
      deps.linkUsesPerIpHour,
    );
    if (retryAfter > 0) throw rateLimited(retryAfter);
    const link = await deps.links?.verify(token, purpose);
    if (!link) throw invalidLink();
    return link;
  };

  const verify: Route = async (request) => {
    const input = await readValid(request, CodeLogin, BODY_LIMIT);
    const { email, code, professionalId } = input;
    const attempt = await deps.store.startVerification(
      professionalId,
      email,
      callerIp(request.headers),
      deps.verifiesPerIpHour,
    );
    if (attempt.retry_after !== null) throw rateLimited(attempt.retry_after);
    const hmac = await deps.hashCode(code, { professionalId, clientId: attempt.client_id });
    const session = await deps.store.finishVerification(professionalId, attempt, hmac);
    // Wrong, used, superseded, expired, locked, unknown: whoever guesses learns nothing.
    if (!session) {
      throw new ApiError(401, "invalid_otp", "The code is not valid", {
        hint: "Ask for a new code and use the newest mail.",
      });
    }
    return signedIn(session);
  };

  const openLink: Route = async (request) => {
    const { kind = "booking", row, epoch } = await readLink(request, "manage");
    const session = kind === "booking" && (await deps.store.startBookingSession(row, epoch));
    if (!session) throw invalidLink();
    return signedIn(session);
  };

  const confirm: Route = async (request) => {
    const { kind = "booking", row, epoch } = await readLink(request, "confirm");
    const confirmed = await deps.store.confirmHold(kind, row, epoch);
    if (!confirmed) throw invalidLink();
    return Response.json(confirmed, { headers: NEVER_KEPT });
  };

  const signOut: Route = async (request) => {
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const sessionId = token && (await deps.tokens.sessionOf(token, deps.now()));
    if (!sessionId) {
      throw new ApiError(401, "invalid_token", "The token is not a valid portal token", {
        headers: { "WWW-Authenticate": "Bearer" },
      });
    }
    await deps.store.endSession(sessionId);
    return new Response(null, { status: 204 });
  };

  return createRouter(deps, {
    "": { POST: verify },
    link: { POST: openLink },
    confirm: { POST: confirm },
    "sign-out": { POST: signOut },
  });
}

/**
 * POST /functions/v1/verify-portal-otp {email, code, professionalId}: a code becomes a session.
 * POST /functions/v1/verify-portal-otp/sign-out: the bearer's session ends.
 */
import { z } from "zod";
import { callerIp } from "../_shared/caller-ip.ts";
import { ApiError, rateLimited } from "../_shared/errors.ts";
import {
  createRouter,
  type Handler,
  type HttpDeps,
  type Route,
  readValid,
} from "../_shared/http.ts";
import type { HashCode } from "../_shared/portal/codes.ts";
import { BODY_LIMIT, email, professionalId } from "../_shared/portal/inputs.ts";
import type { PortalStore } from "../_shared/portal/store.ts";
import type { PortalTokens } from "../_shared/portal/tokens.ts";

export interface VerifyDeps extends HttpDeps {
  store: Pick<PortalStore, "startVerification" | "finishVerification" | "endSession">;
  tokens: PortalTokens;
  hashCode: HashCode;
  /** Attempts per hour and IP address. */
  verifiesPerIpHour: number;
  now(): Date;
}

/** Seconds that a portal session lasts: the default of `portal_sessions.expires_at`. */
const LIFETIME = 3600;

const Input = z.strictObject({
  email,
  code: z.string().regex(/^[0-9]{6}$/, { error: "is not six digits" }),
  professionalId,
});

/** Answers 200 with a portal session, 401 for whatever was wrong, 429, or 204 to a sign-out. */
export function createHandler(deps: VerifyDeps): Handler {
  const verify: Route = async (request) => {
    const input = await readValid(request, Input, BODY_LIMIT);
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
    // By the database's clock, which is the one that ends the session.
    const issuedAt = session.expires_at - LIFETIME;
    const answer = {
      access_token: await deps.tokens.sign(session, issuedAt),
      token_type: "bearer",
      expires_in: LIFETIME,
      expires_at: session.expires_at,
      client: session.client,
      professional: session.professional,
    };
    // RFC 6749, 5.1.
    return Response.json(answer, { headers: { "Cache-Control": "no-store" } });
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

  return createRouter(deps, { "": { POST: verify }, "sign-out": { POST: signOut } });
}

/** Access tokens of the portal, whose clients the auth service does not know. */
import type { TokenSigner } from "../signing.ts";
import type { PortalSession } from "./store.ts";

export interface PortalTokens {
  sign(session: PortalSession): Promise<string>;
  /** Session id of a valid portal token, null for anything else. */
  sessionOf(token: string, now: Date): Promise<string | null>;
}

/** The audience tells portal tokens from those of users. */
const AUDIENCE = "portal";
const ROLES: unknown[] = ["portal_client", "portal_booking"];

export function portalTokens(signer: TokenSigner): PortalTokens {
  return {
    sign: ({ session_id, issued_at, expires_at, booking_id, client, professional }) =>
      signer.sign({
        ...(booking_id === null
          ? { role: "portal_client", email: client.email }
          : { role: "portal_booking", booking_id }),
        professional_id: professional.id,
        session_id,
        sub: client.id,
        aud: AUDIENCE,
        iat: issued_at,
        exp: expires_at,
      }),
    async sessionOf(token, now) {
      const payload = await signer.verify(token, now);
      if (payload?.aud !== AUDIENCE) return null;
      const { role, session_id } = payload;
      return ROLES.includes(role) && typeof session_id === "string" ? session_id : null;
    },
  };
}

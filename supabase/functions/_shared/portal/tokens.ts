/**
 * Access tokens of the portal. They are signed here because the auth service knows professionals
 * only; the Data API accepts them because it trusts the same key.
 */
import { importJWK, type JWK, jwtVerify, SignJWT } from "jose";
import { EnvError, optional, type ReadEnv, required } from "../env.ts";
import type { PortalSession } from "./store.ts";

export interface PortalTokens {
  sign(session: PortalSession): Promise<string>;
  /** Session id of a valid portal token, null for anything else. */
  sessionOf(token: string, now: Date): Promise<string | null>;
}

/** The audience tells portal tokens from those of users. */
const AUDIENCE = "portal";
const ROLES: unknown[] = ["portal_client", "portal_booking"];

/**
 * With `PORTAL_SIGNING_JWK` an imported ES256 key, its `kid` sent: the way for projects on signing
 * keys. With `PORTAL_JWT_SECRET` the project's HS256 secret, without a `kid`: local stacks and
 * projects on the legacy secret. Exactly one of them.
 */
export async function portalTokens(read: ReadEnv): Promise<PortalTokens> {
  const jwkText = optional(read, "PORTAL_SIGNING_JWK");
  const secret = optional(read, "PORTAL_JWT_SECRET");
  if ((jwkText === undefined) === (secret === undefined)) {
    throw new EnvError("exactly one of PORTAL_SIGNING_JWK and PORTAL_JWT_SECRET must be set");
  }
  if (secret !== undefined) {
    const key = new TextEncoder().encode(required(read, "PORTAL_JWT_SECRET", 32));
    return tokensWith({ alg: "HS256" }, key, key);
  }
  try {
    return await tokensOfJwk(JSON.parse(jwkText as string) as JWK);
  } catch {
    // Whatever was wrong, the text is a private key and stays out of the message.
    throw new EnvError("PORTAL_SIGNING_JWK is not a private ES256 key (P-256) with a kid");
  }
}

type Key = Awaited<ReturnType<typeof importJWK>>;

async function tokensOfJwk(jwk: JWK): Promise<PortalTokens> {
  const { d, kid, key_ops: _uses, ...publicJwk } = jwk;
  if (!d || typeof kid !== "string" || kid === "") throw new TypeError("d or kid is missing");
  const signingKey = await importJWK({ ...publicJwk, d, key_ops: ["sign"] }, "ES256");
  // The public half alone checks signatures.
  const checkingKey = await importJWK({ ...publicJwk, key_ops: ["verify"] }, "ES256");
  // Deno imports halves of different keys; they would sign what nobody accepts.
  const probe = await new SignJWT().setProtectedHeader({ alg: "ES256" }).sign(signingKey);
  await jwtVerify(probe, checkingKey);
  return tokensWith({ alg: "ES256", kid }, signingKey, checkingKey);
}

function tokensWith(
  header: { alg: "ES256" | "HS256"; kid?: string },
  signingKey: Key,
  checkingKey: Key,
): PortalTokens {
  return {
    sign: ({ session_id, issued_at, expires_at, booking_id, client, professional }) =>
      new SignJWT({
        ...(booking_id === null
          ? { role: "portal_client", email: client.email }
          : { role: "portal_booking", booking_id }),
        professional_id: professional.id,
        session_id,
      })
        .setProtectedHeader({ ...header, typ: "JWT" })
        .setSubject(client.id)
        .setAudience(AUDIENCE)
        .setIssuedAt(issued_at)
        .setExpirationTime(expires_at)
        .sign(signingKey),
    async sessionOf(token, now) {
      try {
        const { payload } = await jwtVerify(token, checkingKey, {
          algorithms: [header.alg],
          audience: AUDIENCE,
          currentDate: now,
        });
        const { role, session_id } = payload;
        return ROLES.includes(role) && typeof session_id === "string" ? session_id : null;
      } catch {
        return null;
      }
    },
  };
}

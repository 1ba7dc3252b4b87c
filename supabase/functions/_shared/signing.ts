/**
 * Access tokens that are signed here, because the auth service signs for people who sign in to it only:
 * those of the portal, and those of professionals' own programs. The Data API accepts them because it
 * trusts the same key.
 */
import { importJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { EnvError, optional, type ReadEnv, required } from "./env.ts";

/** What a token says. Instants are Unix seconds. */
export interface TokenClaims {
  /** The database role that it takes. */
  role: string;
  sub: string;
  aud: string;
  session_id: string;
  iat: number;
  exp: number;
  [claim: string]: unknown;
}

export interface TokenSigner {
  sign(claims: TokenClaims): Promise<string>;
  /** What a token of ours says; null for one that another key signed, that has expired or is none. */
  verify(token: string, now: Date): Promise<JWTPayload | null>;
}

/**
 * With `TOKEN_SIGNING_JWK` an imported ES256 key, its `kid` sent: the way for projects on signing
 * keys. With `TOKEN_JWT_SECRET` the project's HS256 secret, without a `kid`: local stacks and
 * projects on the legacy secret. Exactly one of them.
 */
export async function tokenSigner(read: ReadEnv): Promise<TokenSigner> {
  const jwkText = optional(read, "TOKEN_SIGNING_JWK");
  const secret = optional(read, "TOKEN_JWT_SECRET");
  if ((jwkText === undefined) === (secret === undefined)) {
    throw new EnvError("exactly one of TOKEN_SIGNING_JWK and TOKEN_JWT_SECRET must be set");
  }
  if (secret !== undefined) {
    const key = new TextEncoder().encode(required(read, "TOKEN_JWT_SECRET", 32));
    return signerWith({ alg: "HS256" }, key, key);
  }
  try {
    return await signerOfJwk(JSON.parse(jwkText as string) as JWK);
  } catch {
    // Whatever was wrong, the text is a private key and stays out of the message.
    throw new EnvError("TOKEN_SIGNING_JWK is not a private ES256 key (P-256) with a kid");
  }
}

type Key = Awaited<ReturnType<typeof importJWK>>;

async function signerOfJwk(jwk: JWK): Promise<TokenSigner> {
  const { d, kid, key_ops: _uses, ...publicJwk } = jwk;
  if (!d || typeof kid !== "string" || kid === "") throw new TypeError("d or kid is missing");
  const signingKey = await importJWK({ ...publicJwk, d, key_ops: ["sign"] }, "ES256");
  // The public half alone checks signatures.
  const checkingKey = await importJWK({ ...publicJwk, key_ops: ["verify"] }, "ES256");
  // Deno imports halves of different keys; they would sign what nobody accepts.
  const probe = await new SignJWT().setProtectedHeader({ alg: "ES256" }).sign(signingKey);
  await jwtVerify(probe, checkingKey);
  return signerWith({ alg: "ES256", kid }, signingKey, checkingKey);
}

function signerWith(
  header: { alg: "ES256" | "HS256"; kid?: string },
  signingKey: Key,
  checkingKey: Key,
): TokenSigner {
  return {
    sign: (claims) =>
      new SignJWT(claims).setProtectedHeader({ ...header, typ: "JWT" }).sign(signingKey),
    async verify(token, now) {
      try {
        const options = { algorithms: [header.alg], currentDate: now };
        return (await jwtVerify(token, checkingKey, options)).payload;
      } catch {
        return null;
      }
    },
  };
}

/**
 * Who calls: functions check a professional's token themselves, because the platform's own check also
 * lets the public key and portal tokens pass.
 */
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from "jose";
import { EnvError, optional, type ReadEnv, required } from "./env.ts";
import { ApiError } from "./errors.ts";
import { tokenSigner } from "./signing.ts";

/**
 * The token of a professional or of a program with a key; 401 `invalid_token` or 403 `forbidden` for any
 * other.
 */
export type UserToken = (request: Request) => Promise<string>;

function invalidToken(): ApiError {
  return new ApiError(401, "invalid_token", "A valid access token is required", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

function publishedKeys(text: string | undefined): JWK[] {
  if (text === undefined) return [];
  try {
    const { keys } = JSON.parse(text) as { keys?: JWK[] };
    if (Array.isArray(keys)) return keys;
  } catch {
    // Reported below, without the text, which may hold a secret.
  }
  throw new EnvError("SUPABASE_JWKS is not a JSON object with keys");
}

/**
 * By our own key first: the tokens of programs are signed with it, and a published list may be older than
 * it. Then ES256 and RS256 by the keys of `SUPABASE_JWKS`; HS256 by the symmetric key in it, which local stacks have, or by `JWT_SECRET`, for hosted projects on the legacy secret. The session is the
 * Data API's to check.
 */
export async function userTokens(read: ReadEnv, now: () => Date): Promise<UserToken> {
  const signer = await tokenSigner(read);
  const keys = publishedKeys(optional(read, "SUPABASE_JWKS"));
  const published = createLocalJWKSet({ keys: keys.filter(({ kty }) => kty !== "oct") });
  const symmetric = keys.find(({ kty }) => kty === "oct")?.k;
  const secret = optional(read, "JWT_SECRET")
    ? new TextEncoder().encode(required(read, "JWT_SECRET", 32))
    : symmetric === undefined
      ? undefined
      : Uint8Array.from(atob(symmetric.replace(/-/g, "+").replace(/_/g, "/")), (c) =>
          c.charCodeAt(0),
        );
  if (keys.length === 0 && !secret) {
    throw new EnvError("neither SUPABASE_JWKS nor JWT_SECRET is set");
  }

  const verify = async (token: string): Promise<JWTPayload> => {
    const currentDate = now();
    const own = await signer.verify(token, currentDate);
    if (own) return own;
    if (decodeProtectedHeader(token).alg === "HS256" && secret) {
      return (await jwtVerify(token, secret, { algorithms: ["HS256"], currentDate })).payload;
    }
    const algorithms = ["ES256", "RS256"];
    return (await jwtVerify(token, published, { algorithms, currentDate })).payload;
  };

  return async (request) => {
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (!token) throw invalidToken();
    const payload = await verify(token).catch(() => {
      throw invalidToken();
    });
    if (payload.role !== "authenticated") {
      throw new ApiError(403, "forbidden", "Only a professional may do this");
    }
    if (!payload.sub || payload.exp === undefined) throw invalidToken();
    return token;
  };
}

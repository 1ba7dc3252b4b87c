import { compactVerify, decodeProtectedHeader, type JWTPayload } from "jose";
import { restError } from "./answers.ts";

const skewSeconds = 30;

/**
 * Bend: bearer tokens of the REST service.
 * Upstream takes a malformed token for no token at all, allows no clock skew and ignores `kid` and `nbf`.
 * The platform's REST service answers 401 with PGRST301 (cannot be decoded) or PGRST303 (claims), and
 * tries a token that names a key with that key only; our secret has no name.
 */
export async function verifyToken(token: string, secret: string): Promise<JWTPayload | Response> {
  if (token === "") return undecodable("Empty JWT is sent in Authorization header");
  const parts = token.split(".").length;
  if (parts !== 3) return undecodable(`Expected 3 parts in JWT; got ${parts}`);
  let claims: JWTPayload;
  try {
    if (decodeProtectedHeader(token).kid !== undefined) throw new Error("unknown key");
    const key = new TextEncoder().encode(secret);
    const { payload } = await compactVerify(token, key, { algorithms: ["HS256"] });
    claims = JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return undecodable("No suitable key or wrong key type");
  }
  const fault = claimsFault(claims, Math.floor(Date.now() / 1000));
  return fault ? unauthorized("PGRST303", fault, null) : claims;
}

function claimsFault(claims: JWTPayload, now: number): string | null {
  if (typeof claims !== "object" || claims === null || Array.isArray(claims)) {
    return "Parsing claims failed";
  }
  const { exp, nbf, iat, role } = claims as Record<string, unknown>;
  for (const [name, value] of Object.entries({ exp, nbf, iat })) {
    if (value !== undefined && typeof value !== "number") {
      return `The JWT '${name}' claim must be a number`;
    }
  }
  if (typeof exp === "number" && now - skewSeconds > exp) return "JWT expired";
  if (typeof nbf === "number" && now + skewSeconds < nbf) return "JWT not yet valid";
  if (typeof iat === "number" && now + skewSeconds < iat) return "JWT issued at future";
  if (role !== undefined && typeof role !== "string")
    return "The JWT 'role' claim must be a string";
  return null;
}

function undecodable(message: string): Response {
  return unauthorized("PGRST301", message, "None of the keys was able to decode the JWT");
}

function unauthorized(code: string, message: string, details: string | null): Response {
  const challenge = `Bearer error="invalid_token", error_description="${message}"`;
  return restError(401, { code, message, details }, { "www-authenticate": challenge });
}

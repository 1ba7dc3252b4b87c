import { errors, type JWTPayload, jwtVerify } from "jose";
import { errorResponse } from "../http.ts";
import type { Keys } from "../keys.ts";

/** A key that was accepted. A JWT-shaped one says who calls only when it is also the bearer token. */
export interface AcceptedKey {
  role: "anon" | "service_role";
  opaque: boolean;
}

export const needsKey = (path: string): boolean =>
  !/^\/auth\/v1\/(authorize|callback|verify|health|\.well-known\/.*)$/.test(path);

/**
 * Bend: API keys.
 * Upstream knows the opaque keys (`sb_…`) only. The platform's gateway takes both generations, in the
 * header `apikey` or the query, and refuses everything else before the service sees the request.
 */
export function checkKey(request: Request, url: URL, keys: Keys): AcceptedKey | Response {
  const key = request.headers.get("apikey") ?? url.searchParams.get("apikey");
  if (!key) return refuse("UNAUTHORIZED_MISSING_API_KEY", "No API key found in request");
  if (key === keys.PUBLISHABLE_KEY) return { role: "anon", opaque: true };
  if (key === keys.ANON_KEY) return { role: "anon", opaque: false };
  if (key === keys.SERVICE_ROLE_KEY) return { role: "service_role", opaque: false };
  if (key !== keys.SECRET_KEY) return refuse("UNAUTHORIZED_INVALID_API_KEY", "Invalid API key");
  if (/^\s*Mozilla\s*\/\s*5/i.test(request.headers.get("user-agent") ?? "")) {
    const message = "Forbidden use of secret API key in browser";
    return refuse("UNAUTHORIZED_INVALID_API_KEY_TYPE", message);
  }
  return { role: "service_role", opaque: true };
}

function refuse(code: string, message: string): Response {
  return Response.json({ message }, { status: 401, headers: { "sb-error-code": code } });
}

/** The bearer token, if there is one that is not an opaque key: those are no tokens. */
export function bearerToken(headers: Headers): string | null {
  const [, token] = /^bearer +(.*)$/i.exec(headers.get("authorization") ?? "") ?? [];
  return token === undefined || token.startsWith("sb_") ? null : token.trim();
}

const SKEW_SECONDS = 30;

/**
 * Bend: bearer tokens of the REST service.
 * Upstream takes a malformed token for no token at all, allows no clock skew and ignores `kid` and `nbf`.
 * The platform's REST service answers 401 with PGRST301 (cannot be decoded) or PGRST303 (claims), and
 * tries a token that names a key with that key only; our secret has no name.
 */
export async function verifyToken(token: string, secret: string): Promise<JWTPayload | Response> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ["HS256"],
      clockTolerance: SKEW_SECONDS,
    });
    const { iat = 0, role = "" } = payload;
    if (protectedHeader.kid !== undefined) return unauthorized("PGRST301", "No suitable key");
    if (iat > Date.now() / 1000 + SKEW_SECONDS || typeof role !== "string") {
      return unauthorized("PGRST303", "JWT issued at future, or its role is no string");
    }
    return payload;
  } catch (error) {
    const { JWTExpired, JWTClaimValidationFailed } = errors;
    if (error instanceof JWTExpired) return unauthorized("PGRST303", "JWT expired");
    return error instanceof JWTClaimValidationFailed
      ? unauthorized("PGRST303", "JWT not yet valid, or a time that is no number")
      : unauthorized("PGRST301", "None of the keys was able to decode the JWT");
  }
}

function unauthorized(code: string, message: string): Response {
  const response = errorResponse(401, code, message);
  const challenge = `Bearer error="invalid_token", error_description="${message}"`;
  response.headers.set("www-authenticate", challenge);
  return response;
}

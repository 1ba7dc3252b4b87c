import type { Keys } from "../keys.ts";

export type KeyRole = "anon" | "service_role";

/** A key that was accepted. A JWT-shaped one says who calls only when it is also the bearer token. */
export interface AcceptedKey {
  role: KeyRole;
  opaque: boolean;
}

const open = [
  /^\/auth\/v1\/(authorize|callback|verify)$/,
  /^\/auth\/v1\/\.well-known\//,
  /^\/auth\/v1\/health$/,
];

export function needsKey(path: string): boolean {
  return !open.some((pattern) => pattern.test(path));
}

/**
 * Bend: API keys.
 * Upstream knows the opaque keys (`sb_…`) only. The platform's gateway takes both generations, in the
 * header `apikey` or the query, and refuses everything else before the service sees the request.
 */
export function checkKey(request: Request, url: URL, keys: Keys): AcceptedKey | Response {
  const key = request.headers.get("apikey") ?? url.searchParams.get("apikey");
  if (!key) {
    return refuse("UNAUTHORIZED_MISSING_API_KEY", {
      message: "No API key found in request",
      hint: "No `apikey` request header or url param was found.",
    });
  }
  const accepted = acceptedKeys(keys).get(key);
  if (!accepted) {
    return refuse("UNAUTHORIZED_INVALID_API_KEY", {
      message: "Invalid API key",
      hint: "Double check your Supabase `anon` or `service_role` API key.",
    });
  }
  const secret = accepted.opaque && accepted.role === "service_role";
  if (secret && /^\s*Mozilla\s*\/\s*5/i.test(request.headers.get("user-agent") ?? "")) {
    return refuse("UNAUTHORIZED_INVALID_API_KEY_TYPE", {
      message: "Forbidden use of secret API key in browser",
      hint: "Secret API keys can only be used in a protected environment.",
    });
  }
  return accepted;
}

function acceptedKeys(keys: Keys): Map<string, AcceptedKey> {
  return new Map([
    [keys.publishableKey, { role: "anon", opaque: true }],
    [keys.secretKey, { role: "service_role", opaque: true }],
    [keys.anonKey, { role: "anon", opaque: false }],
    [keys.serviceRoleKey, { role: "service_role", opaque: false }],
  ]);
}

function refuse(code: string, body: { message: string; hint: string }): Response {
  return Response.json(body, { status: 401, headers: { "sb-error-code": code } });
}

/** The bearer token, if there is one that is not an opaque key: those are no tokens. */
export function bearerToken(headers: Headers): string | null {
  const [, token] = /^bearer +(.*)$/i.exec(headers.get("authorization") ?? "") ?? [];
  return token === undefined || token.startsWith("sb_") ? null : token.trim();
}

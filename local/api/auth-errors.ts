import type { RequestContext } from "./context.ts";
import { isDatabaseError } from "./rest-errors.ts";

export const apiVersionHeader = "x-supabase-api-version";
const namedCodes = "2024-01-01";

interface AuthErrorBody {
  code?: number | string;
  error_code?: string;
  msg?: string;
}

export function authError(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "x-sb-error-code": code } },
  );
}

/** A fault of ours or of a trigger: what failed is in the log, not in the answer. */
export function unexpectedFailure(context: RequestContext): Response {
  const creates = /^\/(signup|otp|magiclink|callback)$/.test(context.path);
  const message =
    creates && isDatabaseError(context.fault)
      ? "Database error saving new user"
      : "Unexpected failure, please check server logs for more information";
  return authError(500, "unexpected_failure", message);
}

/**
 * Bend: error bodies.
 * Upstream always answers as the first version of the auth API did. The platform does so too, unless the
 * caller asks for a version since 2024-01-01, as supabase-js does: then the code is a name.
 */
export async function errorOfVersion(response: Response, asked: string | null): Promise<Response> {
  if (response.status < 400 || asked === null || asked < namedCodes) return response;
  if (!response.headers.get("content-type")?.includes("json")) return response;
  const { error_code, code: _, msg, ...rest }: AuthErrorBody = await response.clone().json();
  if (error_code === undefined) return response;
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.set(apiVersionHeader, namedCodes);
  return Response.json(
    { code: error_code, message: msg, ...rest },
    { status: response.status, headers },
  );
}

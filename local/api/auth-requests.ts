import { z } from "zod";
import { isEmail } from "../../supabase/functions/_shared/email-address.ts";
import { authError } from "./auth-answers.ts";
import { bearerToken } from "./keys.ts";

const text = z.string().nullish();
const object = z.record(z.string(), z.unknown()).nullish();
const bodySchema = z.looseObject({
  ...{ email: text, password: text, phone: text, token: text, token_hash: text, type: text },
  ...{ refresh_token: text, nonce: text, data: object, options: object },
});

/**
 * Bend: types of a body.
 * Upstream trusts them and fails with 500. The platform's decoder refuses them, and replaces half a
 * surrogate pair, which is no character.
 */
function parseBody(body: string): z.infer<typeof bodySchema> | undefined {
  if (body.trim() === "") return undefined;
  const value = JSON.parse(body, (_key, item) =>
    typeof item === "string" ? Buffer.from(item).toString() : item,
  );
  return bodySchema.parse(value);
}

/**
 * Bend: requests.
 * Upstream signs out of this session when no scope is given, the platform of all of them. Upstream does
 * not know the type `email` of a code, which stands for any code that was mailed. Of an address it wants
 * an @ and a dot; the platform looks at its form wherever it may become somebody's.
 */
export function mendRequest(outer: Request, url: URL, text: string): Request | Response {
  const inner = new URL(url);
  const path = url.pathname.replace(/^\/auth\/v1/, "");
  let body: ReturnType<typeof parseBody>;
  try {
    body = parseBody(text);
  } catch {
    return authError(400, "bad_json", "Could not parse request body as JSON");
  }
  if (path !== "/token" && path !== "/verify" && body?.email && !isEmail(body.email)) {
    const message = "Unable to validate email address: invalid format";
    return authError(400, "validation_failed", message);
  }
  if (path === "/logout" && !url.searchParams.has("scope"))
    inner.searchParams.set("scope", "global");
  if (path === "/verify" && body?.type === "email") body.type = "magiclink";

  inner.searchParams.delete("apikey");
  const headers = new Headers(outer.headers);
  for (const name of ["apikey", "content-length"]) headers.delete(name);
  if (bearerToken(headers) === null) headers.delete("authorization"); // an opaque key, or none
  const { method } = outer;
  return new Request(inner, { method, headers, body: body ? JSON.stringify(body) : null });
}

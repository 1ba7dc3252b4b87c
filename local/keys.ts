/**
 * The keys of a local stack: the values `supabase start` gives every local project, so that code
 * and habits carry over. They are public; a hosted project has its own.
 */
import { SignJWT } from "jose";

const JWT_SECRET = "super-secret-jwt-token-with-at-least-32-characters-long";
/** Unix time, in the year 2032; the platform's own local keys carry the same. */
const EXPIRES_AT = 1983812996;

function signKey(role: "anon" | "service_role"): Promise<string> {
  // HS256 is deterministic: this order of claims gives the well-known strings byte by byte.
  return new SignJWT({ iss: "supabase-demo", role, exp: EXPIRES_AT })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(JWT_SECRET));
}

/** By the names that `supabase status -o env` shows. */
export async function localKeys() {
  return {
    ANON_KEY: await signKey("anon"),
    SERVICE_ROLE_KEY: await signKey("service_role"),
    PUBLISHABLE_KEY: "sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH",
    SECRET_KEY: "sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",
    JWT_SECRET,
  };
}

export type Keys = Awaited<ReturnType<typeof localKeys>>;

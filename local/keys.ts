/**
 * The keys of a local stack: the values `supabase start` gives every local project, so that code
 * and habits carry over. They are public; a hosted project has its own.
 */
import { SignJWT } from "jose";

export interface Keys {
  jwtSecret: string;
  /** JWT-shaped key of role `anon`. */
  anonKey: string;
  /** JWT-shaped key of role `service_role`. */
  serviceRoleKey: string;
  /** New generation of the anon key. */
  publishableKey: string;
  /** New generation of the service_role key. */
  secretKey: string;
}

const JWT_SECRET = "super-secret-jwt-token-with-at-least-32-characters-long";
/** Unix time, in the year 2032; the platform's own local keys carry the same. */
const EXPIRES_AT = 1983812996;

function signKey(role: "anon" | "service_role"): Promise<string> {
  // HS256 is deterministic: this order of claims gives the well-known strings byte by byte.
  return new SignJWT({ iss: "supabase-demo", role, exp: EXPIRES_AT })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(JWT_SECRET));
}

/** The keys of every local stack. */
export async function localKeys(): Promise<Keys> {
  const [anonKey, serviceRoleKey] = await Promise.all([signKey("anon"), signKey("service_role")]);
  return {
    jwtSecret: JWT_SECRET,
    anonKey,
    serviceRoleKey,
    publishableKey: "sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH",
    secretKey: "sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",
  };
}

/** What a key looks like, and what of it the database keeps; `private.new_api_key` makes them. */

const FORM = /^(sac_[0-9a-f]{64})([0-9a-f]{8})$/;

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The digest that a key is found by; null for a text that is none. The last eight digits check the others,
 * so that a mistyped or truncated key asks nobody.
 */
export async function keyDigest(key: string): Promise<string | null> {
  const [, random, check] = FORM.exec(key) ?? [];
  if (random === undefined || (await sha256(random)).slice(0, 8) !== check) return null;
  return sha256(key);
}

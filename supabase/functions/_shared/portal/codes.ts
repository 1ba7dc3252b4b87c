/** The codes of the portal: how they are drawn, and what of them the database keeps. */

/** Multiples of a million below 2³²: numbers above would favour the codes they wrap around to. */
const FAIR_LIMIT = Math.floor(2 ** 32 / 1_000_000) * 1_000_000;

/** Six random digits, kept as text: `012345` is a code. */
export function randomCode(
  fill: (numbers: Uint32Array<ArrayBuffer>) => unknown = (numbers) =>
    crypto.getRandomValues(numbers),
): string {
  const numbers = new Uint32Array(1);
  do fill(numbers);
  while ((numbers[0] as number) >= FAIR_LIMIT);
  return String((numbers[0] as number) % 1_000_000).padStart(6, "0");
}

export interface CodeOwner {
  professionalId: string;
  clientId: string;
}

/** Turns a code into what is stored: nobody who reads the database can find it without the key. */
export type HashCode = (code: string, owner: CodeOwner) => Promise<string>;

/**
 * HMAC-SHA-256 under `key`, base64. Purpose, professional and client are part of the message, so a
 * hash is good for one client only.
 */
export function codeHasher(key: string): HashCode {
  const bytes = new TextEncoder();
  const imported = crypto.subtle.importKey(
    "raw",
    bytes.encode(key),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return async (code, { professionalId, clientId }) => {
    const message = ["portal-otp", professionalId.toLowerCase(), clientId.toLowerCase(), code];
    const mac = await crypto.subtle.sign("HMAC", await imported, bytes.encode(message.join("\n")));
    return btoa(String.fromCharCode(...new Uint8Array(mac)));
  };
}

/**
 * Credentials of professionals that the database keeps and cannot read: addresses of calendars, tokens.
 * AES-256-GCM under a key that only the functions have, with a fresh nonce of 96 bits, bound to the
 * professional and to what it is for, so that one row's text opens in no other.
 */
import { z } from "zod";
import { EnvError, optional, type ReadEnv } from "./env.ts";

export interface SealedFor {
  professional_id: string;
  /** What the text is, such as `busy_calendar`. */
  purpose: string;
}

export interface Sealer {
  seal(plain: string, of: SealedFor): Promise<string>;
  /** Rejects with an `UnsealError` what was sealed for something else, changed, or under a key that is gone. */
  open(sealed: string, of: SealedFor): Promise<string>;
  /** Whether a text was sealed under the current key; if not, it is to be sealed anew. */
  isCurrent(sealed: string): boolean;
}

/** Says nothing of the text or the key. */
export class UnsealError extends Error {
  override readonly name = "UnsealError";

  constructor() {
    super("a sealed text cannot be opened");
  }
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;

const Keys = z.strictObject({
  current: z.string(),
  keys: z.record(z.string().regex(/^[\w-]{1,40}$/), z.base64()),
});

const encode = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
const decode = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

function readKeys(text: string): { current: string; keys: Map<string, Uint8Array<ArrayBuffer>> } {
  try {
    const { current, keys } = Keys.parse(JSON.parse(text));
    const bytes = new Map(Object.entries(keys).map(([kid, key]) => [kid, decode(key)]));
    if (bytes.has(current) && [...bytes.values()].every((key) => key.length === KEY_BYTES)) {
      return { current, keys: bytes };
    }
  } catch {
    // Reported below, without the text, which holds the keys.
  }
  throw new EnvError(
    'INTEGRATIONS_KEYS is not {"current": "<kid>", "keys": {"<kid>": "<32 bytes in base64>"}}',
  );
}

/** Two parts that no other two make: ids and purposes have no line break. */
const binding = ({ professional_id, purpose }: SealedFor) =>
  new TextEncoder().encode(`${purpose}\n${professional_id.toLowerCase()}`);

/**
 * By `INTEGRATIONS_KEYS`; undefined where it is not set. A sealed text is `<kid>.<nonce>.<ciphertext>`,
 * the last two in base64.
 */
export function sealer(read: ReadEnv): Sealer | undefined {
  const text = optional(read, "INTEGRATIONS_KEYS");
  if (text === undefined) return undefined;
  const { current, keys } = readKeys(text);
  const imported = new Map(
    [...keys].map(([kid, bytes]) => [
      kid,
      crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]),
    ]),
  );
  const parameters = (iv: Uint8Array<ArrayBuffer>, of: SealedFor) => ({
    name: "AES-GCM",
    iv,
    additionalData: binding(of),
  });

  return {
    async seal(plain, of) {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const key = (await imported.get(current)) as CryptoKey;
      const bytes = new TextEncoder().encode(plain);
      const sealed = await crypto.subtle.encrypt(parameters(iv, of), key, bytes);
      return [current, encode(iv), encode(new Uint8Array(sealed))].join(".");
    },
    async open(sealed, of) {
      try {
        const [kid = "", iv = "", ciphertext = "", ...rest] = sealed.split(".");
        const key = await imported.get(kid);
        if (!key || rest.length > 0) throw new UnsealError();
        const plain = await crypto.subtle.decrypt(
          parameters(decode(iv), of),
          key,
          decode(ciphertext),
        );
        return new TextDecoder("utf-8", { fatal: true }).decode(plain);
      } catch {
        throw new UnsealError();
      }
    },
    isCurrent: (sealed) => sealed.startsWith(`${current}.`),
  };
}

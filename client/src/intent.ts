/**
 * Idempotency keys, one for what a person means to do once. The key belongs to the intent and not to the call: a second
 * click, a repeated request and a page that was reloaded carry the same one, and the server does it once.
 */

export interface Intent {
  /** The key for these arguments: the same until `done()`, another one for others. */
  key(args: object): string;
  /** It was done, and the next one like it is another. */
  done(): void;
}

export interface IntentOptions {
  /** Where keys outlive a reload, such as `sessionStorage`; without it they live as long as the page. */
  storage?: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
  /** Tells intents of one page apart in the storage. */
  name?: string;
}

/** How many tries with other arguments are remembered. */
const MOST = 20;

export function createIntent({ storage, name = "intent" }: IntentOptions = {}): Intent {
  const place = `scheduling-and-commerce:${name}`;
  let keys = kept(storage?.getItem(place));

  return {
    key(args) {
      const digest = digestOf(args);
      const known = keys.find(([of]) => of === digest);
      if (known) return known[1];
      const key = crypto.randomUUID();
      keys = [...keys, [digest, key] satisfies Kept].slice(-MOST);
      storage?.setItem(place, JSON.stringify(keys));
      return key;
    },
    done() {
      keys = [];
      storage?.removeItem(place);
    },
  };
}

type Kept = [digest: string, key: string];

/** Anything may be in the storage of a page. */
function kept(text: string | null | undefined): Kept[] {
  try {
    const entries: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(entries) ? (entries.filter(Array.isArray) as Kept[]) : [];
  } catch {
    return [];
  }
}

/** Not the arguments themselves, which hold a name and an address; the order of keys does not matter. */
function digestOf(args: object): string {
  const ordered = JSON.stringify(args, (_, value) =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  // FNV-1a, from both ends.
  let [one, other] = [0x811c9dc5, 0x811c9dc5];
  for (let i = 0; i < ordered.length; i++) {
    one = Math.imul(one ^ ordered.charCodeAt(i), 0x01000193);
    other = Math.imul(other ^ ordered.charCodeAt(ordered.length - 1 - i), 0x01000193);
  }
  return `${one >>> 0}-${other >>> 0}`;
}

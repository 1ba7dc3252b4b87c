/**
 * What a mail's link brought, in the fragment, which no server sees. It is taken out of the address at once, and
 * kept for this tab until it is used, so that a reload or another language asks the same question again.
 */
import { readStored, writeStored } from "../shared/store.ts";

const PURPOSES = ["manage", "confirm", "unsubscribe", "confirm-address"] as const;

export type LinkEntry = { kind: (typeof PURPOSES)[number]; token: string };
export type CodeEntry = { kind: "code"; professional: string; email: string; code: string };
export type Entry = LinkEntry | CodeEntry;

function entryIn(fragment: string): Entry | null {
  const values = new URLSearchParams(fragment);
  const kind = PURPOSES.find((purpose) => values.has(purpose));
  if (kind) return { kind, token: values.get(kind) ?? "" };
  const { professional, email, code } = Object.fromEntries(values);
  return professional && email && code ? { kind: "code", professional, email, code } : null;
}

export const keepEntry = (entry: Entry | null) => writeStored("portal.entry", entry);

/** The link that this tab was opened with; null without one that is still to be used. */
export function takeEntry(): Entry | null {
  if (location.hash === "") return readStored("portal.entry");
  const entry = entryIn(location.hash.slice(1));
  history.replaceState(null, "", location.pathname + location.search);
  keepEntry(entry);
  return entry;
}

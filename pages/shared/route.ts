/**
 * Steps of a page are its query, so that back, reload and a copied address work on any host, and the fragment
 * stays free for links of mails.
 */
import { useEffect, useMemo, useState } from "preact/hooks";

/** By name: a new value of a part of the query; `null` takes it away. */
export type Changes = Record<string, string | null>;

const STEPS = "service day start product quantity booking order payment view do step".split(" ");

/** Of a page without a step. */
export const START: Changes = Object.fromEntries(STEPS.map((name) => [name, null]));

/** The address of a step, of this page. */
export function addressOf(changes: Changes): string {
  const url = new URL(location.href);
  url.hash = "";
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

/** Goes to a step; `replace` leaves no way back to this one. */
export function goTo(changes: Changes, { replace = false } = {}): void {
  const address = addressOf(changes);
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  dispatchEvent(new Event("popstate"));
  if (!replace) scrollTo({ top: 0 });
}

/** To another site, such as where it is paid; done when somebody is back, for a browser may keep this page as it was. */
export async function leaveFor(url: string): Promise<void> {
  location.assign(url);
  await new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));
}

export function useRoute(): { query: URLSearchParams } {
  const [search, setSearch] = useState(location.search);
  useEffect(() => {
    const read = () => setSearch(location.search);
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  return { query: useMemo(() => new URLSearchParams(search), [search]) };
}

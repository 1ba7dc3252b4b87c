/**
 * Steps of a page are its query, so that back, reload and a copied address work on any host, and the fragment
 * stays free for links of mails.
 */
import { useEffect, useState } from "preact/hooks";

export type Changes = Record<string, string | null>;

export interface Route {
  query: URLSearchParams;
  /** Goes to a step: `null` takes a part of the query away; `replace` leaves no way back to this one. */
  go(changes: Changes, options?: { replace?: boolean }): void;
}

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

export function useRoute(): Route {
  const [query, setQuery] = useState(() => new URLSearchParams(location.search));
  useEffect(() => {
    const read = () => setQuery(new URLSearchParams(location.search));
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  return {
    query,
    go(changes, { replace = false } = {}) {
      const address = addressOf(changes);
      if (replace) history.replaceState(null, "", address);
      else history.pushState(null, "", address);
      setQuery(new URLSearchParams(location.search));
      if (!replace) scrollTo({ top: 0 });
    },
  };
}

/**
 * Where Stripe may send people back to: the pages that `PAYMENTS_RETURN_URLS` lists, and what is below them.
 * Any other address would lend the payment page's good name to whoever made the link.
 */
import { EnvError, type ReadEnv, required } from "../_shared/env.ts";
import { ApiError } from "../_shared/errors.ts";

export type Refusal =
  | "not_a_url"
  | "not_https"
  | "user_info_not_allowed"
  | "path_not_plain"
  | "not_listed";

/** Does nothing for an address that people may be sent to; else throws 422 `return_url_not_allowed`. */
export type CheckReturnUrl = (field: string, address: string) => void;

/** Characters that every parser of addresses reads the same way; no white space, no backslash. */
const PLAIN = /^[!-[\]-~]+$/;
/** A name or an address and a port, spelt out. */
const AUTHORITY = /^https?:\/\/[a-z0-9.-]+(:\d{1,5})?(?=[/?#]|$)/i;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?(?=[/?#]|$)/i;
/** What a server might decode into a dot, a slash, a backslash, or another percent sign. */
const ENCODED = /%(2e|2f|5c|25)/i;

/** Null for an address that may be compared, else why not. */
function fault(address: string): Exclude<Refusal, "not_listed"> | null {
  if (!PLAIN.test(address) || !URL.canParse(address)) return "not_a_url";
  const { protocol, username, password } = new URL(address);
  const [beforePath = ""] = /^\w+:\/\/[^/?#]*/.exec(address) ?? [];
  if (username !== "" || password !== "" || beforePath.includes("@")) {
    return "user_info_not_allowed";
  }
  if (protocol !== "https:" && !LOOPBACK.test(address)) return "not_https";
  if (!AUTHORITY.test(address)) return "not_a_url";
  const [path = ""] = address.slice(beforePath.length).split(/[?#]/);
  const segments = path.split("/");
  if (ENCODED.test(path) || segments.includes("..") || segments.includes(".")) {
    return "path_not_plain";
  }
  return null;
}

/** The parts of a path, without a slash at its end. */
const segmentsOf = (url: URL) => url.pathname.replace(/\/+$/, "").split("/");

/** With `PAYMENTS_RETURN_URLS`: addresses separated by commas, such as `https://app.example/pay`. */
export function returnUrls(read: ReadEnv): CheckReturnUrl {
  const listed = required(read, "PAYMENTS_RETURN_URLS")
    .split(",")
    .map((entry) => {
      const address = entry.trim();
      const url = fault(address) === null ? new URL(address) : undefined;
      if (url === undefined || url.search !== "" || url.hash !== "") {
        throw new EnvError(
          "PAYMENTS_RETURN_URLS is not a list of addresses such as https://app.example/pay",
        );
      }
      return { origin: url.origin, segments: segmentsOf(url) };
    });

  return (field, address) => {
    const reason = fault(address) ?? (isListed(new URL(address)) ? null : "not_listed");
    if (reason === null) return;
    throw new ApiError(
      422,
      "return_url_not_allowed",
      "People cannot be sent back to this address",
      {
        details: { field, reason },
        hint: "PAYMENTS_RETURN_URLS lists where they may be sent to.",
      },
    );
  };

  function isListed(url: URL): boolean {
    const path = segmentsOf(url);
    return listed.some(
      ({ origin, segments }) =>
        origin === url.origin && segments.every((segment, i) => segment === path[i]),
    );
  }
}

/**
 * Where an address that somebody gave us may lead: https on port 443 of a public host. Checked on save
 * and before every request, since a name can lead elsewhere tomorrow. The check and the connection are
 * two look-ups of the name; docs/webhooks.md says what that leaves open.
 */
import { ApiError } from "./errors.ts";
import { isPublicAddress } from "./public-address.ts";

/** All IPv4 and IPv6 addresses of a host name; none when it does not exist. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

export interface AddressRules {
  resolve: Resolve;
  /** Also http://127.0.0.1:<port> and http://localhost:<port>: for a server on the same machine. */
  allowLoopback: boolean;
}

export type Refusal =
  | "not_a_url"
  | "not_https"
  | "port_not_allowed"
  | "user_info_not_allowed"
  | "host_not_public"
  | "host_not_found";

/** 422 `url_not_allowed` with `{"reason"}` in details. */
export class AddressError extends ApiError {
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    super(422, "url_not_allowed", "This address is not allowed", {
      details: { reason },
      hint: "It has to be https on port 443 of a public host, without user name and password.",
    });
    this.reason = reason;
  }
}

/** As it is written: 127.0.0.1 has many spellings, and none of the others is for a test. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost):\d{1,5}([/?#]|$)/;

/** Names that only mean something inside of a network (RFC 6761, 6762, 8375, 9476). */
const INTERNAL_NAME =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|arpa|alt|onion|test|invalid)$/;

/** The URL parser has turned every spelling of an IPv4 address into four numbers. */
const isAddress = (host: string) => host.startsWith("[") || /^[\d.]+$/.test(host);

/** Does nothing when we may call `url`; else throws an AddressError. */
export async function checkAddress(
  url: string,
  rules: AddressRules,
  signal: AbortSignal,
): Promise<void> {
  if (!URL.canParse(url)) throw new AddressError("not_a_url");
  const parsed = new URL(url);
  if (parsed.username !== "" || parsed.password !== "") {
    throw new AddressError("user_info_not_allowed");
  }
  if (rules.allowLoopback && LOOPBACK.test(url)) return;
  if (parsed.protocol !== "https:") throw new AddressError("not_https");
  // The parser leaves the default port out.
  if (parsed.port !== "") throw new AddressError("port_not_allowed");

  const host = parsed.hostname.replace(/\.$/, "");
  if (isAddress(host)) {
    if (!isPublicAddress(host.replace(/^\[|\]$/g, ""))) throw new AddressError("host_not_public");
    return;
  }
  if (!host.includes(".") || INTERNAL_NAME.test(host)) throw new AddressError("host_not_public");
  // A look-up that fails says nothing, so the host is as good as missing.
  const addresses = await rules.resolve(host, signal).catch(() => []);
  if (addresses.length === 0) throw new AddressError("host_not_found");
  if (!addresses.every(isPublicAddress)) throw new AddressError("host_not_public");
}

type LookUp = (host: string, type: "A" | "AAAA", signal: AbortSignal) => Promise<string[]>;

/** Both families of a name; `isNotFound` tells "has none" from a look-up that failed. */
export function resolver(lookUp: LookUp, isNotFound: (error: unknown) => boolean): Resolve {
  return async (host, signal) => {
    const family = (type: "A" | "AAAA") =>
      lookUp(host, type, signal).catch((error: unknown) => {
        if (isNotFound(error)) return [];
        throw error;
      });
    const [v4, v6] = await Promise.all([family("A"), family("AAAA")]);
    return [...v4, ...v6];
  };
}

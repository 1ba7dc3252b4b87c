/**
 * Tokens of the links in mails. Each names one purpose, one row, and the `link_epoch` that the client
 * had: whoever acts on a token asks the database whether that is still the client's. Nothing is stored,
 * and the same link makes the same token, so that a mail sent again is the same mail.
 */
import { jwtVerify, SignJWT } from "jose";
import { EnvError, optional, type ReadEnv, required } from "./env.ts";

export type Purpose = "manage" | "confirm" | "unsubscribe" | "confirm_address";

export interface Link {
  purpose: Purpose;
  /** Id of the booking, order, client or professional that the link is about. */
  row: string;
  /** What the row is, where the purpose does not say; a booking unless said. */
  kind?: "booking" | "order";
  /** The client's `link_epoch`; 0 for professionals, who have none. */
  epoch: number;
  /** The address that `confirm_address` is about. */
  email?: string;
  /** Unix seconds; without it the row and the epoch alone end the link. */
  expires?: number;
}

export interface Links {
  sign(link: Link): Promise<string>;
  /** What the token says; null when it is not ours, has expired, or is for another purpose. */
  verify(token: string, purpose: Purpose): Promise<Link | null>;
}

/** Tells our tokens from every other kind (RFC 8725, 3.11), should a key ever be shared. */
const TYPE = "link+jwt";
const ROW = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * With `LINK_SIGNING_KEY`; undefined without it, and then no mail has links. Also takes what
 * `LINK_SIGNING_KEY_PREVIOUS` has signed, so that a new key ends no link that was mailed.
 */
export function links(read: ReadEnv, now: () => Date = () => new Date()): Links | undefined {
  const previous = optional(read, "LINK_SIGNING_KEY_PREVIOUS");
  if (optional(read, "LINK_SIGNING_KEY") === undefined) {
    if (previous === undefined) return undefined;
    throw new EnvError("LINK_SIGNING_KEY_PREVIOUS is set without LINK_SIGNING_KEY");
  }
  const bytes = (name: string) => new TextEncoder().encode(required(read, name, 32));
  const key = bytes("LINK_SIGNING_KEY");
  const keys = previous === undefined ? [key] : [key, bytes("LINK_SIGNING_KEY_PREVIOUS")];
  return {
    sign({ purpose, row, epoch, kind, email, expires }) {
      const jwt = new SignJWT({ epoch, ...(kind && { kind }), ...(email && { email }) })
        .setProtectedHeader({ alg: "HS256", typ: TYPE })
        .setSubject(row)
        .setAudience(purpose);
      if (expires !== undefined) jwt.setExpirationTime(expires);
      return jwt.sign(key);
    },
    async verify(token, purpose) {
      for (const candidate of keys) {
        const link = await linkIn(token, purpose, candidate, now());
        if (link) return link;
      }
      return null;
    },
  };
}

async function linkIn(
  token: string,
  purpose: Purpose,
  key: Uint8Array,
  currentDate: Date,
): Promise<Link | null> {
  try {
    const options = { algorithms: ["HS256"], typ: TYPE, audience: purpose, currentDate };
    const {
      sub: row = "",
      epoch,
      kind,
      email,
      exp,
    } = (await jwtVerify(token, key, options)).payload;
    if (!ROW.test(row) || !Number.isSafeInteger(epoch)) return null;
    return {
      purpose,
      row,
      epoch: epoch as number,
      ...((kind === "booking" || kind === "order") && { kind }),
      ...(typeof email === "string" && { email }),
      ...(exp !== undefined && { expires: exp }),
    };
  } catch {
    return null;
  }
}

/** The address of the portal's page for a link; the token is in its fragment, which no server sees. */
export function pageLink(portalUrl: string, purpose: Purpose, token: string): string {
  return `${portalUrl}#${purpose.replace("_", "-")}=${token}`;
}

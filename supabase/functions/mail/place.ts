import { joinedLines } from "../_shared/lines.ts";
import type { Booking, Professional } from "./facts.ts";

/** Whether a text is or holds a link, with or without its scheme, as for `private.is_link`. */
const hasLink = (text: string) =>
  /:\/\/|(^|[^a-z0-9.-])www\.|[a-z0-9]\.[a-z]{2,}(:\d+)?\/\S/i.test(text);

/**
 * Where a booking takes place, as far as its client may know: the service's location, else the
 * professional's address. That may be a home, and a link lets people in, so that both are told of what is
 * confirmed only.
 */
export function placeForClient(booking: Booking, professional: Professional): string | null {
  const confirmed = booking.status === "confirmed";
  const location = joinedLines(booking.location ?? "");
  if (location !== "") return hasLink(location) && !confirmed ? null : location;
  return confirmed ? joinedLines(professional.address ?? "") || null : null;
}

/** The address that a location is, and not merely names. */
export function linkOf(place: string): string | undefined {
  return /^https:\/\/[^\s<>"]+$/.test(place) && URL.canParse(place) ? place : undefined;
}

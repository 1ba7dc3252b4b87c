/** What anybody may see of the professional, as far as the portal shows it. */
import { isCode } from "../shared/api.ts";
import { anybody } from "./session.ts";

export interface PublicPage {
  professional: {
    id: string;
    full_name: string;
    contact_email: string | null;
    contact_phone: string | null;
  };
  services: { id: string; max_advance_days: number; requires_confirmation: boolean }[];
}

/** Null where nobody is named, or takes neither bookings nor orders. */
export async function publicPage(username: string, signal: AbortSignal) {
  if (!username) return null;
  try {
    const page = await anybody.rpc("booking_page", { username }, { signal });
    return page as unknown as PublicPage;
  } catch (error) {
    if (isCode(error, "PGRST301", "validation_failed")) return null;
    throw error;
  }
}

/** The API that the build was made for. */
import type { BookingPage } from "../../client/src/database.ts";
import { type ApiClient, createClient, isCode } from "../../client/src/index.ts";

export { type ApiClient, ApiError, isCode } from "../../client/src/index.ts";

const { VITE_API_URL, VITE_PUBLISHABLE_KEY, VITE_PROFESSIONAL } = import.meta.env;

export const connect = (options: Parameters<typeof createClient>[2]): ApiClient =>
  createClient(VITE_API_URL, VITE_PUBLISHABLE_KEY, options);

/** As nobody, whoever is signed in on another page of this host. */
export const publicApi = connect({ accessToken: async () => null });

/** Of whom is named, or else the build names. Null where that is nobody, or takes neither bookings nor orders. */
export async function publicPage(
  named: string | null,
  signal: AbortSignal,
): Promise<BookingPage | null> {
  const username = named || VITE_PROFESSIONAL || "";
  try {
    const page = await publicApi.rpc("booking_page", { username }, { signal });
    // A professional may have no name.
    page.professional.full_name ||= page.professional.username;
    return page;
  } catch (error) {
    if (isCode(error, "PGRST301", "validation_failed")) return null;
    throw error;
  }
}

/** Roles as the descriptions name them. */
import type { Role } from "../model.ts";

export const ROLE_NAMES: Record<Role, string> = {
  anon: "the public",
  authenticated: "the professional",
  portal_client: "a client in the portal",
  portal_booking: "the link of a booking",
  service_role: "our servers",
};

/** Sign-in of clients, and what the links in their mails do. */
import { z } from "zod";
import {
  CodeLogin,
  CodeRequest,
  LinkToken,
} from "../../supabase/functions/_shared/portal/inputs.ts";
import { currency, id, text, timeZone } from "./common.ts";
import type { RouteShape } from "./routes.ts";
import { BODY_ERRORS } from "./routes-common.ts";
import { servers } from "./rpc-servers.ts";

const session = {
  access_token: text.describe("For `Authorization`, as Bearer"),
  token_type: z.literal("bearer"),
  expires_in: z.int().describe("Seconds"),
  expires_at: z.int().describe("Unix seconds"),
  professional: z.strictObject({
    id,
    full_name: text,
    username: text,
    time_zone: timeZone,
    currency,
  }),
};

const PortalSession = z
  .strictObject({ ...session, client: z.strictObject({ id, name: text, email: text }) })
  .meta({ id: "PortalSession" });

const BookingSession = z
  .strictObject({ ...session, client: z.strictObject({ id, name: text }) })
  .meta({ id: "BookingSession", description: "Of one booking: it sees no other" });

const MailedLink = LinkToken.meta({
  id: "MailedLink",
  description: "What is behind the = in the fragment of a link",
});

export const PORTAL_ROUTES = [
  {
    function: "send-portal-otp",
    method: "POST",
    path: "",
    who: "everybody",
    summary: "Mails a code of six digits to a client; answers everybody the same",
    body: CodeRequest.meta({ id: "PortalCodeRequest" }),
    answers: {
      200: z
        .strictObject({ message: text, expires_in: z.int().describe("Seconds that a code opens") })
        .meta({ id: "PortalCodeSent" }),
    },
    errors: [...BODY_ERRORS, "rate_limit_exceeded"],
    for: "client",
  },
  {
    function: "verify-portal-otp",
    method: "POST",
    path: "",
    who: "whoever got the code",
    summary: "A code for a session of an hour",
    body: CodeLogin.meta({ id: "PortalSignIn" }),
    answers: { 200: PortalSession },
    errors: [...BODY_ERRORS, "invalid_otp", "rate_limit_exceeded"],
    for: "client",
  },
  {
    function: "verify-portal-otp",
    method: "POST",
    path: "/link",
    who: "whoever has the link of a booking (`#manage=`)",
    summary: "The token of a link for a session for that booking",
    body: MailedLink,
    answers: { 200: BookingSession },
    errors: [...BODY_ERRORS, "invalid_link", "rate_limit_exceeded"],
    for: "client",
  },
  {
    function: "verify-portal-otp",
    method: "POST",
    path: "/confirm",
    who: "whoever has the link of a hold (`#confirm=`)",
    summary: "Ends the hold of a booking or order: what it became",
    body: MailedLink,
    answers: { 200: servers.confirm_hold.answer },
    errors: [
      ...BODY_ERRORS,
      "invalid_link",
      "slot_taken",
      "hold_expired",
      "invalid_transition",
      "rate_limit_exceeded",
      "busy",
    ],
    for: "client",
  },
  {
    function: "verify-portal-otp",
    method: "POST",
    path: "/sign-out",
    who: "a portal client, or whoever opened a booking's link",
    summary: "Ends the session of the token, also the second time",
    answers: { 204: null },
    errors: ["invalid_token"],
    for: "client",
  },
] as const satisfies readonly RouteShape[];

/** What links in mails lead to, and what the mail provider tells. */
import { z } from "zod";
import { LinkToken } from "../../supabase/functions/mail/inputs.ts";
import type { RouteShape } from "./routes.ts";
import { BODY_ERRORS, dispatchRoute } from "./routes-common.ts";

const unsubscribing = z.strictObject({ t: z.string().describe("The token of a reminder") });

export const MAIL_ROUTES = [
  {
    function: "mail",
    method: "POST",
    path: "/unsubscribe",
    who: "whoever got the reminder: the mail program (RFC 8058), or the portal's page",
    summary: "No more reminders; also the second time",
    query: unsubscribing,
    answers: { 204: null },
    errors: ["invalid_link", "busy"],
    for: "client",
  },
  {
    function: "mail",
    method: "GET",
    path: "/unsubscribe",
    who: "whoever opens that address",
    summary: "Leads to the portal's page, which asks and posts; not there without `PORTAL_URL`",
    query: unsubscribing,
    answers: { 303: null },
    errors: [],
    for: "client",
  },
  {
    function: "mail",
    method: "POST",
    path: "/confirm-address",
    who: "whoever has the link of the professional's mail (`#confirm-address=`)",
    summary: "Confirms the account's address: mails go to clients from then on",
    body: LinkToken.meta({ id: "AddressConfirmation" }),
    answers: { 204: null },
    errors: [...BODY_ERRORS, "invalid_link"],
    for: "professional",
  },
  {
    function: "mail",
    method: "POST",
    path: "/events",
    who: "Resend, signed with `RESEND_WEBHOOK_SECRET`; not there without that variable",
    summary: "What became of a mail",
    answers: { 204: null },
    errors: ["invalid_signature", "PGRST301", "payload_too_large"],
    for: "provider",
  },
  dispatchRoute("mail", "Sends mails that are due"),
] as const satisfies readonly RouteShape[];

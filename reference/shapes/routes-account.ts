/** The account, and tokens for programs with a key. */
import { z } from "zod";
import { Deletion } from "../../supabase/functions/account/inputs.ts";
import { text } from "./common.ts";
import type { RouteShape } from "./routes.ts";
import { BODY_ERRORS, dispatchRoute, PERSON, WRITE_ERRORS } from "./routes-common.ts";
import { AccountContents } from "./rpc-keys.ts";

const ProgramToken = z
  .strictObject({
    access_token: text,
    token_type: z.literal("bearer"),
    expires_in: z.int().describe("Seconds"),
  })
  .meta({ id: "ProgramToken" });

export const ACCOUNT_ROUTES = [
  {
    function: "token",
    method: "POST",
    path: "",
    who: "a program, with the professional's key as Bearer",
    summary: "A key for an access token of an hour",
    answers: { 200: ProgramToken },
    errors: ["invalid_api_key", "rate_limit_exceeded"],
    for: "professional",
  },
  {
    function: "token",
    method: "POST",
    path: "/check",
    who: "an operator, with the secret key in `apikey`",
    summary: "Whether the Data API takes the tokens that functions sign",
    answers: { 204: null },
    errors: ["invalid_api_key", "signing_key_not_accepted"],
    for: "server",
  },
  {
    function: "account",
    method: "POST",
    path: "/delete",
    who: `${PERSON}, within ten minutes of signing in`,
    summary: "Deletes the account and all that is in it; without `confirmation`, says what goes",
    body: Deletion.meta({ id: "AccountDeletionBody" }),
    answers: {
      200: z
        .strictObject({ deleted: z.literal(true), goes: AccountContents })
        .meta({ id: "AccountDeleted" }),
      202: z
        .strictObject({ deleted: z.literal(false), goes: AccountContents })
        .meta({ id: "AccountDeletionBegun", description: "Done in a minute or two" }),
    },
    errors: [
      ...WRITE_ERRORS,
      ...BODY_ERRORS,
      "person_required",
      "PGRST301",
      "confirmation_required",
      "recent_sign_in_required",
    ],
    for: "professional",
  },
  dispatchRoute("account", "Finishes deletions that were broken off"),
] as const satisfies readonly RouteShape[];

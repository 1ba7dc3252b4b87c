/** RPCs about keys, who may act, and the account itself. */
import { z } from "zod";
import { count, date, id, idOnly, instant, list, text } from "./common.ts";
import type { RpcShape } from "./rpc.ts";

const access = z.enum(["read", "write"]).meta({ id: "KeyAccess" });

const ApiKey = z
  .strictObject({
    id,
    name: text,
    access,
    created_at: instant,
    expires_at: instant.nullable().describe("null: never"),
    last_used_on: date.nullable().describe("In UTC; null: not yet"),
  })
  .meta({ id: "ApiKey" });

export const AccountContents = z
  .strictObject({
    clients: count,
    services: count,
    products: count,
    bookings: count,
    orders: count,
    payments: count,
  })
  .meta({ id: "AccountContents", description: "How many rows of each kind go with an account" });

export const keys = {
  authorize_action: { answer: z.undefined(), errors: ["person_required", "validation_failed"] },
  create_api_key: {
    args: { access },
    answer: z
      .strictObject({ id, key: text.describe("Not shown again") })
      .meta({ id: "CreatedApiKey" }),
    errors: ["person_required", "invalid_time", "too_many_keys", "validation_failed"],
  },
  api_keys: { answer: list(ApiKey), errors: ["person_required"] },
  revoke_api_key: {
    answer: idOnly,
    errors: ["person_required", "PGRST301", "validation_failed"],
  },
  revoke_api_keys: {
    answer: z.strictObject({ revoked: count.describe("How many") }),
    errors: ["person_required"],
  },
  request_account_deletion: {
    answer: z
      .strictObject({ account_id: id, goes: AccountContents })
      .meta({ id: "AccountDeletion" }),
    errors: [
      "person_required",
      "recent_sign_in_required",
      "PGRST301",
      "confirmation_required",
      "validation_failed",
    ],
  },
  request_address_confirmation: {
    answer: z.strictObject({ confirmed: z.boolean().describe("false: the mail is on its way") }),
    errors: ["rate_limit_exceeded"],
  },
} satisfies Record<string, RpcShape>;

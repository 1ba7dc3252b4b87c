/** RPCs about the account for payments, which the routes of the payments function begin with. */
import { z } from "zod";
import { amount, id, instant, text } from "./common.ts";
import type { RpcShape } from "./rpc.ts";

export const PaymentAccount = z
  .strictObject({
    account_id: text.describe("At Stripe"),
    livemode: z.boolean(),
    can_charge: z.boolean(),
    missing: z.array(text).describe("What Stripe still wants to know, in its words"),
    checked_at: instant.nullable().describe("When Stripe was asked last; null: not yet"),
  })
  .meta({ id: "PaymentAccount" });

const whose = { email: text.nullable(), name: text };

const PaymentAccountToMake = z
  .union([
    z.strictObject({ account_id: z.null(), attempt_id: id, ...whose }),
    z.strictObject({ account_id: text, attempt_id: z.null(), ...whose }),
  ])
  .meta({ id: "PaymentAccountToMake" });

export const payments = {
  connect_payment_account: { answer: PaymentAccountToMake, errors: ["person_required"] },
  payment_account: {
    answer: PaymentAccount.nullable().describe("null: you have none"),
    errors: [],
  },
  detach_payment_account: {
    answer: z.strictObject({ account_id: z.null() }),
    errors: ["person_required"],
  },
  authorize_checkout: { answer: z.undefined(), errors: ["PGRST301", "validation_failed"] },
  begin_refund: {
    answer: z
      .strictObject({ refund_id: id, status: z.literal("due"), amount })
      .meta({ id: "BegunRefund" }),
    errors: [
      "PGRST301",
      "payment_disputed",
      "refund_exceeds_payment",
      "not_a_provider_payment",
      "amount_not_payable",
      "invalid_amount",
      "too_many_decimals",
      "validation_failed",
    ],
  },
} satisfies Record<string, RpcShape>;

/** Shapes of what callers send to the payments function. */
import { z } from "zod";

/** Longest body of a request, in bytes. */
export const BODY_LIMIT = 10_000;

const returnUrl = z.string().min(1).max(2000);

export const Onboarding = z.strictObject({
  return_url: returnUrl,
  /** Where a link that is used or too old leads to; the page asks for another one. */
  refresh_url: returnUrl.optional(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, { error: "is not a country's two letters" })
    .optional(),
});

export const Checkout = z.strictObject({
  order_id: z.guid(),
  /** `checkout_token` of the receipt, for whoever has no session. */
  token: z.string().min(1).max(200).optional(),
  success_url: returnUrl,
  cancel_url: returnUrl,
});

export const NewRefund = z.strictObject({
  payment_id: z.guid(),
  /** What of the payment; all that is left of it when this is not given. */
  amount: z.number().positive().max(999_999_999_999.999).optional(),
  reason: z.string().max(500).optional(),
});

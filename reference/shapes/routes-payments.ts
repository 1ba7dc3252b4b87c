/** Payments: the professional's account, pages to pay on, refunds. */
import { z } from "zod";
import { Checkout, NewRefund, Onboarding } from "../../supabase/functions/payments/inputs.ts";
import { amount, currency, id, instant, text } from "./common.ts";
import type { RouteShape } from "./routes.ts";
import { BODY_ERRORS, dispatchRoute, PERSON, WRITE_ERRORS, WRITER } from "./routes-common.ts";
import { PaymentAccount } from "./rpc-payments.ts";

/** Without Stripe's keys no route works, and nothing else is missed. */
const configured = ["payments_not_configured"] as const;
const asksStripe = [...configured, "payment_provider_unavailable"] as const;

const OnboardingPage = z
  .strictObject({
    url: text.describe("A page of Stripe; works once"),
    expires_at: instant.describe("Minutes from now"),
  })
  .meta({ id: "OnboardingPage" });

const CheckoutPage = z
  .strictObject({
    url: text.describe("A page of Stripe, where people pay"),
    amount: amount.describe("What is due now"),
    currency,
    expires_at: instant,
  })
  .meta({ id: "CheckoutPage" });

const refund = { refund_id: id, amount };

const MadeRefund = z
  .strictObject({ ...refund, status: z.literal("succeeded") })
  .meta({ id: "MadeRefund" });

const RefundOnItsWay = z
  .strictObject({
    ...refund,
    status: z
      .enum(["due", "pending", "requires_action", "failed", "canceled"])
      .describe("due: Stripe has not answered, it goes on by itself; the others are Stripe's"),
  })
  .meta({ id: "RefundOnItsWay", description: "Asked for again it would be another refund" });

export const PAYMENT_ROUTES = [
  {
    function: "payments",
    method: "POST",
    path: "/account",
    who: PERSON,
    summary: "A page of Stripe where the professional says what Stripe has to know",
    body: Onboarding.meta({ id: "Onboarding" }),
    answers: { 200: OnboardingPage },
    errors: [
      ...WRITE_ERRORS,
      ...BODY_ERRORS,
      "person_required",
      "return_url_not_allowed",
      ...asksStripe,
    ],
    for: "professional",
  },
  {
    function: "payments",
    method: "GET",
    path: "/account",
    who: WRITER,
    summary: "The account as Stripe knows it now",
    answers: { 200: PaymentAccount },
    errors: [...WRITE_ERRORS, "PGRST301", ...asksStripe],
    for: "professional",
  },
  {
    function: "payments",
    method: "DELETE",
    path: "/account",
    who: PERSON,
    summary: "Lets the account go, here: nobody can pay any more",
    answers: { 204: null },
    errors: [...WRITE_ERRORS, "person_required", ...configured],
    for: "professional",
  },
  {
    function: "payments",
    method: "POST",
    path: "/checkout",
    who: "whoever has the receipt's `checkout_token`; else the professional, the portal client or the booking's link",
    summary: "The page on which what is due now is paid; asked again, the same",
    body: Checkout.meta({ id: "Checkout" }),
    answers: { 200: CheckoutPage },
    errors: [
      "invalid_token",
      "session_not_found",
      "key_is_read_only",
      "rate_limit_exceeded",
      "too_many_connections",
      "busy",
      ...BODY_ERRORS,
      "PGRST301",
      "PGRST303",
      "42501",
      "return_url_not_allowed",
      "nothing_due",
      "hold_expired",
      "payments_unavailable",
      "amount_not_payable",
      ...asksStripe,
    ],
    for: "public",
  },
  {
    function: "payments",
    method: "POST",
    path: "/refunds",
    who: WRITER,
    summary: "Gives a payment back, or some of it; 202 is on its way",
    body: NewRefund.meta({ id: "NewRefund" }),
    answers: { 200: MadeRefund, 202: RefundOnItsWay },
    errors: [
      ...WRITE_ERRORS,
      ...BODY_ERRORS,
      "PGRST301",
      "payment_disputed",
      "refund_exceeds_payment",
      "refund_refused",
      "not_a_provider_payment",
      "amount_not_payable",
      "invalid_amount",
      "too_many_decimals",
      ...configured,
    ],
    for: "professional",
  },
  {
    function: "payments",
    method: "POST",
    path: "/stripe",
    who: "Stripe, signed with one of `STRIPE_WEBHOOK_SECRETS`",
    summary: "Takes an event; what it names is looked at within seconds",
    answers: { 200: null },
    errors: ["invalid_signature", "payload_too_large", ...configured],
    for: "provider",
  },
  dispatchRoute("payments", "Looks at what is due at Stripe"),
] as const satisfies readonly RouteShape[];

/** RPCs of the payments function, for nobody but the server. */
import { z } from "zod";
import { amount, count, currency, id, instant, text } from "./common.ts";
import type { RpcShape } from "./rpc.ts";

const minor = z.int().min(0).describe("The amount in the unit that Stripe counts in");

const CheckoutParameters = z
  .strictObject({
    mode: z.literal("payment"),
    line_items: z.array(
      z.strictObject({
        quantity: z.int().min(1),
        price_data: z.strictObject({
          currency: text,
          unit_amount: z.int().min(0),
          product_data: z.strictObject({ name: text }),
        }),
      }),
    ),
    success_url: text,
    cancel_url: text,
    client_reference_id: id,
    expires_at: z.int().describe("Unix seconds"),
    adaptive_pricing: z.strictObject({ enabled: z.literal(false) }),
    excluded_payment_method_types: z.array(text),
    metadata: z.strictObject({ attempt_id: id, order_id: id }),
    payment_intent_data: z.strictObject({
      metadata: z.strictObject({ attempt_id: id, order_id: id }),
    }),
  })
  .describe("As they go to Stripe");

const Checkout = z.strictObject({
  id,
  account_id: text,
  session_id: text.nullable(),
  url: text.nullable(),
  amount,
  currency,
  minor,
  expires_at: instant,
  created_at: z.int().describe("Unix seconds"),
  params: CheckoutParameters,
});

const task = {
  task_id: id,
  claim_token: id,
  account_id: text,
  livemode: z.boolean(),
  object_id: text,
  attempts: count.describe("Before this one"),
};

const PaymentTask = z.discriminatedUnion("kind", [
  z.strictObject({
    ...task,
    kind: z.literal("checkout"),
    checkout: Checkout.extend({ expire: z.boolean() })
      .nullable()
      .describe("null: it was not begun here, or is forgotten"),
    refund: z.null(),
  }),
  z.strictObject({
    ...task,
    kind: z.literal("refund"),
    checkout: z.null(),
    refund: z
      .strictObject({ id, payment_intent: text, minor, provider_id: text.nullable() })
      .nullable()
      .describe("null: it was not begun here"),
  }),
  z.strictObject({
    ...task,
    kind: z.enum(["dispute", "account"]),
    checkout: z.null(),
    refund: z.null(),
  }),
]);

const Session = z.strictObject({
  id: text,
  attempt_id: id.nullable().describe("null: it was not begun here"),
  status: text.nullable(),
  payment_status: text,
  payment_intent: text.nullable(),
  amount_total: minor.nullable(),
  currency: text.nullable(),
  url: text.nullable(),
  expires_at: z.int().describe("Unix seconds"),
});

const Refund = z.strictObject({
  id: text,
  attempt_id: id.nullable().describe("null: it was not begun here"),
  payment_intent: text.nullable(),
  amount: minor,
  currency: text,
  status: text,
  reason: text.nullable(),
});

const Dispute = z.strictObject({
  id: text,
  payment_intent: text.nullable(),
  status: text,
  reason: text,
  amount: z.int(),
  currency: text,
  entries: z
    .array(z.strictObject({ id: text, amount: z.int() }))
    .describe("What moved: less than 0 was taken"),
});

const AccountFacts = z.strictObject({
  can_charge: z.boolean(),
  missing: z.array(text),
  deauthorized: z.boolean(),
});

/** Of what they write: orders and bookings of the professional change with what is paid. */
const written = ["validation_failed"] as const;

export const serverPayments = {
  attach_payment_account: { answer: z.undefined(), errors: [...written, "PGRST301"] },
  record_payment_account: {
    answer: z.undefined(),
    args: { facts: AccountFacts },
    errors: ["validation_failed"],
  },
  report_payment_mode: { answer: z.undefined(), errors: ["validation_failed"] },
  ring_payment: {
    answer: z.boolean().describe("Whether the account is known"),
    errors: ["validation_failed"],
  },
  begin_checkout: {
    answer: z.strictObject({
      state: z
        .enum(["open", "create", "expire", "check"])
        .describe("open: the page may be used; else what has to be done at Stripe first"),
      checkout: Checkout,
    }),
    errors: [
      ...written,
      "PGRST301",
      "hold_expired",
      "nothing_due",
      "payments_unavailable",
      "amount_not_payable",
    ],
  },
  record_session: { answer: z.undefined(), args: { session: Session }, errors: [...written] },
  fail_checkout: { answer: z.undefined(), errors: [...written, "PGRST301"] },
  record_refund: { answer: z.undefined(), args: { refund: Refund }, errors: [...written] },
  fail_refund: { answer: z.undefined(), errors: [...written] },
  record_dispute: { answer: z.undefined(), args: { dispute: Dispute }, errors: [...written] },
  claim_payment_tasks: { answer: z.array(PaymentTask), errors: ["validation_failed"] },
  finish_payment_task: { answer: z.undefined(), errors: ["validation_failed"] },
} satisfies Record<string, RpcShape>;

/** Stripe's objects in the shapes that its package publishes; what payments never meet is null. */
import type { Stripe } from "stripe";
import type { z } from "zod";
import type { AccountParams, SessionParams } from "./stripe-requests.ts";

/** Those of which more is published than anybody reads here. */
export type Dispute = Omit<
  Stripe.Dispute,
  "evidence" | "evidence_details" | "enhanced_eligibility_types"
>;
export type Charge = Pick<
  Stripe.Charge,
  | "id"
  | "object"
  | "amount"
  | "amount_captured"
  | "amount_refunded"
  | "balance_transaction"
  | "captured"
  | "created"
  | "currency"
  | "disputed"
  | "livemode"
  | "metadata"
  | "paid"
  | "payment_intent"
  | "refunded"
  | "status"
>;

/** What every object has. */
export interface Origin {
  id: string;
  created: number;
  livemode: boolean;
}

export function sessionOf(
  params: z.infer<typeof SessionParams>,
  origin: Origin,
  url: string,
): Stripe.Checkout.Session {
  const sum = params.line_items.reduce(
    (total, { quantity, price_data }) => total + quantity * price_data.unit_amount,
    0,
  );
  return {
    ...origin,
    object: "checkout.session",
    adaptive_pricing: { enabled: params.adaptive_pricing?.enabled ?? true },
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: params.allowed_payment_method_types ?? null,
    amount_subtotal: sum,
    amount_total: sum,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    currency: params.line_items[0]?.price_data.currency.toLowerCase() ?? null,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: null,
    customer_account: null,
    customer_creation: "if_required",
    customer_details: null,
    customer_email: params.customer_email ?? null,
    discounts: [],
    ...(params.excluded_payment_method_types && {
      excluded_payment_method_types: params.excluded_payment_method_types,
    }),
    expires_at: params.expires_at ?? origin.created + 24 * 3600,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    locale: params.locale ?? null,
    managed_payments: null,
    metadata: params.metadata ?? {},
    mode: "payment",
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: "if_required",
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ["card"],
    payment_status: "unpaid",
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: "open",
    submit_type: params.submit_type ?? null,
    subscription: null,
    success_url: params.success_url,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url,
    wallet_options: null,
  };
}

export function intentOf(
  session: Stripe.Checkout.Session,
  origin: Origin,
  metadata: Record<string, string>,
): Stripe.PaymentIntent {
  return {
    ...origin,
    object: "payment_intent",
    allowed_payment_method_types: null,
    amount: session.amount_total ?? 0,
    amount_capturable: 0,
    amount_received: 0,
    application: "ca_test",
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: "automatic_async",
    client_secret: null,
    confirmation_method: "automatic",
    currency: session.currency ?? "",
    customer: null,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    managed_payments: null,
    metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ["card"],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: "processing",
    transfer_group: null,
  };
}

export function chargeOf(intent: Stripe.PaymentIntent, origin: Origin): Charge {
  return {
    ...origin,
    object: "charge",
    amount: intent.amount,
    amount_captured: intent.amount,
    amount_refunded: 0,
    balance_transaction: null,
    captured: true,
    currency: intent.currency,
    disputed: false,
    metadata: intent.metadata,
    paid: true,
    payment_intent: intent.id,
    refunded: false,
    status: "succeeded",
  };
}

export function refundOf(
  charge: Charge,
  { id, created }: Origin,
  values: Pick<Stripe.Refund, "amount" | "reason" | "metadata" | "status">,
): Stripe.Refund {
  return {
    id,
    created,
    object: "refund",
    balance_transaction: null,
    charge: charge.id,
    currency: charge.currency,
    customer: null,
    customer_account: null,
    destination_details: { type: "card", card: { type: "refund" } },
    payment_intent: charge.payment_intent,
    payment_method: null,
    receipt_number: null,
    source_transfer_reversal: null,
    transfer_reversal: null,
    ...values,
  };
}

export function disputeOf(charge: Charge, origin: Origin, amount: number): Dispute {
  return {
    ...origin,
    object: "dispute",
    amount,
    balance_transactions: [],
    charge: charge.id,
    currency: charge.currency,
    intended_submission_method: null,
    is_charge_refundable: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: "fraudulent",
    status: "needs_response",
  };
}

export function movementOf(
  id: string,
  created: number,
  { id: source, currency }: Dispute,
  amount: number,
): Stripe.BalanceTransaction {
  return {
    id,
    object: "balance_transaction",
    amount,
    available_on: created,
    balance_type: "payments",
    created,
    currency,
    description: null,
    exchange_rate: null,
    fee: 0,
    fee_details: [],
    net: amount,
    reporting_category: amount < 0 ? "dispute" : "dispute_reversal",
    source,
    status: "available",
    type: "adjustment",
  };
}

/** What the fake remembers of an account. */
export interface Account {
  id: string;
  livemode: boolean;
  created: string;
  params: z.infer<typeof AccountParams>;
  cards: "active" | "pending" | "restricted";
  missing: string[];
  /** False once its owner has taken the platform's access away. */
  isConnected: boolean;
}

type Include = NonNullable<z.infer<typeof AccountParams>["include"]>;

/** Parts that were not asked for are absent. */
export function accountOf(account: Account, include: Include = []): Stripe.V2.Core.Account {
  const { id, livemode, created, params, cards, missing } = account;
  const has = (part: Include[number]) => include.includes(part);
  const details = {
    active: [],
    pending: [{ code: "determining_status", resolution: "no_resolution" } as const],
    restricted: [{ code: "requirements_past_due", resolution: "provide_info" } as const],
  };
  return {
    id,
    object: "v2.core.account",
    applied_configurations: ["merchant"],
    closed: false,
    created,
    livemode,
    metadata: params.metadata ?? {},
    ...(params.contact_email && { contact_email: params.contact_email }),
    ...(params.display_name && { display_name: params.display_name }),
    ...(params.dashboard && { dashboard: params.dashboard }),
    ...(has("configuration.merchant") && {
      configuration: {
        merchant: {
          applied: true,
          capabilities: { card_payments: { status: cards, status_details: details[cards] } },
        },
      },
    }),
    ...(has("requirements") && {
      requirements: {
        entries: missing.map((description) => ({
          awaiting_action_from: "user",
          description,
          errors: [],
          impact: {
            restricts_capabilities: [
              {
                capability: "card_payments",
                configuration: "merchant",
                deadline: { status: "currently_due" },
              },
            ],
          },
          minimum_deadline: { status: "currently_due" },
          requested_reasons: [{ code: "routine_onboarding" }],
        })),
      },
    }),
  };
}

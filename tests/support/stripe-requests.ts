/**
 * What Stripe's API takes, as far as payments send it: forms with brackets (v1) and JSON (v2), every parameter
 * known by name, in the bounds of Stripe's pages. An unknown or renamed parameter is refused as Stripe does.
 */
import { z } from "zod";

/** `a[b][0]=c` to `{a: {b: ["c"]}}`. */
export function parseForm(text: string): unknown {
  const root: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll("]", "").split("[");
    const last = path.pop() ?? "";
    let at = root;
    for (const step of path) {
      at[step] ??= {};
      at = at[step] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return withLists(root);
}

function withLists(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withLists(item)] as const);
  const isList = entries.length > 0 && entries.every(([key], n) => key === String(n));
  return isList ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

const Integer = z
  .string()
  .regex(/^-?\d{1,15}$/)
  .transform(Number);
const Flag = z.enum(["true", "false"]).transform((value) => value === "true");
const Metadata = z
  .record(z.string().max(40), z.string().max(500))
  .refine((of) => Object.keys(of).length <= 50);
const Url = z.url({ protocol: /^https?$/ }).max(5000);
const Expand = z.array(z.string()).optional();

const METHODS =
  "acss_debit affirm afterpay_clearpay alipay alma amazon_pay au_becs_debit bacs_debit bancontact billie bizum blik boleto card cashapp crypto customer_balance eps fpx giropay grabpay ideal kakao_pay klarna konbini kr_card mb_way mobilepay multibanco naver_pay nz_bank_account oxxo p24 pay_by_bank payco paynow paypal paypay payto pix promptpay revolut_pay samsung_pay satispay scalapay sepa_debit sequra sofort sunbit swish twint upi us_bank_account wechat_pay zip".split(
    " ",
  );

export const SessionParams = z.strictObject({
  mode: z.literal("payment"),
  ui_mode: z.literal("hosted_page").optional(),
  success_url: Url,
  cancel_url: Url.optional(),
  client_reference_id: z.string().min(1).max(200).optional(),
  customer_email: z.email().max(800).optional(),
  expires_at: Integer.optional(),
  locale: z.string().optional(),
  submit_type: z.enum(["auto", "book", "donate", "pay", "subscribe"]).optional(),
  adaptive_pricing: z.strictObject({ enabled: Flag }).optional(),
  allowed_payment_method_types: z.array(z.enum([...METHODS, "link"])).optional(),
  excluded_payment_method_types: z.array(z.enum(METHODS)).optional(),
  metadata: Metadata.optional(),
  payment_intent_data: z
    .strictObject({
      description: z.string().min(1).max(1000).optional(),
      metadata: Metadata.optional(),
    })
    .optional(),
  line_items: z
    .array(
      z.strictObject({
        quantity: Integer.refine((count) => count > 0),
        price_data: z.strictObject({
          currency: z.string().regex(/^[a-z]{3}$/i),
          unit_amount: Integer.refine((amount) => amount >= 0 && amount <= 99_999_999_999),
          product_data: z.strictObject({
            name: z.string().min(1).max(250),
            description: z.string().min(1).max(1000).optional(),
          }),
        }),
      }),
    )
    .min(1)
    .max(100),
  expand: Expand,
});

export const RefundParams = z.strictObject({
  payment_intent: z.string().optional(),
  charge: z.string().optional(),
  amount: Integer.refine((amount) => amount > 0).optional(),
  reason: z.enum(["duplicate", "fraudulent", "requested_by_customer"]).optional(),
  metadata: Metadata.optional(),
  expand: Expand,
});

export const Query = z.strictObject({ expand: Expand });

export const ListQuery = z.strictObject({
  payment_intent: z.string().optional(),
  charge: z.string().optional(),
  status: z.string().optional(),
  created: z
    .union([
      Integer,
      z.strictObject({
        gt: Integer.optional(),
        gte: Integer.optional(),
        lt: Integer.optional(),
        lte: Integer.optional(),
      }),
    ])
    .optional(),
  limit: Integer.refine((count) => count >= 1 && count <= 100).optional(),
  starting_after: z.string().optional(),
  ending_before: z.string().optional(),
  expand: Expand,
});

const Include = z
  .array(
    z.enum([
      "configuration.customer",
      "configuration.merchant",
      "configuration.recipient",
      "defaults",
      "future_requirements",
      "identity",
      "requirements",
    ]),
  )
  .optional();

export const AccountQuery = z.strictObject({ include: Include });

export const AccountParams = z.strictObject({
  contact_email: z.email().optional(),
  display_name: z.string().min(1).optional(),
  dashboard: z.enum(["express", "full", "none"]).optional(),
  identity: z
    .strictObject({ country: z.string().regex(/^[a-z]{2}$/i), entity_type: z.string().optional() })
    .partial()
    .optional(),
  defaults: z
    .strictObject({
      currency: z.string().optional(),
      locales: z.array(z.string()).optional(),
      responsibilities: z
        .strictObject({
          fees_collector: z.enum(["application", "stripe"]),
          losses_collector: z.enum(["application", "stripe"]),
        })
        .optional(),
    })
    .optional(),
  configuration: z
    .strictObject({
      merchant: z.strictObject({
        capabilities: z
          .strictObject({ card_payments: z.strictObject({ requested: z.boolean() }) })
          .optional(),
      }),
    })
    .optional(),
  metadata: Metadata.optional(),
  include: Include,
});

const Onboarding = z.strictObject({
  refresh_url: Url,
  return_url: Url.optional(),
  collection_options: z
    .strictObject({
      fields: z.enum(["currently_due", "eventually_due"]).optional(),
      future_requirements: z.enum(["include", "omit"]).optional(),
    })
    .optional(),
});

export const LinkParams = z.strictObject({
  account: z.string(),
  use_case: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("account_onboarding"), account_onboarding: Onboarding }),
    z.strictObject({ type: z.literal("account_update"), account_update: Onboarding }),
  ]),
});

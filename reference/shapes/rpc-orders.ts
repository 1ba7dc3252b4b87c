/** RPCs about products, orders and what was paid for them. */
import { z } from "zod";
import {
  amount,
  count,
  currency,
  id,
  instant,
  language,
  orderKind,
  orderStatus,
  paymentFlag,
  paymentKind,
  paymentProvider,
  paymentStatus,
  text,
  version,
} from "./common.ts";
import { OrderLine, ProductLine, ProductRow, shippingAddress } from "./rows.ts";
import type { RpcShape } from "./rpc.ts";

const OrderedProducts = z
  .array(z.strictObject({ product_id: id, quantity: z.int().min(1).max(100) }))
  .min(1)
  .max(200)
  .meta({ id: "OrderedProducts" });

const OrderQuote = z
  .strictObject({
    items: z.array(ProductLine),
    subtotal: amount,
    discount: amount,
    tax: amount,
    total: amount,
    currency,
  })
  .meta({ id: "OrderQuote" });

export const OrderReceipt = z
  .strictObject({
    id,
    professional_id: id,
    number: z.int().min(1),
    kind: orderKind,
    status: orderStatus,
    payment_status: paymentStatus,
    items: z.array(OrderLine),
    subtotal: amount,
    discount: amount,
    tax: amount,
    total: amount,
    amount_paid: amount,
    amount_refunded: amount,
    currency,
    version,
    created_at: instant,
    expires_at: instant
      .nullable()
      .describe("Of a hold: until when it has to be confirmed or paid; null: it is none"),
    checkout_token: text.nullable().describe("Opens a payment page; null: nothing is due"),
    amount_due: amount.nullable().describe("For how much that page is; null: nothing is due"),
  })
  .meta({ id: "OrderReceipt" });

export const OrderPayment = z
  .strictObject({
    id,
    kind: paymentKind,
    amount,
    method: text.nullable().describe("null but for a payment"),
    reference: text.nullable(),
    reason: text.nullable(),
    created_at: instant,
    provider: paymentProvider,
    flag: paymentFlag.nullable().describe("What should be looked at"),
  })
  .meta({ id: "OrderPayment" });

const PaymentReceipt = z
  .strictObject({ payment: OrderPayment, order: OrderReceipt })
  .meta({ id: "PaymentReceipt" });

const StockLevel = z.strictObject({ product_id: id, stock: count }).meta({ id: "StockLevel" });

const AuditFinding = z
  .strictObject({
    finding: z
      .enum([
        "order_lines_make_subtotal",
        "order_line_is_price_times_quantity",
        "order_total_adds_up",
        "order_numbers_have_no_gap",
        "order_paid_is_ledger",
        "order_refunded_is_ledger",
        "stock_is_ledger",
        "in_stock_is_stock",
        "order_products_are_its_lines",
        "stock_taken_is_ordered",
      ])
      .describe("The rule that does not hold"),
    subject_id: id.describe("The order, the product or, for numbers, the professional"),
    expected: z.number().nullable().describe("null: nothing should have been there"),
    actual: z.number(),
  })
  .meta({ id: "AuditFinding" });

const lines = [
  "invalid_items",
  "unexpected_field",
  "product_unavailable",
  "total_too_large",
] as const;

const ledger = [
  "PGRST301",
  "reference_reused",
  "invalid_amount",
  "too_many_decimals",
  "validation_failed",
] as const;

export const orders = {
  variants: { answer: z.array(ProductRow), errors: [] },
  parent: { answer: z.array(ProductRow).max(1), errors: [] },
  adjust_stock: {
    answer: StockLevel,
    errors: [
      "PGRST301",
      "stock_changed",
      "insufficient_stock",
      "stock_not_tracked",
      "stock_too_large",
      "reason_required",
      "delta_required",
      "validation_failed",
    ],
  },
  quote_order: {
    answer: OrderQuote,
    args: { items: OrderedProducts },
    errors: ["PGRST301", "insufficient_stock", "not_accepting", ...lines, "validation_failed"],
  },
  place_order: {
    answer: OrderReceipt,
    args: { items: OrderedProducts, language, shipping_address: shippingAddress },
    errors: [
      "PGRST301",
      "insufficient_stock",
      "total_changed",
      "not_accepting",
      ...lines,
      "invalid_idempotency_key",
      "idempotency_key_reused",
      "payments_unavailable",
      "amount_not_payable",
      "too_many_open",
      "rate_limit_exceeded",
      "validation_failed",
    ],
  },
  record_payment: {
    answer: PaymentReceipt,
    errors: [...ledger, "exceeds_total", "method_required"],
  },
  refund_payment: { answer: PaymentReceipt, errors: [...ledger, "refund_exceeds_paid"] },
  order_payments: { answer: z.array(OrderPayment), errors: ["PGRST301", "validation_failed"] },
  audit: { answer: z.array(AuditFinding), errors: [] },
} satisfies Record<string, RpcShape>;

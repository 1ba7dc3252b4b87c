/** What was ordered and what it comes to, and where it goes. */

import { severalLines } from "../_shared/lines.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { Row } from "./blocks.ts";
import type { Order } from "./facts.ts";
import { fromThousandths, thousandths } from "./money.ts";
import type { Label, Texts } from "./texts/texts.ts";
import { isolated } from "./words.ts";

/** An amount in words, in the order's currency. */
type Money = (amount: string, currency: string) => string;

export function orderRows(order: Order, { labels, locale }: Texts, money: Money): Row[] {
  const inWords = (amount: string) => money(amount, order.currency);
  const count = new Intl.NumberFormat(locale);
  const row = (label: Label, value: string): Row => ({ label: labels[label], value });
  const rowUnlessZero = (label: Label, amount: string, sign = ""): Row[] =>
    thousandths(amount) === 0n ? [] : [row(label, `${sign}${inWords(amount)}`)];

  const adjustments = [
    ...rowUnlessZero("discount", order.discount, "−"),
    ...rowUnlessZero(isTaxIncluded(order) ? "tax_included" : "tax", order.tax),
  ];
  return [
    ...order.items.map((item) => ({
      label: isolated(oneLine(item.name)),
      value:
        item.quantity === 1
          ? inWords(item.total)
          : `${count.format(item.quantity)} × ${inWords(item.unit_price)} = ${inWords(item.total)}`,
    })),
    ...(adjustments.length === 0 ? [] : [row("subtotal", inWords(order.subtotal))]),
    ...adjustments,
    { ...row("total", inWords(order.total)), strong: true },
    ...rowUnlessZero("paid", order.amount_paid),
    ...rowUnlessZero("refunded", order.amount_refunded),
    ...rowUnlessZero("due", amountDue(order)),
  ];
}

/** Prices include the tax where it has not been added to the total. */
function isTaxIncluded({ subtotal, discount, total }: Order): boolean {
  return thousandths(total) === thousandths(subtotal) - thousandths(discount);
}

/** Nothing is due any more once money went back, or for what is cancelled. */
function amountDue(order: Order): string {
  const open = ["unpaid", "partially_paid"].includes(order.payment_status);
  const due = thousandths(order.total) - thousandths(order.amount_paid);
  return open && order.status !== "cancelled" && due > 0n ? fromThousandths(due) : "0";
}

/** Common names of the parts of an address, in the order of an envelope. */
const PARTS = [
  ...["name", "full_name", "company", "street", "address", "line1", "line_1", "address_line1"],
  ...["number", "line2", "line_2", "address_line2", "postal_code", "postcode", "zip", "city"],
  ...["state", "province", "region", "country"],
];

/** An address of any shape, a line for each of its texts; what is not known comes last. */
export function addressLines(address: Record<string, unknown>): string {
  const place = (key: string) => (PARTS.includes(key) ? PARTS.indexOf(key) : PARTS.length);
  const leaves = (value: unknown): string[] => {
    if (typeof value === "string" || typeof value === "number") return [String(value)];
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value)
      .sort(([a], [b]) => place(a) - place(b))
      .flatMap(([, part]) => leaves(part));
  };
  return severalLines(leaves(address).join("\n"));
}

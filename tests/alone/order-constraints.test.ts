/**
 * The constraints of orders and ledgers, which stand behind their rules, tried with the rules switched
 * off. Alone, because that locks a table.
 */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { expect, test } from "vitest";
import { answer, auditAfterEachTest, openShop, place } from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createProduct,
  createService,
} from "../support/factories.ts";

auditAfterEachTest();

test("each refuses what the rules would have let through", async () => {
  const shop = await openShop();
  const client = await createClientRow(shop);
  const service = await createService(shop);
  const product = await createProduct(shop, { stock: 3 });
  const booking = await createBooking(shop, {
    client_id: client.id,
    service_id: service.id,
    starts_at: "2027-03-01T09:00:00Z",
  });
  await answer(
    shop.api.from("orders").insert({ client_id: client.id, booking_id: booking.id }).select("id"),
  );
  const order = await place(shop, [{ product_id: product.id, quantity: 1 }]);
  const other = await openShop();
  const foreign = {
    client: await createClientRow(other),
    product: await createProduct(other),
    order: await place(other, [{ name: "Soap", unit_price: 1, quantity: 1 }]),
  };
  await answer(
    shop.api.rpc("record_payment", {
      order_id: order.id,
      amount: 1,
      method: "cash",
      reference: "r",
    }),
  );

  type Values = Record<string, unknown>;
  const orders = (values: Values): [string, Values] => [
    "public.orders",
    {
      professional_id: shop.id,
      client_id: client.id,
      number: 9,
      items: sql.json([{}]),
      subtotal: 5,
      total: 5,
      currency: "EUR",
      ...values,
    },
  ];
  const ledger = (values: Values): [string, Values] => [
    "private.stock_ledger",
    { professional_id: shop.id, product_id: product.id, delta: 1, reason: "found", ...values },
  ];
  const held = (values: Values): [string, Values] => [
    "private.order_products",
    {
      professional_id: shop.id,
      order_id: order.id,
      product_id: product.id,
      quantity: 1,
      ...values,
    },
  ];
  const payments = (values: Values): [string, Values] => [
    "private.payments",
    {
      professional_id: shop.id,
      order_id: order.id,
      kind: "payment",
      amount: 1,
      method: "cash",
      ...values,
    },
  ];

  const cases: [string | null, [string, Values]][] = [
    [null, orders({})],
    ["orders_number_is_positive", orders({ number: 0 })],
    ["orders_professional_id_number_key", orders({ number: 1 })],
    ["orders_kind_is_known", orders({ kind: "gift" })],
    ["orders_status_is_known", orders({ status: "lost" })],
    ["orders_source_is_known", orders({ source: "street" })],
    ["orders_items_are_1_to_200_lines", orders({ items: sql.json([]) })],
    ["orders_items_are_1_to_200_lines", orders({ items: sql.json(Array(201).fill({})) })],
    ["orders_items_are_1_to_200_lines", orders({ items: sql.json({}) })],
    ["orders_discount_is_at_most_the_subtotal", orders({ discount: 6, total: 0 })],
    ["orders_total_adds_up", orders({ total: 4 })],
    ["orders_total_adds_up", orders({ tax: 1, total: 7 })],
    // A provider may have given back more than it took.
    [null, orders({ amount_paid: 1, amount_refunded: 2 })],
    [
      "orders_with_an_expiry_are_pending_or_cancelled",
      orders({ status: "confirmed", expires_at: "2100-01-01T08:00:00Z" }),
    ],
    [
      "orders_with_an_open_checkout_are_pending",
      orders({ status: "confirmed", checkout_open: true }),
    ],
    [null, orders({ checkout_open: true, deposit: 5 })],
    ["orders_deposit_is_more_than_0_and_at_most_the_total", orders({ deposit: 5.01 })],
    ["orders_deposit_is_more_than_0_and_at_most_the_total", orders({ deposit: 0 })],
    ["orders_one_live_order_per_booking", orders({ booking_id: booking.id })],
    ["orders_professional_id_client_id_fkey", orders({ client_id: foreign.client.id })],
    ["orders_professional_id_booking_id_fkey", orders({ booking_id: randomUUID() })],
    [
      "orders_shipping_address_is_an_object_of_at_most_4_kb",
      orders({ shipping_address: sql.json([]) }),
    ],
    ["orders_notes_have_at_most_4000_characters", orders({ notes: "x".repeat(4001) })],
    [
      "orders_internal_notes_have_at_most_10000_characters",
      orders({ internal_notes: "x".repeat(10001) }),
    ],
    ["orders_metadata_is_an_object_of_at_most_8_kb", orders({ metadata: sql.json([]) })],
    ["money_amount_is_between_0_and_999999999999_999", orders({ tax: -1 })],
    ["money_amount_is_between_0_and_999999999999_999", orders({ tax: "NaN" })],
    ["money_amount_has_at_most_3_decimals", orders({ tax: "0.0001" })],

    [null, ledger({ delta: -1 })],
    ["stock_ledger_delta_is_a_change", ledger({ delta: 0 })],
    ["stock_ledger_reason_has_1_to_200_characters", ledger({ reason: " \u200b" })],
    ["stock_ledger_reason_has_1_to_200_characters", ledger({ reason: "x".repeat(201) })],
    ["stock_ledger_professional_id_product_id_fkey", ledger({ product_id: foreign.product.id })],
    ["stock_ledger_professional_id_order_id_fkey", ledger({ order_id: foreign.order.id })],
    ["stock_ledger_professional_id_fkey", ledger({ professional_id: randomUUID() })],

    ["order_products_pkey", held({})],
    ["order_products_quantity_is_positive", held({ quantity: 0 })],
    ["order_products_professional_id_order_id_fkey", held({ order_id: foreign.order.id })],
    ["order_products_professional_id_product_id_fkey", held({ product_id: foreign.product.id })],
    ["order_products_professional_id_fkey", held({ professional_id: randomUUID() })],

    [null, payments({})],
    [null, payments({ kind: "refund", method: null, reason: "late" })],
    [null, payments({ kind: "dispute", provider: "stripe", reference: "du_1" })],
    [null, payments({ provider: "stripe", reference: "r" })],
    ["payments_kind_is_known", payments({ kind: "gift", provider: "stripe", reference: "g" })],
    ["payments_by_hand_are_payments_or_refunds", payments({ kind: "dispute", reference: "du_1" })],
    ["payments_of_a_provider_have_a_reference", payments({ provider: "stripe" })],
    ["payments_provider_is_known", payments({ provider: "bank", reference: "b" })],
    ["payments_flag_is_known", payments({ flag: "odd" })],
    ["payments_amount_is_positive", payments({ amount: 0 })],
    ["money_amount_is_between_0_and_999999999999_999", payments({ amount: -1 })],
    ["payments_method_has_1_to_50_characters", payments({ method: "\u00ad" })],
    ["payments_method_has_1_to_50_characters", payments({ method: "x".repeat(51) })],
    ["payments_reference_has_1_to_200_characters", payments({ reference: " \u2800" })],
    ["payments_reason_has_at_most_1000_characters", payments({ reason: "x".repeat(1001) })],
    ["payments_professional_id_reference_key", payments({ reference: "r" })],
    ["payments_professional_id_order_id_fkey", payments({ order_id: foreign.order.id })],
    ["payments_professional_id_fkey", payments({ professional_id: randomUUID() })],
  ];

  const undo = new Error("undo");
  const results: unknown[] = [];
  const work = sql.begin(async (tx) => {
    await tx`alter table public.orders disable trigger user`;
    for (const [, [table, values]] of cases) {
      const error = await tx
        .savepoint(async (attempt) => {
          await attempt`insert into ${attempt(table)} ${attempt(values as never)}`;
          throw undo;
        })
        .catch((reason: unknown) => reason);
      if (error !== undo && !(error instanceof postgres.PostgresError)) throw error;
      results.push(error === undo ? null : (error as postgres.PostgresError).constraint_name);
    }
    throw undo;
  });
  await expect(work).rejects.toBe(undo);
  expect(results).toEqual(cases.map(([constraint]) => constraint));
});

test("stock below zero is refused by the table, whoever writes it", async () => {
  const shop = await openShop();
  const product = await createProduct(shop, { stock: 1 });
  const error = await sql`update public.products set stock = -1 where id = ${product.id}`.catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ constraint_name: "products_stock_is_never_negative" });
  expect(
    await sql`select from public.products where id = ${product.id} and stock = 1`,
  ).toHaveLength(1);
});

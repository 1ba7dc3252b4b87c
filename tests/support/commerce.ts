/** What the tests of commerce share: shops whose books are audited, and the RPCs' answers with types. */
import type { PostgrestError } from "@supabase/supabase-js";
import { afterEach, expect } from "vitest";
import type { Database } from "../../supabase/functions/_shared/database.types.ts";
import type { Api } from "./callers.ts";
import { type Claims, raised, sql } from "./database.ts";
import {
  createClientRow,
  createProfessional,
  type Insert,
  type Professional,
  type Row,
} from "./factories.ts";

type Types = Database["public"]["CompositeTypes"];
type Complete<T> = { [K in keyof T]-?: NonNullable<T[K]> };

export interface Line {
  product_id?: string;
  service_id?: string;
  name: string;
  sku: string | null;
  options: Record<string, unknown>;
  unit_price: number;
  quantity: number;
  total: number;
}

export type Quote = Omit<Complete<Types["order_quote"]>, "items"> & { items: Line[] };
export type Receipt = Omit<Complete<Types["order_receipt"]>, "items"> & { items: Line[] };
export interface PaymentReceipt {
  payment: Types["order_payment"];
  order: Receipt;
}

export const ANON: Claims = { role: "anon" };
export const SERVER: Claims = { role: "service_role" };

/** The shops of the running test. */
const shops: Professional[] = [];

/** A professional who accepts orders. Its books must add up when the test is over. */
export async function openShop(
  profile: Parameters<typeof createProfessional>[0] = {},
): Promise<Professional> {
  const shop = await createProfessional({ accepts_orders: true, ...profile });
  shops.push(shop);
  return shop;
}

/** What audit() finds at a shop: nothing, if all is well. */
export async function findings(shop: Professional): Promise<unknown[]> {
  const { data, error } = await shop.api.rpc("audit");
  if (error) throw new Error(JSON.stringify(error));
  return data;
}

/** Call at the top of a file: after each test the books of all its shops are audited. */
export function auditAfterEachTest(): void {
  afterEach(async () => {
    for (const shop of shops.splice(0)) expect(await findings(shop)).toEqual([]);
  });
}

/** The answer of a call that must succeed. */
export async function answer<T>(
  call: PromiseLike<{ data: unknown; error: PostgrestError | null }>,
): Promise<T> {
  const { data, error } = await call;
  if (error) throw new Error(JSON.stringify(error));
  return data as T;
}

interface Refusable {
  status: number;
  error: PostgrestError | null;
}

export interface Failure {
  status: number;
  code: string;
  details: unknown;
}

/** How a call failed; details parsed where they are JSON. Throws when it succeeded. */
export async function failure(call: Refusable | PromiseLike<Refusable>): Promise<Failure> {
  const { status, error } = await call;
  if (!error) throw new Error(`the call succeeded with ${status}`);
  let details: unknown = error.details ?? null;
  try {
    details = JSON.parse(error.details);
  } catch {
    // A sentence of the database.
  }
  return { status, code: error.code, details };
}

/** `done`, or the code a call in SQL failed with. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  const reason = await call.then(
    () => undefined,
    (error: unknown) => error ?? new Error("rejected with nothing"),
  );
  return reason === undefined ? "done" : (await raised(Promise.reject(reason))).code;
}

/** Places an order of the owner, for a client of its own unless one is given. */
export async function place(
  shop: Professional,
  items: unknown,
  values: Partial<Insert<"orders">> = {},
): Promise<Receipt & Omit<Row<"orders">, keyof Receipt>> {
  const client_id = values.client_id ?? (await createClientRow(shop)).id;
  return answer(
    shop.api
      .from("orders")
      .insert({ items: items as never, ...values, client_id })
      .select("*")
      .single(),
  );
}

/** An order of the public for `email`. */
export function placeOrder(
  api: Api,
  shop: Professional,
  items: unknown,
  values: Partial<Database["public"]["Functions"]["place_order"]["Args"]> = {},
) {
  return api.rpc("place_order", {
    professional_id: shop.id,
    items: items as never,
    client_name: "Marta Rossi",
    client_email: "marta@example.com",
    ...values,
  });
}

/** Stock of a product and its ledger, oldest first. */
export async function stockOf(product: {
  id: string;
}): Promise<{ stock: number | null; ledger: { delta: number; reason: string }[] }> {
  const [row] = await sql<{ stock: number | null }[]>`
    select stock from public.products where id = ${product.id}`;
  const ledger = await sql<{ delta: number; reason: string }[]>`
    select delta, reason from private.stock_ledger where product_id = ${product.id} order by id`;
  return { stock: row?.stock ?? null, ledger: ledger.map((entry) => ({ ...entry })) };
}

/** Numbers of a shop's orders, in order. */
export async function numbersOf(shop: Professional): Promise<number[]> {
  const rows = await sql<{ number: number }[]>`
    select number from public.orders where professional_id = ${shop.id} order by number`;
  return rows.map((row) => row.number);
}

/** 1 … n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

/**
 * What the client's types let through and what they refuse. Nothing here runs: `npm run check` reads
 * it, and an @ts-expect-error that meets no error is one itself.
 */
import { createClient } from "@supabase/supabase-js";
import { expectTypeOf } from "vitest";
import type {
  BookingReceipt,
  BookingStatus,
  Database,
  ErrorCode,
  ErrorDetails,
  Json,
  JsonObject,
  OrderReceipt,
  Product,
  Routes,
  WebhookEvent,
} from "../../../client/src/database.ts";

const api = createClient<Database>("http://127.0.0.1:54321", "key");
const id = "00000000-0000-4000-8000-000000000000";
const starts_at = "2027-03-01T09:00:00Z";

export async function listedValues() {
  await api.from("bookings").update({ status: "cancelled" }).eq("status", "pending");
  // @ts-expect-error: no status
  await api.from("bookings").update({ status: "banana" });
  // @ts-expect-error: no status
  await api.from("bookings").insert({ starts_at, status: "banana" });
  await api.from("orders").insert({ client_id: id, items: [{ product_id: id, quantity: 2 }] });
  // @ts-expect-error: what was ordered has to be said
  await api.from("orders").insert({ client_id: id, items: [{ quantity: 2 }] });
  // @ts-expect-error: no status
  await api.from("bookings").select().eq("status", "banana");
  // @ts-expect-error: no status
  await api.from("bookings").select().in("status", ["pending", "banana"]);
  // @ts-expect-error: no kind
  await api.from("orders").insert({ client_id: id, kind: "banana" });
  // @ts-expect-error: no language
  await api.from("clients").update({ language: "xx" });
  // @ts-expect-error: no language
  await api.rpc("create_booking", { service_id: id, starts_at, language: "xx" });
  // @ts-expect-error: no column
  await api.from("profiles").update({ public_contact: ["username"] });
  expectTypeOf<BookingStatus>().toEqualTypeOf<
    "pending" | "confirmed" | "cancelled" | "completed" | "no_show"
  >();
}

export async function refusedColumns() {
  await api.from("services").insert({ name: "Cut", price: 20, duration: 30 });
  // @ts-expect-error: a price is needed
  await api.from("services").insert({ name: "Cut", duration: 30 });
  // @ts-expect-error: changes by an RPC
  await api.from("bookings").update({ price: 1 });
  // @ts-expect-error: given by the database
  await api.from("bookings").insert({ starts_at, source: "public" });
  // @ts-expect-error: follows the ledger
  await api.from("orders").update({ amount_paid: 10 });
  // @ts-expect-error: servers set it
  await api.from("profiles").update({ tier: "max" });
  // @ts-expect-error: signing up makes it
  await api.from("profiles").insert({ username: "ana" });
  // @ts-expect-error: never changes
  await api.from("products").update({ parent_id: id });
}

export async function answers() {
  const booked = await api.rpc("create_booking", { service_id: id, starts_at });
  expectTypeOf(booked.data).toEqualTypeOf<BookingReceipt | null>();
  expectTypeOf<BookingReceipt["status"]>().toEqualTypeOf<BookingStatus>();
  expectTypeOf<BookingReceipt["starts_at"]>().toEqualTypeOf<string>();
  expectTypeOf<BookingReceipt["expires_at"]>().toEqualTypeOf<string | null>();
  expectTypeOf<OrderReceipt["number"]>().toEqualTypeOf<number>();

  const slots = await api.rpc("available_slots", {
    service_id: id,
    from_date: "2027-03-01",
    to_date: "2027-03-02",
  });
  expectTypeOf(slots.data?.days[0]?.slots[0]?.starts_at).toEqualTypeOf<string | undefined>();

  await api.rpc("create_booking", { service_id: id, starts_at, client_email: null });
  // @ts-expect-error: a start is needed
  await api.rpc("create_booking", { service_id: id });
  // @ts-expect-error: a start cannot be null
  await api.rpc("create_booking", { service_id: id, starts_at: null });
  // @ts-expect-error: lines have quantities
  await api.rpc("place_order", { professional_id: id, items: [{ product_id: id }] });
  // @ts-expect-error: for servers alone
  await api.rpc("confirm_hold", { kind: "booking", id, link_epoch: 1 });
  // @ts-expect-error: for servers alone
  await api.rpc("health");
}

export async function embeds() {
  const bookings = await api.from("bookings").select("id, clients(name), services(name)").single();
  expectTypeOf(bookings.data).toEqualTypeOf<{
    id: string;
    clients: { name: string } | null;
    services: { name: string } | null;
  } | null>();

  const products = await api.from("products").select("id, variants(sku), parent(name)").single();
  expectTypeOf(products.data).toEqualTypeOf<{
    id: string;
    variants: { sku: string | null }[];
    parent: { name: string } | null;
  } | null>();

  const whole = await api.from("products").select().single();
  expectTypeOf(whole.data).toEqualTypeOf<Product | null>();
  const clients = await api.from("clients").select("*, bookings(status)");
  expectTypeOf(clients.data?.[0]?.bookings[0]?.status).toEqualTypeOf<BookingStatus | undefined>();
}

export function errors(details: ErrorDetails) {
  expectTypeOf<"slot_taken">().toExtend<ErrorCode>();
  // @ts-expect-error: no code
  expectTypeOf<"banana">().toExtend<ErrorCode>();
  expectTypeOf(details.slot_taken).toEqualTypeOf<{ next_starts: string[] } | null>();
  expectTypeOf(details["42501"]).toEqualTypeOf<string | null>();
}

export function events(event: WebhookEvent) {
  if (event.type === "booking.created") {
    expectTypeOf(event.data.status).toEqualTypeOf<BookingStatus>();
    expectTypeOf(event.previous).toEqualTypeOf<null>();
  }
}

type IsFree<Type> = [Type] extends [never]
  ? false
  : [NonNullable<Json>] extends [Type]
    ? true
    : string extends keyof Type
      ? [NonNullable<Json>] extends [Type[keyof Type]]
        ? true
        : false
      : false;

/** The fields, however deep, of which nothing is known but that they are JSON. */
type FreeFields<Type, Depth extends 0[] = []> = Depth["length"] extends 8
  ? never
  : Type extends readonly (infer Item)[]
    ? FreeFields<Item, [...Depth, 0]>
    : Type extends object
      ? {
          [Key in keyof Type]-?: true extends IsFree<NonNullable<Type[Key]>>
            ? Key
            : FreeFields<Type[Key], [...Depth, 0]>;
        }[keyof Type]
      : never;

type Tables = Database["public"]["Tables"];
type Rpcs = Database["public"]["Functions"];
/** These have rows of every table there is, and JSON in some of them that only the rules know. */
type Exports = "export_account" | "export_client";
type Answers = {
  [Name in Exclude<keyof Rpcs, Exports>]: { answer: Rpcs[Name]["Returns"] };
}[Exclude<keyof Rpcs, Exports>];

export function nothingIsFreeButWhatItsOwnerPutsThere() {
  type Theirs = "metadata" | "options" | "shipping_address";
  expectTypeOf<FreeFields<Answers>>().toEqualTypeOf<Theirs>();
  expectTypeOf<FreeFields<Tables[keyof Tables]["Row"]>>().toEqualTypeOf<Theirs>();
  expectTypeOf<FreeFields<Routes[keyof Routes]>>().toEqualTypeOf<Theirs>();
  expectTypeOf<FreeFields<ErrorDetails>>().toEqualTypeOf<never>();
  expectTypeOf<FreeFields<{ a: { b: Json }[]; c: JsonObject | null }>>().toEqualTypeOf<"b" | "c">();
}

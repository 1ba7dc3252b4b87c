/** What the page reads of the API, and how it changes a booking. */
import { ApiError, connect } from "../shared/api.ts";
import type { Instant } from "../shared/format.ts";
import { texts } from "./texts/index.ts";

export const api = connect({ auth: { detectSessionInUrl: false } });
const { from, rpc } = api;

/** Here alone: a phone stays signed in when the computer at the counter is not. */
export const signOut = () => api.run(api.auth.signOut({ scope: "local" }));

/** A session that has ended elsewhere ends here too. */
const run: typeof api.run = (query) =>
  api.run(query).catch((error) => {
    if (error.status === 401) void signOut().catch(() => undefined);
    throw error;
  });

const BOOKING = `id, version, status, starts_at, ends_at, service_id, service_name, price, currency,
  notes, internal_notes, cancel_reason, expires_at, checkout_open, client:clients(name, phone, email),
  orders(amount_paid, amount_refunded)` as const;

export const loadProfile = (signal: AbortSignal) =>
  run(from("profiles").select("full_name, time_zone").abortSignal(signal).single());

/** Whatever touches the time between two moments, but holds that ran out, which nobody has heard of. */
export function loadBookings(start: Instant, end: Instant, signal: AbortSignal) {
  const some = from("bookings").select(BOOKING).lt("starts_at", end).gt("ends_at", start);
  const known = some.or("cancelled_by.is.null,cancelled_by.neq.system");
  return run(known.order("starts_at").order("id").abortSignal(signal));
}

export type Booking = Awaited<ReturnType<typeof loadBookings>>[number];
/** What a booking can become. */
export type Outcome = Exclude<Booking["status"], "pending">;

/** Only as it was seen. Said again after an answer that was lost, it finds its own change, and that is well. */
export async function setStatus({ id, version }: Booking, status: Outcome): Promise<void> {
  const update = from("bookings").update({ status }).eq("id", id).eq("version", version);
  if ((await run(update.select("id"))).length > 0) return;
  const [now] = await run(from("bookings").select("status").eq("id", id));
  // Somebody else was faster: what is shown is not how it stands.
  if (now?.status !== status) throw new ApiError(409, { code: "changed" });
}

/** With what was paid online for it, unless the professional keeps that. */
export const cancel = ({ id }: Booking, reason: string, refund: boolean) =>
  rpc("cancel_booking", { booking_id: id, refund, ...(reason && { reason }) });

/** The id is of what is meant, so that what is sent twice is there once. */
export const block = (values: Pick<Booking, "id" | "starts_at" | "ends_at" | "notes">) =>
  run(from("bookings").insert(values)).catch(async (error) => {
    const found = await run(from("bookings").select("id").eq("id", values.id));
    if (found.length === 0) throw error;
  });

/** What was paid and has not gone back. */
export const paidFor = ({ orders }: Booking): number =>
  orders.reduce((sum, order) => sum + order.amount_paid - order.amount_refunded, 0);

/** Blocked time has neither client nor service. */
export const isBlock = ({ service_id }: Booking) => service_id === null;

export const nameOf = ({ client }: Booking): string => client?.name ?? texts.blocked;

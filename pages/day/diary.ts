/** What the page reads of the API, and how it changes a booking. */
import { ApiError } from "../shared/api.ts";
import type { Instant, IsoDate } from "../shared/format.ts";
import { api } from "./session.ts";

/** Somebody else was faster: what is shown is not how it stands. */
export const changedElsewhere = () => new ApiError(409, { code: "changed" });

const BOOKING = `id, version, status, starts_at, ends_at, service_id, service_name, price, currency,
  notes, internal_notes, cancel_reason, expires_at, checkout_open, client:clients(name, phone, email),
  orders(amount_paid, amount_refunded)` as const;

export async function loadProfile(signal: AbortSignal) {
  const columns = "id, full_name, time_zone, availability, updated_at";
  const [profile] = await api.run(api.from("profiles").select(columns).abortSignal(signal));
  if (!profile) throw changedElsewhere();
  return profile;
}

/** Whatever touches the time between two moments, but holds that ran out, which nobody has heard of. */
export const loadBookings = (from: Instant, to: Instant, signal: AbortSignal) =>
  api.run(
    api
      .from("bookings")
      .select(BOOKING)
      .lt("starts_at", to)
      .gt("ends_at", from)
      .or("cancelled_by.is.null,cancelled_by.neq.system")
      .order("starts_at")
      .order("id")
      .abortSignal(signal),
  );

export type Profile = Awaited<ReturnType<typeof loadProfile>>;
export type Booking = Awaited<ReturnType<typeof loadBookings>>[number];
export type Status = "pending" | "confirmed" | "cancelled" | "completed" | "no_show";

/** Only as it was seen. Said again after an answer that was lost, it finds its own change, and that is well. */
export async function change(
  { id, version }: Booking,
  values: { status: Status } | { starts_at: Instant },
): Promise<void> {
  const query = api.from("bookings").update(values).eq("id", id).eq("version", version);
  if ((await api.run(query.select("id"))).length > 0) return;
  const [now] = await api.run(api.from("bookings").select("status, starts_at").eq("id", id));
  const isDone = Object.entries(values).every(([name, value]) => now?.[name as "status"] === value);
  if (!isDone) throw changedElsewhere();
}

/** With what was paid online for it, unless the professional keeps that. */
export const cancel = ({ id }: Booking, reason: string, refund: boolean) =>
  api.rpc("cancel_booking", { booking_id: id, refund, ...(reason && { reason }) });

export async function freeStarts({ service_id, id }: Booking, date: IsoDate): Promise<Instant[]> {
  if (!service_id || !date) return [];
  const args = { service_id, from_date: date, to_date: date, reschedule_of: id };
  const answer = await api.rpc("available_slots", args);
  const { days } = answer as unknown as { days: { slots: { starts_at: Instant }[] }[] };
  return days.flatMap(({ slots }) => slots.map(({ starts_at }) => starts_at));
}

/** The form chooses the id, so that what is sent twice is there once. */
export async function block(
  values: Pick<Booking, "id" | "starts_at" | "ends_at" | "notes">,
): Promise<void> {
  try {
    await api.run(api.from("bookings").insert(values));
  } catch (error) {
    const found = await api.run(api.from("bookings").select("id").eq("id", values.id));
    if (found.length === 0) throw error;
  }
}

/** What was paid and has not gone back. */
export const paidFor = ({ orders }: Booking): number =>
  orders.reduce((sum, order) => sum + order.amount_paid - order.amount_refunded, 0);

/** `pending` until it is paid or its address is confirmed; then its time is free again. */
export const isHold = ({ status, expires_at }: Booking) => status === "pending" && !!expires_at;

/** Blocked time has neither client nor service. */
export const isBlock = ({ service_id }: Booking) => service_id === null;

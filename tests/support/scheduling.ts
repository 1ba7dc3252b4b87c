/** What the tests of scheduling share: a professional who is open, and the RPCs' answers with types. */
import type { PostgrestError } from "@supabase/supabase-js";
import { everyDay } from "./calendar.ts";
import type { Api } from "./callers.ts";
import { createProfessional, createService, type Insert, type Professional } from "./factories.ts";

export interface Slots {
  time_zone: string;
  duration: number;
  days: { date: string; slots: { starts_at: string; ends_at: string }[] }[];
}

export interface Explanation {
  reason: string;
  next_starts: string[];
}

/** Accepts bookings, in Rome, every day from 09:00 to 18:00. */
export function openProfessional(
  profile: Parameters<typeof createProfessional>[0] = {},
): Promise<Professional> {
  return createProfessional({
    accepts_bookings: true,
    time_zone: "Europe/Rome",
    availability: everyDay(["09:00", "18:00"]) as never,
    ...profile,
  });
}

/** 60 minutes, offered every 15, as far ahead as can be. */
export function openService(
  professional: Professional,
  values: Partial<Insert<"services">> = {},
): ReturnType<typeof createService> {
  return createService(professional, {
    duration: 60,
    slot_step: 15,
    max_advance_days: 1095,
    ...values,
  });
}

/** The answer of available_slots. */
export async function availableSlots(
  api: Api,
  service: { id: string },
  from: string,
  to: string = from,
  rescheduleOf?: string,
): Promise<Slots> {
  const { data, error } = await api.rpc("available_slots", {
    service_id: service.id,
    from_date: from,
    to_date: to,
    ...(rescheduleOf && { reschedule_of: rescheduleOf }),
  });
  if (error) throw new Error(JSON.stringify(error));
  return data as unknown as Slots;
}

/** All free starts of a range of dates. */
export async function freeStarts(...args: Parameters<typeof availableSlots>): Promise<string[]> {
  const { days } = await availableSlots(...args);
  return days.flatMap((day) => day.slots.map((slot) => slot.starts_at));
}

/** A booking by the public; the e-mail is a new one unless given. */
export function book(
  api: Api,
  service: { id: string },
  startsAt: string | number,
  values: { client_email?: string; notes?: string; idempotency_key?: string } = {},
) {
  return api.rpc("create_booking", {
    service_id: service.id,
    starts_at: typeof startsAt === "number" ? new Date(startsAt).toISOString() : startsAt,
    client_name: "Ann",
    client_email: `ann-${crypto.randomUUID()}@example.com`,
    ...values,
  });
}

/** How a call was refused, or that it was not. */
export function refusal(answer: { status: number; error: PostgrestError | null }): {
  status: number;
  code: string | undefined;
} {
  return { status: answer.status, code: answer.error?.code };
}

/** `next_starts` in the details of a refusal. */
export function nextStarts(answer: { error: PostgrestError | null }): string[] {
  return (JSON.parse(answer.error?.details ?? "{}") as Explanation).next_starts;
}

/** Free slots of a month, on the half-full calendar that every measured professional has. */
import { type Context, compareBoth } from "./context.ts";
import { serviceId } from "./data.ts";
import type { Side } from "./measure.ts";
import { type Row, row } from "./table.ts";

const CALL = "select public.available_slots($1::uuid, $2, $3) as body";

/** The local dates of a month from tomorrow. */
export function month(): [from: string, to: string] {
  const date = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  return [date(1), date(31)];
}

export async function measureSlots(context: Context): Promise<Row[]> {
  const { small, large } = context;
  const side = (url: string): Side => ({
    url,
    request: (worker, index) => ({
      role: "anon",
      method: "GET",
      statements: [[CALL, serviceId(1 + ((worker + index) % 16), 1), ...month()]],
    }),
  });
  const compared = await compareBoth(context, side(large.url), side(small.url), { requests: 30 });
  return [
    row(
      "Free slots",
      `31 days, half full, ${large.bookings} bookings`,
      `${small.bookings} bookings`,
      "p50",
      compared,
      [
        { of: "milliseconds", atMost: 5 },
        { of: "ratio", atMost: 1.2 },
      ],
    ),
  ];
}

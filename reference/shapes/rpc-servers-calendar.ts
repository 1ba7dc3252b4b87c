/** RPCs of the calendar function, for nobody but the server. */
import { z } from "zod";
import { bookingStatus, id, instant, language, text, timeZone, version } from "./common.ts";
import type { RpcShape } from "./rpc.ts";
import { BusyCalendar, ConnectedGoogle, feedDetail } from "./rpc-calendar.ts";

const when = { id, version, updated_at: instant, starts_at: instant, ends_at: instant };

const what = {
  status: bookingStatus,
  service_name: text.nullable(),
  location: text.nullable(),
  client_name: text.nullable(),
  client_email: text.nullable(),
  client_phone: text.nullable(),
  notes: text.nullable(),
};

const feed = { name: text, language, time_zone: timeZone };

const seconds = z.int().min(1).describe("Seconds");

const Feed = z.discriminatedUnion("detail", [
  z.strictObject({
    ...feed,
    detail: feedDetail.extract(["full"]),
    entries: z.array(z.strictObject({ ...when, ...what })),
  }),
  z.strictObject({
    ...feed,
    detail: feedDetail.extract(["busy"]),
    entries: z.array(z.strictObject(when)),
  }),
]);

const period = { from: instant, to: instant };

const BusyRanges = z.array(z.strictObject({ start: instant, end: instant })).max(20_000);

const checked = ["validation_failed"] as const;

export const serverCalendar = {
  calendar_feed: {
    answer: z
      .union([
        z.strictObject({ retry_after: seconds }),
        z.strictObject({
          retry_after: z.null(),
          etag: text,
          feed: Feed.nullable().describe("null: the caller has it already"),
        }),
      ])
      .nullable()
      .describe("null: nobody has this token"),
    errors: [...checked],
  },
  store_busy_calendar: {
    answer: BusyCalendar,
    nullable: ["name"],
    errors: [...checked, "PGRST301", "too_many_calendars"],
  },
  claim_busy_sync: {
    answer: z
      .strictObject({
        calendar_id: id,
        claim_token: id,
        professional_id: id,
        sealed_address: text,
        etag: text.nullable(),
        last_modified: text.nullable(),
        ...period,
        time_zone: timeZone,
        own_addresses: z.array(text),
      })
      .nullable()
      .describe("null: none is due"),
    errors: [],
  },
  own_calendar_uids: { answer: z.array(text), errors: [...checked] },
  finish_busy_sync: {
    answer: z.boolean().describe("false: the claim is over"),
    args: { ranges: BusyRanges },
    errors: [...checked],
  },
  store_google_connection: {
    answer: ConnectedGoogle,
    errors: [...checked, "PGRST301"],
  },
  google_grant: {
    answer: z.strictObject({ connection_id: id, sealed_token: text }).nullable(),
    errors: [...checked],
  },
  delete_google_connection: { answer: z.undefined(), errors: [...checked] },
  claim_google_run: {
    answer: z
      .strictObject({
        connection_id: id,
        claim_token: id,
        professional_id: id,
        sealed_token: text,
        language,
        time_zone: timeZone,
        pushes: z.array(
          z.strictObject({
            booking_id: id,
            revision: z.int().min(1),
            event_id: text,
            is_there: z.boolean(),
            entry: z
              .strictObject({ ...when, ...what })
              .nullable()
              .describe("null: the event has to go"),
          }),
        ),
        busy: z.strictObject(period).nullable().describe("null: nothing is to be read"),
      })
      .nullable()
      .describe("null: none is due"),
    errors: [],
  },
  next_google_event: {
    answer: text.nullable().describe("null: the claim is over"),
    errors: [...checked],
  },
  finish_google_push: {
    answer: z.boolean().describe("false: the claim is over"),
    errors: [...checked],
  },
  finish_google_run: {
    answer: z.boolean().describe("false: the claim is over"),
    args: { ranges: BusyRanges },
    errors: [...checked],
  },
} satisfies Record<string, RpcShape>;

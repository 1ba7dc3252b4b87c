/** RPCs about calendar feeds, calendars elsewhere and Google Calendar. */
import { z } from "zod";
import { count, id, instant, list, text } from "./common.ts";
import type { RpcShape } from "./rpc.ts";

export const feedDetail = z.enum(["full", "busy"]).meta({
  id: "FeedDetail",
  description: "full: who, what and how to reach them; busy: only when",
});

const CalendarFeed = z
  .strictObject({ id, name: text, detail: feedDetail, created_at: instant })
  .meta({ id: "CalendarFeed" });

export const BusyCalendar = z
  .strictObject({
    id,
    name: text.nullable(),
    host: text.describe("Of its address, which is not shown"),
    status: z.enum(["pending", "ok", "failing"]),
    error: text.nullable().describe("A code; null unless it fails"),
    error_detail: text.nullable(),
    last_synced_at: instant.nullable().describe("When it was last read without a fault"),
    created_at: instant,
  })
  .meta({ id: "BusyCalendar" });

const noConnection = z.strictObject({
  status: z.literal("none"),
  push: z.null(),
  busy: z.null(),
  error: z.null(),
  last_synced_at: z.null(),
  created_at: z.null(),
  waiting: z.literal(0),
  refused: z.literal(0),
});

export const ConnectedGoogle = z
  .strictObject({
    status: z.enum(["active", "revoked"]),
    push: z.boolean().describe("Whether bookings go there"),
    busy: z.boolean().describe("Whether what is there blocks starts"),
    error: text.nullable().describe("A code; null while all is well"),
    last_synced_at: instant.nullable(),
    created_at: instant,
    waiting: count.describe("Bookings that have still to reach it"),
    refused: count.describe("Bookings that it did not take"),
  })
  .meta({ id: "ConnectedGoogle" });

export const GoogleConnection = z
  .discriminatedUnion("status", [ConnectedGoogle, noConnection])
  .meta({ id: "GoogleConnection" });

const whose = z.strictObject({ professional_id: id });

export const calendar = {
  create_calendar_feed: {
    args: { detail: feedDetail },
    answer: z
      .strictObject({
        id,
        path: text.describe("Behind the API's address; whoever knows it reads the feed"),
      })
      .meta({ id: "CreatedCalendarFeed" }),
    errors: ["person_required", "validation_failed", "too_many_feeds"],
  },
  calendar_feeds: { answer: list(CalendarFeed), errors: [] },
  delete_calendar_feed: { answer: z.undefined(), errors: ["PGRST301", "validation_failed"] },
  begin_busy_calendar: {
    answer: whose,
    errors: ["person_required", "too_many_calendars", "rate_limit_exceeded"],
  },
  busy_calendars: { answer: list(BusyCalendar), errors: [] },
  delete_busy_calendar: { answer: z.undefined(), errors: ["PGRST301", "validation_failed"] },
  sync_busy_calendar: {
    answer: BusyCalendar,
    errors: ["PGRST301", "validation_failed", "rate_limit_exceeded"],
  },
  begin_google_connection: { answer: whose, errors: ["person_required", "rate_limit_exceeded"] },
  google_connection: { answer: GoogleConnection, errors: [] },
  update_google_connection: {
    answer: ConnectedGoogle,
    errors: ["PGRST301"],
  },
  begin_google_disconnection: { answer: whose, errors: ["person_required", "PGRST301"] },
} satisfies Record<string, RpcShape>;

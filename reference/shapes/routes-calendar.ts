/** Calendars: feeds of bookings, calendars elsewhere that block starts, Google Calendar. */
import { z } from "zod";
import { NewCalendar, NewConnection, Switches } from "../../supabase/functions/calendar/inputs.ts";
import { text } from "./common.ts";
import type { RouteShape } from "./routes.ts";
import {
  BODY_ERRORS,
  dispatchRoute,
  PERSON,
  PROFESSIONAL,
  USER_ERRORS,
  WRITE_ERRORS,
  WRITER,
} from "./routes-common.ts";
import { BusyCalendar, ConnectedGoogle, calendar } from "./rpc-calendar.ts";

const feed = {
  function: "calendar",
  path: "/feed/{token}.ics",
  who: "whoever has the address of the feed",
  contentType: "text/calendar; charset=utf-8",
  errors: ["PGRST301", "rate_limit_exceeded"],
  for: "public",
} as const;

export const CALENDAR_ROUTES = [
  {
    ...feed,
    method: "GET",
    summary: "Bookings and blocked time, for calendar programs; 304 when nothing has changed",
    answers: { 200: text, 304: null },
  },
  {
    ...feed,
    method: "HEAD",
    summary: "The same without the body",
    answers: { 200: null, 304: null },
  },
  {
    function: "calendar",
    method: "GET",
    path: "/busy",
    who: PROFESSIONAL,
    summary: "Calendars elsewhere that block starts",
    answers: { 200: calendar.busy_calendars.answer },
    errors: USER_ERRORS,
    for: "professional",
  },
  {
    function: "calendar",
    method: "POST",
    path: "/busy",
    who: PERSON,
    summary: "Adds one, by its secret address",
    body: NewCalendar.meta({ id: "NewBusyCalendar" }),
    answers: { 201: BusyCalendar },
    errors: [
      ...WRITE_ERRORS,
      ...BODY_ERRORS,
      "person_required",
      "url_not_allowed",
      "too_many_calendars",
      "calendar_not_configured",
    ],
    for: "professional",
  },
  {
    function: "calendar",
    method: "DELETE",
    path: "/busy/{id}",
    who: WRITER,
    summary: "Removes one, with the times it blocks",
    answers: { 204: null },
    errors: [...WRITE_ERRORS, "PGRST301"],
    for: "professional",
  },
  {
    function: "calendar",
    method: "POST",
    path: "/busy/{id}/sync",
    who: WRITER,
    summary: "Reads one again, within seconds",
    answers: { 202: BusyCalendar },
    errors: [...WRITE_ERRORS, "PGRST301", "calendar_not_configured"],
    for: "professional",
  },
  {
    function: "calendar",
    method: "GET",
    path: "/google",
    who: PROFESSIONAL,
    summary: "The state of Google Calendar",
    answers: { 200: calendar.google_connection.answer },
    errors: USER_ERRORS,
    for: "professional",
  },
  {
    function: "calendar",
    method: "POST",
    path: "/google",
    who: PERSON,
    summary: "Connects it, by the refresh token of a sign-in at Google",
    body: NewConnection.meta({ id: "NewGoogleConnection" }),
    answers: { 201: ConnectedGoogle },
    errors: [
      ...WRITE_ERRORS,
      ...BODY_ERRORS,
      "person_required",
      "scope_missing",
      "grant_refused",
      "google_unavailable",
      "calendar_not_configured",
    ],
    for: "professional",
  },
  {
    function: "calendar",
    method: "PATCH",
    path: "/google",
    who: WRITER,
    summary: "Switches what goes there, and what is read from there",
    body: Switches.meta({ id: "GoogleSwitches" }),
    answers: { 200: ConnectedGoogle },
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "PGRST301"],
    for: "professional",
  },
  {
    function: "calendar",
    method: "DELETE",
    path: "/google",
    who: PERSON,
    summary: "Disconnects it, and ends the grant at Google",
    answers: {
      200: z
        .strictObject({
          revoked: z.boolean().describe("Whether Google has ended the grant; false: do it there"),
        })
        .meta({ id: "GoogleDisconnected" }),
    },
    errors: [...WRITE_ERRORS, "person_required", "PGRST301"],
    for: "professional",
  },
  dispatchRoute("calendar", "Reads calendars elsewhere, and sends bookings to Google"),
] as const satisfies readonly RouteShape[];

/**
 * The entry for the client's calendar (RFC 5545, 5546): on what is confirmed, and on what was cancelled.
 * A calendar finds the entry of before by the UID and takes a higher SEQUENCE.
 */
import ical, { ICalAttendeeStatus, ICalCalendarMethod, ICalEventStatus } from "ical-generator";
import { entryIdentity } from "../_shared/calendar-entry.ts";
import { severalLines } from "../_shared/lines.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { Booking, ClientMail } from "./facts.ts";
import { type Person, professionalName } from "./names.ts";
import { placeForClient } from "./place.ts";
import type { Texts } from "./texts/texts.ts";
import { clientNameOnly, clip, headerName } from "./words.ts";

export interface Attachment {
  filename: string;
  content_type: string;
  /** Text; goes out as UTF-8. */
  content: string;
}

export type ClientBookingMail = Extract<ClientMail, { booking: Booking }>;

/** The state in which a booking has an entry in the mail of a kind. */
const STATE_WITH_ENTRY: Partial<Record<ClientBookingMail["kind"], Booking["status"]>> = {
  booking_confirmed: "confirmed",
  booking_moved: "confirmed",
  booking_cancelled: "cancelled",
};

export function calendarEntry(
  mail: ClientBookingMail,
  texts: Texts,
  sender: Person,
): Attachment | null {
  const { booking, client, professional, to } = mail;
  if (STATE_WITH_ENTRY[mail.kind] !== booking.status) return null;
  const cancelled = booking.status === "cancelled";
  const name = professionalName(professional, sender).header;
  const method = methodFor(client.proven, cancelled);
  const calendar = ical({
    prodId: { company: "scheduling-and-commerce", product: "mail", language: "EN" },
    method,
  });
  const { uid, sequence, stamp } = entryIdentity(booking);
  const event = calendar.createEvent({
    id: uid,
    sequence,
    stamp: new Date(stamp),
    start: new Date(booking.starts_at),
    end: new Date(booking.ends_at),
    status: cancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    summary: texts.calendar_title({
      service: clip(oneLine(booking.service_name), 200),
      professional: name,
    }),
    location: placeForClient(booking, professional),
    description: cancelled ? null : severalLines(booking.instructions ?? "") || null,
    organizer: { name, email: sender.email },
  });
  // RFC 5546, 3.2.1: what is published has no attendee.
  if (method !== ICalCalendarMethod.PUBLISH) {
    event.createAttendee({
      email: to.email,
      name: mail.may_quote ? headerName(clientNameOnly(client.name)) || null : null,
      rsvp: false,
      status: ICalAttendeeStatus.ACCEPTED,
    });
  }
  return {
    filename: method === ICalCalendarMethod.PUBLISH ? "booking.ics" : "invite.ics",
    content_type: `text/calendar; charset=utf-8; method=${method}`,
    content: `${calendar.toString()}\r\n`,
  };
}

/**
 * An address that has not proved itself may be anybody's: it gets a file to open, which no calendar takes
 * up by itself.
 */
function methodFor(proven: boolean, cancelled: boolean): ICalCalendarMethod {
  if (!proven) return ICalCalendarMethod.PUBLISH;
  return cancelled ? ICalCalendarMethod.CANCEL : ICalCalendarMethod.REQUEST;
}

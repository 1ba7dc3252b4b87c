/** An appointment as a calendar file (RFC 5545), made in the browser. */
import type { BookingPage, BookingReceipt } from "./api.ts";

const stamp = (instant: string | Date) =>
  new Date(instant).toISOString().replace(/[-:]|\.\d+/g, "");

/** A return alone would begin a line of the file, too. */
const escaped = (text: string) =>
  text.replace(/[\\;,]/g, "\\$&").replace(/\r\n?|[\n\u0085\u2028\u2029]/g, "\\n");

/** At most 75 bytes a line, of which a character may have four; what goes on begins with a space. */
const folded = (line: string) => (line.match(/[ -~]{1,74}|.{1,18}/gsu) ?? []).join("\r\n ");

export function downloadCalendarFile(booking: BookingReceipt, page: BookingPage): void {
  const { location } = page.services.find(({ id }) => id === booking.service_id) ?? {};
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Scheduling and commerce//Booking page//EN",
    "BEGIN:VEVENT",
    `UID:${booking.id}`,
    `SEQUENCE:${booking.version}`,
    `DTSTAMP:${stamp(new Date())}`,
    `DTSTART:${stamp(booking.starts_at)}`,
    `DTEND:${stamp(booking.ends_at)}`,
    `SUMMARY:${escaped(`${booking.service_name} · ${page.professional.full_name}`)}`,
    location ? `LOCATION:${escaped(location)}` : "",
    `STATUS:${booking.status === "confirmed" ? "CONFIRMED" : "TENTATIVE"}`,
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  const text = lines.filter(Boolean).map((line) => `${folded(line)}\r\n`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(text, { type: "text/calendar" }));
  link.download = "appointment.ics";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

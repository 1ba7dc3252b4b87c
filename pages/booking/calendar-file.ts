/** An appointment as a calendar file (RFC 5545), made in the browser. */
import type { BookingReceipt } from "./api.ts";

const stamp = (instant: string | Date) =>
  `${new Date(instant).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;

const escaped = (text: string) => text.replace(/[\\;,]/g, "\\$&").replace(/\r?\n/g, "\\n");

/** At most 75 bytes a line; what goes on begins with a space. */
function fold(line: string): string {
  const encoder = new TextEncoder();
  let [folded, length] = ["", 0];
  for (const character of line) {
    const bytes = encoder.encode(character).length;
    if (length + bytes > 75) [folded, length] = [`${folded}\r\n `, 1];
    folded += character;
    length += bytes;
  }
  return folded;
}

export function calendarFile(
  booking: BookingReceipt,
  name: string,
  location: string | null,
): string {
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
    `SUMMARY:${escaped(`${booking.service_name} · ${name}`)}`,
    ...(location ? [`LOCATION:${escaped(location)}`] : []),
    `STATUS:${booking.status === "confirmed" ? "CONFIRMED" : "TENTATIVE"}`,
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

export function download(text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/calendar" }));
  link.download = "appointment.ics";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

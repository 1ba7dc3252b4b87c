/** An appointment as a calendar file, made in the browser when somebody wants it. */
import type { BookingPage, BookingReceipt } from "../../client/src/database.ts";

export async function downloadCalendarFile(booking: BookingReceipt, page: BookingPage) {
  const { default: ical, ICalEventStatus } = await import("ical-generator");
  const { location } = page.services.find(({ id }) => id === booking.service_id) ?? {};
  const event = {
    id: booking.id,
    sequence: booking.version,
    start: new Date(booking.starts_at),
    end: new Date(booking.ends_at),
    summary: `${booking.service_name} · ${page.professional.full_name}`,
    location: location ?? null,
    status: ICalEventStatus[booking.status === "confirmed" ? "CONFIRMED" : "TENTATIVE"],
  };
  const text = ical({ prodId: "//Scheduling and commerce//Booking page//EN", events: [event] });
  const file = new Blob([text.toString(), "\r\n"], { type: "text/calendar" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "appointment.ics";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

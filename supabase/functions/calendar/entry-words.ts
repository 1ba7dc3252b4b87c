/** What an entry says of a booking or blocked time: in feeds in full detail, and in Google calendars. */
import { joinedLines, severalLines } from "../_shared/lines.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { FeedTexts } from "./feed-texts.ts";

export interface Described {
  status: "pending" | "confirmed" | "completed" | "no_show";
  /** Null for blocked time, as are the five below. */
  service_name: string | null;
  location: string | null;
  client_name: string | null;
  client_email: string | null;
  client_phone: string | null;
  notes: string | null;
}

export interface EntryWords {
  summary: string;
  /** Empty, like the location, where there is nothing to say. */
  description: string;
  location: string;
  /** Null for blocked time. */
  status: "tentative" | "confirmed" | null;
}

export function entryWords(entry: Described, texts: FeedTexts): EntryWords {
  const notes = severalLines(entry.notes ?? "");
  if (entry.client_name === null) {
    return { summary: texts.blocked, description: notes, location: "", status: null };
  }
  const client = oneLine(entry.client_name) || "?";
  const facts: [string, string | null][] = [
    [texts.client, client],
    [texts.phone, entry.client_phone],
    [texts.email, entry.client_email],
  ];
  const lines = facts.flatMap(([label, value]) => (value ? [`${label}: ${oneLine(value)}`] : []));
  return {
    summary: `${oneLine(entry.service_name ?? "")} – ${client}`,
    description: [...lines, ...(notes ? ["", notes] : [])].join("\n"),
    location: joinedLines(entry.location ?? ""),
    status: entry.status === "pending" ? "tentative" : "confirmed",
  };
}

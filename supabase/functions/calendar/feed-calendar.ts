/** The calendar of a feed (RFC 5545, 7986). */
import { entryIdentity } from "../_shared/calendar-entry.ts";
import { joinedLines, severalLines } from "../_shared/lines.ts";
import { oneLine } from "../_shared/one-line.ts";
import type { Language } from "../mail/texts/index.ts";
import { contentLines, instant, text } from "./content-lines.ts";
import { FEED_TEXTS, type FeedTexts } from "./feed-texts.ts";

/** All that the database tells of busy times. */
export interface BusyEntry {
  id: string;
  version: number;
  updated_at: string;
  starts_at: string;
  ends_at: string;
}

export interface FeedEntry extends BusyEntry {
  status: "pending" | "confirmed" | "completed" | "no_show";
  /** Null for blocked time, as are the five below. */
  service_name: string | null;
  location: string | null;
  client_name: string | null;
  client_email: string | null;
  client_phone: string | null;
  notes: string | null;
}

interface FeedOf<Detail, Entry> {
  name: string;
  detail: Detail;
  language: Language;
  time_zone: string;
  entries: Entry[];
}

export type Feed = FeedOf<"full", FeedEntry> | FeedOf<"busy", BusyEntry>;

/** How often programs that listen to it ask again. */
const REFRESH = "PT15M";

export function feedCalendar(feed: Feed): string {
  const texts = FEED_TEXTS[feed.language] ?? FEED_TEXTS.en;
  const name = text(oneLine(feed.name));
  return contentLines([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//scheduling-and-commerce//calendar//EN",
    "CALSCALE:GREGORIAN",
    `NAME:${name}`,
    `X-WR-CALNAME:${name}`,
    `X-WR-TIMEZONE:${feed.time_zone}`,
    `REFRESH-INTERVAL;VALUE=DURATION:${REFRESH}`,
    `X-PUBLISHED-TTL:${REFRESH}`,
    ...(feed.detail === "busy"
      ? feed.entries.flatMap((entry) => event(entry, [`SUMMARY:${text(texts.busy)}`]))
      : feed.entries.flatMap((entry) => event(entry, content(entry, texts)))),
    "END:VCALENDAR",
  ]);
}

/** In UTC: no program then needs to know the zone. */
function event(entry: BusyEntry, shown: string[]): string[] {
  const { uid, sequence, stamp } = entryIdentity(entry);
  return [
    "BEGIN:VEVENT",
    `UID:${uid}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${instant(stamp)}`,
    `DTSTART:${instant(entry.starts_at)}`,
    `DTEND:${instant(entry.ends_at)}`,
    ...shown,
    "END:VEVENT",
  ];
}

function content(entry: FeedEntry, texts: FeedTexts): string[] {
  const notes = severalLines(entry.notes ?? "");
  if (entry.client_name === null) {
    return [`SUMMARY:${text(texts.blocked)}`, ...(notes ? [`DESCRIPTION:${text(notes)}`] : [])];
  }
  const client = oneLine(entry.client_name) || "?";
  const facts: [string, string | null][] = [
    [texts.client, client],
    [texts.phone, entry.client_phone],
    [texts.email, entry.client_email],
  ];
  const lines = facts.flatMap(([label, value]) => (value ? [`${label}: ${oneLine(value)}`] : []));
  const location = joinedLines(entry.location ?? "");
  return [
    `STATUS:${entry.status === "pending" ? "TENTATIVE" : "CONFIRMED"}`,
    `SUMMARY:${text(`${oneLine(entry.service_name ?? "")} – ${client}`)}`,
    `DESCRIPTION:${text([...lines, ...(notes ? ["", notes] : [])].join("\n"))}`,
    ...(location ? [`LOCATION:${text(location)}`] : []),
  ];
}

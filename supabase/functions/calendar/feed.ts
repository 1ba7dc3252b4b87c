/**
 * `GET /feed/<token>.ics`: bookings and blocked time for a calendar program, which asks again and again and
 * can show nothing but the address.
 */
import { callerIp } from "../_shared/caller-ip.ts";
import type { ServerRpc } from "../_shared/data-api.ts";
import { notFound, rateLimited } from "../_shared/errors.ts";
import type { Route } from "../_shared/http.ts";
import { type Feed, feedCalendar } from "./feed-calendar.ts";

/** Null for a token that opens nothing; else seconds to wait, or the feed, null where the caller has it. */
export type FeedAnswer =
  | null
  | { retry_after: number }
  | { retry_after: null; etag: string; feed: Feed | null };

/** `etags` are what the caller has; `*` is whatever there is. */
export type ReadFeed = (
  tokenHash: string,
  ip: string | null,
  etags: string[],
) => Promise<FeedAnswer>;

export function feedReader(rpc: ServerRpc, ipLimit: number): ReadFeed {
  return (token_hash, ip, etags) =>
    rpc("calendar_feed", { token_hash, ip, ip_limit: ipLimit, etags });
}

/** A caller has one; a cache in between may have some. */
const MOST_ETAGS = 20;

/** Of `If-None-Match`, without what says weak or strong: they are compared weakly (RFC 9110, 13.1.2). */
function knownEtags(headers: Headers): string[] {
  const list = headers.get("if-none-match") ?? "";
  if (list.trim() === "*") return ["*"];
  return [...list.matchAll(/"([\x21\x23-\x7e]{0,100})"/g)]
    .slice(0, MOST_ETAGS)
    .map(([, tag]) => tag ?? "");
}

async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Answers HEAD as it does GET: the server then leaves out the body, and keeps its length. */
export function feedRoute(read: ReadFeed): Route {
  return async (request, { file = "" }) => {
    const [, token] = /^([\w-]{43})\.ics$/.exec(file) ?? [];
    if (!token) throw notFound();
    const answer = await read(
      await sha256Hex(token),
      callerIp(request.headers),
      knownEtags(request.headers),
    );
    if (answer === null) throw notFound();
    if (answer.retry_after !== null) throw rateLimited(answer.retry_after);

    // Weak, because whoever compresses the answer takes a strong one away.
    const headers = { ETag: `W/"${answer.etag}"`, "Cache-Control": "private" };
    if (answer.feed === null) return new Response(null, { status: 304, headers });
    return new Response(feedCalendar(answer.feed), {
      headers: { ...headers, "Content-Type": "text/calendar; charset=utf-8" },
    });
  };
}

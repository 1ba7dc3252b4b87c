/** `Retry-After` in seconds: a number of them, or a date (RFC 9110, 10.2.3). */
export function retryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  // Without the zone, the parser would take a date out of anything.
  const instant = / GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  const seconds = Math.ceil((instant - now.getTime()) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), 999_999_999);
}

/**
 * Address of the caller. The hosted edge overwrites `cf-connecting-ip`; without it the last hop of
 * `x-forwarded-for` is the only one that the caller did not write.
 */
export function callerIp(headers: Headers): string | null {
  const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
  return headers.get("cf-connecting-ip")?.trim() || hops.at(-1)?.trim() || null;
}

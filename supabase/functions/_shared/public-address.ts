/**
 * Which IP addresses are on the public internet. Everything else could be a machine next to us that
 * trusts its neighbours. Source: the IANA special-purpose address registries (RFC 6890).
 */

/** IPv4 networks that are not public: first address and prefix length. */
const SPECIAL_V4: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/**
 * Of 2000::/3, the only part of IPv6 in public use: IETF protocols with Teredo and benchmarks,
 * documentation, 6to4, documentation. Mapped and translated IPv4, ULA, link-local and multicast are
 * outside of it.
 */
const SPECIAL_V6: readonly (readonly [network: string, prefix: number])[] = [
  ["2001:0:0:0:0:0:0:0", 23],
  ["2001:db8:0:0:0:0:0:0", 32],
  ["2002:0:0:0:0:0:0:0", 16],
  ["3fff:0:0:0:0:0:0:0", 20],
];

function v4Bits(address: string): bigint | null {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(BigInt);
  if (bytes.some((byte) => byte > 255n)) return null;
  return bytes.reduce((bits, byte) => (bits << 8n) | byte, 0n);
}

function v6Bits(address: string): bigint | null {
  // The URL parser knows all spellings and gives the shortest, without dots in it.
  const text = `http://[${address}]/`;
  if (!URL.canParse(text)) return null;
  const parsed = new URL(text).hostname.slice(1, -1);
  const [head = "", tail] = parsed.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const middle = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...middle, ...right].reduce(
    (bits, group) => (bits << 16n) | BigInt(`0x${group}`),
    0n,
  );
}

function contains(bits: bigint, network: bigint, prefix: number, width: number): boolean {
  const rest = BigInt(width - prefix);
  return bits >> rest === network >> rest;
}

/** Whether an address in text is public; false for whatever is no address. */
export function isPublicAddress(address: string): boolean {
  const v4 = v4Bits(address);
  if (v4 !== null) {
    return !SPECIAL_V4.some(([network, prefix]) =>
      contains(v4, v4Bits(network) as bigint, prefix, 32),
    );
  }
  const v6 = v6Bits(address);
  if (v6 === null || v6 >> 125n !== 1n) return false;
  return !SPECIAL_V6.some(([network, prefix]) =>
    contains(v6, v6Bits(network) as bigint, prefix, 128),
  );
}

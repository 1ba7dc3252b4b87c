/** Where an address that somebody gave us may lead: never next to us. */
import { describe, expect, test } from "vitest";
import {
  AddressError,
  checkAddress,
  type Refusal,
  type Resolve,
  resolver,
} from "../../../supabase/functions/_shared/address-rules.ts";
import { isPublicAddress } from "../../../supabase/functions/_shared/public-address.ts";

const PUBLIC = "93.184.215.14";

/** Why an address is refused; null when it is not. */
async function refusal(
  url: string,
  options: { allowLoopback?: boolean; addresses?: string[]; resolve?: Resolve } = {},
): Promise<Refusal | null> {
  const { allowLoopback = false, addresses = [PUBLIC] } = options;
  const resolve = options.resolve ?? (async () => addresses);
  try {
    await checkAddress(url, { allowLoopback, resolve }, new AbortController().signal);
    return null;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return error.reason;
  }
}

describe("an address", () => {
  test.each([
    "https://example.com/",
    "https://example.com:443/hook?a=1#b",
    "https://EXAMPLE.com./",
    "https://bücher.example.com/",
    `https://${PUBLIC}/`,
    "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
  ])("%s is allowed", async (url) => {
    expect(await refusal(url)).toBeNull();
  });

  test.each<[string, Refusal]>([
    ["https://2130706433/", "host_not_public"],
    ["https://0x7f.1/", "host_not_public"],
    ["https://0177.0.0.1/", "host_not_public"],
    ["https://127.1/", "host_not_public"],
    ["https://127.0.0.1./", "host_not_public"],
    ["https://%31%32%37.0.0.1/", "host_not_public"],
    ["https://１２７.0.0.1/", "host_not_public"],
    ["https://[::ffff:127.0.0.1]/", "host_not_public"],
    ["https://[::ffff:5db8:d70e]/", "host_not_public"],
    ["https://[::]/", "host_not_public"],
    ["https://localhost/", "host_not_public"],
    ["https://LOCALHOST./", "host_not_public"],
    ["https://db/", "host_not_public"],
    ["https://metadata.google.internal/", "host_not_public"],
    ["https://printer.local/", "host_not_public"],
    ["https://user:pw@example.com/", "user_info_not_allowed"],
    ["https://user@example.com/", "user_info_not_allowed"],
    ["https://:pw@example.com/", "user_info_not_allowed"],
    ["http://example.com/", "not_https"],
    ["http://example.com:443/", "not_https"],
    ["ftp://example.com/", "not_https"],
    ["file:///etc/passwd", "not_https"],
    ["javascript:alert(1)", "not_https"],
    ["https://example.com:8443/", "port_not_allowed"],
    ["https://example.com:80/", "port_not_allowed"],
    ["https://", "not_a_url"],
    ["https://exa mple.com/", "not_a_url"],
    ["https://256.1.1.1/", "not_a_url"],
    ["/hook", "not_a_url"],
    ["", "not_a_url"],
  ])("%s is refused: %s", async (url, reason) => {
    expect(await refusal(url)).toBe(reason);
    expect(await refusal(url, { allowLoopback: true })).toBe(reason);
  });

  test("is refused when one of its host's addresses is not public", async () => {
    for (const address of ["127.0.0.1", "10.1.2.3", "fd00::1", "::ffff:10.0.0.1"]) {
      const addresses = [PUBLIC, address];
      expect(await refusal("https://example.com/", { addresses })).toBe("host_not_public");
    }
    const addresses = [PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"];
    expect(await refusal("https://example.com/", { addresses })).toBeNull();
  });

  test("is refused when its host is not found, or cannot be looked up", async () => {
    expect(await refusal("https://example.com/", { addresses: [] })).toBe("host_not_found");
    const resolve = () => Promise.reject(new Error("server failure"));
    expect(await refusal("https://example.com/", { resolve })).toBe("host_not_found");
  });

  test("is looked up without the dot at its end", async () => {
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return [PUBLIC];
    };
    await refusal("https://example.com./", { resolve });
    expect(asked).toEqual(["example.com"]);
  });

  test.each(["http://127.0.0.1:3000/hook", "http://localhost:80", "http://localhost:3000?a"])(
    "%s is allowed on a local stack only",
    async (url) => {
      expect(await refusal(url, { allowLoopback: true })).toBeNull();
      expect(await refusal(url)).toBe("not_https");
    },
  );

  test.each([
    "http://127.0.0.1/",
    "http://127.0.0.2:80/",
    "http://2130706433:80/",
    "http://0.0.0.0:80/",
    "http://[::1]:80/",
    "http://127.0.0.1:80@example.com/",
    "http://127.0.0.1:80\\@example.com/",
    "http://localhost.example.com:80/",
    "http://example.com:80/",
    "http://10.0.0.1:80/",
    "HTTP://LOCALHOST:80/",
    " http://localhost:80/",
    "https://127.0.0.1:80/",
    "https://localhost:443/",
  ])("%s is refused on a local stack as well", async (url) => {
    expect(await refusal(url, { allowLoopback: true })).not.toBeNull();
  });
});

describe("an IP address", () => {
  test.each([
    ["0.0.0.0", "0.255.255.255"],
    ["10.0.0.0", "10.255.255.255"],
    ["100.64.0.0", "100.127.255.255"],
    ["127.0.0.0", "127.255.255.255"],
    ["169.254.0.0", "169.254.255.255"],
    ["172.16.0.0", "172.31.255.255"],
    ["192.0.0.0", "192.0.0.255"],
    ["192.0.2.0", "192.0.2.255"],
    ["192.88.99.0", "192.88.99.255"],
    ["192.168.0.0", "192.168.255.255"],
    ["198.18.0.0", "198.19.255.255"],
    ["198.51.100.0", "198.51.100.255"],
    ["203.0.113.0", "203.0.113.255"],
    ["224.0.0.0", "255.255.255.255"],
  ])("from %s to %s is not public, what is next to it is", (first, last) => {
    expect([isPublicAddress(first), isPublicAddress(last)]).toEqual([false, false]);
    const number = (address: string) =>
      address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    const address = (value: number) =>
      [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join(".");
    const below = address(number(first) - 1);
    const above = address(number(last) + 1);
    // 127/8 follows 126/8, and so on; the ends of the space have no neighbour.
    if (number(first) > 0) expect([below, isPublicAddress(below)]).toEqual([below, true]);
    if (number(last) < 2 ** 32 - 1) expect([above, isPublicAddress(above)]).toEqual([above, true]);
  });

  test.each([
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "::8.8.8.8",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:5ef5:79fd::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2001:DB8:0:0:0:0:0:1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(["2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700:4700::1111", "2a00::1"])(
    "%s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each([
    "",
    "example.com",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "1.2.3.256",
    "8.8.8.8 ",
    "fe80::1%eth0",
    "1::2::3",
  ])("%j is none, so it is not public", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

describe("a look-up", () => {
  const notFound = new Error("not found");
  const resolve = (answers: Record<"A" | "AAAA", string[] | Error>) =>
    resolver(
      async (_, type) => {
        const answer = answers[type];
        if (answer instanceof Error) throw answer;
        return answer;
      },
      (error) => error === notFound,
    )("example.com", new AbortController().signal);

  test("has the addresses of both families, and lives without one", async () => {
    expect(await resolve({ A: ["1.1.1.1"], AAAA: ["2a00::1"] })).toEqual(["1.1.1.1", "2a00::1"]);
    expect(await resolve({ A: ["1.1.1.1"], AAAA: notFound })).toEqual(["1.1.1.1"]);
    expect(await resolve({ A: notFound, AAAA: notFound })).toEqual([]);
  });

  test("that fails in one family fails: what it hides could be anything", async () => {
    const failure = new Error("server failure");
    await expect(resolve({ A: ["1.1.1.1"], AAAA: failure })).rejects.toBe(failure);
  });
});

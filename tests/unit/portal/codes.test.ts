import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { codeHasher, randomCode } from "../../../supabase/functions/_shared/portal/codes.ts";

/** A source of randomness that gives these numbers, one a call. */
function source(...numbers: number[]) {
  let calls = 0;
  const fill = (target: Uint32Array) => {
    target[0] = numbers[calls] as number;
    calls += 1;
  };
  return { fill, calls: () => calls };
}

describe("a code", () => {
  test.each([
    [0, "000000"],
    [12_345, "012345"],
    [999_999, "999999"],
    [1_000_000, "000000"],
    [4_293_999_999, "999999"],
  ])("random number %i is the text %s", (number, code) => {
    const { fill, calls } = source(number);
    expect(randomCode(fill)).toBe(code);
    expect(calls()).toBe(1);
  });

  test("the 967 296 numbers that do not make a full round are drawn again", () => {
    const { fill, calls } = source(4_294_000_000, 2 ** 32 - 1, 42);
    expect(randomCode(fill)).toBe("000042");
    expect(calls()).toBe(3);
  });

  test("codes come from the whole range and are always six digits", () => {
    const codes = new Set(Array.from({ length: 2000 }, () => randomCode()));
    for (const code of codes) expect(code).toMatch(/^[0-9]{6}$/);
    // Two thousand of a million: about two pairs are expected, twenty would be a broken source.
    expect(codes.size).toBeGreaterThan(1980);
  });
});

describe("the hash of a code", () => {
  const key = "0123456789abcdef0123456789abcdef";
  const owner = {
    professionalId: "11111111-1111-4111-8111-111111111111",
    clientId: "22222222-2222-4222-8222-222222222222",
  };

  test("is HMAC-SHA-256 over purpose, professional, client and code", async () => {
    const message = `portal-otp\n${owner.professionalId}\n${owner.clientId}\n012345`;
    const expected = createHmac("sha256", key).update(message).digest("base64");
    expect(await codeHasher(key)("012345", owner)).toBe(expected);
  });

  test("is the same however the ids are written", async () => {
    const hash = codeHasher(key);
    const written = {
      professionalId: "ABCDEFAB-1111-4111-8111-111111111111",
      clientId: "ABCDEFAB-2222-4222-8222-222222222222",
    };
    const lowered = {
      professionalId: written.professionalId.toLowerCase(),
      clientId: written.clientId.toLowerCase(),
    };
    expect(await hash("012345", written)).toBe(await hash("012345", lowered));
  });

  test("differs for another code, client, professional or key", async () => {
    const hash = codeHasher(key);
    const other = "33333333-3333-4333-8333-333333333333";
    const hashes = await Promise.all([
      hash("012345", owner),
      hash("12345", owner),
      hash("012346", owner),
      hash("012345", { ...owner, clientId: other }),
      hash("012345", { ...owner, professionalId: other }),
      hash("012345", { professionalId: owner.clientId, clientId: owner.professionalId }),
      codeHasher(`${key}x`)("012345", owner),
    ]);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

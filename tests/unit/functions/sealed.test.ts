/** What the database keeps sealed: opened by the right key, for the right row, and unchanged, or not at all. */
import { describe, expect, test } from "vitest";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import { type Sealer, sealer, UnsealError } from "../../../supabase/functions/_shared/sealed.ts";

const key = (n: number) => Buffer.alloc(32, n).toString("base64");
const make = (current: string, keys: Record<string, string>): Sealer =>
  sealer(() => JSON.stringify({ current, keys })) as Sealer;

const ana = { professional_id: "11111111-1111-4111-8111-111111111111", purpose: "busy_calendar" };
const PLAIN = "https://calendar.example/è/secret.ics";
const one = make("k1", { k1: key(1) });

test("a text that was sealed is opened as it was", async () => {
  for (const plain of [PLAIN, "", "x".repeat(4000), "\0\u{1f4c5}"]) {
    expect(await one.open(await one.seal(plain, ana), ana)).toBe(plain);
  }
});

test("no two sealings are alike, each with 96 bits of its own, and none shows the text", async () => {
  const sealed = await Promise.all(Array.from({ length: 200 }, () => one.seal(PLAIN, ana)));
  const nonces = sealed.map((text) => text.split(".")[1] as string);
  expect(new Set(nonces).size).toBe(200);
  expect(new Set(nonces.map((nonce) => Buffer.from(nonce, "base64").length))).toEqual(
    new Set([12]),
  );
  expect(sealed.every((text) => /^k1\.[\w+/=]+\.[\w+/=]+$/.test(text))).toBe(true);
  expect(sealed.join("")).not.toContain("secret");
});

test("a sealed text is what AES-256-GCM makes of it, bound to purpose and professional", async () => {
  const [, iv = "", ciphertext = ""] = (await one.seal(PLAIN, ana)).split(".");
  const aes = await crypto.subtle.importKey("raw", Buffer.alloc(32, 1), "AES-GCM", false, [
    "decrypt",
  ]);
  const plain = await crypto.subtle.decrypt(
    {
      name: "AES-GCM",
      iv: Buffer.from(iv, "base64"),
      additionalData: new TextEncoder().encode(`busy_calendar\n${ana.professional_id}`),
    },
    aes,
    Buffer.from(ciphertext, "base64"),
  );
  expect(new TextDecoder().decode(plain)).toBe(PLAIN);
});

describe("a sealed text does not open", () => {
  const changed = (text: string, part: number) =>
    text
      .split(".")
      .map((piece, n) => {
        if (n !== part) return piece;
        const bytes = Buffer.from(piece, "base64");
        bytes[0] = (bytes[0] as number) ^ 1;
        return bytes.toString("base64");
      })
      .join(".");

  test.each<[string, (text: string) => string]>([
    ["with another byte", (text) => changed(text, 2)],
    ["with another nonce", (text) => changed(text, 1)],
    ["with another key's name", (text) => text.replace(/^k1/, "k2")],
    ["under a key that nobody knows", (text) => text.replace(/^k1/, "k9")],
    ["with a part more", (text) => `${text}.AA==`],
    ["without its end", (text) => text.slice(0, -8)],
    ["that is none", () => "nonsense"],
    ["that is empty", () => ""],
  ])("%s", async (_, change) => {
    const two = make("k1", { k1: key(1), k2: key(2) });
    const sealed = await two.seal(PLAIN, ana);
    await expect(two.open(change(sealed), ana)).rejects.toThrow(UnsealError);
    expect(await two.open(sealed, ana)).toBe(PLAIN);
  });

  test("for another professional, or for something else", async () => {
    const sealed = await one.seal(PLAIN, ana);
    const ivo = { ...ana, professional_id: "22222222-2222-4222-8222-222222222222" };
    await expect(one.open(sealed, ivo)).rejects.toThrow(UnsealError);
    await expect(one.open(sealed, { ...ana, purpose: "google" })).rejects.toThrow(UnsealError);
  });

  test("and the error has neither the text nor the key", async () => {
    const sealed = await one.seal(PLAIN, ana);
    const error = await one.open(changed(sealed, 2), ana).catch((reason: unknown) => reason);
    const told = `${(error as Error).message} ${JSON.stringify(error)} ${(error as Error).cause}`;
    expect(told).not.toContain(sealed.split(".")[2]);
    expect(told).not.toMatch(/secret|AQEBAQ/);
  });
});

describe("a rotation", () => {
  test("keeps opening what was sealed before, and tells that it is to be sealed anew", async () => {
    const before = await one.seal(PLAIN, ana);
    const after = make("k2", { k1: key(1), k2: key(2) });
    expect(await after.open(before, ana)).toBe(PLAIN);
    expect([one.isCurrent(before), after.isCurrent(before)]).toEqual([true, false]);
    const anew = await after.seal(PLAIN, ana);
    expect(anew).toMatch(/^k2\./);
    expect(after.isCurrent(anew)).toBe(true);
    const done = make("k2", { k2: key(2) });
    expect(await done.open(anew, ana)).toBe(PLAIN);
    await expect(done.open(before, ana)).rejects.toThrow(UnsealError);
  });

  test("is not fooled by a name that begins like another", () => {
    expect(make("k1", { k1: key(1) }).isCurrent("k12.a.b")).toBe(false);
  });
});

describe("INTEGRATIONS_KEYS", () => {
  test.each([undefined, "", " "])("that is %j means that there is no sealer", (value) => {
    expect(sealer(() => value)).toBeUndefined();
  });

  const json = (value: unknown) => JSON.stringify(value);
  test.each([
    "SECRET",
    json("SECRET"),
    json({}),
    json({ current: "k1" }),
    json({ current: "k1", keys: {} }),
    json({ current: "k2", keys: { k1: key(1) } }),
    json({ current: "k1", keys: { k1: "SECRET!" } }),
    json({ current: "k1", keys: { k1: Buffer.alloc(31, 1).toString("base64") } }),
    json({ current: "k1", keys: { k1: Buffer.alloc(33, 1).toString("base64") } }),
    json({ current: "k1", keys: { k1: key(1), k2: "" } }),
    json({ current: "k.1", keys: { "k.1": key(1) } }),
    json({ current: "", keys: { "": key(1) } }),
    json({ current: "k1", keys: { k1: key(1) }, other: 1 }),
    json({ current: "toString", keys: { k1: key(1) } }),
  ])("that is %s stops the function, with its name and no more", (value) => {
    expect(() => sealer(() => value)).toThrow(EnvError);
    expect(() => sealer(() => value)).toThrow(/^INTEGRATIONS_KEYS is not /);
    expect(() => sealer(() => value)).not.toThrow(/SECRET|AQEBAQ/);
  });
});

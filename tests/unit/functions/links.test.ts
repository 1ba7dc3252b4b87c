import { decodeJwt, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import {
  type Link,
  type Links,
  links,
  type Purpose,
  pageLink,
} from "../../../supabase/functions/_shared/links.ts";

const KEY = "a-key-for-links-with-at-least-32-characters";
const OLD_KEY = "the-key-before-with-at-least-32-characters";
const NOW = new Date("2027-03-01T12:00:00.000Z");
const SECONDS = NOW.getTime() / 1000;
const ROW = "33333333-3333-4333-8333-333333333333";

const linksWith = (env: Record<string, string> = {}): Links =>
  links(
    (name) => ({ LINK_SIGNING_KEY: KEY, ...env })[name],
    () => NOW,
  ) as Links;
const manage: Link = { purpose: "manage", row: ROW, kind: "booking", epoch: 3 };

describe("a token", () => {
  test.each<Link>([
    manage,
    { purpose: "confirm", row: ROW, kind: "order", epoch: 1, expires: SECONDS + 1800 },
    { purpose: "unsubscribe", row: ROW, epoch: 2 },
    { purpose: "confirm_address", row: ROW, epoch: 0, email: "ana@example.com" },
  ])("says what was signed: $purpose", async (link) => {
    const { sign, verify } = linksWith();
    expect(await verify(await sign(link), link.purpose)).toEqual(link);
  });

  test("is the same each time, whatever the time", async () => {
    const later = links(
      (name) => ({ LINK_SIGNING_KEY: KEY })[name],
      () => new Date(NOW.getTime() + 86_400_000),
    ) as Links;
    expect(await later.sign(manage)).toBe(await linksWith().sign(manage));
  });

  test("holds nothing but purpose, row, kind and epoch", async () => {
    expect(decodeJwt(await linksWith().sign(manage))).toEqual({
      aud: "manage",
      sub: ROW,
      kind: "booking",
      epoch: 3,
    });
  });

  test("is for its purpose alone", async () => {
    const { sign, verify } = linksWith();
    const token = await sign(manage);
    const others: Purpose[] = ["confirm", "unsubscribe", "confirm_address"];
    for (const other of others) expect(await verify(token, other)).toBeNull();
  });

  test("ends at its second", async () => {
    const { sign, verify } = linksWith();
    expect(await verify(await sign({ ...manage, expires: SECONDS }), "manage")).toBeNull();
    expect(await verify(await sign({ ...manage, expires: SECONDS + 1 }), "manage")).not.toBeNull();
  });

  test("with another row, or anything else changed, is nobody's", async () => {
    const { sign, verify } = linksWith();
    const [header, payload, signature] = (await sign(manage)).split(".") as [
      string,
      string,
      string,
    ];
    const changed = btoa(atob(payload).replace("33333333-", "44444444-")).replace(/=+$/, "");
    expect(changed).not.toBe(payload);
    for (const token of [
      `${header}.${changed}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      "",
      "token",
      "..",
    ]) {
      expect(await verify(token, "manage"), token).toBeNull();
    }
  });
});

describe("what is signed by our key but is no link", () => {
  const signed = (claims: object, header: object = {}) =>
    new SignJWT({ epoch: 1, sub: ROW, aud: "manage", ...claims })
      .setProtectedHeader({ alg: "HS256", typ: "link+jwt", ...header })
      .sign(new TextEncoder().encode(KEY));

  test("the same by hand is one", async () => {
    expect(await linksWith().verify(await signed({}), "manage")).not.toBeNull();
  });

  test.each([
    ["another type of token", {}, { typ: "JWT" }],
    ["another algorithm", {}, { alg: "HS512" }],
    ["no purpose", { aud: undefined }, {}],
    ["no row", { sub: undefined }, {}],
    ["a row that is no id", { sub: "1" }, {}],
    ["no epoch", { epoch: undefined }, {}],
    ["an epoch that is no number", { epoch: "1" }, {}],
  ])("%s", async (_, claims, header) => {
    expect(await linksWith().verify(await signed(claims, header), "manage")).toBeNull();
  });

  test("one without a signature", async () => {
    const part = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, "");
    const token = `${part({ alg: "none", typ: "link+jwt" })}.${part({ aud: "manage", sub: ROW, epoch: 1 })}.`;
    expect(await linksWith().verify(token, "manage")).toBeNull();
  });
});

describe("keys", () => {
  test("a token of the previous key is still good", async () => {
    const old = await linksWith({ LINK_SIGNING_KEY: OLD_KEY }).sign(manage);
    expect(await linksWith({ LINK_SIGNING_KEY_PREVIOUS: OLD_KEY }).verify(old, "manage")).toEqual(
      manage,
    );
    expect(await linksWith().verify(old, "manage")).toBeNull();
  });

  test("the current key signs", async () => {
    const token = await linksWith({ LINK_SIGNING_KEY_PREVIOUS: OLD_KEY }).sign(manage);
    expect(await linksWith().verify(token, "manage")).toEqual(manage);
  });

  test("without a key there are no links", () => {
    expect(links(() => undefined)).toBeUndefined();
  });

  test.each([
    ["a short key", { LINK_SIGNING_KEY: "short" }, "LINK_SIGNING_KEY"],
    ["a short previous key", { LINK_SIGNING_KEY_PREVIOUS: "short" }, "LINK_SIGNING_KEY_PREVIOUS"],
    [
      "a previous key alone",
      { LINK_SIGNING_KEY: "", LINK_SIGNING_KEY_PREVIOUS: OLD_KEY },
      "LINK_SIGNING_KEY_PREVIOUS",
    ],
  ])("%s stops the function with the variable's name", (_, env, name) => {
    expect(() => linksWith(env)).toThrow(EnvError);
    expect(() => linksWith(env)).toThrow(name);
  });
});

test("the link of a page has the token in its fragment", () => {
  const page = "https://portal.example/me";
  expect(pageLink(page, "manage", "a.b.c")).toBe("https://portal.example/me#manage=a.b.c");
  expect(pageLink(page, "confirm_address", "a.b.c")).toBe(
    "https://portal.example/me#confirm-address=a.b.c",
  );
});

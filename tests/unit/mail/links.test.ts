/** Which links a mail has, and that they are the same each time it goes out. */
import { expect, test } from "vitest";
import { type Links, links } from "../../../supabase/functions/_shared/links.ts";
import type { MailLinks } from "../../../supabase/functions/mail/context.ts";
import { type LinkDeps, mailLinks } from "../../../supabase/functions/mail/mail-links.ts";
import { ALL_KINDS, type Audience, facts } from "../../support/mail-facts.ts";

const signer = links((name) =>
  name === "LINK_SIGNING_KEY" ? "a-key-for-links-with-at-least-32-characters" : undefined,
) as Links;

const deps: LinkDeps = {
  links: signer,
  portalUrl: "https://portal.example/",
  functionsUrl: "https://api.example/functions/v1",
};

async function linksOf([audience, kind]: [Audience, string], changed: Partial<LinkDeps> = {}) {
  const found = Object.entries(await mailLinks(facts(audience, kind), { ...deps, ...changed }));
  return Object.fromEntries(found.filter(([, link]) => link !== undefined)) as MailLinks;
}

const tokenIn = (address: string | undefined) =>
  /=([\w-]+\.[\w-]+\.[\w-]+)$/.exec(address ?? "")?.[1] ?? "";

/** The others have none: what is over, or is not the reader's to change. */
const EXPECTED: Record<string, string[]> = {
  "client booking_received": ["manage"],
  "client booking_confirmed": ["manage"],
  "client booking_moved": ["manage"],
  "client booking_reminder": ["manage", "unsubscribe"],
  "client booking_to_confirm": ["confirm"],
  "client order_to_confirm": ["confirm"],
  "professional confirm_address": ["confirmAddress"],
};

test.each(ALL_KINDS)("%s %s has the links that its reader may use", async (audience, kind) => {
  const found = Object.keys(await linksOf([audience, kind]));
  expect(found).toEqual(EXPECTED[`${audience} ${kind}`] ?? []);
});

test("a link names its row and the client's epoch, in the fragment of the portal's page", async () => {
  const { manage } = await linksOf(["client", "booking_confirmed"]);
  expect(manage).toMatch(/^https:\/\/portal\.example\/#manage=/);
  expect(await signer.verify(tokenIn(manage), "manage")).toEqual({
    purpose: "manage",
    row: "33333333-3333-4333-8333-333333333333",
    kind: "booking",
    epoch: 1,
  });
  const { confirm } = await linksOf(["client", "order_to_confirm"]);
  expect(confirm).toMatch(/^https:\/\/portal\.example\/#confirm=/);
  expect(await signer.verify(tokenIn(confirm), "confirm")).toEqual({
    purpose: "confirm",
    row: "44444444-4444-4444-8444-444444444444",
    kind: "order",
    epoch: 1,
  });
  const { confirmAddress } = await linksOf(["professional", "confirm_address"]);
  expect(confirmAddress).toMatch(/^https:\/\/portal\.example\/#confirm-address=/);
  expect(await signer.verify(tokenIn(confirmAddress), "confirm_address")).toEqual({
    purpose: "confirm_address",
    row: "11111111-1111-4111-8111-111111111111",
    epoch: 0,
    email: "ana@account.example",
  });
});

test("unsubscribing is an address of the function, which the mail program posts to", async () => {
  const { unsubscribe } = await linksOf(["client", "booking_reminder"]);
  expect(unsubscribe?.url).toMatch(/^https:\/\/api\.example\/functions\/v1\/mail\/unsubscribe\?t=/);
  expect(await signer.verify(tokenIn(unsubscribe?.url), "unsubscribe")).toEqual({
    purpose: "unsubscribe",
    row: "22222222-2222-4222-8222-222222222222",
    epoch: 1,
  });
});

test("the links are the same each time", async () => {
  expect(await linksOf(["client", "booking_reminder"])).toEqual(
    await linksOf(["client", "booking_reminder"]),
  );
});

test("without a portal, or a key, a mail has no link that leads nowhere", async () => {
  expect(await linksOf(["professional", "confirm_address"], { portalUrl: undefined })).toEqual({});
  expect(await linksOf(["client", "booking_confirmed"], { portalUrl: undefined })).toEqual({});
  expect(await linksOf(["client", "booking_reminder"], { links: undefined })).toEqual({});
  expect(
    Object.keys(await linksOf(["client", "booking_reminder"], { portalUrl: undefined })),
  ).toEqual(["unsubscribe"]);
});

/** The routes of the function: who may call them, and what each does. */
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import { type Link, type Links, links } from "../../../supabase/functions/_shared/links.ts";
import {
  eventVerifier,
  type ProviderEvent,
  providerEvent,
} from "../../../supabase/functions/mail/events.ts";
import { createHandler, type MailDeps } from "../../../supabase/functions/mail/handler.ts";
import type { Claim } from "../../../supabase/functions/mail/store.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const CLIENT = "22222222-2222-4222-8222-222222222222";
const ANA = "11111111-1111-4111-8111-111111111111";

const signer = links((name) =>
  name === "LINK_SIGNING_KEY" ? "a-key-for-links-with-at-least-32-characters" : undefined,
) as Links;

function setUp(changed: Partial<MailDeps> = {}, store: Partial<MailDeps["store"]> = {}) {
  const seen = {
    events: [] as ProviderEvent[],
    unsubscribed: [] as [string, number][],
    confirmed: [] as [string, string][],
    portals: [] as (string | null)[],
    logged: [] as unknown[],
    tasks: [] as Promise<void>[],
  };
  const unused = () => Promise.reject(new Error("not used here"));
  const handle = createHandler({
    corsOrigins: "*",
    newRequestId: () => "request-1",
    log: ({ cause }) => seen.logged.push(cause),
    store: {
      claim: async () => [],
      finish: unused,
      recordEvent: async (event) => {
        seen.events.push(event);
        return true;
      },
      reportPortal: async (url) => void seen.portals.push(url),
      unsubscribe: async (id, epoch) => {
        seen.unsubscribed.push([id, epoch]);
        return epoch === 3;
      },
      confirmAddress: async (id, email) => {
        seen.confirmed.push([id, email]);
        return email !== "old@example.com";
      },
      ...store,
    },
    provider: { sender: { name: "", email: "bookings@example.com" }, deliver: unused },
    perSecond: 1000,
    links: signer,
    portalUrl: "https://portal.example/",
    functionsUrl: "https://api.example/functions/v1",
    verifyEvent: eventVerifier((name) => (name === "RESEND_WEBHOOK_SECRET" ? SECRET : undefined)),
    isDispatchSecret: async (key) => key === "right",
    background: (task) => seen.tasks.push(task),
    now: () => new Date("2027-02-01T09:09:00Z"),
    pause: async () => {},
    ...changed,
  });
  const call = (path: string, init?: RequestInit) =>
    handle(new Request(`https://api.example/mail/${path}`, init));
  return { call, seen };
}

const outcome = async (response: Response) => [
  response.status,
  ((await response.json()) as { code: string }).code,
];

describe("the scheduler's call", () => {
  const dispatch = (apikey: string) => ({ method: "POST", headers: { apikey } });

  test("is answered with 202 at once; the work goes on behind it", async () => {
    let claimed = (_: Claim[]) => {};
    const { call, seen } = setUp(
      {},
      {
        claim: () =>
          new Promise((resolve) => {
            claimed = resolve;
          }),
      },
    );
    expect((await call("dispatch", dispatch("right"))).status).toBe(202);
    expect(seen.tasks).toHaveLength(1);
    // The rate may have kept the first claim empty: it asks once more.
    for (let claims = 0; claims < 2; claims++) {
      await new Promise((resolve) => setImmediate(resolve));
      claimed([]);
    }
    await Promise.all(seen.tasks);
    expect(seen.logged).toEqual([]);
  });

  test.each<[changed: Partial<MailDeps>, reported: string | null]>([
    [{}, "https://portal.example/"],
    [{ portalUrl: undefined }, null],
    [{ links: undefined }, null],
  ])("with %j reports where links lead to: %j", async (changed, reported) => {
    const { call, seen } = setUp(changed);
    await call("dispatch", dispatch("right"));
    await Promise.all(seen.tasks);
    expect(seen.portals).toEqual([reported]);
  });

  test("reports that once an hour, and again when it could not", async () => {
    let clock = Date.parse("2027-02-01T09:00:00Z");
    let works = false;
    const portals: (string | null)[] = [];
    const { call, seen } = setUp(
      { now: () => new Date(clock) },
      {
        reportPortal: async (url) => {
          portals.push(url);
          if (!works) throw new Error("no settings");
        },
      },
    );
    for (const [passed, reports] of [
      [0, 1],
      [1, 2],
      [1, 2],
      [3_599_998, 2],
      [1, 3],
    ] as const) {
      clock += passed;
      await call("dispatch", dispatch("right"));
      await Promise.all(seen.tasks);
      expect(portals).toHaveLength(reports);
      works = true;
    }
  });

  test("sends mails also when that cannot be reported", async () => {
    let claims = 0;
    const { call, seen } = setUp(
      {},
      {
        reportPortal: () => Promise.reject(new Error("no settings")),
        claim: async () => {
          claims++;
          return [];
        },
      },
    );
    await call("dispatch", dispatch("right"));
    await Promise.all(seen.tasks);
    expect(seen.logged).toEqual([new Error("no settings")]);
    expect(claims).toBeGreaterThan(0);
  });

  test("with another key starts nothing", async () => {
    const { call, seen } = setUp();
    expect(await outcome(await call("dispatch", dispatch("wrong")))).toEqual([
      401,
      "invalid_api_key",
    ]);
    expect(seen.tasks).toEqual([]);
  });

  test("that nothing can be claimed for is logged: nobody else would hear of it", async () => {
    const { call, seen } = setUp({}, { claim: () => Promise.reject(new Error("no database")) });
    expect((await call("dispatch", dispatch("right"))).status).toBe(202);
    await Promise.all(seen.tasks);
    expect(seen.logged).toEqual([new Error("no database")]);
  });
});

/** An event as Resend sends it; signed by the library of the standard that Resend follows. */
function event(
  type: string,
  data: object = {},
  { secret = SECRET, at = new Date(), id = "msg_1" } = {},
): RequestInit {
  const body = JSON.stringify({
    type,
    created_at: "2027-02-01T09:00:00.000Z",
    data: { email_id: "mail-1", to: ["marta@example.com"], subject: "s", ...data },
  });
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "svix-id": id,
      "svix-timestamp": String(Math.floor(at.getTime() / 1000)),
      "svix-signature": new Webhook(secret).sign(id, at, body),
    },
    body,
  };
}

describe("an event of the provider", () => {
  test.each<[type: string, data: object, expected: Partial<ProviderEvent>]>([
    ["email.delivered", {}, { type: "delivered", detail: {} }],
    ["email.complained", {}, { type: "complained", detail: {} }],
    [
      "email.bounced",
      { bounce: { type: "Permanent", subType: "General", message: "no such user" } },
      {
        type: "bounced",
        detail: { type: "Permanent", subType: "General", message: "no such user" },
      },
    ],
    [
      "email.suppressed",
      { suppressed: { type: "OnAccountSuppressionList", message: "suppressed" } },
      {
        type: "suppressed",
        detail: { type: "OnAccountSuppressionList", message: "suppressed" },
      },
    ],
    [
      "email.failed",
      { failed: { reason: "reached_daily_quota" } },
      { type: "failed", detail: { reason: "reached_daily_quota" } },
    ],
    ["email.failed", { failed: null }, { type: "failed", detail: {} }],
  ])("%s with %j is recorded", async (type, data, expected) => {
    const { call, seen } = setUp();
    expect((await call("events", event(type, data))).status).toBe(204);
    const at = new Date("2027-02-01T09:00:00.000Z");
    expect(seen.events).toEqual([{ providerId: "mail-1", isQueued: false, at, ...expected }]);
  });

  test("of a mail that is not known yet is to be sent again, if the queue has sent it", async () => {
    const { call } = setUp({}, { recordEvent: async () => false });
    const tags = { mail: "55555555-5555-4555-8555-555555555555" };
    expect(await outcome(await call("events", event("email.complained", { tags })))).toEqual([
      404,
      "PGRST301",
    ]);
    const late = setUp(
      { now: () => new Date("2027-02-01T09:10:00Z") },
      { recordEvent: async () => false },
    );
    expect((await late.call("events", event("email.complained", { tags }))).status).toBe(204);
    // A mail with a code, or of another program that shares the account.
    for (const others of [{}, { tags: null }, { tags: { category: "x" } }]) {
      expect((await call("events", event("email.complained", others))).status).toBe(204);
    }
  });

  test.each<[type: string, data: object]>([
    ["email.bounced", { bounce: { type: "Transient", subType: "MailboxFull", message: "full" } }],
    ["email.bounced", { bounce: { type: "Undetermined", message: "?" } }],
    ["email.bounced", {}],
    ["email.delivery_delayed", {}],
    ["email.opened", {}],
    ["email.failed", { email_id: null }],
    ["contact.created", {}],
  ])("%s with %j says nothing final: taken, and not recorded", async (type, data) => {
    const { call, seen } = setUp();
    expect((await call("events", event(type, data))).status).toBe(204);
    expect(seen.events).toEqual([]);
  });

  const other = `whsec_${btoa("another secret of the same length")}`;
  const signed = () => event("email.complained");
  test.each<[name: string, init: RequestInit]>([
    ["of nobody", { method: "POST", body: "{}" }],
    ["under another secret", event("email.complained", {}, { secret: other })],
    ["of ten minutes ago", event("email.complained", {}, { at: new Date(Date.now() - 600_000) })],
    ["with another body", { ...signed(), body: `${signed().body} ` }],
    ["with another id", { ...signed(), headers: { ...signed().headers, "svix-id": "msg_2" } }],
  ])("%s is 401 and not recorded", async (_, init) => {
    const { call, seen } = setUp();
    expect(await outcome(await call("events", init))).toEqual([401, "invalid_signature"]);
    expect(seen.events).toEqual([]);
  });

  test("that cannot be recorded is an error, so that the provider sends it again", async () => {
    const { call, seen } = setUp(
      {},
      { recordEvent: () => Promise.reject(new Error("no database")) },
    );
    expect(await outcome(await call("events", event("email.complained")))).toEqual([
      500,
      "internal_error",
    ]);
    expect(seen.logged).toEqual([new Error("no database")]);
  });

  test("is not read without an end", async () => {
    const { call } = setUp();
    const body = "x".repeat(100_001);
    expect(await outcome(await call("events", { method: "POST", body }))).toEqual([
      413,
      "payload_too_large",
    ]);
  });

  test("has no address where there is no secret", async () => {
    const { call } = setUp({ verifyEvent: undefined });
    expect(await outcome(await call("events", event("email.complained")))).toEqual([
      404,
      "not_found",
    ]);
  });

  test("keeps what others have written short", () => {
    const message = `\0${"x".repeat(1000)}`;
    const told = providerEvent({
      type: "email.bounced",
      created_at: "2027-02-01T09:00:00.000Z",
      data: { email_id: "1", bounce: { type: "Permanent", message } },
    });
    expect(told?.detail.message).toBe("x".repeat(500));
  });

  test.each(["whsec_", "secret", "whsec_not base64!"])(
    "%j is no secret: it does not start",
    (value) => {
      expect(() => eventVerifier(() => value)).toThrow(EnvError);
    },
  );
});

const sign = (link: Partial<Link> & Pick<Link, "purpose">) =>
  signer.sign({ row: CLIENT, epoch: 3, ...link });

describe("unsubscribing", () => {
  const path = async (link: Partial<Link> = {}) =>
    `unsubscribe?t=${await sign({ purpose: "unsubscribe", ...link })}`;

  test("is one POST of the mail program, as RFC 8058 has it", async () => {
    const { call, seen } = setUp();
    const response = await call(await path(), {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "List-Unsubscribe=One-Click",
    });
    expect(response.status).toBe(204);
    expect(seen.unsubscribed).toEqual([[CLIENT, 3]]);
  });

  test("is not a GET, which leads to the portal's page", async () => {
    const { call, seen } = setUp();
    const address = await path();
    const response = await call(address);
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(
      `https://portal.example/#unsubscribe=${address.split("=")[1]}`,
    );
    expect(seen.unsubscribed).toEqual([]);
  });

  test("by a GET leads nowhere but to the portal, whatever the token", async () => {
    const { call } = setUp();
    const token = encodeURIComponent("x&y=https://evil.example/\r\nSet-Cookie: a=b#");
    const location = (await call(`unsubscribe?t=${token}`)).headers.get("location");
    expect(location).toBe(`https://portal.example/#unsubscribe=${token}`);
  });

  test("without a portal has no page: GET is 405", async () => {
    const { call } = setUp({ portalUrl: undefined });
    const response = await call(await path());
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect((await call(await path(), { method: "POST" })).status).toBe(204);
  });

  test.each<[name: string, path: () => Promise<string>]>([
    ["no token", async () => "unsubscribe"],
    ["a changed token", async () => `${(await path()).slice(0, -2)}AA`],
    ["a token to manage a booking", () => path({ purpose: "manage" })],
    ["the token of an earlier address", () => path({ epoch: 2 })],
  ])("with %s is 401", async (_, makePath) => {
    const { call } = setUp();
    expect(await outcome(await call(await makePath(), { method: "POST" }))).toEqual([
      401,
      "invalid_link",
    ]);
  });

  test("without a key to sign with, no token is one", async () => {
    const { call, seen } = setUp({ links: undefined });
    expect((await call(await path(), { method: "POST" })).status).toBe(401);
    expect(seen.unsubscribed).toEqual([]);
  });
});

describe("confirming a professional's address", () => {
  const post = (body: unknown): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const token = (link: Partial<Link> = {}) =>
    sign({ purpose: "confirm_address", row: ANA, epoch: 0, email: "ana@example.com", ...link });

  test("is a POST with the token", async () => {
    const { call, seen } = setUp();
    expect((await call("confirm-address", post({ token: await token() }))).status).toBe(204);
    expect(seen.confirmed).toEqual([[ANA, "ana@example.com"]]);
    expect((await call("confirm-address")).status).toBe(405);
  });

  test.each<[name: string, make: () => Promise<string>]>([
    ["no token", async () => "x"],
    ["a token to unsubscribe", () => token({ purpose: "unsubscribe" })],
    [
      "the token of an address that is no longer the professional's",
      () => token({ email: "old@example.com" }),
    ],
    ["a token of no address", () => sign({ purpose: "confirm_address", row: ANA, epoch: 0 })],
  ])("with %s is 401", async (_, make) => {
    const { call } = setUp();
    expect(await outcome(await call("confirm-address", post({ token: await make() })))).toEqual([
      401,
      "invalid_link",
    ]);
  });

  test.each([{}, { token: 1 }, { token: "x", extra: 1 }])("%j is 422", async (body) => {
    const { call } = setUp();
    expect((await call("confirm-address", post(body))).status).toBe(422);
  });
});

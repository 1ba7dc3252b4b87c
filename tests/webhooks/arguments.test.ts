/** What the RPCs of webhooks refuse before they look anything up, and that no refusal shows a secret. */
import { beforeAll, describe, expect, test } from "vitest";
import { server } from "../support/callers.ts";
import { createProfessional, type Professional } from "../support/factories.ts";
import { type Endpoint, subscribe, webhooks } from "../support/webhooks.ts";

const LOOPBACK = "http://127.0.0.1:9/hook";
const NOBODY = "00000000-0000-4000-8000-000000000000";

let ana: Professional;
let endpoint: Endpoint & { secret: string };
beforeAll(async () => {
  ana = await createProfessional();
  endpoint = await subscribe(ana, { url: LOOPBACK });
});

const CREATE = { url: LOOPBACK, events: ["*"] };
const CLAIM = { delivery_id: NOBODY, claim_token: NOBODY, duration_ms: 1 };

type Case = [name: string, what: string, args: object, fields: string[]];

const ofProfessional: Case[] = [
  ["create_webhook_endpoint", "no url", { ...CREATE, url: null }, ["url"]],
  ["create_webhook_endpoint", "white space", { ...CREATE, url: "https://1.1.1.1/a b" }, ["url"]],
  ["create_webhook_endpoint", "a scheme", { ...CREATE, url: "ftp://127.0.0.1/" }, ["url"]],
  [
    "create_webhook_endpoint",
    "a long url",
    { ...CREATE, url: `https://example.com/${"x".repeat(2029)}` },
    ["url"],
  ],
  ["create_webhook_endpoint", "no events", { ...CREATE, events: null }, ["events"]],
  ["create_webhook_endpoint", "no filter", { ...CREATE, events: [] }, ["events"]],
  ["create_webhook_endpoint", "an unknown filter", { ...CREATE, events: ["*", "x"] }, ["events"]],
  ["create_webhook_endpoint", "a null filter", { ...CREATE, events: ["*", null] }, ["events"]],
  ["create_webhook_endpoint", "two dimensions", { ...CREATE, events: "{{*},{*}}" }, ["events"]],
  ["create_webhook_endpoint", "51 filters", { ...CREATE, events: Array(51).fill("*") }, ["events"]],
  [
    "create_webhook_endpoint",
    "a long text",
    { ...CREATE, description: "x".repeat(501) },
    ["description"],
  ],
  ["create_webhook_endpoint", "no state", { ...CREATE, enabled: null }, ["enabled"]],
  ["create_webhook_endpoint", "nothing", { url: null, events: null }, ["events", "url"]],
  ["webhook_endpoint", "no id", { endpoint_id: null }, ["endpoint_id"]],
  [
    "update_webhook_endpoint",
    "nothing",
    { endpoint_id: null, changes: null },
    ["endpoint_id", "changes"],
  ],
  ...[1, [], "x", [{ url: LOOPBACK }]].map(
    (changes): Case => [
      "update_webhook_endpoint",
      `changes ${JSON.stringify(changes)}`,
      { endpoint_id: NOBODY, changes },
      ["changes"],
    ],
  ),
  ...[
    { url: null },
    { url: 5 },
    { url: "https://1.1.1.1/a b" },
    { url: "" },
    { events: "*" },
    { events: [["*"]] },
    { events: [1] },
    { events: [] },
    { events: { 0: "*" } },
    { description: "x".repeat(501) },
    { description: 5 },
    { enabled: null },
    { enabled: "true" },
    { secret: "whsec_x" },
    { disabled_reason: "gone" },
  ].map(
    (changes): Case => [
      "update_webhook_endpoint",
      `changes ${JSON.stringify(changes).slice(0, 40)}`,
      { endpoint_id: NOBODY, changes },
      Object.keys(changes),
    ],
  ),
  [
    "update_webhook_endpoint",
    "two faults",
    { endpoint_id: NOBODY, changes: { url: 1, enabled: 1, description: null } },
    ["enabled", "url"],
  ],
  ["delete_webhook_endpoint", "no id", { endpoint_id: null }, ["endpoint_id"]],
  ["rotate_webhook_secret", "no id", { endpoint_id: null }, ["endpoint_id"]],
  ...[null, -1, 86_401].map(
    (grace): Case => [
      "rotate_webhook_secret",
      `grace ${grace}`,
      { endpoint_id: NOBODY, grace },
      ["grace"],
    ],
  ),
  ["test_webhook_endpoint", "no id", { endpoint_id: null }, ["endpoint_id"]],
  ["redeliver_webhook", "no id", { delivery_id: null }, ["delivery_id"]],
  [
    "redeliver_webhooks",
    "no id",
    { endpoint_id: null, since: "2027-01-01T00:00:00Z" },
    ["endpoint_id"],
  ],
  ["webhook_deliveries", "a status", { status: "lost" }, ["status"]],
  ["webhook_attempts", "no id", { delivery_id: null }, ["delivery_id"]],
  ["webhook_events", "a sequence", { after: -1 }, ["after"]],
  ["webhook_events", "a type", { type: "x".repeat(101) }, ["type"]],
  ...["webhook_deliveries", "webhook_events"].flatMap((name) =>
    [null, 0, 101].map(
      (page_size): Case => [name, `page_size ${page_size}`, { page_size }, ["page_size"]],
    ),
  ),
];

const ofServer: Case[] = [
  ...[null, 0, 1001].map(
    (max_count): Case => [
      "claim_webhook_deliveries",
      `max_count ${max_count}`,
      { max_count },
      ["max_count"],
    ],
  ),
  [
    "finish_webhook_delivery",
    "nothing",
    { delivery_id: null, claim_token: null, duration_ms: null },
    ["delivery_id", "claim_token", "duration_ms"],
  ],
  ["finish_webhook_delivery", "a duration", { ...CLAIM, duration_ms: -1 }, ["duration_ms"]],
  ["finish_webhook_delivery", "a status", { ...CLAIM, status: 99 }, ["status"]],
  [
    "finish_webhook_delivery",
    "a long answer",
    { ...CLAIM, response: "x".repeat(4097) },
    ["response"],
  ],
  ["finish_webhook_delivery", "a long error", { ...CLAIM, error: "x".repeat(501) }, ["error"]],
  ["finish_webhook_delivery", "a wait", { ...CLAIM, retry_after: -1 }, ["retry_after"]],
];

describe("an argument that is not valid", () => {
  const refused = async (caller: Professional["api"], [name, , args, fields]: Case) => {
    const { error, status } = await caller.rpc(name as never, args as never);
    expect([status, error?.code]).toEqual([422, "validation_failed"]);
    expect(JSON.parse(error?.details ?? "")).toEqual({ fields });
  };

  // The ids are nobody's: what is refused was not looked up.
  test.each(ofProfessional)("of %s is 422 with its name: %s", (...one) => refused(ana.api, one));

  test.each(ofServer)("of %s is 422 with its name: %s", (...one) => refused(server(), one));

  test("keeps a code of its own where it has one", async () => {
    const since = { endpoint_id: endpoint.id, since: null as never };
    const { error, status } = await ana.api.rpc("redeliver_webhooks", since);
    expect([status, error?.code]).toEqual([422, "invalid_time"]);
  });

  test("is one beyond the largest that is", async () => {
    const url = `https://example.com/${"x".repeat(2028)}`;
    const created = await ana.api.rpc("create_webhook_endpoint", {
      url,
      events: Array(50).fill("*"),
      description: "x".repeat(500),
    });
    expect(created.error).toBeNull();
    const { id } = created.data as unknown as Endpoint;
    const changes = { url, events: Array(50).fill("*"), description: "x".repeat(500) };
    expect(
      (await ana.api.rpc("update_webhook_endpoint", { endpoint_id: id, changes })).data,
    ).toMatchObject(changes);
    const rotation = { endpoint_id: id, grace: 86_400 };
    expect((await ana.api.rpc("rotate_webhook_secret", rotation)).error).toBeNull();
    const type = "booking.created";
    expect(
      (await ana.api.rpc("webhook_events", { after: 0, type, page_size: 100 })).error,
    ).toBeNull();
  });
});

describe("a refusal shows no row and no secret", () => {
  /** The whole answer, which must be a refusal that tells nothing. */
  const refusal = async (call: Promise<{ status: number; text: string }>) => {
    const { status, text } = await call;
    expect([status, JSON.parse(text).code]).toEqual([422, "validation_failed"]);
    expect(text).not.toContain("whsec_");
    expect(text).not.toContain("Failing row");
  };
  const route = async (method: string, path: string, body: object) => {
    const response = await webhooks(ana, path, { method, body });
    return { status: response.status, text: await response.text() };
  };
  const rpc = async (name: string, args: object) => {
    const { error, status } = await ana.api.rpc(name as never, args as never);
    return { status, text: JSON.stringify(error) };
  };
  const one = () => `/endpoints/${endpoint.id}`;

  test.each<[what: string, changes: object]>([
    ["an address with white space", { url: "https://1.1.1.1/a b" }],
    ["a description of 501 characters", { description: "x".repeat(501) }],
    ["no address", { url: null }],
    ["no filters", { events: [] }],
    ["no state", { enabled: null }],
  ])("when a change has %s", async (_, changes) => {
    await refusal(route("PATCH", one(), changes));
    await refusal(rpc("update_webhook_endpoint", { endpoint_id: endpoint.id, changes }));
  });

  test.each<[what: string, values: object]>([
    ["no address", { url: null }],
    ["an address with white space", { url: "https://1.1.1.1/a b" }],
    ["no filters", { events: null }],
    ["a description of 501 characters", { description: "x".repeat(501) }],
  ])("when a new endpoint has %s", async (_, values) => {
    await refusal(route("POST", "/endpoints", { ...CREATE, ...values }));
    await refusal(rpc("create_webhook_endpoint", { ...CREATE, ...values }));
  });
});

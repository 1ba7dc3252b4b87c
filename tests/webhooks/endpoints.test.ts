/** The professional's routes: shapes, who may, what is refused and how. */
import { beforeAll, describe, expect, test } from "vitest";
import { anonymous, request, server, signToken } from "../support/callers.ts";
import { asCaller, raised, sql } from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import { stack } from "../support/stack.ts";
import {
  answerOf,
  deliveriesOf,
  type Endpoint,
  type Event,
  eventsOf,
  ISO,
  type Page,
  record,
  refusalOf,
  subscribe,
  webhooks,
} from "../support/webhooks.ts";

const LOOPBACK = "http://127.0.0.1:9/hook";
const NOBODY = "00000000-0000-4000-8000-000000000000";
const NOT_FOUND = { status: 404, code: "PGRST301", details: null };

const post = (caller: { token: string }, path: string, body?: unknown) =>
  webhooks(caller, path, { method: "POST", body });

describe("endpoints", () => {
  let ana: Professional;
  beforeAll(async () => {
    ana = await createProfessional();
  });

  test("are created with a secret that is shown once, and listed oldest first", async () => {
    const ivo = await createProfessional();
    const response = await post(ivo, "/endpoints", {
      url: LOOPBACK,
      events: ["booking.*", "order.created"],
      description: "CRM",
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("content-type")).toBe("application/json");
    const { secret, ...endpoint } = (await response.json()) as Endpoint & { secret: string };
    expect(endpoint).toEqual({
      id: expect.any(String),
      url: LOOPBACK,
      events: ["booking.*", "order.created"],
      description: "CRM",
      enabled: true,
      disabled_reason: null,
      created_at: expect.stringMatching(ISO),
    });
    // 24 to 64 bytes, says the standard.
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

    const second = await record(ivo);
    expect(second).toMatchObject({ enabled: false, disabled_reason: "owner", description: null });
    const list = await answerOf<Page<Endpoint>>(webhooks(ivo, "/endpoints"));
    expect(list.next_cursor).toBeNull();
    expect(list.data[0]).toEqual(endpoint);
    expect(list.data.map(({ id }) => id)).toEqual([endpoint.id, second.id]);
    expect(await answerOf(webhooks(ivo, `/endpoints/${endpoint.id}`))).toEqual(endpoint);
  });

  test("are changed in what is given, and nothing else", async () => {
    const { secret: _, ...endpoint } = await subscribe(ana, { url: LOOPBACK, description: "a" });
    const patch = (body: unknown) =>
      answerOf(webhooks(ana, `/endpoints/${endpoint.id}`, { method: "PATCH", body }));
    expect(await patch({})).toEqual(endpoint);
    expect(await patch({ events: ["client.*"] })).toEqual({ ...endpoint, events: ["client.*"] });
    expect(await patch({ description: null, url: `${LOOPBACK}/2`, events: ["*"] })).toEqual({
      ...endpoint,
      url: `${LOOPBACK}/2`,
      description: null,
    });
  });

  test("are disabled with what is pending, and enabled without their past", async () => {
    const ivo = await createProfessional();
    const endpoint = await subscribe(ivo, { url: LOOPBACK });
    const patch = (body: unknown) =>
      answerOf(webhooks(ivo, `/endpoints/${endpoint.id}`, { method: "PATCH", body }));
    await createService(ivo);
    expect(await patch({ enabled: false })).toMatchObject({
      enabled: false,
      disabled_reason: "owner",
    });
    expect(await deliveriesOf(ivo)).toMatchObject([{ status: "cancelled", next_attempt_at: null }]);
    await sql`
      update private.webhook_endpoints
      set disabled_reason = 'failing', failing_since = now(), failed_tries = 10
      where id = ${endpoint.id}`;
    // Saying so again does not make it the owner's decision.
    expect(await patch({ enabled: false })).toMatchObject({ disabled_reason: "failing" });
    expect(await patch({ enabled: true })).toMatchObject({ enabled: true, disabled_reason: null });
    expect(
      await sql`
      select failing_since, failed_tries from private.webhook_endpoints where id = ${endpoint.id}`,
    ).toEqual([{ failing_since: null, failed_tries: 0 }]);
  });

  test("are deleted with 204, and are then not there", async () => {
    const endpoint = await subscribe(ana, { url: LOOPBACK });
    const remove = () => webhooks(ana, `/endpoints/${endpoint.id}`, { method: "DELETE" });
    const response = await remove();
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(await refusalOf(remove())).toEqual(NOT_FOUND);
  });

  test("are at most ten", async () => {
    const ivo = await createProfessional();
    for (let i = 0; i < 10; i++) await record(ivo);
    expect(await refusalOf(post(ivo, "/endpoints", { url: LOOPBACK, events: ["*"] }))).toEqual({
      status: 422,
      code: "too_many_endpoints",
      details: null,
    });
  });

  test.each([
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://user:pw@example.com/",
    "http://example.com/",
    "https://example.com:8443/",
    "http://2130706433:9/",
    "http://[::1]:9/",
    "http://127.0.0.1/",
    "http://127.0.0.2:9/",
    "http://127.0.0.1:9@example.com/",
    "http://localhost.example.com:9/",
    "https://localhost/",
    "ftp://127.0.0.1:9/",
    "nonsense",
  ])("to %s are refused, on creation and on change", async (url) => {
    const refused = {
      status: 422,
      code: "url_not_allowed",
      details: { reason: expect.any(String) },
    };
    expect(await refusalOf(post(ana, "/endpoints", { url, events: ["*"] }))).toEqual(refused);
    const { data } = await answerOf<Page<Endpoint>>(webhooks(ana, "/endpoints"));
    const path = `/endpoints/${data[0]?.id}`;
    expect(await refusalOf(webhooks(ana, path, { method: "PATCH", body: { url } }))).toEqual(
      refused,
    );
  });

  test("to a host that is not allowed are not tried, even when the function was got around", async () => {
    const ivo = await createProfessional();
    const { error } = await ivo.api.rpc("create_webhook_endpoint", {
      url: "http://169.254.169.254/latest/meta-data/",
      events: ["*"],
    });
    expect(error).toBeNull();
    await createService(ivo);
    let attempts: { status: number | null; error: string | null }[] = [];
    await expect
      .poll(
        async () => {
          const [delivery] = await deliveriesOf(ivo);
          attempts = (
            await answerOf<Page<(typeof attempts)[0]>>(
              webhooks(ivo, `/deliveries/${delivery?.id}/attempts`),
            )
          ).data;
          return attempts[0]?.error ?? null;
        },
        { timeout: 15_000 },
      )
      .toContain("not_https");
    expect(attempts[0]?.status).toBeNull();
  });

  test.each<[what: string, body: unknown, fields: string[]]>([
    ["nothing", {}, ["url", "events"]],
    ["an unknown key", { url: LOOPBACK, events: ["*"], secret: "x" }, ["secret"]],
    ["no filter", { url: LOOPBACK, events: [] }, ["events"]],
    ["an unknown filter", { url: LOOPBACK, events: ["*", "booking.gone"] }, ["events.1"]],
    [
      "a long text",
      { url: LOOPBACK, events: ["*"], description: "x".repeat(501) },
      ["description"],
    ],
  ])("from %s are 422 with the fields", async (_, body, fields) => {
    const { status, code, details } = await refusalOf(post(ana, "/endpoints", body));
    expect([status, code]).toEqual([422, "validation_failed"]);
    expect(Object.keys((details as { fields: object }).fields)).toEqual(fields);
  });

  test("from an unknown filter say so, without the list of all", async () => {
    const { details } = await refusalOf(post(ana, "/endpoints", { url: LOOPBACK, events: ["x"] }));
    expect(details).toEqual({ fields: { "events.0": "is not a type of event" } });
  });
});

describe("routes", () => {
  let ana: Professional;
  let ivo: Professional;
  let endpoint: Endpoint;
  beforeAll(async () => {
    [ana, ivo] = await Promise.all([createProfessional(), createProfessional()]);
    endpoint = await subscribe(ana, { url: LOOPBACK });
    await createService(ana);
    await subscribe(ivo, { url: LOOPBACK });
  });

  /** Every route with an id, for the id of an endpoint and of a delivery. */
  const routes = (endpointId: string, deliveryId: string): [string, string, unknown?][] => [
    ["GET", `/endpoints/${endpointId}`],
    ["PATCH", `/endpoints/${endpointId}`, { description: "x" }],
    ["POST", `/endpoints/${endpointId}/rotate-secret`],
    ["POST", `/endpoints/${endpointId}/test`],
    ["POST", `/endpoints/${endpointId}/redeliver`, { since: "2027-01-01T00:00:00Z" }],
    ["GET", `/deliveries?endpoint_id=${endpointId}`],
    ["GET", `/deliveries/${deliveryId}/attempts`],
    ["POST", `/deliveries/${deliveryId}/redeliver`],
    ["DELETE", `/endpoints/${endpointId}`],
  ];

  test("answer 404 to another professional's ids and to none's, and the owner gets in", async () => {
    const delivery = (await deliveriesOf(ana))[0]?.id ?? "";
    for (const [method, path, body] of routes(endpoint.id, delivery)) {
      expect([path, await refusalOf(webhooks(ivo, path, { method, body }))]).toEqual([
        path,
        NOT_FOUND,
      ]);
    }
    for (const [method, path, body] of routes(NOBODY, NOBODY)) {
      expect([path, await refusalOf(webhooks(ana, path, { method, body }))]).toEqual([
        path,
        NOT_FOUND,
      ]);
    }
    const own = await subscribe(ana, { url: LOOPBACK });
    for (const [method, path, body] of routes(own.id, delivery)) {
      expect([path, (await webhooks(ana, path, { method, body })).ok]).toEqual([path, true]);
    }
    expect(await refusalOf(webhooks(ana, "/endpoints/1"))).toEqual(NOT_FOUND);
  });

  test("are for professionals: no token is 401, a portal token and keys are 403", async () => {
    const portal = await createPortalSession(await createClientRow(ana));
    const get = (token: string | undefined) =>
      refusalOf(request("/functions/v1/webhooks/endpoints", { token }));
    expect(await get(portal.token)).toEqual({ status: 403, code: "forbidden", details: null });
    for (const role of ["anon", "service_role"]) {
      expect((await get(await signToken({ role, sub: ana.id }))).status).toBe(403);
    }
    const invalid = { status: 401, code: "invalid_token", details: null };
    const expired = { ...ana.claims, exp: Math.floor(Date.now() / 1000) - 60 };
    expect(await get(undefined)).toEqual(invalid);
    expect(await get(stack.publishableKey)).toEqual(invalid);
    expect(await get(await signToken(expired))).toEqual(invalid);
    expect(
      await get(await signToken(ana.claims, "another-secret-of-at-least-32-characters")),
    ).toEqual(invalid);
    expect((await webhooks(ana, "/endpoints")).status).toBe(200);
  });

  test("end with the session", async () => {
    const eva = await createProfessional();
    expect((await webhooks(eva, "/endpoints")).status).toBe(200);
    await sql`delete from auth.sessions where id = ${eva.sessionId}`;
    const response = await webhooks(eva, "/endpoints");
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await refusalOf(Promise.resolve(response))).toMatchObject({
      status: 401,
      code: "session_not_found",
    });
  });

  test("count towards the tier's limit, and pass its 429 on with Retry-After", async () => {
    const eva = await createProfessional({ tier: "free" });
    await sql`
      insert into private.request_counters (key, full_at)
      values (${`professional ${eva.id} 60`}, now() + interval '1 minute')`;
    const response = await webhooks(eva, "/endpoints");
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(response.headers.get("access-control-expose-headers")).toBe("Retry-After");
    expect(await response.json()).toMatchObject({
      code: "rate_limit_exceeded",
      details: expect.stringMatching(/^\{"retry_after" ?: ?\d+\}$/),
    });
  });

  test("answer as the portal's do to wrong methods, types, sizes and paths", async () => {
    const wrong = await webhooks(ana, "/endpoints", { method: "DELETE" });
    expect(wrong.headers.get("allow")).toBe("GET, POST, OPTIONS");
    expect(await refusalOf(Promise.resolve(wrong))).toMatchObject({
      status: 405,
      code: "method_not_allowed",
    });
    const body = { url: LOOPBACK, events: ["*"] };
    const headers = { "content-type": "text/plain" };
    expect(
      await refusalOf(webhooks(ana, "/endpoints", { method: "POST", body, headers })),
    ).toMatchObject({ status: 415, code: "unsupported_media_type" });
    expect(
      await refusalOf(post(ana, "/endpoints", { ...body, description: "x".repeat(30_000) })),
    ).toMatchObject({ status: 413, code: "payload_too_large" });
    for (const path of ["", "/", "/nothing", "/endpoints/", `/endpoints/${endpoint.id}/x`]) {
      expect(await refusalOf(webhooks(ana, path))).toMatchObject({
        status: 404,
        code: "not_found",
      });
    }
    const preflight = await request("/functions/v1/webhooks/endpoints", { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, POST, PATCH, DELETE");
  });

  test("check what is asked for in the address", async () => {
    for (const path of [
      "/deliveries?limit=0",
      "/deliveries?limit=101",
      "/deliveries?status=lost",
      "/deliveries?endpoint_id=1",
      "/deliveries?cursor=1",
      "/deliveries?page=2",
      "/events?after=-1",
      "/events?after=x",
      "/events?type=booking.gone",
      "/events?limit=1000",
    ]) {
      expect([path, await refusalOf(webhooks(ana, path))]).toMatchObject([
        path,
        { status: 422, code: "validation_failed" },
      ]);
    }
  });

  test("of the scheduler take its secret only", async () => {
    const dispatch = (headers: Record<string, string>) =>
      request("/functions/v1/webhooks/dispatch", { method: "POST", headers });
    for (const apikey of ["wrong", stack.secretKey, stack.publishableKey]) {
      expect(await refusalOf(dispatch({ apikey }))).toMatchObject({
        status: 401,
        code: "invalid_api_key",
      });
    }
  });
});

describe("the RPCs behind", () => {
  test("are the professional's: not the public's, the clients' or the server's", async () => {
    const ana = await createProfessional();
    const portal = await createPortalSession(await createClientRow(ana));
    for (const [name, args] of [
      ["webhook_endpoints", {}],
      ["webhook_events", {}],
      ["create_webhook_endpoint", { url: LOOPBACK, events: ["*"] }],
    ] as const) {
      for (const [caller, code] of [
        [anonymous(), "42501"],
        [portal.api, "42501"],
        [server(), "42501"],
        [ana.api, undefined],
      ] as const) {
        expect((await caller.rpc(name, args as never)).error?.code).toBe(code);
      }
    }
  });

  test("of the dispatcher are the server's alone", async () => {
    const ana = await createProfessional();
    const finish = { delivery_id: NOBODY, claim_token: NOBODY, duration_ms: 1, status: 200 };
    for (const api of [anonymous(), ana.api]) {
      expect((await api.rpc("finish_webhook_delivery", finish)).error?.code).toBe("42501");
      expect((await api.rpc("claim_webhook_deliveries", { max_count: 0 })).error?.code).toBe(
        "42501",
      );
    }
    expect((await server().rpc("finish_webhook_delivery", finish)).error).toBeNull();
    // Let in, and only then told that nothing can be claimed by nobody.
    expect((await server().rpc("claim_webhook_deliveries", { max_count: 0 })).error?.code).toBe(
      "validation_failed",
    );
  });

  test("show nobody the tables", async () => {
    const ana = await createProfessional();
    for (const table of [
      "endpoints",
      "previous_secrets",
      "events",
      "deliveries",
      "attempts",
      "leases",
      "budgets",
      "expired_events",
    ]) {
      const read = asCaller(ana.claims, (tx) => tx`select from private.${tx(`webhook_${table}`)}`);
      expect(await raised(read)).toMatchObject({ code: "42501" });
    }
  });
});

describe("events", () => {
  let ana: Professional;
  let all: Event[];
  beforeAll(async () => {
    ana = await createProfessional();
    await record(ana);
    const values = Array.from({ length: 5 }, (_, i) => ({ name: `${i}`, price: 1, duration: 5 }));
    const { error } = await ana.api.from("services").insert(values);
    if (error) throw new Error(JSON.stringify(error));
    await createClientRow(ana);
    all = await eventsOf(ana);
  });
  const page = (query: string) => answerOf<Page<Event>>(webhooks(ana, `/events${query}`));

  test("are read page by page, each once, as they are delivered", async () => {
    const first = await page("?limit=4");
    expect(first.data).toEqual(all.slice(0, 4));
    expect(first.next_cursor).toBe(String(all[3]?.sequence));
    const second = await page(`?limit=4&after=${first.next_cursor}`);
    expect(second).toEqual({ data: all.slice(4), next_cursor: null });
    expect(await page(`?after=${all.at(-1)?.sequence}`)).toEqual({ data: [], next_cursor: null });
  });

  test("can be of one type", async () => {
    expect((await page("?type=client.created")).data).toEqual([all[5]]);
    expect((await page("?type=service.deleted")).data).toEqual([]);
  });

  test("are what is stored to be sent", async () => {
    const rows = await sql<{ body: string }[]>`
      select body from private.webhook_events
      where professional_id = ${ana.id} order by sequence`;
    expect(rows.map(({ body }) => JSON.parse(body))).toEqual(all);
  });

  test("older than 30 days are gone with their deliveries; a cursor before them is 410", async () => {
    const eva = await createProfessional();
    await subscribe(eva, { url: LOOPBACK });
    for (const name of ["old", "older than it looks", "new"]) await createService(eva, { name });
    const [old, second, fresh] = (await eventsOf(eva)) as [Event, Event, Event];
    await sql`
      update private.webhook_events set created_at = created_at - interval '30 days'
      where id in (${old.id}, ${second.id})`;
    await sql`select private.cleanup_webhooks()`;

    expect(await eventsOf(eva)).toEqual([fresh]);
    expect((await deliveriesOf(eva)).map(({ event_id }) => event_id)).toEqual([fresh.id]);
    for (const after of [0, old.sequence]) {
      expect(await refusalOf(webhooks(eva, `/events?after=${after}`))).toMatchObject({
        status: 410,
        code: "cursor_expired",
      });
    }
    expect(await eventsOf(eva, second.sequence)).toEqual([fresh]);
    // A later cleanup without anything to do forgets nothing; one with more to do goes on.
    await sql`select private.cleanup_webhooks()`;
    expect((await webhooks(eva, "/events?after=0")).status).toBe(410);
    await sql`
      update private.webhook_events set created_at = created_at - interval '30 days'
      where id = ${fresh.id}`;
    await sql`select private.cleanup_webhooks()`;
    expect((await webhooks(eva, `/events?after=${second.sequence}`)).status).toBe(410);
    expect(await eventsOf(eva, fresh.sequence)).toEqual([]);
    await createService(eva, { name: "newer" });
    expect((await eventsOf(eva, fresh.sequence)).map(({ data }) => data.name)).toEqual(["newer"]);
  });

  test("that are young stay, and so do their tries", async () => {
    const eva = await createProfessional();
    await record(eva);
    await createService(eva);
    await sql`
      update private.webhook_events set created_at = created_at - interval '29 days'
      where professional_id = ${eva.id}`;
    await sql`select private.cleanup_webhooks()`;
    expect(await eventsOf(eva, 0)).toHaveLength(1);
  });
});

describe("deliveries", () => {
  test("are read newest first, page by page, by endpoint and status", async () => {
    const ana = await createProfessional();
    const [one, two] = [
      await subscribe(ana, { url: LOOPBACK }),
      await subscribe(ana, { url: LOOPBACK, events: ["client.created"] }),
    ];
    await createService(ana);
    await createService(ana);
    await createClientRow(ana);
    await sql`
      update private.webhook_deliveries
      set status = 'failed', next_attempt_at = null, claim_token = null
      where endpoint_id = ${two.id}`;
    const all = await deliveriesOf(ana);
    expect(all).toHaveLength(4);
    const times = all.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort().reverse());

    const ids: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor && `&cursor=${cursor}`;
      const page: Page<{ id: string }> = await answerOf(
        webhooks(ana, `/deliveries?limit=3${query}`),
      );
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(ids).toEqual(all.map(({ id }) => id));

    expect(await deliveriesOf(ana, `?endpoint_id=${one.id}`)).toHaveLength(3);
    expect(await deliveriesOf(ana, "?status=failed")).toMatchObject([{ endpoint_id: two.id }]);
    expect(await deliveriesOf(ana, `?endpoint_id=${one.id}&status=failed`)).toEqual([]);
  });

  test("after a cursor that is gone are 410", async () => {
    const ana = await createProfessional();
    expect(await refusalOf(webhooks(ana, `/deliveries?cursor=${NOBODY}`))).toMatchObject({
      status: 410,
      code: "cursor_expired",
    });
  });
});

/** Events on their way: sent as they are stored, signed by the standard, tried again, given up. */
import { WebhookVerificationError } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { sql } from "../support/database.ts";
import {
  createClientRow,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import { waitForMails } from "../support/portal.ts";
import {
  answerOf,
  type Delivery,
  deliveriesOf,
  type Endpoint,
  expectedEvent,
  ISO,
  makeDue,
  type Received,
  refusalOf,
  startReceiver,
  subscribe,
  subscribed,
  until,
  untilDelivery,
  verified,
  webhooks,
} from "../support/webhooks.ts";

/** Seconds of each wait between two tries. */
const STEPS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

const sendTest = (professional: Professional, { id }: Endpoint) =>
  answerOf(webhooks(professional, `/endpoints/${id}/test`, { method: "POST" }));

/** The only delivery of a professional. */
async function theDelivery(professional: Professional) {
  const [delivery, ...others] = await deliveriesOf(professional);
  if (!delivery || others.length > 0) throw new Error(`${others.length + 1} deliveries`);
  return delivery;
}

const attemptsOf = async (professional: Professional, id: string): Promise<Attempt[]> =>
  (await answerOf<{ data: Attempt[] }>(webhooks(professional, `/deliveries/${id}/attempts`))).data;

/** Seconds until the next try of a delivery, by the database's clock. */
async function secondsToNext(id: string): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from d.next_attempt_at - a.started_at)::float8 as seconds
    from private.webhook_deliveries d
    join private.webhook_attempts a on a.delivery_id = d.id
    where d.id = ${id}
    order by a.started_at desc
    limit 1`;
  return row?.seconds ?? Number.NaN;
}

/** Waits for the answer to the first try of the only delivery. */
async function answered(professional: Professional): Promise<Delivery> {
  const { id } = await theDelivery(professional);
  return untilDelivery(professional, id, ({ last_status }) => last_status !== null);
}

const endpointOf = (professional: Professional, { id }: { id: string }) =>
  answerOf<Endpoint>(webhooks(professional, `/endpoints/${id}`));

/** Since when and how often tries at an endpoint have failed in a row. */
async function failuresOf({ id }: { id: string }) {
  const [row] = await sql`
    select failing_since as since, failed_tries as tries
    from private.webhook_endpoints where id = ${id}`;
  return row;
}

interface Attempt {
  started_at: string;
  duration_ms: number | null;
  status: number | null;
  response: string | null;
  error: string | null;
}

describe.concurrent("a delivery", () => {
  test("arrives signed, and verifies with the library of the standard", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    const client = await createClientRow(ana);

    const [received] = (await receiver.count(1)) as [Received];
    const event = verified(received, endpoint.secret);
    expect(event).toEqual({ ...expectedEvent(ana, "client.created", {}, null), data: client });
    expect(received.id).toBe(event.id);
    expect(received.headers["content-type"]).toBe("application/json");

    const delivery = await untilDelivery(
      ana,
      (await theDelivery(ana)).id,
      ({ status }) => status === "succeeded",
    );
    expect(delivery).toEqual({
      id: expect.any(String),
      endpoint_id: endpoint.id,
      event_id: event.id,
      type: "client.created",
      status: "succeeded",
      attempts: 1,
      next_attempt_at: null,
      last_status: 200,
      created_at: expect.stringMatching(ISO),
    });
  });

  test("has the same bytes and id on the fifth try as on the first, and verifies each time", async () => {
    const { ana, receiver, endpoint } = await subscribed(() => ({ status: 500 }));
    const notes = '{"n":1.50,"e":1e2,"u":"é"}';
    await createClientRow(ana, { notes, metadata: { n: 1.5, "ü\u2028": "\u0001" } });
    await receiver.count(1);
    const { id } = await theDelivery(ana);
    for (let attempts = 1; attempts < 5; attempts++) {
      await untilDelivery(ana, id, ({ last_status }) => last_status !== null);
      await makeDue(ana);
      await receiver.count(attempts + 1);
    }
    const bodies = receiver.received.map((received) => {
      expect(verified(received, endpoint.secret).data).toMatchObject({ notes });
      return [received.id, received.body];
    });
    expect(bodies).toHaveLength(5);
    expect(new Set(bodies.map(String)).size).toBe(1);
  });

  test("goes to the enabled endpoints that list its type, and to each on its own", async () => {
    const ana = await createProfessional();
    const [all, clients, exact, services, off] = await Promise.all([
      startReceiver(),
      startReceiver(),
      startReceiver(() => ({ status: 500 })),
      startReceiver(),
      startReceiver(),
    ]);
    await subscribe(ana, { url: all.url, events: ["*"] });
    await subscribe(ana, { url: clients.url, events: ["client.*"] });
    await subscribe(ana, { url: exact.url, events: ["order.created", "client.created"] });
    await subscribe(ana, { url: services.url, events: ["service.*", "client.updated"] });
    await subscribe(ana, { url: off.url, enabled: false });
    await createClientRow(ana);
    await Promise.all([all.count(1), clients.count(1), exact.count(1)]);
    expect(new Set([all, clients, exact].map(({ received }) => received[0]?.id)).size).toBe(1);
    expect(await deliveriesOf(ana)).toHaveLength(3);
    expect([services, off].flatMap(({ received }) => received)).toEqual([]);
  });

  test("to another address of a redirect does not happen: a 302 is a failure", async () => {
    const ana = await createProfessional();
    const target = await startReceiver();
    const receiver = await startReceiver(() => ({
      status: 302,
      headers: { location: target.url },
    }));
    await subscribe(ana, { url: receiver.url });
    await createService(ana);
    await receiver.count(1);
    expect(await answered(ana)).toMatchObject({ status: "pending", last_status: 302 });
    expect(target.received).toEqual([]);
  });

  test("of a test reaches an endpoint that listens to something else", async () => {
    const ana = await createProfessional();
    const [receiver, other] = [await startReceiver(), await startReceiver()];
    const endpoint = await subscribe(ana, { url: receiver.url, events: ["order.created"] });
    await subscribe(ana, { url: other.url });
    expect(await sendTest(ana, endpoint)).toEqual({ queued: 1 });
    const [received] = (await receiver.count(1)) as [Received];
    expect(verified(received, endpoint.secret)).toEqual(
      expectedEvent(ana, "webhook.test", { endpoint_id: endpoint.id }, null),
    );
    expect(await deliveriesOf(ana)).toHaveLength(1);
  });
});

describe.concurrent("tries", () => {
  test("come after 5 s, 5 min, 30 min … with 20 % jitter, ten in all, and then it is failed", async () => {
    const { ana, receiver, endpoint } = await subscribed(() => ({ status: 400 }));
    await createService(ana);
    const { id } = await theDelivery(ana);
    const finished = (tries: number) =>
      until(
        async () => ({
          attempts: await attemptsOf(ana, id),
          delivery: await theDelivery(ana),
        }),
        ({ attempts }) => attempts.length === tries && attempts[0]?.duration_ms !== null,
      );
    for (const [index, step] of STEPS.entries()) {
      const { delivery } = await finished(index + 1);
      expect(delivery).toMatchObject({ status: "pending", attempts: index + 1 });
      const seconds = await secondsToNext(id);
      expect(seconds).toBeGreaterThanOrEqual(step * 0.8);
      // What the try itself took is on top.
      expect(seconds).toBeLessThanOrEqual(step * 1.2 + 10);
      await makeDue(ana);
    }
    expect((await finished(10)).delivery).toMatchObject({
      status: "failed",
      attempts: 10,
      next_attempt_at: null,
      last_status: 400,
    });
    expect(receiver.received).toHaveLength(10);
    // Ten tries in a moment are no five days.
    expect(await endpointOf(ana, endpoint)).toMatchObject({ enabled: true });
    expect(await failuresOf(endpoint)).toEqual({ since: expect.any(Date), tries: 10 });
  });

  test("keep to the jitter and the ten steps, whatever chance and receiver say", async () => {
    const delay = async (attempts: number, retryAfter: number | null, random: number) => {
      const [row] = await sql`
        select extract(epoch from private.webhook_retry_delay(${attempts}, ${retryAfter}, ${random}))::float8
          as seconds`;
      return row?.seconds as number | null;
    };
    for (const [index, step] of STEPS.entries()) {
      expect(await delay(index + 1, null, 0)).toBeCloseTo(step * 0.8);
      expect(await delay(index + 1, null, 1)).toBeCloseTo(step * 1.2);
      expect(await delay(index + 1, 0, 0.5)).toBe(step);
      expect(await delay(index + 1, Math.round(step * 1.5), 0.5)).toBe(Math.round(step * 1.5));
      expect(await delay(index + 1, 999_999_999, 0.5)).toBe(step * 2);
    }
    expect(await delay(10, null, 0.5)).toBeNull();
    expect(await delay(10, 5, 0.5)).toBeNull();
  });

  test("wait as Retry-After asks, in seconds or as a date, up to twice the step", async () => {
    const { ana, receiver } = await subscribed(() => ({
      status: 503,
      headers: { "retry-after": "7" },
    }));
    await createService(ana);
    await receiver.count(1);
    const { id } = await theDelivery(ana);
    await untilDelivery(ana, id, ({ last_status }) => last_status === 503);
    expect(await secondsToNext(id)).toBeGreaterThanOrEqual(7);

    const date = new Date(Date.now() + 7 * 3_600_000).toUTCString();
    receiver.answer = () => ({ status: 429, headers: { "retry-after": date } });
    await makeDue(ana);
    await untilDelivery(ana, id, ({ last_status }) => last_status === 429);
    expect(await secondsToNext(id)).toBeGreaterThanOrEqual(600);
    expect(await secondsToNext(id)).toBeLessThanOrEqual(610);
  });

  test("are logged with status, duration and the first 4 kB of the answer, or why there is none", async () => {
    const { ana, endpoint } = await subscribed(() => ({
      status: 500,
      body: `\0é${"x".repeat(9000)}`,
    }));
    await createService(ana);
    const { id } = await answered(ana);
    // Nobody listens there.
    const body = { url: "http://127.0.0.1:9/" };
    await answerOf(webhooks(ana, `/endpoints/${endpoint.id}`, { method: "PATCH", body }));
    await makeDue(ana);
    const attempts = await until(
      () => attemptsOf(ana, id),
      ([newest, ...others]) => others.length === 1 && newest?.duration_ms !== null,
    );
    expect(attempts).toEqual([
      {
        started_at: expect.stringMatching(ISO),
        duration_ms: expect.any(Number),
        status: null,
        response: null,
        error: expect.any(String),
      },
      {
        started_at: expect.stringMatching(ISO),
        duration_ms: expect.any(Number),
        status: 500,
        response: `\uFFFDé${"x".repeat(4093)}`,
        error: null,
      },
    ]);
    expect(await theDelivery(ana)).toMatchObject({ attempts: 2, last_status: null });
  });
});

describe.concurrent("an endpoint", () => {
  /** Lets the endpoint look as if it had been failing since then, so often. */
  const failing = ({ id }: Endpoint, days: number, tries: number) => sql`
    update private.webhook_endpoints
    set failing_since = now() - make_interval(days => ${days}), failed_tries = ${tries}
    where id = ${id}`;

  test("that answers 410 is disabled at once, what waits there cancelled, its owner told", async () => {
    const { ana, receiver, endpoint } = await subscribed(() => ({ status: 500 }));
    await createService(ana);
    await answered(ana);
    receiver.answer = () => ({ status: 410 });
    await createService(ana);
    await until(
      () => endpointOf(ana, endpoint),
      ({ disabled_reason }) => disabled_reason === "gone",
    );
    expect(await endpointOf(ana, endpoint)).toMatchObject({ enabled: false });
    expect((await deliveriesOf(ana)).map(({ status }) => status)).toEqual(["failed", "cancelled"]);
    await waitForMails(ana.email, 1);
    await createService(ana);
    expect(await deliveriesOf(ana)).toHaveLength(2);
  });

  test("without success for five days and ten tries is disabled, and its owner told", async () => {
    const { ana, endpoint } = await subscribed(() => ({ status: 500 }));
    await failing(endpoint, 5, 9);
    await createService(ana);
    expect(await answered(ana)).toMatchObject({ status: "cancelled", last_status: 500 });
    expect(await endpointOf(ana, endpoint)).toMatchObject({
      enabled: false,
      disabled_reason: "failing",
    });
    await waitForMails(ana.email, 1);
  });

  test.each([
    [4.9, 50],
    [6, 8],
  ])("stays enabled after %d days and %d tries", async (days, tries) => {
    const { ana, endpoint } = await subscribed(() => ({ status: 500 }));
    await sql`
      update private.webhook_endpoints
      set failing_since = now() - make_interval(secs => ${days * 86_400}), failed_tries = ${tries}
      where id = ${endpoint.id}`;
    await createService(ana);
    expect(await answered(ana)).toMatchObject({ status: "pending", last_status: 500 });
    expect(await endpointOf(ana, endpoint)).toMatchObject({ enabled: true, disabled_reason: null });
  });

  test("is disabled without more than a mail a day for it and three for its owner, also when it is another each time", async () => {
    const ana = await createProfessional();
    const receiver = await startReceiver(() => ({ status: 410 }));
    const url = `${receiver.url}?you=have#won`;
    // Those of a day ago may be cleaned up meanwhile.
    const mailsToday = async () =>
      (
        await sql`
          select from private.webhook_owner_mails
          where professional_id = ${ana.id} and created_at > now() - interval '1 hour'`
      ).length;
    const disable = async (endpoint: Endpoint) => {
      const before = await mailsToday();
      await sendTest(ana, endpoint);
      await until(
        () => endpointOf(ana, endpoint),
        ({ enabled }) => !enabled,
      );
      return (await mailsToday()) - before;
    };
    const enable = ({ id }: Endpoint) =>
      answerOf(webhooks(ana, `/endpoints/${id}`, { method: "PATCH", body: { enabled: true } }));
    const remove = ({ id }: Endpoint) => webhooks(ana, `/endpoints/${id}`, { method: "DELETE" });

    const first = await subscribe(ana, { url });
    expect(await disable(first)).toBe(1);
    await enable(first);
    expect(await disable(first)).toBe(0);
    for (const mails of [1, 1, 0]) {
      const next = await subscribe(ana, { url });
      expect(await disable(next)).toBe(mails);
      await remove(next);
    }
    for (const { Text, HTML } of await waitForMails(ana.email, 3)) {
      for (const text of [Text, HTML]) {
        expect(text).toContain("127.0.0.1");
        expect(text).not.toMatch(/won|\?|:\d{4,5}/);
      }
    }

    // A day later.
    await sql`
      update private.webhook_owner_mails set created_at = created_at - interval '1 day'
      where professional_id = ${ana.id}`;
    await enable(first);
    expect(await disable(first)).toBe(1);
    expect(await waitForMails(ana.email, 4)).toHaveLength(4);
  });

  test.each([
    ["https://hooks.example.com/a?b#c", "hooks.example.com"],
    ["https://hooks.example.com", "hooks.example.com"],
    ["http://127.0.0.1:9999/", "127.0.0.1"],
    ["https://[2001:db8::1]:443/", "[2001:db8::1]"],
    ["https://xn--bcher-kva.example?x", "xn--bcher-kva.example"],
    ["https://good.example\\@evil.example/", "good.example"],
    ["https://user@host.example/", null],
    ["https://call-me:5551234@host.example/", null],
    ["https://you_have_won,_call_555/", null],
    ["https://b\u00fccher.example/", null],
    ["https://<b>.example/", null],
    ["https:///path", null],
  ])("is called %s, and a mail names %s", async (url, host) => {
    expect(await sql`select private.webhook_host(${url}) as host`).toEqual([{ host }]);
  });

  test("starts anew with a success", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    await failing(endpoint, 6, 20);
    await createService(ana);
    await answered(ana);
    expect(await failuresOf(endpoint)).toEqual({ since: null, tries: 0 });
    receiver.answer = () => ({ status: 500 });
    await createService(ana);
    await until(
      () => deliveriesOf(ana),
      ([newest]) => newest?.last_status === 500,
    );
    expect(await endpointOf(ana, endpoint)).toMatchObject({ enabled: true });
  });

  test("signs with the new secret and, for a while, with the one before", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    const rotate = (body?: object) =>
      answerOf<Endpoint & { secret: string }>(
        webhooks(ana, `/endpoints/${endpoint.id}/rotate-secret`, { method: "POST", body }),
      );
    const next = async () => {
      const tries = receiver.received.length + 1;
      await sendTest(ana, endpoint);
      return (await receiver.count(tries)).at(-1) as Received;
    };

    const { secret } = await rotate();
    const both = await next();
    expect(secret).not.toBe(endpoint.secret);
    expect(verified(both, secret)).toEqual(verified(both, endpoint.secret));

    await sql`
      update private.webhook_previous_secrets set expires_at = expires_at - interval '1 day'
      where endpoint_id = ${endpoint.id}`;
    const later = await next();
    expect(verified(later, secret).type).toBe("webhook.test");
    expect(() => verified(later, endpoint.secret)).toThrow(WebhookVerificationError);

    const { secret: third } = await rotate({ grace: 0 });
    const last = await next();
    expect(verified(last, third).type).toBe("webhook.test");
    expect(() => verified(last, secret)).toThrow(WebhookVerificationError);
  });

  test("signs with every secret that has not expired, however often it was rotated", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    const rotate = async (grace?: number) => {
      const body = grace === undefined ? {} : { grace };
      const path = `/endpoints/${endpoint.id}/rotate-secret`;
      return (await answerOf<{ secret: string }>(webhooks(ana, path, { method: "POST", body })))
        .secret;
    };
    const next = async () => {
      const tries = receiver.received.length + 1;
      await sendTest(ana, endpoint);
      return (await receiver.count(tries)).at(-1) as Received;
    };

    const second = await rotate(3600);
    const third = await rotate();
    const all = await next();
    for (const secret of [endpoint.secret, second, third]) {
      expect(verified(all, secret).type).toBe("webhook.test");
    }
    // The first was given an hour, the second a day.
    await sql`
      update private.webhook_previous_secrets set expires_at = expires_at - interval '1 hour'
      where endpoint_id = ${endpoint.id}`;
    const later = await next();
    for (const secret of [second, third]) {
      expect(verified(later, secret).type).toBe("webhook.test");
    }
    expect(() => verified(later, endpoint.secret)).toThrow(WebhookVerificationError);

    await sql`select private.cleanup_webhooks()`;
    expect(
      await sql`
        select secret from private.webhook_previous_secrets where endpoint_id = ${endpoint.id}`,
    ).toEqual([{ secret: second }]);
  });

  test("keeps ten secrets from before at most; one without grace is always possible", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    const rotate = (grace: number) =>
      webhooks(ana, `/endpoints/${endpoint.id}/rotate-secret`, { method: "POST", body: { grace } });
    for (let i = 0; i < 10; i++) expect((await rotate(60)).status).toBe(200);
    expect(await refusalOf(rotate(60))).toEqual({
      status: 422,
      code: "too_many_secrets",
      details: null,
    });
    const { secret } = await answerOf<{ secret: string }>(rotate(0));
    await sendTest(ana, endpoint);
    const [received] = (await receiver.count(1)) as [Received];
    for (const signing of [secret, endpoint.secret]) {
      expect(verified(received, signing).type).toBe("webhook.test");
    }
    await sql`
      update private.webhook_previous_secrets set expires_at = now()
      where endpoint_id = ${endpoint.id} and secret = ${endpoint.secret}`;
    expect((await rotate(60)).status).toBe(200);
  });
});

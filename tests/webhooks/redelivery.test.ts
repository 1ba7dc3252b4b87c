/** Sending once more, and what an erased client leaves behind. */
import { describe, expect, test } from "vitest";
import { asCaller, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import {
  answerOf,
  type Delivery,
  deliveriesOf,
  type Endpoint,
  eventsOf,
  type Received,
  record,
  refusalOf,
  subscribe,
  subscribed,
  until,
  untilDelivery,
  verified,
  webhooks,
} from "../support/webhooks.ts";

const redeliver = (professional: Professional, { id }: { id: string }) =>
  webhooks(professional, `/deliveries/${id}/redeliver`, { method: "POST" });

const redeliverSince = (professional: Professional, { id }: { id: string }, since: string) =>
  webhooks(professional, `/endpoints/${id}/redeliver`, { method: "POST", body: { since } });

const enable = (professional: Professional, { id }: { id: string }, enabled: boolean) =>
  answerOf<Endpoint>(
    webhooks(professional, `/endpoints/${id}`, { method: "PATCH", body: { enabled } }),
  );

const ended = ({ status }: Delivery) => status !== "pending";

describe.concurrent("a delivery", () => {
  test("that arrived is sent again: same id and body, fresh timestamp, ten new tries", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    await createService(ana);
    const [delivery] = (await deliveriesOf(ana)) as [Delivery];
    await untilDelivery(ana, delivery.id, ended);
    // As if it had been sent an hour ago: receivers refuse a timestamp of more than five minutes.
    receiver.answer = () => ({ status: 500 });
    const response = await redeliver(ana, delivery);
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ queued: 1 });
    const [first, second] = (await receiver.count(2)) as [Received, Received];
    expect([second.id, second.body]).toEqual([first.id, first.body]);
    expect(Number(second.headers["webhook-timestamp"])).toBeGreaterThanOrEqual(
      Number(first.headers["webhook-timestamp"]),
    );
    expect(verified(second, endpoint.secret)).toEqual(verified(first, endpoint.secret));
    const after = await untilDelivery(ana, delivery.id, ({ last_status }) => last_status === 500);
    expect(after).toMatchObject({ status: "pending", attempts: 1 });
  });

  test("to a disabled endpoint is 409, and goes once it is enabled", async () => {
    const { ana, receiver, endpoint } = await subscribed();
    await createService(ana);
    const [delivery] = (await deliveriesOf(ana)) as [Delivery];
    await untilDelivery(ana, delivery.id, ended);
    await enable(ana, endpoint, false);
    const disabled = { status: 409, code: "endpoint_disabled", details: null };
    expect(await refusalOf(redeliver(ana, delivery))).toEqual(disabled);
    expect(await refusalOf(redeliverSince(ana, endpoint, "2026-01-01T00:00:00Z"))).toEqual(
      disabled,
    );
    expect(
      await refusalOf(webhooks(ana, `/endpoints/${endpoint.id}/test`, { method: "POST" })),
    ).toEqual(disabled);
    await enable(ana, endpoint, true);
    expect((await redeliver(ana, delivery)).status).toBe(202);
    await receiver.count(2);
  });
});

describe.concurrent("what was missed since", () => {
  test("is what failed, was cancelled or came while the endpoint was disabled; not what arrived", async () => {
    const { ana, receiver, endpoint } = await subscribed(undefined, {
      events: ["service.created"],
    });
    receiver.answer = () => ({ status: 500 });
    await createService(ana, { name: "before" });
    await receiver.count(1);
    receiver.answer = () => ({});
    await createService(ana, { name: "arrived" });
    await receiver.count(2);
    receiver.answer = () => ({ status: 500 });
    await createService(ana, { name: "cancelled" });
    await createService(ana, { name: "failed" });
    await until(
      () => deliveriesOf(ana),
      (all) => all.filter(({ last_status }) => last_status === 500).length === 3,
    );
    await sql`
      update private.webhook_deliveries d set status = 'failed', next_attempt_at = null
      from private.webhook_events e
      where e.id = d.event_id and d.professional_id = ${ana.id} and e.body like '%"failed"%'`;
    await enable(ana, endpoint, false);
    await createService(ana, { name: "disabled" });
    await createClientRow(ana, { name: "other type" });
    receiver.answer = () => ({});
    await enable(ana, endpoint, true);

    const events = await eventsOf(ana);
    const since = events.find(({ data }) => data.name === "arrived")?.timestamp ?? "";
    const response = await redeliverSince(ana, endpoint, since);
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ queued: 3 });
    const received = (await receiver.count(7)).slice(4);
    const names = received.map((one) => verified(one, endpoint.secret).data.name);
    expect(names.sort()).toEqual(["cancelled", "disabled", "failed"]);
    await until(
      () => deliveriesOf(ana, "?status=succeeded"),
      (all) => all.length === 4,
    );
    expect(await answerOf(redeliverSince(ana, endpoint, since))).toEqual({ queued: 0 });
  });

  test.each(["yesterday", "2027-01-01", "2027-01-01T00:00:00"])(
    "%s is 422: an instant has an offset",
    async (since) => {
      const ana = await createProfessional();
      const endpoint = await subscribe(ana, { url: "http://127.0.0.1:9/" });
      expect(await refusalOf(redeliverSince(ana, endpoint, since))).toMatchObject({
        status: 422,
        code: "invalid_time",
      });
    },
  );
});

describe("a client who is erased", () => {
  test("is in no event, delivery or try any more; what is told of it says nothing of before", async () => {
    const { ana, receiver } = await subscribed((received) => ({ body: received.body }));
    const secret = crypto.randomUUID();
    const mine = { name: `Marta ${secret}`, email: `${secret}@example.com`, phone: secret };
    const client = await createClientRow(ana, mine);
    const other = await createClientRow(ana, { name: "Somebody else" });
    const service = await createService(ana);
    const booking = await createBooking(ana, {
      client_id: client.id,
      service_id: service.id,
      starts_at: new Date(Date.now() + 86_400_000).toISOString(),
      internal_notes: secret,
    });
    const order = await createOrder(ana, { booking_id: booking.id, notes: secret } as never);
    const { error } = await ana.api.rpc("record_payment", {
      order_id: order.id,
      amount: 1,
      method: "cash",
      reference: secret,
    });
    expect(error).toBeNull();
    await ana.api
      .from("clients")
      .update({ email: `2-${secret}@example.com` })
      .eq("id", client.id);
    await receiver.count(7);
    await until(
      () => deliveriesOf(ana, "?status=succeeded"),
      (all) => all.length === 7,
    );
    const kept = () => sql`
      select body from private.webhook_events
      where professional_id = ${ana.id} and body like ${`%${secret}%`}
      union all
      select response from private.webhook_attempts
      where professional_id = ${ana.id} and response like ${`%${secret}%`}`;
    expect(await kept()).toHaveLength(10);

    const erased = await ana.api.rpc("erase_client", { client_id: client.id });
    expect(erased.error).toBeNull();
    expect(await kept()).toEqual([]);
    const events = await eventsOf(ana);
    expect(events.map(({ type, data, previous }) => [type, data.id, previous])).toEqual([
      ["client.created", other.id, null],
      ["service.created", service.id, null],
      ["client.updated", client.id, null],
      ["booking.updated", booking.id, null],
      ["order.updated", order.id, null],
    ]);
  });

  test("hides what was before in that event alone, also of changes in the same transaction", async () => {
    const ana = await createProfessional();
    await record(ana);
    const [client, other] = [await createClientRow(ana), await createClientRow(ana)];
    await asCaller(ana.claims, async (tx) => {
      await tx`select public.erase_client(${client.id})`;
      await tx`update public.clients set notes = 'n' where id = ${other.id}`;
    });
    const events = (await eventsOf(ana)).slice(-2);
    expect(events.map(({ data, previous }) => [data.id, previous])).toEqual([
      [client.id, null],
      [other.id, { notes: null }],
    ]);
  });

  test("is told of to receivers, and keeps pollers going", async () => {
    const ana = await createProfessional();
    await record(ana);
    const client = await createClientRow(ana);
    const [created] = await eventsOf(ana);
    await ana.api.rpc("erase_client", { client_id: client.id });
    const after = await eventsOf(ana, created?.sequence);
    expect(after.map(({ type, data }) => [type, data.name, data.email])).toEqual([
      ["client.updated", "Erased", null],
    ]);
    // Once more, because the answer was lost on its way: the news is not.
    await ana.api.rpc("erase_client", { client_id: client.id });
    expect(await eventsOf(ana, created?.sequence)).toEqual(after);
  });
});

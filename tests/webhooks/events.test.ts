/** Which change is which event, whichever path made it, and what an event says. */
import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { EVENT_SCHEMAS } from "../../reference/webhook-events.ts";
import { EVENT_TYPES, type EventType } from "../../supabase/functions/webhooks/event-types.ts";
import { anonymous, server } from "../support/callers.ts";
import { asCaller, sql, tryAsCaller } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type Professional,
  type Row,
} from "../support/factories.ts";
import {
  disputeOf,
  failRefund,
  recordDispute,
  recordRefund,
  refundOf,
} from "../support/payment-rpcs.ts";
import { canCharge, collect } from "../support/payments.ts";
import {
  answerOf,
  type Event,
  eventsOf,
  expectedEvent,
  record,
  subscribe,
  webhooks,
} from "../support/webhooks.ts";

const HOUR = 3_600_000;
const at = (hours: number) => new Date(Math.ceil(Date.now() / HOUR + hours) * HOUR).toISOString();

/** A professional whose events are recorded. */
async function recorded(profile: Parameters<typeof createProfessional>[0] = {}) {
  const professional = await createProfessional({
    accepts_bookings: true,
    accepts_orders: true,
    ...profile,
  });
  await record(professional);
  return professional;
}

/** What happens at a professional's while `work` runs. */
async function during(professional: Professional, work: () => Promise<unknown>): Promise<Event[]> {
  const before = (await eventsOf(professional)).at(-1)?.sequence ?? 0;
  await work();
  return eventsOf(professional, before);
}

async function typesDuring(professional: Professional, work: () => Promise<unknown>) {
  return (await during(professional, work)).map((event) => event.type);
}

/** Awaits calls of supabase-js in turn; each must succeed. */
async function must(...calls: PromiseLike<{ error: unknown }>[]): Promise<void> {
  for (const call of calls) {
    const { error } = await call;
    if (error) throw new Error(JSON.stringify(error));
  }
}

describe("bookings", () => {
  let ana: Professional;
  let service: Row<"services">;
  let client: Row<"clients">;
  let day = 0;

  /** A booking at a time that no other test uses; a pending one comes from the public. */
  const booking = (hours = 24 * ++day) =>
    createBooking(ana, { client_id: client.id, service_id: service.id, starts_at: at(hours) });

  const change = (row: { id: string }, values: object) =>
    must(ana.api.from("bookings").update(values).eq("id", row.id));

  beforeAll(async () => {
    ana = await recorded();
    service = await createService(ana, { max_advance_days: 1095 });
    client = await createClientRow(ana);
  });

  test("a new one is created, with the row as the API shows it", async () => {
    let row: object = {};
    const events = await during(ana, async () => {
      row = await booking();
    });
    expect(events).toEqual([{ ...expectedEvent(ana, "booking.created", {}, null), data: row }]);
  });

  test("each state is an event of its own, with what the changed fields were before", async () => {
    const row = await booking(-24 * ++day);
    const [cancelled, confirmed, completed, noShow] = await during(ana, async () => {
      await change(row, { status: "cancelled", cancel_reason: "ill" });
      await change(row, { status: "confirmed" });
      await change(row, { status: "completed" });
      await change(row, { status: "no_show" });
    });
    expect(cancelled).toEqual(
      expectedEvent(
        ana,
        "booking.cancelled",
        { id: row.id, status: "cancelled", cancelled_by: "owner" },
        { status: "confirmed", cancel_reason: null, cancelled_at: null, cancelled_by: null },
      ),
    );
    expect(confirmed).toEqual(
      expectedEvent(
        ana,
        "booking.confirmed",
        { status: "confirmed" },
        {
          status: "cancelled",
          cancel_reason: "ill",
          cancelled_at: cancelled?.data.cancelled_at,
          cancelled_by: "owner",
        },
      ),
    );
    expect(completed?.type).toBe("booking.completed");
    expect(noShow).toEqual(
      expectedEvent(ana, "booking.no_show", { status: "no_show" }, { status: "completed" }),
    );
  });

  test("a moved one is rescheduled, any other change is an update", async () => {
    const row = await booking();
    const events = await during(ana, async () => {
      await change(row, { starts_at: at(24 * ++day) });
      await change(row, { internal_notes: "brings a dog" });
    });
    expect(events.map(({ type, previous }) => [type, previous])).toEqual([
      ["booking.rescheduled", { starts_at: row.starts_at, ends_at: row.ends_at }],
      ["booking.updated", { internal_notes: null }],
    ]);
  });

  test("one statement is one event: the state before the time, the time before the rest", async () => {
    const [first, second] = [await booking(), await booking()];
    const events = await during(ana, async () => {
      await change(first, { starts_at: at(24 * ++day), notes: "later" });
      await change(second, { status: "cancelled", notes: "no" });
    });
    expect(events.map(({ type }) => type)).toEqual(["booking.rescheduled", "booking.cancelled"]);
    expect(events[0]?.previous).toEqual({
      starts_at: first.starts_at,
      ends_at: first.ends_at,
      notes: null,
    });
  });

  test("a client who moves a confirmed one that needs confirmation reschedules it", async () => {
    const careful = await createService(ana, { requires_confirmation: true, min_notice: 0 });
    const portal = await createPortalSession(client);
    const row = await createBooking(ana, {
      client_id: client.id,
      service_id: careful.id,
      starts_at: at(24 * ++day),
    });
    const availability = { weekly: allDay() };
    await must(ana.api.from("profiles").update({ availability }).eq("id", ana.id));
    const events = await during(ana, () =>
      must(
        portal.api.rpc("reschedule_booking", { booking_id: row.id, starts_at: at(24 * ++day) }),
        ana.api.from("bookings").update({ status: "confirmed" }).eq("id", row.id),
        portal.api.rpc("cancel_booking", { booking_id: row.id }),
      ),
    );
    expect(events.map(({ type }) => type)).toEqual([
      "booking.rescheduled",
      "booking.confirmed",
      "booking.cancelled",
    ]);
    expect(events[0]?.previous).toMatchObject({ status: "confirmed" });
    expect(events[2]?.data).toMatchObject({ cancelled_by: "client" });
  });

  test("one that the public makes tells of the client it made, too", async () => {
    const events = await during(ana, () =>
      must(
        anonymous().rpc("create_booking", {
          service_id: service.id,
          starts_at: at(24 * ++day),
          client_name: "Ann",
          client_email: `ann-${crypto.randomUUID()}@example.com`,
        }),
      ),
    );
    expect(events.map(({ type }) => type)).toEqual(["client.created", "booking.created"]);
    expect(events[1]?.data).toMatchObject({ source: "public", client_id: events[0]?.data.id });
  });

  test("a repeated state and an unchanged field are no event", async () => {
    const row = await booking();
    const work = async () => {
      await change(row, { status: "confirmed" });
      await change(row, { notes: null, metadata: {} });
      await must(
        ana.api.rpc("reschedule_booking", { booking_id: row.id, starts_at: row.starts_at }),
      );
    };
    expect(await typesDuring(ana, work)).toEqual([]);
  });

  test("blocked time is no event, whatever becomes of it", async () => {
    const work = async () => {
      const [starts_at, ends_at] = [at(24 * ++day), at(24 * day + 2)];
      const row = await createBooking(ana, { starts_at, ends_at });
      await change(row, { starts_at: at(24 * ++day) });
      await change(row, { status: "cancelled" });
    };
    expect(await typesDuring(ana, work)).toEqual([]);
  });
});

const allDay = () =>
  Object.fromEntries(
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map((day) => [day, [["00:00", "24:00"]]]),
  );

describe("orders and payments", () => {
  let ana: Professional;
  let client: Row<"clients">;
  let product: Row<"products">;

  const order = () =>
    createOrder(ana, {
      client_id: client.id,
      items: [{ product_id: product.id, quantity: 2 }] as never,
    });
  const change = (row: { id: string }, values: object) =>
    must(ana.api.from("orders").update(values).eq("id", row.id));

  beforeAll(async () => {
    ana = await recorded();
    client = await createClientRow(ana);
    product = await createProduct(ana, { price: 12.5 });
  });

  test("a new one is created, with the row as the API shows it", async () => {
    let row: object = {};
    const events = await during(ana, async () => {
      row = await order();
    });
    expect(events).toEqual([{ ...expectedEvent(ana, "order.created", {}, null), data: row }]);
  });

  test("each state is an event of its own; any other change is an update", async () => {
    const [sold, dropped] = [await order(), await order()];
    const events = await during(ana, async () => {
      await change(sold, { status: "confirmed" });
      await change(sold, { status: "confirmed" });
      await change(sold, { notes: "gift" });
      await change(sold, { status: "fulfilled", notes: "sent" });
      await change(dropped, { status: "cancelled" });
    });
    expect(events.map(({ type, previous }) => [type, previous])).toEqual([
      ["order.confirmed", { status: "pending" }],
      ["order.updated", { notes: null }],
      ["order.fulfilled", { status: "confirmed", notes: "gift" }],
      ["order.cancelled", { status: "pending" }],
    ]);
  });

  test("a payment and a refund are one event each, with what became of the order", async () => {
    const row = await order();
    const events = await during(ana, () =>
      must(
        ana.api.rpc("record_payment", { order_id: row.id, amount: 20.5, method: "cash" }),
        ana.api.rpc("refund_payment", { order_id: row.id, amount: 0.5, reason: "rounding" }),
        server().rpc("record_payment", {
          order_id: row.id,
          amount: 5,
          method: "card",
          reference: `ref-${row.id}`,
        }),
        // The same payment again.
        ana.api.rpc("record_payment", {
          order_id: row.id,
          amount: 5,
          method: "card",
          reference: `ref-${row.id}`,
        }),
      ),
    );
    const orderAs = (payment_status: string) => ({
      id: row.id,
      number: row.number,
      currency: "EUR",
      payment_status,
    });
    expect(events).toEqual([
      expectedEvent(
        ana,
        "payment.succeeded",
        { amount: 20.5, method: "cash", order: orderAs("partially_paid") },
        null,
      ),
      expectedEvent(
        ana,
        "payment.refunded",
        { amount: 0.5, reason: "rounding", order: orderAs("partially_refunded") },
        null,
      ),
      expectedEvent(
        ana,
        "payment.succeeded",
        { amount: 5, reference: `ref-${row.id}`, order: orderAs("paid") },
        null,
      ),
    ]);
  });

  test("an order that is rolled back is no event, one that stays is", async () => {
    const place = (tx: TransactionSql) =>
      tx`insert into public.orders (client_id, items)
        values (${client.id}, ${sql.json([{ product_id: product.id, quantity: 1 }])})`;
    expect(await typesDuring(ana, () => tryAsCaller(ana.claims, place))).toEqual([]);
    expect(await typesDuring(ana, () => asCaller(ana.claims, place))).toEqual(["order.created"]);
  });

  test("an order that fails at its last step is no event", async () => {
    const work = async () => {
      const { error } = await anonymous().rpc("place_order", {
        professional_id: ana.id,
        items: [{ product_id: product.id, quantity: 1 }] as never,
        client_name: "Ann",
        client_email: "ann@example.com",
        expected_total: 1,
      });
      expect(error?.code).toBe("total_changed");
    };
    expect(await typesDuring(ana, work)).toEqual([]);
  });
});

describe("products, clients and services", () => {
  let ana: Professional;
  beforeAll(async () => {
    ana = await recorded();
  });

  test.each(["services", "clients", "products"] as const)(
    "%s are created, updated and deleted",
    async (table) => {
      const object = table.slice(0, -1);
      let created: Row<"services" | "clients" | "products"> | undefined;
      const events = await during(ana, async () => {
        created =
          table === "services"
            ? await createService(ana)
            : table === "clients"
              ? await createClientRow(ana)
              : await createProduct(ana);
        const { id } = created;
        await must(
          ana.api.from(table).update({ name: "Other" }).eq("id", id),
          ana.api.from(table).update({ name: "Other" }).eq("id", id),
          ana.api.from(table).delete().eq("id", id),
        );
      });
      expect(events).toEqual([
        { ...expectedEvent(ana, `${object}.created`, {}, null), data: created },
        expectedEvent(ana, `${object}.updated`, { name: "Other" }, { name: created?.name }),
        expectedEvent(ana, `${object}.deleted`, { id: created?.id, name: "Other" }, null),
      ]);
    },
  );

  test("an upsert of what is there is an update, or nothing", async () => {
    const { name, email } = await createClientRow(ana);
    const upsert = (values: { name: string; phone?: string }) =>
      must(
        ana.api
          .from("clients")
          .upsert({ email, ...values } as never, { onConflict: "professional_id,email_key" }),
      );
    expect(await typesDuring(ana, () => upsert({ name }))).toEqual([]);
    expect(await typesDuring(ana, () => upsert({ name, phone: "1" }))).toEqual(["client.updated"]);
  });

  test("a client who corrects the own name in the portal updates the client", async () => {
    const client = await createClientRow(ana);
    const portal = await createPortalSession(client);
    const events = await during(ana, () =>
      must(portal.api.from("clients").update({ name: "Marta Verdi" }).eq("id", client.id)),
    );
    expect(events).toEqual([
      expectedEvent(ana, "client.updated", { name: "Marta Verdi" }, { name: client.name }),
    ]);
  });

  test("stock that crosses low_stock_at or 0 says so, instead of updated", async () => {
    const product = await createProduct(ana, { stock: 10, low_stock_at: 3 });
    const take = (delta: number) =>
      must(ana.api.rpc("adjust_stock", { product_id: product.id, delta, reason: "counted" }));
    const events = await during(ana, async () => {
      await take(-6);
      await take(-1);
      await take(-1);
      await take(-2);
      await must(ana.api.from("products").update({ price: 13 }).eq("id", product.id));
      await take(1);
      await take(9);
      await must(ana.api.from("products").update({ stock: 0, price: 9 }).eq("id", product.id));
    });
    expect(events.map(({ type, data }) => [type, data.stock])).toEqual([
      ["product.updated", 4],
      ["product.low_stock", 3],
      ["product.updated", 2],
      ["product.out_of_stock", 0],
      ["product.updated", 0],
      ["product.updated", 1],
      ["product.updated", 10],
      ["product.out_of_stock", 0],
    ]);
    expect(events.at(-1)?.previous).toEqual({ stock: 10, price: 13, in_stock: true });
  });

  test("what becomes of a variant is told of the variant alone, not of the product it hangs on", async () => {
    const shirt = await createProduct(ana, { name: "Shirt" });
    const told: [type: string, id: unknown][] = (
      await during(ana, async () => {
        const variant = await createProduct(ana, { parent_id: shirt.id, stock: 0 });
        const products = () => ana.api.from("products");
        await must(products().update({ stock: 1 }).eq("id", variant.id));
        await must(products().update({ active: false }).eq("id", variant.id));
        await must(products().update({ active: true }).eq("id", variant.id));
        await must(products().update({ stock: 0 }).eq("id", variant.id));
        await must(products().update({ stock: 0 }).eq("id", shirt.id));
        await must(products().delete().eq("id", variant.id));
      })
    ).map(({ type, data }) => [type, data.id === shirt.id ? "shirt" : "variant"]);
    expect(told).toEqual([
      ["product.created", "variant"],
      ["product.updated", "variant"],
      ["product.updated", "variant"],
      ["product.updated", "variant"],
      ["product.out_of_stock", "variant"],
      ["product.updated", "shirt"],
      ["product.deleted", "variant"],
    ]);
  });

  test("an order that takes the last pieces tells of order and stock, its cancellation of both", async () => {
    const product = await createProduct(ana, { stock: 2 });
    const client = await createClientRow(ana);
    const events = await during(ana, async () => {
      const items = [{ product_id: product.id, quantity: 2 }] as never;
      const order = await createOrder(ana, { client_id: client.id, items });
      await must(ana.api.from("orders").update({ status: "cancelled" }).eq("id", order.id));
    });
    expect(events.map(({ type }) => type).sort()).toEqual([
      "order.cancelled",
      "order.created",
      "product.out_of_stock",
      "product.updated",
    ]);
  });

  test("server and SQL make events like everybody", async () => {
    const values = { professional_id: ana.id, name: "Ivo" };
    const events = await during(ana, async () => {
      await must(
        server()
          .from("clients")
          .insert(values as never),
      );
      await sql`insert into public.clients ${sql(values)}`;
    });
    expect(events.map(({ type }) => type)).toEqual(["client.created", "client.created"]);
  });
});

describe("recording", () => {
  test("starts with the first endpoint: before it a change leaves nothing", async () => {
    const ana = await createProfessional();
    await createService(ana);
    const counted = () => sql`
      select from private.webhook_events where professional_id = ${ana.id}`;
    expect(await counted()).toHaveLength(0);
    await record(ana);
    await createService(ana);
    expect(await counted()).toHaveLength(1);
  });

  test("goes on for a disabled endpoint, and delivers nothing to it", async () => {
    const ana = await recorded();
    await createService(ana);
    expect((await eventsOf(ana)).map(({ type }) => type)).toEqual(["service.created"]);
    expect(
      await sql`
      select from private.webhook_deliveries where professional_id = ${ana.id}`,
    ).toHaveLength(0);
  });

  test("is each professional's own", async () => {
    const [ana, ivo] = [await recorded(), await recorded()];
    await createService(ana);
    expect(await eventsOf(ivo)).toEqual([]);
    expect(await eventsOf(ana)).toHaveLength(1);
  });

  test("of an account that is deleted leaves nothing, and does not keep it from going", async () => {
    const ana = await recorded();
    const service = await createService(ana);
    const client = await createClientRow(ana);
    await createBooking(ana, { client_id: client.id, service_id: service.id, starts_at: at(24) });
    await sql`delete from auth.users where id = ${ana.id}`;
    for (const table of ["endpoints", "events", "deliveries"]) {
      expect(
        await sql`
        select from private.${sql(`webhook_${table}`)} where professional_id = ${ana.id}`,
      ).toHaveLength(0);
    }
  });

  test("numbers grow in the order of the changes", async () => {
    const ana = await recorded();
    for (const name of ["a", "b", "c"]) await createService(ana, { name });
    const events = await eventsOf(ana);
    expect(events.map(({ data }) => data.name)).toEqual(["a", "b", "c"]);
    const sequences = events.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(new Set(sequences).size).toBe(3);
  });

  test("numbers say nothing of how many events others have", async () => {
    const [ana, eva] = await Promise.all([recorded(), recorded()]);
    await createService(ana);
    for (let n = 0; n < 3; n++) await createService(eva);
    await createService(ana);
    expect((await eventsOf(ana)).map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect((await eventsOf(eva)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  test("numbers of erased events are not given again, so that a poller misses none", async () => {
    const ana = await recorded();
    const client = await createClientRow(ana);
    const last = (await eventsOf(ana)).at(-1)?.sequence as number;
    const { error } = await ana.api.rpc("erase_client", { client_id: client.id });
    expect(error).toBeNull();
    const news = await eventsOf(ana, last);
    expect(news.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["client.updated", last + 1],
    ]);
  });
});

describe("a body", () => {
  test("has its timestamps in UTC with milliseconds, whatever the session says", async () => {
    const ana = await recorded();
    const service = await createService(ana);
    const client = await createClientRow(ana);
    const starts = at(24);
    await asCaller(ana.claims, async (tx) => {
      await tx`set local time zone 'Asia/Kolkata'`;
      await tx`set local datestyle to 'German'`;
      await tx`set local intervalstyle to 'sql_standard'`;
      await tx`insert into public.bookings (client_id, service_id, starts_at)
        values (${client.id}, ${service.id}, ${starts}::text::timestamptz)`;
    });
    const [row] = await answerRows(ana);
    const event = (await eventsOf(ana)).at(-1);
    expect(event?.data).toEqual(row);
    expect(event?.data.starts_at).toBe(starts);
    expect(Date.parse(event?.timestamp ?? "")).toBeLessThanOrEqual(Date.now());
  });

  test("keeps numbers as numbers", async () => {
    const ana = await recorded();
    const metadata = { n: 1.5, big: 12345678901, list: [0.1], text: "1.50" };
    await createProduct(ana, { price: 30.5, metadata });
    expect((await eventsOf(ana)).at(-1)?.data).toMatchObject({ price: 30.5, metadata });
  });
});

async function answerRows(professional: Professional): Promise<Row<"bookings">[]> {
  const { data, error } = await professional.api.from("bookings").select("*");
  if (error) throw new Error(JSON.stringify(error));
  return data;
}

describe("the schemas", () => {
  test("are for the types that the database knows", async () => {
    const [row] = await sql`select private.webhook_event_types() as types`;
    expect(row?.types).toEqual([...EVENT_TYPES]);
  });

  test("hold for a real event of every type", async () => {
    const ana = await recorded();
    await must(
      ana.api
        .from("profiles")
        .update({ availability: { weekly: allDay() } })
        .eq("id", ana.id),
    );
    const sink = await subscribe(ana, { url: "http://127.0.0.1:9/", events: ["webhook.test"] });
    await answerOf(webhooks(ana, `/endpoints/${sink.id}/test`, { method: "POST" }));

    const gone = await createService(ana, { metadata: { a: [1] } });
    const service = await createService(ana, {
      description: "d",
      category: "c",
      image_url: "https://example.com/a.png",
      slot_step: 15,
      requires_confirmation: true,
    });
    const client = await createClientRow(ana, { phone: "1", notes: "n", tags: ["vip"] });
    const lonely = await createClientRow(ana, { email: null });
    const product = await createProduct(ana, {
      sku: "A-1",
      options: { size: "M" },
      stock: 5,
      low_stock_at: 2,
    });
    const variant = await createProduct(ana, { parent_id: product.id, name: "S" });
    await must(
      ana.api.from("services").update({ active: false }).eq("id", gone.id),
      ana.api.from("services").delete().eq("id", gone.id),
      ana.api
        .from("clients")
        .update({ tags: ["new"] })
        .eq("id", lonely.id),
      ana.api.from("clients").delete().eq("id", lonely.id),
      ana.api.from("products").update({ name: "M" }).eq("id", variant.id),
      ana.api.from("products").delete().eq("id", variant.id),
      ana.api.from("products").update({ stock: 1 }).eq("id", product.id),
      ana.api.from("products").update({ stock: 0 }).eq("id", product.id),
    );

    const { data: receipt, error } = await anonymous().rpc("create_booking", {
      service_id: service.id,
      starts_at: at(24),
      client_name: "Ann",
      client_email: client.email ?? "",
    });
    if (error) throw new Error(JSON.stringify(error));
    const id = receipt.id ?? "";
    const bookings = () => ana.api.from("bookings");
    await must(
      bookings().update({ status: "confirmed" }).eq("id", id),
      bookings()
        .update({ starts_at: at(-24) })
        .eq("id", id),
      bookings().update({ status: "completed" }).eq("id", id),
      bookings().update({ status: "no_show", notes: "n" }).eq("id", id),
      bookings()
        .update({ metadata: { a: 1 } })
        .eq("id", id),
    );
    const second = await createBooking(ana, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at(48),
    });
    await must(bookings().update({ status: "cancelled", cancel_reason: "r" }).eq("id", second.id));

    const order = await createOrder(ana, { booking_id: id } as never);
    const other = await createOrder(ana, {
      client_id: client.id,
      items: [{ service_id: service.id, quantity: 1 }] as never,
      kind: "service",
      shipping_address: { city: "Rome" },
    });
    const orders = () => ana.api.from("orders");
    await must(
      orders().update({ notes: "n" }).eq("id", order.id),
      orders().update({ status: "confirmed" }).eq("id", order.id),
      orders().update({ status: "fulfilled" }).eq("id", order.id),
      orders().update({ status: "cancelled" }).eq("id", other.id),
      ana.api.rpc("record_payment", { order_id: order.id, amount: 30, method: "cash" }),
      ana.api.rpc("refund_payment", { order_id: order.id, amount: 10, reason: "r" }),
    );

    await canCharge(ana);
    const paid = await createOrder(ana, {
      client_id: client.id,
      items: [{ name: "Wax", unit_price: 5, quantity: 1 }] as never,
    });
    await collect(paid, 5);
    const [{ account_id, payment_intent }] = await sql<
      [{ account_id: string; payment_intent: string }]
    >`select account_id, payment_intent from private.checkouts where order_id = ${paid.id}`;
    const refund = refundOf(payment_intent, 500);
    await recordRefund(account_id, refund);
    await recordRefund(account_id, { ...refund, status: "failed" });
    await recordDispute(account_id, disputeOf(payment_intent, [-500, 500], { status: "lost" }));
    await must(orders().update({ status: "cancelled" }).eq("id", paid.id));
    const [{ id: due }] = await sql<[{ id: string }]>`
      select r.id from private.provider_refunds r
      join private.payments p on p.id = r.payment_id
      where p.order_id = ${paid.id} and r.status = 'due'`;
    await failRefund(due);

    const providerId = crypto.randomUUID();
    await sql`
      insert into private.mails (
        professional_id, audience, kind, client_id, status, due_at, recipient, provider_id
      )
      values (
        ${ana.id}, 'client', 'booking_confirmed', ${client.id}, 'sent', null, ${client.email},
        ${providerId}
      )`;
    await must(server().rpc("record_mail_event", { provider_id: providerId, type: "bounced" }));

    const events = await eventsOf(ana);
    for (const event of events) {
      const schema = EVENT_SCHEMAS[event.type as EventType];
      expect([event.type, schema.safeParse(event).error]).toEqual([event.type, undefined]);
    }
    expect([...new Set(events.map(({ type }) => type))].sort()).toEqual([...EVENT_TYPES].sort());
  });
});

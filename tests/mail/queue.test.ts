/** Which change queues a mail to whom, whichever path made it. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { everyDay } from "../support/calendar.ts";
import { type Api, anonymous, request, server } from "../support/callers.ts";
import { asCaller, sql, tryAsCaller } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type PortalSession,
  type Professional,
  type Row,
} from "../support/factories.ts";
import { mailsOf, newsOf } from "../support/mail.ts";
import { stack } from "../support/stack.ts";

const HOUR = 3_600_000;
/** So many hours from now, on the hour. */
const at = (hours: number) => new Date(Math.ceil(Date.now() / HOUR + hours) * HOUR).toISOString();

/** Awaits calls of supabase-js in turn; each must succeed. */
async function must(...calls: PromiseLike<{ error: unknown }>[]): Promise<void> {
  for (const call of calls) {
    const { error } = await call;
    if (error) throw new Error(JSON.stringify(error));
  }
}

interface Studio {
  ana: Professional;
  service: Row<"services">;
  client: Row<"clients">;
  portal: PortalSession;
}

async function studio(values: Parameters<typeof createService>[1] = {}): Promise<Studio> {
  const ana = await createProfessional({
    accepts_bookings: true,
    accepts_orders: true,
    availability: everyDay(["00:00", "24:00"]) as never,
  });
  const [service, client] = await Promise.all([createService(ana, values), createClientRow(ana)]);
  return { ana, service, client, portal: await createPortalSession(client) };
}

const appointment = ({ client, service }: Studio, hours = 48) => ({
  client_id: client.id,
  service_id: service.id,
  starts_at: at(hours),
});

const book = (api: Api, { service }: Studio, values: Record<string, unknown> = {}) =>
  api.rpc("create_booking", {
    service_id: service.id,
    starts_at: at(72),
    client_name: "Luca Conti",
    client_email: `luca-${randomUUID()}@example.com`,
    ...values,
  });

const change = (api: Api, id: string, values: Record<string, unknown>) =>
  api
    .from("bookings")
    .update(values as never)
    .eq("id", id);

/** What is queued while `work` runs. */
async function newsDuring(ana: Professional, work: () => PromiseLike<unknown>): Promise<string[]> {
  const before = new Set((await mailsOf(ana)).map(({ id }) => id));
  await work();
  const mails = (await mailsOf(ana)).filter(({ id }) => !before.has(id));
  return mails.map(({ audience, kind }) => `${audience} ${kind}`).sort();
}

describe("a new booking", () => {
  let other: Professional;
  beforeAll(async () => {
    other = await createProfessional();
  });

  test("of the owner is told to the client, confirmed or received", async () => {
    const here = await studio();
    await createBooking(here.ana, appointment(here));
    await createBooking(here.ana, { ...appointment(here, 50), status: "pending" });
    expect(await newsOf(here.ana)).toEqual(["client booking_confirmed", "client booking_received"]);
  });

  test("of the public is told to both", async () => {
    const here = await studio();
    await must(book(anonymous(), here));
    expect(await newsOf(here.ana)).toEqual([
      "client booking_confirmed",
      "professional new_booking",
    ]);
  });

  test("that waits to be confirmed is received", async () => {
    const here = await studio({ requires_confirmation: true });
    await must(book(anonymous(), here));
    expect(await newsOf(here.ana)).toEqual(["client booking_received", "professional new_booking"]);
  });

  test("in the portal, or by a professional as the public, is told to both", async () => {
    const here = await studio();
    await must(
      here.portal.api.rpc("create_booking", { service_id: here.service.id, starts_at: at(24) }),
      book(other.api, here),
    );
    expect((await newsOf(here.ana)).filter((news) => news.startsWith("professional"))).toHaveLength(
      2,
    );
  });

  test("that the professional makes on the own page is no news to the professional", async () => {
    const here = await studio();
    await must(book(here.ana.api, here));
    expect(await newsOf(here.ana)).toEqual(["client booking_confirmed"]);
  });

  test("of a server is told to the client, and to the professional unless it is the owner's", async () => {
    const here = await studio();
    const row = { professional_id: here.ana.id, ...appointment(here) };
    await must(
      server()
        .from("bookings")
        .insert(row as never),
    );
    expect(await newsOf(here.ana)).toEqual(["client booking_confirmed"]);
    await sql`
      insert into public.bookings ${sql({ ...row, starts_at: at(51), source: "public" } as never)}`;
    expect((await newsOf(here.ana)).slice(1)).toEqual([
      "client booking_confirmed",
      "professional new_booking",
    ]);
  });

  test("is told to nobody when it is rolled back, blocked time, or past", async () => {
    const here = await studio();
    await tryAsCaller(here.ana.claims, async (tx) => {
      await tx`insert into public.bookings ${tx(appointment(here) as never)}`;
      expect(await tx`select 1 as here`).toHaveLength(1);
    });
    await createBooking(here.ana, { starts_at: at(60), ends_at: at(61) });
    await createBooking(here.ana, appointment(here, -48));
    expect(await newsOf(here.ana)).toEqual([]);
  });

  test("says which booking and whose, and nothing of what it says", async () => {
    const here = await studio();
    const booking = await createBooking(here.ana, { ...appointment(here), notes: "secret" });
    const [mail] = await mailsOf(here.ana);
    expect(mail).toMatchObject({
      client_id: here.client.id,
      booking_id: booking.id,
      order_id: null,
      detail: {},
    });
    expect(JSON.stringify(mail)).not.toContain("secret");
  });
});

describe("a change of a booking", () => {
  test("by the owner is told to the client alone: confirmed, moved, cancelled", async () => {
    const here = await studio();
    const { id } = await createBooking(here.ana, { ...appointment(here), status: "pending" });
    const during = (values: Record<string, unknown>) =>
      newsDuring(here.ana, () => must(change(here.ana.api, id, values)));
    expect(await during({ status: "confirmed" })).toEqual(["client booking_confirmed"]);
    expect(await during({ starts_at: at(50) })).toEqual(["client booking_moved"]);
    expect(await during({ status: "cancelled" })).toEqual(["client booking_cancelled"]);
  });

  test("by the client is told to both", async () => {
    const here = await studio();
    const { id } = await createBooking(here.ana, appointment(here));
    const { api } = here.portal;
    const moved = await newsDuring(here.ana, () =>
      must(api.rpc("reschedule_booking", { booking_id: id, starts_at: at(60) })),
    );
    expect(moved).toEqual(["client booking_moved", "professional booking_moved"]);
    const cancelled = await newsDuring(here.ana, () =>
      must(api.rpc("cancel_booking", { booking_id: id })),
    );
    expect(cancelled).toEqual(["client booking_cancelled", "professional booking_cancelled"]);
  });

  test("by a server or in SQL is told to the client", async () => {
    const here = await studio();
    const { id } = await createBooking(here.ana, appointment(here));
    const news = await newsDuring(here.ana, async () => {
      await must(server().rpc("reschedule_booking", { booking_id: id, starts_at: at(60) }));
      await sql`update public.bookings set status = 'cancelled' where id = ${id}`;
    });
    expect(news).toEqual(["client booking_cancelled", "client booking_moved"]);
  });

  test("that tells nothing of time or state is no news, nor is one of what is over", async () => {
    const here = await studio();
    const soon = await createBooking(here.ana, appointment(here));
    const past = await createBooking(here.ana, appointment(here, -48));
    const news = await newsDuring(here.ana, () =>
      must(
        change(here.ana.api, soon.id, { notes: "n", metadata: { a: 1 } }),
        change(here.ana.api, soon.id, { status: "confirmed", starts_at: soon.starts_at }),
        change(here.ana.api, past.id, { status: "completed" }),
        change(here.ana.api, past.id, { status: "no_show" }),
        change(here.ana.api, soon.id, { starts_at: at(-24) }),
        change(here.ana.api, soon.id, { status: "cancelled" }),
      ),
    );
    expect(news).toEqual([]);
  });

  test("of blocked time is nobody's news", async () => {
    const here = await studio();
    const { id } = await createBooking(here.ana, { starts_at: at(60), ends_at: at(61) });
    await must(
      change(here.ana.api, id, { starts_at: at(62) }),
      change(here.ana.api, id, { status: "cancelled" }),
    );
    expect(await newsOf(here.ana)).toEqual([]);
  });

  test("twenty times moved within a minute is one mail, that waits a minute for the next", async () => {
    const here = await studio();
    const booking = await createBooking(here.ana, appointment(here));
    for (let hours = 50; hours < 70; hours++) {
      await must(change(here.ana.api, booking.id, { starts_at: at(hours) }));
    }
    const moved = (await mailsOf(here.ana)).filter(({ kind }) => kind === "booking_moved");
    expect(moved).toHaveLength(1);
    const [mail] = moved as [(typeof moved)[0]];
    expect(new Date(mail.detail.starts_at as string).toISOString()).toBe(booking.starts_at);
    const waits = (mail.due_at as Date).getTime() - Date.now();
    expect(waits).toBeGreaterThan(30_000);
    expect(waits).toBeLessThanOrEqual(60_000);
  });

  test("moved again and again goes five minutes after the first", async () => {
    const here = await studio();
    const { id } = await createBooking(here.ana, appointment(here));
    await must(change(here.ana.api, id, { starts_at: at(50) }));
    await sql`
      update private.mails set created_at = now() - interval '4 minutes 30 seconds'
      where booking_id = ${id} and kind = 'booking_moved'`;
    await must(change(here.ana.api, id, { starts_at: at(51) }));
    const moved = (await mailsOf(here.ana)).filter(({ kind }) => kind === "booking_moved");
    expect(moved.map((mail) => Number(mail.due_at) - Number(mail.created_at))).toEqual([300_000]);
  });

  test("back and forth between two states has one mail of each waiting", async () => {
    const here = await studio();
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7306, 0)`;
      const [row] = await tx`
        insert into public.bookings ${tx({ professional_id: here.ana.id, ...appointment(here) } as never)}
        returning id`;
      for (const status of ["cancelled", "confirmed", "cancelled", "confirmed", "cancelled"]) {
        await tx`update public.bookings set status = ${status} where id = ${row?.id}`;
      }
      expect(await newsOf(here.ana, tx)).toEqual([
        "client booking_cancelled",
        "client booking_confirmed",
      ]);
    });
  });
});

describe("an order", () => {
  const order = async ({ ana, client }: Studio) => {
    const product = await createProduct(ana);
    return createOrder(ana, {
      client_id: client.id,
      items: [{ product_id: product.id, quantity: 1 }] as never,
    });
  };

  test("of the owner is told to the client: received, confirmed, cancelled", async () => {
    const here = await studio();
    const { id } = await order(here);
    expect(await newsOf(here.ana)).toEqual(["client order_received"]);
    const set = (status: string) => here.ana.api.from("orders").update({ status }).eq("id", id);
    const news = await newsDuring(here.ana, () =>
      must(set("confirmed"), here.ana.api.from("orders").update({ notes: "n" }).eq("id", id)),
    );
    expect(news).toEqual(["client order_confirmed"]);
    expect(await newsDuring(here.ana, () => must(set("cancelled")))).toEqual([
      "client order_cancelled",
    ]);
  });

  test("that is fulfilled is no news", async () => {
    const here = await studio();
    const { id } = await order(here);
    const set = (status: string) => here.ana.api.from("orders").update({ status }).eq("id", id);
    await must(set("confirmed"));
    expect(await newsDuring(here.ana, () => must(set("fulfilled")))).toEqual([]);
  });

  test("of the public or a client is told to both", async () => {
    const here = await studio();
    const product = await createProduct(here.ana);
    const items = [{ product_id: product.id, quantity: 1 }] as never;
    await must(
      anonymous().rpc("place_order", {
        professional_id: here.ana.id,
        items,
        client_name: "Luca",
        client_email: "luca@example.com",
      }),
      here.portal.api.rpc("place_order", { professional_id: here.ana.id, items }),
    );
    expect(await newsOf(here.ana)).toEqual([
      "client order_received",
      "client order_received",
      "professional new_order",
      "professional new_order",
    ]);
  });

  test("that is not paid in time is cancelled for the client's eyes alone", async () => {
    const here = await studio();
    const { id } = await order(here);
    const news = await newsDuring(here.ana, () =>
      sql.begin((tx) => tx`update public.orders set status = 'cancelled' where id = ${id}`),
    );
    expect(news).toEqual(["client order_cancelled"]);
  });

  test("that is paid: recorded by the owner told to the client, by a server to both; refunded to the client", async () => {
    const here = await studio();
    const { id } = await order(here);
    const pay = (api: Api, amount: number) =>
      api.rpc("record_payment", { order_id: id, amount, method: "card" });
    expect(await newsDuring(here.ana, () => must(pay(here.ana.api, 5)))).toEqual([
      "client payment_received",
    ]);
    expect(await newsDuring(here.ana, () => must(pay(server(), 7.5)))).toEqual([
      "client payment_received",
      "professional payment_received",
    ]);
    const refund = (api: Api) => api.rpc("refund_payment", { order_id: id, amount: 1 });
    expect(await newsDuring(here.ana, () => must(refund(here.ana.api), refund(server())))).toEqual([
      "client payment_refunded",
      "client payment_refunded",
    ]);
    const mails = (await mailsOf(here.ana)).filter(({ payment_id }) => payment_id);
    expect(new Set(mails.map(({ client_id }) => client_id))).toEqual(new Set([here.client.id]));
  });
});

describe("an import", () => {
  const importing = (token: string, path: string, body: unknown) =>
    request(`/rest/v1/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "x-mail": "none" },
      token,
    });

  test("of the owner or a server, with the header x-mail: none, mails nobody", async () => {
    const here = await studio();
    const answer = await importing(here.ana.token, "bookings", appointment(here));
    expect(answer.status).toBe(201);
    const served = await fetch(`${stack.apiUrl}/rest/v1/bookings`, {
      method: "POST",
      body: JSON.stringify({ professional_id: here.ana.id, ...appointment(here, 51) }),
      headers: {
        apikey: stack.secretKey,
        "content-type": "application/json",
        "x-mail": "none",
      },
    });
    expect(served.status).toBe(201);
    expect(await newsOf(here.ana)).toEqual([]);
  });

  test("of the public, or of another professional, is none", async () => {
    const here = await studio();
    const other = await createProfessional();
    for (const [token, hours] of [
      ["", 24],
      [other.token, 30],
      [here.portal.token, 36],
    ] as const) {
      const answer = await importing(token, "rpc/create_booking", {
        service_id: here.service.id,
        starts_at: at(hours),
        client_name: "Luca",
        client_email: "luca@example.com",
      });
      expect(answer.status).toBe(200);
    }
    expect(await newsOf(here.ana)).toHaveLength(6);
  });

  test("in SQL says it by a setting of the transaction", async () => {
    const here = await studio();
    await sql.begin(async (tx) => {
      await tx`select set_config('private.mail', 'none', true)`;
      await tx`
        insert into public.bookings ${tx({ professional_id: here.ana.id, ...appointment(here) } as never)}`;
    });
    expect(await newsOf(here.ana)).toEqual([]);
    await asCaller(
      here.ana.claims,
      (tx) => tx`
      insert into public.bookings ${tx(appointment(here, 51) as never)}`,
    );
    expect(await newsOf(here.ana)).toEqual(["client booking_confirmed"]);
  });
});

test("an account that goes takes its mails along", async () => {
  const here = await studio();
  await createBooking(here.ana, appointment(here));
  await sql`delete from auth.users where id = ${here.ana.id}`;
  expect(await mailsOf(here.ana)).toEqual([]);
});

describe("the queue itself refuses", () => {
  let owner: string;
  beforeAll(async () => {
    owner = (await createProfessional()).id;
  });
  const insert = (values: Record<string, unknown>) =>
    sql`insert into private.mails ${sql({ professional_id: owner, audience: "client", kind: "booking_reminder", ...values } as never)}`;

  test.each<[string, Record<string, unknown>]>([
    ["mails_status_is_known", { status: "lost", due_at: null }],
    ["mails_audience_is_known", { audience: "neighbour" }],
    ["mails_kind_is_known", { kind: "gossip" }],
    ["mails_kind_is_known", { audience: "professional", kind: "booking_reminder" }],
    ["mails_are_due_while_queued", { due_at: null }],
    ["mails_are_due_while_queued", { status: "sent" }],
    ["mails_provider_id_has_1_to_200_characters", { provider_id: "" }],
  ])("%s: %j", async (constraint_name, values) => {
    await expect(insert(values)).rejects.toMatchObject({ code: "23514", constraint_name });
  });

  test("a second reminder of one start, also when two jobs make it", async () => {
    const reminder = {
      booking_id: randomUUID(),
      told_starts_at: "2100-01-01T09:00:00Z",
      detail: sql.json({ minutes: 60 }),
      status: "dropped",
      due_at: null,
    };
    await insert(reminder);
    await expect(insert(reminder)).rejects.toMatchObject({
      code: "23505",
      constraint_name: "mails_one_reminder_of_a_start",
    });
    await insert({ ...reminder, detail: sql.json({ minutes: 30 }) });
  });
});

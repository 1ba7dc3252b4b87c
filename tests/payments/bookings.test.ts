/** Bookings of services that cost: held until they are paid. */
import type { Sql } from "postgres";
import { describe, expect, test } from "vitest";
import { dateIn, everyDay, instantOf, iso } from "../support/calendar.ts";
import { anonymous, request, server } from "../support/callers.ts";
import { answer, failure } from "../support/commerce.ts";
import { asCaller, parallelConnections, raised, rolledBack, sql } from "../support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createPortalSession,
  type Insert,
  type Professional,
} from "../support/factories.ts";
import { confirmHold, isOver, reportPortalAddress, rowOf, sweep } from "../support/holds.ts";
import { newsOf } from "../support/mail.ts";
import {
  askCheckout,
  beginCheckout,
  failCheckout,
  openPage,
  recordSession,
} from "../support/payment-rpcs.ts";
import {
  canCharge,
  closeCheckout,
  collect,
  endUnpaidHold,
  openCheckout,
  refundsOf,
  underTheLock,
} from "../support/payments.ts";
import { book, freeStarts, openProfessional, openService } from "../support/scheduling.ts";
import { eventsOf, record } from "../support/webhooks.ts";

const accountOf = async ({ id }: { id: string }) => {
  const [row] = await sql`select account_id from private.checkouts where order_id = ${id} limit 1`;
  return row?.account_id;
};

const ROME = "Europe/Rome";
const MINUTE = 60_000;
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));
const connections = parallelConnections(2);

interface Receipt {
  id: string;
  status: string;
  expires_at: string | null;
  order_id: string;
  checkout_token: string | null;
  amount_due: number | null;
}

/** A professional who can be paid, with a service of 50 that has to be. */
async function paid(
  values: Partial<Insert<"services">> = {},
  profile: Parameters<typeof openProfessional>[0] = {},
) {
  const professional = await openProfessional(profile);
  await canCharge(professional);
  const [service, client] = await Promise.all([
    openService(professional, { price: 50, payment: "full", ...values }),
    createClientRow(professional),
  ]);
  const hold = (time = "10:00", client_email?: string): Promise<Receipt> =>
    answer(book(anon, service, at(time), client_email ? { client_email } : {}));
  const own = (time: string) => ({
    client_id: client.id,
    service_id: service.id,
    starts_at: at(time),
  });
  return { professional, service, client, hold, own };
}

const orderOf = ({ order_id }: { order_id: string | null }) => ({ id: order_id as string });
const ordersOf = ({ id }: { id: string }) =>
  sql`select * from public.orders where professional_id = ${id}`;
const bookingsOf = ({ id }: { id: string }) =>
  sql`select * from public.bookings where professional_id = ${id}`;

async function statusOf(row: { id: string }): Promise<string> {
  const { status, cancelled_by } = await rowOf("bookings", row);
  return cancelled_by ? `${status} by ${cancelled_by}` : status;
}

const orderStatusOf = async (receipt: { order_id: string | null }) =>
  (await rowOf("orders", orderOf(receipt))).status as string;

/** Both are over by the clock. */
async function lapses(receipt: Receipt) {
  await isOver("orders", orderOf(receipt));
  await isOver("bookings", receipt);
}

/** Both are over, and the job has come by. */
async function ends(receipt: Receipt) {
  await lapses(receipt);
  await sweep("bookings", receipt);
}

describe("a booking of a service that costs", () => {
  test.each<[string, Partial<Insert<"services">>, object, number]>([
    ["all of it", { payment: "full" }, {}, 50],
    ["all of it, with the tax", { payment: "full" }, { tax_rate: 22 }, 61],
    ["its deposit", { payment: "deposit", deposit: 12.5 }, { tax_rate: 22 }, 12.5],
    ["all of it, as its deposit", { payment: "deposit", deposit: 50 }, {}, 50],
    ["all of it, whatever the deposit was", { payment: "full", deposit: 20 }, {}, 50],
  ])("is a hold with an order of its own: %s is due", async (_, values, profile, due) => {
    const { professional, hold } = await paid(values, profile);
    const receipt = await hold();

    expect(receipt).toMatchObject({ status: "pending", amount_due: due });
    expect(receipt.checkout_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const [row] = await bookingsOf(professional);
    expect(row?.expires_at - row?.created_at).toBe(45 * MINUTE);
    expect(receipt.expires_at).toBe(row?.expires_at.toISOString());
    const orders = await ordersOf(professional);
    expect(orders).toMatchObject([
      {
        id: receipt.order_id,
        booking_id: receipt.id,
        client_id: row?.client_id,
        kind: "service",
        source: "public",
        status: "pending",
        payment_status: "unpaid",
        deposit: values.payment === "deposit" ? String(values.deposit) : null,
        expires_at: row?.expires_at,
        checkout_open: false,
      },
    ]);
  });

  test("lasts for the professional's payment_minutes, and longer than until it begins", async () => {
    const { hold, service } = await paid(
      {},
      { payment_minutes: 1440, availability: everyDay(["00:00", "24:00"]) as never },
    );
    const [soon] = await freeStarts(anon, service, dateIn(0, ROME), dateIn(1, ROME));
    const receipts = [await hold(), await answer<Receipt>(book(anon, service, soon as string))];
    for (const receipt of receipts) {
      const row = await rowOf("bookings", receipt);
      expect(row.expires_at - row.created_at).toBe(1440 * MINUTE);
    }
  });

  test("that costs nothing, or need not be paid first, is what it was: no hold and no order", async () => {
    const { professional } = await paid();
    for (const [index, values] of [{ price: 0, payment: "full" }, { payment: "none" }].entries()) {
      const service = await openService(professional, values);
      expect(await answer(book(anon, service, at(`1${index}:00`)))).toMatchObject({
        status: "confirmed",
        expires_at: null,
        order_id: null,
        checkout_token: null,
        amount_due: null,
      });
    }
    expect(await ordersOf(professional)).toHaveLength(0);
  });

  test("is a hold for a portal client too, who keeps its own name on it", async () => {
    const { client, service } = await paid();
    const portal = await createPortalSession(client);
    const receipt = await answer<Receipt>(
      portal.api.rpc("create_booking", { service_id: service.id, starts_at: at("10:00") }),
    );
    expect(receipt).toMatchObject({ status: "pending", amount_due: 50 });
    expect(await rowOf("orders", orderOf(receipt))).toMatchObject({
      source: "portal",
      client_id: client.id,
    });
    const [order] = await answer<object[]>(portal.api.from("orders").select("id, deposit, total"));
    expect(order).toEqual({ id: receipt.order_id, deposit: null, total: 50 });
  });

  test("by the owner is never one, by which way it may be", async () => {
    const { professional, service, own } = await paid();
    expect(await createBooking(professional, own("10:00"))).toMatchObject({
      status: "confirmed",
      expires_at: null,
    });
    expect(await answer(book(professional.api, service, at("12:00")))).toMatchObject({
      status: "confirmed",
      expires_at: null,
      order_id: null,
    });
    expect(await ordersOf(professional)).toHaveLength(0);
  });

  test("replayed by its key has the same token", async () => {
    const { service, professional } = await paid();
    const call = () =>
      answer<Receipt>(
        book(anon, service, at("10:00"), {
          client_email: "ann@example.com",
          idempotency_key: professional.id,
        }),
      );
    const receipt = await call();
    expect(await call()).toEqual(receipt);
    await lapses(receipt);
    expect(await call()).toEqual({
      ...receipt,
      status: "cancelled",
      version: 3,
      expires_at: null,
      checkout_token: null,
      amount_due: null,
    });
  });

  test.each([
    ["payments_unavailable", false, 50],
    ["amount_not_payable", true, 0.01],
  ])("is 422 %s where nobody could pay it, and nothing is kept", async (code, can, price) => {
    const professional = await openProfessional();
    if (can) await canCharge(professional);
    const service = await openService(professional, { price, payment: "full" });
    expect(await failure(book(anon, service, at("10:00")))).toMatchObject({ status: 422, code });

    expect(await bookingsOf(professional)).toHaveLength(0);
    expect(await ordersOf(professional)).toHaveLength(0);
    const clients = await sql`
      select from public.clients where professional_id = ${professional.id}`;
    expect(clients).toHaveLength(0);
    expect(await freeStarts(anon, service, day)).toContain(at("10:00"));
  });

  test("is shown on the page with what has to be paid", async () => {
    const { professional } = await paid({ payment: "deposit", deposit: 20 });
    await openService(professional, { name: "Talk", payment: "none", deposit: 5 });
    const { username } = await rowOf("profiles" as never, professional);
    const page = await answer<{ services: object[] }>(anon.rpc("booking_page", { username }));
    expect(page.services).toMatchObject([
      { name: "Haircut", payment: "deposit", deposit: 20 },
      { name: "Talk", payment: "none", deposit: null },
    ]);
  });
});

describe("nobody hears of it", () => {
  test.each([false, true])(
    "until it is paid, and no link is mailed, verify_public_email: %s",
    async (verify_public_email) => {
      if (verify_public_email) await reportPortalAddress();
      const { professional, hold } = await paid({}, { verify_public_email });
      await record(professional);
      const before = (await eventsOf(professional)).at(-1)?.sequence ?? 0;
      const types = async () => (await eventsOf(professional, before)).map(({ type }) => type);
      const receipt = await hold("10:00", "new@example.com");
      expect(await newsOf(professional)).toEqual([]);
      expect(await types()).toEqual([]);

      await openCheckout(orderOf(receipt));
      await collect(orderOf(receipt), 50);

      expect(await rowOf("bookings", receipt)).toMatchObject({
        status: "confirmed",
        expires_at: null,
        checkout_open: false,
        email_confirmed_at: null,
      });
      expect(await rowOf("orders", orderOf(receipt))).toMatchObject({
        status: "pending",
        payment_status: "paid",
        expires_at: null,
      });
      expect(await newsOf(professional)).toEqual([
        "client booking_confirmed",
        "client payment_received",
        "professional new_booking",
        "professional payment_received",
      ]);
      expect(await types()).toEqual([
        "client.created",
        "booking.created",
        "order.created",
        "payment.succeeded",
      ]);
    },
  );

  test("but a hold beside it, in the same transaction, has its link", async () => {
    await reportPortalAddress();
    const { professional, service } = await paid({}, { verify_public_email: true });
    const free = await openService(professional);
    await asCaller({ role: "anon" }, async (tx) => {
      for (const [{ id }, time] of [
        [service, "10:00"],
        [free, "12:00"],
      ] as const) {
        await tx`select public.create_booking(${id}, ${at(time)}, 'Ann', ${`a@${id}.example`})`;
      }
    });
    expect(await newsOf(professional)).toEqual(["client booking_to_confirm"]);
  });

  test("nor when it was not paid, or was cancelled before", async () => {
    const { professional, hold } = await paid();
    await record(professional);
    const before = (await eventsOf(professional)).at(-1)?.sequence ?? 0;
    const [over, cancelled] = [await hold("10:00"), await hold("12:00")];
    await ends(over);
    await answer(professional.api.rpc("cancel_booking", { booking_id: cancelled.id }));

    expect([await statusOf(over), await statusOf(cancelled)]).toEqual([
      "cancelled by system",
      "cancelled by owner",
    ]);
    expect([await orderStatusOf(over), await orderStatusOf(cancelled)]).toEqual([
      "cancelled",
      "cancelled",
    ]);
    expect(await newsOf(professional)).toEqual([]);
    expect(await eventsOf(professional, before)).toEqual([]);
  });
});

describe("a hold that is paid", () => {
  test("is pending where the service requires confirmation", async () => {
    const { hold } = await paid({ requires_confirmation: true });
    const receipt = await hold();
    await collect(orderOf(receipt), 50);
    expect(await rowOf("bookings", receipt)).toMatchObject({ status: "pending", expires_at: null });
  });

  test("by its deposit is a booking, of which the rest can still be paid", async () => {
    const { professional, hold } = await paid({ payment: "deposit", deposit: 20 });
    const receipt = await hold();
    await collect(orderOf(receipt), 20);
    const moved = { booking_id: receipt.id, starts_at: at("11:00") };
    expect(await answer(professional.api.rpc("reschedule_booking", moved))).toMatchObject({
      status: "confirmed",
      order_id: receipt.order_id,
      checkout_token: receipt.checkout_token,
      amount_due: 30,
    });
    expect(await refundsOf(orderOf(receipt))).toEqual([]);
    await collect(orderOf(receipt), 30);
    expect(
      await answer(
        professional.api.rpc("reschedule_booking", { ...moved, starts_at: at("12:00") }),
      ),
    ).toMatchObject({ order_id: receipt.order_id, checkout_token: null, amount_due: null });
  });

  test("in cash is one too", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await answer(
      professional.api.rpc("record_payment", {
        order_id: receipt.order_id,
        amount: 50,
        method: "cash",
      }),
    );
    expect(await rowOf("bookings", receipt)).toMatchObject({
      status: "confirmed",
      expires_at: null,
    });
  });

  test("after it was over, before somebody came by, is one too", async () => {
    const { hold } = await paid();
    const receipt = await hold();
    // Neither is ended before both are found over.
    await openCheckout(orderOf(receipt));
    await lapses(receipt);
    await collect(orderOf(receipt), 50);
    expect(await statusOf(receipt)).toBe("confirmed");
  });

  test("cannot be confirmed by a link, for there is none", async () => {
    const { hold } = await paid();
    const receipt = await hold();
    const missing = { status: 404, code: "PGRST301" };
    expect(await failure(confirmHold("booking", receipt))).toMatchObject(missing);
    expect(await failure(confirmHold("order", orderOf(receipt)))).toMatchObject(missing);
    expect(await statusOf(receipt)).toBe("pending");
  });

  test("is not needed where the owner confirms by hand: the order is open", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await answer(
      professional.api.from("bookings").update({ status: "confirmed" }).eq("id", receipt.id),
    );
    expect(await rowOf("orders", orderOf(receipt))).toMatchObject({
      status: "pending",
      payment_status: "unpaid",
      expires_at: null,
    });
    // The owner knows.
    expect(await newsOf(professional)).toEqual(["client booking_confirmed"]);
  });

  test("an order that is cancelled takes its hold along", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await answer(
      professional.api.from("orders").update({ status: "cancelled" }).eq("id", receipt.order_id),
    );
    expect(await statusOf(receipt)).toBe("cancelled by owner");
  });
});

test("an order that is over before its booking takes it along, and nobody ended it", async () => {
  const { hold } = await paid();
  const receipt = await hold();
  await isOver("orders", orderOf(receipt));
  await sweep("orders", orderOf(receipt));
  expect(await statusOf(receipt)).toBe("cancelled by system");
  await collect(orderOf(receipt), 50);
  expect(await statusOf(receipt)).toBe("confirmed");
});

describe("while a payment page may be open", () => {
  test("a hold that is over by the clock is live for everybody", async () => {
    const { professional, service, client, hold, own } = await paid();
    const other = await hold("15:00");
    const receipt = await hold("10:00", client.email as string);
    const portal = await createPortalSession(client);
    const link = await createBookingSession((await rowOf("bookings", receipt)) as never);
    await openCheckout(orderOf(receipt));
    await lapses(receipt);

    const taken = { status: 409, code: "slot_taken" };
    expect(await freeStarts(anon, service, day)).not.toContain(at("10:00"));
    const slot = { service_id: service.id, starts_at: at("10:00") };
    expect(await answer(anon.rpc("explain_slot", slot))).toMatchObject({ reason: "slot_taken" });
    expect(await failure(book(anon, service, at("10:30")))).toMatchObject(taken);
    const insert = professional.api.from("bookings").insert(own("10:30"));
    expect(await failure(insert)).toMatchObject(taken);
    const move = professional.api.from("bookings").update({ starts_at: at("10:30") });
    expect(await failure(move.eq("id", other.id))).toMatchObject(taken);
    for (const { api } of [portal, link]) {
      const rows = await answer<object[]>(api.from("bookings").select("id"));
      expect(rows).toEqual([{ id: receipt.id }]);
    }
    expect(await answer(portal.api.from("orders").select("id"))).toEqual([
      { id: receipt.order_id },
    ]);
    await answer(professional.api.rpc("cancel_booking", { booking_id: other.id }));
    await sql`select private.lock_professional(${professional.id}),
      private.end_expired_holds(${professional.id})`;
    for (let runs = 0; runs < 5; runs++) await sql`select private.sweep_holds()`;
    expect(await statusOf(receipt)).toBe("pending");
    expect(await orderStatusOf(receipt)).toBe("pending");
    const again = { booking_id: receipt.id, starts_at: at("11:00") };
    expect(await answer(portal.api.rpc("reschedule_booking", again))).toMatchObject({
      status: "pending",
      amount_due: 50,
    });

    await endUnpaidHold(orderOf(receipt));

    expect(await statusOf(receipt)).toBe("cancelled by system");
    expect(await orderStatusOf(receipt)).toBe("cancelled");
    expect(await freeStarts(anon, service, day)).toContain(at("11:00"));
  });

  test("the job does not come by for it", async () => {
    const { hold } = await paid();
    const receipt = await hold();
    await openCheckout(orderOf(receipt));
    await lapses(receipt);
    const did = await rolledBack(async (tx) => {
      for (const table of ["bookings", "orders"]) {
        await tx`
          update public.${tx(table)} set expires_at = now() + interval '1 minute'
          where status = 'pending' and expires_at <= now() and not checkout_open`;
      }
      return (await tx`select private.sweep_holds() as did`)[0]?.did;
    });
    expect(did).toBe(false);
  });

  test("its end waits for the clock where the page was closed before", async () => {
    const { hold } = await paid();
    const receipt = await hold();
    await openCheckout(orderOf(receipt));
    await endUnpaidHold(orderOf(receipt));
    expect(await rowOf("bookings", receipt)).toMatchObject({
      status: "pending",
      checkout_open: false,
    });
    await openCheckout(orderOf(receipt));
    expect(await closeCheckout(orderOf(receipt))).toEqual(new Date(receipt.expires_at as string));
    await ends(receipt);
    expect(await statusOf(receipt)).toBe("cancelled by system");
  });

  test("a hold is prolonged once, when it is too short for a page", async () => {
    const { hold } = await paid();
    const receipt = await hold();
    const order = orderOf(receipt);
    expect(await openCheckout(order)).toEqual(new Date(receipt.expires_at as string));

    const shorten = async () => {
      for (const [table, id] of [
        ["orders", order.id],
        ["bookings", receipt.id],
      ] as const) {
        await sql`
          update public.${sql(table)} set expires_at = now() + interval '35 minutes'
          where id = ${id}`;
      }
    };
    await shorten();
    const before = Date.now();
    const end = (await openCheckout(order)) as Date;
    expect(end.getTime() - before).toBeGreaterThan(39 * MINUTE);
    expect(end.getTime() - before).toBeLessThan(41 * MINUTE);
    expect((await rowOf("bookings", receipt)).expires_at).toEqual(end);
    expect((await rowOf("orders", order)).expires_at).toEqual(end);
    // Enough is left.
    expect(await openCheckout(order)).toEqual(end);

    await shorten();
    expect(await raised(openCheckout(order))).toMatchObject({ status: 409, code: "hold_expired" });
  });

  test("what a page that was refused has prolonged is given back, to another page, once", async () => {
    const { hold } = await paid();
    const receipt = await hold();
    const order = orderOf(receipt);
    const token = receipt.checkout_token;
    const ends = async () => [
      (await rowOf("bookings", receipt)).expires_at,
      (await rowOf("orders", order)).expires_at,
    ];
    const shorten = async () => {
      await sql`
        with shorter as (
          update public.orders set expires_at = now() + interval '20 minutes'
          where id = ${order.id} returning booking_id, expires_at
        )
        update public.bookings b set expires_at = s.expires_at
        from shorter s where b.id = s.booking_id`;
      return ends();
    };
    const before = await shorten();
    for (const _ of [1, 2]) {
      const { checkout } = await beginCheckout(order, { token });
      expect(await ends()).not.toEqual(before);
      await failCheckout(checkout.id, "amount_too_small");
      expect(await ends()).toEqual(before);
    }
    // A page has lived by this one, whatever is refused later.
    const { session } = await openPage(order, { token });
    const prolonged = await ends();
    await recordSession((await accountOf(order)) as string, { ...session, status: "expired" });
    const next = await beginCheckout(order, { token });
    await failCheckout(next.checkout.id, "amount_too_small");
    expect(await ends()).toEqual(prolonged);
    await shorten();
    expect(await failure(askCheckout(order, { token }))).toMatchObject({ code: "hold_expired" });
  });

  test("one that is over is not opened, nor one that was cancelled", async () => {
    const { professional, hold } = await paid();
    const [over, cancelled] = [await hold("10:00"), await hold("12:00")];
    expect(
      await answer(professional.api.rpc("cancel_booking", { booking_id: cancelled.id })),
    ).toMatchObject({ order_id: cancelled.order_id, checkout_token: null, amount_due: null });
    await lapses(over);
    for (const receipt of [over, cancelled]) {
      expect(await raised(openCheckout(orderOf(receipt)))).toMatchObject({ code: "hold_expired" });
    }
  });

  test("the clients may still cancel, and the time is free", async () => {
    const { client, service, hold } = await paid();
    const receipt = await hold("10:00", client.email as string);
    await openCheckout(orderOf(receipt));
    const portal = await createPortalSession(client);
    await answer(portal.api.rpc("cancel_booking", { booking_id: receipt.id }));
    expect(await rowOf("bookings", receipt)).toMatchObject({
      status: "cancelled",
      cancelled_by: "client",
      checkout_open: false,
    });
    expect(await freeStarts(anon, service, day)).toContain(at("10:00"));
  });

  test("nobody says so of a booking, and no professional of a hold", async () => {
    const { professional, hold, own } = await paid();
    const booking = await createBooking(professional, own("12:00"));
    const opened = server().from("bookings").update({ checkout_open: true });
    await answer(opened.eq("id", booking.id));
    expect((await rowOf("bookings", booking)).checkout_open).toBe(false);
    const { id } = await hold();
    const update = professional.api.from("bookings").update({ checkout_open: true });
    expect(await failure(update.eq("id", id))).toMatchObject({ status: 403, code: "42501" });
  });
});

describe("unpaid holds at a time", () => {
  const bookInSql = (
    service: { id: string },
    time: string,
    network: string,
    email = `ann-${crypto.randomUUID()}@example.com`,
    claims: { role: "anon" | "service_role" } = { role: "anon" },
  ) =>
    asCaller(claims, async (tx) => {
      await tx`select set_config('request.headers', ${JSON.stringify({ "x-forwarded-for": network })}, true)`;
      const [row] = await tx`
        select r.id, r.order_id from public.create_booking(
          ${service.id}, ${at(time)}, 'Ann', ${email}
        ) as r`;
      return row as unknown as Receipt;
    });

  test("are two for a network, whatever address is typed; another network has its own", async () => {
    const { service } = await paid();
    const [one, other] = ["198.51.100.1", "198.51.100.2"];
    const first = await bookInSql(service, "09:00", one, "same@example.com");
    await bookInSql(service, "10:00", one);
    const refused = await raised(bookInSql(service, "11:00", one));
    expect(refused).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    const { retry_after } = JSON.parse(refused.details ?? "{}");
    expect(retry_after).toBeGreaterThan(44 * 60);
    expect(retry_after).toBeLessThanOrEqual(45 * 60);
    for (const time of ["11:00", "12:00"]) {
      await bookInSql(service, time, other, "same@example.com");
    }
    expect(await raised(bookInSql(service, "13:00", other))).toMatchObject({ status: 429 });

    // Paid, so it is none any more.
    await collect(orderOf(first), 50);
    const third = await bookInSql(service, "13:00", one);
    expect(await raised(bookInSql(service, "14:00", one))).toMatchObject({ status: 429 });
    await openCheckout(orderOf(third));
    await lapses(third);
    expect(await raised(bookInSql(service, "14:00", one))).toMatchObject({ status: 429 });
    await closeCheckout(orderOf(third));
    await bookInSql(service, "14:00", one);
    const digests = await sql`
      select from private.payment_holds where order_id in ${sql([first.order_id, third.order_id])}
        and network_digest is not null`;
    expect(digests).toHaveLength(0);
  });

  test("do not count where nothing has to be paid, nor for a server", async () => {
    const { professional, service } = await paid();
    const free = await openService(professional);
    for (const time of ["09:00", "10:00"]) await bookInSql(service, time, "198.51.100.3");
    await bookInSql(free, "11:00", "198.51.100.3");
    for (const time of ["12:00", "13:00", "14:00"]) {
      await bookInSql(service, time, "198.51.100.3", undefined, { role: "service_role" });
    }
  });

  test("are two for a portal client, and its own alone", async () => {
    const { client, service } = await paid();
    const portal = await createPortalSession(client);
    const own = (time: string) =>
      portal.api.rpc("create_booking", { service_id: service.id, starts_at: at(time) });
    // By somebody who typed the address.
    await answer(book(anon, service, at("09:00"), { client_email: client.email as string }));
    await answer(own("10:00"));
    const second = await answer<Receipt>(own("11:00"));
    expect(await failure(own("12:00"))).toMatchObject({ status: 422, code: "too_many_open" });
    await answer(portal.api.rpc("cancel_booking", { booking_id: second.id }));
    await answer(own("12:00"));
  });

  test("that are over do not count among five open bookings", async () => {
    const { professional, client, service } = await paid();
    const free = await openService(professional);
    const portal = await createPortalSession(client);
    const own = ({ id }: { id: string }, time: string) =>
      answer<Receipt>(portal.api.rpc("create_booking", { service_id: id, starts_at: at(time) }));
    const over = await own(service, "09:00");
    for (const time of ["10:00", "11:00", "12:00", "13:00"]) await own(free, time);
    await lapses(over);
    expect(await own(free, "14:00")).toMatchObject({ status: "confirmed" });
  });

  test("count by network where a portal client types its own address", async () => {
    const { client, service } = await paid();
    const portal = await createPortalSession(client);
    const typed = (time: string) =>
      book(portal.api, service, at(time), { client_email: client.email as string });
    await answer(typed("09:00"));
    await answer(typed("10:00"));
    expect(await failure(typed("11:00"))).toMatchObject({ status: 429 });
  });

  test("of two at one moment from one network only as many as there may be are made", async () => {
    const { service } = await paid();
    await bookInSql(service, "09:00", "198.51.100.4");
    await Promise.all(connections.map((connection) => connection`select 1`));
    const outcomes = await Promise.all(
      connections.map((connection, index) =>
        asCaller(
          { role: "anon" },
          async (tx) => {
            await tx`select set_config('request.headers', '{"x-forwarded-for": "198.51.100.4"}', true)`;
            await tx`select public.create_booking(${service.id}, ${at(`1${index}:00`)}, 'Ann', ${`a${index}@example.com`})`;
            return "done";
          },
          connection as Sql,
        ).catch(() => "refused"),
      ),
    );
    expect(outcomes.sort()).toEqual(["done", "refused"]);
  });
});

describe("the money of a booking that is cancelled", () => {
  const cancelled = async (
    cancel: (given: {
      professional: Professional;
      receipt: Receipt;
      portal: Awaited<ReturnType<typeof createPortalSession>>;
    }) => PromiseLike<{ data: unknown; error: null | object }>,
    values: Partial<Insert<"services">> = {},
  ) => {
    const { professional, client, hold } = await paid(values);
    const receipt = await hold("10:00", client.email as string);
    await collect(orderOf(receipt), 50);
    const portal = await createPortalSession(client);
    await answer(cancel({ professional, receipt, portal }) as never);
    expect(await statusOf(receipt)).toMatch(/^cancelled/);
    expect(await orderStatusOf(receipt)).toBe("cancelled");
    return { professional, receipt, refunds: await refundsOf(orderOf(receipt)) };
  };

  test("goes back when a client cancels in time, who cannot have it kept", async () => {
    for (const refund of [true, false]) {
      const { refunds } = await cancelled(({ portal, receipt }) =>
        portal.api.rpc("cancel_booking", { booking_id: receipt.id, refund }),
      );
      expect(refunds).toEqual(["cancelled 50"]);
    }
  });

  test("stays when it is too late for the client", async () => {
    const { client, hold } = await paid({ cancellation_notice: 60 * 24 * 30 });
    const receipt = await hold("10:00", client.email as string);
    await collect(orderOf(receipt), 50);
    const portal = await createPortalSession(client);
    expect(
      await failure(portal.api.rpc("cancel_booking", { booking_id: receipt.id })),
    ).toMatchObject({ status: 422, code: "too_late" });
    expect(await refundsOf(orderOf(receipt))).toEqual([]);
    expect(await statusOf(receipt)).toBe("confirmed");
  });

  test("goes back when the owner cancels, once, and both are told", async () => {
    const { professional, receipt, refunds } = await cancelled(({ professional, receipt }) =>
      professional.api.rpc("cancel_booking", { booking_id: receipt.id }),
    );
    expect(refunds).toEqual(["cancelled 50"]);
    await answer(professional.api.rpc("cancel_booking", { booking_id: receipt.id }));
    expect(await refundsOf(orderOf(receipt))).toEqual(["cancelled 50"]);
    expect((await newsOf(professional)).filter((mail) => /cancelled/.test(mail))).toEqual([
      "client booking_cancelled",
    ]);
  });

  test("goes back when the owner or a server writes it, unless they say not", async () => {
    const patch = (token: string | undefined, receipt: Receipt, headers: HeadersInit) =>
      request(`/rest/v1/bookings?id=eq.${receipt.id}`, {
        method: "PATCH",
        body: JSON.stringify({ status: "cancelled" }),
        headers,
        token,
      }).then(({ ok, status }) => ({ data: null, error: ok ? null : { status } }));
    for (const mode of ["none", "all", undefined]) {
      const { refunds } = await cancelled(({ professional, receipt }) =>
        patch(professional.token, receipt, mode === undefined ? {} : { "x-refund": mode }),
      );
      expect(refunds).toEqual(mode === "none" ? [] : ["cancelled 50"]);
    }
    for (const mode of ["none", ""]) {
      const { refunds } = await cancelled(async ({ receipt }) => {
        await sql.begin(async (tx) => {
          await tx`select set_config('private.refund', ${mode}, true)`;
          await tx`update public.bookings set status = 'cancelled' where id = ${receipt.id}`;
        });
        return { data: null, error: null };
      });
      expect(refunds).toEqual(mode === "none" ? [] : ["cancelled 50"]);
    }
  });

  test("stays when the owner says so, and what is paid after that goes back alone", async () => {
    const { receipt, refunds } = await cancelled(({ professional, receipt }) =>
      professional.api.rpc("cancel_booking", { booking_id: receipt.id, refund: false }),
    );
    expect(refunds).toEqual([]);
    await collect(orderOf(receipt), 30);
    expect(await refundsOf(orderOf(receipt))).toEqual(["late 30"]);
  });

  test("a header of a client's does not keep it", async () => {
    const { refunds } = await cancelled(({ portal, receipt }) =>
      request("/rest/v1/rpc/cancel_booking", {
        method: "POST",
        body: JSON.stringify({ booking_id: receipt.id }),
        headers: { "x-refund": "none" },
        token: portal.token,
      }).then(({ ok, status }) => ({ data: null, error: ok ? null : { status } })),
    );
    expect(refunds).toEqual(["cancelled 50"]);
  });

  test("is what the provider collected: cash stays the owner's to give", async () => {
    const { professional, hold } = await paid({ payment: "deposit", deposit: 20 });
    const receipt = await hold();
    await collect(orderOf(receipt), 20);
    await answer(
      professional.api.rpc("record_payment", {
        order_id: receipt.order_id,
        amount: 30,
        method: "cash",
      }),
    );
    await answer(professional.api.rpc("cancel_booking", { booking_id: receipt.id }));
    expect(await refundsOf(orderOf(receipt))).toEqual(["cancelled 20"]);
  });

  test("goes back of an order that is fulfilled, which stays so", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await collect(orderOf(receipt), 50);
    for (const status of ["confirmed", "fulfilled"]) {
      await answer(professional.api.from("orders").update({ status }).eq("id", receipt.order_id));
    }
    await answer(professional.api.rpc("cancel_booking", { booking_id: receipt.id }));
    expect(await orderStatusOf(receipt)).toBe("fulfilled");
    expect(await refundsOf(orderOf(receipt))).toEqual(["cancelled 50"]);
  });

  test("stays with the booking that is moved, and when nobody came", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await collect(orderOf(receipt), 50);
    await answer(
      professional.api.rpc("reschedule_booking", {
        booking_id: receipt.id,
        starts_at: at("11:00"),
      }),
    );
    await sql`
      update public.bookings
      set starts_at = now() - interval '2 hours', ends_at = now() - interval '1 hour'
      where id = ${receipt.id}`;
    await answer(
      professional.api.from("bookings").update({ status: "no_show" }).eq("id", receipt.id),
    );
    expect(await refundsOf(orderOf(receipt))).toEqual([]);
    expect(await rowOf("orders", orderOf(receipt))).toMatchObject({
      status: "pending",
      payment_status: "paid",
      booking_id: receipt.id,
    });
  });

  test("of a deposit and a rest goes back, less what was given back in cash", async () => {
    const { professional, hold } = await paid({ payment: "deposit", deposit: 15 });
    const booking = await hold();
    const order_id = booking.order_id;
    await collect(orderOf(booking), 15);
    await collect(orderOf(booking), 35);
    await answer(professional.api.rpc("refund_payment", { order_id, amount: 20 }));
    await answer(professional.api.rpc("cancel_booking", { booking_id: booking.id }));
    expect(await refundsOf(orderOf(booking))).toEqual(["cancelled 15", "cancelled 15"]);
  });

  test("an order of the owner's for a booking is not cancelled with it", async () => {
    const { professional, own } = await paid();
    const booking = await createBooking(professional, own("10:00"));
    const order = await answer<{ id: string }>(
      professional.api
        .from("orders")
        .insert({ booking_id: booking.id } as never)
        .select("id")
        .single(),
    );
    await answer(professional.api.rpc("cancel_booking", { booking_id: booking.id }));
    expect((await rowOf("orders", order)).status).toBe("pending");
  });

  test("refund must be given", async () => {
    const { professional, hold } = await paid();
    const { id } = await hold();
    const call = professional.api.rpc("cancel_booking", {
      booking_id: id,
      refund: null as never,
    });
    expect(await failure(call)).toMatchObject({
      status: 422,
      code: "validation_failed",
      details: { fields: ["refund"] },
    });
  });
});

describe("a payment that comes when the hold is over", () => {
  test.each([false, true])(
    "brings it back while its time is free, confirmation required: %s",
    async (requires_confirmation) => {
      const { professional, hold } = await paid({ requires_confirmation });
      const receipt = await hold();
      await ends(receipt);
      await collect(orderOf(receipt), 50);

      expect(await rowOf("bookings", receipt)).toMatchObject({
        status: requires_confirmation ? "pending" : "confirmed",
        expires_at: null,
        cancelled_at: null,
        cancelled_by: null,
      });
      expect(await rowOf("orders", orderOf(receipt))).toMatchObject({
        status: "pending",
        payment_status: "paid",
        expires_at: null,
      });
      expect(await refundsOf(orderOf(receipt))).toEqual([]);
      expect(await newsOf(professional)).toEqual([
        `client booking_${requires_confirmation ? "received" : "confirmed"}`,
        "client payment_received",
        "professional new_booking",
        "professional payment_received",
      ]);
    },
  );

  test("goes back where somebody else has the time: one booking, one refund, both told", async () => {
    const { professional, service, hold } = await paid();
    const first = await hold("10:00");
    await ends(first);
    const second = await hold("10:30");
    await Promise.all([
      collect(orderOf(first), 50, connections[0] as Sql),
      collect(orderOf(second), 50, connections[1] as Sql),
    ]);

    expect([await statusOf(first), await statusOf(second)]).toEqual([
      "cancelled by system",
      "confirmed",
    ]);
    expect(await refundsOf(orderOf(first))).toEqual(["late 50"]);
    expect(await refundsOf(orderOf(second))).toEqual([]);
    expect(await orderStatusOf(first)).toBe("cancelled");
    expect(await freeStarts(anon, service, day)).not.toContain(at("10:00"));
    expect(await newsOf(professional)).toEqual([
      "client booking_confirmed",
      "client payment_received",
      "client payment_returned",
      "professional new_booking",
      "professional payment_received",
      "professional payment_returned",
    ]);
    // The same look again changes nothing.
    const mails = await newsOf(professional);
    await sql.begin(async (tx) => {
      await tx`select private.lock_professional(${professional.id})`;
      await tx`select private.settle_order(${first.order_id})`;
    });
    expect(await refundsOf(orderOf(first))).toEqual(["late 50"]);
    expect(await newsOf(professional)).toEqual(mails);
  });

  test.each<
    [string, (given: { professional: Professional; receipt: Receipt }) => Promise<unknown>]
  >([
    [
      "has begun",
      ({ receipt }) =>
        sql`update public.bookings set starts_at = now() - interval '1 minute',
            ends_at = now() + interval '1 hour' where id = ${receipt.id}`,
    ],
    [
      "is not wanted: bookings are not accepted any more",
      ({ professional }) =>
        answer(
          professional.api
            .from("profiles")
            .update({ accepts_bookings: false })
            .eq("id", professional.id),
        ),
    ],
    [
      "is of a client who was archived",
      async ({ professional, receipt }) => {
        const { client_id } = await rowOf("bookings", receipt);
        return answer(
          professional.api.from("clients").update({ archived: true }).eq("id", client_id),
        );
      },
    ],
  ])("goes back where the booking %s", async (_, change) => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await change({ professional, receipt });
    await ends(receipt);
    await collect(orderOf(receipt), 50);
    expect(await statusOf(receipt)).toBe("cancelled by system");
    expect(await refundsOf(orderOf(receipt))).toEqual(["late 50"]);
  });

  test.each(["owner", "client"])("goes back where the %s cancelled it", async (who) => {
    const { professional, client, hold } = await paid();
    const receipt = await hold("10:00", client.email as string);
    const { api } = who === "owner" ? professional : await createPortalSession(client);
    await openCheckout(orderOf(receipt));
    await answer(api.rpc("cancel_booking", { booking_id: receipt.id }));
    await lapses(receipt);
    await collect(orderOf(receipt), 50);
    expect(await statusOf(receipt)).toBe(`cancelled by ${who}`);
    expect(await refundsOf(orderOf(receipt))).toEqual(["late 50"]);
  });

  test("is for a booking that the owner brought back, unless that has another order", async () => {
    const { professional, hold } = await paid();
    const receipts = [await hold("10:00"), await hold("12:00")];
    for (const receipt of receipts) {
      await ends(receipt);
      await answer(
        professional.api.from("bookings").update({ status: "confirmed" }).eq("id", receipt.id),
      );
    }
    const [one, other] = receipts as [Receipt, Receipt];
    await answer(professional.api.from("orders").insert({ booking_id: other.id } as never));
    for (const receipt of receipts) await collect(orderOf(receipt), 50);
    expect([await statusOf(one), await statusOf(other)]).toEqual(["confirmed", "confirmed"]);
    expect([await orderStatusOf(one), await orderStatusOf(other)]).toEqual([
      "pending",
      "cancelled",
    ]);
    expect(await refundsOf(orderOf(one))).toEqual([]);
    expect(await refundsOf(orderOf(other))).toEqual(["late 50"]);
  });

  test("goes back where the owner cancelled the hold, and brought the booking back", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await answer(professional.api.rpc("cancel_booking", { booking_id: receipt.id }));
    await answer(
      professional.api.from("bookings").update({ status: "confirmed" }).eq("id", receipt.id),
    );
    await collect(orderOf(receipt), 50);
    expect(await orderStatusOf(receipt)).toBe("cancelled");
    expect(await refundsOf(orderOf(receipt))).toEqual(["late 50"]);
  });

  test("does not send back what was paid by hand beside it", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await answer(professional.api.rpc("cancel_booking", { booking_id: receipt.id }));
    await underTheLock(orderOf(receipt), async (tx) => {
      await tx`
        insert into private.payments (professional_id, order_id, kind, amount, method)
        values (${professional.id}, ${receipt.order_id}, 'payment', 50, 'cash')`;
      await tx`select private.settle_order(${receipt.order_id})`;
    });
    expect(await refundsOf(orderOf(receipt))).toEqual([]);
  });

  test("by hand brings nothing back", async () => {
    const { professional, hold } = await paid();
    const receipt = await hold();
    await ends(receipt);
    const payment = { order_id: receipt.order_id, amount: 50, method: "cash" };
    await answer(server().rpc("record_payment", payment));
    expect(await statusOf(receipt)).toBe("cancelled by system");
    expect(await newsOf(professional)).toContain("professional payment_received");
  });
});

describe("a payment that comes twice", () => {
  test("goes back: all of it, or what is too much", async () => {
    const { professional, hold } = await paid({ payment: "deposit", deposit: 20 });
    const receipt = await hold();
    const order = orderOf(receipt);
    await collect(order, 20);
    expect(await refundsOf(order)).toEqual([]);
    await collect(order, 50);
    expect(await refundsOf(order)).toEqual(["overpaid 20"]);
    await collect(order, 50);
    expect(await refundsOf(order)).toEqual(["overpaid 20", "overpaid 50"]);
    expect(await statusOf(receipt)).toBe("confirmed");
    expect((await newsOf(professional)).filter((mail) => mail.startsWith("client pay"))).toEqual([
      "client payment_received",
      "client payment_received",
      "client payment_returned",
    ]);
  });
});

describe("from cancelled to pending", () => {
  test("goes nobody but the system", async () => {
    const { professional, client, hold } = await paid();
    const receipt = await hold("10:00", client.email as string);
    await ends(receipt);
    const refused = { status: 409, code: "invalid_transition" };
    for (const { from, api } of [
      { from: "bookings" as const, api: professional.api },
      { from: "bookings" as const, api: server() },
      { from: "orders" as const, api: professional.api },
      { from: "orders" as const, api: server() },
    ]) {
      const id = from === "bookings" ? receipt.id : receipt.order_id;
      const update = api.from(from).update({ status: "pending" } as never);
      expect(await failure(update.eq("id", id))).toMatchObject(refused);
    }
    for (const [table, id] of [
      ["bookings", receipt.id],
      ["orders", receipt.order_id],
    ] as const) {
      const update = server()
        .from(table)
        .update({ status: "pending", expires_at: null } as never);
      expect(await failure(update.eq("id", id))).toMatchObject(refused);
    }
  });
});

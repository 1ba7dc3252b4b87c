/** Bookings and orders that are paid with Stripe, from the public page to the ledger; nothing is left out. */
import { describe, expect, test } from "vitest";
import { startPaymentsStack } from "../support/payments-stack.ts";

const { fake, webhook } = await startPaymentsStack();
fake.webhook = webhook;

const {
  accountOf,
  anon,
  askToPay,
  at,
  bookingOf,
  connect,
  hasEnded,
  hold,
  isQuiet,
  merchant,
  movements,
  openPage,
  orderHold,
  orderOf,
  paidService,
  payments,
  statusOf,
  untilMovements,
  untilStatus,
} = await import("../support/payments-over-http.ts");
const { answer, failure, findings, stockOf } = await import("../support/commerce.ts");
const { sql } = await import("../support/database.ts");
const { createBooking, createClientRow, createPortalSession, createProduct } = await import(
  "../support/factories.ts"
);
const { reportPortalAddress, sweep } = await import("../support/holds.ts");
const { inbox, mailingProfessional } = await import("../support/mailbox.ts");
const { newsOf } = await import("../support/mail.ts");
const { book } = await import("../support/scheduling.ts");
const { answerOf, eventsOf, record, refusalOf, until } = await import("../support/webhooks.ts");

await reportPortalAddress();

type Session = Awaited<ReturnType<typeof createPortalSession>>;

const newAddress = () => `ann-${crypto.randomUUID()}@example.com`;
/** What the fake has taken and given back of an account. */
const bookOf = (account: string) => Object.values(fake.books(account));

/** One payment, all of it given back. */
const givenBack = (amount: number) => [{ received: amount, refunded: amount, disputed: 0 }];
const kept = (amount: number) => [{ received: amount, refunded: 0, disputed: 0 }];

/** A booking of the public that is paid. */
async function paid(values: Parameters<typeof paidService>[1] = {}, time = "10:00") {
  const ana = await merchant(fake);
  const service = await paidService(ana, values);
  const address = newAddress();
  const held = await hold(service, time, { client_email: address });
  const page = await openPage(held);
  fake.pay(page.session);
  await until(
    () => statusOf(held),
    (status) => status !== "pending" || !!values,
    20,
  );
  await until(
    () => bookingOf(held),
    ({ expires_at }) => expires_at === null,
    20,
  );
  return { ana, service, held, page, address };
}

async function portal(ana: { id: string }): Promise<Session> {
  const client = await createClientRow(ana as never);
  return createPortalSession(client);
}

describe("an account", () => {
  test("is connected by a link of Stripe, and can charge once its form is filled in", async () => {
    const ana = await mailingProfessional();
    expect((await payments("/account", { method: "GET", token: ana.token })).status).toBe(404);
    const first = await answerOf<{ url: string; expires_at: string }>(connect(ana));
    const again = await answerOf<{ url: string }>(connect(ana));
    const [account = ""] = /acct_\w+/.exec(first.url) ?? [];
    expect(again.url).toContain(account);
    expect(
      [...fake.accounts.values()].filter(({ params }) => params.contact_email === ana.email),
    ).toHaveLength(1);
    expect(await accountOf(ana)).toMatchObject({
      account_id: account,
      livemode: false,
      can_charge: false,
      missing: expect.arrayContaining(["identity.individual.given_name"]),
    });
    fake.onboard(account);
    expect(await accountOf(ana)).toMatchObject({ can_charge: true, missing: [] });
  });

  test.each([
    ["http", "http://app.example/pay"],
    ["another site", "https://evil.example/pay"],
    ["the name as user info", "https://app.example@evil.example/pay"],
    ["a path that only begins alike", "https://app.example/payday"],
    ["a way out of the path", "https://app.example/pay/../admin"],
  ])("is not sent back to %s", async (_, return_url) => {
    const ana = await mailingProfessional();
    expect(await refusalOf(connect(ana, { return_url }))).toMatchObject({
      status: 422,
      code: "return_url_not_allowed",
    });
  });
});

describe("a booking that costs", () => {
  test("is held, paid at Stripe, and confirmed; both sides hear of it then, and the ledger has it once", async () => {
    const ana = await merchant(fake, { full_name: "Ana Bianchi" });
    await record(ana);
    const service = await paidService(ana);
    const address = newAddress();
    const held = await hold(service, "10:00", { client_email: address });
    expect(held).toMatchObject({ status: "pending", amount_due: 60.5 });
    expect(held.checkout_token).toMatch(/^[\w-]{43}$/);
    const row = await bookingOf(held);
    expect(held.expires_at).toBe(row.expires_at && new Date(row.expires_at).toISOString());
    expect(await newsOf(ana)).toEqual([]);
    expect((await eventsOf(ana)).map(({ type }) => type)).not.toContain("booking.created");

    const page = await openPage(held);
    expect(page).toMatchObject({ amount: 60.5, currency: "EUR" });
    expect((await openPage(held)).url).toBe(page.url);
    const session = fake.session(page.session);
    expect(session).toMatchObject({ amount_total: 6050, currency: "eur", status: "open" });
    expect(session.adaptive_pricing?.enabled).toBe(false);
    expect(session.excluded_payment_method_types).toContain("sepa_debit");
    // The page closes before the time is given away.
    const end = new Date((await bookingOf(held)).expires_at ?? 0).getTime();
    expect(end - session.expires_at * 1000).toBeGreaterThanOrEqual(5 * 60_000 - 1000);

    fake.pay(page.session);
    await untilStatus(held, "confirmed");
    const entries = await untilMovements(held, ["payment 60.5"]);
    expect(entries).toMatchObject([
      { provider: "stripe", reference: fake.session(page.session).payment_intent, flag: null },
    ]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "paid", amount_paid: 60.5 });
    expect((await bookingOf(held)).expires_at).toBeNull();
    const toClient = await inbox(address, 2);
    for (const { subject } of toClient) expect(subject).toContain("Ana Bianchi");
    await inbox(ana.email, 2);
    expect(await newsOf(ana)).toEqual([
      "client booking_confirmed",
      "client payment_received",
      "professional new_booking",
      "professional payment_received",
    ]);
    expect((await eventsOf(ana)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["booking.created", "order.created", "payment.succeeded"]),
    );
    expect(await refusalOf(askToPay(held))).toMatchObject({ status: 422, code: "nothing_due" });
    expect(await findings(ana)).toEqual([]);
  });

  test("may take a deposit first; the rest is paid later, by the client of the portal", async () => {
    const { ana, held } = await paid({ payment: "deposit", deposit: 20 } as never);
    expect(await statusOf(held)).toBe("confirmed");
    expect(await movements(held)).toEqual(["payment 20"]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "partially_paid" });
    const { client_id } = await bookingOf(held);
    const session = await createPortalSession({
      id: client_id as string,
      professional_id: ana.id,
    });
    const page = await openPage(held, { caller: session });
    expect(page.amount).toBe(40.5);
    fake.pay(page.session);
    await untilMovements(held, ["payment 20", "payment 40.5"]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "paid" });
    expect(bookOf(ana.account).map(({ received }) => received)).toEqual([2000, 4050]);
  });

  test("waits for the professional where the service wants that, but no longer for money", async () => {
    const { ana, held } = await paid({ requires_confirmation: true });
    expect(await statusOf(held)).toBe("pending");
    expect((await bookingOf(held)).expires_at).toBeNull();
    expect(await newsOf(ana)).toEqual([
      "client booking_received",
      "client payment_received",
      "professional new_booking",
      "professional payment_received",
    ]);
  });

  test("of nothing is no hold", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana, { price: 0 });
    expect(await hold(service)).toMatchObject({ status: "confirmed", amount_due: null });
  });

  test("is not held where nobody could pay: no account, one that cannot charge, one that is let go", async () => {
    const ana = await mailingProfessional();
    const service = await paidService(ana);
    const refused = { status: 422, code: "payments_unavailable" };
    const tries = async (of: { id: string }) => failure(book(anon, of, at("10:00")));
    expect(await tries(service)).toMatchObject(refused);
    const bob = await merchant(fake);
    const other = await paidService(bob);
    fake.restrict(bob.account, ["external_account"]);
    await accountOf(bob);
    expect(await tries(other)).toMatchObject(refused);
    fake.onboard(bob.account);
    await accountOf(bob);
    expect(await hold(other)).toMatchObject({ status: "pending" });
    const [{ count } = { count: -1 }] = await sql<{ count: number }[]>`
      select count(*)::integer from public.bookings where professional_id = ${ana.id}`;
    expect(count).toBe(0);
  });

  test("of an amount that Stripe does not take is refused before it is held", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana, { price: 0.3 });
    expect(await failure(book(anon, service, at("10:00")))).toMatchObject({
      status: 422,
      code: "amount_not_payable",
    });
  });

  test("a replay has the same token", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    const values = { idempotency_key: crypto.randomUUID(), client_email: newAddress() };
    const first = await hold(service, "10:00", values);
    expect(await hold(service, "10:00", values)).toEqual(first);
  });

  test("two unpaid ones at a time, for the public of a network and for a client", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    await hold(service, "09:00");
    const second = await hold(service, "10:00");
    const third = await failure(book(anon, service, at("11:00")));
    expect([third.status, third.code]).toEqual([429, expect.any(String)]);
    fake.pay((await openPage(second)).session);
    await untilStatus(second, "confirmed");
    await hold(service, "11:00");

    const session = await portal(ana);
    const own = (time: string) =>
      session.api.rpc("create_booking", { service_id: service.id, starts_at: at(time) });
    for (const time of ["14:00", "15:00"]) expect((await own(time)).error).toBeNull();
    expect(await failure(own("16:00"))).toMatchObject({ status: 422, code: "too_many_open" });
  });

  test("an owner's booking is never a hold, and is paid from its order", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    const client = await createClientRow(ana);
    const booking = await createBooking(ana, {
      professional_id: ana.id,
      service_id: service.id,
      client_id: client.id,
      starts_at: at("10:00"),
    });
    expect(booking).toMatchObject({ status: "confirmed", expires_at: null });
  });
});

describe("who may pay", () => {
  test("whoever has the token, the owner and the client; a token of another order is none", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    const [one, other] = [await hold(service, "10:00"), await hold(service, "12:00")];
    const notFound = { status: 404 };
    expect(
      await refusalOf(askToPay({ ...one, checkout_token: other.checkout_token })),
    ).toMatchObject(notFound);
    const stranger = await portal(ana);
    const bob = await mailingProfessional();
    for (const caller of [stranger, bob]) {
      expect(await refusalOf(askToPay(one, { caller }))).toMatchObject(notFound);
    }
    const page = await openPage(one);
    expect((await openPage(one, { caller: ana })).url).toBe(page.url);
    expect((await askToPay({ order_id: one.order_id }, {})).status).toBe(401);
  });

  test("the way back leads to listed pages only", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    for (const field of ["success_url", "cancel_url"]) {
      expect(await refusalOf(askToPay(held, { [field]: "https://evil.example/" }))).toMatchObject({
        status: 422,
        code: "return_url_not_allowed",
      });
    }
    expect(fake.sessions().filter(({ id }) => fake.accountOf(id) === ana.account)).toEqual([]);
  });
});

describe("a hold that is not paid", () => {
  test("ends with its session: closed at Stripe first, then the time is free", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    const held = await hold(service);
    const page = await openPage(held);
    await hasEnded(held);
    await untilStatus(held, "cancelled by system");
    expect(fake.session(page.session).status).toBe("expired");
    expect(await orderOf(held)).toMatchObject({ status: "cancelled", amount_paid: 0 });
    expect((await hold(service)).status).toBe("pending");
    expect(await newsOf(ana)).toEqual([]);
  });

  test("is ended by the clock where nobody has asked for a page", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    const held = await hold(service);
    await hasEnded(held);
    await sweep("bookings", held);
    expect(await statusOf(held)).toBe("cancelled by system");
    expect(await refusalOf(askToPay(held))).toMatchObject({ status: 409, code: "hold_expired" });
  });

  test("is not over while its page may be open, whoever wants the time", async () => {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    const held = await hold(service);
    await openPage(held);
    // Stripe does not answer, so nobody knows whether it was paid.
    fake.fault = ({ path }) =>
      path.includes("/expire") ? { status: 503, stored: false } : undefined;
    await hasEnded(held);
    expect(await failure(book(anon, service, at("10:00")))).toMatchObject({
      status: 409,
      code: "slot_taken",
    });
    expect(await statusOf(held)).toBe("pending");
    fake.fault = () => undefined;
    await sql`update private.payment_tasks set due_at = now()`;
    await untilStatus(held, "cancelled by system");
  });

  test("was paid in the last moment: the look at its end finds that, and nothing is closed", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    const page = await openPage(held);
    fake.webhook = undefined;
    fake.pay(page.session);
    fake.webhook = webhook;
    await hasEnded(held);
    await untilStatus(held, "confirmed");
    expect(await movements(held)).toEqual(["payment 60.5"]);
    expect(bookOf(ana.account)).toEqual(kept(6050));
  });

  test("is prolonged once when little of it is left", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    await sql`update public.bookings set expires_at = now() + interval '2 minutes' where id = ${held.id}`;
    await sql`update public.orders set expires_at = now() + interval '2 minutes' where id = ${held.order_id}`;
    const page = await openPage(held);
    const end = new Date((await bookingOf(held)).expires_at ?? 0).getTime();
    expect(end).toBeGreaterThan(Date.now() + 30 * 60_000);
    expect(fake.session(page.session).expires_at * 1000).toBeLessThanOrEqual(
      end - 5 * 60_000 + 1000,
    );
  });
});

describe("money that comes although the hold is gone", () => {
  /** Cancelled while the page could not be closed, and then paid. */
  async function paidTooLate(between: (service: { id: string }) => Promise<unknown>) {
    const ana = await merchant(fake);
    const service = await paidService(ana);
    const address = newAddress();
    const held = await hold(service, "10:00", { client_email: address });
    const page = await openPage(held);
    // Stripe says that it is expired, and takes the money all the same: an old page in another tab.
    await hasEnded(held);
    await untilStatus(held, "cancelled by system");
    await between(service);
    fake.reopen(page.session);
    fake.pay(page.session);
    return { ana, service, held, address };
  }

  test("brings the booking back where its time is free", async () => {
    const { ana, held, address } = await paidTooLate(async () => {});
    await untilStatus(held, "confirmed");
    expect(await orderOf(held)).toMatchObject({ status: "pending", payment_status: "paid" });
    expect(await movements(held)).toEqual(["payment 60.5"]);
    await inbox(address, 2);
    await inbox(ana.email, 2);
    expect(await findings(ana)).toEqual([]);
  });

  test("goes back by itself where somebody has taken the time; both are told", async () => {
    const taker: { id?: string } = {};
    const { ana, held, address } = await paidTooLate(async (service) => {
      const other = await hold(service);
      fake.pay((await openPage(other)).session);
      await untilStatus(other, "confirmed");
      taker.id = other.id;
    });
    await untilMovements(held, ["payment 60.5", "refund 60.5"]);
    expect(await statusOf(held)).toBe("cancelled by system");
    expect(await statusOf(taker as { id: string })).toBe("confirmed");
    expect(
      bookOf(ana.account)
        .map(({ refunded }) => refunded)
        .sort(),
    ).toEqual([0, 6050]);
    // Of the booking that was, neither heard; of the money that went back, both do.
    await inbox(address, 2);
    const news = (await newsOf(ana)).filter((line) => /returned|refunded/.test(line));
    expect(news).toEqual([
      "client payment_refunded",
      "client payment_returned",
      "professional payment_returned",
    ]);
    expect(await findings(ana)).toEqual([]);
  });

  test("goes back when the order was cancelled while the buyer typed the card", async () => {
    const ana = await merchant(fake);
    const held = await hold(await paidService(ana));
    const page = await openPage(held);
    fake.fault = ({ path }) =>
      path.includes("/expire") ? { status: 503, stored: false } : undefined;
    await answer(ana.api.rpc("cancel_booking", { booking_id: held.id }));
    fake.pay(page.session);
    fake.fault = () => undefined;
    await sql`update private.payment_tasks set due_at = now()`;
    await untilMovements(held, ["payment 60.5", "refund 60.5"]);
    expect(await statusOf(held)).toBe("cancelled by owner");
    expect(bookOf(ana.account)).toEqual(givenBack(6050));
  });
});

describe("a booking that was paid and is cancelled", () => {
  test("by its owner: the money goes back, and only what Stripe has", async () => {
    const { ana, held } = await paid({ payment: "deposit", deposit: 20 } as never);
    await answer(
      ana.api.rpc("record_payment", { order_id: held.order_id, amount: 40.5, method: "cash" }),
    );
    await answer(ana.api.rpc("cancel_booking", { booking_id: held.id }));
    await untilMovements(held, ["payment 20", "payment 40.5", "refund 20"]);
    expect(bookOf(ana.account)).toEqual(givenBack(2000));
    expect(await findings(ana)).toEqual([]);
  });

  test("by its owner who keeps the money: it stays, by RPC and by the header", async () => {
    const { ana, held } = await paid();
    await answer(ana.api.rpc("cancel_booking", { booking_id: held.id, refund: false } as never));
    const other = await paid();
    const { error } = await other.ana.api
      .from("bookings")
      .update({ status: "cancelled" })
      .eq("id", other.held.id)
      .setHeader("x-refund", "none");
    expect(error).toBeNull();
    await isQuiet();
    for (const { held: of, ana: by } of [{ held, ana }, other]) {
      expect(await movements(of)).toEqual(["payment 60.5"]);
      expect(bookOf(by.account)).toEqual(kept(6050));
      expect(await statusOf(of)).toBe("cancelled by owner");
    }
  });

  test("by the client in time: the money goes back, whatever the client says", async () => {
    const { ana, held } = await paid();
    const { client_id } = await bookingOf(held);
    const session = await createPortalSession({ id: client_id as string, professional_id: ana.id });
    await answer(
      session.api.rpc("cancel_booking", { booking_id: held.id, refund: false } as never),
    );
    await untilMovements(held, ["payment 60.5", "refund 60.5"]);
    expect(bookOf(ana.account)).toEqual(givenBack(6050));
  });

  test("or not kept: whoever does not come has paid; moved: it has paid for the new time", async () => {
    const { ana, held } = await paid();
    await answer(
      ana.api.rpc("reschedule_booking", { booking_id: held.id, starts_at: at("14:00") }),
    );
    expect(await orderOf(held)).toMatchObject({ payment_status: "paid" });
    await sql`
      update public.bookings set starts_at = now() - interval '3 hours', ends_at = now() - interval '2 hours'
      where id = ${held.id}`;
    const { error } = await ana.api
      .from("bookings")
      .update({ status: "no_show" })
      .eq("id", held.id);
    expect(error).toBeNull();
    await isQuiet();
    expect(await movements(held)).toEqual(["payment 60.5"]);
  });
});

describe("an order", () => {
  test("of the shop that wants money first holds its stock, and is an order once it is paid", async () => {
    const shop = await merchant(fake, { orders_need_payment: true } as never);
    await record(shop);
    const product = await createProduct(shop, { price: 12.5, stock: 5 });
    const items = [{ product_id: product.id, quantity: 2 }];
    const held = await orderHold(shop, items);
    expect(held).toMatchObject({ status: "pending", amount_due: 25 });
    expect((await stockOf(product)).stock).toBe(3);
    const page = await openPage(held);
    fake.pay(page.session);
    await untilMovements(held, ["payment 25"]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "paid", expires_at: null });
    expect((await eventsOf(shop)).map(({ type }) => type)).toContain("order.created");

    const gone = await orderHold(shop, items);
    await openPage(gone);
    await hasEnded({ ...gone, id: gone.order_id });
    await until(
      () => orderOf(gone),
      ({ status }) => status === "cancelled",
      20,
    );
    expect((await stockOf(product)).stock).toBe(3);
    expect(await findings(shop)).toEqual([]);
  });

  test("paid too late comes back with its stock, or the money goes back", async () => {
    const shop = await merchant(fake, { orders_need_payment: true } as never);
    const product = await createProduct(shop, { price: 12.5, stock: 2 });
    const items = [{ product_id: product.id, quantity: 2 }];
    const late = async (between: () => Promise<unknown>) => {
      const held = await orderHold(shop, items, {
        client_email: newAddress(),
      });
      const page = await openPage(held);
      await hasEnded({ ...held, id: held.order_id });
      await until(
        () => orderOf(held),
        ({ status }) => status === "cancelled",
        20,
      );
      await between();
      fake.reopen(page.session);
      fake.pay(page.session);
      return held;
    };
    const back = await late(async () => {});
    await until(
      () => orderOf(back),
      ({ status }) => status === "pending",
      20,
    );
    expect((await stockOf(product)).stock).toBe(0);
    await sql`update public.products set stock = 2 where id = ${product.id}`;
    const lost = await late(
      () => sql`update public.products set stock = 1 where id = ${product.id}`,
    );
    await untilMovements(lost, ["payment 25", "refund 25"]);
    expect(await orderOf(lost)).toMatchObject({ status: "cancelled" });
  });

  test("that changed since its page was opened has a page for the new amount, and the old one is closed", async () => {
    const ana = await merchant(fake);
    const client = await createClientRow(ana);
    const { data } = await ana.api
      .from("orders")
      .insert({
        client_id: client.id,
        professional_id: ana.id,
        items: [{ name: "Cut", unit_price: 50, quantity: 1 }],
      } as never)
      .select("id")
      .single();
    const order = { order_id: (data as { id: string }).id };
    const first = await openPage(order, { caller: ana });
    expect(first.amount).toBe(50);
    await answer(
      ana.api.rpc("record_payment", { order_id: order.order_id, amount: 10, method: "cash" }),
    );
    const second = await openPage(order, { caller: ana });
    expect(second.amount).toBe(40);
    expect(fake.session(first.session).status).toBe("expired");
    fake.pay(second.session);
    await untilMovements(order, ["payment 10", "payment 40"]);
    expect(await orderOf(order)).toMatchObject({ payment_status: "paid" });
  });

  test("that was paid elsewhere meanwhile: what is too much goes back by itself", async () => {
    const { ana, held } = await (async () => {
      const seller = await merchant(fake);
      return { ana: seller, held: await hold(await paidService(seller)) };
    })();
    const page = await openPage(held);
    await answer(
      ana.api.rpc("record_payment", { order_id: held.order_id, amount: 20, method: "cash" }),
    );
    fake.pay(page.session);
    await untilMovements(held, ["payment 20", "payment 60.5", "refund 20"]);
    expect(bookOf(ana.account)).toEqual([{ received: 6050, refunded: 2000, disputed: 0 }]);
    expect(await orderOf(held)).toMatchObject({ payment_status: "paid" });
  });
});

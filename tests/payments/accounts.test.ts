/** Accounts at the payment provider: connected, asked about, let go. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { server } from "../support/callers.ts";
import {
  answer,
  auditAfterEachTest,
  failure,
  openShop,
  outcome,
  SERVER,
} from "../support/commerce.ts";
import { asCaller, raised, rolledBack, sql } from "../support/database.ts";
import {
  askCheckout,
  beginCheckout,
  claim,
  connectAccount,
  finish,
  isRung,
  lookIn,
  lookNow,
  movements,
  openPage,
  openSeller,
  orderFor,
  paidAs,
  paidOrder,
  recordAccount,
  recordRefund,
  recordSession,
  refundOf,
} from "../support/payment-rpcs.ts";
import { providerId } from "../support/payments.ts";

auditAfterEachTest();

const UNAVAILABLE = { status: 422, code: "payments_unavailable" };
type Shop = Awaited<ReturnType<typeof openShop>>;
const connect = (shop: Shop) =>
  answer<Record<string, string | null>>(shop.api.rpc("connect_payment_account"));
const account = (shop: Shop) =>
  answer<Record<string, unknown> | null>(shop.api.rpc("payment_account"));
const attach = (
  professional_id: string,
  attempt_id: string,
  account_id: string,
  livemode = false,
) => server().rpc("attach_payment_account", { professional_id, attempt_id, account_id, livemode });

describe("an account", () => {
  test("is made under one attempt, whoever asks how often, and then there is that one", async () => {
    const shop = await openShop({ full_name: "Ana Bianchi" });
    const first = await connect(shop);
    expect(first).toEqual({
      account_id: null,
      attempt_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: shop.email,
      name: "Ana Bianchi",
    });
    expect(await account(shop)).toBeNull();
    expect(await connect(shop)).toEqual(first);

    const id = providerId("acct");
    const twice = [1, 2].map(() => attach(shop.id, first.attempt_id as string, id));
    expect((await Promise.all(twice)).map(({ error }) => error)).toEqual([null, null]);
    expect(await connect(shop)).toMatchObject({ account_id: id, attempt_id: null });
    expect(await account(shop)).toEqual({
      account_id: id,
      livemode: false,
      can_charge: false,
      missing: [],
      checked_at: null,
    });
  });

  test("of a professional without a name has the name of the page", async () => {
    const shop = await openShop({ full_name: "" });
    const { data } = await shop.api.from("profiles").select("username").single();
    expect(await connect(shop)).toMatchObject({ name: data?.username });
  });

  test("is attached once: the other of two that were made at one moment is not", async () => {
    const shop = await openShop();
    const { attempt_id } = await connect(shop);
    const attempt = attempt_id as string;
    await answer(attach(shop.id, attempt, providerId("acct")));
    const late = asCaller(
      SERVER,
      (tx) => tx`
        select public.attach_payment_account(${shop.id}, ${attempt}, ${providerId("acct")}, false)`,
    );
    expect(await outcome(late)).toBe("busy");
    const rows = await sql`
      select id from private.payment_accounts where professional_id = ${shop.id}`;
    expect(rows).toHaveLength(1);
  });

  test("is nobody's who did not ask for it", async () => {
    const [shop, other] = await Promise.all([openShop(), openShop()]);
    const { attempt_id } = await connect(shop);
    const stolen = attach(other.id, attempt_id as string, providerId("acct"));
    expect(await failure(stolen)).toMatchObject({ status: 404, code: "PGRST301" });
    const madeUp = attach(shop.id, randomUUID(), providerId("acct"));
    expect(await failure(madeUp)).toMatchObject({ status: 404, code: "PGRST301" });
    for (const id of ["acct-1", "acct_", "cus_1", "acct_1 "]) {
      expect(await failure(attach(shop.id, attempt_id as string, id))).toMatchObject({
        status: 422,
        details: { fields: ["account_id"] },
      });
    }
  });

  test("can charge when Stripe says so, and says what is missing when not", async () => {
    const seller = await openSeller();
    expect(await account(seller)).toMatchObject({ can_charge: true, missing: [] });
    const missing = ["identity.individual.given_name", "external_account"];
    await recordAccount(seller.account, { can_charge: false, missing });
    expect(await account(seller)).toMatchObject({
      account_id: seller.account,
      can_charge: false,
      missing,
      checked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const order = await orderFor(seller);
    expect(await failure(askCheckout(order))).toMatchObject(UNAVAILABLE);
    await recordAccount(seller.account);
    expect((await beginCheckout(order)).state).toBe("create");
  });

  test("that Stripe does not let us act for is replaced by a new one when asked", async () => {
    const seller = await openSeller();
    await recordAccount(seller.account, { can_charge: true, deauthorized: true });
    expect(await account(seller)).toMatchObject({ account_id: seller.account, can_charge: false });
    const { account_id, attempt_id } = await connect(seller);
    expect(account_id).toBeNull();
    expect(attempt_id).not.toBeNull();
    const next = await connectAccount(seller);
    expect(await account(seller)).toMatchObject({ account_id: next, can_charge: true });
  });

  test("of the other mode pays nothing", async () => {
    const shop = await openShop();
    await connectAccount(shop, { livemode: true });
    const order = await orderFor(shop);
    expect(await failure(askCheckout(order, { livemode: false }))).toMatchObject(UNAVAILABLE);
    expect((await beginCheckout(order, { livemode: true })).state).toBe("create");
  });

  test("of the other mode than the function's key has nothing held for it", async () => {
    const seller = await openSeller();
    const held = (livemode: boolean) =>
      rolledBack(async (tx) => {
        await tx`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
        await tx`select private.report_payment_mode(${livemode})`;
        await tx`select private.check_payable(${seller.id}, 10, 'EUR')`;
      });
    expect(await raised(held(true))).toMatchObject(UNAVAILABLE);
    await held(false);
    const nothing = server().rpc("report_payment_mode", { livemode: null as never });
    expect(await failure(nothing)).toMatchObject({ code: "validation_failed" });
  });

  test("is asked about daily, until it is let go", async () => {
    const seller = await openSeller();
    expect(await lookIn(seller.account)).toBe(24 * 60);
    await lookNow(seller.account);
    const task = await claim(seller.account);
    expect(task).toMatchObject({ kind: "account", livemode: false, checkout: null, refund: null });
    if (!task) return;
    await finish(task);
    expect(await lookIn(seller.account)).toBe(24 * 60);
    await answer(seller.api.rpc("detach_payment_account"));
    await lookNow(seller.account);
    await finish((await claim(seller.account)) ?? task);
    expect(await lookIn(seller.account)).toBeNull();
  });
});

describe("an account that is let go", () => {
  test("has its open pages closed, and pays no more", async () => {
    const seller = await openSeller();
    const [order, other] = await Promise.all([orderFor(seller), orderFor(seller)]);
    const { checkout } = await openPage(order);
    expect(await isRung(checkout.id)).toBe(false);
    await answer(seller.api.rpc("detach_payment_account"));
    expect(await account(seller)).toBeNull();
    expect(await isRung(checkout.id)).toBe(true);
    expect(await claim(checkout.id)).toMatchObject({ checkout: { expire: true } });
    expect(await failure(askCheckout(other))).toMatchObject(UNAVAILABLE);
    expect((await beginCheckout(order)).state).toBe("expire");
    // Once more is no failure, and a new one is another.
    await answer(seller.api.rpc("detach_payment_account"));
    expect(await connectAccount(seller)).not.toBe(seller.account);
    expect((await beginCheckout(other)).state).toBe("create");
  });

  test("is still known to what comes later", async () => {
    const { seller, order, intent } = await paidOrder();
    const open = await orderFor(seller);
    const page = await openPage(open);
    await answer(seller.api.rpc("detach_payment_account"));
    await recordRefund(seller.account, refundOf(intent, 1000));
    expect(await movements(order)).toEqual(["payment 60.5", "refund 10"]);
    await recordSession(seller.account, paidAs(page.session));
    expect(await movements(open)).toEqual(["payment 60.5"]);
  });
});

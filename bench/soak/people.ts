/** What everybody asks all day: every table and RPC, rightly and wrongly. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dateIn } from "../../tests/support/calendar.ts";
import { codeIn, mailsTo } from "../../tests/support/portal.ts";
import { until } from "../../tests/support/webhooks.ts";
import { brokenBody, chance, int, nonsense, pick, start } from "./random.ts";
import type { Body } from "./recorder.ts";
import { fake, RETURN_URL } from "./stripe.ts";
import { type Ask, ask, type Caller, type Shop, shops, sink } from "./world.ts";

const get = (path: string): Ask => ["GET", `/rest/v1/${path}`];
const insert = (table: string, row: unknown): Ask => ["POST", `/rest/v1/${table}`, row];
const rpc = (name: string, body: unknown): Ask => ["POST", `/rest/v1/rpc/${name}`, body];
const patch = (table: string, id: string, body: unknown) =>
  ["PATCH", `/rest/v1/${table}?id=eq.${id}`, body] as Ask;
const webhooks = "/functions/v1/webhooks";
const payments = "/functions/v1/payments";
const calendar = "/functions/v1/calendar";

/** Something of this kind that the caller has made, or that nobody has. */
const own = ({ made }: Caller, kind: string): string => pick(made[kind] ?? [randomUUID()]);

/** With a key, and the key in the notes, so that afterwards its effects can be counted. */
function keyed(name: string, body: object): Ask {
  const key = randomUUID();
  return rpc(name, { ...body, notes: key, idempotency_key: key });
}

const book = ({ services }: Shop, by: object) =>
  keyed("create_booking", { service_id: pick(services), starts_at: start(), ...by });

const items = ({ products }: Shop) => [{ product_id: pick(products), quantity: 1 + int(3) }];

const order = (shop: Shop, by: object) =>
  keyed("place_order", { professional_id: shop.id, items: items(shop), ...by });

/** As a careful caller asks: again until there is an answer that is no fault, if the call has a key. */
async function insist(caller: Caller, what: Ask): Promise<Body> {
  const hasKey = /(create_booking|place_order|checkout)$/.test(what[1]);
  let body: Body = {};
  for (let tries = 0; tries < 20; tries++) {
    const got = await ask(caller, what);
    const isFault = got.status === 0 || got.status >= 500;
    if (got.status === 200) body = got.body;
    // Once in a while somebody asks twice although it worked.
    if (!hasKey || (!isFault && !chance(0.1))) break;
    await sleep(200);
  }
  return body;
}

/** Of a professional. */
const sell = (shop: Shop): Ask[] => {
  const client_id = pick(shop.clients);
  const booking = { client_id, service_id: pick(shop.services), starts_at: start() };
  const tip = { name: "Tip", unit_price: int(500) / 100, quantity: 1 };
  const of = { order_id: own(shop, "orders"), reference: randomUUID() };
  return [
    insert("bookings", { ...booking, internal_notes: randomUUID() }),
    insert("orders", { client_id, items: [...items(shop), tip], discount: int(3) }),
    rpc("record_payment", { ...of, amount: 1 + int(4), method: "cash" }),
    rpc("refund_payment", { ...of, amount: 1, reason: "back" }),
  ];
};

const change = (shop: Shop): Ask[] => {
  const booking_id = own(shop, "bookings");
  return [
    patch("orders", own(shop, "orders"), { status: pick(["confirmed", "fulfilled", "cancelled"]) }),
    patch("bookings", booking_id, { status: pick(["confirmed", "cancelled", "no_show"]) }),
    patch("bookings", booking_id, { starts_at: start(), notes: randomUUID() }),
    rpc("cancel_booking", { booking_id, reason: "ill" }),
    rpc("reschedule_booking", { booking_id, starts_at: start() }),
  ];
};

/** Extra rows and endpoints come and go; those the shop began with stay. */
const arrange = (shop: Shop): Ask[] => {
  const [table, row] = pick<[string, object]>([
    ["services", { name: "Extra", price: 5, duration: 15 }],
    ["products", { name: "Extra", price: 5, stock: 3 }],
    ["products", { name: "Variant", price: 5, stock: 3, parent_id: pick(shop.products) }],
    ["clients", { name: "Extra", email: `${randomUUID()}@example.com` }],
  ]);
  const endpoint = `${webhooks}/endpoints/${own(shop, "endpoints")}`;
  const product_id = pick(shop.products);
  // Once each: a second time takes away the event that told of the first.
  const known = shop.made.clients?.find((id) => !shop.made.erase_client?.includes(id));
  return [
    insert(table, row),
    insert(table, row),
    patch(table, own(shop, table), { name: "Changed" }),
    ["DELETE", `/rest/v1/${table}?id=eq.${own(shop, table)}`],
    rpc("erase_client", { client_id: known ?? randomUUID() }),
    rpc("adjust_stock", { product_id, delta: int(30) - 5, reason: "counted" }),
    ["POST", `${webhooks}/endpoints`, { url: `${sink.url}?${randomUUID()}`, events: ["client.*"] }],
    ["POST", `${endpoint}/test`],
    ["DELETE", endpoint],
    ["POST", `${webhooks}/deliveries/${own(shop, "deliveries")}/redeliver`],
  ];
};

const read = (): Ask[] => [
  get("services?select=*&order=created_at.desc"),
  get("clients?select=*,bookings(*)&limit=20"),
  get("bookings?select=*&order=created_at.desc,id&limit=50"),
  get("orders?select=*,clients(name)&status=eq.pending"),
  get("products?select=*,variants(*)&parent_id=is.null"),
  get("clients?name=ilike.*art*&limit=10"),
  get("rpc/audit"),
  ...["endpoints", "deliveries", "events"].map((of): Ask => ["GET", `${webhooks}/${of}`]),
  ...["busy", "google"].map((of): Ask => ["GET", `${calendar}/${of}`]),
];

/** Calls that must be refused, whatever the state of things. */
const misuse = ({ id, services }: Shop): Ask[] => {
  const other = pick(shops);
  const table = pick(["profiles", "services", "clients", "products", "bookings", "orders"]);
  const bogus = { name: nonsense(), price: nonsense(), duration: nonsense(), metadata: nonsense() };
  const foreign = { client_id: pick(other.clients), service_id: pick(services) };
  return [
    insert(table, brokenBody()),
    insert(table, bogus),
    get(`${table}?id=eq.x&select=nothing`),
    get("secrets"),
    insert("bookings", { ...foreign, starts_at: start() }),
    ["PATCH", `/rest/v1/${table}?professional_id=eq.${other.id}`, { professional_id: id }],
    ["DELETE", `/rest/v1/bookings?id=eq.${randomUUID()}`],
    patch("profiles", id, { tier: "max" }),
    rpc("record_payment", { order_id: randomUUID(), amount: nonsense(), method: nonsense() }),
    rpc("adjust_stock", { product_id: pick(other.products), delta: 1, reason: "theft" }),
    rpc("claim_webhook_deliveries", { max_count: 10 }),
    rpc("nothing", {}),
    ["POST", `${webhooks}/endpoints`, brokenBody()],
    ["POST", `${webhooks}/endpoints`, { url: "http://169.254.169.254/", events: [nonsense()] }],
    ["POST", `${webhooks}/dispatch`, {}],
    ["POST", `${calendar}/busy`, { url: "https://169.254.169.254/" }],
    ["POST", `${calendar}/busy/${other.busyCalendar}/sync`],
    ["DELETE", `${calendar}/busy/${other.id === id ? randomUUID() : other.busyCalendar}`],
    ["GET", `${calendar}/feed/${"x".repeat(43)}.ics`],
  ];
};

/** Selling most, everything else often enough. */
export async function workAsProfessional(shop: Shop): Promise<void> {
  const what = pick(pick([sell, sell, sell, change, change, arrange, read, misuse])(shop));
  // Sometimes the token is one of nobody.
  const token = chance(0.02) ? pick(["x.y.z", `${shop.token}x`]) : shop.token;
  await ask({ token, made: shop.made }, what);
}

/** One call of somebody without an account. */
export async function visit(): Promise<void> {
  const shop = pick(shops);
  const by = { client_name: "Ann", client_email: `ann-${int(400)}@example.com` };
  const slot = { service_id: pick(shop.services), starts_at: start() };
  const dates = { from_date: dateIn(int(20)), to_date: dateIn(20 + int(14)) };
  const what = pick([
    ...[book, book, order, order].map((act) => act(shop, by)),
    rpc("available_slots", { service_id: slot.service_id, ...dates }),
    rpc("explain_slot", slot),
    rpc("quote_order", { professional_id: shop.id, items: items(shop) }),
    ["GET", pick(shop.feeds)] as Ask,
    get(`rpc/booking_page?username=ana-${shop.id}`),
    get(`services?select=id,name,price&professional_id=eq.${shop.id}`),
    get("clients?select=*"),
    get("products?select=*"),
    rpc("create_booking", { ...by, service_id: nonsense(), starts_at: nonsense() }),
    rpc("create_booking", brokenBody()),
    rpc("place_order", { ...by, professional_id: shop.id, items: nonsense() }),
  ]);
  await insist({ made: {} }, what);
}

/** Somebody books what is paid at once, and mostly pays; what comes of it is the professional's to change. */
export async function buy(): Promise<void> {
  const shop = pick(shops);
  const nobody: Caller = { made: {} };
  const by = { client_name: "Ann", client_email: `ann-${int(400)}@example.com` };
  const held = await insist(nobody, book({ ...shop, services: shop.paidServices }, by));
  if (!held.checkout_token) return;
  const { order_id, checkout_token: token, id } = held;
  const urls = { success_url: RETURN_URL, cancel_url: RETURN_URL };
  const checkout: Ask = ["POST", `${payments}/checkout`, { order_id, token, ...urls }];
  const page = await insist(nobody, checkout);
  const [session] = /cs_test_\w+/.exec(String(page.url)) ?? [];
  if (!session || chance(0.1)) return;
  await sleep(int(500));
  const owner: Caller = { token: shop.token, made: {} };
  // The owner may be faster than the buyer.
  const cancel = rpc("cancel_booking", { booking_id: id });
  if (chance(0.1)) await Promise.all([ask(owner, cancel), sleep(int(100))]);
  if (fake.session(session).status !== "open") return;
  fake.refundsAre = pick(["succeeded", "succeeded", "pending", "failed"]);
  fake.pay(session);
  await sleep(int(1_000));
  const then = int(10);
  if (then < 3) await ask(owner, cancel);
  else if (then < 5) await giveBack(owner, String(order_id));
  if (chance(0.1)) bankTakesBack(session);
}

/** Some of what was paid, maybe more than is left. */
async function giveBack(owner: Caller, order_id: string): Promise<void> {
  const { body } = await ask(owner, rpc("order_payments", { order_id }));
  const refund = { payment_id: body.id ?? randomUUID(), amount: 1 + int(30) };
  await ask(owner, ["POST", `${payments}/refunds`, refund]);
}

function bankTakesBack(session: string): void {
  const intent = String(fake.session(session).payment_intent);
  const { dispute } = fake.dispute(intent);
  if (chance(0.7)) fake.closeDispute(dispute, pick(["won", "lost"]));
}

/** A client signs in with a mailed code, does this and that, and signs out. */
export async function usePortal(isOver: () => boolean): Promise<void> {
  const shop = pick(shops);
  const caller: Caller = { made: {} };
  const post = (path: string, body?: object) =>
    ask(caller, ["POST", `/functions/v1/${path}`, body]);

  const who = { email: pick(shop.emails), professionalId: shop.id };
  const before = (await mailsTo(who.email)).length;
  await post("send-portal-otp", { email: nonsense(), professionalId: nonsense() });
  if ((await post("send-portal-otp", who)).status !== 200) return;
  const mails = () => mailsTo(who.email);
  const [newest] = await until(mails, ({ length }) => length > before, 5).catch(() => []);
  if (!newest) return;
  if (chance(0.3)) await post("verify-portal-otp", { ...who, code: "000000" });
  const { body } = await post("verify-portal-otp", { ...who, code: codeIn(newest) });
  if (!body.access_token) return;
  caller.token = String(body.access_token);

  for (let turn = 0; turn < 12 && !isOver(); turn++) {
    const booking_id = own(caller, "create_booking");
    const what = pick<Ask>([
      book(shop, {}),
      order(shop, {}),
      get("bookings?select=id,status"),
      get("orders?select=id,number,items"),
      rpc("cancel_booking", { booking_id }),
      rpc("reschedule_booking", { booking_id, starts_at: start() }),
      ["PATCH", "/rest/v1/clients?id=not.is.null", { phone: `${int(1e6)}` }],
      get("bookings?select=internal_notes"),
      insert("services", { name: "x" }),
      rpc("audit", {}),
    ]);
    await insist(caller, what);
    await sleep(int(150));
  }
  await post("verify-portal-otp/sign-out");
  await ask(caller, get("bookings?select=id"));
}

/** Somebody signs up, looks around, comes back, and signs out. */
export async function signUp(): Promise<void> {
  const account = { email: `new-${randomUUID()}@example.com`, password: "correct horse" };
  const caller: Caller = { made: {} };
  const auth = async (path: string, body: object) => {
    const answer = await ask(caller, ["POST", `/auth/v1/${path}`, body]);
    if (answer.body.access_token) caller.token = String(answer.body.access_token);
    return answer.body;
  };
  const data = { full_name: pick([null, "", 7, {}, "z".repeat(20_000)]), username: "new" };
  await auth("signup", { ...account, data });
  await auth("token?grant_type=password", { ...account, password: "wrong" });
  const { refresh_token } = await auth("token?grant_type=password", account);
  await ask(caller, get("profiles?select=*"));
  await auth("token?grant_type=refresh_token", { refresh_token });
  await auth("logout", {});
  await ask(caller, get("profiles?select=*"));
}

/** Calls that a key was answered rightly although it had been revoked before they began. */
export const wentOn: string[] = [];
/** How many calls began after their key's end. */
export const afterTheEnd = { count: 0 };

/** A program gets a key of a shop and works with it, at several things at once, until the key is revoked. */
export async function runProgram(isOver: () => boolean): Promise<void> {
  const shop = pick(shops);
  const access = pick(["read", "write"]);
  const made = await ask(shop, rpc("create_api_key", { name: "Till", access }));
  const { id: key_id, key } = made.body;
  if (!key) return;
  const program: Caller = { made: shop.made };
  const exchange = async () => {
    const { body } = await ask({ token: String(key), made: {} }, ["POST", "/functions/v1/token"]);
    if (body.access_token) program.token = String(body.access_token);
  };
  await exchange();
  if (program.token === undefined) return;

  let isRevoked = false;
  let calls = 0;
  const work = async () => {
    while (!isOver() && calls < 24) {
      calls++;
      const wasRevoked = isRevoked;
      const what = pick(pick([sell, change, read])(shop));
      const { status } = await ask(program, what);
      if (wasRevoked) afterTheEnd.count++;
      if (wasRevoked && status >= 200 && status < 400) wentOn.push(`${what[0]} ${what[1]}`);
      await sleep(int(150));
    }
  };
  const revoke = async () => {
    while (calls < 12 && !isOver()) await sleep(20);
    // Until it is said that it has happened: a part may be down.
    for (let tries = 0; tries < 20 && !isRevoked; tries++) {
      const { status } = await ask(shop, rpc("revoke_api_key", { key_id }));
      isRevoked = status === 200;
      if (!isRevoked) await sleep(200);
    }
    // Asked again, the key gives nothing.
    const before = program.token;
    await exchange();
    if (isRevoked && program.token !== before) wentOn.push("exchange");
  };
  await Promise.all([work(), work(), work(), revoke()]);
}

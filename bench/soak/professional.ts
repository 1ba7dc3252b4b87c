/** What a professional does all day: every table and RPC, rightly and wrongly. */
import { randomUUID } from "node:crypto";
import { brokenBody, chance, int, nonsense, pick, start } from "./random.ts";
import { call, insert, rpc, type Shop, type World } from "./world.ts";

const TABLES = ["profiles", "services", "clients", "products", "bookings", "orders"];

type Act = (world: World, shop: Shop) => Promise<unknown>;

function remember(list: string[], id: string | undefined): void {
  if (id === undefined) return;
  list.push(id);
  if (list.length > 40) list.splice(int(30), 1);
}

const patch = (world: World, shop: Shop, table: string, id: string, body: unknown) =>
  call(world, `patch ${table}`, "PATCH", `/rest/v1/${table}?id=eq.${id}`, {
    token: shop.token,
    body,
  });

const book: Act = async (world, shop) => {
  const id = await insert(world, shop, "bookings", {
    client_id: pick(shop.clients),
    service_id: pick(shop.services),
    starts_at: start(),
    internal_notes: randomUUID(),
  });
  if (id) world.recorder.acknowledged.bookings.add(id);
  remember(shop.bookings, id);
};

const order: Act = async (world, shop) => {
  const items = [
    { product_id: pick(shop.products), quantity: 1 + int(3) },
    { name: "Tip", unit_price: int(500) / 100, quantity: 1 },
  ];
  const row = { client_id: pick(shop.clients), items, discount: int(3) };
  const id = await insert(world, shop, "orders", row);
  if (id) world.recorder.acknowledged.orders.add(id);
  remember(shop.orders, id);
};

const pay: Act = async (world, shop) => {
  if (shop.orders.length === 0) return;
  const reference = randomUUID();
  const body = { order_id: pick(shop.orders), amount: 1 + int(4), method: "cash", reference };
  const answer = await rpc(world, "record_payment", body, shop.token);
  if (answer.status === 200) world.recorder.payments.add(reference);
  if (chance(0.3)) {
    const refund = {
      order_id: body.order_id,
      amount: 1,
      reason: "back",
      reference: `r-${reference}`,
    };
    const refunded = await rpc(world, "refund_payment", refund, shop.token);
    if (refunded.status === 200) world.recorder.payments.add(refund.reference);
  }
};

const catalogue: Act = async (world, shop) => {
  const [table, row] = pick([
    ["services", { name: "Extra", price: 5, duration: 15 }],
    ["products", { name: "Extra", price: 5, stock: 3 }],
    ["products", { name: "Variant", price: 5, stock: 3, parent_id: pick(shop.products) }],
    ["clients", { name: "Extra", email: `${randomUUID()}@example.com` }],
  ] as const);
  const id = await insert(world, shop, table, row);
  if (!id) return;
  await patch(world, shop, table, id, { name: "Changed" });
  if (chance(0.7)) {
    const { token } = shop;
    await call(world, `delete ${table}`, "DELETE", `/rest/v1/${table}?id=eq.${id}`, { token });
  } else if (table === "clients" && chance(0.5)) {
    await rpc(world, "erase_client", { client_id: id }, shop.token);
  }
};

const change: Act = async (world, shop) => {
  if (shop.bookings.length === 0) return;
  const id = pick(shop.bookings);
  await pick([
    () =>
      patch(world, shop, "bookings", id, { status: pick(["confirmed", "cancelled", "no_show"]) }),
    () => patch(world, shop, "bookings", id, { notes: randomUUID() }),
    () => patch(world, shop, "bookings", id, { starts_at: start() }),
    () => rpc(world, "cancel_booking", { booking_id: id, reason: "ill" }, shop.token),
    () => rpc(world, "reschedule_booking", { booking_id: id, starts_at: start() }, shop.token),
  ])();
};

const progress: Act = async (world, shop) => {
  if (shop.orders.length === 0) return;
  const status = pick(["confirmed", "fulfilled", "cancelled"]);
  await patch(world, shop, "orders", pick(shop.orders), { status });
};

const stock: Act = (world, shop) =>
  rpc(
    world,
    "adjust_stock",
    { product_id: pick(shop.products), delta: int(30) - 5, reason: "counted" },
    shop.token,
  );

const QUERIES = [
  "services?select=*&order=created_at.desc",
  "clients?select=*,bookings(*)&limit=20",
  "bookings?select=*&order=created_at.desc,id&limit=50",
  "orders?select=*,clients(name)&status=eq.pending",
  "products?select=*,variants(*)&parent_id=is.null",
  "clients?name=ilike.*art*&limit=10",
  "rpc/audit",
];
const read: Act = (world, { token }) => {
  const query = pick(QUERIES);
  return call(world, "read", "GET", `/rest/v1/${query}`, { token });
};

const webhooks: Act = async (world, { token }) => {
  const base = "/functions/v1/webhooks";
  const get = (path: string) => call(world, `webhooks ${path}`, "GET", base + path, { token });
  if (chance(0.3)) {
    const url = world.receiver.url(`extra-${randomUUID()}`);
    const body = { url, events: ["client.*"] };
    const made = await call(world, "create endpoint", "POST", `${base}/endpoints`, { token, body });
    const { id } = (made.body ?? {}) as { id?: string };
    if (made.status !== 201 || !id) return;
    await call(world, "test endpoint", "POST", `${base}/endpoints/${id}/test`, { token });
    await call(world, "delete endpoint", "DELETE", `${base}/endpoints/${id}`, { token });
    return;
  }
  const page = await get(pick(["/endpoints", "/deliveries", "/events"]));
  const [first] = ((page.body as { data?: { id: string; endpoint_id?: string }[] })?.data ??
    []) as {
    id: string;
    endpoint_id?: string;
  }[];
  if (first?.endpoint_id)
    await call(world, "redeliver", "POST", `${base}/deliveries/${first.id}/redeliver`, { token });
};

/** Calls that must be refused, whatever the state of things. */
const misuse: Act = async (world, shop) => {
  const other = pick(world.shops);
  const table = pick(TABLES);
  const { token } = shop;
  await pick<() => Promise<unknown>>([
    () => call(world, "broken body", "POST", `/rest/v1/${table}`, { token, body: brokenBody() }),
    () =>
      call(world, "nonsense", "POST", `/rest/v1/${table}`, {
        token,
        body: { name: nonsense(), price: nonsense(), duration: nonsense(), metadata: nonsense() },
      }),
    () => call(world, "nonsense", "GET", `/rest/v1/${table}?id=eq.x&select=nothing`, { token }),
    () => call(world, "unknown", "GET", "/rest/v1/secrets", { token }),
    () =>
      call(world, "foreign row", "POST", "/rest/v1/bookings", {
        token,
        body: {
          client_id: pick(other.clients),
          service_id: pick(shop.services),
          starts_at: start(),
        },
      }),
    () =>
      call(world, "foreign row", "PATCH", `/rest/v1/${table}?professional_id=eq.${other.id}`, {
        token: pick([token, "x.y.z", `${token}x`]),
        body: { name: "mine", professional_id: shop.id },
      }),
    () => call(world, "forbidden", "DELETE", `/rest/v1/bookings?id=eq.${randomUUID()}`, { token }),
    () =>
      call(world, "forbidden", "PATCH", `/rest/v1/profiles?id=eq.${shop.id}`, {
        token,
        body: { tier: "max" },
      }),
    () =>
      rpc(
        world,
        "record_payment",
        { order_id: randomUUID(), amount: nonsense(), method: nonsense() },
        token,
      ),
    () =>
      rpc(
        world,
        "adjust_stock",
        { product_id: pick(other.products), delta: 1, reason: "theft" },
        token,
      ),
    () => rpc(world, "claim_webhook_deliveries", { max_count: 10 }, token),
    () => rpc(world, "nothing", {}, token),
    () =>
      call(world, "broken body", "POST", "/functions/v1/webhooks/endpoints", {
        token,
        body: brokenBody(),
      }),
    () =>
      call(world, "nonsense", "POST", "/functions/v1/webhooks/endpoints", {
        token,
        body: { url: "http://169.254.169.254/", events: [nonsense()] },
      }),
    () => call(world, "dispatch", "POST", "/functions/v1/webhooks/dispatch", { token, body: {} }),
  ])();
};

/** Booking and ordering most, everything else often enough. */
const DAY: readonly Act[] = [
  ...[book, book, order, order, pay, pay, change, change, progress],
  ...[catalogue, stock, read, read, read, webhooks, misuse, misuse, misuse],
];

export const workAsProfessional: Act = (world, shop) => pick(DAY)(world, shop);

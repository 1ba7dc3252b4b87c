/** The people of a soak and what they start with, all made through the API, so that it has its events. */
import type { Sql } from "postgres";
import type { StackEnv } from "../../local/stack.ts";
import { createProfessional, type Professional, request, someAddress } from "../people.ts";
import type { Receiver } from "../receiver.ts";
import { pick } from "./random.ts";
import type { Recorder } from "./recorder.ts";

export interface Shop extends Professional {
  services: string[];
  products: string[];
  clients: string[];
  bookings: string[];
  orders: string[];
  /** Addresses of clients who use the portal. */
  emails: string[];
  /** Endpoints that stay: their paths at the receiver, and what they listen to. */
  endpoints: { path: string; events: string[] }[];
}

export interface World {
  env: StackEnv;
  recorder: Recorder;
  receiver: Receiver;
  shops: Shop[];
  /** False once everybody shall go home. */
  open: boolean;
}

export interface Answer {
  status: number;
  /** Parsed JSON, or undefined. */
  body: unknown;
}

/** A call by whoever has the token, else by somebody new of the public, recorded under its name. */
export async function call(
  world: World,
  name: string,
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: HeadersInit } = {},
): Promise<Answer> {
  const from = performance.now();
  try {
    const caller = options.token === undefined ? { from: someAddress() } : {};
    const response = await request(world.env, method, path, { ...options, ...caller });
    const text = await response.text();
    world.recorder.record(name, path, response.status, text.slice(0, 300), from);
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    return { status: response.status, body };
  } catch (error) {
    world.recorder.record(name, path, 0, String(error), from);
    return { status: 0, body: undefined };
  }
}

const RETURN = { Prefer: "return=representation" };

/** Inserts a row and returns its id; undefined when it was refused. */
export async function insert(
  world: World,
  shop: Professional,
  table: string,
  row: Record<string, unknown>,
): Promise<string | undefined> {
  const { status, body } = await call(world, `insert ${table}`, "POST", `/rest/v1/${table}`, {
    token: shop.token,
    body: row,
    headers: RETURN,
  });
  return status === 201 ? (body as { id: string }[])[0]?.id : undefined;
}

export const rpc = (world: World, name: string, body: unknown, token?: string): Promise<Answer> =>
  call(world, `rpc ${name}`, "POST", `/rest/v1/rpc/${name}`, {
    body,
    ...(token !== undefined && { token }),
  });

const WEEK = Object.fromEntries(
  ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map((day) => [day, [["09:00", "18:00"]]]),
);

/** A professional with a catalogue, clients and two endpoints, one of which often fails. */
async function openShop(world: World, sql: Sql, number: number): Promise<Shop> {
  const person = await createProfessional(sql, world.env);
  const shop: Shop = {
    ...person,
    services: [],
    products: [],
    clients: [],
    bookings: [],
    orders: [],
    emails: [],
    endpoints: [
      { path: `steady-${number}`, events: ["*"] },
      { path: `flaky-${number}`, events: ["booking.*", "payment.*"] },
    ],
  };
  for (const { path, events } of shop.endpoints) {
    const answer = await call(
      world,
      "create endpoint",
      "POST",
      "/functions/v1/webhooks/endpoints",
      {
        token: shop.token,
        body: { url: world.receiver.url(path), events },
      },
    );
    if (answer.status !== 201) throw new Error(`no endpoint: ${JSON.stringify(answer)}`);
  }
  const { token } = shop;
  await call(world, "patch profiles", "PATCH", `/rest/v1/profiles?id=eq.${shop.id}`, {
    token,
    body: { availability: { weekly: WEEK } },
  });
  const add = async (into: string[], table: string, row: Record<string, unknown>) => {
    const id = await insert(world, shop, table, row);
    if (!id) throw new Error(`no row in ${table}`);
    into.push(id);
  };
  for (const duration of [30, 60, 45]) {
    const row = { name: `Cut ${duration}`, price: duration, duration, slot_step: 30 };
    await add(shop.services, "services", {
      ...row,
      buffer_after: pick([0, 10]),
      requires_confirmation: duration === 45,
    });
  }
  for (let n = 0; n < 5; n++) {
    const row = { name: `Product ${n}`, price: 3.5 + n, sku: `P${n}`, stock: n === 0 ? null : 40 };
    await add(shop.products, "products", { ...row, low_stock_at: 5 });
  }
  for (let n = 0; n < 6; n++) {
    const email = `portal-${number}-${n}@example.com`;
    await add(shop.clients, "clients", { name: `Marta ${n}`, email });
    shop.emails.push(email);
  }
  return shop;
}

export async function openShops(world: World, sql: Sql, count: number): Promise<void> {
  for (let n = 0; n < count; n++) world.shops.push(await openShop(world, sql, n));
}

/** Who is there and how they call. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { connect as connectBusy } from "../../tests/support/busy.ts";
import { request, signToken } from "../../tests/support/callers.ts";
import { createClientRow, createProduct, createService } from "../../tests/support/factories.ts";
import type { FakeAccount } from "../../tests/support/google.ts";
import { openProfessional } from "../../tests/support/scheduling.ts";
import { type Answer as Reply, startReceiver, subscribe } from "../../tests/support/webhooks.ts";
import { host } from "./calendars.ts";
import { accountAtGoogle } from "./google.ts";
import { chance, int, pick } from "./random.ts";
import { type Body, now, record, remember } from "./recorder.ts";
import { fake, RETURN_URL } from "./stripe.ts";

export interface Caller {
  /** The public has none. */
  token?: string | undefined;
  /** Ids of what this caller has made, and of deliveries, by the last part of the path. */
  made: Record<string, string[]>;
}

export interface Shop extends Caller {
  id: string;
  services: string[];
  /** Those that are paid when they are booked. */
  paidServices: string[];
  /** At Stripe. */
  account: string;
  /** Paths of two, with all that there is and only when it is. */
  feeds: string[];
  /** The id of one that is elsewhere. */
  busyCalendar: string;
  google: FakeAccount;
  products: string[];
  clients: string[];
  /** Addresses of clients who use the portal. */
  emails: string[];
}

export const shops: Shop[] = [];
/** Ids of events by the endpoint that has got them, of the endpoints that stay. */
export const received = new Map<string, Set<string>>();
/** Where endpoints may lead that are soon deleted. */
export const sink = await startReceiver();

/** Longer than any answer may take, the restart of a database included. */
const PATIENCE_MS = 30_000;

/** An address of this machine that nobody has called from: the public is counted by network. Linux only. */
export const someAddress = () => `127.${1 + int(249)}.${int(256)}.${1 + int(254)}`;

/** fetch() cannot choose the address it calls from. */
const fetchFrom = (localAddress: string): typeof fetch => {
  return async (url, { method, headers, body, signal } = {}) => {
    const options = { headers: Object.fromEntries(headers as Headers), localAddress, agent: false };
    const outgoing = httpRequest(String(url), { ...options, method, signal } as RequestOptions);
    outgoing.end(body);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    const text = Buffer.concat(await incoming.toArray());
    return new Response(text.length > 0 ? text : null, { status: incoming.statusCode ?? 0 });
  };
};

export type Ask = [method: string, path: string, body?: unknown];

/** One request; whoever has no token calls from an address of their own. */
export function send(
  [method, path, body]: Ask,
  token?: string,
  from = token ? undefined : someAddress(),
): Promise<Response> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const init: RequestInit = { method, signal };
  if (method === "POST") init.headers = { prefer: "return=representation" };
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  return request(path, { ...init, token }, from ? fetchFrom(from) : fetch);
}

/** The answer, or the first row of a list. */
function parse(text: string): Body {
  try {
    const value = JSON.parse(text);
    const [first] = [value?.data ?? value].flat();
    return first ?? {};
  } catch {
    return {};
  }
}

/** A call whose answer is recorded, and of which the caller learns an id to work on with. */
export async function ask(
  { token, made }: Caller,
  [method, path, body]: Ask,
): Promise<{ status: number; body: Body }> {
  const from = performance.now();
  let [status, text] = [0, ""];
  try {
    const response = await send([method, path, body], token);
    text = await response.text();
    status = response.status;
  } catch (error) {
    text = String(error);
  }
  record({ method, path, status, text: text.slice(0, 300), from, to: performance.now() });
  const found = parse(text);
  if (status >= 200 && status < 300) {
    const kind = path.split("/").at(-1) ?? "";
    const isNew = method === "POST" || kind === "deliveries";
    if (isNew && found.id) made[kind] = [...(made[kind] ?? []), String(found.id)].slice(-40);
    if (method === "POST") remember(path, body as Body | undefined, found);
  }
  return { status, body: found };
}

/** Has an account at Stripe made and fills in its form; gives its id. */
async function connect(token: string): Promise<string> {
  const path = "/functions/v1/payments/account";
  const link = await send(["POST", path, { return_url: RETURN_URL }], token);
  const { url } = (await link.json()) as { url: string };
  const account = /acct_\w+/.exec(url)?.[0] ?? "";
  fake.onboard(account);
  await (await send(["GET", path], token)).arrayBuffer();
  return account;
}

/** Two feeds, a calendar elsewhere and one at Google. */
async function connectCalendars(token: string) {
  const feeds = ["full", "busy"].map(async (detail) => {
    const path = "/rest/v1/rpc/create_calendar_feed";
    const made = await send(["POST", path, { name: detail, detail }], token);
    return ((await made.json()) as { path: string }).path;
  });
  const google = accountAtGoogle();
  const body = { refresh_token: google.refreshToken };
  await (await send(["POST", "/functions/v1/calendar/google", body], token)).arrayBuffer();
  const { id: busyCalendar } = await connectBusy({ token }, host.url);
  return { feeds: await Promise.all(feeds), google, busyCalendar };
}

/** A professional with two endpoints, one of which often fails, a catalogue and clients. */
export async function openShop(): Promise<void> {
  const owner = await openProfessional({ accepts_orders: true });
  const addEndpoint = async (events: string[], fault: () => Reply | undefined) => {
    const ids = new Set<string>();
    const { url } = await startReceiver(({ id }) => {
      const reply = fault();
      if (!reply) ids.add(id);
      return reply ?? {};
    });
    received.set(url, ids);
    await subscribe(owner, { url, events });
  };
  const faults: Reply[] = [{ status: 500 }, { status: 503 }, { status: 429 }, { hangsUp: true }];
  await addEndpoint(["*"], () => undefined);
  await addEndpoint(["booking.*", "payment.*"], () =>
    now.phase !== "settling" && chance(0.3) ? pick(faults) : undefined,
  );
  const services = [30, 45, 60].map((duration) => {
    const row = { duration, slot_step: 30, requires_confirmation: duration === 45 };
    return createService(owner, { ...row, buffer_after: pick([0, 10]) });
  });
  const products = [null, 40, 40, 40].map((stock) =>
    createProduct(owner, { stock, low_stock_at: 5 }),
  );
  const clients = await Promise.all([1, 2, 3, 4, 5, 6].map(() => createClientRow(owner)));
  // Longer than a soak.
  const exp = Math.floor(Date.now() / 1000) + 24 * 3600;
  const token = await signToken({ ...owner.claims, exp });
  const account = await connect(token);
  const paid = [
    createService(owner, { duration: 30, price: 40, payment: "full" }),
    createService(owner, { duration: 30, price: 40, payment: "deposit", deposit: 15 }),
  ];
  shops.push({
    id: owner.id,
    token,
    ...(await connectCalendars(token)),
    account,
    paidServices: (await Promise.all(paid)).map(({ id }) => id),
    made: {},
    services: (await Promise.all(services)).map(({ id }) => id),
    products: (await Promise.all(products)).map(({ id }) => id),
    clients: clients.map(({ id }) => id),
    emails: clients.map(({ email }) => email ?? ""),
  });
}

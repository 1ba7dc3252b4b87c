/** What the tests of webhooks share: a receiver that verifies, and the function's routes. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { expect } from "vitest";
import { patientFetch, request } from "./callers.ts";
import { closeAtTheEnd } from "./closing.ts";
import { sql } from "./database.ts";
import { createProfessional, type Professional } from "./factories.ts";

export interface Endpoint {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  disabled_reason: string | null;
  created_at: string;
}

export interface Delivery {
  id: string;
  endpoint_id: string;
  event_id: string;
  type: string;
  status: "pending" | "succeeded" | "failed" | "cancelled";
  attempts: number;
  next_attempt_at: string | null;
  last_status: number | null;
  created_at: string;
}

export interface Event {
  id: string;
  type: string;
  timestamp: string;
  version: number;
  professional_id: string;
  sequence: number;
  data: Record<string, unknown>;
  previous: Record<string, unknown> | null;
}

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** One request to the function, as the professional. */
export function webhooks(
  caller: Pick<Professional, "token">,
  path: string,
  init: { method?: string; body?: unknown; headers?: HeadersInit } = {},
): Promise<Response> {
  const { body, ...rest } = init;
  return request(
    `/functions/v1/webhooks${path}`,
    {
      ...rest,
      token: caller.token,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
    patientFetch,
  );
}

/** The JSON of a request that must succeed. */
export async function answerOf<T>(call: Promise<Response>): Promise<T> {
  const response = await call;
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** How a request was refused; details parsed where they are JSON. */
export async function refusalOf(
  call: Promise<Response>,
): Promise<{ status: number; code: string; details: unknown }> {
  const response = await call;
  const body = (await response.json()) as { code: string; details: string | null };
  let details: unknown = body.details;
  try {
    details = JSON.parse(body.details ?? "null");
  } catch {
    // A sentence.
  }
  return { status: response.status, code: body.code, details };
}

/** Adds an endpoint; by default for everything. */
export function subscribe(
  professional: Pick<Professional, "token">,
  values: { url: string } & Partial<Pick<Endpoint, "events" | "enabled" | "description">>,
): Promise<Endpoint & { secret: string }> {
  const body = { events: ["*"], ...values };
  return answerOf(webhooks(professional, "/endpoints", { method: "POST", body }));
}

/** Records events for a poller without sending any. */
export function record(professional: Pick<Professional, "token">): Promise<Endpoint> {
  return subscribe(professional, { url: "http://127.0.0.1:9/", enabled: false });
}

/** Events of a professional, oldest first, page by page. */
export async function eventsOf(
  professional: Pick<Professional, "token">,
  after?: number | string,
): Promise<Event[]> {
  const events: Event[] = [];
  for (let cursor: number | string | null | undefined = after; cursor !== null; ) {
    const query: string = cursor === undefined ? "" : `?after=${cursor}`;
    const page: Page<Event> = await answerOf(webhooks(professional, `/events${query}`));
    events.push(...page.data);
    cursor = page.next_cursor;
  }
  return events;
}

/** Deliveries of a professional, newest first. */
export async function deliveriesOf(
  professional: Pick<Professional, "token">,
  query = "",
): Promise<Delivery[]> {
  return (await answerOf<Page<Delivery>>(webhooks(professional, `/deliveries${query}`))).data;
}

/** Asks again until the answer is one to go on with, or too much time has passed. */
export async function until<T>(
  ask: () => T | Promise<T>,
  accept: (value: T) => boolean,
  seconds = 15,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const value = await ask();
    if (accept(value)) return value;
    if (performance.now() > deadline) {
      throw new Error(`still ${JSON.stringify(value)?.slice(0, 500)} after ${seconds} s`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits for a delivery to be as wanted. */
export function untilDelivery(
  professional: Pick<Professional, "token">,
  id: string,
  accept: (delivery: Delivery) => boolean,
): Promise<Delivery> {
  const ask = async () => {
    const found = (await deliveriesOf(professional)).find((delivery) => delivery.id === id);
    if (!found) throw new Error("no such delivery");
    return found;
  };
  return until(ask, accept);
}

/** What is queued for nobody, so that no other test finds it there. */
export async function cancelPending(): Promise<void> {
  await sql`
    update private.webhook_deliveries set status = 'cancelled', next_attempt_at = null
    where status = 'pending'`;
}

/** Makes what waits for its next try due now. */
export async function makeDue(professional: Pick<Professional, "id">): Promise<void> {
  await sql`
    update private.webhook_deliveries set next_attempt_at = now()
    where professional_id = ${professional.id} and status = 'pending'`;
}

export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Goes on with a byte now and then, until the sender leaves. */
  drips?: boolean;
  /** Breaks the connection instead. */
  hangsUp?: boolean;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Requests whose answer is not complete. */
  open: number;
  /** How the next requests are answered: 200 unless changed. */
  answer: (received: Received) => Answer | Promise<Answer>;
  /** Waits for so many requests. */
  count(number: number): Promise<Received[]>;
}

/** A receiver on this machine, closed with the test file. */
export async function startReceiver(answer: Receiver["answer"] = () => ({})): Promise<Receiver> {
  const server = createServer(async (incoming, outgoing) => {
    receiver.open++;
    outgoing.on("close", () => receiver.open--);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const got: Received = {
      id: String(incoming.headers["webhook-id"]),
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString("utf8"),
    };
    receiver.received.push(got);
    const { status = 200, headers = {}, body = "", drips, hangsUp } = await receiver.answer(got);
    if (hangsUp) return void outgoing.destroy();
    outgoing.writeHead(status, headers);
    if (!drips) return void outgoing.end(body);
    const timer = setInterval(() => outgoing.write("."), 100);
    outgoing.on("close", () => clearInterval(timer));
  });
  closeAtTheEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    open: 0,
    answer,
    count: (number) =>
      until(
        () => receiver.received,
        (received) => received.length >= number,
      ),
  };
  return receiver;
}

/** A professional whose events go to a receiver; by default all of them. */
export async function subscribed(
  answer?: Receiver["answer"],
  values: Partial<Pick<Endpoint, "events">> = {},
) {
  const [ana, receiver] = await Promise.all([createProfessional(), startReceiver(answer)]);
  return { ana, receiver, endpoint: await subscribe(ana, { url: receiver.url, ...values }) };
}

/** The event of a request, after the library of the standard has verified it. */
export function verified(received: Received, secret: string): Event {
  return new Webhook(secret).verify(
    received.body,
    received.headers as Record<string, string>,
  ) as Event;
}

export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** An event as every test may expect it. */
export function expectedEvent(
  professional: Pick<Professional, "id">,
  type: string,
  data: object,
  previous: object | null,
) {
  return {
    id: expect.any(String),
    type,
    timestamp: expect.stringMatching(ISO),
    version: 1,
    professional_id: professional.id,
    sequence: expect.any(Number),
    data: expect.objectContaining(data),
    previous,
  };
}

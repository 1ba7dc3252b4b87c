/**
 * Stripe's API as far as payments need it, over HTTP and in the shapes that its package publishes: connected
 * accounts, Checkout, refunds, disputes, and the rules that are easy to get wrong. An idempotency key replays
 * whatever it was answered with, a 500 included; a session lives 30 minutes to 24 hours and a complete one
 * cannot be expired; nothing is charged to the platform. It fails as it is told, and `books` is what the money
 * really did.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Stripe } from "stripe";
import type { z } from "zod";
import {
  type Account,
  accountOf,
  type Charge,
  chargeOf,
  type Dispute,
  disputeOf,
  intentOf,
  movementOf,
  type Origin,
  refundOf,
  sessionOf,
} from "./stripe-objects.ts";
import {
  AccountParams,
  AccountQuery,
  LinkParams,
  ListQuery,
  parseForm,
  Query,
  RefundParams,
  SessionParams,
} from "./stripe-requests.ts";

export const STRIPE_KEY = "sk_test_123";
export const STRIPE_LIVE_KEY = "sk_live_123";
export const STRIPE_VERSION = "2026-10-28.endive";

/** The least that Stripe charges, of the currencies that tests use. */
const LEAST: Record<string, number> = { chf: 50, eur: 50, gbp: 30, huf: 17500, jpy: 50, usd: 50 };
const WITH_THREE_DECIMALS = new Set(["bhd", "jod", "kwd", "omr", "tnd"]);
/** In hundredths although they have none. */
const WHOLE = new Set(["isk", "ugx"]);

export interface Call {
  method: string;
  path: string;
  /** `Stripe-Account`. */
  account: string | undefined;
  key: string | undefined;
  body: string;
  livemode: boolean;
}

/**
 * What becomes of a call instead of an answer. `cut` and `hang` end or never answer it before anything was
 * done, `lose` and `stall` afterwards; `broken` does it and answers 500; a status does nothing. Answers are
 * stored under the idempotency key unless `stored` is false.
 */
export type Fault =
  | "cut"
  | "hang"
  | "lose"
  | "stall"
  | "broken"
  | { status: number; type?: string; code?: string; stored?: boolean };

type Decide = (call: Call) => Fault | undefined | Promise<Fault | undefined>;

export interface Event {
  id: string;
  type: string;
  account: string;
  livemode: boolean;
  created: number;
  data: { object: object };
}

/** In the currency's smallest unit. */
export interface Book {
  received: number;
  /** Refunds that have not failed. */
  refunded: number;
  /** Withdrawn by disputes, less what came back. */
  disputed: number;
}

interface Answer {
  status: number;
  body: object;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly error: { type: string; code?: string; message: string; param?: string },
    /** Parameters are checked before a key remembers anything. */
    readonly isStored = true,
  ) {
    super(error.message);
  }
}

const invalid = (message: string, more: { code?: string; param?: string } = {}, status = 400) =>
  new Refusal(status, { type: "invalid_request_error", message, ...more });
const unprocessed = (message: string, more: { code?: string; param?: string } = {}, status = 400) =>
  new Refusal(status, { type: "invalid_request_error", message, ...more }, false);

function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const issue = error.issues[0];
  const path = [...(issue?.path ?? []), ...(issue?.code === "unrecognized_keys" ? issue.keys : [])];
  const param = path.map((part, n) => (n === 0 ? String(part) : `[${String(part)}]`)).join("");
  const code = issue?.code === "unrecognized_keys" ? { code: "parameter_unknown" } : {};
  throw unprocessed(`Invalid ${param}`, { param, ...code });
}

interface Stored {
  account: string;
  livemode: boolean;
  object: { id: string; object: string; created: number };
}

export async function startStripe() {
  const accounts = new Map<string, Account>();
  const objects = new Map<string, Stored>();
  /** Parameters of sessions that their objects do not show. */
  const intentData = new Map<string, Record<string, string>>();
  const kept = new Map<string, { asked: string; answer: Answer | undefined }>();
  const events: Event[] = [];
  const calls: Call[] = [];
  const sending = new Set<Promise<unknown>>();
  let count = 0;
  /** What tests set. */
  const told = {
    fault: (() => undefined) as Decide,
    /** Where events go by themselves, until they are taken. */
    webhook: undefined as { url: string; secret: string } | undefined,
    refundsAre: "succeeded" as "succeeded" | "pending" | "failed",
    /** Where buyers are sent to pay. */
    checkoutUrl: "https://checkout.stripe.com",
  };

  const seconds = () => Math.floor(Date.now() / 1000);
  const newId = (prefix: string) =>
    `${prefix}_${Date.now().toString(36)}${(++count).toString(36).padStart(5, "0")}`;
  const origin = (prefix: string, livemode: boolean): Origin => ({
    id: newId(prefix),
    created: seconds(),
    livemode,
  });

  /** An object of one account, or the error that it is not there. */
  function find<T extends Stored["object"]>(
    kind: string,
    id: string,
    { account, livemode }: Pick<Call, "livemode"> & { account: string },
  ): T {
    const found = objects.get(id);
    if (found?.object.object !== kind || found.account !== account || found.livemode !== livemode) {
      throw invalid(`No such ${kind}: '${id}'`, { code: "resource_missing", param: "id" }, 404);
    }
    return found.object as T;
  }

  /** As the platform's owner sees it, whatever account it is in. */
  const objectOf = <T extends Stored["object"]>(id: string): T => {
    const found = objects.get(id);
    if (!found) throw new Error(`no ${id} at the fake`);
    return found.object as T;
  };
  const accountHolding = (id: string) => objects.get(id)?.account ?? "";

  function keep<T extends Stored["object"]>(account: string, livemode: boolean, object: T): T {
    objects.set(object.id, { account, livemode, object });
    return object;
  }
  const all = <T extends Stored["object"]>(kind: string): T[] =>
    [...objects.values()]
      .map(({ object }) => object)
      .filter(({ object }) => object === kind) as T[];

  /** Something has happened: whoever listens is told, again and again until they take it. */
  function tell(type: string, account: string, livemode: boolean, object: object): Event {
    const event: Event = {
      id: newId("evt"),
      type,
      account,
      livemode,
      created: seconds(),
      data: { object: structuredClone(object) },
    };
    events.push(event);
    const { webhook } = told;
    if (webhook) {
      const work = (async () => {
        for (let tries = 0; tries < 100 && told.webhook; tries++) {
          const response = await deliver(event, webhook).catch(() => undefined);
          await response?.arrayBuffer().catch(() => {});
          if (response?.ok) return;
          await sleep(300);
        }
      })();
      sending.add(work);
      void work.finally(() => sending.delete(work));
    }
    return event;
  }

  /** Signs and sends an event; the values win over the right ones. */
  async function deliver(
    event: Event,
    { url, secret, timestamp, body }: Delivery = told.webhook as Delivery,
  ): Promise<Response> {
    const payload = JSON.stringify({
      object: "event",
      api_version: STRIPE_VERSION,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      ...event,
    });
    const header = await new Stripe(STRIPE_KEY).webhooks.generateTestHeaderStringAsync({
      payload,
      secret,
      ...(timestamp !== undefined && { timestamp }),
    });
    const headers = { "content-type": "application/json", "stripe-signature": header };
    return fetch(url, { method: "POST", headers, body: body ?? payload });
  }

  /** A session whose time is over is expired, whoever looks. */
  function lapse(session: Stripe.Checkout.Session, at = seconds()): Stripe.Checkout.Session {
    if (session.status === "open" && session.expires_at <= at) {
      Object.assign(session, { status: "expired", url: null });
      tell("checkout.session.expired", accountHolding(session.id), session.livemode, session);
    }
    return session;
  }

  function createSession(form: unknown, { account, livemode }: Context): Stripe.Checkout.Session {
    const params = parse(SessionParams, form);
    const now = seconds();
    const { expires_at = now + 24 * 3600, line_items } = params;
    if (expires_at < now + 30 * 60 || expires_at > now + 24 * 3600) {
      throw unprocessed(
        "The `expires_at` timestamp must be at least 30 minutes and at most 24 hours from Checkout Session creation.",
        { param: "expires_at" },
      );
    }
    if (params.allowed_payment_method_types && params.excluded_payment_method_types) {
      throw unprocessed("Only one of the lists of payment methods can be given.");
    }
    const currencies = new Set(line_items.map(({ price_data }) => price_data.currency));
    const [currency = ""] = [...currencies].map((code) => code.toLowerCase());
    if (currencies.size !== 1) throw unprocessed("All prices must have the same currency.");
    if (account.cards !== "active") {
      throw invalid(
        "You cannot create a charge on a connected account without the `card_payments` capability enabled.",
        {},
        402,
      );
    }
    const session = sessionOf(
      params,
      { ...origin(`cs_${livemode ? "live" : "test"}`, livemode) },
      "",
    );
    session.url = `${told.checkoutUrl}/c/pay/${session.id}`;
    const total = session.amount_total ?? 0;
    if (total < (LEAST[currency] ?? 1)) {
      throw invalid("The Checkout Session's total amount due must add up to more.", {
        code: "amount_too_small",
      });
    }
    const step = WITH_THREE_DECIMALS.has(currency) ? 10 : WHOLE.has(currency) ? 100 : 1;
    if (total % step !== 0) throw invalid(`Amounts of ${currency} must be divisible by ${step}.`);
    intentData.set(session.id, params.payment_intent_data?.metadata ?? {});
    return keep(account.id, livemode, session);
  }

  function createRefund(form: unknown, { account, livemode }: Context): Stripe.Refund {
    const params = parse(RefundParams, form);
    if ((params.payment_intent === undefined) === (params.charge === undefined)) {
      throw unprocessed("One of the following params should be provided: payment_intent, charge.");
    }
    const where = { account: account.id, livemode };
    const chargeId =
      params.charge ??
      find<Stripe.PaymentIntent>("payment_intent", params.payment_intent ?? "", where)
        .latest_charge;
    if (typeof chargeId !== "string") {
      throw invalid("This PaymentIntent does not have a successful charge to refund.", {
        code: "payment_intent_unexpected_state",
      });
    }
    const charge = find<Charge>("charge", chargeId, where);
    if (charge.disputed) {
      throw invalid(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
        code: "charge_disputed",
      });
    }
    const left = charge.amount - charge.amount_refunded;
    if (left === 0) {
      throw invalid(`Charge ${charge.id} has already been refunded.`, {
        code: "charge_already_refunded",
      });
    }
    const amount = params.amount ?? left;
    if (amount > left) {
      throw invalid(`Refund amount (${amount}) is greater than unrefunded amount (${left}).`, {
        param: "amount",
      });
    }
    const refund = keep(
      account.id,
      livemode,
      refundOf(charge, origin("re", livemode), {
        amount,
        reason: params.reason ?? null,
        metadata: params.metadata ?? {},
        status: "succeeded",
      }),
    );
    charge.amount_refunded += amount;
    charge.refunded = charge.amount_refunded === charge.amount;
    const status = told.refundsAre;
    if (status === "pending") Object.assign(refund, { status, pending_reason: "processing" });
    tell("charge.refunded", account.id, livemode, charge);
    tell("refund.created", account.id, livemode, refund);
    if (status === "failed") settleRefund(refund.id, "failed");
    return refund;
  }

  function settleRefund(id: string, status: "succeeded" | "failed" | "canceled"): Event {
    const refund = objectOf<Stripe.Refund>(id);
    const account = accountHolding(id);
    const livemode = objects.get(id)?.livemode ?? false;
    if (refund.status === "failed" || refund.status === "canceled") {
      throw new Error(`the refund is ${refund.status} for good`);
    }
    delete refund.pending_reason;
    refund.status = status;
    if (status === "succeeded") return tell("refund.updated", account, livemode, refund);
    const charge = objectOf<Charge>(String(refund.charge));
    charge.amount_refunded -= refund.amount;
    charge.refunded = false;
    if (status === "canceled") return tell("refund.updated", account, livemode, refund);
    refund.failure_reason = "expired_or_canceled_card";
    refund.failure_balance_transaction = newId("txn");
    tell("refund.updated", account, livemode, refund);
    return tell("refund.failed", account, livemode, refund);
  }

  interface Context {
    account: Account;
    livemode: boolean;
  }

  /** What an expanded field holds. */
  function expand<T extends object>(object: T, paths: string[] = []): T {
    if (paths.length === 0) return object;
    const copy = { ...object } as Record<string, unknown>;
    for (const path of paths) {
      const [field = "", ...rest] = path.split(".");
      const value = copy[field];
      const found = typeof value === "string" ? objects.get(value)?.object : value;
      if (found === null || found === undefined) continue;
      const more = rest.length > 0 ? [rest.join(".")] : [];
      copy[field] = Array.isArray(found)
        ? found.map((item) => expand(item, more))
        : expand(found as object, more);
    }
    return copy as T;
  }

  function list(kind: string, path: string, query: unknown, where: Context): object {
    const params = parse(ListQuery, query);
    const { limit = 10, starting_after, created } = params;
    const range = typeof created === "number" ? { gte: created, lte: created } : (created ?? {});
    let rows = all<Stored["object"] & Record<string, unknown>>(kind)
      .filter(({ id }) => accountHolding(id) === where.account.id)
      .filter(({ id }) => objects.get(id)?.livemode === where.livemode)
      .map((row) => (kind === "checkout.session" ? (lapse(row as never) as never) : row))
      .reverse();
    for (const field of ["payment_intent", "charge", "status"] as const) {
      if (params[field] !== undefined) rows = rows.filter((row) => row[field] === params[field]);
    }
    rows = rows.filter(
      (row) =>
        row.created > (range.gt ?? -1) &&
        row.created >= (range.gte ?? 0) &&
        row.created < (range.lt ?? Number.POSITIVE_INFINITY) &&
        row.created <= (range.lte ?? Number.POSITIVE_INFINITY),
    );
    if (starting_after) rows = rows.slice(rows.findIndex(({ id }) => id === starting_after) + 1);
    const page = { object: "list", url: path, has_more: rows.length > limit };
    return expand({ ...page, data: rows.slice(0, limit) }, params.expand);
  }

  /** Routes of one account; GET parameters and forms are both `form`. */
  function v1(method: string, path: string, form: unknown, where: Context): object {
    const [, , resource = "", second, third, fourth] = path.split("/");
    const name = resource === "checkout" ? "checkout/sessions" : resource;
    const [id, action] = resource === "checkout" ? [third, fourth] : [second, third];
    const kinds: Record<string, string> = {
      "checkout/sessions": "checkout.session",
      payment_intents: "payment_intent",
      charges: "charge",
      refunds: "refund",
      disputes: "dispute",
    };
    const kind = kinds[name];
    const inAccount = { account: where.account.id, livemode: where.livemode };
    const isSession = kind === "checkout.session";
    if (kind === undefined || (resource === "checkout" && second !== "sessions")) {
      throw invalid(`Unrecognized request URL (${method}: ${path}).`, {}, 404);
    }
    if (method === "GET" && id === undefined) return list(kind, path, form, where);
    if (method === "GET" && id !== undefined && action === undefined) {
      const { expand: paths } = parse(Query, form);
      const found = find<Stored["object"]>(kind, id, inAccount);
      return expand(isSession ? lapse(found as never) : found, paths);
    }
    if (method === "POST" && id === undefined && isSession) return createSession(form, where);
    if (method === "POST" && id === undefined && kind === "refund")
      return createRefund(form, where);
    if (method === "POST" && id !== undefined && isSession && action === "expire") {
      parse(Query, form);
      const session = lapse(find<Stripe.Checkout.Session>(kind, id, inAccount));
      if (session.status !== "open") {
        throw invalid(
          `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${session.status}\`.`,
        );
      }
      Object.assign(session, { status: "expired", url: null });
      tell("checkout.session.expired", where.account.id, where.livemode, session);
      return session;
    }
    throw invalid(`Unrecognized request URL (${method}: ${path}).`, {}, 404);
  }

  function v2(method: string, path: string, params: unknown, livemode: boolean): object {
    const now = new Date();
    if (method === "POST" && path === "/v2/core/accounts") {
      const { include, ...values } = parse(AccountParams, params);
      const account: Account = {
        id: newId("acct"),
        livemode,
        created: now.toISOString(),
        params: values,
        cards: "restricted",
        missing: ["identity.individual.given_name", "defaults.profile.business_url"],
        isConnected: true,
      };
      accounts.set(account.id, account);
      return accountOf(account, include);
    }
    const [, id] = /^\/v2\/core\/accounts\/(\w+)$/.exec(path) ?? [];
    if (method === "GET" && id !== undefined) {
      return accountOf(connected(id, livemode), parse(AccountQuery, params).include);
    }
    if (method === "POST" && path === "/v2/core/account_links") {
      const { account, use_case } = parse(LinkParams, params);
      connected(account, livemode);
      return {
        object: "v2.core.account_link",
        account,
        created: now.toISOString(),
        expires_at: new Date(now.getTime() + 5 * 60_000).toISOString(),
        livemode,
        url: `https://accounts.stripe.com/r/${account}#${newId("alu")}`,
        use_case: use_case as Stripe.V2.Core.AccountLink["use_case"],
      } satisfies Stripe.V2.Core.AccountLink;
    }
    throw invalid(`Unrecognized request URL (${method}: ${path}).`, {}, 404);
  }

  function connected(id: string, livemode: boolean): Account {
    const account = accounts.get(id);
    if (account?.livemode === livemode && account.isConnected) return account;
    throw unprocessed(
      `The provided key 'sk_test_***123' does not have access to account '${id}' (or that account does not exist). Application access may have been revoked.`,
      { code: "account_invalid" },
      403,
    );
  }

  function execute({ method, path, account, body, livemode }: Call, search: string): object {
    if (path.startsWith("/v2/")) {
      if (account !== undefined) throw unprocessed("Stripe-Account is not for this address.");
      const params = method === "GET" ? parseForm(search) : JSON.parse(body || "{}");
      return v2(method, path, params, livemode);
    }
    // A charge to the platform itself would be accepted by Stripe, and is always a mistake here.
    if (account === undefined) throw unprocessed("Nothing is charged to the platform.");
    const form = parseForm(method === "GET" ? search : body);
    return v1(method, path, form, { account: connected(account, livemode), livemode });
  }

  const refused = (status: number, error: object): Answer => ({ status, body: { error } });
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error) => {
      console.error(error);
      outgoing.destroy();
    });
  });

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const send = ({ status, body }: Answer, headers: Record<string, string> = {}) => {
      outgoing.writeHead(status, {
        "content-type": "application/json",
        "request-id": newId("req"),
        "stripe-version": STRIPE_VERSION,
        ...headers,
      });
      outgoing.end(JSON.stringify(body));
    };
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { pathname: path, search } = new URL(incoming.url ?? "/", "http://stripe.test");
    const one = (name: string) => incoming.headers[name] as string | undefined;
    const secret = one("authorization")?.replace(/^Bearer /, "");
    if (secret !== STRIPE_KEY && secret !== STRIPE_LIVE_KEY) {
      return send(
        refused(401, { type: "invalid_request_error", message: "Invalid API Key provided" }),
      );
    }
    if (one("stripe-version") !== STRIPE_VERSION) {
      const message = `Invalid Stripe API version: ${one("stripe-version")}`;
      return send(refused(400, { type: "invalid_request_error", message }));
    }
    const call: Call = {
      method: incoming.method ?? "GET",
      path,
      account: one("stripe-account"),
      key: one("idempotency-key"),
      body: Buffer.concat(chunks).toString(),
      livemode: secret === STRIPE_LIVE_KEY,
    };
    calls.push(call);

    // API v1 replays whatever it answered; v2 tries again what has failed.
    const isV2 = path.startsWith("/v2/");
    const asked = `${call.method} ${path} ${call.body}`;
    const scope = call.method === "POST" && call.key ? `${call.account} ${call.key}` : undefined;
    const before = scope === undefined ? undefined : kept.get(scope);
    if (before && before.asked !== asked) {
      const message =
        "Keys for idempotent requests can only be used with the same parameters they were first used with.";
      return send(refused(400, { type: "idempotency_error", message }));
    }
    if (before && !before.answer) {
      const message = "There is currently another in-progress request using this Idempotent Key.";
      return send(
        refused(409, { type: "idempotency_error", code: "idempotency_key_in_use", message }),
        { "stripe-should-retry": "true" },
      );
    }
    if (before?.answer) {
      const retry = before.answer.status >= 500 ? { "stripe-should-retry": "false" } : {};
      return send(before.answer, { "idempotent-replayed": "true", ...retry });
    }
    const remember = (answer: Answer | undefined) => {
      if (scope === undefined) return;
      if (answer && (!isV2 || answer.status < 400)) kept.set(scope, { asked, answer });
      else kept.delete(scope);
    };

    if (scope !== undefined) kept.set(scope, { asked, answer: undefined });
    const fault = await told.fault(call);
    if (fault === "cut" || fault === "hang") {
      remember(undefined);
      if (fault === "cut") incoming.socket.destroy();
      return;
    }
    if (typeof fault === "object") {
      const { status, type = "api_error", code, stored = true } = fault;
      const answer = refused(status, { type, message: "As told.", ...(code && { code }) });
      remember(stored ? answer : undefined);
      return send(answer, status >= 500 ? { "stripe-should-retry": "false" } : {});
    }
    let answer: Answer;
    let isStored = true;
    try {
      answer = { status: 200, body: structuredClone(execute(call, search)) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer = refused(error.status, error.error);
      isStored = error.isStored;
    }
    if (fault === "broken") answer = refused(500, { type: "api_error", message: "As told." });
    remember(isStored ? answer : undefined);
    if (fault === "lose") return void incoming.socket.destroy();
    if (fault === "stall") return;
    send(answer, fault === "broken" ? { "stripe-should-retry": "false" } : {});
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  /** Until every event that was on its way has been taken, or nobody listens any more. */
  async function delivered(): Promise<void> {
    while (sending.size > 0) await Promise.all(sending);
  }
  const sessionNow = (id: string) => lapse(objectOf<Stripe.Checkout.Session>(id));
  const refunds = () => all<Stripe.Refund>("refund");
  const disputes = () => all<Dispute>("dispute");

  const stripe = Object.assign(told, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** All calls with a valid key and version, whatever became of them. */
    calls,
    /** Everything that happened, oldest first. */
    events,
    accounts,

    /** The next calls that match fail so; later ones do not. */
    failNext(fault: Fault, times = 1, matches: (call: Call) => boolean = () => true): void {
      let left = times;
      told.fault = (call) => (left > 0 && matches(call) && left-- > 0 ? fault : undefined);
    },

    /** As after a day. */
    forgetKeys: () => kept.clear(),

    deliver,

    delivered,

    /** The professional fills in Stripe's form. */
    onboard(id: string): void {
      Object.assign(accounts.get(id) ?? {}, { cards: "active", missing: [] });
    },
    restrict(id: string, missing: string[]): void {
      Object.assign(accounts.get(id) ?? {}, { cards: "restricted", missing });
    },
    /** The professional ends the platform's access in Stripe's dashboard. */
    deauthorize(id: string): Event {
      const account = accounts.get(id);
      if (!account) throw new Error(`no ${id} at the fake`);
      account.isConnected = false;
      const application = { id: "ca_test", object: "application", name: "Test" };
      return tell("account.application.deauthorized", id, account.livemode, application);
    },

    session: sessionNow,
    sessions: () => all<Stripe.Checkout.Session>("checkout.session").map((row) => lapse(row)),
    refunds,
    disputes,
    accountOf: accountHolding,

    /**
     * The buyer pays at the hosted page, or with `later` by a method whose answer comes days after. The values
     * are for what must never happen: another amount or currency than was asked for.
     */
    pay(
      id: string,
      { later = false, ...values }: { amount?: number; currency?: string; later?: boolean } = {},
    ): Event {
      const session = sessionNow(id);
      if (session.status !== "open") throw new Error(`the page says: ${session.status}`);
      const { livemode } = session;
      const account = accountHolding(id);
      if (values.amount !== undefined) session.amount_total = values.amount;
      if (values.currency !== undefined) session.currency = values.currency;
      const intent = keep(
        account,
        livemode,
        intentOf(session, origin("pi", livemode), intentData.get(id) ?? {}),
      );
      Object.assign(session, { status: "complete", url: null, payment_intent: intent.id });
      if (!later) {
        settle(session, intent);
        session.payment_status = "paid";
      }
      return tell("checkout.session.completed", account, livemode, session);
    },

    /** How such a method ended. */
    settle(id: string, isPaid: boolean): Event {
      const session = objectOf<Stripe.Checkout.Session>(id);
      const intent = objectOf<Stripe.PaymentIntent>(String(session.payment_intent));
      if (isPaid) {
        settle(session, intent);
        session.payment_status = "paid";
      } else intent.status = "requires_payment_method";
      const type = `checkout.session.async_payment_${isPaid ? "succeeded" : "failed"}`;
      return tell(type, accountHolding(id), session.livemode, session);
    },

    /** The time of an open session is over. */
    expire(id: string): void {
      const session = objectOf<Stripe.Checkout.Session>(id);
      lapse(session, session.expires_at);
    },

    /** An expired session is open after all: a page whose payment was under way when it was expired. */
    reopen(id: string): void {
      const expires_at = seconds() + 600;
      const url = `${told.checkoutUrl}/c/pay/${id}`;
      Object.assign(objectOf(id), { status: "open", expires_at, url });
    },

    settleRefund,

    /** From the dashboard, without us. */
    refundAtStripe(paymentIntent: string, amount?: number): Stripe.Refund {
      const account = accounts.get(accountHolding(paymentIntent));
      if (!account) throw new Error(`no ${paymentIntent} at the fake`);
      const form = { payment_intent: paymentIntent, ...(amount && { amount: String(amount) }) };
      return createRefund(form, { account, livemode: account.livemode });
    },

    /** The buyer's bank takes the money back, all of it by default. */
    dispute(paymentIntent: string, amount?: number): Event & { dispute: string } {
      const intent = objectOf<Stripe.PaymentIntent>(paymentIntent);
      const charge = objectOf<Charge>(String(intent.latest_charge));
      const { livemode } = intent;
      const account = accountHolding(paymentIntent);
      const dispute = disputeOf(charge, origin("dp", livemode), amount ?? charge.amount);
      charge.disputed = true;
      keep(account, livemode, dispute);
      move(dispute, -dispute.amount);
      const event = tell("charge.dispute.created", account, livemode, dispute);
      tell("charge.dispute.funds_withdrawn", account, livemode, dispute);
      return { ...event, dispute: dispute.id };
    },
    closeDispute(id: string, status: "won" | "lost"): Event {
      const dispute = objectOf<Dispute>(id);
      const { livemode } = dispute;
      const account = accountHolding(id);
      dispute.status = status;
      if (status === "won") {
        move(dispute, dispute.amount);
        objectOf<Charge>(String(dispute.charge)).disputed = false;
        tell("charge.dispute.funds_reinstated", account, livemode, dispute);
      }
      return tell("charge.dispute.closed", account, livemode, dispute);
    },

    /** What the money did, by payment intent; of one account or of all. */
    books(account?: string): Record<string, Book> {
      const books: Record<string, Book> = {};
      for (const intent of all<Stripe.PaymentIntent>("payment_intent")) {
        if (account !== undefined && accountHolding(intent.id) !== account) continue;
        if (intent.amount_received === 0) continue;
        books[intent.id] = { received: intent.amount_received, refunded: 0, disputed: 0 };
      }
      for (const { payment_intent, status, amount } of refunds()) {
        const book = books[String(payment_intent)];
        if (book && status !== "failed" && status !== "canceled") book.refunded += amount;
      }
      for (const { payment_intent, balance_transactions } of disputes()) {
        const book = books[String(payment_intent)];
        for (const { amount } of balance_transactions) if (book) book.disputed -= amount;
      }
      return books;
    },

    async close(): Promise<void> {
      told.webhook = undefined;
      await delivered();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });

  function settle(session: Stripe.Checkout.Session, intent: Stripe.PaymentIntent): void {
    const account = accountHolding(session.id);
    const charge = chargeOf(intent, origin("ch", session.livemode));
    keep(account, session.livemode, charge);
    Object.assign(intent, {
      status: "succeeded",
      amount_received: intent.amount,
      latest_charge: charge.id,
    });
    tell("charge.succeeded", account, session.livemode, charge);
    tell("payment_intent.succeeded", account, session.livemode, intent);
  }

  function move(dispute: Dispute, amount: number): void {
    dispute.balance_transactions.push(movementOf(newId("txn"), seconds(), dispute, amount));
  }

  return stripe;
}

interface Delivery {
  url: string;
  secret: string;
  /** When it was signed, in seconds. */
  timestamp?: number;
  /** What is sent instead of what was signed. */
  body?: string;
}

export type FakeStripe = Awaited<ReturnType<typeof startStripe>>;

/**
 * What an answer may not show: rows, keys, other tenants' ids, secrets. Every RPC of the catalogue is
 * called with every argument missing, at its bounds and beyond, and every table that a rule writes is
 * made to refuse. Alone, because the latter locks the tables.
 */
import { randomUUID } from "node:crypto";
import postgres, { type TransactionSql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { dateIn, everyDay, instantOf, iso } from "../support/calendar.ts";
import { request } from "../support/callers.ts";
import { type Claims, rolledBack, sql } from "../support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createOrder,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type PortalSession,
  type Professional,
} from "../support/factories.ts";
import { canCharge, collect } from "../support/payments.ts";

const day = dateIn(20, "UTC");
const at = (time: string) => iso(instantOf(day, time, "UTC"));

type Args = Record<string, unknown>;

/** A professional with something of everything, and a client in the portal. */
async function tenant() {
  const professional = await createProfessional({
    accepts_bookings: true,
    accepts_orders: true,
    availability: everyDay(["06:00", "22:00"]) as never,
  });
  const note = `hidden ${randomUUID()}`;
  const hidden = { metadata: { note }, internal_notes: note };
  const service = await createService(professional, { metadata: { note } });
  const client = await createClientRow(professional, { notes: note });
  const product = await createProduct(professional, { stock: 20, metadata: { note } });
  const booking = await createBooking(professional, {
    client_id: client.id,
    service_id: service.id,
    starts_at: at("09:00"),
    ...hidden,
  });
  const order = await createOrder(professional, {
    client_id: client.id,
    items: [{ product_id: product.id, quantity: 1 }] as never,
    ...hidden,
  });
  const { data: endpoint } = await professional.api.rpc("create_webhook_endpoint", {
    url: "https://example.com/hook",
    events: ["*"],
  });
  const sealed = `sealed-${randomUUID()}`;
  const [calendar] = await sql<{ id: string }[]>`
    insert into private.busy_calendars (professional_id, sealed_address, host, due_at)
    values (${professional.id}, ${sealed}, 'calendar.example', '2100-01-01')
    returning id`;
  const sealedToken = `sealed-token-${randomUUID()}`;
  const [connection] = await sql<{ id: string }[]>`
    insert into private.calendar_connections (professional_id, sealed_token, status)
    values (${professional.id}, ${sealedToken}, 'revoked')
    returning id`;
  const { id: endpointId, secret } = endpoint as { id: string; secret: string };
  await professional.api.from("clients").update({ phone: "1" }).eq("id", client.id);
  const [delivery] = await sql<{ id: string; event_id: string }[]>`
    select id, event_id from private.webhook_deliveries where professional_id = ${professional.id}`;
  const sold = await createOrder(professional, {
    client_id: client.id,
    items: [{ name: "Comb", unit_price: 5, quantity: 1 }] as never,
  });
  const account = await canCharge(professional);
  await collect(sold, 5);
  const [payment] = await sql<{ id: string }[]>`
    select id from private.payments where order_id = ${sold.id}`;
  const portal = await createPortalSession(client);
  const link = await createBookingSession(booking);
  const { data: key } = await professional.api.rpc("create_api_key", {
    name: note,
    access: "read",
  });
  const ids = {
    key: (key as { id: string }).id,
    professional: professional.id,
    service: service.id,
    client: client.id,
    product: product.id,
    booking: booking.id,
    order: order.id,
    endpoint: endpointId,
    delivery: delivery?.id as string,
    payment: payment?.id as string,
    calendar: calendar?.id as string,
    connection: connection?.id as string,
  };
  return {
    professional,
    portal,
    link,
    ids,
    email: client.email as string,
    secret,
    sealed,
    sealedToken,
    note,
    account,
  };
}
type Tenant = Awaited<ReturnType<typeof tenant>>;

/** Arguments that succeed, or are at least well-formed, for every RPC there is. */
function validArguments({ ids, email, professional }: Tenant): Record<string, Args> {
  const items = [{ product_id: ids.product, quantity: 1 }];
  const person = { client_name: "Ann", client_email: email, client_phone: "1" };
  return {
    adjust_stock: { product_id: ids.product, delta: 1, reason: "counted", expected_stock: 19 },
    attach_payment_account: {
      professional_id: ids.professional,
      attempt_id: randomUUID(),
      account_id: "acct_1",
      livemode: false,
    },
    audit: {},
    authorize_checkout: { order_id: ids.order },
    api_keys: {},
    authorize_action: { by_person: true },
    available_slots: {
      service_id: ids.service,
      from_date: day,
      to_date: day,
      reschedule_of: ids.booking,
    },
    begin_checkout: {
      order_id: ids.order,
      success_url: "https://example.com/paid",
      cancel_url: "https://example.com/back",
      livemode: false,
      token: null,
    },
    begin_refund: { payment_id: ids.payment, amount: 1, reason: "late" },
    booking_page: { username: `ana-${professional.id}` },
    cancel_booking: { booking_id: ids.booking, reason: "ill", refund: true },
    begin_google_connection: {},
    begin_google_disconnection: {},
    claim_google_run: {},
    delete_google_connection: { connection_id: ids.connection, sealed_token: "another" },
    finish_google_push: {
      connection_id: ids.connection,
      claim_token: randomUUID(),
      booking_id: ids.booking,
      revision: 1,
      result: "failed",
      error: "no_answer",
    },
    finish_google_run: {
      connection_id: ids.connection,
      claim_token: randomUUID(),
      result: "failed",
      error: "no_answer",
      ranges: [],
      retry_after: 1,
      sealed_token: "another",
    },
    google_connection: {},
    google_grant: { professional_id: ids.professional },
    next_google_event: {
      connection_id: ids.connection,
      claim_token: randomUUID(),
      booking_id: ids.booking,
    },
    store_google_connection: { professional_id: ids.professional, sealed_token: "another" },
    update_google_connection: { push: true, busy: true },
    begin_busy_calendar: {},
    busy_calendars: {},
    calendar_feed: { token_hash: "0".repeat(64), ip: "192.0.2.1", ip_limit: 100_000, etags: ["a"] },
    calendar_feeds: {},
    claim_account_deletions: { account_id: null, max_count: 1 },
    claim_busy_sync: {},
    claim_mails: { max_count: 1, per_second: 1 },
    claim_payment_tasks: { max_count: 1, object_id: ids.payment },
    claim_webhook_deliveries: { max_count: 1 },
    confirm_hold: { kind: "booking", id: ids.booking, link_epoch: 1 },
    confirm_professional_address: { professional_id: ids.professional, email: professional.email },
    connect_payment_account: {},
    count_link_use: { ip: "192.0.2.1", ip_limit: 100_000 },
    create_api_key: { name: "till", access: "read", expires_at: "2100-01-01T00:00:00Z" },
    create_booking: {
      service_id: ids.service,
      starts_at: at("12:00"),
      ...person,
      notes: "first",
      idempotency_key: "key",
      language: "it",
    },
    create_calendar_feed: { name: "Phone", detail: "full" },
    create_webhook_endpoint: {
      url: "https://example.com/",
      events: ["*"],
      description: "ours",
      enabled: true,
    },
    delete_busy_calendar: { calendar_id: ids.calendar },
    delete_calendar_feed: { feed_id: randomUUID() },
    delete_webhook_endpoint: { endpoint_id: ids.endpoint },
    detach_payment_account: {},
    end_portal_session: { session_id: randomUUID() },
    erase_client: { client_id: ids.client },
    exchange_api_key: { key_digest: "0".repeat(64), ip: "192.0.2.1", ip_limit: 100_000 },
    explain_slot: { service_id: ids.service, starts_at: at("12:00") },
    fail_checkout: { checkout_id: ids.payment, code: "not_found" },
    fail_refund: { refund_id: ids.payment, code: "charge_disputed" },
    finish_busy_sync: {
      calendar_id: ids.calendar,
      claim_token: randomUUID(),
      result: "failed",
      ranges: [],
      time_zone: "UTC",
      etag: "a",
      last_modified: "b",
      sealed_address: "c",
      error: "http_error",
      error_detail: "500",
    },
    export_account: { cursor: `clients:${ids.client}` },
    export_client: { client_id: ids.client },
    finish_account_deletion: {
      account_id: randomUUID(),
      claim_token: randomUUID(),
      mailed: true,
    },
    finish_mail: {
      mail_id: randomUUID(),
      claim_token: randomUUID(),
      result: "sent",
      provider_id: "id",
      retry_after: 1,
    },
    finish_payment_task: { task_id: randomUUID(), claim_token: randomUUID(), retry_after: 1 },
    finish_portal_verification: {
      professional_id: ids.professional,
      client_id: ids.client,
      generation: 1,
      code_hmac: "x".repeat(44),
    },
    finish_webhook_delivery: {
      delivery_id: ids.delivery,
      claim_token: randomUUID(),
      duration_ms: 10,
      status: 500,
      response: "no",
      error: "none",
      retry_after: 1,
    },
    health: {},
    mails: { booking_id: ids.booking, client_id: ids.client, order_id: null },
    order_payments: { order_id: ids.order },
    payment_account: {},
    own_calendar_uids: { professional_id: ids.professional, uids: [ids.booking] },
    place_order: {
      professional_id: ids.professional,
      items,
      ...person,
      notes: "ring twice",
      shipping_address: { city: "Rome" },
      expected_total: 12.5,
      idempotency_key: "key",
      language: "it",
    },
    quote_order: { professional_id: ids.professional, items },
    record_dispute: {
      account_id: "acct_1",
      dispute: { id: "du_1", payment_intent: "pi_1", status: "won", entries: [] },
    },
    record_mail_event: { provider_id: "id", type: "bounced", detail: { bounce: "permanent" } },
    record_payment: { order_id: ids.order, amount: 1, method: "cash", reference: "r" },
    record_payment_account: {
      account_id: "acct_1",
      facts: { can_charge: true, missing: [], deauthorized: false },
    },
    record_refund: {
      account_id: "acct_1",
      refund: { id: "re_1", payment_intent: "pi_1", status: "pending", amount: 1, currency: "eur" },
    },
    record_session: {
      account_id: "acct_1",
      session: { id: "cs_1", status: "open", payment_status: "unpaid", expires_at: 1 },
    },
    redeliver_webhook: { delivery_id: ids.delivery },
    redeliver_webhooks: { endpoint_id: ids.endpoint, since: at("00:00") },
    refund_payment: { order_id: ids.order, amount: 1, reason: "broken", reference: "r" },
    report_payment_mode: { livemode: false },
    report_portal_address: { portal_url: "https://example.com/portal" },
    request_account_deletion: { confirmation: "no" },
    request_address_confirmation: {},
    reschedule_booking: { booking_id: ids.booking, starts_at: at("15:00") },
    ring_payment: {
      account_id: "acct_1",
      kind: "refund",
      object_id: "re_1",
      livemode: false,
    },
    revoke_api_key: { key_id: ids.key },
    revoke_api_keys: {},
    rotate_webhook_secret: { endpoint_id: ids.endpoint, grace: 60 },
    set_portal_code: {
      professional_id: ids.professional,
      client_id: ids.client,
      generation: 1,
      code_hmac: "x".repeat(44),
    },
    start_booking_session: { booking_id: ids.booking, link_epoch: 1 },
    start_portal_code: { professional_id: ids.professional, email, ip: "192.0.2.1", ip_limit: 9 },
    start_portal_verification: {
      professional_id: ids.professional,
      email,
      ip: "192.0.2.1",
      ip_limit: 100_000,
    },
    store_busy_calendar: {
      professional_id: ids.professional,
      name: "Work",
      sealed_address: "sealed",
      host: "calendar.example",
    },
    sync_busy_calendar: { calendar_id: ids.calendar },
    test_webhook_endpoint: { endpoint_id: ids.endpoint },
    unsubscribe_client: { client_id: ids.client, link_epoch: 1 },
    update_webhook_endpoint: { endpoint_id: ids.endpoint, changes: { description: "ours" } },
    webhook_attempts: { delivery_id: ids.delivery },
    webhook_deliveries: {
      endpoint_id: ids.endpoint,
      status: "pending",
      cursor: ids.delivery,
      page_size: 10,
    },
    webhook_endpoint: { endpoint_id: ids.endpoint },
    webhook_endpoints: {},
    webhook_events: { after: 0, type: "client.updated", page_size: 10 },
  };
}

const texts = [0, 1, 40, 41, 50, 51, 200, 201, 255, 256, 500, 501, 1000, 1001, 4000, 4001, 20_000];

/** Values for an argument of a type: missing, small, at the bounds that there are, beyond them. */
function trials(type: string, name: string): unknown[] {
  switch (type) {
    case "uuid":
      return [null, randomUUID(), "00000000-0000-0000-0000-000000000000"];
    case "int4":
    case "int8":
      return [null, -2_147_483_648, -1, 0, 1, 100, 101, 86_400, 86_401, 2_147_483_647];
    case "numeric":
      return [null, -1, 0, 0.001, 999_999_999_999.999, 1_000_000_000_000];
    case "bool":
      return [null, true, false];
    case "_text":
      return [null, [], ["*"], ["nonsense"], Array(51).fill("*"), [null]];
    case "jsonb":
      return name === "changes"
        ? [
            null,
            [],
            "x",
            {},
            { url: "https://1.1.1.1/a b" },
            { url: null },
            { events: [] },
            { events: "*" },
            { description: "x".repeat(501) },
            { enabled: null },
            { secret: "whsec_x" },
          ]
        : [
            null,
            [],
            {},
            "x",
            [{ quantity: 1 }],
            [{ product_id: "x", quantity: 1 }],
            { city: "x".repeat(5000) },
            Array(201).fill({}),
          ];
    default:
      return [
        null,
        " ",
        "https://1.1.1.1/a b",
        "a@b",
        ...texts.map((length) => "x".repeat(length)),
      ];
  }
}

/** What came back, as the REST server would put it into a body: the whole of an error, or the value. */
async function answerOf(
  tx: TransactionSql,
  work: (tx: TransactionSql) => Promise<unknown>,
): Promise<{ failed: boolean; text: string }> {
  try {
    let value: unknown;
    await tx
      .savepoint(async (inner) => {
        value = await work(inner);
        throw new Done();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Done)) throw error;
      });
    return { failed: false, text: JSON.stringify(value) };
  } catch (error) {
    if (!(error instanceof postgres.PostgresError)) throw error;
    const { message, detail, hint } = error;
    return { failed: true, text: JSON.stringify({ message, detail, hint }) };
  }
}

/** Undoes a savepoint that succeeded. */
class Done extends Error {}

let mine: Tenant;
let theirs: Tenant;
let rpcs: { name: string; arguments: { name: string; type: string }[] }[];

beforeAll(async () => {
  [mine, theirs] = await Promise.all([tenant(), tenant()]);
  rpcs = await sql`
    select p.proname as name, coalesce(
      (
        select jsonb_agg(jsonb_build_object('name', a.name, 'type', t.typname) order by a.place)
        from unnest(p.proargnames, p.proargtypes::oid[]) with ordinality as a (name, type, place)
        join pg_type t on t.oid = a.type
      ),
      '[]'
    ) as arguments
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      -- Computed relationships take a row.
      and not exists (
        select from unnest(p.proargtypes::oid[]) as type
        join pg_type t on t.oid = type where t.typtype = 'c'
      )
    order by p.proname`;
});

/** With how many of the calls are answered at least: each may execute more or fewer RPCs. */
const callers: [string, () => Claims, () => Tenant, number][] = [
  ["anon", () => ({ role: "anon" }), () => theirs, 50],
  ["the owner", () => mine.professional.claims, () => mine, 50],
  ["another professional", () => mine.professional.claims, () => theirs, 50],
  ["a portal client", () => mine.portal.claims, () => mine, 50],
  ["somebody else's portal client", () => mine.portal.claims, () => theirs, 50],
  ["the link of a booking", () => mine.link.claims, () => mine, 20],
  ["the link of somebody else's booking", () => mine.link.claims, () => theirs, 2],
];

/** What nobody but `theirs` may learn, and what no error tells anybody. */
function secretsFor(caller: string): { anywhere: string[]; inErrors: string[] } {
  return {
    anywhere: [
      theirs.secret,
      theirs.sealed,
      mine.sealed,
      theirs.sealedToken,
      mine.sealedToken,
      theirs.note,
      theirs.ids.client,
      theirs.ids.delivery,
      theirs.ids.payment,
      theirs.account,
      theirs.professional.email,
      ...(caller === "a portal client" ? [mine.note] : []),
      ...(caller === "the link of a booking" ? [mine.note, mine.email, mine.ids.order] : []),
    ],
    inErrors: ["Failing row", "Key (", "whsec_", mine.note],
  };
}

test("there are arguments here for every RPC", () => {
  expect(rpcs.map(({ name }) => name)).toEqual(Object.keys(validArguments(mine)).sort());
  for (const { name, arguments: list } of rpcs) {
    const valid = Object.keys(validArguments(mine)[name] ?? {}).sort();
    expect([name, list.map((argument) => argument.name).sort()]).toEqual([name, valid]);
  }
});

describe.each(callers)("%s", (caller, claims, target, least) => {
  test("learns nothing from any argument of any RPC", async () => {
    const { anywhere, inErrors } = secretsFor(caller);
    const leaks: string[] = [];
    let calls = 0;
    let answered = 0;
    await rolledBack(async (tx) => {
      await tx`select set_config('request.jwt.claims', ${JSON.stringify(claims())}, true)`;
      await tx.unsafe(`set local role ${claims().role}`);
      for (const rpc of rpcs) {
        const valid = validArguments(target())[rpc.name] as Args;
        const variants: Args[] = [valid];
        for (const { name, type } of rpc.arguments) {
          for (const value of trials(type, name)) variants.push({ ...valid, [name]: value });
        }
        for (const args of variants) {
          const { failed, text } = await answerOf(tx, (inner) => call(inner, rpc, args));
          calls++;
          if (!failed) answered++;
          // What was sent may come back.
          const sent = JSON.stringify(args);
          const found = [...anywhere, ...(failed ? inErrors : [])].filter(
            (secret) => text.includes(secret) && !sent.includes(secret),
          );
          if (found.length > 0) leaks.push(`${rpc.name} ${sent.slice(0, 200)}: ${text}`);
        }
      }
    });
    expect(leaks).toEqual([]);
    expect(calls).toBeGreaterThan(500);
    expect(answered).toBeGreaterThan(least);
  });
});

/** Calls an RPC as the REST server does: arguments by name, from one JSON document. */
function call(
  tx: TransactionSql,
  rpc: { name: string; arguments: { name: string; type: string }[] },
  args: Args,
): Promise<unknown> {
  const list = rpc.arguments
    .map(({ name, type }) => `"${name}" => a."${name}"::${type === "_text" ? "text[]" : type}`)
    .join(", ");
  const columns = rpc.arguments.map(
    ({ name, type }) => `"${name}" ${type === "_text" ? "text[]" : type}`,
  );
  return columns.length === 0
    ? tx.unsafe(`select to_json(f) from public.${rpc.name}() as f`)
    : tx.unsafe(
        `select to_json(f) from json_to_record($1::text::json) as a (${columns.join(", ")}),
          public.${rpc.name}(${list}) as f`,
        [JSON.stringify(args)],
      );
}

describe("an argument that is missing or too large", () => {
  const refusals: [
    string,
    (owner: Professional, portal: PortalSession) => string,
    string,
    () => Args,
    string[],
  ][] = [
    [
      "portal, reason of 1001",
      (_, portal) => portal.token,
      "cancel_booking",
      () => ({ booking_id: mine.ids.booking, reason: "x".repeat(1001) }),
      ["reason"],
    ],
    [
      "owner, description of 501",
      (owner) => owner.token,
      "update_webhook_endpoint",
      () => ({ endpoint_id: mine.ids.endpoint, changes: { description: "x".repeat(501) } }),
      ["description"],
    ],
    [
      "owner, address with a space",
      (owner) => owner.token,
      "update_webhook_endpoint",
      () => ({ endpoint_id: mine.ids.endpoint, changes: { url: "https://1.1.1.1/a b" } }),
      ["url"],
    ],
    [
      "owner, no address",
      (owner) => owner.token,
      "create_webhook_endpoint",
      () => ({ url: null, events: ["*"] }),
      ["url"],
    ],
    [
      "owner, reason of 201",
      (owner) => owner.token,
      "adjust_stock",
      () => ({ product_id: mine.ids.product, delta: 1, reason: "x".repeat(201) }),
      ["reason"],
    ],
    [
      "owner, reason of 1001",
      (owner) => owner.token,
      "refund_payment",
      () => ({ order_id: mine.ids.order, amount: 1, reason: "x".repeat(1001) }),
      ["reason"],
    ],
  ];
  test.each(refusals)("is named, and nothing else is: %s", async (_, token, name, args, fields) => {
    const response = await request(`/rest/v1/rpc/${name}`, {
      method: "POST",
      token: token(mine.professional, mine.portal),
      body: JSON.stringify(args()),
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({
      code: "validation_failed",
      message: expect.any(String),
      details: JSON.stringify({ fields }).replaceAll(":", " : "),
      hint: null,
    });
  });

  test.each([
    ["an address that is a list", { shipping_address: [] }, ["shipping_address"]],
    ["notes of 4001 characters", { notes: "x".repeat(4001) }, ["notes"]],
    ["a total below 0", { expected_total: -1 }, ["expected_total"]],
  ])("from the public is the same for a client and a stranger: %s", async (_, values, fields) => {
    const bodies = [];
    for (const client_email of [mine.email, `${randomUUID()}@example.com`]) {
      const args = { ...validArguments(mine).place_order, client_email, ...values };
      const response = await request("/rest/v1/rpc/place_order", {
        method: "POST",
        body: JSON.stringify(args),
      });
      expect(response.status).toBe(422);
      bodies.push(await response.json());
    }
    expect(bodies[0]).toEqual(bodies[1]);
    expect(JSON.parse(bodies[0].details)).toEqual({ fields });
  });
});

describe("a table that refuses what a rule writes", () => {
  const own = () => mine.professional.claims;
  const anon = (): Claims => ({ role: "anon" });
  const rpc =
    (name: string, values: Args = {}) =>
    (tx: TransactionSql) =>
      call(tx, rpcs.find((found) => found.name === name) as (typeof rpcs)[number], {
        ...validArguments(mine)[name],
        ...values,
      });
  const insertBooking = (tx: TransactionSql) => tx`
    insert into public.bookings (client_id, service_id, starts_at)
    values (${mine.ids.client}, ${mine.ids.service}, ${at("17:00")})`;

  type Work = (tx: TransactionSql) => Promise<unknown>;
  const writes: [string, string, () => Claims, Work, before?: Work][] = [
    ["private.webhook_events", "an owner's booking", own, insertBooking],
    ["private.webhook_deliveries", "an owner's booking", own, insertBooking],
    [
      "private.webhook_events",
      "a client's own name",
      () => mine.portal.claims,
      (tx) => tx`update public.clients set name = 'Marta' where true`,
    ],
    [
      "private.stock_ledger",
      "an owner's product",
      own,
      (tx) => tx`insert into public.products (name, price, stock) values ('Wax', 1, 3)`,
    ],
    [
      "private.order_products",
      "an order of the public",
      anon,
      rpc("place_order", { client_email: "new@example.com" }),
    ],
    ["public.products", "an order of the public", anon, rpc("place_order")],
    ["public.orders", "an order of the public", anon, rpc("place_order")],
    [
      "public.clients",
      "a stranger's order",
      anon,
      rpc("place_order", { client_email: "new@example.com" }),
    ],
    ["public.bookings", "a booking of the public", anon, rpc("create_booking")],
    [
      "public.clients",
      "a stranger's booking",
      anon,
      rpc("create_booking", { client_email: "new@example.com" }),
    ],
    ["private.idempotency_keys", "a booking of the public", anon, rpc("create_booking")],
    ["private.idempotency_keys", "an order of the public", anon, rpc("place_order")],
    ["private.mails", "an owner's booking", own, insertBooking],
    ["private.mails", "a booking of the public", anon, rpc("create_booking")],
    ["private.mails", "an order of the public", anon, rpc("place_order")],
    ["private.mails", "a client's cancellation", () => mine.portal.claims, rpc("cancel_booking")],
    ["private.mails", "a move by link", () => mine.link.claims, rpc("reschedule_booking")],
    ["private.mails", "a payment", own, rpc("record_payment")],
    ["private.mails", "a question to confirm an address", own, rpc("request_address_confirmation")],
    [
      "private.proven_addresses",
      "an owner's client",
      own,
      (tx) => tx`insert into public.clients (name, email) values ('Ann', 'ann@example.com')`,
    ],
    [
      "private.unheard_clients",
      "a stranger's hold",
      anon,
      rpc("create_booking", { client_email: "new@example.com" }),
      (tx) => tx`
        update public.profiles set verify_public_email = true where id = ${mine.professional.id}`,
    ],
    ["public.bookings", "a client's cancellation", () => mine.portal.claims, rpc("cancel_booking")],
    ["public.bookings", "a client's move", () => mine.portal.claims, rpc("reschedule_booking")],
    ["public.bookings", "a cancellation by link", () => mine.link.claims, rpc("cancel_booking")],
    ["public.bookings", "a move by link", () => mine.link.claims, rpc("reschedule_booking")],
    ["private.payments", "a payment", own, rpc("record_payment")],
    ["public.orders", "a payment", own, rpc("record_payment")],
    ["public.products", "an adjustment", own, rpc("adjust_stock")],
    ["private.busy_calendars", "a sync of a busy calendar", own, rpc("sync_busy_calendar", {})],
    [
      "private.busy_calendars",
      "a new busy calendar",
      () => ({ role: "service_role" }),
      rpc("store_busy_calendar"),
    ],
    ["private.calendar_feeds", "a new feed", own, rpc("create_calendar_feed")],
    [
      "private.calendar_connections",
      "a change of a Google calendar",
      own,
      rpc("update_google_connection"),
    ],
    [
      "private.calendar_connections",
      "another token of Google's",
      () => ({ role: "service_role" }),
      rpc("store_google_connection"),
    ],
    ["private.webhook_endpoints", "a new endpoint", own, rpc("create_webhook_endpoint")],
    ["private.webhook_endpoints", "a change of an endpoint", own, rpc("update_webhook_endpoint")],
    ["private.webhook_endpoints", "a new secret", own, rpc("rotate_webhook_secret")],
    ["private.webhook_events", "a test event", own, rpc("test_webhook_endpoint")],
    ["public.clients", "an erasure", own, rpc("erase_client")],
  ];
  test.each(writes)("%s, for %s, shows no row", async (table, _, claims, write, before) => {
    const { failed, text } = await rolledBack(async (tx) => {
      await before?.(tx);
      await tx.unsafe(
        `alter table ${table} add constraint refuses_everything check (false) not valid`,
      );
      await tx`select set_config('request.jwt.claims', ${JSON.stringify(claims())}, true)`;
      await tx.unsafe(`set local role ${claims().role}`);
      return answerOf(tx, write);
    });
    expect([failed, JSON.parse(text)]).toEqual([
      true,
      {
        message: expect.stringContaining("refuses_everything"),
        detail: undefined,
        hint: undefined,
      },
    ]);
  });

  test("shows no key of a row that is there already", async () => {
    const { failed, text } = await rolledBack(async (tx) => {
      await tx`create unique index everybody_is_the_same on public.clients ((true)) where name = 'Twin'`;
      await tx`select set_config('request.jwt.claims', '{"role": "anon"}', true)`;
      await tx`set local role anon`;
      const twin = (client_email: string, time: string) =>
        rpc("create_booking", {
          client_name: "Twin",
          client_email,
          starts_at: at(time),
          idempotency_key: null,
        });
      await twin("one@example.com", "12:00")(tx);
      return answerOf(tx, twin("two@example.com", "14:00"));
    });
    expect(failed).toBe(true);
    expect(text).toContain("everybody_is_the_same");
    expect(text).not.toContain("Key (");
  });
});

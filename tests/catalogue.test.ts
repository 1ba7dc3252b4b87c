/** The rules of the schema itself, for whatever is added to it. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sql } from "./support/database.ts";
import { TABLES } from "./support/permissions.ts";

const API_ROLES = [
  "anon",
  "authenticated",
  "portal_booking",
  "portal_client",
  "service_role",
] as const;
type ApiRole = (typeof API_ROLES)[number];
/** All but the holder of a booking's link, who does no more than change that booking. */
const ORDERING: ApiRole[] = ["anon", "authenticated", "portal_client", "service_role"];

const words = (text: string) => text.trim().split(/\s+/);

/** Functions of `private` that each role may execute; a trigger function needs no grant. */
const PRIVATE_FUNCTIONS: Record<ApiRole, string[]> = {
  anon: words(`available_slots booking_page check_request create_booking explain_slot
    is_active_product is_open_to_public place_order quote_order timestamp_from_json
    timestamp_json`),
  authenticated: words(`adjust_stock api_keys are_mail_settings are_reminders audit
    authorize_action authorize_checkout availability_problem available_slots begin_busy_calendar
    begin_google_connection begin_google_disconnection begin_refund blocked_range booking_page
    busy_calendars calendar_feeds cancel_booking check_request connect_payment_account
    create_api_key create_booking create_calendar_feed create_webhook_endpoint
    day_windows_problem delete_busy_calendar delete_calendar_feed delete_webhook_endpoint
    detach_payment_account email_key erase_client explain_slot export_account export_client
    google_connection is_blank is_email languages mail_kinds mails order_payments
    payment_account place_order quote_order record_payment redeliver_webhook redeliver_webhooks
    refund_payment request_account_deletion request_address_confirmation reschedule_booking
    revoke_api_key revoke_api_keys rotate_webhook_secret spill_over sync_busy_calendar
    tags_are_short test_webhook_endpoint timestamp_from_json timestamp_json trim_invisible
    update_google_connection update_webhook_endpoint webhook_attempts webhook_deliveries
    webhook_endpoint webhook_endpoints webhook_events`),
  portal_booking: words(`authorize_checkout available_slots booking_page caller_professional_id
    cancel_booking check_request explain_slot jwt_claims portal_booking_id reschedule_booking
    timestamp_from_json timestamp_json`),
  portal_client: words(`authorize_checkout available_slots booking_page caller_professional_id
    caller_role cancel_booking check_request create_booking email_key explain_slot is_blank
    is_email jwt_claims languages place_order portal_client_id quote_order reschedule_booking
    tags_are_short timestamp_from_json timestamp_json trim_invisible`),
  service_role: words(`adjust_stock are_mail_settings are_reminders attach_payment_account
    availability_problem available_slots begin_checkout blocked_range booking_page calendar_feed
    cancel_booking check_request claim_account_deletions claim_busy_sync claim_google_run
    claim_mails claim_payment_tasks claim_webhook_deliveries confirm_hold
    confirm_professional_address count_link_use create_booking day_windows_problem
    delete_google_connection email_key end_portal_session exchange_api_key explain_slot
    fail_checkout fail_refund finish_account_deletion finish_busy_sync finish_google_push
    finish_google_run finish_mail finish_payment_task finish_portal_verification
    finish_webhook_delivery google_grant health is_blank is_email languages mail_kinds
    next_google_event order_payments own_calendar_uids place_order quote_order record_dispute
    record_mail_event record_payment record_payment_account record_refund record_session
    refund_payment report_payment_mode report_portal_address reschedule_booking ring_payment set_portal_code
    spill_over start_booking_session start_portal_code start_portal_verification
    store_busy_calendar store_google_connection tags_are_short timestamp_from_json timestamp_json
    trim_invisible unsubscribe_client`),
};

/** RPCs and computed relationships with who may call them; `s` only reads. */
const PUBLIC_FUNCTIONS: Record<string, { volatility: "s" | "v"; roles: ApiRole[] }> = {
  adjust_stock: { volatility: "v", roles: ["authenticated", "service_role"] },
  api_keys: { volatility: "s", roles: ["authenticated"] },
  attach_payment_account: { volatility: "v", roles: ["service_role"] },
  audit: { volatility: "s", roles: ["authenticated"] },
  authorize_action: { volatility: "v", roles: ["authenticated"] },
  authorize_checkout: {
    volatility: "v",
    roles: ["authenticated", "portal_booking", "portal_client"],
  },
  available_slots: { volatility: "s", roles: [...API_ROLES] },
  begin_checkout: { volatility: "v", roles: ["service_role"] },
  begin_refund: { volatility: "v", roles: ["authenticated"] },
  begin_busy_calendar: { volatility: "v", roles: ["authenticated"] },
  booking_page: { volatility: "s", roles: [...API_ROLES] },
  busy_calendars: { volatility: "s", roles: ["authenticated"] },
  calendar_feed: { volatility: "v", roles: ["service_role"] },
  calendar_feeds: { volatility: "s", roles: ["authenticated"] },
  cancel_booking: {
    volatility: "v",
    roles: ["authenticated", "portal_booking", "portal_client", "service_role"],
  },
  claim_account_deletions: { volatility: "v", roles: ["service_role"] },
  claim_busy_sync: { volatility: "v", roles: ["service_role"] },
  claim_mails: { volatility: "v", roles: ["service_role"] },
  claim_payment_tasks: { volatility: "v", roles: ["service_role"] },
  claim_webhook_deliveries: { volatility: "v", roles: ["service_role"] },
  confirm_hold: { volatility: "v", roles: ["service_role"] },
  confirm_professional_address: { volatility: "v", roles: ["service_role"] },
  connect_payment_account: { volatility: "v", roles: ["authenticated"] },
  count_link_use: { volatility: "v", roles: ["service_role"] },
  create_api_key: { volatility: "v", roles: ["authenticated"] },
  create_booking: { volatility: "v", roles: ORDERING },
  create_calendar_feed: { volatility: "v", roles: ["authenticated"] },
  create_webhook_endpoint: { volatility: "v", roles: ["authenticated"] },
  delete_busy_calendar: { volatility: "v", roles: ["authenticated"] },
  delete_calendar_feed: { volatility: "v", roles: ["authenticated"] },
  delete_webhook_endpoint: { volatility: "v", roles: ["authenticated"] },
  detach_payment_account: { volatility: "v", roles: ["authenticated"] },
  end_portal_session: { volatility: "v", roles: ["service_role"] },
  erase_client: { volatility: "v", roles: ["authenticated"] },
  exchange_api_key: { volatility: "v", roles: ["service_role"] },
  explain_slot: { volatility: "s", roles: [...API_ROLES] },
  fail_checkout: { volatility: "v", roles: ["service_role"] },
  fail_refund: { volatility: "v", roles: ["service_role"] },
  export_account: { volatility: "s", roles: ["authenticated"] },
  export_client: { volatility: "s", roles: ["authenticated"] },
  finish_account_deletion: { volatility: "v", roles: ["service_role"] },
  finish_busy_sync: { volatility: "v", roles: ["service_role"] },
  finish_mail: { volatility: "v", roles: ["service_role"] },
  finish_payment_task: { volatility: "v", roles: ["service_role"] },
  finish_portal_verification: { volatility: "v", roles: ["service_role"] },
  finish_webhook_delivery: { volatility: "v", roles: ["service_role"] },
  health: { volatility: "s", roles: ["service_role"] },
  mails: { volatility: "s", roles: ["authenticated"] },
  order_payments: { volatility: "s", roles: ["authenticated", "service_role"] },
  own_calendar_uids: { volatility: "s", roles: ["service_role"] },
  parent: { volatility: "s", roles: ["authenticated", "service_role"] },
  payment_account: { volatility: "v", roles: ["authenticated"] },
  place_order: { volatility: "v", roles: ORDERING },
  quote_order: { volatility: "s", roles: ORDERING },
  record_dispute: { volatility: "v", roles: ["service_role"] },
  record_mail_event: { volatility: "v", roles: ["service_role"] },
  record_payment: { volatility: "v", roles: ["authenticated", "service_role"] },
  record_payment_account: { volatility: "v", roles: ["service_role"] },
  record_refund: { volatility: "v", roles: ["service_role"] },
  record_session: { volatility: "v", roles: ["service_role"] },
  redeliver_webhook: { volatility: "v", roles: ["authenticated"] },
  redeliver_webhooks: { volatility: "v", roles: ["authenticated"] },
  refund_payment: { volatility: "v", roles: ["authenticated", "service_role"] },
  report_payment_mode: { volatility: "v", roles: ["service_role"] },
  report_portal_address: { volatility: "v", roles: ["service_role"] },
  request_account_deletion: { volatility: "v", roles: ["authenticated"] },
  request_address_confirmation: { volatility: "v", roles: ["authenticated"] },
  reschedule_booking: {
    volatility: "v",
    roles: ["authenticated", "portal_booking", "portal_client", "service_role"],
  },
  ring_payment: { volatility: "v", roles: ["service_role"] },
  revoke_api_key: { volatility: "v", roles: ["authenticated"] },
  revoke_api_keys: { volatility: "v", roles: ["authenticated"] },
  rotate_webhook_secret: { volatility: "v", roles: ["authenticated"] },
  set_portal_code: { volatility: "v", roles: ["service_role"] },
  start_booking_session: { volatility: "v", roles: ["service_role"] },
  start_portal_code: { volatility: "v", roles: ["service_role"] },
  start_portal_verification: { volatility: "v", roles: ["service_role"] },
  store_busy_calendar: { volatility: "v", roles: ["service_role"] },
  sync_busy_calendar: { volatility: "v", roles: ["authenticated"] },
  test_webhook_endpoint: { volatility: "v", roles: ["authenticated"] },
  unsubscribe_client: { volatility: "v", roles: ["service_role"] },
  update_webhook_endpoint: { volatility: "v", roles: ["authenticated"] },
  variants: { volatility: "s", roles: ["authenticated", "service_role"] },
  webhook_attempts: { volatility: "s", roles: ["authenticated"] },
  webhook_deliveries: { volatility: "s", roles: ["authenticated"] },
  webhook_endpoint: { volatility: "s", roles: ["authenticated"] },
  webhook_endpoints: { volatility: "s", roles: ["authenticated"] },
  webhook_events: { volatility: "s", roles: ["authenticated"] },
  begin_google_connection: { volatility: "v", roles: ["authenticated"] },
  begin_google_disconnection: { volatility: "v", roles: ["authenticated"] },
  google_connection: { volatility: "s", roles: ["authenticated"] },
  update_google_connection: { volatility: "v", roles: ["authenticated"] },
  claim_google_run: { volatility: "v", roles: ["service_role"] },
  delete_google_connection: { volatility: "v", roles: ["service_role"] },
  finish_google_push: { volatility: "v", roles: ["service_role"] },
  finish_google_run: { volatility: "v", roles: ["service_role"] },
  google_grant: { volatility: "v", roles: ["service_role"] },
  next_google_event: { volatility: "v", roles: ["service_role"] },
  store_google_connection: { volatility: "v", roles: ["service_role"] },
};

/**
 * Definer functions of `postgres`, which row-level security does not bind: they read `auth`, or work
 * on the counter's own connection, and write no row of a tenant. All others belong to `rules`.
 */
const POSTGRES_DEFINER_FUNCTIONS = words(
  "check_request count_public_try count_public_write count_request count_requests health owner_email owner_may_sign_in session_started_at",
);

/** What `rules` may do with whole tables; a column list where it needs no more. */
const RULES_GRANTS: Record<string, string> = {
  "private.account_deletions": "delete insert select update",
  "private.api_keys": "insert select update(last_used_on) update(revoked_at)",
  "private.booking_sessions": "delete insert select update(revoked_at)",
  "private.busy_calendars": "delete insert select update",
  "private.busy_times": "delete insert select update(during)",
  "private.calendar_connections": "delete insert select update",
  "private.calendar_feeds": "delete insert select",
  "private.calendar_pushes": "delete insert select update",
  "private.confirmed_owners": "delete insert select update",
  "private.currencies": "select",
  "private.dispatches": "insert(queue) select update(last_at)",
  "private.idempotency_keys": "delete insert select update",
  "private.mail_pace": "select update",
  "private.mail_turns": "insert select update",
  "private.mails": "delete insert select update",
  "private.order_products": "insert select",
  "private.payment_holds": "insert select update",
  "private.payments": "insert select update(flag) update(reason) update(return_cause)",
  "private.portal_code_requests": "insert select",
  "private.portal_codes": "delete insert select update",
  "private.portal_sessions": "delete insert select update",
  "private.settings":
    "select(id) select(payments_livemode) select(portal_reported_at) select(portal_url) update(payments_livemode) update(portal_reported_at) update(portal_url)",
  "private.proven_addresses": "delete insert select",
  "private.stock_ledger": "insert select",
  "private.suppressed_addresses": "delete insert select update",
  "private.suspended_owners": "select",
  "private.tiers": "select",
  "private.unheard_clients": "delete insert select",
  "private.webhook_attempts": "insert select update",
  "private.webhook_budgets": "insert select update",
  "private.webhook_deliveries": "insert select update",
  "private.webhook_endpoints": "delete insert select update",
  "private.webhook_events": "delete insert select",
  "private.webhook_expired_events": "insert select update",
  "private.webhook_leases": "delete insert select update",
  "private.webhook_owner_mails": "insert select",
  "private.webhook_previous_secrets": "insert select",
  "public.bookings": "insert select update",
  "public.clients": "insert select update",
  "public.orders": "insert select update",
  "public.products": "select update",
  "public.profiles": "insert select",
  "public.services": "select",
  "private.checkouts":
    "insert select update(expires_at) update(failure) update(payment_intent) update(session_id) update(status) update(url)",
  "private.disputes": "insert select update(reason) update(status)",
  "private.payment_account_attempts": "delete insert(professional_id) select update(created_at)",
  "private.payment_accounts":
    "insert(id) insert(livemode) insert(professional_id) select update(can_charge) update(checked_at) update(deauthorized_at) update(detached_at) update(missing)",
  "private.payment_currencies": "select",
  "private.payment_tasks": "delete insert select update",
  "private.provider_refunds":
    "insert select update(amount) update(failure) update(minor) update(provider_id) update(reason) update(status)",
};

/** Definer functions of `public`: there are none, and one more would have to be argued for here. */
const PUBLIC_DEFINER_FUNCTIONS: string[] = [];

const OURS = sql`('public'::regnamespace, 'private'::regnamespace)`;

describe("tables", () => {
  test("public has exactly the six of the specification, and nothing else to read", async () => {
    const rows = await sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S')`;
    expect(rows.map((row) => row.name).sort()).toEqual([...TABLES].sort());
  });

  test("every table has row-level security, in private as well", async () => {
    const rows = await sql`
      select oid::regclass::text from pg_class
      where relnamespace in ${OURS} and relkind in ('r', 'p') and not relrowsecurity`;
    expect(rows).toEqual([]);
  });

  test("every table has a primary key and a comment", async () => {
    const rows = await sql`
      select oid::regclass::text from pg_class c
      where relnamespace in ${OURS} and relkind in ('r', 'p')
        and (
          obj_description(oid, 'pg_class') is null
          or not exists (select from pg_constraint where conrelid = c.oid and contype = 'p')
        )`;
    expect(rows).toEqual([]);
  });

  test("every column and type of public and every setting has a comment, which becomes the reference", async () => {
    const rows = await sql`
      select c.relname || '.' || a.attname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where (
          c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'c')
          or c.oid = 'private.settings'::regclass
        )
        and coalesce(col_description(c.oid, a.attnum), '') = ''
      union all
      select t.typname
      from pg_type t
      left join pg_class c on c.oid = t.typrelid
      -- Without the arrays of types, and the row types of tables.
      where t.typnamespace = 'public'::regnamespace and t.typelem = 0
        and (c.oid is null or c.relkind = 'c')
        and coalesce(obj_description(t.oid, 'pg_type'), '') = ''
      order by 1`;
    expect(rows).toEqual([]);
  });

  test("every tenant key is part of a row's references, so that none can cross tenants", async () => {
    const rows = await sql`
      select f.conrelid::regclass::text, f.conname
      from pg_constraint f
      where f.contype = 'f' and f.connamespace in ${OURS}
        and f.confrelid in (
          select attrelid from pg_attribute where attname = 'professional_id' and not attisdropped
        )
        and not exists (
          select from pg_attribute a
          where a.attrelid = f.conrelid and a.attnum = any (f.conkey) and a.attname = 'professional_id'
        )`;
    expect(rows).toEqual([]);
  });

  test("every foreign key has an index that begins with its columns", async () => {
    const rows = await sql`
      select f.conrelid::regclass::text, f.conname
      from pg_constraint f
      where f.contype = 'f' and f.connamespace in ${OURS}
        and not exists (
          select from pg_index i
          where i.indrelid = f.conrelid
            and i.indisvalid
            and (
              i.indpred is null
              -- A partial index serves when it leaves out nothing but null keys.
              or pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$'
            )
            and (i.indkey::smallint[])[0:cardinality(f.conkey) - 1] @> f.conkey
        )`;
    expect(rows).toEqual([]);
  });

  test("a professional's rows are read newest first by an index, bookings also by start", async () => {
    const rows = await sql<{ table: string; columns: string }[]>`
      select i.indrelid::regclass::text as table,
        regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING btree ', '') as columns
      from pg_index i
      join pg_class c on c.oid = i.indrelid
      where c.relnamespace = 'public'::regnamespace`;
    const found = rows.map((row) => `${row.table} ${row.columns}`);
    for (const table of TABLES.filter((name) => name !== "profiles")) {
      expect(found).toContain(`${table} (professional_id, created_at DESC, id)`);
    }
    expect(found).toContain("bookings (professional_id, starts_at DESC, id)");
  });

  test("every column used in a policy leads an index", async () => {
    const rows = await sql`
      select distinct c.oid::regclass::text, a.attname
      from pg_policy p
      join pg_class c on c.oid = p.polrelid
      join pg_attribute a on a.attrelid = c.oid and a.attname in ('id', 'professional_id')
      where c.relnamespace = 'public'::regnamespace
        and pg_get_expr(p.polqual, p.polrelid) ~ ('\\m' || a.attname || '\\M')
        and not exists (select from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum)`;
    expect(rows).toEqual([]);
  });

  test("every check constraint reads as a sentence about its table", async () => {
    const rows = await sql`
      select coalesce(c.relname, t.typname) as subject, k.conname
      from pg_constraint k
      left join pg_class c on c.oid = k.conrelid
      left join pg_type t on t.oid = k.contypid
      where k.contype in ('c', 'x') and k.connamespace in ${OURS}
        and k.conname !~ ('^' || coalesce(c.relname, t.typname)
          || '_([a-z0-9_]+_)?(is|are|has|have|last|never|adds)(_[a-z0-9]+)+$')`;
    expect(rows).toEqual([]);
  });

  const grants = () => sql<{ table: string; privilege: string; role: string }[]>`
    select c.oid::regclass::text as table, lower(a.privilege_type) as privilege,
      a.grantee::regrole::text as role
    from pg_class c
    cross join lateral aclexplode(c.relacl) a
    where c.relnamespace in ${OURS} and a.grantee <> c.relowner and c.relkind <> 'c'
    union all
    select c.oid::regclass::text, format('%s(%s)', lower(x.privilege_type), a.attname),
      x.grantee::regrole::text
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    cross join lateral aclexplode(a.attacl) x
    where c.relnamespace in ${OURS} and x.grantee <> c.relowner
    order by 1, 2`;

  test("nobody but the rules has a privilege on a table or sequence in private", async () => {
    const found = (await grants()).filter(
      ({ table, role }) => table.startsWith("private.") && role !== "rules",
    );
    expect(found).toEqual([]);
  });

  test("the rules have what they need of the tables, and no more", async () => {
    const found: Record<string, string[]> = {};
    for (const { table, privilege, role } of await grants()) {
      if (role !== "rules") continue;
      const name = table.includes(".") ? table : `public.${table}`;
      found[name] = [...(found[name] ?? []), privilege];
    }
    const expected = Object.entries(RULES_GRANTS).map(([table, list]) => [table, words(list)]);
    expect(found).toEqual(Object.fromEntries(expected));
  });

  test("nobody but servers and rules holds a table-wide grant but to delete, and nobody truncate, references, trigger", async () => {
    const rows = await sql<{ privilege: string }[]>`
      select distinct a.grantee::regrole::text || ' ' || lower(a.privilege_type) as privilege
      from pg_class c
      cross join lateral aclexplode(c.relacl) a
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
        and a.grantee not in (c.relowner, 'rules'::regrole)`;
    expect(rows.map((row) => row.privilege).sort()).toEqual([
      "authenticated delete",
      "service_role delete",
      "service_role insert",
      "service_role select",
      "service_role update",
    ]);
  });

  test("no grant can be passed on", async () => {
    const rows = await sql`
      select c.oid::regclass::text, a.privilege_type
      from pg_class c
      cross join lateral aclexplode(c.relacl) a
      where c.relnamespace in ${OURS} and a.grantee <> c.relowner and a.is_grantable`;
    expect(rows).toEqual([]);
  });

  test("the API's roles may look into both schemas, nobody else into private", async () => {
    const rows = await sql<{ schema: string; role: string }[]>`
      select n.nspname as schema, a.grantee::regrole::text as role
      from pg_namespace n
      cross join lateral aclexplode(n.nspacl) a
      where n.nspname in ('public', 'private') and a.privilege_type = 'USAGE'
        and a.grantee <> n.nspowner`;
    const of = (schema: string) =>
      rows.filter((row) => row.schema === schema).map((row) => row.role);
    // The REST server itself looks the domain representation up; requests are counted by a login.
    expect(of("private").sort()).toEqual(
      ["authenticator", "request_counter", "rules", ...API_ROLES].sort(),
    );
    expect(of("public")).toEqual(expect.arrayContaining(["rules", ...API_ROLES]));
  });

  test("what a role may create in a schema is nothing", async () => {
    const rows = await sql`
      select n.nspname, a.grantee::regrole::text
      from pg_namespace n
      cross join lateral aclexplode(n.nspacl) a
      where n.nspname in ('public', 'private') and a.privilege_type = 'CREATE'
        and a.grantee <> n.nspowner`;
    expect(rows).toEqual([]);
  });
});

describe("policies", () => {
  test("each is named <table>_<command>_<audience>, and commented where the public reads the schema", async () => {
    const rows = await sql`
      select p.polname
      from pg_policy p
      join pg_class c on c.oid = p.polrelid
      where c.relnamespace in ${OURS}
        and p.polname <> c.relname || '_all_rules'
        and (
          obj_description(p.oid, 'pg_policy') is null
          or p.polname !~ ('^' || c.relname || '_' || case p.polcmd
            when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete'
          end || '_(own|client|link|public)$')
        )`;
    expect(rows).toEqual([]);
  });

  test("none is for PUBLIC or restrictive by accident; for all commands are those of the rules alone", async () => {
    const rows = await sql`
      select p.polname
      from pg_policy p
      join pg_class c on c.oid = p.polrelid
      where c.relnamespace in ${OURS}
        and (
          0 = any (p.polroles)
          or not p.polpermissive
          or (p.polcmd = '*') <> (p.polroles = array['rules'::regrole::oid])
        )`;
    expect(rows).toEqual([]);
  });

  test("each role has at most one per table and command, and the audience says which role", async () => {
    const rows = await sql<{ policy: string; roles: string[] }[]>`
      select polname as policy, polroles::regrole[]::text[] as roles
      from pg_policy p
      join pg_class c on c.oid = p.polrelid
      where c.relnamespace in ${OURS}`;
    const role = {
      own: "authenticated",
      client: "portal_client",
      link: "portal_booking",
      public: "anon",
      rules: "rules",
    };
    for (const { policy, roles } of rows) {
      const audience = policy.split("_").at(-1) as keyof typeof role;
      expect([policy, roles]).toEqual([policy, [role[audience]]]);
    }
  });

  test("each compares the row with who asks, for what is read and for what is written", async () => {
    const rows = await sql<
      { policy: string; command: string; using: string | null; check: string | null }[]
    >`
      select policyname as policy, cmd as command, qual as using, with_check as check
      from pg_policies where schemaname = 'public' and policyname not like '%_all_rules'`;
    const callersClient = `( SELECT private.portal_client_id(private.caller_professional_id()) AS portal_client_id)`;
    const callersProfessional = `( SELECT private.caller_professional_id() AS caller_professional_id)`;
    const callersBooking = `( SELECT private.portal_booking_id(private.caller_professional_id()) AS portal_booking_id)`;
    const noExpiredHold =
      "((expires_at IS NULL) OR ((expires_at)::timestamp with time zone > now()) OR checkout_open)";
    const expression = (policy: string) => {
      if (policy === "products_select_public") {
        const ofActive = "((parent_id IS NULL) OR private.is_active_product(parent_id))";
        return `(active AND private.is_open_to_public(professional_id) AND ${ofActive})`;
      }
      if (policy.endsWith("_public"))
        return "(active AND private.is_open_to_public(professional_id))";
      if (policy.endsWith("_own")) {
        const column = policy.startsWith("profiles_") ? "id" : "professional_id";
        return `(( SELECT auth.uid() AS uid) = ${column})`;
      }
      if (policy.endsWith("_link"))
        return `((professional_id = ${callersProfessional}) AND (id = ${callersBooking}) AND ${noExpiredHold})`;
      return policy.startsWith("clients_")
        ? `(id = ${callersClient})`
        : `((professional_id = ${callersProfessional}) AND (client_id = ${callersClient}) AND ${noExpiredHold})`;
    };
    for (const { policy, command, using, check } of rows) {
      expect([policy, using, check]).toEqual([
        policy,
        command === "INSERT" ? null : expression(policy),
        command === "INSERT" || command === "UPDATE" ? expression(policy) : null,
      ]);
    }
  });

  test("an update has using and with check; none reads user metadata, none calls auth.uid() per row", async () => {
    const rows = await sql`
      select policyname from pg_policies
      where schemaname in ('public', 'private') and (
        (cmd = 'UPDATE' and (qual is null or with_check is null))
        or concat(qual, with_check) ~ 'metadata'
        or replace(concat(qual, with_check), '( SELECT auth.uid() AS uid)', '') ~ 'auth\\.'
      )`;
    expect(rows).toEqual([]);
  });
});

describe("functions", () => {
  test("each pins an empty search_path, some how they are planned, and one how long it waits", async () => {
    const rows = await sql<{ name: string; settings: string[] }[]>`
      select proname as name, proconfig as settings from pg_proc
      where pronamespace in ${OURS} and proconfig is distinct from array['search_path=""']
      order by proname`;
    const planned = ['search_path=""', "plan_cache_mode=force_generic_plan"];
    expect(rows).toEqual([
      { name: "booked_time", settings: planned },
      { name: "busy_time", settings: planned },
      { name: "check_request", settings: planned },
      { name: "create_profile", settings: ['search_path=""', "lock_timeout=100ms"] },
      { name: "free_starts", settings: planned },
      { name: "slot_days", settings: planned },
    ]);
  });

  test("PUBLIC executes none of them, nor will it the next one", async () => {
    const rows = await sql`
      select p.oid::regprocedure::text from pg_proc p
      cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
      where p.pronamespace in ${OURS} and a.grantee = 0`;
    expect(rows).toEqual([]);
  });

  test("a new table or function is reachable by nobody", async () => {
    const work = sql.begin(async (tx) => {
      await tx`create table public.brand_new (id integer primary key)`;
      await tx`create sequence public.brand_new_numbers`;
      await tx`create function public.brand_new() returns integer language sql as 'select 1'`;
      await tx`create function private.brand_new() returns integer language sql as 'select 1'`;
      const rows = await tx`
        select r.rolname, f.name
        from pg_roles r
        cross join (values ('public.brand_new()'), ('private.brand_new()')) as f (name)
        where r.rolname in ${tx([...API_ROLES])} and has_function_privilege(r.oid, f.name, 'execute')
        union all
        select r.rolname, 'public.brand_new'
        from pg_roles r
        where r.rolname in ${tx([...API_ROLES])}
          and (
            has_table_privilege(r.oid, 'public.brand_new', 'select, insert, update, delete, truncate')
            or has_sequence_privilege(r.oid, 'public.brand_new_numbers', 'usage, select, update')
          )`;
      expect(rows).toEqual([]);
      throw new Error("undo");
    });
    await expect(work).rejects.toThrow("undo");
  });

  test("definers belong to the rules, whom row-level security binds, or are listed here", async () => {
    const rows = await sql<{ name: string; owner: string }[]>`
      select proname as name, proowner::regrole::text as owner from pg_proc
      where pronamespace = 'private'::regnamespace and prosecdef
      order by proname`;
    const others = rows.filter(({ owner }) => owner !== "rules");
    expect(others).toEqual(POSTGRES_DEFINER_FUNCTIONS.map((name) => ({ name, owner: "postgres" })));
  });

  test("those that stay with postgres stand in docs/architecture.md, each with its reason", () => {
    const page = readFileSync(new URL("../docs/architecture.md", import.meta.url), "utf8");
    const [, table = ""] =
      /^These stay with `postgres`[\s\S]*?^\| --- [^\n]*\n((?:\|.*\n)+)/m.exec(page) ?? [];
    const rows = table
      .trim()
      .split("\n")
      .map((row) => row.split("|"));
    const names = rows.flatMap(([, name = ""]) =>
      [...name.matchAll(/`(\w+)`/g)].map(([, one]) => one),
    );
    expect(names.sort()).toEqual(POSTGRES_DEFINER_FUNCTIONS);
    for (const [, , reason = ""] of rows) expect(reason.trim()).not.toBe("");
  });

  test("no helper that reads a table runs under both owners: it would be planned anew each time", async () => {
    // Per function of private: who owns the definers that reach it, through calls by name.
    const rows = await sql<{ name: string; owners: string[] }[]>`
      with recursive functions as (
        select oid, proname as name, prosecdef as definer, proowner::regrole::text as owner, prosrc
        from pg_proc where pronamespace = 'private'::regnamespace
      ),
      reached as (
        select name, owner, prosrc from functions where definer
        union
        select f.name, r.owner, f.prosrc
        from reached r
        join functions f on not f.definer and position('private.' || f.name || '(' in r.prosrc) > 0
      )
      select name, array_agg(distinct owner order by owner) as owners
      from reached
      where prosrc ~* '(from|join|update|into)[[:space:]]+(public|private)[.]'
      group by name
      having count(distinct owner) > 1`;
    expect(rows).toEqual([]);
  });

  test("no definer function is in public", async () => {
    const rows = await sql<{ name: string }[]>`
      select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`;
    expect(rows.map((row) => row.name)).toEqual(PUBLIC_DEFINER_FUNCTIONS);
  });

  test("those in public are the listed ones, with the listed volatility, callers and a comment", async () => {
    const rows = await sql<
      { name: string; volatility: "s" | "v"; roles: ApiRole[]; commented: boolean }[]
    >`
      select p.proname as name, p.provolatile as volatility,
        array(
          select a.grantee::regrole::text from aclexplode(p.proacl) a
          where a.grantee <> p.proowner order by 1
        ) as roles,
        obj_description(p.oid, 'pg_proc') is not null as commented
      from pg_proc p
      where p.pronamespace = 'public'::regnamespace`;
    const found = rows.map(({ name, ...rest }) => [name, rest]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(
        Object.entries(PUBLIC_FUNCTIONS).map(([name, { volatility, roles }]) => [
          name,
          { volatility, roles: [...roles].sort(), commented: true },
        ]),
      ),
    );
    expect(rows).toHaveLength(Object.keys(PUBLIC_FUNCTIONS).length);
  });

  test.each(API_ROLES)("%s executes exactly the listed functions of private", async (role) => {
    const rows = await sql<{ name: string }[]>`
      select distinct p.proname as name
      from pg_proc p
      cross join lateral aclexplode(p.proacl) a
      where p.pronamespace = 'private'::regnamespace and a.grantee = ${role}::regrole`;
    expect(rows.map((row) => row.name).sort()).toEqual(PRIVATE_FUNCTIONS[role]);
  });

  test("those in private have a comment, but behind an RPC, which has it; arguments are named p_…", async () => {
    const rows = await sql`
      select p.oid::regprocedure::text from pg_proc p
      where p.pronamespace = 'private'::regnamespace
        and (
          obj_description(p.oid, 'pg_proc') is null and not exists (
            select from pg_proc rpc
            where rpc.pronamespace = 'public'::regnamespace and rpc.proname = p.proname
          )
          or exists (
            select from unnest(p.proargnames, p.proargmodes) as a (name, mode)
            where coalesce(a.mode, 'i') in ('i', 'b', 'v') and a.name !~ '^p_'
          )
        )`;
    expect(rows).toEqual([]);
  });

  test.each([
    ["public.timestamp_ms", "json"],
    ["json", "public.timestamp_ms"],
  ])(
    "the REST server may look up how %s becomes %s, and whoever uses a table may run it",
    async (source, target) => {
      const rows = await sql<{ role: string }[]>`
      select a.grantee::regrole::text as role
      from pg_cast k
      join pg_proc p on p.oid = k.castfunc
      cross join lateral aclexplode(p.proacl) a
      where k.castsource = ${source}::regtype and k.casttarget = ${target}::regtype
        and k.castcontext = 'i' and a.grantee not in (p.proowner, 'rules'::regrole, 'postgres'::regrole)`;
      expect(rows.map((row) => row.role).sort()).toEqual(["authenticator", ...API_ROLES].sort());
    },
  );
});

describe("migrations", () => {
  const folder = new URL("../supabase/migrations/", import.meta.url);
  const files = readdirSync(folder);

  test("each foreign key states its delete action", () => {
    for (const file of files) {
      const source = readFileSync(new URL(file, folder), "utf8").replace(/--.*$/gm, "");
      for (const [reference] of source.matchAll(
        /\breferences\s+[a-z_.]+\s*\([^)]*\)\s*(\S+\s+\S+)?/g,
      )) {
        expect(`${file}: ${reference}`).toMatch(/on\s+delete$/);
      }
    }
  });

  test("none leaves it to the database's collation what a digit or a letter of a pattern is", () => {
    for (const file of files) {
      const source = readFileSync(new URL(file, folder), "utf8").replace(/--.*$/gm, "");
      // By the platform's rules `\d` matches the digits of every script; times and dates do not.
      expect(`${file}: ${source.match(/\\[dDwW]|\[:(alpha|digit|alnum|upper|lower):\]/)}`).toBe(
        `${file}: null`,
      );
    }
  });

  test("each is named YYYYMMDDHHMMSS_<noun>.sql", () => {
    for (const file of files) expect(file).toMatch(/^20\d{12}_[a-z]+(_[a-z]+)*\.sql$/);
  });
});

describe("roles", () => {
  test.each(["portal_booking", "portal_client", "rules"])(
    "%s owns no table, inherits and logs in to nothing",
    async (name) => {
      const [role] = await sql`
      select rolcanlogin, rolinherit, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
        exists (select from pg_class where relowner = r.oid) as owns
      from pg_roles r where rolname = ${name}`;
      expect(role).toEqual({
        rolcanlogin: false,
        rolinherit: false,
        rolsuper: false,
        rolbypassrls: false,
        rolcreaterole: false,
        rolcreatedb: false,
        owns: false,
      });
    },
  );

  test("the REST server takes the portal's roles on, and never that of the rules", async () => {
    const [can] = await sql`
      select pg_has_role('authenticator', 'portal_client', 'set') as portal,
        pg_has_role('authenticator', 'portal_booking', 'set') as link,
        pg_has_role('authenticator', 'rules', 'member') as rules`;
    expect(can).toEqual({ portal: true, link: true, rules: false });
  });
});

describe("jobs", () => {
  test("are each the call of one function of private, since the text is kept with every run", async () => {
    const jobs = await sql<{ name: string; command: string; exists: boolean }[]>`
      select name, command,
        to_regproc(substring(command from '^select (private\\.\\w+)\\(')) is not null as exists
      from private.jobs()`;
    expect(jobs.length).toBeGreaterThan(0);
    for (const { name, command, exists } of jobs) {
      expect([name, command, exists]).toEqual([
        name,
        expect.stringMatching(/^select private\.\w+\(('\w+')?\)$/),
        true,
      ]);
    }
  });
});

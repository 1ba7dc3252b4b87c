/** The query that takes due deliveries, with next to no finished ones and with a million. */
import { asSuperuser, type Context, compareBoth } from "./context.ts";
import { professionalId } from "./data.ts";
import type { Side } from "./measure.ts";
import { type Row, row } from "./table.ts";

/** Each has two endpoints; a claim may take four deliveries of each. */
const PROFESSIONALS = Array.from({ length: 5 }, (_, index) => professionalId(index + 1));
const ENDPOINTS = 2 * PROFESSIONALS.length;
/** At each endpoint. */
const DUE = 32;

/** Finished deliveries of ten endpoints, and a few that are due. */
async function prepare(url: string, finished: number): Promise<void> {
  const insert = (events: number, status: string, when: string) => `
    with events as (
      insert into private.webhook_events (professional_id, sequence, created_at, type, body)
      select professional_id, nextval('private.webhook_event_numbers'), now(), 'client.created',
        '{"type": "client.created", "data": {"name": "Marta Rossi"}}'
      from unnest('{${PROFESSIONALS}}'::uuid[]) professional_id, generate_series(1, ${events})
      returning professional_id, id
    )
    insert into private.webhook_deliveries (professional_id, endpoint_id, event_id, status, attempts,
      next_attempt_at)
    select professional_id, e.id, v.id, '${status}', ${status === "pending" ? 0 : 1}, ${when}
    from events v join private.webhook_endpoints e using (professional_id)`;
  await asSuperuser(
    url,
    async (sql) => {
      await sql`set synchronous_commit = off`;
      await sql`
        insert into private.webhook_endpoints (id, professional_id, url, events, secret)
        select gen_random_uuid(), professional_id, 'https://example.com/' || n, '{*}', 'whsec_'
        from unnest(${PROFESSIONALS}::uuid[]) professional_id, generate_series(1, 2) n`;
      await sql.unsafe(insert(finished / ENDPOINTS, "succeeded", "null"));
      await sql.unsafe(insert(DUE, "pending", "now()"));
      await sql`vacuum analyze private.webhook_deliveries, private.webhook_events`;
    },
    "off",
  );
}

export async function measureClaims(context: Context): Promise<Row[]> {
  const { small, large, quick } = context;
  const finished = quick ? 20_000 : 1_000_000;
  await prepare(small.url, ENDPOINTS);
  await prepare(large.url, finished);
  const side = (url: string): Side => ({
    url,
    request: () => ({
      role: "service_role",
      method: "POST",
      statements: [["select public.claim_webhook_deliveries($1)", 16]],
      rollback: true,
    }),
  });
  const compared = await compareBoth(context, side(large.url), side(small.url), { requests: 20 });
  for (const url of [small.url, large.url]) {
    await asSuperuser(url, (sql) => sql`truncate private.webhook_endpoints cascade`);
  }
  return [
    row(
      "Webhooks, claim of 16 deliveries",
      `${finished} finished deliveries`,
      `${ENDPOINTS} finished deliveries`,
      "p50",
      compared,
      [{ of: "ratio", atMost: 1.2 }],
    ),
  ];
}

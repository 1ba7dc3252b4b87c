/** How long mails wait before they are handed over, on a stack whose rate holds none up. */
import { median, quantile } from "simple-statistics";
import { sql } from "../tests/support/database.ts";
import { mailingProfessional, queueIsDone } from "../tests/support/mailbox.ts";
import type { Result } from "./measure.ts";

/** Orders of new clients at once, each with a mail. */
async function order(professional: { id: string }, count: number): Promise<number[]> {
  await sql`
    with new_clients as (
      insert into public.clients (professional_id, name, email)
      select ${professional.id}, 'Marta Rossi', format('marta-%s@example.com', gen_random_uuid())
      from generate_series(1, ${count})
      returning id, professional_id
    )
    insert into public.orders (professional_id, client_id, items)
    select professional_id, id, ${sql.json([{ name: "Haircut", quantity: 1, unit_price: 30 }])}
    from new_clients`;
  await queueIsDone(professional);
  const rows = await sql<{ waited: number }[]>`
    select extract(epoch from finished_at - created_at)::float8 * 1000 as waited
    from private.mails
    where professional_id = ${professional.id} and status = 'sent'
    order by created_at desc
    limit ${count}`;
  if (rows.length !== count) throw new Error(`${rows.length} of ${count} mails were sent`);
  return rows.map(({ waited }) => waited);
}

export async function mails(quick: boolean): Promise<Result[]> {
  const professional = await mailingProfessional();
  // The first one waits for the function to be loaded.
  await order(professional, 1);
  const burst = await order(professional, quick ? 10 : 100);
  const perSecond = (1000 * burst.length) / Math.max(...burst);
  return [
    {
      name: "mails: a hundred at once, queued to handed over",
      p50: median(burst),
      p95: quantile(burst, 0.95),
      perSecond,
    },
  ];
}

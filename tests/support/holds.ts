/** What the tests of holds share: who makes them, how one is over, and how its link is opened. */
import type { Sql } from "postgres";
import { server } from "./callers.ts";
import { asCaller, parallelConnections, sql } from "./database.ts";
import type { Professional } from "./factories.ts";

type Held = "bookings" | "orders";

/** As the functions do; without it nobody may have holds. */
export async function reportPortalAddress(): Promise<void> {
  const { error } = await server().rpc("report_portal_address", {
    portal_url: "https://app.example/portal",
  });
  if (error) throw new Error(JSON.stringify(error));
}

export async function isOver(table: Held, row: { id: string }, connection: Sql = sql) {
  await connection`
    update public.${connection(table)} set expires_at = now() - interval '1 second'
    where id = ${row.id}`;
}

/** Runs the job until this one's turn has come. */
export async function sweep(table: Held, row: { id: string }): Promise<void> {
  const [job] = await sql<{ command: string }[]>`
    select command from private.jobs() where name = 'expired-holds'`;
  for (let tries = 0; tries < 1000; tries++) {
    const [held] = await sql`
      select from public.${sql(table)} where id = ${row.id} and status = 'pending'`;
    if (!held) return;
    await sql.unsafe(job?.command ?? "");
  }
  throw new Error("the hold was never ended");
}

/** The row as it is. */
export async function rowOf(table: Held, { id }: { id: string }) {
  const [row] = await sql`select * from public.${sql(table)} where id = ${id}`;
  if (!row) throw new Error("no such row");
  return row;
}

/** As the portal's route does for the link that was mailed. */
export async function confirmHold(kind: "booking" | "order", { id }: { id: string }) {
  const table = kind === "booking" ? sql`public.bookings` : sql`public.orders`;
  const [client] = await sql<{ link_epoch: number }[]>`
    select c.link_epoch from ${table} b join public.clients c on c.id = b.client_id
    where b.id = ${id}`;
  return server().rpc("confirm_hold", { kind, id, link_epoch: client?.link_epoch ?? 0 });
}

/**
 * A connection that keeps a professional's write lock from statement to statement, so that no job
 * comes between what is over and what is tried.
 */
export function undisturbed() {
  const [connection] = parallelConnections(1) as [Sql];
  return async <T>(
    professional: Professional,
    work: (
      connection: Sql,
      asOwner: <R>(call: (tx: Sql) => Promise<R>) => Promise<R>,
    ) => Promise<T>,
  ): Promise<T> => {
    const key = connection`hashtextextended(${`professional ${professional.id}`}, 7301)`;
    await connection`select pg_advisory_lock(${key})`;
    try {
      return await work(connection, (call) =>
        asCaller(professional.claims, (tx) => call(tx as unknown as Sql), connection),
      );
    } finally {
      await connection`select pg_advisory_unlock(${key})`;
    }
  };
}

/** Tells the database where its request counter finds it, as a deployment does once by hand. */
import postgres from "postgres";

/** Does nothing while the migrations have no counter. `url` connects as `postgres`. */
export async function configureRequestCounter(url: string, port: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [found] = await sql`
      select to_regprocedure('private.configure_request_counter(text, integer)') as name`;
    if (found?.name) await sql`select private.configure_request_counter('127.0.0.1', ${port})`;
  } finally {
    await sql.end();
  }
}

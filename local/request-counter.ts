import { withDatabase } from "./postgres.ts";

/** Tells the database where its request counter finds it, as a deployment does once by hand. */
export const configureRequestCounter = (url: string, port: number) =>
  withDatabase(url, async (sql) => {
    const [found] = await sql`
      select to_regprocedure('private.configure_request_counter(text, integer)') as name`;
    // Migrations that are older, or not ours, have none.
    if (found?.name) await sql`select private.configure_request_counter('127.0.0.1', ${port})`;
  });

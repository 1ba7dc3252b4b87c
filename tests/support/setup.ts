/** Before the suite: its many anonymous calls come from one address, which gets the widest tier. */
import postgres from "postgres";
import { stack } from "./stack.ts";

export default async function setup(): Promise<() => Promise<void>> {
  const sql = postgres(stack.dbUrl, { max: 1 });
  const [before] = await sql`select value from private.settings where name = 'anon_tier'`;
  await sql`update private.settings set value = 'ultra' where name = 'anon_tier'`;
  return async () => {
    await sql`update private.settings set value = ${before?.value} where name = 'anon_tier'`;
    await sql.end();
  };
}

/** Before the suite: its many calls come from one address, which gets wide limits. */
import postgres from "postgres";
import { stack } from "./stack.ts";

const WIDE = {
  anon_tier: "ultra",
  anon_per_network: "1000",
  rest_pool_size: "1000",
  public_tries_per_address_hour: "100000",
  public_tries_per_network_hour: "100000",
  public_writes_per_network_hour: "100000",
};

export default async function setup(): Promise<() => Promise<void>> {
  const sql = postgres(stack.dbUrl, { max: 1 });
  const names = Object.keys(WIDE);
  const before = await sql<{ name: string; value: string }[]>`
    select name, value from private.settings where name in ${sql(names)}`;
  const set = async (settings: Record<string, string>) => {
    for (const [name, value] of Object.entries(settings)) {
      await sql`update private.settings set value = ${value} where name = ${name}`;
    }
  };
  await set(WIDE);
  return async () => {
    await set(Object.fromEntries(before.map(({ name, value }) => [name, value])));
    await sql.end();
  };
}

/** For many calls from one address: it gets wide limits. */
import postgres from "postgres";
import { changeSettings } from "./settings.ts";

export const WIDE = {
  anon_tier: "ultra",
  anon_per_network: 1000,
  rest_pool_size: 1000,
  public_tries_per_address_hour: 100000,
  public_tries_per_network_hour: 100000,
  public_writes_per_network_hour: 100000,
};

/** Runs `suite` with wide limits, on a stack that may be somebody's: they are put back. */
export async function withWideLimits<T>(dbUrl: string, suite: () => Promise<T>): Promise<T> {
  const sql = postgres(dbUrl, { max: 1 });
  try {
    const putBack = await changeSettings(sql, WIDE);
    return await suite().finally(putBack);
  } finally {
    await sql.end();
  }
}

/** `private.settings`, which belong to the whole stack: changed by what runs alone, and put back. */
import type { Sql } from "postgres";

type Settings = Record<string, string | number | Date | null>;

export async function setting<T extends Settings[string]>(sql: Sql, name: string): Promise<T> {
  const [row] = await sql`select ${sql(name)} as value from private.settings`;
  return row?.value;
}

/** Returns what puts them back as they were. */
export async function changeSettings(sql: Sql, settings: Settings): Promise<() => Promise<void>> {
  const write = (values: Settings) => sql`update private.settings set ${sql(values)}`;
  const [before] = await sql<Settings[]>`
    select ${sql(Object.keys(settings))} from private.settings`;
  await write(settings);
  return async () => void (await write(before ?? {}));
}

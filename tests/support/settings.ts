/** `private.settings`, which belong to the whole stack: changed by what runs alone, and put back. */
import type { Sql } from "postgres";

/** By name; null where there is no such row. */
type Settings = Record<string, string | null>;

async function read(sql: Sql, names: string[]): Promise<Settings> {
  const rows = await sql<{ name: string; value: string }[]>`
    select name, value from private.settings where name in ${sql(names)}`;
  const found = new Map(rows.map(({ name, value }) => [name, value]));
  return Object.fromEntries(names.map((name) => [name, found.get(name) ?? null]));
}

async function write(sql: Sql, settings: Settings): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    await (value === null
      ? sql`delete from private.settings where name = ${name}`
      : sql`
          insert into private.settings (name, value) values (${name}, ${value})
          on conflict (name) do update set value = excluded.value`);
  }
}

export async function setting(sql: Sql, name: string): Promise<string | null> {
  return (await read(sql, [name]))[name] ?? null;
}

/** Returns what puts them back as they were. */
export async function changeSettings(sql: Sql, settings: Settings): Promise<() => Promise<void>> {
  const before = await read(sql, Object.keys(settings));
  await write(sql, settings);
  return () => write(sql, before);
}

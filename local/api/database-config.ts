import type { PostgresConnection } from "@supabase/lite/postgres";
import { sql } from "kysely";

type Settings = Readonly<Record<string, string>>;

/** What the REST service reads of its configuration in the database, as the platform does. */
export interface DatabaseConfig {
  /** Function to call before each request, as a quoted name. */
  preRequest: string | null;
  /** Settings of each role a request may take, for one transaction. */
  roleSettings: ReadonlyMap<string, Settings>;
}

/**
 * Bend: configuration in the database.
 * Upstream has none. The platform's REST service takes its own settings from
 * `alter role authenticator set pgrst.…`, and gives each request the settings of its role.
 */
export async function readDatabaseConfig(
  db: PostgresConnection["kysely"],
): Promise<DatabaseConfig> {
  const { rows } = await sql<{ role: string; name: string; value: string }>`
    select r.rolname as role, split_part(c, '=', 1) as name, substr(c, strpos(c, '=') + 1) as value
    from pg_roles r
    cross join unnest(r.rolconfig) as c
    left join pg_settings s on s.name = split_part(c, '=', 1)
    where case
      when r.rolname = 'authenticator' then c like 'pgrst.%'
      else s.context = 'user' and pg_has_role('authenticator', r.oid, 'member')
    end`.execute(db);
  const preRequest = rows.find(({ name }) => name === "pgrst.db_pre_request")?.value;
  const roleSettings = new Map<string, Record<string, string>>();
  for (const { role, name, value } of rows) {
    if (role === "authenticator") continue;
    roleSettings.set(role, { ...roleSettings.get(role), [name]: value });
  }
  return { preRequest: preRequest ? quoteName(preRequest) : null, roleSettings };
}

/** `schema.function` as SQL: each part is a name, never code. */
function quoteName(name: string): string {
  const parts = name.split(".").map((part) => part.trim().replace(/^"(.*)"$/, "$1"));
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join(".");
}

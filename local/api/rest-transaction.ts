import { type Kysely, sql } from "kysely";
import type { RequestContext } from "./context.ts";

// biome-ignore lint/suspicious/noExplicitAny: upstream knows no table.
export type Queries = Kysely<any>;

/** Settings by role, those of `authenticator` for the service itself. */
export type RoleSettings = ReadonlyMap<string, Record<string, string>>;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * Bend: configuration in the database.
 * Upstream has none. The platform's REST service takes its own settings from
 * `alter role authenticator set pgrst.…`, and gives each request the settings of its role.
 */
export async function readRoleSettings(db: Queries): Promise<RoleSettings> {
  const { rows } = await sql<{ role: string; settings: Record<string, string> }>`
    select r.rolname as role,
      jsonb_object_agg(split_part(c, '=', 1), substr(c, strpos(c, '=') + 1)) as settings
    from pg_roles r
    cross join unnest(r.rolconfig) as c
    left join pg_settings s on s.name = split_part(c, '=', 1)
    where case
      when r.rolname = 'authenticator' then c like 'pgrst.%'
      else s.context = 'user' and pg_has_role('authenticator', r.oid, 'member')
    end
    group by r.rolname`.execute(db);
  return new Map(rows.map(({ role, settings }) => [role, settings]));
}

/**
 * Bend: the transaction of a request.
 * Upstream sets the role and the claims only, for tables neither method, path nor headers; runs all but
 * GETs of functions read-write, has no pre-request function, keeps a write that it answers with an error, and grants ALL
 * on every table of a schema with row level security to the API roles before its first transaction.
 * The platform: one transaction, READ ONLY for reads and for functions that are not volatile; settings; the pre-request
 * function as the caller's role; the query.
 */
export async function inTransaction(
  db: Queries,
  options: {
    context: RequestContext;
    roles: RoleSettings;
    readOnly: boolean;
    searchPath: readonly string[];
  },
  run: (transaction: Queries) => Promise<Response>,
): Promise<Response> {
  const { context, roles, searchPath } = options;
  const settings: Record<string, string> = {
    search_path: searchPath.map(quoted).join(", "),
    ...roles.get(context.role),
    role: context.role,
    "request.jwt.claims": JSON.stringify({ ...context.claims, role: context.role }),
    "request.method": context.method,
    "request.path": context.path,
    "request.headers": JSON.stringify(context.headers),
    "response.headers": "",
    "response.status": "",
  };
  const calls = Object.entries(settings).map(
    ([name, value]) => sql`set_config(${name}, ${value}, true)`,
  );
  const preRequest = roles.get("authenticator")?.["pgrst.db_pre_request"];
  const check = preRequest?.split(".").map(quoted).join(".");
  try {
    return await db
      .transaction()
      .setAccessMode(options.readOnly ? "read only" : "read write")
      .execute(async (transaction) => {
        await sql`select ${sql.join(calls)}`.execute(transaction);
        if (check) await sql.raw(`select ${check}()`).execute(transaction);
        const answer = await run(transaction);
        if (answer.status >= 400) throw answer; // which undoes it
        return answer;
      });
  } catch (error) {
    if (error instanceof Response) return error;
    throw error;
  }
}

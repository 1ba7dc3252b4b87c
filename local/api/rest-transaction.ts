import type { AnyAST } from "@supabase/lite";
import { type Kysely, sql } from "kysely";
import type { RequestContext } from "./context.ts";

// biome-ignore lint/suspicious/noExplicitAny: upstream knows no table.
export type Queries = Kysely<any>;

/** What the REST service reads of its configuration in the database, as the platform does. */
export interface DatabaseConfig {
  /** Function to call before each request, as a quoted name. */
  preRequest: string | null;
  /** Settings of each role a request may take, for one transaction. */
  roleSettings: ReadonlyMap<string, Record<string, string>>;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * Bend: configuration in the database.
 * Upstream has none. The platform's REST service takes its own settings from
 * `alter role authenticator set pgrst.…`, and gives each request the settings of its role.
 */
export async function readDatabaseConfig(db: Queries): Promise<DatabaseConfig> {
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
  const roleSettings = new Map(rows.map(({ role, settings }) => [role, settings]));
  const name = roleSettings.get("authenticator")?.["pgrst.db_pre_request"];
  roleSettings.delete("authenticator");
  return { preRequest: name ? name.split(".").map(quoted).join(".") : null, roleSettings };
}

/** Carries an answer out of a transaction that has to be undone. */
class Undo extends Error {
  constructor(readonly answer: Response) {
    super("the transaction is undone");
  }
}

/**
 * Bend: the transaction of a request.
 * Upstream sets the role and the claims only, for tables neither method, path nor headers; runs GETs
 * read-write, has no pre-request function, keeps a write that it answers with an error, and grants ALL
 * on every table of a schema with row level security to the API roles before its first transaction.
 * The platform: one transaction, READ ONLY where nothing may be written; settings; the pre-request
 * function as the caller's role; the query.
 */
export async function inTransaction(
  db: Queries,
  options: {
    context: RequestContext;
    config: DatabaseConfig;
    readOnly: boolean;
    searchPath: readonly string[];
  },
  run: (transaction: Queries) => Promise<Response>,
): Promise<Response> {
  const { context, config, searchPath } = options;
  const settings: Record<string, string> = {
    search_path: searchPath.map(quoted).join(", "),
    ...config.roleSettings.get(context.role),
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
  try {
    return await db
      .transaction()
      .setIsolationLevel("read committed")
      .setAccessMode(options.readOnly ? "read only" : "read write")
      .execute(async (transaction) => {
        await sql`select ${sql.join(calls)}`.execute(transaction);
        if (config.preRequest) await sql.raw(`select ${config.preRequest}()`).execute(transaction);
        const answer = await withUpsertStatus(transaction, context, () => run(transaction));
        if (answer.status >= 400) throw new Undo(answer);
        return answer;
      });
  } catch (error) {
    if (error instanceof Undo) return error.answer;
    throw error;
  }
}

const upserts = ({ type, ignoreDuplicates }: AnyAST) =>
  type === "put" || (type === "upsert" && !ignoreDuplicates);

/**
 * Bend: status of an upsert.
 * Upstream looks for rows with the payload's conflict columns first, and says 201 when one of these is
 * generated. The platform says 201 when a row was inserted, else 200; the session's counters know.
 */
async function withUpsertStatus(
  transaction: Queries,
  { call }: RequestContext,
  run: () => Promise<Response>,
): Promise<Response> {
  if (!call?.from || !upserts(call)) return run();
  const table = [call.schema ?? "public", call.from].map(quoted).join(".");
  const inserted = async () => {
    const { rows } = await sql<{ count: number }>`
      select pg_stat_get_xact_tuples_inserted(to_regclass(${table})) as count`.execute(transaction);
    return rows[0]?.count ?? 0;
  };
  const before = await inserted();
  const answer = await run();
  if (answer.status !== 201 || (await inserted()) > before) return answer;
  return new Response(answer.body, { status: 200, headers: answer.headers });
}

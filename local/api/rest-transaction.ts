import type { PostgresConnection } from "@supabase/lite/postgres";
import { sql } from "kysely";
import type { RequestContext } from "./context.ts";
import type { DatabaseConfig } from "./database-config.ts";
import { runUpsert } from "./rest-upsert.ts";

export type Queries = PostgresConnection["kysely"];

/** Carries an answer out of a transaction that has to be undone. */
class Undo extends Error {
  constructor(readonly answer: Response) {
    super("the transaction is undone");
  }
}

export interface TransactionOptions {
  context: RequestContext;
  config: DatabaseConfig;
  readOnly: boolean;
  searchPath: readonly string[];
}

/**
 * Bend: the transaction of a request.
 * Upstream sets the role and the claims only, for tables neither method, path nor headers; runs GETs
 * read-write, has no pre-request function, keeps a write that it answers with an error, and grants ALL
 * on every table of a schema with row level security to the API roles before its first transaction.
 * The platform: one transaction, READ ONLY where nothing may be written; settings; the pre-request
 * function as the caller's role; the query; then `response.headers` and `response.status`.
 */
export async function inTransaction(
  db: Queries,
  options: TransactionOptions,
  run: (transaction: Queries) => Promise<Response>,
): Promise<Response> {
  try {
    return await db
      .transaction()
      .setIsolationLevel("read committed")
      .setAccessMode(options.readOnly ? "read only" : "read write")
      .execute(async (transaction) => {
        await applySettings(transaction, options);
        if (options.config.preRequest) {
          await sql.raw(`select ${options.config.preRequest}()`).execute(transaction);
        }
        const answer = await runUpsert(transaction, options.context, () => run(transaction));
        const asked = await responseSettings(transaction);
        if (answer.status >= 400 && !asked.status) throw new Undo(answer);
        return options.context.path.startsWith("/rpc/") ? answer : withSettings(answer, asked);
      });
  } catch (error) {
    if (error instanceof Undo) return error.answer;
    throw error;
  }
}

async function applySettings(transaction: Queries, options: TransactionOptions): Promise<void> {
  const { context, config } = options;
  const settings: Record<string, string> = {
    search_path: options.searchPath.map((name) => `"${name.replaceAll('"', '""')}"`).join(", "),
    ...config.roleSettings.get(context.role),
    role: context.role,
    "request.jwt.claims": JSON.stringify({ ...context.claims, role: context.role }),
    "request.method": context.method,
    "request.path": context.path,
    "request.headers": JSON.stringify(context.headers),
    "request.cookies": JSON.stringify(context.cookies),
    "response.headers": "",
    "response.status": "",
  };
  const calls = Object.entries(settings).map(
    ([name, value]) => sql`set_config(${name}, ${value}, true)`,
  );
  await sql`select ${sql.join(calls)}`.execute(transaction);
}

interface ResponseSettings {
  headers: string | null;
  status: string | null;
}

async function responseSettings(transaction: Queries): Promise<ResponseSettings> {
  const { rows } = await sql<ResponseSettings>`
    select nullif(current_setting('response.headers', true), '') as headers,
      nullif(current_setting('response.status', true), '') as status`.execute(transaction);
  return rows[0] ?? { headers: null, status: null };
}

/** Upstream does this for RPCs; a trigger or the pre-request function may ask for it too. */
function withSettings(answer: Response, asked: ResponseSettings): Response {
  if (!asked.headers && !asked.status) return answer;
  const headers = new Headers(answer.headers);
  for (const header of asked.headers ? JSON.parse(asked.headers) : []) {
    for (const [name, value] of Object.entries(header)) headers.set(name, String(value));
  }
  return new Response(answer.body, { status: Number(asked.status ?? answer.status), headers });
}

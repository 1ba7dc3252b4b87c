import type { AnyAST, IntrospectResult } from "@supabase/lite";
import type { Config } from "../config.ts";
import { currentRequest } from "./context.ts";
import { Database } from "./database.ts";
import { withEmbeddedInstants } from "./rest-embeds.ts";
import { asPgrstError, isConnectionError, isDatabaseError, unreachable } from "./rest-errors.ts";
import { type DomainCasts, readDomainCasts, withReadableValues } from "./rest-payload.ts";
import {
  type DatabaseConfig,
  inTransaction,
  type Queries,
  readDatabaseConfig,
} from "./rest-transaction.ts";

/** As many as the setting `rest_pool_size` of the migrations says. */
const REST_POOL_SIZE = 20;

interface Catalogue extends IntrospectResult {
  casts: DomainCasts;
}

/** Upstream's connection: it reads the catalogue as the superuser and runs requests as `authenticator`. */
export class RestConnection extends Database {
  readonly #requests: Database;
  readonly #api: Config["api"];
  #catalogue: Promise<Catalogue> | undefined;
  #config: Promise<DatabaseConfig> | undefined;

  constructor(adminUrl: string, api: Config["api"]) {
    super(adminUrl, "supabase_admin", 2);
    this.#api = api;
    // Bend: roles. Upstream obeys any role that its superuser may take, `postgres` too. The platform's
    // REST service logs in as `authenticator`, so the database itself refuses a role that is not granted.
    this.#requests = new Database(adminUrl, "authenticator", REST_POOL_SIZE);
  }

  /**
   * Bend: cached schema and configuration.
   * Upstream reads the catalogue once and for ever. The platform reads it again on
   * `notify pgrst, 'reload schema'`, its configuration on `'reload config'`, both on an empty payload.
   */
  async listen(): Promise<void> {
    const forget = (payload: string) => {
      if (payload !== "reload config") this.#catalogue = undefined;
      if (payload !== "reload schema") this.#config = undefined;
    };
    await this.driver.listen("pgrst", forget, () => forget(""));
  }

  override introspect(options?: { useCache?: boolean }): Promise<Catalogue> {
    if (options?.useCache && this.#catalogue) return this.#catalogue;
    const reading = super.introspect({ useCache: false }).then(async (result) => {
      if (!result.functions) throw Object.assign(new Error("no catalogue"), { code: "CONNECT" });
      return { ...result, casts: await readDomainCasts(this.kysely) };
    });
    this.#catalogue = reading;
    reading.catch(() => {
      if (this.#catalogue === reading) this.#catalogue = undefined;
    });
    return reading;
  }

  override async clearSchemaCache(): Promise<void> {
    this.#catalogue = undefined;
  }

  override async onPostgrestAST(ast: AnyAST): Promise<AnyAST> {
    const checked = await super.onPostgrestAST(ast);
    const context = currentRequest();
    context.call = checked;
    const catalogue = await this.introspect({ useCache: true });
    context.catalogue = catalogue;
    return withReadableValues(checked, catalogue, catalogue.casts);
  }

  override deserializeRow(row: Record<string, unknown>): Record<string, unknown> {
    const { call, catalogue } = currentRequest();
    return call && catalogue ? withEmbeddedInstants(row, call, catalogue) : row;
  }

  override async withContext<T>(_vars: unknown, run: (db: Queries) => Promise<T>): Promise<T> {
    const context = currentRequest();
    this.#config ??= readDatabaseConfig(this.kysely);
    const config = await this.#config.catch((error) => {
      this.#config = undefined;
      throw error;
    });
    const schema = this.#schemaOf(context.method, context.headers);
    const answer = await inTransaction(
      this.#requests.kysely,
      {
        context,
        config,
        readOnly: await this.#isReadOnly(context.method, context.path, schema),
        searchPath: [...new Set([schema, ...this.#api.extra_search_path])],
      },
      run as (db: Queries) => Promise<Response>,
    );
    return answer as T;
  }

  #schemaOf(method: string, headers: Record<string, string>): string {
    const profile = method === "GET" || method === "HEAD" ? "accept-profile" : "content-profile";
    return headers[profile] ?? this.#api.schemas[0] ?? "public";
  }

  async #isReadOnly(method: string, path: string, schema: string): Promise<boolean> {
    if (method === "GET" || method === "HEAD") return true;
    const name = /^\/rpc\/(.+)$/.exec(path)?.[1];
    if (name === undefined) return false;
    const { functions = [] } = await this.introspect({ useCache: true });
    const called = functions.filter((f) => f.schema === schema && f.name === name);
    return called.length > 0 && called.every((f) => f.volatility !== "v");
  }

  override normalizeDbError(error: unknown): unknown {
    const context = currentRequest();
    context.fault = error;
    if (isDatabaseError(error)) return asPgrstError(error, context);
    return isConnectionError(error) ? unreachable() : error;
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), this.#requests.close()]);
  }
}

import type { AnyAST, IntrospectResult } from "@supabase/lite";
import type { Config } from "../config.ts";
import { currentRequest } from "./context.ts";
import { Database } from "./database.ts";
import { withEmbeddedInstants } from "./rest-embeds.ts";
import { asPgrstError, isConnectionError, isDatabaseError, unreachable } from "./rest-errors.ts";
import { type DomainCasts, readDomainCasts, withReadableValues } from "./rest-payload.ts";
import {
  inTransaction,
  type Queries,
  type RoleSettings,
  readRoleSettings,
} from "./rest-transaction.ts";

/** As many as the setting `rest_pool_size` of the migrations says. */
const REST_POOL_SIZE = 20;

interface Catalogue extends IntrospectResult {
  casts: DomainCasts;
  instants: ReadonlySet<string>;
  roles: RoleSettings;
  /** Paths of the functions that only read. */
  readingPaths: ReadonlySet<string>;
}

/** Upstream's connection: it reads the catalogue as the superuser and runs requests as `authenticator`. */
export class RestConnection extends Database {
  readonly #requests: Database;
  readonly #searchPath: string[];
  readonly #schemas: readonly string[];
  #catalogue: Promise<Catalogue> | undefined;

  constructor(adminUrl: string, api: Config["api"]) {
    super(adminUrl, "supabase_admin", 2);
    this.#schemas = api.schemas;
    this.#searchPath = [...new Set([...api.schemas, ...api.extra_search_path])];
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
    const forget = () => {
      this.#catalogue = undefined;
    };
    await this.driver.listen("pgrst", forget, forget);
  }

  override introspect(): Promise<Catalogue> {
    this.#catalogue ??= this.#read().catch((error: unknown) => {
      this.#catalogue = undefined;
      throw error;
    });
    return this.#catalogue;
  }

  async #read(): Promise<Catalogue> {
    const result = await super.introspect({ useCache: false });
    if (!result.functions) throw Object.assign(new Error("no catalogue"), { code: "CONNECT" });
    const instants = result.columns.filter(({ type }) => type === "timestamp with time zone");
    const ours = result.functions.filter(({ schema }) => this.#schemas.includes(schema));
    const reading = ours.filter(({ volatility }) => volatility !== "v");
    return {
      ...result,
      readingPaths: new Set(reading.map(({ name }) => `/rpc/${name}`)),
      casts: await readDomainCasts(this.kysely),
      instants: new Set(instants.map(({ name }) => name)),
      roles: await readRoleSettings(this.kysely),
    };
  }

  override async onPostgrestAST(ast: AnyAST): Promise<AnyAST> {
    const context = currentRequest();
    context.call = await super.onPostgrestAST(ast);
    const catalogue = await this.introspect();
    context.instants = catalogue.instants;
    return withReadableValues(context.call, catalogue, catalogue.casts);
  }

  override deserializeRow(row: Record<string, unknown>): Record<string, unknown> {
    const { call, instants } = currentRequest();
    return call?.select && instants ? withEmbeddedInstants(row, call.select, instants) : row;
  }

  override async withContext<T>(_vars: unknown, run: (db: Queries) => Promise<T>): Promise<T> {
    const context = currentRequest();
    const { roles, readingPaths } = await this.introspect();
    const answer = await inTransaction(
      this.#requests.kysely,
      {
        context,
        roles,
        readOnly: /^(GET|HEAD)$/.test(context.method) || readingPaths.has(context.path),
        searchPath: this.#searchPath,
      },
      run as (db: Queries) => Promise<Response>,
    );
    return answer as T;
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

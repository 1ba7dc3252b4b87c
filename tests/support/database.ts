/** SQL against the stack, as its owner and in the role of a caller. */
import postgres, { type Sql, type TransactionSql } from "postgres";
import { closeAtTheEnd } from "./closing.ts";
import { stack } from "./stack.ts";

/** Connects as `postgres`, which bypasses row-level security: for set-up and for looking behind. */
export const sql: Sql = postgres(stack.dbUrl, { max: 4, onnotice: () => {} });

closeAtTheEnd(() => sql.end());

/** What a request's token says: the role to take and the claims that policies read. */
export interface Claims {
  role: "anon" | "authenticated" | "portal_client" | "portal_booking" | "service_role";
  sub?: string;
  [claim: string]: unknown;
}

/** Thrown to leave a transaction without a trace. */
class RolledBack<T> extends Error {
  readonly value: T;
  constructor(value: T) {
    super("rolled back");
    this.value = value;
  }
}

async function takeRole(tx: TransactionSql, claims: Claims): Promise<void> {
  await tx`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
  await tx.unsafe(`set local role ${claims.role}`);
}

/**
 * Runs `work` in one transaction with the role and the claims of a caller, as the REST server does,
 * and keeps what it did.
 */
export async function asCaller<T>(
  claims: Claims,
  work: (tx: TransactionSql) => Promise<T>,
  connection: Sql = sql,
): Promise<T> {
  return (await connection.begin(async (tx) => {
    await takeRole(tx, claims);
    return work(tx);
  })) as T;
}

/** Runs `work` in one transaction as the owner of the schema; nothing that it did stays. */
export async function rolledBack<T>(work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  try {
    await sql.begin(async (tx) => {
      throw new RolledBack(await work(tx));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.value as T;
    throw error;
  }
  throw new Error("unreachable");
}

/** Like `asCaller`, but nothing that `work` did stays. */
export function tryAsCaller<T>(
  claims: Claims,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  return rolledBack(async (tx) => {
    await takeRole(tx, claims);
    return work(tx);
  });
}

/** Connections of their own for races: `count` separate backends, closed with the test file. */
export function parallelConnections(count: number): Sql[] {
  const connections = Array.from({ length: count }, () =>
    postgres(stack.dbUrl, { max: 1, onnotice: () => {} }),
  );
  closeAtTheEnd(() => Promise.all(connections.map((connection) => connection.end())));
  return connections;
}

/** Error of a rule of ours, read back from what it raised: `{status, code, details, hint}`. */
export interface RaisedError {
  status: number | undefined;
  code: string;
  details: string | null;
}

/** Runs a call that must fail and returns what it failed with, as the API would show it. */
export async function raised(call: Promise<unknown>): Promise<RaisedError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof postgres.PostgresError)) throw error ?? new Error("the call succeeded");
  if (error.code !== "PGRST") {
    return { status: undefined, code: error.code, details: error.detail ?? null };
  }
  const body = JSON.parse(error.message) as { code: string; details: string | null };
  const answer = JSON.parse(error.detail ?? "{}") as { status: number };
  return { status: answer.status, code: body.code, details: body.details };
}

/** Resolves when `count` statements on clients wait for a row that somebody holds. */
export async function untilWaiting(count: number): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    const [row] = await sql`
      select count(*)::integer as waiting from pg_stat_activity
      where wait_event_type = 'Lock' and query ilike '%clients%'`;
    if (row?.waiting >= count) return;
  }
  throw new Error(`${count} statements never waited`);
}

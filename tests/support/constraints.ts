/** What refuses a write: for tests of rows that break one rule. */
import postgres, { type TransactionSql } from "postgres";
import { type Claims, tryAsCaller } from "./database.ts";

export const serverClaims: Claims = { role: "service_role" };

/**
 * Runs `work` in the role of a caller, undoes it, and returns what refused it: the name of the
 * constraint, else the code of the error; null when nothing did.
 */
export async function refusedBy(
  claims: Claims,
  work: (tx: TransactionSql) => Promise<unknown>,
): Promise<string | null> {
  try {
    await tryAsCaller(claims, work);
    return null;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError)) throw error;
    if (error.code === "PGRST") return (JSON.parse(error.message) as { code: string }).code;
    return error.constraint_name ?? error.code;
  }
}

export type Values = Record<string, unknown>;

/** JSON values need saying so; everything else is a parameter as it is. */
function parameters(tx: TransactionSql, values: Values): Record<string, never> {
  const isJson = (value: unknown) =>
    typeof value === "object" && value !== null && !(Array.isArray(value) && value.every(isText));
  const isText = (value: unknown) => typeof value === "string" || value === null;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      isJson(value) ? tx.json(value as never) : value,
    ]),
  ) as Record<string, never>;
}

export function insertRefusedBy(
  claims: Claims,
  table: string,
  values: Values,
): Promise<string | null> {
  return refusedBy(
    claims,
    (tx) => tx`insert into ${tx(`public.${table}`)} ${tx(parameters(tx, values))}`,
  );
}

export function updateRefusedBy(
  claims: Claims,
  table: string,
  id: string,
  values: Values,
): Promise<string | null> {
  return refusedBy(
    claims,
    (tx) => tx`update ${tx(`public.${table}`)} set ${tx(parameters(tx, values))} where id = ${id}`,
  );
}

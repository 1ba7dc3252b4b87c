/** The queue of mails, as what happened at a professional's has filled it. */
import type { Sql, TransactionSql } from "postgres";
import { sql } from "./database.ts";

export interface Mail {
  id: string;
  audience: "client" | "professional";
  kind: string;
  client_id: string | null;
  booking_id: string | null;
  order_id: string | null;
  payment_id: string | null;
  detail: Record<string, string>;
  status: string;
  outcome: string | null;
  attempts: number;
  due_at: Date | null;
  created_at: Date;
  recipient: string | null;
  provider_id: string | null;
}

/** All mails of a professional, oldest first. */
export function mailsOf(
  { id }: { id: string },
  tx: Sql | TransactionSql = sql,
): Promise<Mail[]> & PromiseLike<Mail[]> {
  return tx<Mail[]>`
    select * from private.mails where professional_id = ${id} order by created_at, id` as never;
}

/** Who hears of what, sorted: `client booking_confirmed`. */
export async function newsOf(
  professional: { id: string },
  tx: Sql | TransactionSql = sql,
): Promise<string[]> {
  const mails = await mailsOf(professional, tx);
  return mails.map(({ audience, kind }) => `${audience} ${kind}`).sort();
}

/** As the link in the mail does: from now on mails of this professional go to clients. */
export async function confirmOwner(
  { id, email }: { id: string; email: string },
  tx: Sql | TransactionSql = sql,
): Promise<void> {
  await tx`select private.confirm_professional_address(${id}, ${email})`;
}

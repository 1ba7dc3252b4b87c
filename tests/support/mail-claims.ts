/** Claims of mails with no dispatcher beside them, in a transaction that leaves nothing. */
import type { TransactionSql } from "postgres";
import { MailFacts } from "../../supabase/functions/mail/facts.ts";
import { parallelConnections, type sql } from "./database.ts";
import type { Mail } from "./mail.ts";

export type Tx = TransactionSql;

/** As claim_mails() gives it, as far as it is looked at here. */
export interface Claim {
  mail_id: string;
  claim_token: string;
  attempt: number;
  audience: string;
  kind: string;
  language: string;
  to: { email: string; name: string | null };
  professional: Record<string, string | null>;
  client: Record<string, unknown> | null;
  may_quote: boolean;
  booking: Record<string, unknown> | null;
  order: Record<string, unknown> | null;
  payment: Record<string, unknown> | null;
}

/** Call at the top of a file: what runs `work` on a queue where nothing else is due. */
export function inVainOn([connection]: (typeof sql)[] = parallelConnections(1)) {
  return async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    let result: T | undefined;
    const undo = new Error("undo");
    await (connection as typeof sql)
      .begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(7306, 0), pg_advisory_xact_lock(7306, 1)`;
        await tx`
          update private.mails set due_at = now() + interval '1 hour' where status = 'queued'`;
        await tx`update private.mail_pace set full_at = '-infinity', paused_until = null`;
        await tx`delete from private.mail_turns`;
        await tx`delete from private.dispatches where queue = 'mail'`;
        result = await work(tx);
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error;
      });
    return result as T;
  };
}

/** Takes a caller's role for `work`, within the transaction. */
export async function inRole<T>(
  tx: Tx,
  claims: { role: string; [claim: string]: unknown },
  work: () => Promise<T>,
): Promise<T> {
  await tx`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
  await tx.unsafe(`set local role ${claims.role}`);
  const result = await work();
  await tx.unsafe("reset role");
  await tx`select
    set_config('request.jwt.claims', '', true), set_config('private.write_lock', '', true)`;
  return result;
}

const SERVER = { role: "service_role" };

/** What is due, with a full budget of the rate, as a dispatcher gets it. */
export async function claim(tx: Tx, maxCount = 100, perSecond = 1000): Promise<Claim[]> {
  const [row] = await inRole(
    tx,
    SERVER,
    () => tx<{ claims: Claim[] }[]>`
      select public.claim_mails(${maxCount}, ${perSecond}) as claims`,
  );
  // Those who write the mails read it so.
  for (const mail of row?.claims ?? []) MailFacts.parse(mail);
  return row?.claims ?? [];
}

/** Says how a try went. */
export async function finish(
  tx: Tx,
  mail: Pick<Claim, "mail_id" | "claim_token">,
  result: string,
  {
    providerId = null,
    retryAfter = null,
  }: { providerId?: string | null; retryAfter?: number | null } = {},
): Promise<{ status: string; next_attempt_at: string | null } | null> {
  const [row] = await inRole(
    tx,
    SERVER,
    () => tx`
      select public.finish_mail(
        ${mail.mail_id}, ${mail.claim_token}, ${result}, ${providerId}, ${retryAfter}) as answer`,
  );
  return row?.answer;
}

/** What waits for a quiet minute or a next try is due now, of one professional. */
export const hurry = (tx: Tx, { id }: { id: string }) => tx`
  update private.mails set due_at = now() where professional_id = ${id} and status = 'queued'`;

/** How the mails of a professional stand: `client booking_moved dropped outdated`. */
export async function standing(tx: Tx, { id }: { id: string }): Promise<string[]> {
  const mails = await tx<Mail[]>`
    select * from private.mails where professional_id = ${id} order by created_at, id`;
  return mails.map(({ audience, kind, status, outcome }) =>
    [audience, kind, status, outcome].filter(Boolean).join(" "),
  );
}

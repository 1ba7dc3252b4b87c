/** What the function asks of the database, with the secret key. */
import { type ServerRpc, ServerRpcError } from "../_shared/data-api.ts";
import type { MailOutcome } from "../_shared/mail.ts";
import type { ProviderEvent } from "./events.ts";

/** One claimed mail; the facts beside these two are read by `MailFacts`. */
export interface Claim {
  mail_id: string;
  claim_token: string;
}

export interface MailStore {
  /** Up to `count` due mails, as many as the rate allows now; each is ours for a minute. */
  claim(count: number): Promise<Claim[]>;
  finish(claim: Claim, outcome: MailOutcome): Promise<void>;
  /** False when no mail has the provider's id, or not yet. */
  recordEvent(event: ProviderEvent): Promise<boolean>;
  /** False when the client's links of that epoch are no longer valid. */
  unsubscribe(clientId: string, epoch: number): Promise<boolean>;
  /** False when the address is no longer the professional's. */
  confirmAddress(professionalId: string, email: string): Promise<boolean>;
  /** Says where links lead to; null for nowhere. */
  reportPortal(portalUrl: string | null): Promise<void>;
}

export function mailStore(rpc: ServerRpc, perSecond: number): MailStore {
  return {
    claim: (max_count) => rpc("claim_mails", { max_count, per_second: perSecond }),
    finish: ({ mail_id, claim_token }, outcome) =>
      rpc("finish_mail", {
        mail_id,
        claim_token,
        result: outcome.result,
        provider_id: outcome.result === "sent" ? outcome.id : null,
        retry_after: outcome.result === "sent" ? null : outcome.retryAfter,
      }),
    recordEvent: ({ providerId, type, detail }) =>
      rpc("record_mail_event", { provider_id: providerId, type, detail }),
    unsubscribe: (client_id, link_epoch) =>
      rpc<"unsubscribe_client", boolean>("unsubscribe_client", { client_id, link_epoch }).catch(
        (error: unknown) => {
          // Somebody is changing the professional's rows: the mail program may come again.
          throw (error instanceof ServerRpcError && error.refusal) || error;
        },
      ),
    confirmAddress: (professional_id, email) =>
      rpc("confirm_professional_address", { professional_id, email }),
    reportPortal: (portal_url) => rpc("report_portal_address", { portal_url }),
  };
}

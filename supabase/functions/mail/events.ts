/** The provider's webhooks: whether one is the provider's, and what of it concerns us. */
import { Resend } from "resend";
import { z } from "zod";
import { EnvError, optional, type ReadEnv } from "../_shared/env.ts";
import { MAIL_TAG } from "../_shared/mail.ts";

export interface ProviderEvent {
  /** Of the mail, as the provider gave it when it took it. */
  providerId: string;
  type: "delivered" | "bounced" | "complained" | "suppressed" | "failed";
  /** Short texts of the receiving server or the provider. */
  detail: Record<string, string>;
  /** Whether the mail came from the queue; the others are no row of ours. */
  isQueued: boolean;
  /** When it happened, by the provider's clock. */
  at: Date;
}

/** The event in a body that the provider has signed within five minutes; throws for any other. */
export type VerifyEvent = (body: string, headers: Headers) => unknown;

/** With `RESEND_WEBHOOK_SECRET`; undefined without it, and then no event is taken. */
export function eventVerifier(read: ReadEnv): VerifyEvent | undefined {
  const webhookSecret = optional(read, "RESEND_WEBHOOK_SECRET");
  if (webhookSecret === undefined) return undefined;
  if (!/^whsec_[A-Za-z0-9+/]{24,}=*$/.test(webhookSecret)) {
    throw new EnvError("RESEND_WEBHOOK_SECRET is not a signing secret that begins with whsec_");
  }
  // The package wants a key although nothing is sent with it.
  const { webhooks } = new Resend(optional(read, "RESEND_API_KEY") ?? "unused");
  return (payload, headers) => {
    const header = (name: string) => headers.get(`svix-${name}`) ?? "";
    return webhooks.verify({
      payload,
      headers: {
        id: header("id"),
        timestamp: header("timestamp"),
        signature: header("signature"),
      },
      webhookSecret,
    });
  };
}

/** What the texts say is the receiving server's to choose. */
const text = z
  .string()
  .transform((value) => value.replaceAll("\0", "").slice(0, 500))
  .optional()
  .catch(undefined);

const Event = z.object({
  type: z.enum([
    "email.delivered",
    "email.bounced",
    "email.complained",
    "email.suppressed",
    "email.failed",
  ]),
  created_at: z.coerce.date(),
  data: z.object({
    email_id: z.string().min(1).max(200),
    tags: z.record(z.string(), z.unknown()).optional().catch(undefined),
    bounce: z.object({ type: text, subType: text, message: text }).optional().catch(undefined),
    suppressed: z.object({ type: text, message: text }).optional().catch(undefined),
    failed: z.object({ reason: text }).optional().catch(undefined),
  }),
});

/**
 * What an event says about a mail; null for what says nothing final. A bounce that is not permanent, such as a
 * full mailbox, is the provider's to try again.
 */
export function providerEvent(event: unknown): ProviderEvent | null {
  const { success, data: known } = Event.safeParse(event);
  if (!success) return null;
  const { email_id: providerId, tags, bounce, suppressed, failed } = known.data;
  const type = known.type.slice("email.".length) as ProviderEvent["type"];
  if (type === "bounced" && bounce?.type?.toLowerCase() !== "permanent") return null;
  const details = { bounced: bounce, suppressed, failed, delivered: {}, complained: {} }[type];
  const detail = Object.entries(details ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const isQueued = tags !== undefined && Object.hasOwn(tags, MAIL_TAG);
  return { providerId, type, detail: Object.fromEntries(detail), isQueued, at: known.created_at };
}

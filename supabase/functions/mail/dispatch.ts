/** The dispatcher of mails: what is claimed is written as things are now, handed over, and noted. */
import { type DrainDeps, drain } from "../_shared/dispatcher.ts";
import type { Mail, MailOutcome, MailProvider } from "../_shared/mail.ts";
import { MailFacts } from "./facts.ts";
import { type LinkDeps, mailLinks } from "./mail-links.ts";
import { render } from "./render.ts";
import type { Claim, MailStore } from "./store.ts";

export interface DispatchDeps extends DrainDeps, LinkDeps {
  store: Pick<MailStore, "claim" | "finish">;
  provider: MailProvider;
  /** Mails a second, over all dispatchers together; kept by the claim. */
  perSecond: number;
}

/** Mails at a time. How many of them for one professional is the claim's to say. */
const SLOTS = 10;
/** How soon new work is found while slots are busy. */
const POLL_MS = 500;
/** Mails of a run, so that it stays within the processor time of a call. */
const MOST = 100;

/** Works until nothing is due, or the time is up. Any number may work beside each other. */
export function dispatch(deps: DispatchDeps): Promise<void> {
  const { store, onError } = deps;
  return drain<Claim>(
    {
      slots: SLOTS,
      pollMs: POLL_MS,
      most: MOST,
      rateMs: Math.ceil(1000 / deps.perSecond),
      claim: (count) => store.claim(count),
      work: async (claim) => {
        const outcome = await handOver(claim, deps);
        if (outcome.result !== "sent") {
          onError(new Error(`mail ${claim.mail_id}: ${outcome.result}, ${outcome.reason}`));
        }
        await store.finish(claim, outcome);
      },
    },
    deps,
  );
}

async function handOver(claim: Claim, deps: DispatchDeps): Promise<MailOutcome> {
  const { provider, onError } = deps;
  let mail: Mail;
  try {
    const facts = MailFacts.parse(claim);
    mail = render(facts, await mailLinks(facts, deps), provider.sender);
  } catch (cause) {
    onError(cause);
    // A function or a setting that is put right meanwhile can write it.
    return { result: "retry", reason: "it could not be written", retryAfter: null };
  }
  return provider.deliver(mail, claim.mail_id);
}

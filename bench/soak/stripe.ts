/** Stripe, as far as there is one: it fails now and then while things are broken, and keeps books of its own. */
import { closeAtTheEnd } from "../../tests/support/closing.ts";
import { type Fault, STRIPE_KEY, startStripe } from "../../tests/support/stripe.ts";
import { chance, pick } from "./random.ts";
import { now } from "./recorder.ts";

export const fake = await startStripe();
closeAtTheEnd(fake.close);

const SECRET = "whsec_of_the_connect_endpoint";
export const RETURN_URL = "https://app.example/pay";

/** What the function has to know of it. */
export const functionsEnv = {
  STRIPE_SECRET_KEY: STRIPE_KEY,
  STRIPE_WEBHOOK_SECRETS: SECRET,
  STRIPE_API_URL: fake.url,
  PAYMENTS_RETURN_URLS: RETURN_URL,
};

const FAULTS: Fault[] = ["cut", "lose", "broken", { status: 500 }, { status: 503, stored: false }];

/** From now on it tells of what happens, and fails as long as other parts do. */
export function goesLive(apiUrl: string): void {
  fake.webhook = { url: `${apiUrl}/functions/v1/payments/stripe`, secret: SECRET };
  fake.fault = ({ path }) =>
    now.phase === "broken" && path.startsWith("/v1/") && chance(0.05) ? pick(FAULTS) : undefined;
}

/** What comes of what was pending is known, and nothing fails any more. */
export function comesToRest(): void {
  fake.fault = () => undefined;
  fake.refundsAre = "succeeded";
  for (const { id, status } of fake.refunds()) {
    if (status === "pending") fake.settleRefund(id, chance(0.8) ? "succeeded" : "failed");
  }
}

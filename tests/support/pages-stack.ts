/**
 * A stack with the seed and the pages, on ports of its own. Payments go to the fake Stripe, whose payment page
 * it serves. Loads nothing of vitest, so that scripts can use it too.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { type StackEnv, startStack } from "../../local/stack.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { freePortsWithPages } from "../../scripts/free-ports.ts";
import { startCheckoutPage } from "./checkout-page.ts";
import { WIDE } from "./limits.ts";
import { changeSettings } from "./settings.ts";
import { type FakeStripe, STRIPE_KEY, startStripe } from "./stripe.ts";

const WEBHOOK_SECRET = "whsec_of_the_connect_endpoint";

export interface PagesStack {
  env: StackEnv;
  /** Where the fake's payment page is. */
  checkoutUrl: string;
  fake: FakeStripe;
  stop(): Promise<void>;
}

export async function startPagesStack(): Promise<PagesStack> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  try {
    const dataDir = mkdtempSync(join(tmpdir(), "stack-"));
    stops.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const fake = await startStripe();
    stops.push(fake.close);
    const checkoutPage = await startCheckoutPage(fake);
    stops.push(checkoutPage.close);

    const stack = await startStack({
      ...(await freePortsWithPages()),
      projectDir: PROJECT_DIR,
      dataDir,
      fsync: false,
      functionsEnv: {
        STRIPE_SECRET_KEY: STRIPE_KEY,
        STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
        STRIPE_API_URL: fake.url,
      },
    });
    stops.push(stack.stop);
    fake.webhook = {
      url: `${stack.env.API_URL}/functions/v1/payments/stripe`,
      secret: WEBHOOK_SECRET,
    };
    const sql = postgres(stack.env.DB_URL, { max: 1 });
    await changeSettings(sql, WIDE).finally(() => sql.end());
    return {
      env: stack.env,
      checkoutUrl: checkoutPage.url,
      fake,
      stop: async () => {
        fake.webhook = undefined;
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

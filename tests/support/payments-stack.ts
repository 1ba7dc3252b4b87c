/**
 * A stack whose payments go to the fake Stripe. Its addresses go into the environment, where the other helpers
 * look for them: a file imports those after it has started this.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { vi } from "vitest";
import { developmentEnv } from "../../local/config.ts";
import { startStack } from "../../local/stack.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { freePorts } from "../../scripts/free-ports.ts";
import { closeAtTheEnd } from "./closing.ts";
import { WIDE } from "./limits.ts";
import { changeSettings } from "./settings.ts";
import { STRIPE_KEY, startStripe } from "./stripe.ts";

export const WEBHOOK_SECRET = "whsec_of_the_connect_endpoint";
/** Of an endpoint that is being replaced. */
export const OLD_WEBHOOK_SECRET = "whsec_of_an_older_endpoint";
export const RETURN_URL = "https://app.example/pay";

const env = developmentEnv(PROJECT_DIR);

export async function startPaymentsStack() {
  /** What the functions and the stack have logged. */
  const output: string[] = [];
  for (const stream of ["log", "error", "warn", "debug"] as const) {
    vi.spyOn(console, stream).mockImplementation((...parts) => void output.push(parts.join(" ")));
  }
  closeAtTheEnd(() => vi.restoreAllMocks());
  const dataDir = mkdtempSync(join(tmpdir(), "stack-"));
  closeAtTheEnd(() => rmSync(dataDir, { recursive: true, force: true }));
  const fake = await startStripe();
  closeAtTheEnd(fake.close);
  const stack = await startStack({
    ...(await freePorts()),
    projectDir: PROJECT_DIR,
    dataDir,
    fsync: false,
    functionsEnv: {
      STRIPE_SECRET_KEY: STRIPE_KEY,
      STRIPE_WEBHOOK_SECRETS: `${OLD_WEBHOOK_SECRET},${WEBHOOK_SECRET}`,
      STRIPE_API_URL: fake.url,
      PAYMENTS_RETURN_URLS: `https://other.example,${RETURN_URL}`,
    },
  });
  closeAtTheEnd(stack.stop);
  Object.assign(process.env, stack.env);
  const sql = postgres(stack.env.DB_URL, { max: 1 });
  await changeSettings(sql, WIDE);
  await sql.end();
  const functionUrl = `${stack.env.API_URL}/functions/v1/payments`;
  const webhook = { url: `${functionUrl}/stripe`, secret: WEBHOOK_SECRET };
  const secrets = [STRIPE_KEY, WEBHOOK_SECRET, OLD_WEBHOOK_SECRET, env.DISPATCH_SECRET ?? ""];
  return { fake, output, secrets, webhook };
}

/**
 * The process of the one stack that all of `tests/browser` uses. The stack starts when the first file asks:
 * until then the other tests have the machine. Ends when whoever started it lets go.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type PagesStack, startPagesStack } from "./pages-stack.ts";

let starting: Promise<PagesStack> | undefined;
const stack = () => {
  starting ??= startPagesStack();
  return starting;
};

const answers: Record<string, (body: { method: string; args: unknown[] }) => Promise<unknown>> = {
  "/start": async () => {
    const { env, checkoutUrl } = await stack();
    return { env, checkoutUrl };
  },
  /** Calls a method of the fake Stripe, such as `expire`. */
  "/stripe": async ({ method, args }) => {
    const { fake } = await stack();
    return (fake[method as keyof typeof fake] as (...args: unknown[]) => unknown)(...args);
  },
};

const server = createServer(async (request, response) => {
  try {
    const result = await answers[request.url ?? ""]?.((await json(request)) as never);
    response.end(JSON.stringify(result ?? null));
  } catch (error) {
    response.writeHead(500).end(JSON.stringify(String(error)));
  }
});

server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

process.on("disconnect", async () => {
  const started = await starting?.catch(() => undefined);
  await started?.stop();
  process.exit();
});
// The runner hears a Ctrl-C too, and lets go when it has ended its tests.
process.on("SIGINT", () => {});

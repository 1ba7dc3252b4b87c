/** The page that the fake Stripe sends buyers to: one button pays, the other one goes back. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FakeStripe } from "./stripe.ts";

const page = (title: string, body = "") => `<!doctype html>
<html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>${title}</title><h1>${title}</h1>${body}</html>`;

const BUTTONS = `<form method="post">
<button name="do" value="pay">Pay</button>
<button name="do" value="back">Back</button>
</form>`;

/** From now on the fake's sessions lead here. */
export async function startCheckoutPage(fake: FakeStripe) {
  const say = (response: ServerResponse, status: number, text: string) =>
    response.writeHead(status, { "content-type": "text/html" }).end(text);
  const server = createServer(async (request, response) => {
    const id = /^\/c\/pay\/(\w+)$/.exec(request.url ?? "")?.[1];
    const session = fake.sessions().find((found) => found.id === id);
    if (!session) return say(response, 404, page("No such page"));
    if (request.method !== "POST") {
      if (session.status !== "open") return say(response, 200, page(`It is ${session.status}`));
      const amount = ((session.amount_total ?? 0) / 100).toFixed(2);
      return say(response, 200, page(`Pay ${amount} ${session.currency}`, BUTTONS));
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const isPaid = new URLSearchParams(body).get("do") === "pay";
    if (isPaid) fake.pay(session.id);
    const location = (isPaid ? session.success_url : session.cancel_url) ?? "";
    response.writeHead(303, { location }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  fake.checkoutUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: fake.checkoutUrl,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

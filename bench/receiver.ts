/** A receiver of webhooks on this machine. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Receiver {
  /** Address of an endpoint; each path is one. */
  url(path: string): string;
  /** Milliseconds at which an event first came to a path. */
  received: Map<string, Map<string, number>>;
  /** Status of the next answers: 200 unless changed; null breaks the connection. */
  answer: (path: string) => number | null;
  /** Whether an answer goes on, a byte now and then, until the sender leaves: none unless changed. */
  drips: (path: string) => boolean;
  /** Requests so far. */
  requests: number;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    incoming.on("end", () => {
      receiver.requests++;
      const path = (incoming.url ?? "/").slice(1);
      const status = receiver.answer(path);
      if (status === null) return void outgoing.destroy();
      if (status < 300) {
        const events = receiver.received.get(path) ?? new Map<string, number>();
        receiver.received.set(path, events);
        const id = String(incoming.headers["webhook-id"]);
        if (!events.has(id)) events.set(id, performance.now());
      }
      outgoing.writeHead(status);
      if (!receiver.drips(path)) return void outgoing.end();
      const timer = setInterval(() => outgoing.write("."), 100);
      outgoing.on("close", () => clearInterval(timer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: (path) => `http://127.0.0.1:${port}/${path}`,
    received: new Map(),
    answer: () => 200,
    drips: () => false,
    requests: 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close").catch(() => {});
    },
  };
  return receiver;
}

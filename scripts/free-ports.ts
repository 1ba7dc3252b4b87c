/** Free ports for a stack that passes. Held together before any is released, so they differ. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Ports } from "../local/ports.ts";

export async function freePorts(): Promise<Ports> {
  const { pagesPort: _, ...ports } = await freePortsWithPages();
  return ports;
}

/** For a stack that serves the pages too. */
export async function freePortsWithPages(): Promise<Ports & { pagesPort: number }> {
  const servers = [0, 0, 0, 0].map((port) => createServer().listen(port, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const [apiPort = 0, dbPort = 0, mailPort = 0, pagesPort = 0] = servers.map(
    (server) => (server.address() as AddressInfo).port,
  );
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return { apiPort, dbPort, mailPort, pagesPort };
}

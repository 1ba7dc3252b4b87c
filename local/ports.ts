/** The three ports of a stack: the platform's local ones, or others given by variable. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";

export interface Ports {
  apiPort: number;
  dbPort: number;
  mailPort: number;
}

const SETTINGS = [
  { name: "apiPort", variable: "API_PORT", usual: 54321 },
  { name: "dbPort", variable: "DB_PORT", usual: 54322 },
  { name: "mailPort", variable: "MAIL_PORT", usual: 54324 },
] as const;

/** A mistake the user can mend: shown as one line, without a stack trace. */
export class UserError extends Error {}

async function hold(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const release = (servers: Server[]) =>
  Promise.all(servers.map((server) => new Promise((done) => server.close(done))));

export function portsFromEnv(env: NodeJS.ProcessEnv = process.env): Ports {
  const ports = { apiPort: 0, dbPort: 0, mailPort: 0 };
  for (const { name, variable, usual } of SETTINGS) {
    const text = env[variable] || String(usual);
    const port = Number(text);
    if (!/^\d+$/.test(text) || port < 1 || port > 65535) {
      throw new UserError(`${variable}=${text} is not a port: give a number from 1 to 65535.`);
    }
    ports[name] = port;
  }
  return ports;
}

/** Refuses ports that another program (or another of the three) holds. */
export async function assertFree(ports: Ports): Promise<void> {
  const held: Server[] = [];
  try {
    for (const { name, variable } of SETTINGS) {
      try {
        held.push(await hold(ports[name]));
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code;
        const why = code === "EADDRINUSE" ? "is taken" : `cannot be used (${code})`;
        throw new UserError(`Port ${ports[name]} ${why}: set ${variable} to another one.`);
      }
    }
  } finally {
    await release(held);
  }
}

/** Three free ports. Held together before any is released, so they differ. */
export async function freePorts(): Promise<Ports> {
  const servers = await Promise.all([hold(0), hold(0), hold(0)]);
  const [apiPort = 0, dbPort = 0, mailPort = 0] = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await release(servers);
  return { apiPort, dbPort, mailPort };
}

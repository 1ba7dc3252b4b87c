/** The three ports of a stack: the platform's local ones, or others given by variable. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

export interface Ports {
  apiPort: number;
  dbPort: number;
  mailPort: number;
}

/** A mistake the user can mend: shown as one line, without a stack trace. */
export class UserError extends Error {}

async function hold(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const release = (servers: Server[]) =>
  Promise.all(servers.map((server) => new Promise((done) => server.close(done))));

/** Refuses ports that another program (or another of the three) holds. */
export async function portsFromEnv(env = process.env): Promise<Ports> {
  const held: Server[] = [];
  const take = async (variable: string, usual: number): Promise<number> => {
    const text = env[variable] || String(usual);
    const port = Number(text);
    if (!/^\d+$/.test(text) || port < 1 || port > 65535) {
      throw new UserError(`${variable}=${text} is not a port: give a number from 1 to 65535.`);
    }
    try {
      held.push(await hold(port));
      return port;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const why = code === "EADDRINUSE" ? "is taken" : `cannot be used (${code})`;
      throw new UserError(`Port ${port} ${why}: set ${variable} to another one.`);
    }
  };
  try {
    return {
      apiPort: await take("API_PORT", 54321),
      dbPort: await take("DB_PORT", 54322),
      mailPort: await take("MAIL_PORT", 54324),
    };
  } finally {
    await release(held);
  }
}

/** Three free ports. Held together before any is released, so they differ. */
export async function freePorts(): Promise<Ports> {
  const servers = await Promise.all([hold(0), hold(0), hold(0)]);
  const [apiPort = 0, dbPort = 0, mailPort = 0] = servers.map(
    (server) => (server.address() as AddressInfo).port,
  );
  await release(servers);
  return { apiPort, dbPort, mailPort };
}

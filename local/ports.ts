/** The ports of a stack: the platform's local ones, or others given by variable. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";

export interface Ports {
  apiPort: number;
  dbPort: number;
  mailPort: number;
}

/** A mistake the user can mend: shown as one line, without a stack trace. */
export class UserError extends Error {}

/** Refuses ports that another program (or another of them) holds. */
export async function portsFromEnv(
  env = process.env,
): Promise<Ports & { pagesPort: number | undefined }> {
  const held: Server[] = [];
  const take = async (variable: string, usual: number): Promise<number> => {
    const text = env[variable] || String(usual);
    const port = Number(text);
    if (!/^\d+$/.test(text) || port < 1 || port > 65535) {
      throw new UserError(`${variable}=${text} is not a port: give a number from 1 to 65535.`);
    }
    try {
      const server = createServer().listen(port, "127.0.0.1");
      await once(server, "listening");
      held.push(server);
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
      // 0: somebody else's pages are there.
      pagesPort: env.PAGES_PORT === "0" ? undefined : await take("PAGES_PORT", 3000),
    };
  } finally {
    for (const server of held) server.close();
  }
}

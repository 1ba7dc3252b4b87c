/** Breaks one part of the running stack after the other, and notes when which was down. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { type PostgresServer, startPostgres } from "../../local/postgres.ts";
import { processTree } from "../child-stack.ts";
import { request } from "../people.ts";
import { chance, int, pick } from "./random.ts";
import type { Window } from "./recorder.ts";
import type { World } from "./world.ts";

const SLUGS = ["send-portal-otp", "verify-portal-otp", "webhooks"];

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
};

export class Chaos {
  readonly counts = { functions: 0, connections: 0, backends: 0, servers: 0 };
  #restarted: PostgresServer | undefined;
  readonly #world: World;
  readonly #options: { dataDir: string; dbPort: number; adminUrl: string };

  constructor(world: World, options: { dataDir: string; dbPort: number; adminUrl: string }) {
    this.#world = world;
    this.#options = options;
  }

  /** Goes on until then or until the world closes; then everything is up. */
  async run(end: number): Promise<void> {
    const isOver = () => !this.#world.open || performance.now() > end;
    const acts = [
      () => this.#killFunction(),
      () => this.#killFunction(),
      () => this.#dropConnections(),
      () => this.#dropConnections(),
      () => this.#killBackend(),
      () => this.#killServer(),
    ];
    for (let turn = 0; !isOver(); turn++) {
      const pause = 3_000 + int(7_000);
      for (let wait = 0; wait < pause && !isOver(); wait += 100) await sleep(100);
      if (isOver()) break;
      // Each of them early, then by chance.
      await (turn < acts.length ? (acts[acts.length - 1 - turn] ?? pick(acts)) : pick(acts))();
    }
  }

  async stop(): Promise<void> {
    await this.#restarted?.stop();
  }

  /** Notes that a component is down until `isUp`. */
  async #during(
    component: Window["component"],
    act: () => Promise<void>,
    isUp: () => Promise<boolean>,
  ) {
    const window: Window = { component, from: performance.now(), to: Number.POSITIVE_INFINITY };
    this.#world.recorder.windows.push(window);
    await act();
    while (!(await isUp().catch(() => false))) await sleep(50);
    window.to = performance.now();
  }

  async #functionIsUp(slug: string): Promise<boolean> {
    const answer = await request(this.#world.env, "OPTIONS", `/functions/v1/${slug}`);
    await answer.arrayBuffer();
    return answer.status < 500;
  }

  /** All connections of the API's pool have noticed. */
  async #databaseIsUp(): Promise<boolean> {
    const { env } = this.#world;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => request(env, "GET", "/rest/v1/services?select=id&limit=1")),
    );
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    return answers.every((answer) => answer.status < 500);
  }

  async #killFunction(): Promise<void> {
    const slug = pick(SLUGS);
    const pid = processTree(process.pid).find((child) =>
      commandLine(child).includes(`supabase/functions/${slug}/index.ts`),
    );
    if (pid === undefined) return;
    this.counts.functions++;
    await this.#during(
      "functions",
      async () => {
        process.kill(pid, pick(["SIGKILL", "SIGTERM"]));
        while (isAlive(pid) && !commandLine(pid).startsWith(" ") && commandLine(pid) !== "")
          await sleep(20);
      },
      () => this.#functionIsUp(slug),
    );
  }

  async #sql<T>(run: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const sql = postgres(this.#options.adminUrl, { max: 1, onnotice: () => {} });
    try {
      return await run(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** Ends some or all connections of the services, whatever they are doing. */
  async #dropConnections(): Promise<void> {
    const share = chance(0.5) ? 1 : 0.4;
    await this.#during(
      "database",
      () =>
        this.#sql(async (sql) => {
          const dropped = await sql`
            select pg_terminate_backend(pid) from pg_stat_activity
            where pid <> pg_backend_pid() and backend_type = 'client backend' and random() < ${share}`;
          this.counts.connections += dropped.length;
        }),
      () => this.#databaseIsUp(),
    );
  }

  /** A backend that dies takes all others with it: the server recovers by itself. */
  async #killBackend(): Promise<void> {
    await this.#during(
      "database",
      () =>
        this.#sql(async (sql) => {
          const [found] = await sql<{ pid: number }[]>`
            select pid from pg_stat_activity
            where pid <> pg_backend_pid() and backend_type = 'client backend' limit 1`;
          if (!found) return;
          this.counts.backends++;
          process.kill(found.pid, "SIGKILL");
        }).catch(() => {}),
      () => this.#databaseIsUp(),
    );
  }

  /** The whole server dies without warning and is started again on its files. */
  async #killServer(): Promise<void> {
    const { dataDir, dbPort } = this.#options;
    const folder = join(dataDir, "postgres");
    const pid = Number(readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n")[0]);
    this.counts.servers++;
    await this.#during(
      "database",
      async () => {
        process.kill(pid, "SIGKILL");
        // What it left behind ends by itself, and is waited for by failing to start.
        for (let tries = 0; ; tries++) {
          await sleep(100);
          try {
            this.#restarted = await startPostgres({ dataDir: folder, port: dbPort, fsync: true });
            return;
          } catch (error) {
            if (tries > 100) throw error;
          }
        }
      },
      () => this.#databaseIsUp(),
    );
  }
}

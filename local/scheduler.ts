/**
 * Stands in for pg_cron and pg_net, which need an image of their own: the same jobs that the
 * migrations schedule where those extensions exist, run from outside the database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";

interface Job {
  /** A function without arguments; the job is skipped while the database has none of this name. */
  sqlFunction: string;
  /** "tick": every second. An hour: once a day, at that hour UTC. */
  at: "tick" | number;
  /** The edge function to call when the SQL function returns true. */
  post?: string;
}

const JOBS: Job[] = [
  { sqlFunction: "private.webhooks_due", at: "tick", post: "webhooks/dispatch" },
  { sqlFunction: "private.cleanup", at: 3 },
];

const TICK_MS = 1_000;
// A function that has not been called for long may have to start.
const POST_MS = 30_000;
const LOG_EVERY_MS = 60_000;

/** True once a day from `hour` on. A start after it counts as done: twice is worse than not. */
function daily(hour: number): () => boolean {
  const dayOf = (now: Date) => Math.floor((now.getTime() / 3_600_000 - hour) / 24);
  let last = dayOf(new Date());
  return () => {
    const day = dayOf(new Date());
    if (day === last) return false;
    last = day;
    return true;
  };
}

/** At most one line a minute: a database that is down for long must not fill the terminal. */
function failureLog(): (job: Job, error: unknown) => void {
  let quietUntil = 0;
  return (job, error) => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + LOG_EVERY_MS;
    const reason = error instanceof Error ? error.message || error.name : String(error);
    console.error(`scheduler: ${job.sqlFunction}: ${reason}`);
  };
}

/** Starts the jobs. `secret` goes to the edge functions in the `apikey` header. */
export function startScheduler(options: {
  adminUrl: string;
  functionsUrl: string;
  secret: string;
}): { close(): Promise<void> } {
  const stop = new AbortController();
  const logFailure = failureLog();
  const sql = postgres(options.adminUrl, {
    max: 1,
    connect_timeout: 5,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: "scheduler" },
  });

  async function run(job: Job): Promise<void> {
    const [found] = await sql`select to_regprocedure(${`${job.sqlFunction}()`}) is not null as yes`;
    if (!found?.yes) return;
    const [row] = await sql`select ${sql.unsafe(job.sqlFunction)}() as result`;
    if (!job.post || row?.result !== true) return;
    const response = await fetch(`${options.functionsUrl}/${job.post}`, {
      method: "POST",
      headers: { apikey: options.secret, "content-type": "application/json" },
      body: "{}",
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(POST_MS)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${job.post} answered ${response.status}`);
  }

  /** One loop a job, so that a job never overlaps itself and a slow one holds up no other. */
  async function loop(job: Job): Promise<void> {
    const due = job.at === "tick" ? () => true : daily(job.at);
    while (!stop.signal.aborted) {
      try {
        if (due()) await run(job);
      } catch (error) {
        if (!stop.signal.aborted) logFailure(job, error);
      }
      await sleep(TICK_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  }

  const loops = Promise.all(JOBS.map(loop));
  return {
    async close() {
      stop.abort();
      await sql.end({ timeout: 1 });
      await loops;
    },
  };
}

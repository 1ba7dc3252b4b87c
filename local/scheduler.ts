/**
 * Stands in for pg_cron and pg_net, which need an image of their own: the same jobs that the
 * migrations schedule where those extensions exist, run from outside the database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";

/** As `private.jobs()` lists them. */
interface Job {
  name: string;
  schedule: string;
  command: string;
}

/** Its command rings by pg_net; here it is rung from outside, as often as one cares to look. */
const DISPATCH = "webhook-dispatch";

const TICK_MS = 1_000;
// A function that has not been called for long may have to start.
const POST_MS = 30_000;
/** A database that is down for long must not fill the terminal. */
const LOG_EVERY_MS = 60_000;

/**
 * Says when a job is due, at most once a period: `n seconds`, or of cron's five fields what the jobs
 * use, minute and hour (UTC) as a number or `*`. A start within a period counts as done: twice is
 * worse than not.
 */
function dueAt(schedule: string): (now: Date) => boolean {
  const seconds = Number(/^(\d+) seconds$/.exec(schedule)?.[1] ?? 0);
  const [, minute = "", hour = ""] = /^(\*|\d+) (\*|\d+) \* \* \*$/.exec(schedule) ?? [];
  if (!seconds && !hour) throw new Error(`cannot read the schedule "${schedule}"`);
  const period = seconds || (hour !== "*" ? 86_400 : minute !== "*" ? 3_600 : 60);
  const offset = seconds ? 0 : 60 * (Number(minute) || 0) + 3_600 * (Number(hour) || 0);
  const periodOf = (now: Date) => Math.floor((now.getTime() / 1000 - offset) / period);
  let last = seconds ? -1 : periodOf(new Date());
  return (now) => {
    const isDue = periodOf(now) !== last;
    last = periodOf(now);
    return isDue;
  };
}

/** Starts the jobs. `secret` goes to the edge functions in the `apikey` header. */
export function startScheduler(options: {
  adminUrl: string;
  functionsUrl: string;
  secret: string;
}): { close(): Promise<void> } {
  const stop = new AbortController();
  let quietUntil = 0;
  const sql = postgres(options.adminUrl, { max: 1, connect_timeout: 5, onnotice: () => {} });

  async function ring(): Promise<void> {
    const [row] = await sql`select private.webhooks_due() as due`;
    if (!row?.due) return;
    const response = await fetch(`${options.functionsUrl}/webhooks/dispatch`, {
      method: "POST",
      headers: { apikey: options.secret, "content-type": "application/json" },
      body: "{}",
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(POST_MS)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the dispatcher answered ${response.status}`);
  }

  async function attempt(name: string, run: () => PromiseLike<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (stop.signal.aborted || Date.now() < quietUntil) return;
      quietUntil = Date.now() + LOG_EVERY_MS;
      console.error(`scheduler: ${name}: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** One loop a job, so that a job never overlaps itself and a slow one holds up no other. */
  async function loop({ name, schedule, command }: Job): Promise<void> {
    const isDue = dueAt(name === DISPATCH ? "1 seconds" : schedule);
    while (!stop.signal.aborted) {
      if (isDue(new Date())) {
        await attempt(name, name === DISPATCH ? ring : () => sql.unsafe(command));
      }
      await sleep(TICK_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  }

  const loops = attempt("jobs", async () => {
    const jobs = await sql<Job[]>`select name, schedule, command from private.jobs()`;
    await Promise.all(jobs.map(loop));
  });
  return {
    async close() {
      stop.abort();
      await sql.end({ timeout: 1 });
      await loops;
    },
  };
}

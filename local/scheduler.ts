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

/** pg_net is not here: what its job would ring is rung from outside, as often as one cares to look. */
const DISPATCH = {
  name: "webhook-dispatch",
  schedule: "1 seconds",
  command: "select private.webhooks_due() as due",
  post: "webhooks/dispatch",
} satisfies Job & { post: string };

const TICK_MS = 1_000;
// A function that has not been called for long may have to start.
const POST_MS = 30_000;
const LOG_EVERY_MS = 60_000;

/**
 * Says when a job is due, at most once a period: `n seconds`, or of cron's five fields what the jobs
 * use, minute and hour (UTC) as a number or `*`. A start within a period counts as done: twice is
 * worse than not.
 */
export function dueAt(schedule: string): (now: Date) => boolean {
  const seconds = /^(\d+) seconds$/.exec(schedule)?.[1];
  const [minute, hour] = schedule.split(" ");
  const period = seconds ? Number(seconds) : hour !== "*" ? 86_400 : minute !== "*" ? 3_600 : 60;
  const offset = seconds ? 0 : 60 * (Number(minute) || 0) + 3_600 * (Number(hour) || 0);
  if (!seconds && !/^(\*|\d+) (\*|\d+) \* \* \*$/.test(schedule)) {
    throw new Error(`the local scheduler cannot read the schedule "${schedule}"`);
  }
  const periodOf = (now: Date) => Math.floor((now.getTime() / 1000 - offset) / period);
  let last: number | undefined;
  return (now) => {
    const current = periodOf(now);
    const isDue = last !== undefined ? current !== last : period < 60;
    last = current;
    return isDue;
  };
}

/** At most one line a minute: a database that is down for long must not fill the terminal. */
function failureLog(): (job: Job, error: unknown) => void {
  let quietUntil = 0;
  return (job, error) => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + LOG_EVERY_MS;
    const reason = error instanceof Error ? error.message || error.name : String(error);
    console.error(`scheduler: ${job.name}: ${reason}`);
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

  async function ring(): Promise<void> {
    const [row] = await sql.unsafe(DISPATCH.command);
    if (!row?.due) return;
    const response = await fetch(`${options.functionsUrl}/${DISPATCH.post}`, {
      method: "POST",
      headers: { apikey: options.secret, "content-type": "application/json" },
      body: "{}",
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(POST_MS)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${DISPATCH.post} answered ${response.status}`);
  }

  /** One loop a job, so that a job never overlaps itself and a slow one holds up no other. */
  async function loop(job: Job, run: () => Promise<unknown>): Promise<void> {
    const isDue = dueAt(job.schedule);
    while (!stop.signal.aborted) {
      try {
        if (isDue(new Date())) await run();
      } catch (error) {
        if (!stop.signal.aborted) logFailure(job, error);
      }
      await sleep(TICK_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  }

  /** Nothing runs while the database has no list: its migrations are older, or not ours. */
  async function start(): Promise<void> {
    const [found] = await sql`select to_regprocedure('private.jobs()') is not null as yes`;
    if (!found?.yes) return;
    const jobs = await sql<Job[]>`
      select name, schedule, command from private.jobs() where name <> ${DISPATCH.name}`;
    await Promise.all([
      loop(DISPATCH, ring),
      ...jobs.map((job) => loop(job, () => sql.unsafe(job.command))),
    ]);
  }

  const loops = start().catch((error) => logFailure({ ...DISPATCH, name: "jobs" }, error));
  return {
    async close() {
      stop.abort();
      await sql.end({ timeout: 1 });
      await loops;
    },
  };
}

/**
 * Stands in for pg_cron and pg_net, which need an image of their own: the same jobs that the
 * migrations schedule where those extensions exist, run from outside the database.
 */
import { Cron } from "croner";
import postgres from "postgres";

/** A command that rings by pg_net; here it is rung from outside, as often as one cares to look. */
const RING = /private\.ring_dispatcher\('(\w+)'\)/;

// A function that has not been called for long may have to start.
const POST_MS = 30_000;
/** A database that is down for long must not fill the terminal. */
const LOG_EVERY_MS = 60_000;

/** The schedule of pg_cron, which has `n seconds` beside cron's five fields, as cron with seconds. */
const pattern = (schedule: string) => schedule.replace(/^(\d+) seconds$/, "*/$1 * * * * *");

/** Starts the jobs that `private.jobs()` lists. `secret` goes to the edge functions as `apikey`. */
export function startScheduler(options: {
  adminUrl: string;
  functionsUrl: string;
  secret: string;
}): { close(): Promise<void> } {
  const stop = new AbortController();
  let quietUntil = 0;
  const sql = postgres(options.adminUrl, { max: 1, connect_timeout: 5, onnotice: () => {} });

  async function ring(slug: string): Promise<void> {
    const [row] = await sql`select ${sql(`private.${slug}_due`)}() as due`;
    if (!row?.due) return;
    const response = await fetch(`${options.functionsUrl}/${slug}/dispatch`, {
      method: "POST",
      headers: { apikey: options.secret, "content-type": "application/json" },
      body: "{}",
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(POST_MS)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`its dispatcher answered ${response.status}`);
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

  const jobs: Cron[] = [];
  void attempt("jobs", async () => {
    const rows = await sql`select name, schedule, command from private.jobs()`;
    // A job never overlaps itself, and a slow one holds up no other.
    const options = { timezone: "UTC", protect: true };
    for (const { name, schedule, command } of stop.signal.aborted ? [] : rows) {
      const [, slug] = RING.exec(command) ?? [];
      const run = () => (slug ? ring(slug) : sql.unsafe(command));
      const due = slug ? "* * * * * *" : pattern(schedule);
      jobs.push(new Cron(due, options, () => attempt(name, run)));
    }
  });
  return {
    async close() {
      stop.abort();
      for (const job of jobs) job.stop();
      await sql.end({ timeout: 1 });
    },
  };
}

/** What the others noticed of the attacker: the same day's work, without and with it. */
import type { Sql } from "postgres";
import { quantile } from "../measure.ts";
import type { Attacker } from "./attacker.ts";
import type { Recorder } from "./recorder.ts";

/** How much slower the others' slowest answers may become. */
const MOST_TIMES = 3;
/** And the share of them that are refused for want of a place or a lock. */
const MOST_REFUSED = 0.05;

const share = ({ refused, answered }: { refused: number; answered: number }) =>
  `${((100 * refused) / answered).toFixed(1)} % of ${answered} refused`;

/** Each part of the API: its 95th percentile in both phases, in milliseconds. */
function percentiles({ fares: { quiet, attacked } }: Recorder) {
  return Object.keys(quiet.times).map((part) => ({
    part,
    quiet: quantile(quiet.times[part] ?? [], 0.95),
    attacked: quantile(attacked.times[part] ?? [], 0.95),
  }));
}

export function printFairness(recorder: Recorder, attacker: Attacker): void {
  const { quiet, attacked } = recorder.fares;
  for (const { part, quiet: before, attacked: during } of percentiles(recorder)) {
    console.log(
      `${part}: p95 ${before.toFixed(0)} ms, with the attacker ${during.toFixed(0)} ms ` +
        `(${(during / before).toFixed(1)} times)`,
    );
  }
  console.log(`without the attacker ${share(quiet)}, with it ${share(attacked)}`);
  const answers = [...attacker.answers].sort().map(([what, count]) => `${what}: ${count}`);
  console.log(`the attacker's answers: ${answers.join(", ")}`);
}

/** What is wrong, so nothing is well. */
export function othersWait(recorder: Recorder): string[] {
  return percentiles(recorder)
    .filter(({ quiet, attacked }) => !(attacked <= MOST_TIMES * quiet))
    .map(({ part, quiet, attacked }) => `${part}: ${quiet.toFixed(0)} → ${attacked.toFixed(0)} ms`);
}

export function othersAreRefused({ fares: { attacked } }: Recorder): string[] {
  return attacked.refused <= MOST_REFUSED * attacked.answered ? [] : [share(attacked)];
}

/** Bookings by the public from one network, at each professional, within an hour. */
export async function calendarsAreFilled(attacker: Attacker, sql: Sql): Promise<string[]> {
  const [found] = await sql<{ most: number }[]>`
    select min(value::integer) as most from private.settings
    where name in ('public_writes_per_network_hour', 'public_tries_per_network_hour')`;
  return [...attacker.filled]
    .filter(([, count]) => count > (found?.most ?? 0))
    .map(([shop, count]) => `${shop}: ${count} bookings`);
}

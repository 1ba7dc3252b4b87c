/**
 * The first request of a new database connection: nothing is planned, no catalogue entry is known, and
 * the counter has to be reached. The REST server closes connections that idle for 30 seconds, so the
 * visitors of a small professional mostly meet such a one.
 */
import { CREATE_BOOKING, freeStarts } from "./bookings.ts";
import { asProfessional, type Context } from "./context.ts";
import { clientEmail, professionalId, serviceId } from "./data.ts";
import { EARLIER_COMMIT, type Level, SKIPPED } from "./databases.ts";
import { CHECK, prepareCallers } from "./hook.ts";
import { median, overRounds, quantile, type Request, type Timing, timeFirst } from "./measure.ts";
import type { Row } from "./table.ts";

/** Times of each round, in milliseconds. */
interface Firsts {
  professionalsHook: number[];
  publicHook: number[];
  createBooking: number[];
}

interface Place {
  url: string;
  sessions: string[];
  starts: string[];
  firsts: Firsts;
}

/** Both have the same calendars, so what is free here is free at the earlier commit. */
async function prepare({ url }: Level, starts: string[]): Promise<Place> {
  const firsts = { professionalsHook: [], publicHook: [], createBooking: [] };
  return { url, sessions: await prepareCallers(url, 10), starts, firsts };
}

/** The first request of two connections: a read of a professional, and a booking by the public. */
async function round({ url, sessions, starts, firsts }: Place, number: number): Promise<void> {
  const turn = number % 16;
  const { role, claims } = asProfessional(professionalId(turn + 1));
  const read: Request = {
    role,
    claims: { ...claims, session_id: sessions[turn] },
    method: "GET",
    statements: [CHECK],
  };
  const book: Request = {
    role: "anon",
    headers: { "cf-connecting-ip": `10.1.${turn}.${number % 250}` },
    method: "POST",
    statements: [
      CHECK,
      [CREATE_BOOKING, serviceId(turn + 1, 1), starts[0], "Marta Rossi", clientEmail(1 + number)],
    ],
    rollback: true,
  };
  const [professionalsHook = Number.NaN] = await timeFirst(url, read);
  const [publicHook = Number.NaN, createBooking = Number.NaN] = await timeFirst(url, book);
  firsts.professionalsHook.push(professionalsHook);
  firsts.publicHook.push(publicHook);
  firsts.createBooking.push(createBooking);
}

const timing = (times: number[]): Timing => ({
  p50: median(times),
  p95: quantile(times, 0.95),
  perSecond: 1000 / median(times),
});

export async function measureCold({ small, earlier, quick }: Context): Promise<Row[]> {
  const starts = await freeStarts(small.url);
  const now = await prepare(small, starts);
  const then = earlier && (await prepare(earlier, starts));
  for (let number = 0; number < (quick ? 11 : 61); number++) {
    for (const place of number % 2 === 0 ? [now, then] : [then, now]) {
      if (place) await round(place, number);
    }
  }
  const kinds: [keyof Firsts, string][] = [
    ["professionalsHook", "hook, GET of a professional"],
    ["publicHook", "hook, POST of the public"],
    ["createBooking", "create_booking, after its hook"],
  ];
  return kinds.map(([kind, name]) => {
    const times = timing(now.firsts[kind]);
    return {
      section: "First request of a new connection",
      name,
      dividedBy: then
        ? `at ${EARLIER_COMMIT}: ${median(then.firsts[kind]).toFixed(1)} ms`
        : SKIPPED,
      at1: times,
      at16: null,
      ratioOf: "p50",
      ratio: then && overRounds(now.firsts[kind], then.firsts[kind], (a, b) => a / b),
      ratioAt16: null,
      milliseconds: times.p50,
      goals: then ? [{ of: "ratio", atMost: 1 / 3 }] : [],
    };
  });
}

/** What was asked and how it was answered, and when which part of the stack was down. */

/** A time in which a component was down or coming up, in milliseconds of performance.now(). */
export interface Window {
  component: "database" | "functions";
  from: number;
  to: number;
}

interface Fault {
  name: string;
  path: string;
  status: number;
  text: string;
  from: number;
  to: number;
}

/** An answer may be late by this much: what was broken is noticed when it is used next. */
const GRACE_MS = 500;

/** With all parts up, without and with the attacker; null while parts are broken. */
export type Phase = "quiet" | "attacked" | null;

/** How callers fared in a phase. */
export interface Fare {
  /** Milliseconds of each answer, by part of the API. */
  times: Record<string, number[]>;
  /** Refusals for want of a place or a lock, and of how many. */
  refused: number;
  answered: number;
}

const newFare = (): Fare => ({ times: {}, refused: 0, answered: 0 });

export class Recorder {
  phase: Phase = null;
  readonly fares = { quiet: newFare(), attacked: newFare() };
  readonly windows: Window[] = [];
  /** How often each call was answered with each hundred of statuses; 0 is no answer. */
  readonly answers = new Map<string, Map<number, number>>();
  readonly faults: Fault[] = [];
  /** Ids of rows that a caller was told of: they may never be lost. */
  readonly acknowledged = { bookings: new Set<string>(), orders: new Set<string>() };
  /** References of payments, and keys of idempotent calls, that were answered with success. */
  readonly payments = new Set<string>();
  readonly keys = new Set<string>();

  record(name: string, path: string, status: number, text: string, from: number): void {
    const statuses = this.answers.get(name) ?? new Map<number, number>();
    this.answers.set(name, statuses);
    const hundred = Math.floor(status / 100) * 100;
    statuses.set(hundred, (statuses.get(hundred) ?? 0) + 1);
    if (this.phase) this.#fare(this.fares[this.phase], path, text, performance.now() - from);
    if (status >= 500 || status === 0) {
      this.faults.push({ name, path, status, text, from, to: performance.now() });
    }
  }

  #fare(fare: Fare, path: string, text: string, took: number): void {
    const part = path.split("/")[1] ?? "";
    fare.times[part] ??= [];
    fare.times[part].push(took);
    fare.answered++;
    if (/"code":"(busy|too_many_connections)"/.test(text)) fare.refused++;
  }

  /**
   * Faults while everything that the call needs was up. A function that is down excuses no table, and
   * nothing excuses silence: the gateway was up all the time.
   */
  unexcused(): Fault[] {
    return this.faults.filter(
      ({ path, status, from, to }) =>
        status === 0 ||
        !this.windows.some(
          (window) =>
            from <= window.to + GRACE_MS &&
            to >= window.from &&
            (window.component === "database" || path.startsWith("/functions/")),
        ),
    );
  }

  /** Seconds in which some part was down or may still have been noticed as such. */
  secondsDown(): number {
    let [down, until] = [0, 0];
    for (const { from, to } of [...this.windows].sort((a, b) => a.from - b.from)) {
      const end = to + GRACE_MS;
      down += Math.max(0, end - Math.max(from, until));
      until = Math.max(until, end);
    }
    return down / 1000;
  }

  /** Answers by hundred of their status, over all calls. */
  totals(): Map<number, number> {
    const totals = new Map<number, number>();
    for (const statuses of this.answers.values()) {
      for (const [status, count] of statuses) {
        totals.set(status, (totals.get(status) ?? 0) + count);
      }
    }
    return totals;
  }
}

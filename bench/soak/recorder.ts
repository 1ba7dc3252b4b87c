/** How calls were answered, what callers were told, and when which part of the stack was down. */

/** A time in which a component was down or coming up, in milliseconds of performance.now(). */
export interface Window {
  component: "database" | "functions";
  from: number;
  to: number;
}

/** What was sent, or got. */
export type Body = Record<string, unknown>;

interface Call {
  method: string;
  path: string;
  /** 0 when there was no answer. */
  status: number;
  text: string;
  from: number;
  to: number;
}

/** An answer may be late by this much: what was broken is noticed when it is used next. */
const GRACE_MS = 500;

/** How callers fared while all parts were up. */
interface Fare {
  /** Milliseconds of each answer, by part of the API. */
  times: Record<string, number[]>;
  /** For want of a place or a lock. */
  refused: number;
  answered: number;
}

/** With all parts up but in the first. */
export const now = { phase: "broken" as "broken" | "quiet" | "attacked" | "settling" };
const newFare = (): Fare => ({ times: {}, refused: 0, answered: 0 });
export const fares = { quiet: newFare(), attacked: newFare() };
export const windows: Window[] = [];
const faults: Call[] = [];
/** How often calls were answered with each hundred of statuses. */
export const totals: Record<number, number> = {};
/** Bookings, orders, references of payments and keys of calls that succeeded: they may never be lost. */
const newSet = () => new Set<string>();
export const told = { rows: newSet(), payments: newSet(), keys: newSet() };

export function record(call: Call): void {
  const { path, status, text, from, to } = call;
  const hundred = Math.floor(status / 100) * 100;
  totals[hundred] = (totals[hundred] ?? 0) + 1;
  if (status >= 500 || status === 0) faults.push(call);
  if (now.phase !== "quiet" && now.phase !== "attacked") return;
  const fare = fares[now.phase];
  const part = path.split("/")[1] ?? "";
  fare.times[part] ??= [];
  fare.times[part].push(to - from);
  fare.answered++;
  if (/"code":"(busy|too_many_connections)"/.test(text)) fare.refused++;
}

/** Remembers what a call that succeeded said, and what it was told. */
export function remember(path: string, sent: Body | undefined, got: Body): void {
  // An empty list of rows succeeds, and is none.
  const isRow = /\/(bookings|orders|create_booking|place_order)$/.test(path);
  if (isRow && got.id) told.rows.add(String(got.id));
  if (sent?.reference) told.payments.add(String(sent.reference));
  if (sent?.idempotency_key) told.keys.add(String(sent.idempotency_key));
}

/**
 * Faults while everything that the call needs was up. A function that is down excuses no table, and
 * nothing excuses silence: the gateway was up all the time.
 */
export function unexcused(): Call[] {
  const excuses = (window: Window, { path, from, to }: Call) =>
    from <= window.to + GRACE_MS &&
    to >= window.from &&
    (window.component === "database" || path.startsWith("/functions/"));
  return faults.filter(
    (fault) =>
      fault.status === 0 ||
      // Not ours but Stripe's, which fails as it is told.
      (!/"payment_provider_unavailable"/.test(fault.text) &&
        !windows.some((window) => excuses(window, fault))),
  );
}

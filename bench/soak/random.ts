/** Chance, and input that no honest caller sends. */
import fc from "fast-check";
import { dateIn } from "../../tests/support/calendar.ts";

export const int = (below: number): number => Math.floor(Math.random() * below);
export const chance = (share: number): boolean => Math.random() < share;

export function pick<T>(from: readonly T[]): T {
  const found = from[int(from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

/** An hour between nine and five in the next weeks, UTC. */
export const start = (days = 40): string =>
  `${dateIn(1 + int(days))}T${String(8 + int(9)).padStart(2, "0")}:${pick(["00", "30"])}:00Z`;

const NONSENSE = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom("\u0000", "\ud800", "z".repeat(20_000), "2027-02-30T25:61:00Z", 1e30),
);
/** A value of any wrong kind. */
export const nonsense = (): unknown => fc.sample(NONSENSE, 1)[0];

/** Bodies that are no JSON object. */
export const brokenBody = (): string =>
  pick(["", "{", "[1,", "null", "[]", '"text"', "{'a': 1}", "\u0000"]);

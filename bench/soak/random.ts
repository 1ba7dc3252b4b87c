/** Chance, and input that no honest caller sends. */

export const int = (below: number): number => Math.floor(Math.random() * below);
export const chance = (share: number): boolean => Math.random() < share;

export function pick<T>(from: readonly T[]): T {
  const found = from[int(from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

/** An hour between nine and five in the next weeks, UTC. */
export function start(days = 40): string {
  const date = new Date(Date.now() + (1 + int(days)) * 86_400_000).toISOString().slice(0, 10);
  return `${date}T${String(8 + int(9)).padStart(2, "0")}:${pick(["00", "30"])}:00Z`;
}

/** Values of every wrong kind. */
export const nonsense = (): unknown =>
  pick([
    null,
    "",
    "x",
    -1,
    1.5,
    1e30,
    true,
    [],
    {},
    "\u0000",
    "\ud800",
    "'; drop table clients; --",
    "2027-02-30T25:61:00Z",
    "00000000-0000-0000-0000-000000000000",
    [null],
    { a: { b: [] } },
    "z".repeat(20_000),
  ]);

/** Bodies that are no JSON object. */
export const brokenBody = (): string =>
  pick(["", "{", "[1,", "null", "[]", '"text"', "{'a': 1}", "\u0000"]);

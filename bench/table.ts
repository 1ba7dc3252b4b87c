/** Rows of the result, what makes one hold, and how they are printed. */
import type { Comparison, Timing } from "./measure.ts";

export interface Goal {
  /** Which figure of the row is judged. */
  of: "ratio" | "milliseconds";
  atMost?: number;
  atLeast?: number;
}

export interface Row {
  section: string;
  name: string;
  /** What it is compared with. */
  dividedBy: string;
  /** The measured side, at 1 and at 16 connections. */
  at1: Timing | null;
  at16: Timing | null;
  /** What is divided: times (more is worse) or throughputs (less is worse). */
  ratioOf: "p50" | "throughput";
  ratio: number | null;
  ratioAt16: number | null;
  milliseconds: number | null;
  goals: Goal[];
}

/** A row of two comparisons, at 1 and at 16 connections. */
export function row(
  section: string,
  name: string,
  dividedBy: string,
  ratioOf: Row["ratioOf"],
  [at1, at16]: [Comparison, Comparison?],
  goals: Goal[] = [],
): Row {
  const ratio = (found: Comparison) => (ratioOf === "p50" ? found.p50Ratio : found.throughputRatio);
  return {
    section,
    name,
    dividedBy,
    at1: at1.a,
    at16: at16?.a ?? null,
    ratioOf,
    ratio: ratio(at1),
    ratioAt16: at16 ? ratio(at16) : null,
    milliseconds: at1.a.p50,
    goals,
  };
}

export function holds(found: Row): boolean | null {
  if (found.goals.length === 0) return null;
  return found.goals.every(({ of, atMost = Infinity, atLeast = -Infinity }) => {
    const value = found[of];
    return value !== null && value <= atMost && value >= atLeast;
  });
}

const shown = (value: number | null | undefined, digits = 2) =>
  value === null || value === undefined ? "" : value.toFixed(digits);

function goalText({ of, atMost, atLeast }: Goal): string {
  const unit = of === "milliseconds" ? " ms" : "×";
  const [sign, value = 0] = atMost !== undefined ? ["≤", atMost] : ["≥", atLeast];
  return `${sign} ${Number(value.toFixed(2))}${unit}`;
}

const HEADINGS = [
  "",
  "divided by",
  "p50",
  "p95",
  "/s",
  "p50 at 16",
  "p95 at 16",
  "/s at 16",
  "ratio",
  "at 16",
  "goal",
  "",
];

function cells(found: Row): string[] {
  const timing = (t: Timing | null) => [shown(t?.p50), shown(t?.p95), shown(t?.perSecond, 0)];
  const verdict = holds(found);
  return [
    found.name,
    found.dividedBy,
    ...timing(found.at1),
    ...timing(found.at16),
    found.ratio === null ? "" : `${shown(found.ratio)}×`,
    found.ratioAt16 === null ? "" : `${shown(found.ratioAt16)}×`,
    found.goals.map(goalText).join(", "),
    verdict === null ? "" : verdict ? "ok" : "FAILED",
  ];
}

/** One table, a heading for each section; times are milliseconds. */
export function printTable(rows: Row[]): void {
  const lines = rows.map(cells);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const print = (line: string[]) =>
    console.log(
      line
        .map((cell, column) =>
          column > 1 && column < 10
            ? cell.padStart(widths[column] ?? 0)
            : cell.padEnd(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    );
  print(HEADINGS);
  let section = "";
  for (const [index, found] of rows.entries()) {
    if (found.section !== section) {
      section = found.section;
      console.log(`\n${section}`);
    }
    print(lines[index] ?? []);
  }
}

/** What is printed, and whether goals were met. */
import type { Result } from "./measure.ts";

/** undefined: nothing was asked of it. */
export function holds({ goals = [], ratio = Number.NaN, p50 }: Result): boolean | undefined {
  if (goals.length === 0) return undefined;
  return goals.every((goal) => {
    const value = goal.endsWith("×") ? ratio : p50;
    const limit = Number.parseFloat(goal.slice(2));
    return goal.startsWith("≤") ? value <= limit : value >= limit;
  });
}

const number = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? "";

const columns = (result: Result) => ({
  "": result.name,
  p50: number(result.p50),
  p95: number(result.p95),
  "a second": number(result.perSecond, 0),
  "divided by": result.dividedBy ?? "",
  "its p50": number(result.itsP50),
  ratio: number(result.ratio),
  "ratio at 16": number(result.ratioAt16),
  goal: result.goals?.join(", ") ?? "",
  met: { true: "ok", false: "FAILED", undefined: "" }[`${holds(result)}`],
});

/** A table in Markdown; times are milliseconds. */
export function printTable(results: Result[]): void {
  const rows = results.map(columns);
  const headings = Object.keys(rows[0] ?? {});
  const lines = [headings, headings.map(() => "---"), ...rows.map((row) => Object.values(row))];
  const width = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0));
  for (const line of lines) {
    console.log(`| ${line.map((cell, column) => cell.padEnd(width(column))).join(" | ")} |`);
  }
}

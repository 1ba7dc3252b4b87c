/** Ranges of instants, in milliseconds; the end is not part of one. */

export interface Range {
  start: number;
  end: number;
}

/** Cut to the window, in order, and joined where they touch. */
export function merged(ranges: readonly Range[], from: number, to: number): Range[] {
  const result: Range[] = [];
  const cut = ranges
    .map(({ start, end }) => ({ start: Math.max(start, from), end: Math.min(end, to) }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  for (const range of cut) {
    const last = result.at(-1);
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else result.push(range);
  }
  return result;
}

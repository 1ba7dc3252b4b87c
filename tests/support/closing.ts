/** What is open for as long as a test file runs, or whatever else uses these helpers. */
const closers: (() => unknown)[] = [];

/** In reverse: what was opened last may need what was before. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export function closeAtTheEnd(close: () => unknown): void {
  closers.push(close);
}

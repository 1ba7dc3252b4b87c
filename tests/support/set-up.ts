/** Runs in front of each test file that talks to a stack. */
import { afterAll, afterEach, expect } from "vitest";
import { closeAll } from "./closing.ts";
import { held } from "./held.ts";

const mismatches = new Set<string>();

/** Also for stacks that a file starts itself: those of every address. */
globalThis.fetch = held(globalThis.fetch, mismatches);

function expectNoMismatch(): void {
  const found = [...mismatches];
  mismatches.clear();
  expect(found, "answers that are not as reference/shapes says").toEqual([]);
}

afterEach(expectNoMismatch);

// These run in reverse: what is asked while things are closed is held too.
afterAll(expectNoMismatch);

afterAll(closeAll);

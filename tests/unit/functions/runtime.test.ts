/** What the functions ask of the platform that runs them. */
import { afterEach, expect, test, vi } from "vitest";
import { background } from "../../../supabase/functions/_shared/runtime.ts";

afterEach(() => vi.unstubAllGlobals());

test("the platform is told of work that goes on after the answer", () => {
  const waitUntil = vi.fn();
  vi.stubGlobal("EdgeRuntime", { waitUntil });
  const task = Promise.resolve();
  background(task);
  expect(waitUntil.mock.calls).toEqual([[task]]);
});

test("where nothing ends a function that has answered, nobody need be told", async () => {
  const task = Promise.resolve();
  expect(() => background(task)).not.toThrow();
  await task;
});

import { defineConfig } from "vitest/config";
import { findChromium } from "./tests/support/chromium.ts";

const everywhere = { testTimeout: 30_000, hookTimeout: 30_000, pool: "threads" } as const;
const withStack = { ...everywhere, setupFiles: ["tests/support/set-up.ts"] };

/** The pages in a browser, at last: on a stack of their own, and Chromium wants the machine. */
const browser = {
  test: {
    ...everywhere,
    name: "browser",
    include: ["tests/browser/**/*.test.ts"],
    globalSetup: "tests/browser/global-setup.ts",
    setupFiles: ["tests/support/set-up-pages.ts", "tests/support/set-up.ts"],
    testTimeout: 60_000,
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
  },
};

export default defineConfig({
  test: {
    projects: [
      {
        // Without a stack: what is computed, or has all of its world injected.
        test: { ...everywhere, name: "unit", include: ["tests/unit/**/*.test.ts"], maxWorkers: 4 },
      },
      {
        // Every test has its own users, so files run side by side; they wait for the stack far more
        // than they compute, so more of them than there are cores.
        test: {
          ...withStack,
          name: "stack",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/unit/**", "tests/alone/**", "tests/browser/**"],
          maxWorkers: 4,
        },
      },
      {
        // What changes the whole stack (settings, limits, its processes) or keeps a lock that others
        // may want: afterwards, one by one.
        test: {
          ...withStack,
          name: "alone",
          include: ["tests/alone/**/*.test.ts"],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      ...(findChromium() ? [browser] : []),
    ],
  },
});
